/// Which lines the native kernel of toeplitz_cuda.hpp takes, and its launches.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/cuda/launch.hpp"
#include "base/native_forms.hpp"
#include "line/methods/toeplitz/toeplitz_cuda.hpp"

namespace weft::cuda {

/// Rows of a thread, threads of a block that holds the line, blocks that a multiprocessor must have registers for
/// (docs/results/kernels.md).
struct ToeplitzShape {
  int rows, threads, at_least;
  constexpr Index holds() const { return Index(rows) * threads; }
};
inline constexpr ToeplitzShape toeplitz_shapes[] = {{9, 32, 24}, {11, 64, 12}, {11, 96, 8}, {11, 192, 4}, {11, 384, 2}};
inline constexpr Index toeplitz_most             = std::end(toeplitz_shapes)[-1].holds();

/// Rows of a thread for lines of this length.
inline int toeplitz_rows(Index length)
{
  for (const ToeplitzShape &s : toeplitz_shapes) {
    if (length <= s.holds()) return s.rows;
  }
  return std::end(toeplitz_shapes)[-1].rows;
}

/// Rows that follow each other, more of them than the portable kernel solves as fast.
inline bool toeplitz_lines(const LineLayout &layout, const MethodParameters &parameters)
{
  return native_forms.lines && layout.stride == 1 && layout.rows_are_closest() && parameters.slice == 0 && parameters.partitions == 0 &&
         layout.length > 128;
}

template <class Scalar, int R, bool ring, std::size_t shape = 0>
NativeLaunch<Scalar> toeplitz_launch_for(Index length)
{
  constexpr ToeplitzShape s = toeplitz_shapes[shape];
  if constexpr (shape + 1 < std::size(toeplitz_shapes)) {
    if (s.rows != R || length > s.holds()) return toeplitz_launch_for<Scalar, R, ring, shape + 1>(length);
  }
  if constexpr (s.rows == R) {
    static const NativeLaunch<Scalar> launch =
        launch_of<Scalar>(native_toeplitz<Scalar, R, s.threads, s.at_least, ring>, s.threads, sizeof(ToeplitzTile<Scalar, R, s.threads>));
    return launch;
  }
  throw std::logic_error("toeplitz: no native kernel for these lines");
}

/// True if it could: bulk copies want both arrays to begin at multiples of 16 bytes.
template <class Scalar, int R>
bool launch_toeplitz(const Kokkos::Cuda &space, ToeplitzTeam<Kokkos::Cuda, Scalar, R> team)
{
  const auto aligned = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  if (!aligned(team.arrays.rhs.data()) || !aligned(team.arrays.solution.data())) return false;
  const Index length = team.line.layout.length;
  const NativeLaunch<Scalar> launch =
      team.line.ring ? toeplitz_launch_for<Scalar, R, true>(length) : toeplitz_launch_for<Scalar, R, false>(length);
  const auto blocks = static_cast<unsigned>(std::min<Index>(launch.resident, team.line.layout.count() * team.windows));
  void *arguments[] = {&team};
  check_launch(cudaLaunchKernel(launch.kernel, dim3(blocks), dim3(static_cast<unsigned>(launch.threads)), arguments,
                                static_cast<std::size_t>(launch.shared_bytes), space.cuda_stream()),
               "launch");
  return true;
}

} // namespace weft::cuda
