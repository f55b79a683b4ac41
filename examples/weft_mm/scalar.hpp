// The numbers of a program: those of the PETSc that it is built for, which CMake tells (WEFT_MM_COMPLEX, WEFT_MM_SINGLE). Knows nothing about PETSc.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

namespace weft_mm {

#if defined(WEFT_MM_COMPLEX)
using Scalar = std::complex<double>;
#elif defined(WEFT_MM_SINGLE)
using Scalar = float;
#else
using Scalar = double;
#endif

inline constexpr bool complex_scalars = !std::is_floating_point_v<Scalar>;

inline bool is_finite(Scalar value)
{
  return std::isfinite(std::real(value)) && std::isfinite(std::imag(value));
}

template <class Number>
Number conjugate(Number value)
{
  if constexpr (std::is_floating_point_v<Number>)
    return value;
  else
    return std::conj(value);
}

} // namespace weft_mm
