/// The size of a scalar without a root.
#pragma once
#include "base/real_of.hpp"

namespace weft {

/// |x|; of complex numbers |re| + |im|: never less than the modulus, and at most sqrt(2) times it.
template <class Scalar>
WEFT_INLINE RealOf<Scalar> taxicab(const Scalar &x)
{
  if constexpr (is_complex<Scalar>)
    return std::fabs(x.real()) + std::fabs(x.imag());
  else
    return std::fabs(x);
}

} // namespace weft
