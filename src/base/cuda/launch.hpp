/// Launches of native kernels.
#pragma once
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace weft::cuda {

inline constexpr int most_shared_bytes = 227 * 1024; ///< of a block

inline void check_launch(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) throw std::runtime_error(std::string("line kernel: ") + what + ": " + cudaGetErrorString(error));
}

template <class Scalar>
struct NativeLaunch {
  const void *kernel;
  int threads, shared_bytes, resident; ///< blocks that fit the device at once
};

/// A launch of clusters; it refers to `attribute`.
template <class Scalar>
cudaLaunchConfig_t cluster_launch(const NativeLaunch<Scalar> &launch, dim3 grid, int cluster, cudaStream_t stream,
                                  cudaLaunchAttribute &attribute)
{
  attribute.id             = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim          = grid;
  config.blockDim         = dim3(static_cast<unsigned>(launch.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(launch.shared_bytes);
  config.stream           = stream;
  config.attrs            = &attribute;
  config.numAttrs         = 1;
  return config;
}

/// cluster: blocks that are launched together, of which `resident` clusters fit.
template <class Scalar, class... Arguments>
NativeLaunch<Scalar> launch_of(void (*kernel)(Arguments...), int threads, std::size_t shared_bytes, int cluster = 1)
{
  NativeLaunch<Scalar> l{reinterpret_cast<const void *>(kernel), threads, static_cast<int>(shared_bytes), 0};
  check_launch(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, l.shared_bytes), "shared memory");
  if (cluster > 1) {
    check_launch(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cluster");
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t launch = cluster_launch(l, dim3(static_cast<unsigned>(cluster)), cluster, nullptr, attribute);
    check_launch(cudaOccupancyMaxActiveClusters(&l.resident, l.kernel, &launch), "clusters");
    return l;
  }
  int device = 0, processors = 0, blocks = 0;
  check_launch(cudaGetDevice(&device), "device");
  check_launch(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  check_launch(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l.kernel, threads, shared_bytes), "occupancy");
  l.resident = blocks * processors;
  return l;
}

} // namespace weft::cuda
