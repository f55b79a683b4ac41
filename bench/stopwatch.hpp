/// Times what runs on an execution space, and tells how large its cache is.
#pragma once
#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <string>

#include "base/vendor.hpp"
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

#if defined(WEFT_HAVE_VENDOR)
/// Events, which leave the time out that the host takes to notice the end.
template <>
class Stopwatch<vendor::Space> {
public:
  explicit Stopwatch(const vendor::Space &space) : space_(space)
  {
    vendor::check(vendor::make_event(start_, true), "no event");
    vendor::check(vendor::make_event(stop_, true), "no event");
  }
  Stopwatch(const Stopwatch &)            = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;
  ~Stopwatch()
  {
    static_cast<void>(vendor::destroy(start_));
    static_cast<void>(vendor::destroy(stop_));
  }
  void start() { vendor::check(vendor::record(start_, vendor::stream_of(space_)), "an event could not be recorded"); }
  double stop()
  {
    vendor::check(vendor::record(stop_, vendor::stream_of(space_)), "an event could not be recorded");
    vendor::check(vendor::wait(stop_), "a kernel failed before an event");
    float milliseconds = 0;
    vendor::check(vendor::milliseconds(milliseconds, start_, stop_), "events tell no time");
    return 1e-3 * static_cast<double>(milliseconds);
  }

private:
  vendor::Space space_;
  vendor::Event start_, stop_;
};

template <>
inline Index cache_bytes<vendor::Space>()
{
  return vendor::properties(vendor::Space()).l2CacheSize;
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
