/// Loads of what is not read again soon. Included by kernel files only.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/real_of.hpp"

namespace weft {

/// *from, past what a device's cache keeps for other reads: it is the first to go, so that it does not drive out vectors that are read again, or what was
/// written and must go to memory then. On a host as any load.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T streamed(const T *from)
{
  if constexpr (is_complex<T>) {
    const RealOf<T> *const parts = reinterpret_cast<const RealOf<T> *>(from);
    return T(streamed(parts), streamed(parts + 1));
  } else {
#if defined(KOKKOS_ENABLE_CUDA)
    KOKKOS_IF_ON_DEVICE((return __ldcs(from);))
#elif defined(KOKKOS_ENABLE_HIP)
    KOKKOS_IF_ON_DEVICE((return __builtin_nontemporal_load(from);))
#endif
    KOKKOS_IF_ON_HOST((return *from;))
  }
}

} // namespace weft
