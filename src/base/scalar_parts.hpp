/// A scalar as the one or two real numbers that it is made of.
#pragma once
#include "base/real_of.hpp"

namespace weft {

/// Real numbers that make one scalar.
template <class Scalar>
inline constexpr int parts_of = is_complex<Scalar> ? 2 : 1;

/// The real part, or for part = 1 the imaginary one.
template <class Scalar>
WEFT_INLINE RealOf<Scalar> part_of(const Scalar &x, int part)
{
  if constexpr (is_complex<Scalar>)
    return part == 0 ? x.real() : x.imag();
  else
    return part == 0 ? x : 0;
}

/// From parts_of<Scalar> numbers.
template <class Scalar, class Real>
WEFT_INLINE Scalar from_parts(const Real *parts)
{
  if constexpr (is_complex<Scalar>)
    return Scalar(static_cast<RealOf<Scalar>>(parts[0]), static_cast<RealOf<Scalar>>(parts[1]));
  else
    return static_cast<Scalar>(parts[0]);
}

} // namespace weft
