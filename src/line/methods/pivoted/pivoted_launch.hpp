/// Which lines the native kernel of pivoted_cuda.hpp takes, and its launches.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/native_forms.hpp"
#include "line/methods/pivoted/pivoted_cuda.hpp"
#include "line/methods/wide/wide_launch.hpp"

namespace weft::cuda {

/// Rows of a thread and threads of a block: as many rows as fit the registers beside the elimination, since joins cost more than rows; fewer
/// for lines that leave most lanes of a warp idle otherwise.
struct PivotedShape {
  int rows, threads;
  constexpr Index holds() const { return Index(rows) * threads; }
};
inline constexpr PivotedShape pivoted_shapes[] = {{9, 32}, {17, 32}, {17, 64}, {17, 128}, {17, 192}, {17, 256}};

/// Lines that the kernel is for: rows that follow each other, more of them than the portable kernel solves as fast, as many as a block holds.
inline bool pivoted_lines(const LineProblem &problem, const MethodParameters &parameters)
{
  const LineLayout &layout = problem.layout;
  return native_forms.lines && problem.coefficients == Coefficients::general && !problem.periodic && layout.stride == 1 &&
         layout.rows_are_closest() && parameters.slice == 0 && layout.length > 128 && layout.length <= std::end(pivoted_shapes)[-1].holds();
}

template <class Scalar, int R, int T, bool checks>
NativeLaunch<Scalar> pivoted_launch()
{
  // Blocks that a multiprocessor must have registers for.
  constexpr int at_least = (sizeof(Scalar) == 8 ? (R > 9 ? 256 : 384) : 512) / T;
  static const NativeLaunch<Scalar> launch =
      launch_of<Scalar>(native_pivoted<Scalar, R, T, at_least, checks>, T, sizeof(PivotedTile<Scalar, R, T>));
  return launch;
}

template <class Scalar, bool checks, std::size_t shape = 0>
NativeLaunch<Scalar> pivoted_launch_for(Index length)
{
  constexpr PivotedShape s = pivoted_shapes[shape];
  if constexpr (shape + 1 < std::size(pivoted_shapes)) {
    if (length > s.holds()) return pivoted_launch_for<Scalar, checks, shape + 1>(length);
  }
  return pivoted_launch<Scalar, s.rows, s.threads, checks>();
}

/// All arrays begin at multiples of 16 bytes, as bulk copies want them.
template <class Scalar>
bool pivoted_takes(const PivotedArguments<Scalar> &a)
{
  const auto aligned = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  return aligned(a.lower) && aligned(a.diagonal) && aligned(a.upper) && aligned(a.rhs) && aligned(a.solution);
}

template <class Scalar>
void launch_pivoted(const Kokkos::Cuda &space, const PivotedArguments<Scalar> &a, bool checks)
{
  const NativeLaunch<Scalar> launch =
      checks ? pivoted_launch_for<Scalar, true>(a.layout.length) : pivoted_launch_for<Scalar, false>(a.layout.length);
  PivotedArguments<Scalar> copy = a;
  void *arguments[]             = {&copy};
  const auto blocks             = static_cast<unsigned>(std::min<Index>(launch.resident, a.layout.count()));
  check_launch(cudaLaunchKernel(launch.kernel, dim3(blocks), dim3(static_cast<unsigned>(launch.threads)), arguments,
                                static_cast<std::size_t>(launch.shared_bytes), space.cuda_stream()),
               "launch");
}

} // namespace weft::cuda
