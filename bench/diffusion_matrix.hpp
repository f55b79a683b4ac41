/// A diffusion problem's matrix where kernels of the default backend read it, and how long something takes there: what programs share that time kernels
/// which take CSR.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "line/line_solver.hpp"
#include "stopwatch.hpp"

namespace weft::bench {

using Space = Kokkos::DefaultExecutionSpace;
template <class T>
using Array = Kokkos::View<T *, Space>;

inline constexpr auto memory_of = [] {
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible ? Memory::host : Memory::device;
};

/// The matrix of -div(K grad u) on n[0] x n[1] x n[2] inner nodes, K = diag(k).
struct Matrix {
  Index rows;
  Array<std::int32_t> starts, columns;
  Array<double> values;

  Matrix(const Index n[3], const double k[3]) : rows(n[0] * n[1] * n[2])
  {
    const Index strides[3] = {1, n[0], n[0] * n[1]};
    std::vector<std::int32_t> s{0}, c;
    std::vector<double> v;
    for (Index i = 0; i < rows; i++) {
      const Index at[3] = {i % n[0], i / n[0] % n[1], i / strides[2]};
      double diagonal   = 0;
      const auto put    = [&](Index column, double value) {
        c.push_back(static_cast<std::int32_t>(column));
        v.push_back(value);
      };
      for (int d = 2; d >= 0; d--) {
        if (n[d] > 1) diagonal += 2 * k[d];
        if (at[d] > 0) put(i - strides[d], -k[d]);
      }
      put(i, diagonal);
      for (int d = 0; d < 3; d++) {
        if (at[d] + 1 < n[d]) put(i + strides[d], -k[d]);
      }
      s.push_back(static_cast<std::int32_t>(c.size()));
    }
    const auto bring = [](auto &to, const auto &from) {
      using T = typename std::decay_t<decltype(from)>::value_type;
      to      = Array<T>("matrix", from.size());
      Kokkos::deep_copy(to, Kokkos::View<const T *, Kokkos::HostSpace>(from.data(), from.size()));
    };
    bring(starts, s);
    bring(columns, c);
    bring(values, v);
  }
  CsrMatrix<double, std::int32_t> csr() const { return {starts.data(), columns.data(), values.data()}; }
};

/// Microseconds, the median. `before` is not counted.
inline double time_of(
    const Space &space, int repeats, const std::function<void()> &work, const std::function<void()> &before = [] {})
{
  Stopwatch<Space> watch(space);
  std::vector<double> times;
  work();
  for (int r = 0; r < repeats; r++) {
    before();
    watch.start();
    work();
    times.push_back(1e6 * watch.stop());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace weft::bench
