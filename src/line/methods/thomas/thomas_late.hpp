/// Thomas with late divisions, a thread per line: rows are eliminated by cross-multiplication, without a division, and a batch of four rows is
/// divided at a time, side by side, at the end (ADI thesis, section on the vectorized Thomas algorithm, Algorithm 3).
///
///   forward:   p = q diagonal_i - lower_i upper'_{i-1},   q = pivot'_{i-1}     (q = 1 where lower_i = 0)
///              pivot'_i = s p,   upper'_i = s q upper_i,   z_i = s (q rhs_i - lower_i z_{i-1})
///   backward, four rows down from i, P = 1 and Q = x_{i+1} before them:
///              Q_i = P z_i - upper'_i Q,   P_i = P pivot'_i   (P = 1 where upper'_i = 0);   then x_i = Q_i / P_i for all four
///
/// Unlike the thesis, whose rows grow like the leading determinants and overflow after some hundred, each row is scaled by s, the power of two
/// that brings |pivot'| to [1, 2): exact, and no division either. Rows that nothing couples to stay exact.
///
/// Nothing is kept between solves: `factor` only looks at the pivots. Words moved per row: 11 (lower, diagonal, upper, rhs, then pivot', upper',
/// z written; these three, x written). Limits: no pivoting; coefficients below a quarter of the largest number.
#pragma once
#include <string>

#include "line/tridiagonal.hpp"

namespace weft {

struct ThomasLate {
  static constexpr const char *name = "thomas-late";
  static constexpr int batch        = 4; ///< rows divided together: products of as many pivots stay below 2^batch

  /// Operations of a solve: nine products and sums and three scalings forward, four and a division backward.
  static double flops(const LineLayout &layout) { return 17.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &) { return nothing_against; }

  template <class Space, class Scalar>
  struct Plan {
    LineLayout layout;
    OwnedArray<Scalar, Space> pivot, upper; ///< scaled
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &)
  {
    const Index size = problem.layout.span();
    return {problem.layout, table<Scalar, Space>("weft thomas-late pivot", size), table<Scalar, Space>("weft thomas-late upper", size),
            PivotFlag<typename Space::memory_space>(problem.layout)};
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    Kokkos::parallel_for(
        "weft thomas-late factor", Kokkos::RangePolicy<Space>(space, 0, plan.layout.count()),
        KOKKOS_LAMBDA(const Index line) { eliminate<true, false>(plan, matrix, {}, {}, line); });
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    solve_lines<false>(space, plan, matrix, rhs, solution, options);
  }

  template <class Space, class Scalar>
  static void solve_once(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    plan.flag.clear(space);
    solve_lines<true>(space, plan, matrix, rhs, solution, options);
  }

  template <bool check, class Space, class Scalar>
  static void solve_lines(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                          const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Array<Scalar, Space> z = options.update.add ? rhs : solution;
    Kokkos::parallel_for(
        "weft thomas-late solve", Kokkos::RangePolicy<Space>(space, 0, plan.layout.count()), KOKKOS_LAMBDA(const Index line) {
          if (!plan.layout.has_colour(line, options.colour)) return;
          eliminate<check, true>(plan, matrix, rhs, z, line);
          substitute(plan, z, solution, options.update, line);
        });
  }

  /// The power of two s with 1 <= |s value| < 2, by exponent bits; of no meaning where value is not finite.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION static Scalar scale_to_one(Scalar value)
  {
    using Bits              = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
    constexpr int mantissa  = std::numeric_limits<RealOf<Scalar>>::digits - 1;
    constexpr Bits exponent = std::numeric_limits<RealOf<Scalar>>::max_exponent * 2 - 1; // all ones
    const Bits of_value     = Kokkos::bit_cast<Bits>(value) & (exponent << mantissa);
    return Kokkos::bit_cast<Scalar>(static_cast<Bits>(((exponent - 1) << mantissa) - of_value));
  }

  /// The forward sweep of a line. `check` looks at its pivots; without `solving` there are no right-hand side and no results.
  template <bool check, bool solving, class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static void eliminate(const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                                               const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &z, Index line)
  {
    const LineLayout &layout = plan.layout;
    Index i                  = layout.start(line);
    Scalar pivot = 1, upper = 0, before = 0;
    for (Index row = 0; row < layout.length; row++, i += layout.stride) {
      const Row<Scalar> r = matrix.at(row, i);
      const Scalar q = r.lower == 0 ? Scalar(1) : pivot, p = q * r.diagonal - r.lower * upper, s = scale_to_one(p);
      if constexpr (check) {
        if (!usable_pivot(p, modulus(q) * r.scale())) plan.flag.report(line, row);
      }
      pivot = s * p;
      upper = s * (q * r.upper);
      if constexpr (solving) {
        plan.pivot(i) = pivot;
        plan.upper(i) = upper;
        z(i) = before = s * (q * rhs(i) - r.lower * before);
      }
    }
  }

  /// The backward sweep.
  template <class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static void substitute(const Plan<Space, Scalar> &plan, const Array<Scalar, Space> &z,
                                                const Array<Scalar, Space> &solution, const Update<Scalar> &update, Index line)
  {
    const LineLayout &layout = plan.layout;
    const Index start        = layout.start(line);
    Scalar after             = 0; // the solution of the row after the batch
    for (Index last = layout.length - 1; last >= 0; last -= batch) {
      Scalar P[batch], Q[batch], product = 1, numerator = after;
      for (int k = 0; k < batch; k++) { // rows before the first: 1 x = 0
        const bool outside = last < k;
        const Index i      = start + (last - k) * layout.stride;
        const Scalar upper = outside ? Scalar(0) : plan.upper(i);
        if (upper == 0) product = 1;
        numerator = Q[k] = product * (outside ? Scalar(0) : z(i)) - upper * numerator;
        product = P[k] = product * (outside ? Scalar(1) : plan.pivot(i));
      }
      for (int k = 0; k < batch; k++) Q[k] /= P[k];
      for (int k = 0; k < batch && k <= last; k++) put(solution(start + (last - k) * layout.stride), update, Q[k]);
      after = Q[batch - 1];
    }
  }
};

} // namespace weft
