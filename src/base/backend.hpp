/// The Kokkos side of execution.hpp: from a memory to an execution space. Included by kernel files only.
#pragma once
#include <Kokkos_Core.hpp>
#include <type_traits>

#include "base/execution.hpp"

namespace weft {

using HostBackend   = Kokkos::DefaultHostExecutionSpace;
using DeviceBackend = Kokkos::DefaultExecutionSpace; ///< the same as HostBackend in a build without a device

inline constexpr bool build_has_device = !std::is_same_v<HostBackend, DeviceBackend>;

/// Threads of a device that run in step, a warp or a wavefront: 32 of CUDA and RDNA, 64 of CDNA. 1 on a host. Where one of them waits in a loop for
/// another one of the same warp, only CUDA lets that one go on.
template <class Space>
inline constexpr int warp_threads = 1;
#if defined(KOKKOS_ENABLE_CUDA)
template <>
inline constexpr int warp_threads<Kokkos::Cuda> = Kokkos::Impl::CudaTraits::WarpSize;
#endif
#if defined(KOKKOS_ENABLE_HIP)
template <>
inline constexpr int warp_threads<Kokkos::HIP> = Kokkos::Impl::HIPTraits::WarpSize;
#endif

struct Execution::Instance {
  HostBackend host;
  DeviceBackend device;
};

/// The execution space of `execution`, whose type the caller knows.
template <class Space>
const Space &space_of(const Execution &execution)
{
  if constexpr (std::is_same_v<Space, HostBackend>)
    return execution.instance().host;
  else
    return execution.instance().device;
}

/// Calls body(space) with the execution space of `execution`, whose type differs between host and device.
template <class Body>
decltype(auto) on_backend(const Execution &execution, Body &&body)
{
  if constexpr (build_has_device) {
    if (execution.memory() == Memory::device) return body(execution.instance().device);
  }
  return body(execution.instance().host);
}

} // namespace weft
