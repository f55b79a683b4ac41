/// What cr, pcr and their hybrids share: a team per line (or several short lines, or parts of lines), its rows in team scratch. A method is
/// which of three pieces it takes, always in this order, and for how long (ADI thesis, sections 2.3 to 2.5, for any length):
///   cyclic        levels of cyclic reduction: the odd rows of a level without the even ones are the next level, half as long
///   parallel      steps of parallel cyclic reduction: every row without its neighbours at distance 1, 2, 4, ..; 2^steps systems are left
///   substitution  Thomas on those systems, a thread each
/// and then the even rows of the levels, last level first.
///
/// Rows are kept divided by their diagonal: three words instead of four, one division where a row is reduced, none at the end. On chip every
/// row has one place: a level's even rows lie side by side, its odd rows behind them become the next level, so that neighbouring threads
/// always read neighbouring words.
///
/// Lines that do not fit on chip first go through device memory, by levels where the method is cyclic, 1.5 words written and 4 read a row of
/// the first and so on by halves, and again on the way back; by steps, 6 words a row each, where it is not.
///
/// The elimination is repeated by every solve; set-up runs it once to look at the pivots.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "line/methods/reduction/reduction_kernel.hpp"

namespace weft {

/// True where teams are single threads.
template <class Space>
inline constexpr bool reduces_on_host = std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>;

/// Rows that a thread owns at most, on a device.
inline constexpr int reduction_rows_per_thread = 4;
inline constexpr int reduction_most_threads    = 512;

/// Rows that a team's scratch memory holds: 44 of the 48 KB that Kokkos gives a CUDA team, three words a row; the cache of a host core.
template <class Scalar>
constexpr int reduction_rows_on_chip(bool on_host)
{
  if (on_host) return 1024;
  return std::min<int>(44 * 1024 / (3 * sizeof(Scalar)), reduction_rows_per_thread * reduction_most_threads);
}

/// Halvings of `rows` rows until no more than `left` are left of each part.
inline int halvings(Index rows, Index left)
{
  int count = 0;
  while ((rows + (Index(1) << count) - 1) >> count > left) count++;
  return count;
}

/// Levels of cyclic reduction until one row is left.
inline int most_levels(Index length)
{
  return std::bit_width(static_cast<std::uint64_t>(length)) - 1;
}

/// A step of a launch through device memory: what is common to both kinds.
template <class Space, class Scalar>
struct FarStep {
  RowSource<Space, Scalar> from;
  ReducedRows<Space, Scalar> to;
  int step      = 0;
  Colour colour = Colour::all;
  bool checks   = false;
  PivotFlag<typename Space::memory_space> flag;
};

/// Row k of the next level is row 2 k + 1 of this one without its neighbours.
template <class Space, class Scalar>
void far_level(const Space &space, const FarStep<Space, Scalar> &args)
{
  Kokkos::parallel_for(
      "weft cyclic reduction, forward", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, args.to.layout.rows()),
      KOKKOS_LAMBDA(const Index number) {
        const LineRow at = line_row(args.to.layout, number);
        if (!args.from.layout().has_colour(at.line, args.colour)) return;
        const Index start         = args.from.layout().start(at.line);
        const auto report         = [&](Index row, int step) { args.flag.report(at.line, ((row + 1) << args.step) - 1, step); };
        const auto get            = [&](Index row) { return args.from.get(start, row, [&] { report(row, args.step); }); };
        const Index odd           = 2 * at.row + 1;
        const UnitRow<Scalar> row = get(odd);
        Scalar pivot;
        const UnitRow<Scalar> reduced = reduce(get(odd - 1), row, get(odd + 1), pivot);
        if (args.checks && !usable_pivot(pivot, row.scale())) report(odd, args.step + 1);
        args.to.set(args.to.layout.start(at.line) + at.row * args.to.layout.stride, reduced);
      });
}

/// Row k without its neighbours at distance 2^step.
template <class Space, class Scalar>
void far_step(const Space &space, const FarStep<Space, Scalar> &args)
{
  Kokkos::parallel_for(
      "weft parallel cyclic reduction", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, args.to.layout.rows()),
      KOKKOS_LAMBDA(const Index number) {
        const LineRow at = line_row(args.to.layout, number);
        if (!args.from.layout().has_colour(at.line, args.colour)) return;
        const Index start = args.from.layout().start(at.line), distance = Index(1) << args.step;
        const auto get = [&](Index row) { return args.from.get(start, row, [&] { args.flag.report(at.line, row, args.step); }); };
        const UnitRow<Scalar> row = get(at.row);
        Scalar pivot;
        const UnitRow<Scalar> reduced = reduce(get(at.row - distance), row, get(at.row + distance), pivot);
        if (args.checks && !usable_pivot(pivot, row.scale())) args.flag.report(at.line, at.row, args.step + 1);
        args.to.set(args.to.layout.start(at.line) + at.row * args.to.layout.stride, reduced);
      });
}

/// The unknowns of a level from those of the next one, `next`.
template <class Space, class Scalar>
void far_unknowns(const Space &space, const RowSource<Space, Scalar> &from, const ReducedRows<Space, Scalar> &next,
                  const Array<Scalar, Space> &to, const Update<Scalar> &update, Colour colour)
{
  Kokkos::parallel_for(
      "weft cyclic reduction, backward", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, from.layout().rows()),
      KOKKOS_LAMBDA(const Index number) {
        const LineRow at = line_row(from.layout(), number);
        if (!from.layout().has_colour(at.line, colour)) return;
        const Index start = next.layout.start(at.line), half = at.row / 2;
        const auto found = [&](Index row) { return next.rhs(start + row * next.layout.stride); };
        Scalar x         = 0;
        if (at.row % 2 == 1) {
          x = found(half);
        } else {
          const UnitRow<Scalar> row = from.get(from.layout().start(at.line), at.row, [] {});
          x                         = row.rhs;
          if (half > 0) x -= row.lower * found(half - 1);
          if (half < next.layout.length) x -= row.upper * found(half);
        }
        put(to(from.layout().start(at.line) + at.row * from.layout().stride), update, x);
      });
}

/// The common part of the methods. `Method` has
///   Pieces                              cyclic, parallel, substitution: whether it takes them
///   levels(length, parameters, on_host) levels of cyclic reduction of a line
///   steps(rows, parameters)             steps of parallel cyclic reduction of the rows that those leave
/// Where lines do not fit on chip there may be more of either.
template <class Method>
struct Reduction {
  template <class Space, class Scalar>
  struct Plan {
    LineLayout layout;
    ReductionShape shape;
    std::vector<ReducedRows<Space, Scalar>> reduced; ///< cyclic: of each far level; parallel: two to go back and forth
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    const LineLayout &layout = problem.layout;
    Plan<Space, Scalar> plan{
        layout, shape<Scalar>(layout, parameters, reduces_on_host<Space>), {}, PivotFlag<typename Space::memory_space>(layout)};
    const int far = plan.shape.far;
    if (Method::Pieces::cyclic) {
      for (int level = 1; level <= far; level++) plan.reduced.emplace_back(packed(layout, layout.length >> level));
    } else {
      for (int k = 0; k < std::min(far, 2); k++) plan.reduced.emplace_back(layout);
    }
    return plan;
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    eliminate<Space, Scalar>(space, plan, matrix, {}, {}, {}, true);
  }
  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    eliminate(space, plan, matrix, rhs, solution, options, false);
  }
  template <class Space, class Scalar>
  static void solve_once(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    plan.flag.clear(space);
    eliminate(space, plan, matrix, rhs, solution, options, true);
  }

  /// Lines of `length` rows, in the order of `layout`'s lines and without its gaps.
  static LineLayout packed(const LineLayout &layout, Index length)
  {
    LineLayout lines       = layout; // for the colours
    const Index row        = layout.rows_are_closest() ? length : 1;
    lines.length           = length;
    lines.across_stride[0] = layout.components * row;
    lines.across_stride[1] = layout.components * row * layout.across[0];
    lines.stride           = layout.rows_are_closest() ? layout.components : layout.count();
    return lines;
  }

  template <class Scalar>
  static ReductionShape shape(const LineLayout &layout, const MethodParameters &parameters, bool on_host)
  {
    const int most = reduction_rows_on_chip<Scalar>(on_host);
    ReductionShape shape;
    Index length    = std::max<Index>(layout.length, 1);
    const int total = Method::levels(length, parameters, on_host);
    if (Method::Pieces::cyclic) {
      while (length >> shape.far > most) shape.far++;
      shape.rows   = static_cast<int>(length >> shape.far);
      shape.levels = std::max(0, total - shape.far);
      shape.steps  = Method::steps(shape.rows >> shape.levels, parameters);
    } else {
      shape.far   = halvings(length, most);
      shape.parts = Index(1) << shape.far;
      shape.rows  = static_cast<int>((length + shape.parts - 1) >> shape.far);
      shape.steps = std::max(0, Method::steps(length, parameters) - shape.far);
    }
    shape.rows_first = layout.rows_are_closest() && shape.parts == 1;
    if (!on_host) deal_out<Scalar>(shape, layout.count() * shape.parts, most);
    shape.pitch = shape.rows_first ? padded(shape.rows, shape.threads) : shape.lines;
    return shape;
  }

  /// Teams of at least 128 threads; parts whose rows lie apart in pieces of whole cache lines, as far as they fit.
  template <class Scalar>
  static void deal_out(ReductionShape &shape, Index parts, int most)
  {
    while (shape.threads * reduction_rows_per_thread < shape.rows) shape.threads *= 2;
    shape.lines = std::max(1, 128 / shape.threads);
    if (!shape.rows_first) {
      const int wanted = 64 / static_cast<int>(sizeof(Scalar));
      while (shape.lines < wanted && 2 * shape.team_size() <= reduction_most_threads && 2 * shape.lines * shape.rows <= most)
        shape.lines *= 2;
    }
    while (shape.lines > 1 && shape.lines / 2 >= parts) shape.lines /= 2;
  }

  /// Scratch elements from a part to the next: an odd multiple of its threads, so that those of a warp that own neighbouring parts touch
  /// different banks.
  static int padded(int rows, int threads) { return threads < 32 ? ((rows + threads - 1) / threads | 1) * threads : rows; }

  template <class Space, class Scalar>
  static void eliminate(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                        const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options,
                        bool checks)
  {
    if (plan.layout.rows() == 0) return;
    const bool solves  = solution.data() != nullptr;
    const auto rows_of = [&](int step) -> const ReducedRows<Space, Scalar> & {
      return plan.reduced[Method::Pieces::cyclic ? step : step % 2];
    };
    const auto rows_for = [&](int step) { // what step `step` starts from
      return step > 0 ? RowSource<Space, Scalar>(rows_of(step - 1)) : RowSource<Space, Scalar>(matrix, rhs, checks);
    };
    const int far = plan.shape.far;
    for (int step = 0; step < far; step++) {
      const FarStep<Space, Scalar> args{rows_for(step), rows_of(step), step, options.colour, checks, plan.flag};
      if constexpr (Method::Pieces::cyclic)
        far_level(space, args);
      else
        far_step(space, args);
    }
    if (!Method::Pieces::cyclic || far == 0) {
      on_chip(space, plan, rows_for(far), solution, options.update, options.colour, solves, checks);
      return;
    }
    const auto unknowns_of = [&](int level) -> Array<Scalar, Space> { return rows_of(level - 1).rhs; };
    on_chip<Space, Scalar>(space, plan, rows_for(far), unknowns_of(far), {}, options.colour, solves, checks);
    if (!solves) return;
    for (int level = far - 1; level > 0; level--)
      far_unknowns<Space, Scalar>(space, rows_for(level), rows_of(level), unknowns_of(level), {}, options.colour);
    far_unknowns(space, RowSource<Space, Scalar>(matrix, rhs, false), rows_of(0), solution, options.update, options.colour);
  }

  template <class Space, class Scalar>
  static void on_chip(const Space &space, const Plan<Space, Scalar> &plan, const RowSource<Space, Scalar> &from,
                      const Array<Scalar, Space> &to, const Update<Scalar> &update, Colour colour, bool solves, bool checks)
  {
    constexpr int rows          = reduces_on_host<Space> ? 0 : reduction_rows_per_thread;
    using Kernel                = ReductionKernel<typename Method::Pieces, rows, Space, Scalar>;
    using Policy                = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<reduction_most_threads>>;
    const ReductionShape &shape = plan.shape;
    const Index teams           = (plan.layout.count() * shape.parts + shape.lines - 1) / shape.lines;
    Policy policy(space, static_cast<int>(teams), shape.team_size());
    policy.set_scratch_size(scratch_level<Space>(), Kokkos::PerTeam(Kernel::scratch_bytes(shape) + alignof(std::max_align_t)));
    Kokkos::parallel_for("weft reduction on chip", policy, Kernel{from, to, update, colour, shape, plan.flag, solves, checks});
  }
};

} // namespace weft
