/// What kernels ask of a scalar, real or complex: the type of its size, which is that of tolerances and limits too, and how large it is.
#pragma once
#include <cmath>
#include <type_traits>

#include "base/complex.hpp"

namespace weft {

template <class Scalar>
struct RealOfScalar {
  using Real = Scalar;
};
template <class Part>
struct RealOfScalar<Complex<Part>> {
  using Real = Part;
};

/// float of float and Complex<float>, double of double and Complex<double>.
template <class Scalar>
using RealOf = typename RealOfScalar<std::remove_const_t<Scalar>>::Real;

template <class Scalar>
inline constexpr bool is_complex = !std::is_same_v<RealOf<Scalar>, std::remove_const_t<Scalar>>;

WEFT_INLINE float modulus(float x)
{
  return std::fabs(x);
}
WEFT_INLINE double modulus(double x)
{
  return std::fabs(x);
}
inline long double modulus(long double x)
{
  return std::fabs(x);
}
/// No part is squared as it is: the modulus is a number wherever the parts are. No branch, so it vectorizes; NaN where a part is.
template <class Real>
WEFT_INLINE Real modulus(const Complex<Real> &z)
{
  const Real a = std::fabs(z.real()), b = std::fabs(z.imag()), larger = a > b ? a : b, ratio = a > b ? b / a : a / b;
  return larger > 0 ? larger * std::sqrt(1 + ratio * ratio) : a + b;
}

template <class Scalar>
WEFT_INLINE RealOf<Scalar> real_part(const Scalar &x)
{
  if constexpr (is_complex<Scalar>)
    return x.real();
  else
    return x;
}

/// x, or its complex conjugate.
template <class Scalar>
WEFT_INLINE Scalar conjugate(const Scalar &x)
{
  if constexpr (is_complex<Scalar>)
    return {x.real(), -x.imag()};
  else
    return x;
}

/// False for NaN and infinity.
template <class Scalar>
WEFT_INLINE bool finite(const Scalar &x)
{
  if constexpr (is_complex<Scalar>)
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  else
    return std::isfinite(x);
}

/// The scalar of the same kind whose parts are of type Real.
template <class Scalar, class Real>
using WithReal = std::conditional_t<is_complex<Scalar>, Complex<Real>, Real>;

/// A number of that size on the same side of 0 as x: size x / |x|, and `size` itself where x is 0.
template <class Scalar>
WEFT_INLINE Scalar towards(RealOf<Scalar> size, const Scalar &x)
{
  if constexpr (is_complex<Scalar>)
    return x == Scalar(0) ? Scalar(size) : x * (size / modulus(x));
  else
    return x < 0 ? -size : size;
}

/// |x|^2.
template <class Scalar>
WEFT_INLINE RealOf<Scalar> square_of(const Scalar &x)
{
  if constexpr (is_complex<Scalar>)
    return x.real() * x.real() + x.imag() * x.imag();
  else
    return x * x;
}

/// Of the same kind in double precision: what single numbers are added up in.
template <class Scalar>
using InDouble = WithReal<Scalar, double>;

template <class Scalar>
WEFT_INLINE InDouble<Scalar> widened(const Scalar &x)
{
  return static_cast<InDouble<Scalar>>(x);
}

} // namespace weft
