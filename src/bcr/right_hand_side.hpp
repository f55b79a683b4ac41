/// What a solve does to right-hand sides before, and to solutions of singular operators after: weights, factors, means.
#pragma once
#include <Kokkos_Core.hpp>

#include "line/tridiagonal.hpp"

namespace weft::poisson {

/// The right-hand side of W^-1 A, times a factor: to = from * scale_x * scale_y * scale_z * factor - factor * perturbation.
template <class Space, class Scalar>
struct ScaleRightHandSide {
  Index n[3];
  OwnedArray<Scalar, Space> scale[3];
  Scalar factor;
  const Scalar *from;
  Scalar *to;
  Kokkos::View<const double, typename Space::memory_space> perturbation; ///< or empty

  /// Without the factor, of the right-hand side that begins at an element.
  KOKKOS_INLINE_FUNCTION Scalar scaled(Index number, Index begin = 0) const
  {
    const Index xy = number / n[0], x = number - xy * n[0], z = xy / n[1], y = xy - z * n[1];
    Scalar value = from[begin + number];
    if (scale[0].extent(0) > 0) value *= scale[0](x);
    if (scale[1].extent(0) > 0) value *= scale[1](y);
    if (scale[2].extent(0) > 0) value *= scale[2](z);
    return value;
  }
  KOKKOS_INLINE_FUNCTION Scalar value(Index number, Index begin = 0) const
  {
    Scalar value = scaled(number, begin);
    if (perturbation.data()) value -= static_cast<Scalar>(perturbation());
    return factor * value;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const { to[number] = value(number); }
};

/// An array of `lengths` elements along each direction, in whose first n lie a grid's; those behind them are 0.
struct PaddedArray {
  Index n[3], lengths[3];

  WEFT_INLINE Index size() const { return lengths[0] * lengths[1] * lengths[2]; }
  /// The grid's number of an element, or -1.
  WEFT_INLINE Index number_of(Index element) const
  {
    const Index xy = element / lengths[0], x = element - xy * lengths[0], z = xy / lengths[1], y = xy - z * lengths[1];
    return x < n[0] && y < n[1] && z < n[2] ? x + n[0] * (y + n[1] * z) : -1;
  }
  WEFT_INLINE Index element_of(Index number) const
  {
    const Index xy = number / n[0], x = number - xy * n[0], z = xy / n[1], y = xy - z * n[1];
    return x + lengths[0] * (y + lengths[1] * z);
  }
};

/// Right-hand sides `apart` elements from each other into padded arrays one after the other.
template <class Space, class Scalar>
struct IntoPadded {
  PaddedArray array;
  ScaleRightHandSide<Space, Scalar> of;
  Index apart = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index column = number / array.size(), node = array.number_of(number - column * array.size());
    of.to[number] = node < 0 ? Scalar(0) : of.value(node, column * apart);
  }
};

template <class Scalar>
struct OutOfPadded {
  PaddedArray array;
  const Scalar *from;
  Scalar *to;
  Index apart = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index nodes = array.n[0] * array.n[1] * array.n[2], column = number / nodes, node = number - column * nodes;
    to[column * apart + node] = from[column * array.size() + array.element_of(node)];
  }
};

/// sum of left_x left_y left_z (the scaled right-hand side), divided by the sum of left_x left_y left_z.
template <class Space, class Scalar>
struct MeanOf {
  ScaleRightHandSide<Space, Scalar> of;
  OwnedArray<double, Space> left[3];

  KOKKOS_INLINE_FUNCTION void operator()(const Index number, double &sum) const
  {
    const Index xy = number / of.n[0], x = number - xy * of.n[0], z = xy / of.n[1], y = xy - z * of.n[1];
    sum += left[0](x) * left[1](y) * left[2](z) * static_cast<double>(of.scaled(number));
  }
};

template <class Space>
struct Divide {
  Kokkos::View<double, typename Space::memory_space> value;
  double by;
  KOKKOS_INLINE_FUNCTION void operator()(const Index) const { value() /= by; }
};

} // namespace weft::poisson
