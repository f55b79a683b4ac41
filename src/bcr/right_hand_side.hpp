/// What a solve does to right-hand sides before, and to solutions of singular operators after: weights, factors, means.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/backend.hpp"
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

  /// Of a value at that place; without the factor.
  KOKKOS_INLINE_FUNCTION Scalar scaled(Scalar value, Index x, Index y, Index z) const
  {
    if (scale[0].extent(0) > 0) value *= scale[0](x);
    if (scale[1].extent(0) > 0) value *= scale[1](y);
    if (scale[2].extent(0) > 0) value *= scale[2](z);
    return value;
  }
  KOKKOS_INLINE_FUNCTION Scalar scaled(Index number) const
  {
    const Index xy = number / n[0], x = number - xy * n[0], z = xy / n[1], y = xy - z * n[1];
    return scaled(from[number], x, y, z);
  }
  KOKKOS_INLINE_FUNCTION Scalar finished(Scalar value) const
  {
    if (perturbation.data()) value -= static_cast<Scalar>(perturbation());
    return factor * value;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const { to[number] = finished(scaled(number)); }
};

/// Arrays of `lengths` elements along each direction, in whose first n lie a grid's; those behind them are 0. Of a plane there may be several, one
/// after the other as planes of z, for right-hand sides and solutions `apart` elements from each other.
struct PaddedArray {
  Index n[3], lengths[3];

  Index size() const { return lengths[0] * lengths[1] * lengths[2]; }
  /// Elements, or nodes, along each direction; no index has to be divided for them.
  template <class Space>
  auto range(const Space &space, const Index (&counts)[3], Index columns) const
  {
    using Range = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>, Kokkos::IndexType<Index>>;
    const Kokkos::Array<Index, 3> first{0, 0, 0}, end{counts[0], counts[1], columns > 1 ? columns : counts[2]};
    if constexpr (is_host_space<Space>)
      return Range(space, first, end);
    else
      return Range(space, first, end, Kokkos::Array<Index, 3>{128, 2, 1}); // a team reads whole lines of memory
  }
  WEFT_INLINE Index element(Index x, Index y, Index z) const { return x + lengths[0] * (y + lengths[1] * z); }
};

template <class Space, class Scalar>
struct IntoPadded {
  PaddedArray array;
  ScaleRightHandSide<Space, Scalar> of;
  Index apart; ///< of planes, or of right-hand sides

  KOKKOS_INLINE_FUNCTION void operator()(const Index x, const Index y, const Index z) const
  {
    const Index &nx = array.n[0], &ny = array.n[1];
    const bool inside = x < nx && y < ny && (array.n[2] == 1 || z < array.n[2]);
    of.to[array.element(x, y, z)] =
        inside ? of.finished(of.scaled(of.from[x + nx * y + apart * z], x, y, array.n[2] == 1 ? 0 : z)) : Scalar(0);
  }
};

template <class Scalar>
struct OutOfPadded {
  PaddedArray array;
  const Scalar *from;
  Scalar *to;
  Index apart;

  KOKKOS_INLINE_FUNCTION void operator()(const Index x, const Index y, const Index z) const
  {
    to[x + array.n[0] * y + apart * z] = from[array.element(x, y, z)];
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
