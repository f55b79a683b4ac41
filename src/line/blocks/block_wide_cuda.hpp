/// The native CUDA form of block_wide.hpp's one-shot solve, on Hopper: every block is read once, where the portable form writes factors and
/// reads them again. b = 4.
///
/// A cluster of thread blocks goes through lines. Each of its warps has a part of a line, R rows for each group of two lanes, and brings the
/// rows number j of all groups into its ring of S places in shared memory; the rows of the next line come while this one is joined. What is
/// left of a row is kept in shared memory too,
///   x_j = value_j - before_j x_-1 - after_j x_{j+1}   (wide.hpp, with blocks for the scalars);
/// the chunks' last unknowns are joined on two levels: the groups of a warp, then all warps of the line, each of which solves for all of them.
/// Couplings that are rounding error end a level early. No warp waits for another but for its message.
///
/// What limits it is how many bytes shared memory and shuffles hand to the lanes, hence two lanes a row: four would each need a copy of the
/// whole block that the row is multiplied by.
///
/// Pivots are those of a cut line. Where one is below 1/1000 of its row, nothing of that line is stored and `redo` says so: the portable form
/// solves it then.
///
/// Words moved per row: 3 b^2 + 2 b.
#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "base/cuda/launch.hpp"
#include "base/cuda/piece.hpp"
#include "base/native_forms.hpp"
#include "line/blocks/block_tridiagonal.hpp"
#include "line/blocks/block_wide_parts.hpp"

namespace weft::cuda {

template <class Scalar>
struct BlockWideArguments {
  const Scalar *lower, *diagonal, *upper, *rhs;
  Scalar *solution;
  BlockLines lines;
  Scalar scale; ///< of the solution
  Colour colour;
  int *redo; ///< a word for each line
  PivotFlag<Kokkos::CudaSpace> flag;
  int blocks = 1; ///< of a cluster
};

/// What a thread block keeps in shared memory: W warps, places for S rows of each group on their way, messages of P warps.
template <class Scalar, int R, int W, int S, int P>
struct BlockTile {
  static constexpr int rows_of_warp = R * BlockLane::groups, rows = W * rows_of_warp;
  using Lane = BlockLane;

  /// Row number j of every group. A block's rows change places, so that lanes of neighbouring groups meet no bank conflict.
  struct Place {
    Scalar blocks[3][Lane::groups * 16]; ///< lower, diagonal, upper
    Scalar rhs[Lane::groups * 4];
    __device__ static int row_of_block(int group, int p)
    {
      return group * 16 + (p ^ (group * static_cast<int>(sizeof(Scalar)) / 8 & 3)) * 4;
    }
  };
  struct OfWarp {
    Place ring[S];
    Pair<Scalar> kept[R - 1][8][32];   ///< couplings of all rows but the last
    Scalar x[R][Lane::groups * 4 + 4]; ///< values, then unknowns: of row j of all groups, in the order of the node
  };
  alignas(128) OfWarp of_warp[W];
  BlockMessage<Scalar> messages[2][P][2]; ///< for this line and the next: first and last row of each warp's part
  Scalar unsafe[2][P];
  Arrival arrivals[2];
};

/// 16 bytes without waiting, or zeros.
template <class Scalar>
__device__ void copy_piece(Scalar *to, const Scalar *from, bool exists)
{
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(exists ? 16 : 0) : "memory");
}
__device__ inline void copies_are_a_group()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int pending>
__device__ void older_copies_arrived()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// The rows of a warp in its part of a line.
template <class Scalar, int R>
struct BlockPart {
  static constexpr int words = Piece<Scalar>::size, of_block = 16 / words, of_node = 4 / words; ///< pieces
  using Lane = BlockLane;

  int rows = 0;     ///< that the line has here
  bool top = false; ///< the line begins here
  bool end = false; ///< the line ends here

  /// What a lane brings of row 0: the first of its entries of the blocks, and of the right-hand side.
  struct Start {
    Index entry, unknown;
  };
  /// element: of the first node.
  __device__ static Start start(Index element, Index apart)
  {
    const int lane = Lane::lane();
    return {(element + lane / of_block * R * apart) * 4 + lane % of_block * words,
            element + lane / of_node * R * apart + lane % of_node * words};
  }
  /// Brings the rows number j of all groups, zeros where `exists` says so or the line has none.
  template <class Place>
  __device__ void fetch(Place &to, int j, const Start &start, bool exists, const BlockWideArguments<Scalar> &a) const
  {
    constexpr int together = 32 / of_block; // groups
    const Index apart = a.lines.layout.stride, further = j * apart, step = together * R * apart * 4;
    const int lane = Lane::lane(), q = lane % of_block * words;
    Index from = start.entry + 4 * further;
    int r      = lane / of_block * R + j;
    // Groups that are `together` apart have their blocks in the same order.
    const int at = Place::row_of_block(lane / of_block, q / 4) + q % 4;
#pragma unroll
    for (int n = 0; n < Lane::groups / together; n++, from += step, r += together * R) {
      const bool is_row   = exists && r < rows;
      const Index at_from = is_row ? from : 0;
      copy_piece(to.blocks[0] + at + n * together * 16, a.lower + at_from, is_row && !(top && r == 0));
      copy_piece(to.blocks[1] + at + n * together * 16, a.diagonal + at_from, is_row);
      copy_piece(to.blocks[2] + at + n * together * 16, a.upper + at_from, is_row && !(end && r == rows - 1));
    }
    if (lane < Lane::groups * of_node) {
      const bool is_row = exists && lane / of_node * R + j < rows;
      copy_piece(to.rhs + lane / of_node * 4 + lane % of_node * words, a.rhs + (is_row ? start.unknown + further : 0), is_row);
    }
  }
};

/// A lane's share of a row as it arrived.
template <class Scalar>
struct ArrivedRow {
  Block<Scalar, 4> lower;
  Columns<Scalar> diagonal;
  BlockRow<Scalar> row; ///< value and after: right-hand side and upper
  Scalar scale[4];

  template <class Place>
  __device__ ArrivedRow(const Place &from, bool exists)
  {
    const int group = BlockLane::group(), own = 2 * BlockLane::half(), others = 2 - own;
    const auto pair = [](const Scalar *p) { return *reinterpret_cast<const Pair<Scalar> *>(p); };
#pragma unroll
    for (int p = 0; p < 4; p++) {
      const int at           = Place::row_of_block(group, p ^ own);
      const Pair<Scalar> low = pair(from.blocks[0] + at + own), rest = pair(from.blocks[0] + at + others);
      const Pair<Scalar> middle = pair(from.blocks[1] + at + own), up = pair(from.blocks[2] + at + own);
      lower(p, 0)     = low.x;
      lower(p, 1)     = low.y;
      lower(p, 2)     = rest.x;
      lower(p, 3)     = rest.y;
      diagonal[0][p]  = middle.x;
      diagonal[1][p]  = middle.y;
      row.after[0][p] = up.x;
      row.after[1][p] = up.y;
    }
    if (!exists) diagonal[0][0] = diagonal[1][1] = 1; // the rest of it is zero
    const Pair<Scalar> v = pair(from.rhs + group * 4 + own), w = pair(from.rhs + group * 4 + others);
    row.value[0] = v.x;
    row.value[1] = v.y;
    row.value[2] = w.x;
    row.value[3] = w.y;
  }
  /// Sums of the magnitudes in the rows.
  __device__ void measure()
  {
#pragma unroll
    for (int p = 0; p < 4; p++)
      scale[p] =
          abs(lower(p, 0)) + abs(lower(p, 1)) + abs(diagonal[0][p]) + abs(diagonal[1][p]) + abs(row.after[0][p]) + abs(row.after[1][p]);
    add_other(scale);
  }
};

/// Steps are numbered as in docs/kernels/block_tridiagonal.md.
template <class Scalar, int R, int W, int S, int P, int at_least>
__global__ void __launch_bounds__(32 * W, at_least) native_block_wide(const __grid_constant__ BlockWideArguments<Scalar> a)
{
  using Lane = BlockLane;
  using Tile = BlockTile<Scalar, R, W, S, P>;
  using Row  = BlockRow<Scalar>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile                  = *reinterpret_cast<Tile *>(shared);
  typename Tile::OfWarp &warp = tile.of_warp[threadIdx.x / 32];
  const LineLayout &layout    = a.lines.layout;
  const int lane = Lane::lane(), half = Lane::half(), group = Lane::group();
  const int blocks = a.blocks, block = static_cast<int>(blockIdx.x % blocks);
  const int parts = blocks * W, number = block * W + static_cast<int>(threadIdx.x / 32);
  const Index clusters = gridDim.x / blocks, count = a.lines.count();
  const Scalar margin = Scalar(1e-3);

  const auto with_colour = [&](Index line) { // from this one on
    while (line < count && !a.lines.has_colour(line, a.colour)) line += clusters;
    return line;
  };
  const Index first_row = Index(number) * Tile::rows_of_warp, left_rows = layout.length - first_row;
  BlockPart<Scalar, R> part;
  part.rows             = left_rows < 0 ? 0 : left_rows < Tile::rows_of_warp ? static_cast<int>(left_rows) : Tile::rows_of_warp;
  part.top              = first_row == 0;
  part.end              = left_rows <= Tile::rows_of_warp;
  const auto element_of = [&](Index of_line) { return a.lines.start(of_line) + first_row * layout.stride; };

  // Step 1: the first rows are on their way.
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) a.flag.clear(); // only who solves what is left reports
    tile.arrivals[0].init();
    tile.arrivals[1].init();
    share_arrivals();
  }
  cluster_arrive();
  Index line    = with_colour(blockIdx.x / blocks);
  Index element = line < count ? element_of(line) : 0;
  auto start    = part.start(element, layout.stride);
#pragma unroll
  for (int j = 0; j < S; j++) {
    part.fetch(warp.ring[j], j, start, line < count, a);
    copies_are_a_group();
  }
  cluster_wait();

  int place = 0; // in the ring
  for (std::uint32_t turn = 0; line < count; turn++) {
    const Index next_line    = with_colour(line + clusters);
    const bool goes_on       = next_line < count;
    const Index next_element = goes_on ? element_of(next_line) : 0;
    const auto next_start    = part.start(next_element, layout.stride);
    if (threadIdx.x == 0 && blocks > 1)
      tile.arrivals[turn % 2].expect(static_cast<std::uint32_t>(parts * (sizeof(tile.messages[0][0]) + sizeof(Scalar))));

    // Step 2: rows arrive one by one, the next ones are on their way. Step 3: each is eliminated.
    Row mine  = Row::passing(), head{};
    bool safe = true;
#pragma unroll 1
    for (int j = 0; j < R; j++) {
      older_copies_arrived<S - 1>();
      __syncwarp();
      ArrivedRow<Scalar> arrived(warp.ring[place], group * R + j < part.rows);
      __syncwarp(); // all lanes have read the row
      const bool is_next = j + S >= R;
      part.fetch(warp.ring[place], is_next ? j + S - R : j + S, is_next ? next_start : start, !is_next || goes_on, a);
      copies_are_a_group();
      place = place + 1 < S ? place + 1 : 0;

      arrived.measure();
      { // the first unknown, hanging on the one before the chunk and on this row's, by what the row before says; in row 0 it is this one
        const Block<Scalar, 4> after = whole_block(head.after);
        subtract(head.value, after, mine.value);
        subtract(head.before, after, mine.before);
#pragma unroll
        for (int p = 0; p < 4; p++) head.after[0][p] = head.after[1][p] = 0;
        head.after[0][0] = head.after[1][1] = j == 0 ? -1 : 0;
        subtract(head.after, after, mine.after);
        const int of = j > 0 ? j - 1 : 0; // what is kept of no row, the next one replaces
#pragma unroll
        for (int n = 0; n < 8; n++) warp.kept[of][n][lane] = mine.pair(n);
        *reinterpret_cast<Pair<Scalar> *>(warp.x[of] + group * 4 + 2 * half) = mine.pair(8);
      }
      Row &row = arrived.row;
#pragma unroll
      for (int p = 0; p < 4; p++) row.before[0][p] = row.before[1][p] = 0;
      subtract(arrived.diagonal, arrived.lower, mine.after);
      subtract(row.value, arrived.lower, mine.value);
      subtract(row.before, arrived.lower, mine.before);
      Block<Scalar, 4> pivot = whole_block(arrived.diagonal);
      safe                   = solve_row(pivot, row, arrived.scale, margin) && safe;
      mine                   = row;
    }

    // Step 4: the chunks of the warp.
    BlockEnds<Scalar> ends = reduce_groups<false>(mine, head, 0, margin, safe);
    safe                   = __all_sync(every_lane, safe);
    auto &messages         = tile.messages[turn % 2];
    auto &unsafe           = tile.unsafe[turn % 2];
    Arrival &arrival       = tile.arrivals[turn % 2];
    // Step 5: all warps of the line hear the two rows of this one.
    if (blocks == 1) { // a cluster of one block has nobody to send to
      if (group == 0) {
#pragma unroll
        for (int n = 0; n < Row::pairs; n++) {
          messages[number][0][n][half] = ends.first.pair(n);
          messages[number][1][n][half] = ends.last.pair(n);
        }
        if (half == 0) unsafe[number] = !safe;
      }
      __syncthreads();
    } else if (group < blocks) {
      const std::uint32_t arrival_at = address_in_block(&arrival, group), at = address_in_block(messages[number], group);
#pragma unroll
      for (int n = 0; n < Row::pairs; n++) {
        const auto to = static_cast<std::uint32_t>(at + (2 * n + half) * sizeof(Pair<Scalar>));
        send_to_block(to, ends.first.pair(n), arrival_at);
        send_to_block(static_cast<std::uint32_t>(to + sizeof(BlockMessage<Scalar>)), ends.last.pair(n), arrival_at);
      }
      if (half == 0) send_to_block(address_in_block(unsafe + number, group), Scalar(!safe), arrival_at);
    }
    if (blocks > 1) arrival.wait_for_cluster(turn / 2 % 2);

    // Step 6: each warp solves for all.
    const int first = Lane::groups - parts, of = group - first;
    Row row         = of >= 0 ? read_message(messages[of][1]) : Row::passing();
    const Row top   = of >= 0 ? read_message(messages[of][0]) : Row::passing();
    const bool told = of < 0 || unsafe[of] == 0;
    ends            = reduce_groups<true>(row, top, first, margin, safe);
    safe            = __all_sync(every_lane, safe && told);
    if (number == 0 && lane == 0) a.redo[line] = !safe;
    if (safe) {
      const Pair<Scalar> nothing{0, 0}, last_of_line = ends.last.pair(8);
      Pair<Scalar> x = known_pair(row, nothing, last_of_line);
      if (group == Lane::last) x = last_of_line;
      const Pair<Scalar> g  = from_lane(x, Lane::of_group(first + number));
      Pair<Scalar> g_before = from_lane(x, Lane::of_group(number > 0 ? first + number - 1 : 0));
      if (number == 0) g_before = nothing;
      x = known_pair(mine, g_before, g);
      if (group == Lane::last) x = g;
      Pair<Scalar> before = from_lane(x, lane >= 2 ? lane - 2 : lane);
      if (group == 0) before = g_before;

      // Step 7: the unknowns of the chunk, upwards.
      Pair<Scalar> *const own = reinterpret_cast<Pair<Scalar> *>(warp.x[0] + group * 4 + 2 * half);
      constexpr int apart     = sizeof(warp.x[0]) / sizeof(Pair<Scalar>);
      own[(R - 1) * apart]    = x;
#pragma unroll
      for (int j = R - 2; j >= 0; j--) {
        Row r;
#pragma unroll
        for (int n = 0; n < 8; n++) r.set_pair(n, warp.kept[j][n][lane]);
        const Pair<Scalar> value = own[j * apart];
        r.value[0]               = value.x;
        r.value[1]               = value.y;
        x                        = known_pair(r, before, x);
        own[j * apart]           = x;
      }
      __syncwarp();
      // Step 8: the solution.
      constexpr int words = Piece<Scalar>::size, of_node = 4 / words;
      for (int n = lane; n < part.rows * of_node; n += 32) {
        const int r = n / of_node, p = n % of_node * words;
        Piece<Scalar> piece = *reinterpret_cast<const Piece<Scalar> *>(warp.x[r % R] + r / R * 4 + p);
#pragma unroll
        for (Scalar &entry : piece.values) entry *= a.scale;
        *reinterpret_cast<Piece<Scalar> *>(a.solution + element + r * layout.stride + p) = piece;
      }
      __syncwarp(); // before the next line's values come there
    }
    line    = next_line;
    element = next_element;
    start   = next_start;
  }
  cluster_arrive(); // no block leaves that others still write to
  cluster_wait();
}

/// A form of the kernel: as much as fits shared memory.
template <int R, int W, int P>
struct BlockWideForm {
  static constexpr int places = 3, at_least = R == 8 ? 4 / W : 1;
  static constexpr Index rows_of_block = R * W * BlockLane::groups, most_rows = R * P * BlockLane::groups;
  template <class Scalar>
  using Tile = BlockTile<Scalar, R, W, places, P>;

  /// For clusters of that many blocks.
  template <class Scalar>
  static const NativeLaunch<Scalar> &launch(int blocks)
  {
    static std::array<std::optional<NativeLaunch<Scalar>>, P / W + 1> known;
    auto &launch = known[static_cast<std::size_t>(blocks)];
    if (!launch) launch = launch_of<Scalar>(native_block_wide<Scalar, R, W, places, P, at_least>, 32 * W, sizeof(Tile<Scalar>), blocks);
    return *launch;
  }
};

/// Calls body(form) with the smallest form that holds such lines.
template <class Body>
void with_block_wide_form(Index length, const Body &body)
{
  if (length <= BlockWideForm<8, 1, 1>::most_rows)
    body(BlockWideForm<8, 1, 1>());
  else if (length <= BlockWideForm<8, 2, 2>::most_rows)
    body(BlockWideForm<8, 2, 2>());
  else if (length <= BlockWideForm<8, 4, 16>::most_rows)
    body(BlockWideForm<8, 4, 16>());
  else
    body(BlockWideForm<16, 2, 16>());
}

/// Lines long enough to give most lanes something to do, short enough for a cluster.
inline bool block_wide_lines(const LineLayout &layout)
{
  return native_forms.lines && layout.length >= 64 && layout.length <= BlockWideForm<16, 2, 16>::most_rows;
}

template <class Scalar>
void launch_block_wide(const Kokkos::Cuda &space, BlockWideArguments<Scalar> a)
{
  with_block_wide_form(a.lines.layout.length, [&](auto form) {
    a.blocks                           = static_cast<int>((a.lines.layout.length + form.rows_of_block - 1) / form.rows_of_block);
    const NativeLaunch<Scalar> &launch = form.template launch<Scalar>(a.blocks);
    const Index clusters               = std::min<Index>(launch.resident, a.lines.count());
    const dim3 grid(static_cast<unsigned>(clusters * a.blocks));
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = cluster_launch(launch, grid, a.blocks, space.cuda_stream(), attribute);
    void *arguments[]               = {&a};
    check_launch(cudaLaunchKernelExC(&config, launch.kernel, arguments), "launch");
  });
}

} // namespace weft::cuda
