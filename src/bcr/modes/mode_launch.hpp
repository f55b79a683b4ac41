/// Which lines of modes mode_cuda.hpp takes, and its launches. Included by mode_lines.hpp only.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/native_forms.hpp"
#include "bcr/modes/mode_cuda.hpp"
#include "bcr/shifted/launch.hpp"

namespace weft::poisson::cuda {

inline constexpr int thread_rows = 32;

/// Rows that a block of that many threads holds.
template <class Scalar>
constexpr int block_rows(int threads)
{
  return threads / tile_modes<Scalar> * thread_rows;
}

template <class Scalar, ModePass pass, int T, int C, int blocks>
void launch_modes_on(const Kokkos::Cuda &space, const ModeArguments<Scalar> &a)
{
  const auto kernel = mode_lines<Scalar, thread_rows, T, C, blocks, pass>;
  cudaLaunchConfig_t config{};
  config.gridDim =
      dim3(static_cast<unsigned>((a.modes + tile_modes<Scalar> - 1) / tile_modes<Scalar> * C), static_cast<unsigned>(a.columns));
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

/// True for lines of so many rows that they take.
template <class Scalar>
bool takes_modes(Index rows)
{
  return native_forms.modes && rows <= 8 * block_rows<Scalar>(512);
}

template <class Scalar, ModePass pass>
void launch_long_modes(const Kokkos::Cuda &space, const ModeArguments<Scalar> &a)
{
  constexpr int most = block_rows<Scalar>(512);
  if (a.rows <= block_rows<Scalar>(256))
    launch_modes_on<Scalar, pass, 256, 1, 2>(space, a);
  else if (a.rows <= most && a.modes <= most)
    launch_modes_on<Scalar, pass, 512, 1, 1>(space, a); // by clusters a solve of 4095² takes 6 % longer
  else if (a.rows <= most)
    launch_modes_on<Scalar, pass, 256, 2, 2>(space, a); // and half of one of 8191² 9 % less
  else if (a.rows <= 2 * most)
    launch_modes_on<Scalar, pass, 256, 4, 2>(space, a);
  else if (a.rows <= 4 * most)
    launch_modes_on<Scalar, pass, 512, 4, 1>(space, a);
  else
    launch_modes_on<Scalar, pass, 512, 8, 1>(space, a);
}

/// Solves lines in place, as `pass` says; false where it does not take them.
template <class Scalar>
bool launch_modes(const Kokkos::Cuda &space, const ModeArguments<Scalar> &a, ModePass pass)
{
  if (!takes_modes<Scalar>(a.rows)) return false;
  if (pass == ModePass::sums)
    launch_long_modes<Scalar, ModePass::sums>(space, a);
  else if (pass == ModePass::with_border)
    launch_long_modes<Scalar, ModePass::with_border>(space, a);
  else if (a.rows <= block_rows<Scalar>(32))
    launch_modes_on<Scalar, ModePass::alone, 32, 1, 16>(space, a);
  else if (a.rows <= block_rows<Scalar>(128))
    launch_modes_on<Scalar, ModePass::alone, 128, 1, 4>(space, a);
  else
    launch_long_modes<Scalar, ModePass::alone>(space, a);
  return true;
}

} // namespace weft::poisson::cuda
