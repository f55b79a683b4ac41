/// PCR: parallel cyclic reduction, a thread per row. Each step couples a row to rows twice as far away; when the distance passes the
/// length, every row stands alone (ADI thesis, section 2.4, for any length instead of powers of two up to 2048).
///
/// One step at distance d, rows outside the line counting as 0 = 0 x:
///   a = -lower_i / diagonal_{i-d},  c = -upper_i / diagonal_{i+d}
///   lower'_i = a lower_{i-d},  diagonal'_i = diagonal_i + a upper_{i-d} + c lower_{i+d},  upper'_i = c upper_{i+d}
///   rhs'_i   = rhs_i + a rhs_{i-d} + c rhs_{i+d}
///
/// Lines of at most `rows_on_chip` rows: one kernel, a team per line with the rows in scratch memory, 5 words moved per row. Longer lines:
/// k steps through device memory, 8 words a row each (the neighbours come from cache), split a line into 2^k interleaved ones that fit.
/// Limits: no pivoting; O(n log n) operations, so it pays where lines are too few for Thomas to fill the device.
#pragma once
#include <algorithm>
#include <bit>

#include "tridiagonal/tridiagonal.hpp"

namespace weft {

struct Pcr {
  static constexpr const char *name = "pcr";
  static constexpr int rows_on_chip = 256;

  /// Operations of a solve: 12 a row and step (reduce), and the last division.
  static double flops(const LineLayout &layout)
  {
    return (12.0 * std::bit_width(static_cast<std::uint64_t>(layout.length)) + 1) * layout.rows();
  }

  template <class Scalar>
  struct Equation {
    Scalar lower = 0, diagonal = 1, upper = 0, rhs = 0;

    KOKKOS_INLINE_FUNCTION Scalar scale() const { return Kokkos::abs(lower) + Kokkos::abs(diagonal) + Kokkos::abs(upper); }
    /// Whether the diagonal can be divided by, if the row had this scale before its last reduction.
    KOKKOS_INLINE_FUNCTION bool usable(Scalar scale_before) const { return usable_pivot(diagonal, scale_before); }
  };

  /// The step above, for one row and its neighbours at distance d.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION static Equation<Scalar> reduce(const Equation<Scalar> &left, const Equation<Scalar> &row,
                                                        const Equation<Scalar> &right)
  {
    const Scalar a = -row.lower / left.diagonal, c = -row.upper / right.diagonal;
    return {a * left.lower, row.diagonal + a * left.upper + c * right.lower, c * right.upper, row.rhs + a * left.rhs + c * right.rhs};
  }

  /// One set of equations in the layout of the lines.
  template <class Space, class Scalar>
  struct Equations {
    OwnedArray<Scalar, Space> lower, diagonal, upper, rhs;

    Equations() = default;
    explicit Equations(Index size)
        : lower("weft pcr lower", size), diagonal("weft pcr diagonal", size), upper("weft pcr upper", size), rhs("weft pcr rhs", size)
    {
    }
    KOKKOS_INLINE_FUNCTION Equation<Scalar> get(Index i) const { return {lower(i), diagonal(i), upper(i), rhs(i)}; }
    KOKKOS_INLINE_FUNCTION void set(Index i, const Equation<Scalar> &e) const
    {
      lower(i)    = e.lower;
      diagonal(i) = e.diagonal;
      upper(i)    = e.upper;
      rhs(i)      = e.rhs;
    }
  };

  template <class Space, class Scalar>
  struct Plan {
    using Method = Pcr;
    LineLayout layout;
    int far_steps = 0; ///< steps through device memory before a line's parts fit on chip
    OwnedArray<Scalar, Space> lower, diagonal, upper;
    Equations<Space, Scalar> far[2];
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineLayout &layout)
  {
    Plan<Space, Scalar> plan;
    plan.layout = layout;
    plan.flag   = PivotFlag<typename Space::memory_space>(layout);
    for (auto table : {&plan.lower, &plan.diagonal, &plan.upper})
      *table = OwnedArray<Scalar, Space>("weft pcr coefficients", layout.span());
    while ((layout.length - 1) >> plan.far_steps >= rows_on_chip) plan.far_steps++;
    for (int k = 0; k < std::min(plan.far_steps, 2); k++) plan.far[k] = Equations<Space, Scalar>(layout.span());
    return plan;
  }

  /// Keeps a copy of the coefficients and runs the elimination once to look at every pivot.
  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    Kokkos::parallel_for(
        "weft pcr copy", Kokkos::RangePolicy<Space>(space, 0, plan.layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(plan.layout, number);
          const Index i    = plan.layout.start(at.line) + at.row * plan.layout.stride;
          plan.lower(i)    = at.row > 0 ? matrix.lower(i) : Scalar(0);
          plan.diagonal(i) = matrix.diagonal(i);
          plan.upper(i)    = at.row + 1 < plan.layout.length ? matrix.upper(i) : Scalar(0);
        });
    eliminate<true>(space, plan, {}, {}, {});
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Array<Scalar, Space> &rhs,
                    const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    eliminate<false>(space, plan, rhs, solution, options);
  }

  /// The elimination. `check`: only the pivots are looked at, rhs and solution are not there.
  template <bool check, class Space, class Scalar>
  static void eliminate(const Space &space, const Plan<Space, Scalar> &plan, const Array<Scalar, Space> &rhs,
                        const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    for (int step = 0; step < plan.far_steps; step++) far_step<check>(space, plan, step, rhs, options);
    on_chip<check>(space, plan, rhs, solution, options);
  }

  /// Row `row` of the line that starts at `start`, after `steps` far steps.
  template <bool check, class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static Equation<Scalar> load(const Plan<Space, Scalar> &plan, int steps, const Array<Scalar, Space> &rhs,
                                                      Transpose transpose, Index start, Index row)
  {
    const LineLayout &layout = plan.layout;
    const Index i            = start + row * layout.stride;
    if (row < 0 || row >= layout.length) return {};
    if (steps > 0) return plan.far[(steps - 1) % 2].get(i);
    Equation<Scalar> e{plan.lower(i), plan.diagonal(i), plan.upper(i), 0};
    if (transpose == Transpose::yes) {
      e.lower = row > 0 ? plan.upper(i - layout.stride) : Scalar(0);
      e.upper = row + 1 < layout.length ? plan.lower(i + layout.stride) : Scalar(0);
    }
    if constexpr (!check) e.rhs = rhs(i);
    return e;
  }

  template <bool check, class Space, class Scalar>
  static void far_step(const Space &space, const Plan<Space, Scalar> &plan, int step, const Array<Scalar, Space> &rhs,
                       const SolveOptions<Scalar> &options)
  {
    Kokkos::parallel_for(
        "weft pcr far step", Kokkos::RangePolicy<Space>(space, 0, plan.layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(plan.layout, number);
          if (!plan.layout.has_colour(at.line, options.colour)) return;
          const Index start = plan.layout.start(at.line), distance = Index(1) << step;
          const auto get     = [&](Index row) { return load<check>(plan, step, rhs, options.transpose, start, row); };
          const auto row     = get(at.row);
          const auto reduced = reduce(get(at.row - distance), row, get(at.row + distance));
          if (check && !row.usable(row.scale())) plan.flag.report(at.line, at.row, step);
          if (check && !reduced.usable(row.scale())) plan.flag.report(at.line, at.row, step + 1);
          plan.far[step % 2].set(start + at.row * plan.layout.stride, reduced);
        });
  }

  /// Every row number `part` modulo `parts` of a line is a line of its own by now: a team solves it in scratch memory.
  template <bool check, class Space, class Scalar>
  static void on_chip(const Space &space, const Plan<Space, Scalar> &plan, const Array<Scalar, Space> &rhs,
                      const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    using Policy     = Kokkos::TeamPolicy<Space>;
    using Scratch    = Kokkos::View<Equation<Scalar> *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const int parts  = 1 << plan.far_steps;
    const int most   = static_cast<int>((plan.layout.length + parts - 1) / parts);
    const auto bytes = 2 * Scratch::shmem_size(most);
    Policy policy(space, static_cast<int>(plan.layout.count()) * parts, Kokkos::AUTO);
    Kokkos::parallel_for(
        "weft pcr on chip", policy.set_scratch_size(0, Kokkos::PerTeam(bytes)), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          const Index line = team.league_rank() / parts;
          const int part   = team.league_rank() % parts;
          if (!plan.layout.has_colour(line, options.colour)) return;
          const Index start = plan.layout.start(line);
          const int rows    = static_cast<int>((plan.layout.length - part + parts - 1) / parts);
          int step          = plan.far_steps;
          Scratch now(team.team_scratch(0), most), next(team.team_scratch(0), most);
          const auto each   = Kokkos::TeamThreadRange(team, rows);
          const auto row_of = [&](int r) { return part + Index(r) * parts; };
          Kokkos::parallel_for(each, [&](int r) {
            now(r) = load<check>(plan, plan.far_steps, rhs, options.transpose, start, row_of(r));
            if (check && !now(r).usable(now(r).scale())) plan.flag.report(line, row_of(r), step);
          });
          team.team_barrier();
          for (int distance = 1; distance < rows; distance *= 2, step++) {
            Kokkos::parallel_for(each, [&](int r) {
              const Equation<Scalar> outside;
              next(r) = reduce(r >= distance ? now(r - distance) : outside, now(r), r + distance < rows ? now(r + distance) : outside);
              if (check && !next(r).usable(now(r).scale())) plan.flag.report(line, row_of(r), step + 1);
            });
            team.team_barrier();
            Kokkos::kokkos_swap(now, next);
          }
          if (check) return;
          Kokkos::parallel_for(
              each, [&](int r) { put(solution(start + row_of(r) * plan.layout.stride), options.update, now(r).rhs / now(r).diagonal); });
        });
  }
};

} // namespace weft
