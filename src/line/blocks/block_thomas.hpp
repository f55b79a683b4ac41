/// Block Thomas: block LU along each line (block_factors.hpp), a thread per line. Two recurrences a solve:
///   z_i = inverse_i rhs_i - left_i z_{i-1},   x_i = z_i - right_i x_{i+1}
/// (Golub and Van Loan, Matrix Computations, block tridiagonal systems, with the divisions moved to the factorization.)
///
/// Words moved per block row of a solve: 3 b^2 + 4 b (inverse, left, rhs, z written; right, z, x written). On a device the factors stand
/// entry by entry, neighbouring lines side by side, so that whole cache lines are loaded whichever way the lines lie; rhs and x come in
/// pieces of b. On the host the blocks of a line follow each other.
/// Parameters: `slice` is the rows of a chunk of the factorization.
/// Limits: no pivoting between blocks; few lines leave a GPU idle.
#pragma once
#include <type_traits>

#include "line/blocks/block_four_lines.hpp"

namespace weft {

struct BlockThomas {
  static constexpr const char *name = "block-thomas";

  /// Three blocks a block row.
  static double flops(const LineLayout &layout) { return 6.0 * static_cast<double>(layout.rows() * layout.components); }
  static std::optional<std::string> refuses(const BlockLines &, const MethodParameters &parameters)
  {
    if (parameters.slice < 0) return "block-thomas cannot factor chunks of a negative number of rows (slice)";
    return nothing_against;
  }

  struct Order {
    Index line_apart = 0, row_apart = 0, apart = 1, size = 0;

    KOKKOS_INLINE_FUNCTION Index first(Index line, Index row) const { return line * line_apart + row * row_apart; }
  };

  template <class Space, class Scalar, int b>
  using Plan = BlockFactors<Space, Scalar, b, Order>;

  template <class Space, class Scalar, int b>
  static Plan<Space, Scalar, b> plan(const BlockLines &lines, const MethodParameters &parameters)
  {
    const Index count = lines.count(), length = lines.layout.length, block = b * b;
    const Order order = on_device<Space> ? Order{1, block * count, count, count * length} : Order{block * length, block, 1, count * length};
    return {lines, order, parameters.slice};
  }

  template <class Space, class Scalar, int b>
  static void factor(const Space &space, const Plan<Space, Scalar, b> &plan, const BlockTridiagonal<Scalar, Space, b> &matrix)
  {
    if constexpr (!on_device<Space> && std::is_floating_point_v<Scalar> && b > 1) {
      if (takes_four_lines(plan)) return block_factor_four_lines(space, plan, matrix);
    }
    block_factor(space, plan, matrix);
  }

  template <class Space, class Scalar, int b>
  static void solve(const Space &space, const Plan<Space, Scalar, b> &plan, const BlockTridiagonal<Scalar, Space, b> &,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Array<Scalar, Space> work = options.update.add ? rhs : solution;
    Kokkos::parallel_for(
        "weft block thomas solve", Kokkos::RangePolicy<Space>(space, 0, plan.lines.count()), KOKKOS_LAMBDA(const Index line) {
          const LineLayout &layout = plan.lines.layout;
          if (!plan.lines.has_colour(line, options.colour)) return;
          const Index start = plan.lines.start(line);
          BlockVector<Scalar, b> z, x;
          for (Index row = 0; row < layout.length; row++) {
            const Index i = start + row * layout.stride, at = plan.order.first(line, row);
            z = residual(plan.get(plan.inverse, at) * get_node<b>(rhs, i), plan.get(plan.left, at), z);
            put_node(work, i, Update<Scalar>{}, z);
          }
          for (Index row = layout.length - 1; row >= 0; row--) {
            const Index i = start + row * layout.stride;
            x             = residual(get_node<b>(work, i), plan.get(plan.right, plan.order.first(line, row)), x);
            put_node(solution, i, options.update, x);
          }
        });
  }
};

} // namespace weft
