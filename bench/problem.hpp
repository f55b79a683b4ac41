/// Random diagonally dominant lines, made and checked where they are solved.
#pragma once
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>

#include "harness.hpp"
#include "tridiagonal/tridiagonal.hpp"

namespace weft::bench {

/// A number in [-1, 1) that is the same on every backend (splitmix64 of a counter).
KOKKOS_INLINE_FUNCTION double random_value(std::uint64_t counter)
{
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u;
  z               = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z               = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

/// An array that is first touched by the kernel that fills it, so that its pages lie with the threads that use it.
template <class Space, class Scalar>
OwnedArray<Scalar, Space> make_array(Index size)
{
  return OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench"), static_cast<std::size_t>(size));
}

template <class Space, class Scalar>
struct Problem {
  static constexpr int words = 5; ///< of a row

  LineLayout layout;
  OwnedArray<Scalar, Space> lower, diagonal, upper, rhs, solution;
};

/// Problem number `seed`. The couplings beyond a line's ends are 0, as cuSPARSE wants them; the solution is not a number yet.
template <class Space, class Scalar>
Problem<Space, Scalar> make_problem(const Space &space, const LineLayout &layout, int seed)
{
  const auto array = [&] { return make_array<Space, Scalar>(layout.span()); };
  const Problem<Space, Scalar> problem{layout, array(), array(), array(), array(), array()};
  const Scalar unset = std::numeric_limits<Scalar>::quiet_NaN();
  Kokkos::parallel_for(
      "weft bench problem", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineRow at         = line_row(problem.layout, number);
        const Index i            = problem.layout.start(at.line) + at.row * problem.layout.stride;
        const std::uint64_t base = 4 * (static_cast<std::uint64_t>(seed) * static_cast<std::uint64_t>(problem.layout.rows()) + i);
        const double lower       = at.row > 0 ? random_value(base) : 0;
        const double upper       = at.row + 1 < problem.layout.length ? random_value(base + 1) : 0;
        const double excess      = random_value(base + 2);
        const double size        = 0.1 + Kokkos::abs(excess) + Kokkos::abs(lower) + Kokkos::abs(upper);
        problem.lower(i)         = static_cast<Scalar>(lower);
        problem.diagonal(i)      = static_cast<Scalar>(excess < 0 ? -size : size);
        problem.upper(i)         = static_cast<Scalar>(upper);
        problem.rhs(i)           = static_cast<Scalar>(random_value(base + 3));
        problem.solution(i)      = unset;
      });
  space.fence("weft bench problem");
  return problem;
}

/// The largest |T x - rhs| of a row relative to |T| |x| + |rhs|, infinite where x is not finite.
template <class Space, class Scalar>
double largest_residual(const Space &space, const Problem<Space, Scalar> &problem)
{
  double largest        = 0;
  const double infinity = std::numeric_limits<double>::infinity();
  Kokkos::parallel_reduce(
      "weft bench residual", Kokkos::RangePolicy<Space>(space, 0, problem.layout.rows()),
      KOKKOS_LAMBDA(const Index number, double &worst) {
        const LineRow at    = line_row(problem.layout, number);
        const Index stride  = problem.layout.stride;
        const Index i       = problem.layout.start(at.line) + at.row * stride;
        const double before = at.row > 0 ? double(problem.lower(i)) * double(problem.solution(i - stride)) : 0;
        const double after  = at.row + 1 < problem.layout.length ? double(problem.upper(i)) * double(problem.solution(i + stride)) : 0;
        const double here   = double(problem.diagonal(i)) * double(problem.solution(i));
        const double rhs    = double(problem.rhs(i));
        const double error =
            Kokkos::abs(before + here + after - rhs) / (Kokkos::abs(before) + Kokkos::abs(here) + Kokkos::abs(after) + Kokkos::abs(rhs));
        worst = Kokkos::max(worst, Kokkos::isfinite(error) ? error : infinity);
      },
      Kokkos::Max<double>(largest));
  return largest;
}

} // namespace weft::bench
