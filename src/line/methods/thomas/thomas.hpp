/// Thomas: Gaussian elimination along each line. Factors once, then two short recurrences a solve.
///
/// T = L U with U unit upper bidiagonal (ADI thesis, section 2.1, with the divisions moved to the factorization). The same algebra has two
/// forms: a thread per line on a device (thomas_device.hpp); packs of lines, eliminated from both ends, on the host (thomas_host.hpp).
/// Limits: no pivoting, so lines should be diagonally dominant or definite.
#pragma once
#include <string>
#include <type_traits>

#include "line/methods/thomas/thomas_device.hpp"
#include "line/methods/thomas/thomas_host.hpp"

namespace weft {

struct Thomas {
  static constexpr const char *name = "thomas";

  /// Operations of a solve: two multiplications and a subtraction inward (or forward), one of each outward.
  static double flops(const LineLayout &layout) { return 5.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &) { return nothing_against; }

  template <class Space>
  using Form = std::conditional_t<is_host_space<Space>, ThomasOnHost, ThomasOnDevice>;
  template <class Space, class Scalar>
  using Plan = typename Form<Space>::template Plan<Space, Scalar>;

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    return Form<Space>::template plan<Space, Scalar>(problem, parameters);
  }
  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    Form<Space>::factor(space, plan, matrix);
  }
  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    Form<Space>::solve(space, plan, matrix, rhs, solution, options);
  }
  template <class Space, class Scalar>
  requires(is_host_space<Space>) static void solve_once(const Space &space, const Plan<Space, Scalar> &plan,
                                                        const Tridiagonal<Scalar, Space> &matrix, const Array<Scalar, Space> &rhs,
                                                        const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    ThomasOnHost::solve_once(space, plan, matrix, rhs, solution, options);
  }
};

} // namespace weft
