/// Where the time of a call goes, kernel by kernel.
#pragma once
#include <Kokkos_Core.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace weft::bench {

/// Seconds in kernels by their names, by waiting before and after each: for a look, not for the table.
class Profile {
public:
  static void start()
  {
    using namespace Kokkos::Tools::Experimental;
    const auto begin = [](const char *name, const std::uint32_t, std::uint64_t *id) {
      if (!on_) return;
      *id   = 1;
      name_ = name;
      wait();
      at_ = std::chrono::steady_clock::now();
    };
    const auto end = [](const std::uint64_t) {
      if (!on_) return;
      wait();
      auto &[seconds, calls] = times_[name_];
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - at_).count();
      calls++;
    };
    set_begin_parallel_for_callback(begin);
    set_begin_parallel_reduce_callback(begin);
    set_begin_parallel_scan_callback(begin);
    set_end_parallel_for_callback(end);
    set_end_parallel_reduce_callback(end);
    set_end_parallel_scan_callback(end);
  }
  /// Of body, printed.
  static void of(const char *what, const std::function<void()> &body)
  {
    times_.clear();
    on_ = true;
    wait();
    const auto at = std::chrono::steady_clock::now();
    body();
    wait();
    const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - at).count();
    on_                = false;
    double sum         = 0;
    for (const auto &[name, time] : times_) {
      std::printf("  %-20s %-34s %3d x %8.1f us\n", what, name.c_str(), time.second, 1e6 * time.first / time.second);
      sum += time.first;
    }
    std::printf("  %-20s kernels %.1f us, whole with waits %.1f us\n", what, 1e6 * sum, 1e6 * whole);
  }

private:
  static void wait() { Kokkos::fence("weft bench profile"); }
  inline static bool on_ = false;
  inline static std::string name_;
  inline static std::chrono::steady_clock::time_point at_;
  inline static std::map<std::string, std::pair<double, int>> times_;
};

} // namespace weft::bench
