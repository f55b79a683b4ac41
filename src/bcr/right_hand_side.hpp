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

  KOKKOS_INLINE_FUNCTION Scalar scaled(Index number) const
  {
    const Index xy = number / n[0], x = number - xy * n[0], z = xy / n[1], y = xy - z * n[1];
    Scalar value = from[number];
    if (scale[0].extent(0) > 0) value *= scale[0](x);
    if (scale[1].extent(0) > 0) value *= scale[1](y);
    if (scale[2].extent(0) > 0) value *= scale[2](z);
    return value;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    Scalar value = scaled(number);
    if (perturbation.data()) value -= static_cast<Scalar>(perturbation());
    to[number] = factor * value;
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
