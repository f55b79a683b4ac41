/// Thomas: Gaussian elimination along each line, a thread per line. Factors once, then two short recurrences a solve.
///
/// T = L U with U unit upper bidiagonal (ADI thesis, section 2.1, with the divisions moved to the factorization):
///   inverse_i = 1 / (diagonal_i - lower_i ratio_{i-1}),   ratio_i = upper_i inverse_i
///   solve:            z_i = (rhs_i - lower_i z_{i-1}) inverse_i,        x_i = z_i - ratio_i x_{i+1}
///   solve transposed: z_i = rhs_i - ratio_{i-1} z_{i-1},                x_i = (z_i - lower_{i+1} x_{i+1}) inverse_i
///
/// Words moved per row of a solve: 7 (lower, inverse, rhs, z written; ratio, z, x written). Neighbouring threads should own neighbouring
/// lines: strided lines (y, z of a grid) load whole cache lines, contiguous ones (x) do not.
/// Limits: no pivoting, so lines should be diagonally dominant or definite; too few lines leave a GPU idle.
#pragma once
#include <string>

#include "tridiagonal/tridiagonal.hpp"

namespace weft {

struct Thomas {
  static constexpr const char *name = "thomas";

  /// Operations of a solve: two multiplications and a subtraction forward, one of each backward.
  static double flops(const LineLayout &layout) { return 5.0 * layout.rows(); }

  template <class Space, class Scalar>
  struct Plan {
    using Method = Thomas;
    LineLayout layout;
    OwnedArray<Scalar, Space> lower, inverse, ratio;
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineLayout &layout)
  {
    const auto table = [&](const std::string &label) {
      return OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), layout.span());
    };
    return {layout, table("weft thomas lower"), table("weft thomas inverse"), table("weft thomas ratio"),
            PivotFlag<typename Space::memory_space>(layout)};
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    Kokkos::parallel_for(
        "weft thomas factor", Kokkos::RangePolicy<Space>(space, 0, plan.layout.count()), KOKKOS_LAMBDA(const Index line) {
          const LineLayout &layout = plan.layout;
          const Index start        = layout.start(line);
          Scalar ratio             = 0;
          for (Index row = 0; row < layout.length; row++) {
            const Index i         = start + row * layout.stride;
            const Scalar lower    = row > 0 ? matrix.lower(i) : Scalar(0);
            const Scalar upper    = row + 1 < layout.length ? matrix.upper(i) : Scalar(0);
            const Scalar diagonal = matrix.diagonal(i);
            const Scalar pivot    = diagonal - lower * ratio;
            if (!usable_pivot(pivot, Kokkos::abs(lower) + Kokkos::abs(diagonal) + Kokkos::abs(upper))) plan.flag.report(line, row);
            const Scalar inverse = 1 / pivot;
            ratio                = upper * inverse;
            plan.lower(i)        = lower;
            plan.inverse(i)      = inverse;
            plan.ratio(i)        = ratio;
          }
        });
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Array<Scalar, Space> &rhs,
                    const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Array<Scalar, Space> work = options.update.add ? rhs : solution;
    Kokkos::parallel_for(
        "weft thomas solve", Kokkos::RangePolicy<Space>(space, 0, plan.layout.count()), KOKKOS_LAMBDA(const Index line) {
          const LineLayout &layout = plan.layout;
          if (!layout.has_colour(line, options.colour)) return;
          const Index stride = layout.stride, start = layout.start(line), end = start + layout.length * stride;
          Scalar z = 0, x = 0;
          if (options.transpose == Transpose::no) {
            for (Index i = start; i < end; i += stride) work(i) = z = (rhs(i) - plan.lower(i) * z) * plan.inverse(i);
            for (Index i = end - stride; i >= start; i -= stride) put(solution(i), options.update, x = work(i) - plan.ratio(i) * x);
          } else {
            for (Index i = start; i < end; i += stride) work(i) = z = rhs(i) - (i > start ? plan.ratio(i - stride) : Scalar(0)) * z;
            for (Index i = end - stride; i >= start; i -= stride) {
              const Scalar next = i + stride < end ? plan.lower(i + stride) : Scalar(0);
              put(solution(i), options.update, x = (work(i) - next * x) * plan.inverse(i));
            }
          }
        });
  }
};

} // namespace weft
