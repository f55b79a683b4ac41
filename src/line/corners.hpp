/// Periodic lines for methods that know none: T = T' + u v^T as in tridiagonal.hpp, so
///   x = y - q (v.y) / (1 + v.q),   T' y = rhs,   T' q = u   (Sherman and Morrison).
/// q is made once per factorization; a solve reads q and y and writes x, 3 words a row more. Whether 1 + v.q is a pivot, RingProbe tells.
#pragma once
#include <limits>

#include "line/tridiagonal.hpp"

namespace weft {

template <class Space, class Scalar>
class Corners {
public:
  Corners(const LineProblem &problem, const MethodParameters &parameters)
      : lines_(problem), parameters_(parameters), q_("weft corners q", static_cast<std::size_t>(lines_.layout.span())),
        factor_("weft corners factor", static_cast<std::size_t>(problem.layout.count()))
  {
    if (problem.coefficients != Coefficients::general) { // one q does for all lines
      lines_.layout = one_line(problem.layout.length);
      q_            = OwnedArray<Scalar, Space>("weft corners q", static_cast<std::size_t>(problem.layout.length));
    }
  }

  /// Solves T' q = u by the method itself, for one line where all are equal. Set-up: makes a plan for it.
  template <class Method>
  void factor(const Space &space, Tridiagonal<Scalar, Space> matrix) const
  {
    matrix.problem = lines_;
    fill(space, matrix, q_);
    const auto plan = Method::template plan<Space, Scalar>(lines_, parameters_);
    Method::factor(space, plan, matrix);
    Method::solve(space, plan, matrix, Array<Scalar, Space>(q_), Array<Scalar, Space>(q_), SolveOptions<Scalar>{});
    space.fence("weft: corners, whose plan ends here");
  }

  /// From y = T'^-1 rhs to the solution; y may be the solution itself.
  void correct(const Space &space, const Tridiagonal<Scalar, Space> &matrix, const Array<Scalar, Space> &y,
               const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options) const
  {
    const LineLayout layout = matrix.problem.layout;
    const bool each         = lines_.coefficients == Coefficients::general;
    const auto q            = q_;
    const auto factor       = factor_;
    const Index last        = (layout.length - 1) * layout.stride;
    Kokkos::parallel_for(
        "weft corners factor", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!layout.has_colour(line, options.colour)) return;
          const Index start    = layout.start(line);
          const Scalar v_last  = matrix.wrapped(0, start).lower / matrix.weight(start);
          const Scalar q_first = each ? q(start) : q(0), q_last = each ? q(start + last) : q(layout.length - 1);
          factor(line) = (y(start) + v_last * y(start + last)) / (1 + q_first + v_last * q_last);
        });
    Kokkos::parallel_for(
        "weft corners correct", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(layout, number);
          if (!layout.has_colour(at.line, options.colour)) return;
          const Index i = layout.start(at.line) + at.row * layout.stride;
          put(solution(i), options.update, y(i) - (each ? q(i) : q(at.row)) * factor(at.line));
        });
  }

  static void fill(const Space &space, const Tridiagonal<Scalar, Space> &matrix, const OwnedArray<Scalar, Space> &u)
  {
    const LineLayout layout = matrix.problem.layout;
    Kokkos::parallel_for(
        "weft corners u", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(layout, number);
          const Index i    = layout.start(at.line) + at.row * layout.stride;
          u(i)             = at.row == 0 ? matrix.weight(i) : at.row == layout.length - 1 ? matrix.wrapped(at.row, i).upper : Scalar(0);
        });
  }

private:
  LineProblem lines_;
  MethodParameters parameters_;
  OwnedArray<Scalar, Space> q_, factor_;
};

} // namespace weft
