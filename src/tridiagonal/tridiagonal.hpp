/// What all methods for tridiagonal lines share: the names of their arguments and of their options.
///
/// Line equations:  lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = rhs_i,   i = 0 .. length-1.
/// lower_0 and upper_{length-1} couple to nothing: whatever they hold is not read.
///
/// A method is a type with a name, flops(layout), and three functions:
///   plan(layout)                       makes the tables and work space, once per layout; nothing is allocated later
///   factor(space, plan, coefficients)  takes new values; unusable pivots are reported in plan.flag
///   solve(space, plan, ...)            any number of times; launches on `space`, does not wait
/// All arrays are indexed by the LineLayout. select.hpp lists the methods.
#pragma once
#include <Kokkos_Core.hpp>

#include "lines.hpp"
#include "status.hpp"
#include "tridiagonal/options.hpp"

namespace weft {

template <class Scalar, class Space>
using Array = Kokkos::View<Scalar *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Scalar, class Space>
using OwnedArray = Kokkos::View<Scalar *, typename Space::memory_space>;

/// The three diagonals of all lines, each layout.span() long.
template <class Scalar, class Space>
struct Tridiagonal {
  Array<const Scalar, Space> lower, diagonal, upper;
};

template <class Scalar>
KOKKOS_INLINE_FUNCTION void put(Scalar &solution, const Update<Scalar> &update, Scalar value)
{
  solution = update.add ? solution + update.scale * value : update.scale * value;
}

} // namespace weft
