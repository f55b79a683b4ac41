/// TPR: tree partitioning reduction (Dieguez, Amor, Doallo, ACM TOMS 45(3), 2019, sections 3 and 4). Lines are cut into slices; cyclic
/// reduction inside each slice leaves one equation a slice, and the slices meet once. The equations of the slices are lines again: they
/// are sliced in the same way until a team can hold what is left (the paper's second stage is one block per system, up to 2^22 rows).
///
/// Rows are divided by their diagonal when they come in: x_i = rhs_i - lower_i x_l - upper_i x_r. Merging row i with its neighbours l, r:
///   b = 1 - lower_i upper_l - upper_i lower_r
///   lower_i' = -lower_i lower_l / b,  upper_i' = -upper_i upper_r / b,  rhs_i' = (rhs_i - lower_i rhs_l - upper_i rhs_r) / b
/// and a missing neighbour leaves its coupling as it is. Two trees of such steps in a slice of rows 0 .. s-1, outside it rows -1 and s:
///   bottom tree: ends in  A x_{-1} + B x_{s-1} + C x_s = D,     C as it came
///   top tree:    ends in  a x_{-1} + b x_0 + g z = d,           with row s-1 taken as ... + z, z = C x_s
///   merge ("gamma": divides by diagonals only, right for C = 0 too):  a -= A g,  c = -B g,  d -= D g:  a x_{-1} + b x_0 + c x_{s-1} = d
/// The bottom row of a slice with the top row of the next one is the slice's equation. The rows that end a tree stay undivided, which
/// keeps a Laplacian's arithmetic free of rounding. Then the bottom tree once more, and substitution down it from the slice's two ends.
///
/// Any slice length and any line length: the trees count from the row that they end in, so nothing has to be a power of two or padded.
/// Words moved per row of a solve: 5 where a line is one slice (one kernel); else 9 (rows read by both passes) and 20 to 30 a slice.
/// Reads `slice`: rows of a slice, 2 .. 1024. It changes the speed only: accuracy does not depend on it.
/// Limits: no pivoting; about 30 operations and 3 reciprocals a row.
#pragma once
#include <algorithm>
#include <vector>

#include "line/methods/reduction/equations.hpp"
#include "line/methods/wide/parts.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

struct Tpr {
  static constexpr const char *name   = "tpr";
  static constexpr int most_rows      = 1024; ///< of a tile, that is of a slice too
  static constexpr int rows_of_slice  = 256;  ///< where lines are contiguous
  static constexpr int rows_across    = 64;   ///< where neighbouring lines share a tile
  static constexpr int lines_together = 16;   ///< then

  /// Operations of a solve: two trees of 15 a row and the substitution.
  static double flops(const LineLayout &layout) { return 34.0 * layout.rows(); }

  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.slice == 0 || (parameters.slice >= 2 && parameters.slice <= most_rows)) return nothing_against;
    return "tpr takes slices of 2 to " + std::to_string(most_rows) + " rows, not " + std::to_string(parameters.slice);
  }

  /// A row divided by its diagonal.
  template <class Scalar>
  struct Unit {
    Scalar lower = 0, upper = 0, rhs = 0;
  };

  /// Equations in scratch memory, an entry skipped after every 16 so that the strides of the trees do not meet in one memory bank.
  template <class Scalar>
  struct Tree {
    Scalar *lower, *upper, *rhs;

    KOKKOS_INLINE_FUNCTION static int padded(int entries) { return entries + entries / 16 + 1; }
    KOKKOS_INLINE_FUNCTION Tree(Scalar *memory, int entries)
        : lower(memory), upper(memory + padded(entries)), rhs(memory + 2 * padded(entries))
    {
    }
    KOKKOS_INLINE_FUNCTION Unit<Scalar> get(int k) const
    {
      k += k / 16;
      return {lower[k], upper[k], rhs[k]};
    }
    KOKKOS_INLINE_FUNCTION void set(int k, const Unit<Scalar> &row) const
    {
      k += k / 16;
      lower[k] = row.lower;
      upper[k] = row.upper;
      rhs[k]   = row.rhs;
    }
    KOKKOS_INLINE_FUNCTION Scalar &solution(int k) const { return rhs[k + k / 16]; }
  };

  /// Lines at one depth of the recursion, cut into slices, with the equations that the slices leave.
  template <class Space, class Scalar>
  struct Level {
    Parts slices;
    int log_width = 0; ///< a tile has 2^log_width lanes
    int steps     = 0; ///< reduction steps taken before this level, for the pivot flag
    Index each    = 1; ///< rows of the given lines that a row stands for
    Equations<Space, Scalar> bottom, top;
    OwnedArray<Scalar, Space> solution; ///< of the slices' equations
    OwnedArray<Scalar, Space> scale;    ///< of the bottom rows' diagonals before the elimination

    KOKKOS_INLINE_FUNCTION int width() const { return 1 << log_width; }
    KOKKOS_INLINE_FUNCTION int rows() const { return static_cast<int>(slices.rows); }
    int last_step() const { return std::bit_width(static_cast<unsigned>(rows())); }
  };

  /// The rows of the given lines. Without a right-hand side it counts as 0.
  template <class Space, class Scalar>
  struct GivenRows {
    Tridiagonal<Scalar, Space> matrix;
    Array<Scalar, Space> rhs, solution;
    SolveOptions<Scalar> options;

    KOKKOS_INLINE_FUNCTION bool has(Index line) const { return matrix.problem.layout.has_colour(line, options.colour); }
    KOKKOS_INLINE_FUNCTION Index start(Index line) const { return matrix.problem.layout.start(line); }
    KOKKOS_INLINE_FUNCTION Equation<Scalar> get(Index start, Index row, Scalar &scale) const
    {
      const Index i       = start + row * matrix.problem.layout.stride;
      const Row<Scalar> r = matrix.at(row, i);
      scale               = r.scale();
      return {r.lower, r.diagonal, r.upper, rhs.data() ? rhs(i) : Scalar(0)};
    }
    KOKKOS_INLINE_FUNCTION void set(Index start, Index row, Scalar x) const
    {
      put(solution(start + row * matrix.problem.layout.stride), options.update, x);
    }
  };

  /// The equations of the slices of a level: bottom row of a slice with the top row of the next.
  template <class Space, class Scalar>
  struct SliceRows {
    Level<Space, Scalar> from;
    LineLayout layout; ///< of the given lines; of the other colours' there are none
    Colour colour;

    KOKKOS_INLINE_FUNCTION bool has(Index line) const { return layout.has_colour(line, colour); }
    KOKKOS_INLINE_FUNCTION Index start(Index line) const { return from.slices.lane(line, 0); }
    KOKKOS_INLINE_FUNCTION Equation<Scalar> get(Index start, Index row, Scalar &scale) const
    {
      const Index lane         = start + row * from.slices.step();
      const Equation<Scalar> e = from.bottom.get(lane);
      scale                    = from.scale(lane);
      if (row + 1 == from.slices.count) return {e.lower, e.diagonal, 0, e.rhs};
      const Equation<Scalar> next = from.top.get(lane + from.slices.step());
      const Scalar s              = e.upper / next.diagonal;
      scale += modulus(next.lower * s);
      return {e.lower, e.diagonal - next.lower * s, -next.upper * s, e.rhs - next.rhs * s};
    }
    KOKKOS_INLINE_FUNCTION void set(Index start, Index row, Scalar x) const { from.solution(start + row * from.slices.step()) = x; }
  };

  template <class Space, class Scalar>
  struct Plan {
    std::vector<Level<Space, Scalar>> levels; ///< in the last one, lines are single slices
    Index length = 0;
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    Plan<Space, Scalar> plan;
    plan.length       = problem.layout.length;
    plan.flag         = PivotFlag<typename Space::memory_space>(problem.layout);
    LineLayout layout = problem.layout;
    Level<Space, Scalar> level;
    while (layout.rows() > 0) {
      const bool across = !layout.rows_are_closest();
      const bool given  = parameters.slice && plan.levels.empty();
      const Index whole = given ? parameters.slice : across ? most_rows / 4 : most_rows; // rows that need no slices
      const Index slice = parameters.slice ? parameters.slice : across ? rows_across : rows_of_slice;
      const Index rows  = layout.length <= whole ? layout.length : slice;
      const Index width = std::clamp<Index>((across ? most_rows : rows_of_slice) / rows, 1, lines_together);
      level.slices      = Parts(layout, rows);
      level.log_width   = std::bit_width(static_cast<unsigned>(width)) - 1;
      const bool last   = level.slices.count == 1;
      level.bottom = level.top = Equations<Space, Scalar>();
      level.solution = level.scale = OwnedArray<Scalar, Space>();
      if (!last) {
        level.bottom   = Equations<Space, Scalar>("weft tpr", level.slices.lanes());
        level.top      = Equations<Space, Scalar>("weft tpr", level.slices.lanes());
        level.solution = table<Scalar, Space>("weft tpr solution", level.slices.lanes());
        level.scale    = table<Scalar, Space>("weft tpr scale", level.slices.lanes());
      }
      plan.levels.push_back(level);
      if (last) break;
      level.steps += level.last_step() + 1;
      level.each *= rows;
      layout = level.slices.ends();
    }
    return plan;
  }

  /// Runs the reduction once to look at every pivot.
  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    run<true>(space, plan, GivenRows<Space, Scalar>{matrix, {}, {}, {}});
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    run<false>(space, plan, GivenRows<Space, Scalar>{matrix, rhs, solution, options});
  }

  /// A solve that looks at the pivots on its way.
  template <class Space, class Scalar>
  static void solve_once(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    plan.flag.clear(space);
    run<true>(space, plan, GivenRows<Space, Scalar>{matrix, rhs, solution, options});
  }

  /// Up and down the levels. `check`: the pivots are looked at; without a right-hand side, only that.
  template <bool check, class Space, class Scalar>
  static void run(const Space &space, const Plan<Space, Scalar> &plan, const GivenRows<Space, Scalar> &given)
  {
    if (plan.levels.empty()) return;
    const std::size_t last = plan.levels.size() - 1;
    const auto level       = [&](std::size_t k) -> const Level<Space, Scalar>       &{ return plan.levels[k]; };
    const auto rows_of     = [&](std::size_t k, const auto &body) {
      k == 0 ? body(given) : body(SliceRows<Space, Scalar>{level(k - 1), given.matrix.problem.layout, given.options.colour});
    };
    for (std::size_t k = 0; k < last; k++) rows_of(k, [&](const auto &rows) { reduce<check>(space, plan, level(k), rows); });
    rows_of(last, [&](const auto &rows) { substitute<check>(space, plan, level(last), rows, given.rhs.data() != nullptr); });
    if (!given.rhs.data()) return;
    for (std::size_t k = last; k-- > 0;) rows_of(k, [&](const auto &rows) { substitute<false>(space, plan, level(k), rows, true); });
  }

  /// A slice of a line.
  struct Lane {
    Index line, part, first; ///< first: its first row
    Index start;             ///< of the line, in the numbering of its source
    int rows;                ///< 0: nothing to do
  };

  /// A team's tile: the lanes, and the row numbers within them of entries that count rows first or lanes first.
  template <class Space, class Scalar>
  struct Tile {
    using Team    = typename Kokkos::TeamPolicy<Space>::member_type;
    using Lanes   = Kokkos::View<Lane *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using Scratch = Kokkos::View<Scalar *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Parts slices;
    Lanes lanes;
    Scratch memory, ends; ///< for trees, and for three values per lane
    int log_width;
    Index first_lane;

    static std::size_t bytes(const Level<Space, Scalar> &level, int words)
    {
      const auto width = static_cast<std::size_t>(level.width());
      return Lanes::shmem_size(width) + Scratch::shmem_size(static_cast<std::size_t>(words)) + Scratch::shmem_size(3 * width);
    }
    template <class Rows>
    KOKKOS_INLINE_FUNCTION Tile(const Team &team, const Level<Space, Scalar> &level, const Rows &source, int words)
        : slices(level.slices), lanes(team.team_scratch(scratch_level<Space>()), level.width()),
          memory(team.team_scratch(scratch_level<Space>()), words), ends(team.team_scratch(scratch_level<Space>()), 3 * level.width()),
          log_width(level.log_width), first_lane(Index(team.league_rank()) << log_width)
    {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width()), [&](int k) {
        Lane lane{0, 0, 0, 0, 0};
        if (first_lane + k < slices.lanes()) {
          lane.line  = slices.line(first_lane + k);
          lane.part  = slices.part(first_lane + k);
          lane.first = lane.part * slices.rows;
          lane.start = source.start(lane.line);
          if (source.has(lane.line)) lane.rows = static_cast<int>(slices.rows_of(lane.part));
        }
        lanes(k) = lane;
      });
      team.team_barrier();
    }
    KOKKOS_INLINE_FUNCTION int width() const { return 1 << log_width; }
    KOKKOS_INLINE_FUNCTION int lane_of(int number) const { return number & (width() - 1); }
    KOKKOS_INLINE_FUNCTION int row_of(int number) const { return number >> log_width; }
    KOKKOS_INLINE_FUNCTION int entry(int row, int k) const { return (row << log_width) + k; }
    /// Couplings of a slice's first row and its last row out of the slice.
    KOKKOS_INLINE_FUNCTION Scalar &before(int k) const { return ends(k); }
    KOKKOS_INLINE_FUNCTION Scalar &after(int k) const { return ends(width() + k); }
    /// Diagonal of the last row as it came.
    KOKKOS_INLINE_FUNCTION Scalar &diagonal(int k) const { return ends(2 * width() + k); }
  };

  /// Looks at pivots on behalf of the rows that they belong to.
  template <class Space>
  struct Watch {
    PivotFlag<typename Space::memory_space> flag;
    Index length, each;
    int steps;

    template <class Scalar>
    Watch(const Plan<Space, Scalar> &plan, const Level<Space, Scalar> &level)
        : flag(plan.flag), length(plan.length), each(level.each), steps(level.steps)
    {
    }
    template <class Scalar>
    KOKKOS_INLINE_FUNCTION void look(Scalar pivot, Scalar scale, const Lane &lane, int row, int step) const
    {
      if (usable_pivot(pivot, scale)) return;
      const Index end = (lane.first + row + 1) * each;
      flag.report(lane.line, (end < length ? end : length) - 1, steps + step < 63 ? steps + step : 63);
    }
  };

  /// Merges a row with its neighbours in a tree and divides it by what becomes of its diagonal, `pivot`. scale: the magnitudes that it is the
  /// difference of.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION static Unit<Scalar> merge(Unit<Scalar> row, bool has_left, const Unit<Scalar> &left, bool has_right,
                                                   const Unit<Scalar> &right, Scalar &pivot, Scalar &scale)
  {
    pivot = scale = 1;
    if (has_left) {
      const Scalar change = row.lower * left.upper;
      pivot -= change;
      scale += modulus(change);
      row.rhs -= row.lower * left.rhs;
      row.lower *= -left.lower;
    }
    if (has_right) {
      const Scalar change = row.upper * right.lower;
      pivot -= change;
      scale += modulus(change);
      row.rhs -= row.upper * right.rhs;
      row.upper *= -right.upper;
    }
    const Scalar inverse = 1 / pivot;
    return {row.lower * inverse, row.upper * inverse, row.rhs * inverse};
  }

  /// Loads a tile, each row divided by its diagonal but for the last of a slice, which gets its diagonal in the place of `upper`. Its coupling
  /// out of the slice goes to tile.after, that of the first row to tile.before.
  template <bool check, class Team, class Space, class Scalar, class Rows>
  KOKKOS_INLINE_FUNCTION static void load(const Team &team, const Tile<Space, Scalar> &tile, const Rows &source, const Watch<Space> &watch,
                                          const Tree<Scalar> &tree)
  {
    const int entries = static_cast<int>(tile.slices.rows) << tile.log_width;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, entries), [&](int number) {
      const TilePlace at = tile.slices.place(number, tile.log_width);
      const Lane &lane   = tile.lanes(at.lane);
      if (at.row >= lane.rows) return;
      Scalar scale;
      const Equation<Scalar> e = source.get(lane.start, lane.first + at.row, scale);
      if (check) watch.look(e.diagonal, scale, lane, at.row, 0);
      Unit<Scalar> unit{e.lower, e.diagonal, e.rhs};
      if (at.row == lane.rows - 1) {
        tile.after(at.lane)    = e.upper;
        tile.diagonal(at.lane) = e.diagonal;
      } else {
        const Scalar inverse = 1 / e.diagonal;
        unit                 = {e.lower * inverse, e.upper * inverse, e.rhs * inverse};
      }
      if (at.row == 0) tile.before(at.lane) = unit.lower;
      tree.set(tile.entry(at.row, at.lane), unit);
    });
    team.team_barrier();
  }

  /// Row number q, from the last one, of those that the bottom tree keeps at distance u. Row 0, which ends the tree, is not divided and has
  /// its diagonal in the place of `upper`.
  template <bool check, class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static void bottom_step(const Tile<Space, Scalar> &tile, int k, int q, int u, const Watch<Space> &watch,
                                                 const Tree<Scalar> &tree, int step)
  {
    const Lane &lane    = tile.lanes(k);
    const int row       = lane.rows - 1 - 2 * u * q;
    const bool has_left = row >= u;
    if (row < 0 || (q == 0 && !has_left)) return;
    const Unit<Scalar> now  = tree.get(tile.entry(row, k));
    const Unit<Scalar> left = has_left ? tree.get(tile.entry(row - u, k)) : Unit<Scalar>();
    if (q == 0) {
      tree.set(tile.entry(row, k), {-now.lower * left.lower, now.upper - now.lower * left.upper, now.rhs - now.lower * left.rhs});
      return;
    }
    Scalar pivot, scale;
    tree.set(tile.entry(row, k), merge(now, has_left, left, true, tree.get(tile.entry(row + u, k)), pivot, scale));
    if (check) watch.look(pivot, scale, lane, row, step);
  }

  /// The same for the top tree, counted from the first row, which has its diagonal in the place of `lower`. Row r is entry r / 2 of the tree.
  /// The first step, u = 1, reads the rows as loaded from `loaded` instead, the last one as  lower x + diagonal x + z = rhs.
  template <bool check, class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static void top_step(const Tile<Space, Scalar> &tile, int k, int q, int u, const Watch<Space> &watch,
                                              const Tree<Scalar> &loaded, const Tree<Scalar> &tree, int step)
  {
    const Lane &lane     = tile.lanes(k);
    const int row        = 2 * u * q;
    const bool has_right = row + u < lane.rows;
    if (row >= lane.rows || (q == 0 && !has_right)) return;
    const auto get = [&](int r) -> Unit<Scalar> {
      if (u > 1) return tree.get(tile.entry(r / 2, k));
      const Unit<Scalar> unit = loaded.get(tile.entry(r, k));
      if (r < lane.rows - 1) return unit;
      return {unit.lower / unit.upper, 1 / unit.upper, unit.rhs / unit.upper};
    };
    const Unit<Scalar> now = get(row), right = has_right ? get(row + u) : Unit<Scalar>();
    if (q == 0) {
      const Scalar diagonal = u == 1 ? Scalar(1) : now.lower;
      tree.set(k, {diagonal - now.upper * right.lower, -now.upper * right.upper, now.rhs - now.upper * right.rhs});
      return;
    }
    Scalar pivot, scale;
    tree.set(tile.entry(row / 2, k), merge(now, true, get(row - u), has_right, right, pivot, scale));
    if (check) watch.look(pivot, scale, lane, row, step);
  }

  /// Both trees of every slice: leaves the slices' bottom and top rows in the level.
  template <bool check, class Space, class Scalar, class Rows>
  static void reduce(const Space &space, const Plan<Space, Scalar> &plan, const Level<Space, Scalar> &level, const Rows &source)
  {
    using Team     = typename Kokkos::TeamPolicy<Space>::member_type;
    const int rows = level.rows(), width = level.width(), last_step = level.last_step();
    const int entries = rows * width, half = (rows + 1) / 2 * width;
    const int words = 3 * (Tree<Scalar>::padded(entries) + Tree<Scalar>::padded(half));
    const Watch<Space> watch(plan, level);
    Kokkos::parallel_for(
        "weft tpr reduce", tile_policy(space, level.slices.tiles(level.log_width), entries / 4, Tile<Space, Scalar>::bytes(level, words)),
        KOKKOS_LAMBDA(const Team &team) {
          const Tile<Space, Scalar> tile(team, level, source, words);
          const Tree<Scalar> bottom(tile.memory.data(), entries), top(tile.memory.data() + 3 * Tree<Scalar>::padded(entries), half);
          load<check>(team, tile, source, watch, bottom);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, half), [&](int number) {
            top_step<check>(tile, tile.lane_of(number), tile.row_of(number), 1, watch, bottom, top, 1);
          });
          team.team_barrier();
          for (int u = 1, step = 1; u < rows; u *= 2, step++) { // the top tree is a step ahead
            const int live = (rows - 1) / (2 * u) + 1;
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (2 * u < rows ? 2 : 1) * live * width), [&](int number) {
              const int k = tile.lane_of(number), q = tile.row_of(number);
              if (q < live)
                bottom_step<check>(tile, k, q, u, watch, bottom, step);
              else
                top_step<check>(tile, k, q - live, 2 * u, watch, bottom, top, step + 1);
            });
            team.team_barrier();
          }
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int k) {
            const Lane &lane = tile.lanes(k);
            if (lane.rows == 0) return;
            const Unit<Scalar> end = bottom.get(tile.entry(lane.rows - 1, k)), begin = top.get(k);
            const Equation<Scalar> last{end.lower, end.upper, tile.after(k), end.rhs};
            Equation<Scalar> first{0, 1, -1, 0}; // a slice of one row: its first row is its last
            if (lane.rows > 1)
              first = {tile.before(k) - last.lower * begin.upper, begin.lower, -last.diagonal * begin.upper,
                       begin.rhs - last.rhs * begin.upper};
            level.bottom.set(tile.first_lane + k, last);
            level.top.set(tile.first_lane + k, first);
            if (check) level.scale(tile.first_lane + k) = modulus(tile.diagonal(k));
            if (check && lane.part > 0) watch.look(first.diagonal, Scalar(1), lane, 0, last_step);
          });
        });
  }

  /// The bottom tree of every slice again, then down it from the slice's two ends. Where a line is one slice, the last unknown comes from the
  /// tree. Without `solve` only the pivots of such a line are looked at.
  template <bool check, class Space, class Scalar, class Rows>
  static void substitute(const Space &space, const Plan<Space, Scalar> &plan, const Level<Space, Scalar> &level, const Rows &source,
                         bool solve)
  {
    using Team     = typename Kokkos::TeamPolicy<Space>::member_type;
    const int rows = level.rows(), width = level.width(), last_step = level.last_step();
    const int entries = rows * width;
    const int words   = 3 * Tree<Scalar>::padded(entries);
    const bool whole  = level.slices.count == 1;
    const Watch<Space> watch(plan, level);
    Kokkos::parallel_for(
        "weft tpr substitute",
        tile_policy(space, level.slices.tiles(level.log_width), entries / 4, Tile<Space, Scalar>::bytes(level, words)),
        KOKKOS_LAMBDA(const Team &team) {
          const Tile<Space, Scalar> tile(team, level, source, words);
          const Tree<Scalar> tree(tile.memory.data(), entries);
          load<check>(team, tile, source, watch, tree);
          int u = 1;
          for (int step = 1; u < rows; u *= 2, step++) {
            const int live = (rows - 1) / (2 * u) + 1;
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, live * width), [&](int number) {
              bottom_step<check>(tile, tile.lane_of(number), tile.row_of(number), u, watch, tree, step);
            });
            team.team_barrier();
          }
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int k) {
            const Lane &lane = tile.lanes(k);
            if (lane.rows == 0) return;
            const int last         = tile.entry(lane.rows - 1, k);
            const Unit<Scalar> end = tree.get(last);
            if (check) watch.look(end.upper, modulus(tile.diagonal(k)), lane, lane.rows - 1, last_step);
            tile.before(k)      = lane.part > 0 ? level.solution(tile.first_lane + k - level.slices.step()) : Scalar(0);
            tree.solution(last) = whole ? end.rhs / end.upper : level.solution(tile.first_lane + k);
          });
          if (!solve) return;
          team.team_barrier();
          for (u /= 2; u >= 1; u /= 2) {
            const int count = (rows - 1 - u) / (2 * u) + 1;
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count * width), [&](int number) {
              const int k = tile.lane_of(number), row = tile.lanes(k).rows - 1 - u * (2 * tile.row_of(number) + 1);
              if (row < 0) return;
              const Unit<Scalar> r              = tree.get(tile.entry(row, k));
              const Scalar left                 = row >= u ? tree.solution(tile.entry(row - u, k)) : tile.before(k);
              tree.solution(tile.entry(row, k)) = r.rhs - r.lower * left - r.upper * tree.solution(tile.entry(row + u, k));
            });
            team.team_barrier();
          }
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, entries), [&](int number) {
            const TilePlace at = tile.slices.place(number, tile.log_width);
            const Lane &lane   = tile.lanes(at.lane);
            if (at.row < lane.rows) source.set(lane.start, lane.first + at.row, tree.solution(tile.entry(at.row, at.lane)));
          });
        });
  }
};

} // namespace weft
