/// Which lines the native kernel of wide_cuda.hpp takes, and its launches.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>

#include "tridiagonal/cuda/wide_cuda.hpp"

namespace weft::cuda {

inline void check_launch(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) throw std::runtime_error(std::string("wide: ") + what + ": " + cudaGetErrorString(error));
}

/// Rows that a thread takes: of 5 to 17, 9 leaves most blocks on a multiprocessor without spilling (docs/results/kernels.md).
inline constexpr int native_rows = 9;
/// A block of this many threads holds a line of up to nine times as many rows. What is longer is cut into tiles of 256 threads.
inline constexpr int native_threads[]    = {32, 64, 128, 256, 480};
inline constexpr int native_tile_threads = 256;

/// Threads of a block for lines of this length.
inline int native_threads_for(Index length)
{
  for (int threads : native_threads) {
    if (length <= Index(native_rows) * threads) return threads;
  }
  return native_tile_threads;
}

/// Lines that the native kernel is for: rows that follow each other, more of them than the portable kernel solves as fast.
inline bool native_lines(const LineLayout &layout, const MethodParameters &parameters)
{
  return layout.stride == 1 && layout.rows_are_closest() && layout.length > 128 && parameters.slice == 0 && parameters.partitions == 0;
}

/// Work space of lines that several blocks share; empty for others.
template <class Scalar>
struct NativePlan {
  Kokkos::View<Message<Scalar> *, Kokkos::CudaSpace> messages;
  bool many = false;
};

template <class Scalar>
struct NativeLaunch {
  const void *kernel;
  int threads, shared_bytes, resident; ///< blocks that fit the device at once
};

template <class Scalar, int T, WidePart part, bool many, bool checks>
NativeLaunch<Scalar> native_launch()
{
  static const NativeLaunch<Scalar> launch = [] {
    constexpr int at_least = T >= 480 ? 1 : 512 / T;
    const auto kernel      = native_wide<Scalar, native_rows, T, at_least, part, many, checks>;
    NativeLaunch<Scalar> l{reinterpret_cast<const void *>(kernel), T, int(sizeof(NativeTile<Scalar, native_rows, T, many>)), 0};
    check_launch(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, l.shared_bytes), "shared memory");
    int device = 0, processors = 0, blocks = 0;
    check_launch(cudaGetDevice(&device), "device");
    check_launch(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
    check_launch(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l.kernel, T, static_cast<std::size_t>(l.shared_bytes)),
                 "occupancy");
    l.resident = blocks * processors;
    return l;
  }();
  return launch;
}

template <class Scalar, WidePart part, bool checks>
NativeLaunch<Scalar> native_launch_for(int threads)
{
  if constexpr (part == WidePart::whole) {
    switch (threads) {
    case 32:
      return native_launch<Scalar, 32, part, false, checks>();
    case 64:
      return native_launch<Scalar, 64, part, false, checks>();
    case 128:
      return native_launch<Scalar, 128, part, false, checks>();
    case 480:
      return native_launch<Scalar, 480, part, false, checks>();
    default:
      break;
    }
  }
  return native_launch<Scalar, native_tile_threads, part, false, checks>();
}

template <class Scalar>
NativePlan<Scalar> native_plan(const WideShape &shape)
{
  NativePlan<Scalar> plan;
  const int resident = native_launch<Scalar, native_tile_threads, WidePart::whole, true, true>().resident;
  plan.many          = shape.tiles > 1 && shape.tiles <= std::min<Index>(most_blocks, resident);
  if (plan.many) plan.messages = decltype(plan.messages)("weft wide messages", static_cast<std::size_t>(2 * 6) * resident);
  return plan;
}

/// True if the kernel can work on these arguments: general coefficients as they are stored, all arrays at multiples of 16 bytes.
template <class Scalar>
bool native_takes(const WideArguments<Kokkos::Cuda, Scalar> &a)
{
  return a.shape.rows == native_rows && a.in_pieces && a.solves && a.matrix.problem.coefficients == Coefficients::general &&
         !a.matrix.transposed && !a.matrix.problem.periodic;
}

template <class Scalar>
void launch_native(const Kokkos::Cuda &space, const WideArguments<Kokkos::Cuda, Scalar> &a, const NativePlan<Scalar> &plan)
{
  const bool many = plan.many && a.part == WidePart::whole;
  NativeArguments<Scalar> n;
  n.lower           = a.matrix.lower.data();
  n.diagonal        = a.matrix.diagonal.data();
  n.upper           = a.matrix.upper.data();
  n.rhs             = a.rhs.data();
  n.solution        = a.solution.data();
  n.layout          = a.shape.layout;
  n.update          = a.update;
  n.colour          = a.colour;
  n.in_pieces       = !a.update.add;
  n.flag            = a.flag;
  n.step            = a.step;
  n.rows_of_row     = a.rows_of_row;
  n.original_length = a.original_length;
  n.tiles           = many ? 1 : a.shape.tiles;
  n.tile_rows       = a.tiles;
  n.last            = a.last.data();
  n.exchange        = {plan.messages.data(), many ? static_cast<int>(a.shape.tiles) : 1};

  const NativeLaunch<Scalar> launch = [&] {
    if (many)
      return a.checks ? native_launch<Scalar, native_tile_threads, WidePart::whole, true, true>()
                      : native_launch<Scalar, native_tile_threads, WidePart::whole, true, false>();
    if (a.part == WidePart::reduce)
      return a.checks ? native_launch_for<Scalar, WidePart::reduce, true>(a.shape.threads)
                      : native_launch_for<Scalar, WidePart::reduce, false>(a.shape.threads);
    if (a.part == WidePart::finish) return native_launch_for<Scalar, WidePart::finish, false>(a.shape.threads);
    return a.checks ? native_launch_for<Scalar, WidePart::whole, true>(a.shape.threads)
                    : native_launch_for<Scalar, WidePart::whole, false>(a.shape.threads);
  }();
  const cudaStream_t stream = space.cuda_stream();
  const Index lines = n.layout.count(), blocks = n.exchange.blocks;
  const Index groups = std::min<Index>(launch.resident / blocks, lines * n.tiles);
  void *arguments[]  = {&n};
  const dim3 grid(static_cast<unsigned>(groups * blocks)), block(static_cast<unsigned>(launch.threads));
  if (many) { // blocks wait for each other: all must be there at once
    check_launch(cudaMemsetAsync(plan.messages.data(), 0, plan.messages.span() * sizeof(Message<Scalar>), stream), "messages");
    check_launch(cudaLaunchCooperativeKernel(launch.kernel, grid, block, arguments, static_cast<std::size_t>(launch.shared_bytes), stream),
                 "launch");
  } else {
    check_launch(cudaLaunchKernel(launch.kernel, grid, block, arguments, static_cast<std::size_t>(launch.shared_bytes), stream), "launch");
  }
}

} // namespace weft::cuda
