/// Times what runs on an execution space, and tells how large its cache is.
#pragma once
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "line/line_layout.hpp"

namespace weft::bench {

template <class Space>
class Stopwatch {
public:
  explicit Stopwatch(const Space &space) : space_(space) {}
  void start()
  {
    space_.fence("weft bench start");
    start_ = Clock::now();
  }
  /// Waits, and returns the seconds since start.
  double stop()
  {
    space_.fence("weft bench stop");
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Space space_;
  Clock::time_point start_;
};

/// Bytes of all last-level caches together.
template <class Space>
Index cache_bytes()
{
  Index bytes           = Index(32) << 20; // where the system does not tell
  const auto &processor = benchmark::CPUInfo::Get();
  for (const auto &cache : processor.caches)
    bytes = std::max(bytes, Index(cache.size) * std::max(1, processor.num_cpus / std::max(1, cache.num_sharing)));
  return bytes;
}

#if defined(KOKKOS_ENABLE_CUDA)
inline void check_cuda(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

/// Events, which leave the time out that the host takes to notice the end.
template <>
class Stopwatch<Kokkos::Cuda> {
public:
  explicit Stopwatch(const Kokkos::Cuda &space) : space_(space)
  {
    check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  Stopwatch(const Stopwatch &)            = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  ~Stopwatch()
  {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  void start() { check_cuda(cudaEventRecord(start_, space_.cuda_stream()), "cudaEventRecord"); }
  double stop()
  {
    check_cuda(cudaEventRecord(stop_, space_.cuda_stream()), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

private:
  Kokkos::Cuda space_;
  cudaEvent_t start_, stop_;
};

template <>
inline Index cache_bytes<Kokkos::Cuda>()
{
  int bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, Kokkos::Cuda().cuda_device()), "cudaDeviceGetAttribute");
  return bytes;
}
#endif

/// The least seconds of `body` over the runs that `more` asks for, told how many there were, the least of them and their sum; `before` each run, and
/// not timed, what it needs.
template <class Space>
double least_seconds(const Space &space, const std::function<bool(int runs, double least, double all)> &more,
                     const std::function<void()> &before, const std::function<void()> &body)
{
  Stopwatch<Space> watch(space);
  double least = std::numeric_limits<double>::infinity(), all = 0;
  for (int runs = 0; more(runs, least, all); runs++) {
    before();
    watch.start();
    body();
    const double seconds = watch.stop();
    least                = std::min(least, seconds);
    all += seconds;
  }
  return least;
}

} // namespace weft::bench
