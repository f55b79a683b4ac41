/// What all methods for block-tridiagonal lines share: the names of their arguments, and the blocks of the lines.
///
/// Line equations:  lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = rhs_i,   i = 0 .. length-1, with b * b blocks and b unknowns a
/// node (block_lines.hpp says where they stand). lower_0 and upper_{length-1} are not read.
///
/// A method is a type with
///   name                               as users type it
///   flops(layout)                      operations of a solve of all lines
///   Plan<Space, Scalar, b>             tables and work space; has a PivotFlag called `flag`
///   plan<Space, Scalar, b>(lines, parameters)   makes one; nothing is allocated later
///   refuses(lines, parameters)         why it cannot solve such lines, or nothing
///   factor(space, plan, matrix)        takes new values; rows whose block cannot be inverted are reported in plan.flag
///   solve(space, plan, matrix, rhs, solution, options)
///                                      any number of times; launches on `space`, does not wait. Ignores options.transpose and options.nrhs,
///                                      which are done around it
/// and, where it is worth something,
///   solve_once(space, plan, matrix, rhs, solution, options)   factor and solve in one go
/// block_select.hpp lists the methods.
#pragma once
#include "line/blocks/block.hpp"
#include "line/blocks/block_lines.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// True where the host does not see the arrays: threads are many, and neighbouring ones should read neighbouring words.
template <class Space>
inline constexpr bool on_device = !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// The three block diagonals of all lines, coefficient_size() elements each, or their transpose.
template <class Scalar, class Space, int b>
struct BlockTridiagonal {
  BlockLines problem;
  Array<const Scalar, Space> lower, diagonal, upper;
  bool transposed = false;

  /// The blocks of row `row`, whose first unknown is element `i`.
  KOKKOS_INLINE_FUNCTION Block<Scalar, b> lower_of(Index row, Index i) const
  {
    if (row == 0) return {};
    return transposed ? get(upper, i - problem.layout.stride) : get(lower, i);
  }
  KOKKOS_INLINE_FUNCTION Block<Scalar, b> diagonal_of(Index i) const { return get(diagonal, i); }
  KOKKOS_INLINE_FUNCTION Block<Scalar, b> upper_of(Index row, Index i) const
  {
    if (row + 1 == problem.layout.length) return {};
    return transposed ? get(lower, i + problem.layout.stride) : get(upper, i);
  }

private:
  KOKKOS_INLINE_FUNCTION Block<Scalar, b> get(const Array<const Scalar, Space> &from, Index i) const
  {
    Block<Scalar, b> block;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) block(p, q) = transposed ? from(i * b + q * b + p) : from(i * b + p * b + q);
    }
    return block;
  }
};

/// The unknowns of the node whose first is element `i`.
template <int b, class View>
KOKKOS_INLINE_FUNCTION BlockVector<typename View::non_const_value_type, b> get_node(const View &from, Index i)
{
  BlockVector<typename View::non_const_value_type, b> x;
  for (int p = 0; p < b; p++) x(p) = from(i + p);
  return x;
}

template <class View, class Scalar, int b>
KOKKOS_INLINE_FUNCTION void put_node(const View &to, Index i, const Update<Scalar> &update, const BlockVector<Scalar, b> &x)
{
  for (int p = 0; p < b; p++) put(to(i + p), update, x(p));
}

} // namespace weft
