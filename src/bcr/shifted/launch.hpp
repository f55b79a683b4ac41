/// Launches of the native kernels of this directory.
#pragma once
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace weft::poisson::cuda {

inline void check(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) throw std::runtime_error(std::string("poisson: ") + what + ": " + cudaGetErrorString(error));
}

/// Bytes of shared memory that a block may have.
inline int shared_limit()
{
  static const int bytes = [] {
    int device = 0, limit = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "shared memory");
    return limit;
  }();
  return bytes;
}

template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes)
{
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), "shared memory");
}

} // namespace weft::poisson::cuda
