/// What a factored batch of rings is worth, measured: a ring whose last pivot is rounding error, or that elimination without pivoting has spoilt,
/// is a zero pivot like any other, whichever method closed it.
///
/// With the rows scaled to |lower| + |diagonal| + |upper| = 1 and a right-hand side h of entries from 3/4 to 5/4:
///   - a method is backward stable for T if every row of T x - h is at most `lost` rounding errors of max |x| + 1; `pivoted` always is;
///   - T is singular to working precision if two steps of inverse iteration from h grow by 1 / (`singular` epsilon) or more: rounding the
///     coefficients alone moves the smallest singular value of a singular ring to a few epsilon.
#pragma once
#include <limits>

#include "line/tridiagonal.hpp"

namespace weft {

template <class Space, class Scalar>
class RingProbe {
public:
  static constexpr RealOf<Scalar> lost = 1000, singular = 32;
  static constexpr int after_all_pivots = 255; ///< a step of PivotFlag: a pivot that is zero is told first

  explicit RingProbe(const LineProblem &problem)
      : problem_(problem), x_("weft ring probe", static_cast<std::size_t>(problem.layout.span())),
        largest_("weft ring probe largest", static_cast<std::size_t>(problem.layout.count()))
  {
  }

  /// Reports to the flag. solve(x): x = T^-1 x on all lines. Set-up.
  template <class Solve>
  void run(const Space &space, const Tridiagonal<Scalar, Space> &matrix, const PivotFlag<typename Space::memory_space> &flag,
           const Solve &solve) const
  {
    if (problem_.layout.rows() == 0) return;
    fill(space, matrix, x_);
    solve(Array<Scalar, Space>(x_));
    measure(space, problem_.layout, x_, largest_);
    check(space, matrix, x_, largest_, flag);
    iterate(space, matrix, x_, largest_);
    solve(Array<Scalar, Space>(x_));
    measure(space, problem_.layout, x_, largest_);
    report(space, problem_.layout, largest_, 1 / (singular * std::numeric_limits<RealOf<Scalar>>::epsilon()), flag);
  }

  // Launches; public for nvcc.

  /// Of a scaled right-hand side: positive, so that no smooth null vector is missed, and of no pattern.
  KOKKOS_INLINE_FUNCTION static RealOf<Scalar> entry(Index row)
  {
    return RealOf<Scalar>(0.75) + static_cast<RealOf<Scalar>>((row * 40503 + 12345) % 1021) / 2042;
  }
  static void fill(const Space &space, const Tridiagonal<Scalar, Space> &matrix, const OwnedArray<Scalar, Space> &x)
  {
    const LineLayout layout = matrix.problem.layout;
    Kokkos::parallel_for(
        "weft ring probe", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(layout, number);
          const Index i    = layout.start(at.line) + at.row * layout.stride;
          x(i)             = matrix.wrapped(at.row, i).scale() * entry(at.row);
        });
  }
  /// The largest |x| of each line; infinity where some x is not finite.
  static void measure(const Space &space, const LineLayout &layout, const OwnedArray<Scalar, Space> &x,
                      const OwnedArray<RealOf<Scalar>, Space> &largest)
  {
    Kokkos::deep_copy(space, largest, RealOf<Scalar>(0));
    Kokkos::parallel_for(
        "weft ring probe largest", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at          = line_row(layout, number);
          const RealOf<Scalar> size = modulus(x(layout.start(at.line) + at.row * layout.stride));
          Kokkos::atomic_max(&largest(at.line), Kokkos::isfinite(size) ? size : std::numeric_limits<RealOf<Scalar>>::infinity());
        });
  }
  /// Rows of the first solution that are not solved, and those that nothing can solve.
  static void check(const Space &space, const Tridiagonal<Scalar, Space> &matrix, const OwnedArray<Scalar, Space> &x,
                    const OwnedArray<RealOf<Scalar>, Space> &largest, const PivotFlag<typename Space::memory_space> &flag)
  {
    const LineLayout layout = matrix.problem.layout;
    const Index last        = (layout.length - 1) * layout.stride;
    Kokkos::parallel_for(
        "weft ring probe check", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at   = line_row(layout, number);
          const Index i      = layout.start(at.line) + at.row * layout.stride;
          const Index before = at.row > 0 ? i - layout.stride : i + last, after = at.row + 1 < layout.length ? i + layout.stride : i - last;
          const Row<Scalar> r        = matrix.wrapped(at.row, i);
          const RealOf<Scalar> scale = r.scale();
          const Scalar product       = r.lower / scale * x(before) + r.diagonal / scale * x(i) + r.upper / scale * x(after);
          const RealOf<Scalar> most  = lost * std::numeric_limits<RealOf<Scalar>>::epsilon() * (largest(at.line) + 1);
          if (!(modulus(product - entry(at.row)) <= most && largest(at.line) <= std::numeric_limits<RealOf<Scalar>>::max()))
            flag.report(at.line, at.row, after_all_pivots);
        });
  }
  /// The next right-hand side of inverse iteration.
  static void iterate(const Space &space, const Tridiagonal<Scalar, Space> &matrix, const OwnedArray<Scalar, Space> &x,
                      const OwnedArray<RealOf<Scalar>, Space> &largest)
  {
    const LineLayout layout = matrix.problem.layout;
    Kokkos::parallel_for(
        "weft ring probe again", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
          const LineRow at = line_row(layout, number);
          const Index i    = layout.start(at.line) + at.row * layout.stride;
          x(i)             = matrix.wrapped(at.row, i).scale() * (x(i) / largest(at.line));
        });
  }
  static void report(const Space &space, const LineLayout &layout, const OwnedArray<RealOf<Scalar>, Space> &largest, RealOf<Scalar> most,
                     const PivotFlag<typename Space::memory_space> &flag)
  {
    Kokkos::parallel_for(
        "weft ring probe report", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!(largest(line) <= most)) flag.report(line, layout.length - 1, after_all_pivots);
        });
  }

private:
  LineProblem problem_;
  OwnedArray<Scalar, Space> x_;
  OwnedArray<RealOf<Scalar>, Space> largest_;
};

} // namespace weft
