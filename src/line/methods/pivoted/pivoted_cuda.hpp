/// The native CUDA form of pivoted.hpp for lines whose rows follow each other in memory and that a block can hold, on Hopper: one touch of
/// memory, the next line on its way while this one is solved.
///
/// A thread makes the piece of R consecutive rows, which stay in its registers; what an unknown follows from takes the place of a row, so that
/// nothing is eliminated twice. The 32 pieces of a warp are joined in shared memory, those of the warps likewise by every warp for itself; a
/// join is the work of 2, 4 or 8 lanes, a column or a few each. Back from the ends of the line each lane solves for one border.
/// Each warp has its own segment of the line, which it fetches and stores: only the join of the warps makes a block wait.
///
/// Pivots are looked at by their least size, which costs next to nothing. A line whose least pivot could be rounding error is eliminated once
/// more by a thread, as the portable form does it.
///
/// Words moved per row: 5.
#pragma once
#include "line/methods/pivoted/pieces.hpp"
#include "line/methods/pivoted/pivoted_pieces.hpp"
#include "line/methods/wide/wide_parts.hpp"

namespace weft::cuda {

inline constexpr unsigned all_lanes = 0xffffffff;

template <class Scalar>
__device__ Border<Scalar> shuffle(const Border<Scalar> &b, int lane)
{
  return {__shfl_sync(all_lanes, b.last, lane), __shfl_sync(all_lanes, b.first, lane)};
}

/// True for one lane of a warp, said so that the compiler knows it is one.
__device__ inline bool elected()
{
  unsigned is;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
  return is != 0;
}

/// Joins `joins` pairs of neighbouring pieces, each by `per_join` lanes, and puts the results side by side. A piece here stands for
/// `distance` of those at the start.
template <int per_join, bool checks, class Scalar>
__device__ void join_level(const Scalar *from, Scalar *to, Joint<Scalar> *joints, int joins, int distance)
{
  constexpr int columns = per_join == 2 ? 3 : per_join == 4 ? 2 : 1;
  const int lane = threadIdx.x % 32, part = lane % per_join, number = lane / per_join;
  const bool exists = number < joins;
  const int i       = exists ? number : 0;
  const auto column = [&](int k) {
    if constexpr (per_join == 2) return part == 0 ? (k < 2 ? k : Column::rhs) : k < 2 ? k + 2 : Column::none;
    if constexpr (per_join == 4) return k == 0 ? part : part == 0 ? Column::rhs : Column::none;
    return part < Column::none ? part : Column::none;
  };
  const Scalar *left = from + 2 * i * Column::words;
  Scalar *joined     = to + i * Column::words;
  const float least  = join<columns>(left, left + Column::words, joined, joints[(2 * i + 1) * distance], column, exists,
                                    exists && part == per_join - 1, [] { __syncwarp(); });
  if (checks && exists && part == 0) least_of(joined) = least;
  __syncwarp();
}

/// Joins `lanes` pieces to `whole`. joints[k] becomes that at the border before piece k, k > 0.
template <int lanes, bool checks, class Scalar>
__device__ void join_all(const Scalar *pieces, Scalar *scratch, Scalar *whole, Joint<Scalar> *joints)
{
  const Scalar *from = pieces;
  int joins = lanes / 2, distance = 1;
  const auto next = [&] {
    from = scratch;
    joins /= 2;
    distance *= 2;
  };
  if constexpr (lanes >= 32) {
    join_level<2, checks>(from, scratch, joints, joins, distance);
    next();
  }
  if constexpr (lanes >= 16) {
    join_level<4, checks>(from, scratch, joints, joins, distance);
    next();
  }
#pragma unroll 1
  for (; joins > 0; next()) join_level<8, checks>(from, joins == 1 ? whole : scratch, joints, joins, distance);
}

/// The border before each lane's piece, from the outermost ones.
template <int lanes, class Scalar>
__device__ Border<Scalar> borders(const Joint<Scalar> &joint, const Border<Scalar> &left, const Border<Scalar> &right)
{
  const int lane      = threadIdx.x % 32;
  Border<Scalar> mine = left;
#pragma unroll
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const Border<Scalar> l = shuffle(mine, lane - distance), r = shuffle(mine, lane + distance);
    const Border<Scalar> solved = joint.solve(l, lane + distance < lanes ? r : right);
    if ((lane & (2 * distance - 1)) == distance) mine = solved;
  }
  return mine;
}

template <class Scalar>
struct PivotedArguments {
  const Scalar *lower, *diagonal, *upper, *rhs;
  Scalar *solution;
  LineLayout layout; ///< stride 1
  Update<Scalar> update;
  Colour colour;
  PivotFlag<Kokkos::CudaSpace> flag;
};

/// Eliminates a line once more, with a bound for the rounding errors, and reports what is no pivot.
template <class Scalar>
__device__ __noinline__ void look_again(const PivotedArguments<Scalar> &a, Index line)
{
  const Index length = a.layout.length, start = a.layout.start(line);
  const auto row = [&](int k) {
    const Index i = start + k;
    const Row<Scalar> r{k > 0 ? a.lower[i] : Scalar(0), a.diagonal[i], k + 1 < length ? a.upper[i] : Scalar(0)};
    const Scalar power = scaling(r);
    if (!usable_row(r)) a.flag.report(line, k);
    return Equation<Scalar>{r.lower * power, r.diagonal * power, r.upper * power, 0};
  };
  const Piece<Scalar> piece = piece_of_rows<Scalar>(static_cast<int>(length), row, [&](int k) { a.flag.report(line, k, 1); });
  solve_piece(piece, false, [&](int side) { a.flag.report(line, side == 0 ? 0 : length - 1, 1); });
}

/// What a block keeps in shared memory.
template <class Scalar, int R, int T>
struct PivotedTile {
  static_assert(R % 2 == 1 && R >= 9 && T % 32 == 0 && T <= 512);
  static constexpr int warps = T / 32, rows = 32 * R;                                               ///< rows of a warp
  static constexpr int lanes  = warps > 8 ? 16 : warps > 4 ? 8 : warps > 2 ? 4 : warps > 1 ? 2 : 1; ///< one for each warp
  static constexpr int space  = rows + 16 / int(sizeof(Scalar)); ///< a copy may begin some elements early and end some late
  static constexpr int joints = (32 + lanes) * int(sizeof(Joint<Scalar>) / sizeof(Scalar));

  alignas(16) Scalar in[warps][4][space];
  alignas(16) Scalar out[warps][rows > joints ? rows : (joints + 3) / 4 * 4]; ///< the joints, later the solution
  Scalar pieces[warps][32 * Column::words];
  Scalar whole[2][lanes * Column::words]; ///< the warps' pieces, of this line and of the one before
  Arrival arrival[warps];
};

/// Steps are numbered as in docs/kernels/pivoted.md.
template <class Scalar, int R, int T, int at_least, bool checks>
__global__ void __launch_bounds__(T, at_least) native_pivoted(const __grid_constant__ PivotedArguments<Scalar> a)
{
  using Tile          = PivotedTile<Scalar, R, T>;
  constexpr int piece = 16 / sizeof(Scalar); // elements
  constexpr int warps = Tile::warps, lanes = Tile::lanes;
  extern __shared__ __align__(128) char shared[];
  Tile &tile       = *reinterpret_cast<Tile *>(shared);
  const int thread = threadIdx.x, lane = thread % 32, warp = __shfl_sync(all_lanes, thread / 32, 0); // known to be the same for all lanes
  auto &in         = tile.in[warp];
  Arrival &arrival = tile.arrival[warp];
  const int length = static_cast<int>(a.layout.length), before = warp * Tile::rows; // rows before those of this warp
  const int rows    = min(max(length - before, 0), Tile::rows);
  const bool ends   = before + Tile::rows >= length; // no rows after those of this warp
  const Index count = a.layout.count(), step = gridDim.x;
  const auto next = [&](Index line) {
    while (line < count && !a.layout.has_colour(line, a.colour)) line += step;
    return line;
  };
  // Step 1. Copies whole pieces; what is left at the end of a line is at most piece - 1 elements.
  const auto end_of = [&](Index element) { return (element + rows + (ends ? 0 : piece - 1)) / piece * piece; };
  const auto fetch  = [&](Index line, int array) {
    const Index element = a.layout.start(line) + before, begin = element / piece * piece, end = end_of(element);
    const auto bytes   = static_cast<std::uint32_t>(rows > 0 && end > begin ? (end - begin) * sizeof(Scalar) : 0);
    const Scalar *from = array == 0 ? a.lower : array == 1 ? a.diagonal : array == 2 ? a.upper : a.rhs;
    if (array == 0) arrival.expect(4 * bytes);
    if (bytes > 0) bulk_copy(in[array], from + begin, bytes, arrival);
  };

  Index line = next(blockIdx.x);
  if (elected()) {
    arrival.init();
    share_with_copies();
    for (int array = 0; line < count && array < 4; array++) fetch(line, array);
  }
  // Unknowns that are 0, for lanes that stand for no warp.
  if (thread < 2 * lanes) put_piece(&tile.whole[0][0] + thread * Column::words, Half<Scalar>{0, 1, 0, 0, 0, 0, 1, 0, 0, HUGE_VALF});
  __syncthreads();
  // Smaller pivots may be rounding error, see above_noise: no row is made of more than all rows.
  const float limit = size_of(Scalar(8 + length / 4) * Kokkos::Experimental::epsilon_v<Scalar>);
  Index doubtful    = 0; // line that this thread is to look at again
  unsigned phase = 0, found = 0;
  while (line < count) {
    const Index element = a.layout.start(line) + before, next_line = next(line + step);
    const int first = lane * R, early = static_cast<int>(element % piece), copied = max(static_cast<int>(end_of(element) - element), 0);
    // Step 2: the rows of the chunk, in registers.
    Rows<Scalar, R> chunk;
    arrival.wait(phase);
    if (copied < rows) {
      const int r = copied + lane;
      if (r < rows) {
        in[0][early + r] = a.lower[element + r];
        in[1][early + r] = a.diagonal[element + r];
        in[2][early + r] = a.upper[element + r];
        in[3][early + r] = a.rhs[element + r];
        share_with_copies();
      }
      __syncwarp();
    }
#pragma unroll
    for (int j = 0; j < R; j++) {
      chunk.lower[j]    = in[0][early + first + j];
      chunk.diagonal[j] = in[1][early + first + j];
      chunk.upper[j]    = in[2][early + first + j];
      chunk.rhs[j]      = in[3][early + first + j];
    }
    if (ends) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        if (first + j + 1 >= rows) chunk.upper[j] = 0;
        if (first + j >= rows) {
          chunk.lower[j] = chunk.rhs[j] = 0;
          chunk.diagonal[j]             = 1;
        }
      }
    }
    if (thread == 0) chunk.lower[0] = 0;
    __syncwarp(); // all have read: the next line may come
    if (next_line < count && elected()) fetch(next_line, 0);
    const auto fetch_others = [&](int k) { // a copy takes its time to be issued, which others wait for if they follow at once
      if (k % (R / 5) == 0 && k / (R / 5) < 4 && next_line < count && elected()) fetch(next_line, k / (R / 5));
    };
    // Step 3: rows scaled by powers of 2.
    float largest = 0;
#pragma unroll
    for (int j = 0; j < R; j++) {
      const Scalar power = scale_of(chunk.lower[j], chunk.diagonal[j], chunk.upper[j], largest);
      chunk.lower[j] *= power;
      chunk.diagonal[j] *= power;
      chunk.upper[j] *= power;
      chunk.rhs[j] *= power;
    }
    // Step 4: the chunk. Step 5: the chunks of the warp, the warps of the line.
    Scalar *pieces = tile.pieces[warp], *whole = tile.whole[phase];
    auto *joints = reinterpret_cast<Joint<Scalar> *>(tile.out[warp]), *joints_of_warps = joints + 32;
    put_piece(pieces + lane * Column::words, chunk.eliminate(largest < HUGE_VALF ? HUGE_VALF : 0, fetch_others));
    bulk_stored();
    __syncwarp(); // the last line's solution has left
    join_all<32, checks>(pieces, pieces, whole + warp * Column::words, joints);
    if constexpr (warps > 1) {
      __syncthreads();
      join_all<lanes, checks>(whole, pieces, pieces, joints_of_warps);
    }

    // Step 6: the first and the last unknown of the line.
    float least;
    const Border<Scalar> of_line = solve_whole(warps > 1 ? pieces : whole, least);
    if (checks && least < limit) { // the same for all threads
      if (thread == static_cast<int>(found % T)) doubtful = line;
      if (++found % T == 0) look_again(a, doubtful);
    }
    // Step 7: the unknowns at the ends of the warp, then of the chunk.
    Border<Scalar> left{0, of_line.first}, right{of_line.last, 0};
    if constexpr (warps > 1) {
      const Border<Scalar> border = borders<lanes>(joints_of_warps[lane % lanes], left, right);
      left                        = shuffle(border, warp);
      if (warp + 1 < lanes) right = shuffle(border, warp + 1);
    }
    const Border<Scalar> border = borders<32>(joints[lane], left, right);
    Border<Scalar> after        = shuffle(border, lane + 1);
    if (lane == 31) after = right;
    __syncwarp(); // the joints have been read

    // Step 8: all unknowns, and their way out.
    const bool in_pieces = !a.update.add && early == 0 && rows % piece == 0;
    const Scalar scale   = in_pieces ? a.update.scale : Scalar(1);
    Scalar *out          = tile.out[warp];
    chunk.substitute(border, after, [&](int k, Scalar x) { out[first + k] = scale * x; });
    if (in_pieces) share_with_copies();
    __syncwarp();
    if (!in_pieces) {
      for (int r = lane; r < rows; r += 32) put(a.solution[element + r], a.update, out[r]);
      __syncwarp();
    } else if (rows > 0 && elected()) {
      bulk_store(a.solution + element, out, static_cast<std::uint32_t>(rows * sizeof(Scalar)));
    }
    line = next_line;
    phase ^= 1;
  }
  if (checks && thread < static_cast<int>(found % T)) look_again(a, doubtful);
  bulk_left(); // shared memory ends with the block
}

} // namespace weft::cuda
