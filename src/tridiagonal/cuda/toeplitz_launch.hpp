/// Which lines the native kernel of toeplitz_cuda.hpp takes, and its launches.
#pragma once
#include <algorithm>
#include <cstdint>

#include "tridiagonal/cuda/launch.hpp"
#include "tridiagonal/cuda/toeplitz_cuda.hpp"

namespace weft::cuda {

/// Rows of a thread, and threads of a block: one that holds the line.
inline constexpr int toeplitz_rows      = 9;
inline constexpr int toeplitz_threads[] = {32, 64, 128, 256, 480};
inline constexpr Index toeplitz_most    = Index(toeplitz_rows) * std::end(toeplitz_threads)[-1];

/// Rows that follow each other, more of them than the portable kernel solves as fast.
inline bool toeplitz_lines(const LineLayout &layout, const MethodParameters &parameters)
{
  return layout.stride == 1 && layout.rows_are_closest() && parameters.slice == 0 && parameters.partitions == 0 && layout.length > 128;
}

template <class Scalar, std::size_t size = 0>
NativeLaunch<Scalar> toeplitz_launch_for(Index length)
{
  constexpr int R = toeplitz_rows, T = toeplitz_threads[size];
  if constexpr (size + 1 < std::size(toeplitz_threads)) {
    if (length > Index(R) * T) return toeplitz_launch_for<Scalar, size + 1>(length);
  }
  constexpr int at_least = T >= 480 ? 2 : 1024 / T;
  static const NativeLaunch<Scalar> launch =
      launch_of<Scalar>(native_toeplitz<Scalar, R, T, at_least>, T, sizeof(ToeplitzTile<Scalar, R, T>));
  return launch;
}

/// True if it could: bulk copies want both arrays to begin at multiples of 16 bytes.
template <class Scalar>
bool launch_toeplitz(const Kokkos::Cuda &space, ToeplitzTeam<Kokkos::Cuda, Scalar, toeplitz_rows> team)
{
  const auto aligned = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  if (!aligned(team.arrays.rhs.data()) || !aligned(team.arrays.solution.data())) return false;
  const NativeLaunch<Scalar> launch = toeplitz_launch_for<Scalar>(team.line.layout.length);
  const auto blocks                 = static_cast<unsigned>(std::min<Index>(launch.resident, team.line.layout.count() * team.windows));
  void *arguments[]                 = {&team};
  check_launch(cudaLaunchKernel(launch.kernel, dim3(blocks), dim3(static_cast<unsigned>(launch.threads)), arguments,
                                static_cast<std::size_t>(launch.shared_bytes), space.cuda_stream()),
               "launch");
  return true;
}

} // namespace weft::cuda
