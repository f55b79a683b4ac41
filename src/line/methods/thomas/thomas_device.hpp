/// Thomas on a device: a thread per line.
///
///   inverse_i = 1 / (diagonal_i - lower_i ratio_{i-1}),   ratio_i = upper_i inverse_i
///   solve:  z_i = (rhs_i - lower_i z_{i-1}) inverse_i,     x_i = z_i - ratio_i x_{i+1}
///
/// Words moved per row of a solve: 7 (lower, inverse, rhs, z written; ratio, z, x written). Neighbouring threads should own neighbouring
/// lines: strided lines (y, z of a grid) load whole cache lines, contiguous ones (x) do not.
/// Limits: too few lines leave a GPU idle.
#pragma once
#include "line/tridiagonal.hpp"

namespace weft {

struct ThomasOnDevice {
  /// Lines with the same coefficients share their factors.
  template <class Space, class Scalar>
  struct Plan {
    LineProblem problem;
    OwnedArray<Scalar, Space> inverse, ratio;
    PivotFlag<typename Space::memory_space> flag;

    /// Where the factors of row `row`, element `i`, stand.
    KOKKOS_INLINE_FUNCTION Index factor(Index row, Index i) const { return problem.coefficients == Coefficients::general ? i : row; }
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &)
  {
    const Index size = problem.coefficients == Coefficients::general ? problem.layout.span() : problem.layout.length;
    return {problem, table<Scalar, Space>("weft thomas inverse", size), table<Scalar, Space>("weft thomas ratio", size),
            PivotFlag<typename Space::memory_space>(problem.layout)};
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    const Index count = plan.problem.layout.count();
    Kokkos::parallel_for(
        "weft thomas factor", Kokkos::RangePolicy<Space>(space, 0, plan.problem.coefficients == Coefficients::general ? count : count > 0),
        KOKKOS_LAMBDA(const Index line) {
          const LineLayout &layout = plan.problem.layout;
          const Index start        = layout.start(line);
          Scalar ratio             = 0;
          for (Index row = 0; row < layout.length; row++) {
            const Index i = start + row * layout.stride, k = plan.factor(row, i);
            const Row<Scalar> r = matrix.at(row, i);
            const Scalar pivot  = r.diagonal - r.lower * ratio;
            if (!usable_pivot(pivot, r.scale())) plan.flag.report(line, row);
            const Scalar inverse = 1 / pivot;
            ratio                = r.upper * inverse;
            plan.inverse(k)      = inverse;
            plan.ratio(k)        = ratio;
          }
        });
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Array<Scalar, Space> work = options.update.add ? rhs : solution;
    Kokkos::parallel_for(
        "weft thomas solve", Kokkos::RangePolicy<Space>(space, 0, plan.problem.layout.count()), KOKKOS_LAMBDA(const Index line) {
          const LineLayout &layout = plan.problem.layout;
          if (!layout.has_colour(line, options.colour)) return;
          const Index start = layout.start(line);
          Scalar z = 0, x = 0;
          for (Index row = 0; row < layout.length; row++) {
            const Index i = start + row * layout.stride;
            work(i) = z = (rhs(i) - matrix.at(row, i).lower * z) * plan.inverse(plan.factor(row, i));
          }
          for (Index row = layout.length - 1; row >= 0; row--) {
            const Index i = start + row * layout.stride;
            put(solution(i), options.update, x = work(i) - plan.ratio(plan.factor(row, i)) * x);
          }
        });
  }
};

} // namespace weft
