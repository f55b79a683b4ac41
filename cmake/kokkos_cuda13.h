// CUDA 13 changed three signatures that Kokkos before 4.7 calls with the arguments of CUDA 12. C++ lets both live side by side:
// these overloads take the old arguments and call the new functions. CMake force-includes this file where such a Kokkos meets CUDA 13.
#pragma once
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000

namespace weft::cuda13 {
/// The memory location that CUDA 12 named by a device number, or by cudaCpuDeviceId for the host.
inline cudaMemLocation location(int device)
{
  const bool host = device == cudaCpuDeviceId;
  cudaMemLocation where{};
  where.type = host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id   = host ? 0 : device;
  return where;
}
} // namespace weft::cuda13

inline cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, int device)
{
  return ::cudaMemAdvise(memory, bytes, advice, weft::cuda13::location(device));
}

inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t stream)
{
  return ::cudaMemPrefetchAsync(memory, bytes, weft::cuda13::location(device), 0u, stream);
}

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
{
  return ::cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

#endif
#endif
