/// The kernel of wide.hpp: which thread owns which rows, and what it does with them.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/aligned.hpp"
#include "base/backend.hpp"
#include "base/taxicab.hpp"
#include "line/join.hpp"
#include "line/methods/pivoted/pieces.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// How lines are dealt out to teams.
struct WideShape {
  LineLayout layout;
  int rows        = 8;    ///< R: consecutive rows of a thread
  int threads     = 1;    ///< of a line (of a tile of it)
  int lines       = 1;    ///< of a team
  bool rows_first = true; ///< neighbouring threads own neighbouring rows; otherwise neighbouring lines
  Index tiles     = 1;    ///< that a line is cut into

  WEFT_INLINE Index tile_rows() const { return Index(rows) * threads; }
  /// Cuts lines into as many tiles as they need.
  void cut() { tiles = std::max<Index>(1, (layout.length + tile_rows() - 1) / tile_rows()); }
};

/// Steps that elimination inside a team can take, for the order in which pivots are reported.
inline constexpr int wide_steps = 12;

template <class Space>
WideShape wide_shape(const LineLayout &layout, const MethodParameters &parameters)
{
  WideShape shape;
  shape.layout     = layout;
  shape.rows_first = layout.rows_are_closest();
  if (is_host_space<Space>) {
    shape.rows = 32; // a team is one thread
  } else {
    const int most = parameters.partitions > 0 ? parameters.partitions : shape.rows_first ? 512 : 128;
    shape.rows     = parameters.slice > 0                                                                        ? parameters.slice
                     : layout.length <= 64 || (shape.rows_first && layout.length > 512 && layout.length <= 1024) ? 4
                                                                                                                 : 8;
    // As many threads as a line has chunks, rounded up to a power of two: a team's lines then fill warps evenly.
    while (shape.threads < most && shape.tile_rows() < layout.length) shape.threads *= 2;
    shape.threads = std::min(shape.threads, most);
    // Teams of at least a warp; neighbouring lines in pieces of whole memory sectors.
    shape.lines = std::max(1, warp_threads<Space> / shape.threads);
    if (!shape.rows_first) shape.lines = std::max(shape.lines, shape.threads <= 64 ? 8 : 4);
    while (shape.lines > 1 && shape.lines / 2 >= layout.count()) shape.lines /= 2;
  }
  return shape;
}

/// Lines of a colour, as they are dealt out to teams: half of all, to the next number.
WEFT_INLINE Index lines_of_colour(const LineLayout &layout, Colour colour)
{
  return colour == Colour::all ? layout.count() : layout.components * ((layout.across[0] * layout.across[1] + 1) / 2);
}
/// The k-th of them, so that neighbouring teams and threads have neighbouring lines of the colour. May be layout.count() or more: none.
///
/// On the chessboard node 2 k or 2 k + 1 has the colour: numbers alternate along a row of it, and from row to row where rows have an odd number.
WEFT_INLINE Index line_of_colour(const LineLayout &layout, Colour colour, Index k)
{
  if (colour == Colour::all) return k;
  const Index c = layout.components, of_node = c > 1 ? k / c : k, node = 2 * of_node;
  const Index shift = layout.across[1] > 1 && layout.across[0] % 2 == 0 ? node / layout.across[0] : 0;
  return (node + ((shift + layout.first_colour + static_cast<int>(colour)) & 1)) * c + (k - of_node * c);
}

/// A tile of a line, its last unknown g kept: what that row says, and the tile's first unknown f, in terms of their neighbours.
///   g_t = last_value - last_before g_{t-1} - last_after f_{t+1},     f_t = first_value - first_before g_{t-1} - first_after g_t
template <class Space, class Scalar>
struct TileRows {
  OwnedArray<Scalar, Space> last_value, last_before, last_after, first_value, first_before, first_after;

  TileRows() = default;
  explicit TileRows(Index size)
  {
    for (auto array : {&last_value, &last_before, &last_after, &first_value, &first_before, &first_after})
      *array = table<Scalar, Space>("weft wide tile rows", size);
  }
  KOKKOS_INLINE_FUNCTION void set_first(Index tile, const Hanging<Scalar> &f) const
  {
    first_value(tile)  = f.value;
    first_before(tile) = f.before;
    first_after(tile)  = f.after;
  }
  KOKKOS_INLINE_FUNCTION void set_last(Index tile, const Hanging<Scalar> &g) const
  {
    last_value(tile)  = g.value;
    last_before(tile) = g.before;
    last_after(tile)  = g.after;
  }
};

/// The tiles' rows without f: a tridiagonal line of the g.
template <class Space, class Scalar>
void join_tiles(const Space &space, const LineProblem &lines, const TileRows<Space, Scalar> &tiles, const OwnedArray<Scalar, Space> &lower,
                const OwnedArray<Scalar, Space> &diagonal, const OwnedArray<Scalar, Space> &upper, const OwnedArray<Scalar, Space> &rhs)
{
  const LineLayout layout = lines.layout;
  Kokkos::parallel_for(
      "weft wide join", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineRow at   = line_row(layout, number);
        const Index i      = layout.start(at.line) + at.row * layout.stride;
        const Index next   = at.row + 1 < layout.length ? i + layout.stride : layout.start(at.line);
        const Scalar after = tiles.last_after(i);
        lower(i)           = tiles.last_before(i);
        diagonal(i)        = 1 - after * tiles.first_before(next);
        upper(i)           = -after * tiles.first_after(next);
        rhs(i)             = tiles.last_value(i) - after * tiles.first_value(next);
      });
}

/// Fewer threads, where the numbers of a team do not fit its scratch memory: those of double complex ones.
template <class Space, class Scalar>
void fit_team([[maybe_unused]] WideShape &shape)
{
  if constexpr (!is_host_space<Space> && sizeof(Scalar) > sizeof(double)) {
    constexpr int most = 448;
    while (shape.lines > 1 && shape.lines * shape.threads > most) shape.lines /= 2;
    shape.threads = std::min(shape.threads, most / shape.lines);
  }
}

enum class WidePart {
  whole,  ///< a line at once
  reduce, ///< the two rows of each tile
  finish, ///< the unknowns of each tile, its last one and that of the tile before known
};

template <class Space, class Scalar>
struct WideArguments {
  Tridiagonal<Scalar, Space> matrix;
  Array<Scalar, Space> rhs, solution;
  Update<Scalar> update;
  Colour colour = Colour::all;
  WideShape shape;
  WidePart part = WidePart::whole;
  TileRows<Space, Scalar> tiles;  ///< reduce: written
  OwnedArray<Scalar, Space> last; ///< finish: last unknowns of the tiles, in the layout of lines_like
  PivotFlag<typename Space::memory_space> flag;
  bool solves = true, checks = false;
  bool in_pieces        = false; ///< rows follow each other in memory and all arrays begin at a multiple of 16 bytes
  int step              = 0;     ///< eliminations before this one
  Index rows_of_row     = 1;     ///< rows of the user's line that a row stands for
  Index original_length = 0;     ///< of the user's line
};

/// 1 / x to the last bit or the one before. A device's own division also looks after results below 1e-308, which a pivot's inverse is not.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar reciprocal(Scalar x)
{
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Scalar, Complex<double>>) { // scaled by a power of two to size 1, so that its square is a number
    constexpr int magnitude = 0x7fffffff, exponent = 0x7ff00000, largest = 0x7fd00000;
    const int one = __double2hiint(x.real()) & magnitude, two = __double2hiint(x.imag()) & magnitude;
    const double size = __hiloint2double(largest + 0x00100000 - min((one > two ? one : two) & exponent, largest), 0);
    const double re = x.real() * size, im = x.imag() * size, norm = reciprocal(re * re + im * im) * size;
    return {re * norm, -im * norm};
  } else if constexpr (std::is_same_v<Scalar, double>) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); // to 20 bits; one cubic step makes 60 of them
    const double error = fma(-x, y, 1.0);
    return fma(y, fma(error, error, error), y);
  }
#endif
  return 1 / x;
}

/// Team scratch through which threads see each other's numbers: two sets, so that one can be written while the other is read.
template <class Scalar>
struct Board {
  Scalar *numbers;
  int team_size;

  KOKKOS_INLINE_FUNCTION void show(int set, int rank, const Hanging<Scalar> &h) const
  {
    Scalar *at        = numbers + 3 * set * team_size + rank;
    at[0]             = h.value;
    at[team_size]     = h.before;
    at[2 * team_size] = h.after;
  }
  KOKKOS_INLINE_FUNCTION Hanging<Scalar> see(int set, int rank) const
  {
    const Scalar *at = numbers + 3 * set * team_size + rank;
    return {at[0], at[team_size], at[2 * team_size]};
  }
};

/// What else the rows of a line couple to, for kernels that relax: nothing. `take` subtracts couplings from the right-hand sides of a thread's
/// rows, `measure` looks at the line solutions; both are called by all threads of a team.
struct NoCouplings {
  template <class Member, class Scalar, int R>
  KOKKOS_INLINE_FUNCTION void take(const Member &, Index, Index, int, bool, Scalar (&)[R]) const
  {
  }
  template <class Member, class Scalar, int R>
  KOKKOS_INLINE_FUNCTION void measure(const Member &, int, const Scalar (&)[R]) const
  {
  }
};

/// R: rows of a thread. plain: general coefficients as they are stored, not periodic, one tile, solved - what most calls ask.
template <class Space, class Scalar, int R, bool plain, class Couplings = NoCouplings>
struct WideKernel {
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  WideArguments<Space, Scalar> a;
  Couplings couplings;

  KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int team_size)
  {
    return 6 * sizeof(Scalar) * static_cast<std::size_t>(team_size);
  }

  KOKKOS_INLINE_FUNCTION bool part_is(WidePart part) const { return plain ? part == WidePart::whole : a.part == part; }
  KOKKOS_INLINE_FUNCTION bool periodic() const { return !plain && a.matrix.problem.periodic && a.part == WidePart::whole; }

  KOKKOS_INLINE_FUNCTION void check(Scalar pivot, RealOf<Scalar> scale, Index line, Index row, int step) const
  {
    if (!a.checks || usable_pivot(pivot, scale)) return;
    const Index original = (row + 1) * a.rows_of_row;
    a.flag.report(line, (original < a.original_length ? original : a.original_length) - 1, a.step + step);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const WideShape &shape   = a.shape;
    const LineLayout &layout = shape.layout;
    // Who this thread is.
    const int rank      = team.team_rank();
    const int chunk     = shape.rows_first ? rank % shape.threads : rank / shape.lines;
    const int slot      = shape.rows_first ? rank / shape.threads : rank % shape.lines;
    const int apart     = shape.rows_first ? 1 : shape.lines; // from a chunk to the next one, in ranks
    const Index count   = layout.count();
    const Index bundles = (lines_of_colour(layout, a.colour) + shape.lines - 1) / shape.lines;
    const Index league  = team.league_rank();
    const Index tile    = plain ? 0 : shape.rows_first ? league % shape.tiles : league / bundles;
    const Index bundle  = plain ? league : shape.rows_first ? league / shape.tiles : league % bundles;
    const Index line    = line_of_colour(layout, a.colour, bundle * shape.lines + slot);
    const bool wanted   = bundle * shape.lines + slot < lines_of_colour(layout, a.colour) && line < count;
    // Its rows.
    const Index tile_rows = shape.tile_rows();
    const Index begin     = tile * tile_rows;
    const Index end       = begin + tile_rows < layout.length ? begin + tile_rows : layout.length;
    const int chunks      = static_cast<int>((end - begin + R - 1) / R);
    const Index first     = begin + Index(chunk) * R;
    const int rows        = !wanted || chunk >= chunks ? 0 : static_cast<int>(end - first < R ? end - first : R);
    const Index start     = wanted ? layout.start(line) : 0;

    Scalar lower[R], diagonal[R], upper[R], rhs[R];
    load(line, tile, start, first, end, rows, lower, diagonal, upper, rhs);
    couplings.take(team, start + first * layout.stride, layout.stride, rows, pieces(start + first, rows), rhs);

    // Rows that were joined from tiles had a diagonal of 1 before: that is what their pivots are measured by.
    const RealOf<Scalar> joined_scale = a.step > 0 ? 1 : 0;
    // The chunk, downwards: lower becomes before, upper after, rhs value.
    Scalar before = 0, after = 0, value = 0; // of the row above
    for (int j = 0; j < R; j++) {
      if (j < rows) {
        const Scalar pivot = diagonal[j] - lower[j] * after;
        check(pivot, joined_scale + modulus(lower[j]) + modulus(diagonal[j]) + modulus(upper[j]), line, first + j, 0);
        const Scalar inverse = reciprocal(pivot);
        value                = (rhs[j] - lower[j] * value) * inverse;
        before               = (j == 0 ? lower[j] : -lower[j] * before) * inverse;
        after                = upper[j] * inverse;
        lower[j]             = before;
        upper[j]             = after;
        rhs[j]               = value;
      }
    }
    // Its first unknown in terms of its neighbours before and its last one.
    Hanging<Scalar> head{0, 0, -1};
    for (int j = R - 2; j >= 0; j--) {
      if (j + 1 < rows) head = {rhs[j] - upper[j] * head.value, lower[j] - upper[j] * head.before, -upper[j] * head.after};
    }

    // Two sets of three numbers from every thread.
    const Board<Scalar> board{static_cast<Scalar *>(team.team_scratch(0).get_shmem(scratch_bytes(team.team_size()))), team.team_size()};

    // Join to the next chunk. Where the last unknown of the line or tile is kept, its chunk stays out.
    const bool keeps_last = part_is(WidePart::reduce) || periodic();
    const int joined      = keeps_last ? chunks - 1 : chunks; // chunks 0 .. joined - 1 take part in PCR
    Hanging<Scalar> mine{value, before, after};
    const Index last_row = first + rows - 1;
    board.show(1, rank, head);
    team.team_barrier();
    if (rows > 0 && chunk + 1 < chunks) {
      Join<Scalar> join(mine);
      join.right(board.see(1, rank + apart));
      check(join.pivot(), 1 + modulus(mine.before) + modulus(mine.after), line, last_row, 1);
      mine = join.row(reciprocal(join.pivot()));
    }
    // PCR over the chunks.
    board.show(0, rank, mine);
    team.team_barrier();
    int set = 0;
    for (int distance = 1, step = 2; distance < joined; distance *= 2, step++) {
      if (rows > 0 && chunk < joined) {
        Join<Scalar> join(mine);
        if (chunk >= distance) join.left(board.see(set, rank - distance * apart));
        if (chunk + distance < joined) join.right(board.see(set, rank + distance * apart));
        check(join.pivot(), 1 + modulus(mine.before) + modulus(mine.after), line, last_row, step);
        mine = join.row(reciprocal(join.pivot()));
        board.show(1 - set, rank, mine);
      }
      set = 1 - set;
      team.team_barrier();
    }

    Scalar x_before = 0, x = mine.value; // last unknowns of the chunk before and of this one
    if (keeps_last) {
      // Chunk 0 tells f; the last chunk hangs its own unknown on that of the tile before.
      const bool last_chunk = rows > 0 && chunk == chunks - 1;
      Hanging<Scalar> f     = head;
      if (rows > 0 && chunk == 0 && !last_chunk)
        f = {head.value - head.after * mine.value, head.before - head.after * mine.before, -head.after * mine.after};
      Hanging<Scalar> g = mine;
      if (last_chunk && chunk > 0) {
        Join<Scalar> join(mine);
        join.left(board.see(set, rank - apart));
        check(join.pivot(), 1 + modulus(mine.before) + modulus(mine.after), line, last_row, wide_steps - 2);
        g = join.row(reciprocal(join.pivot()));
      }
      if (part_is(WidePart::reduce)) {
        const Index k = shape.rows_first ? line * shape.tiles + tile : tile * count + line;
        if (rows > 0 && chunk == 0) a.tiles.set_first(k, f);
        if (last_chunk) a.tiles.set_last(k, g);
        return;
      }
      // A ring: f hangs on g alone, and so does g.
      if (rows > 0 && chunk == 0) board.show(1 - set, rank, f);
      team.team_barrier();
      if (last_chunk) {
        const Hanging<Scalar> ahead = board.see(1 - set, rank - chunk * apart);
        const Scalar pivot          = 1 + g.before - g.after * (ahead.before + ahead.after);
        check(pivot, 1 + modulus(g.before) + modulus(g.after), line, last_row, wide_steps - 1);
        mine = {(g.value - g.after * ahead.value) / pivot, 0, 0};
        board.show(set, rank, mine);
      }
      team.team_barrier();
      const Scalar ring = rows > 0 ? board.see(set, rank + (chunks - 1 - chunk) * apart).value : Scalar(0);
      const auto known  = [&](const Hanging<Scalar> &h) { return h.value - (h.before + h.after) * ring; };
      x                 = last_chunk ? ring : known(mine);
      x_before          = rows == 0 ? Scalar(0) : chunk == 0 ? ring : known(board.see(set, rank - apart));
    } else if (rows > 0 && chunk > 0) {
      x_before = board.see(set, rank - apart).value;
    }
    if (!plain && !a.solves) return;

    // The chunk, upwards.
    for (int j = R - 1; j >= 0; j--) {
      if (j < rows) {
        if (j + 1 < rows) x = rhs[j] - lower[j] * x_before - upper[j] * x;
        rhs[j] = x;
      }
    }
    couplings.measure(team, rows, rhs);
    if (pieces(start + first, rows) && !a.update.add) {
      for (int j = 0; j < R; j++) rhs[j] *= a.update.scale;
      store_aligned(rhs, a.solution.data() + start + first);
      return;
    }
    for (int j = 0; j < R; j++) {
      if (j < rows) put(a.solution(start + (first + j) * layout.stride), a.update, rhs[j]);
    }
  }

  /// True where a thread's rows can be moved 16 bytes at a time, from this element on.
  KOKKOS_INLINE_FUNCTION bool pieces(Index element, int rows) const
  {
    if constexpr (!plain || is_host_space<Space> || R % (16 / sizeof(Scalar)) != 0) return false;
    return a.in_pieces && rows == R && element % (16 / static_cast<Index>(sizeof(Scalar))) == 0;
  }

  /// The rows of a thread. Rows that do not exist stay unset.
  KOKKOS_INLINE_FUNCTION void load(Index line, Index tile, Index start, Index first, Index end, int rows, Scalar (&lower)[R],
                                   Scalar (&diagonal)[R], Scalar (&upper)[R], Scalar (&rhs)[R]) const
  {
    const WideShape &shape   = a.shape;
    const LineLayout &layout = shape.layout;
    if (pieces(start + first, rows)) {
      load_aligned(a.matrix.lower.data() + start + first, lower);
      load_aligned(a.matrix.diagonal.data() + start + first, diagonal);
      load_aligned(a.matrix.upper.data() + start + first, upper);
      load_aligned(a.rhs.data() + start + first, rhs);
    } else {
      for (int j = 0; j < R; j++) {
        if (j < rows) {
          const Index row = first + j, i = start + row * layout.stride;
          if constexpr (plain) {
            lower[j]    = a.matrix.lower(i);
            diagonal[j] = a.matrix.diagonal(i);
            upper[j]    = a.matrix.upper(i);
            rhs[j]      = a.rhs(i);
          } else {
            const Row<Scalar> r = a.matrix.wrapped(row, i);
            lower[j]            = r.lower;
            diagonal[j]         = r.diagonal;
            upper[j]            = r.upper;
            rhs[j]              = a.solves ? a.rhs(i) : Scalar(0);
          }
        }
      }
    }
    if constexpr (plain) {
      // What the ends couple to is nothing, whatever stands there.
      for (int j = 0; j < R; j++) {
        if (first + j == 0) lower[j] = 0;
        if (first + j == layout.length - 1) upper[j] = 0;
      }
    } else if (a.part == WidePart::finish) {
      const Index tiles = shape.tiles, step = shape.rows_first ? 1 : layout.count();
      const Index k = shape.rows_first ? line * tiles : line;
      for (int j = 0; j < R; j++) {
        if (j < rows && first + j == end - 1) {
          lower[j] = upper[j] = 0;
          diagonal[j]         = 1;
          rhs[j]              = a.last(k + tile * step);
        } else if (j == 0 && rows > 0 && first == tile * shape.tile_rows()) {
          rhs[j] -= lower[j] * a.last(k + (tile > 0 ? tile - 1 : tiles - 1) * step);
          lower[j] = 0;
        }
      }
    }
  }
};

/// Launches the kernel for the rows that the shape gives a thread.
template <class Space, class Scalar, int R, bool plain, class Couplings = NoCouplings>
void launch_wide_kernel(const Space &space, const WideArguments<Space, Scalar> &a, const Couplings &couplings = {})
{
  using Kernel        = WideKernel<Space, Scalar, R, plain, Couplings>;
  using Policy        = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<512, 1>>;
  const auto &shape   = a.shape;
  const Index bundles = (lines_of_colour(shape.layout, a.colour) + shape.lines - 1) / shape.lines;
  const int team      = shape.threads * shape.lines;
  Policy policy(space, static_cast<int>(bundles * shape.tiles), team);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes(team))));
  // Its arguments are more than the 512 bytes that Kokkos passes to a kernel unasked.
  Kokkos::parallel_for("weft wide", Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       Kernel{a, couplings});
}

template <class Space, class Scalar, int R>
void launch_wide_rows(const Space &space, const WideArguments<Space, Scalar> &a)
{
  const LineProblem &problem = a.matrix.problem;
  const bool plain =
      problem.coefficients == Coefficients::general && !a.matrix.transposed && !problem.periodic && a.part == WidePart::whole && a.solves;
  if (plain)
    launch_wide_kernel<Space, Scalar, R, true>(space, a);
  else
    launch_wide_kernel<Space, Scalar, R, false>(space, a);
}

/// True if all arrays begin at a multiple of 16 bytes.
template <class Space, class Scalar>
bool begins_in_pieces(const WideArguments<Space, Scalar> &a)
{
  const auto aligned = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  return aligned(a.matrix.lower.data()) && aligned(a.matrix.diagonal.data()) && aligned(a.matrix.upper.data()) && aligned(a.rhs.data()) &&
         aligned(a.solution.data());
}

/// Calls launch with the rows of a thread as a constant, one of `rows`.
template <int... rows, class Launch>
void with_rows(const WideShape &shape, const Launch &launch)
{
  const bool known = ((shape.rows == rows ? (launch(std::integral_constant<int, rows>()), true) : false) || ...);
  if (!known) throw std::logic_error("wide: there is no kernel of " + std::to_string(shape.rows) + " rows a thread");
}

template <class Space, class Scalar>
void launch_wide(const Space &space, const WideArguments<Space, Scalar> &a)
{
  const auto launch = [&](auto rows) { launch_wide_rows<Space, Scalar, decltype(rows)::value>(space, a); };
  if constexpr (is_host_space<Space>)
    launch(std::integral_constant<int, 32>());
  else if constexpr (is_complex<Scalar>) // 5, 7 and 9: of native forms, for what these do not take
    with_rows<4, 5, 7, 8, 9, 16>(a.shape, launch);
  else
    with_rows<4, 8, 9, 16>(a.shape, launch);
}

/// The same for general coefficients of lines that a team holds, with couplings: see NoCouplings.
template <class Space, class Scalar, class Couplings>
void launch_wide_coupled(const Space &space, const WideArguments<Space, Scalar> &a, const Couplings &couplings)
{
  const auto launch = [&](auto rows) { launch_wide_kernel<Space, Scalar, decltype(rows)::value, true>(space, a, couplings); };
  if constexpr (is_host_space<Space>)
    launch(std::integral_constant<int, 32>());
  else
    with_rows<4, 6, 8, 9, 16>(a.shape, launch);
}

} // namespace weft
