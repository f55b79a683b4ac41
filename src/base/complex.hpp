/// Complex: the complex scalar of kernels, two real numbers side by side as in std::complex, C and PETSc. Free of Kokkos, since the glue hands
/// such arrays on and sees no Kokkos, and made for kernels: products look for no infinities, so that they vectorize, and what has no meaning for
/// complex numbers, such as an order or std::numeric_limits, does not compile. real_of.hpp has what kernels ask of any scalar.
#pragma once
#include <cmath>
#include <complex>
#include <limits>

#include "line/line_layout.hpp"

namespace weft {

template <class Real>
class Complex {
public:
  Complex() = default; ///< not set, so that arrays in registers and shared memory cost nothing; Complex{} is 0
  WEFT_INLINE constexpr Complex(Real re, Real im = 0) : re_(re), im_(im) {}
  constexpr Complex(const std::complex<Real> &z) : re_(z.real()), im_(z.imag()) {}
  template <class Other>
  WEFT_INLINE constexpr explicit Complex(const Complex<Other> &z) : re_(static_cast<Real>(z.real())), im_(static_cast<Real>(z.imag()))
  {
  }
  constexpr operator std::complex<Real>() const { return {re_, im_}; }

  WEFT_INLINE constexpr Real real() const { return re_; }
  WEFT_INLINE constexpr Real imag() const { return im_; }

  WEFT_INLINE constexpr Complex &operator+=(const Complex &b) { return *this = *this + b; }
  WEFT_INLINE constexpr Complex &operator-=(const Complex &b) { return *this = *this - b; }
  WEFT_INLINE constexpr Complex &operator*=(const Complex &b) { return *this = *this * b; }
  WEFT_INLINE constexpr Complex &operator/=(const Complex &b) { return *this = *this / b; }

  WEFT_INLINE friend constexpr Complex operator+(const Complex &a) { return a; }
  WEFT_INLINE friend constexpr Complex operator-(const Complex &a) { return {-a.re_, -a.im_}; }
  WEFT_INLINE friend constexpr Complex operator+(const Complex &a, const Complex &b) { return {a.re_ + b.re_, a.im_ + b.im_}; }
  WEFT_INLINE friend constexpr Complex operator-(const Complex &a, const Complex &b) { return {a.re_ - b.re_, a.im_ - b.im_}; }
  WEFT_INLINE friend constexpr Complex operator*(const Complex &a, const Complex &b)
  {
    return {a.re_ * b.re_ - a.im_ * b.im_, a.re_ * b.im_ + a.im_ * b.re_};
  }
  WEFT_INLINE friend constexpr Complex operator*(const Complex &a, Real b) { return {a.re_ * b, a.im_ * b}; }
  WEFT_INLINE friend constexpr Complex operator*(Real a, const Complex &b) { return {a * b.re_, a * b.im_}; }
  WEFT_INLINE friend constexpr Complex operator/(const Complex &a, Real b) { return {a.re_ / b, a.im_ / b}; }
  /// Of the divisor scaled to size 1, so that its square is a number wherever the divisor is one.
  WEFT_INLINE friend constexpr Complex operator/(const Complex &a, const Complex &b)
  {
    const Real size = (b.re_ < 0 ? -b.re_ : b.re_) + (b.im_ < 0 ? -b.im_ : b.im_);
    const Real re = b.re_ / size, im = b.im_ / size, norm = (re * re + im * im) * size;
    return {(a.re_ * re + a.im_ * im) / norm, (a.im_ * re - a.re_ * im) / norm};
  }
  WEFT_INLINE friend constexpr bool operator==(const Complex &a, const Complex &b) { return a.re_ == b.re_ && a.im_ == b.im_; }

private:
  Real re_, im_;
};

} // namespace weft

/// Of the parts, RealOf<Scalar>, they are wanted; of the complex type they would be 0.
template <class Real>
class std::numeric_limits<weft::Complex<Real>>;
