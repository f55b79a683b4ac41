/// Which lines of modes mode_cuda.hpp takes, and its launches. Included by mode_lines.hpp only.
#pragma once
#include <Kokkos_Core.hpp>

#include "poisson/cuda/launch.hpp"
#include "poisson/cuda/mode_cuda.hpp"

namespace weft::poisson::cuda {

inline constexpr int thread_rows = 32;

/// Rows that a block of that many threads holds.
template <class Scalar>
constexpr int block_rows(int threads)
{
  return threads / tile_modes<Scalar> * thread_rows;
}

template <class Scalar, int T, int C, int blocks>
void launch_modes_on(const Kokkos::Cuda &space, const ModeArguments<Scalar> &a)
{
  const auto kernel = mode_lines<Scalar, thread_rows, T, C, blocks>;
  cudaLaunchConfig_t config{};
  config.gridDim  = static_cast<unsigned>((a.modes + tile_modes<Scalar> - 1) / tile_modes<Scalar> * C);
  config.blockDim = T;
  config.stream   = space.cuda_stream();
  cudaLaunchAttribute cluster{};
  cluster.id               = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = C;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs                                        = &cluster;
  config.numAttrs                                     = C > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, a), "lines of modes");
}

/// Solves lines of `modes` modes in place; false where they are too long.
template <class Scalar>
bool launch_modes(const Kokkos::Cuda &space, const ModeTables<Scalar> &tables, Index modes, Index rows, Index stride, Scalar *values)
{
  constexpr int most = block_rows<Scalar>(512);
  if (rows > 8 * most) return false;
  const ModeArguments<Scalar> a{tables, values, stride, modes, static_cast<int>(rows)};
  if (rows <= block_rows<Scalar>(32))
    launch_modes_on<Scalar, 32, 1, 16>(space, a);
  else if (rows <= block_rows<Scalar>(128))
    launch_modes_on<Scalar, 128, 1, 4>(space, a);
  else if (rows <= block_rows<Scalar>(256))
    launch_modes_on<Scalar, 256, 1, 2>(space, a);
  else if (rows <= most)
    launch_modes_on<Scalar, 512, 1, 1>(space, a);
  else if (rows <= 2 * most)
    launch_modes_on<Scalar, 256, 4, 2>(space, a);
  else if (rows <= 4 * most)
    launch_modes_on<Scalar, 512, 4, 1>(space, a);
  else
    launch_modes_on<Scalar, 512, 8, 1>(space, a);
  return true;
}

} // namespace weft::poisson::cuda
