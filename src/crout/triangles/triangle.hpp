/// What all triangular solves share: a strict triangle by rows, the vectors at both ends of a solve, and the loop over rows.
///
/// Both halves of a solve are written as x = g - scale (N x), row by row
///
///     x_i = g_i - scale_i sum_k value_k x_{column_k},   g_i = before_i r_i
///
/// with scale = before = 1 for a unit triangle and 1 / diagonal for another one. A null pointer stands for 1 everywhere.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"
#include "line/line_layout.hpp"

namespace weft::triangular {

template <class Space>
inline constexpr bool on_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

/// Rows of a team whose `threads` threads work on each row in groups of `lanes`. A host has no use for teams.
template <class Space>
int rows_of_team(int threads, int lanes)
{
  return on_host<Space> ? 1 : threads / lanes;
}

/// One team for a kernel, as large as its registers allow, up to 512 threads.
template <class Space, class Kernel>
Kokkos::TeamPolicy<Space> one_team(const Space &space, const Kernel &kernel)
{
  if (on_host<Space>) return Kokkos::TeamPolicy<Space>(space, 1, 1);
  const int most = Kokkos::TeamPolicy<Space>(space, 1, 1).team_size_max(kernel, Kokkos::ParallelForTag());
  return Kokkos::TeamPolicy<Space>(space, 1, most < 512 ? most : 512);
}

template <class T, class Space>
using Owned = Kokkos::View<T *, typename Space::memory_space>;

template <class T, class Space>
Owned<T, Space> uninitialized(const char *label, Index size)
{
  return Owned<T, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)), static_cast<std::size_t>(size));
}

/// The entries of a strict triangle, columns of a row ascending. `forward`: a row depends on rows before it, else on rows after it.
template <class Scalar>
struct Triangle {
  Index rows                  = 0;
  Index entries               = 0;
  const std::int64_t *starts  = nullptr;
  const std::int32_t *columns = nullptr;
  const Scalar *values        = nullptr;
  bool forward                = true;
};

/// Element i of vector c is data[step * order_i + ld * c] * scale_i.
struct Vectors {
  KernelScalar *data        = nullptr;
  Index step                = 1;
  Index ld                  = 0;
  const std::int32_t *order = nullptr;
  const double *scale       = nullptr;

  KOKKOS_INLINE_FUNCTION Index at(Index i, int c) const { return step * (order ? Index(order[i]) : i) + ld * c; }
  KOKKOS_INLINE_FUNCTION KernelScalar get(Index i, int c) const { return scale_of(i) * data[at(i, c)]; }
  KOKKOS_INLINE_FUNCTION void put(Index i, int c, KernelScalar value) const { data[at(i, c)] = scale_of(i) * value; }
  /// In the vectors' precision: where it is single, a product in double would hold up each load behind the one before, where there is no scale too.
  KOKKOS_INLINE_FUNCTION RealOf<KernelScalar> scale_of(Index i) const { return scale ? static_cast<RealOf<KernelScalar>>(scale[i]) : 1; }
  bool plain() const { return !order && !scale; }
};

/// What factors and vectors are multiplied in: the larger of their two precisions. A device converts to double precision and back slowly.
template <class Scalar>
using Working = std::conditional_t<(sizeof(Scalar) > sizeof(KernelScalar)), Scalar, KernelScalar>;

template <class Scalar, class Value>
KOKKOS_INLINE_FUNCTION auto times(const Scalar *factors, Index i, Value value)
{
  using Product = decltype(Working<Scalar>(factors[i]) * value);
  return factors ? Working<Scalar>(factors[i]) * value : Product(value);
}

/// Threads that share a row on a device: as many as keep most of them busy.
template <class Space>
int lanes_of(Index rows, Index entries)
{
  if (on_host<Space> || rows == 0) return 1;
  const Index mean = entries / rows;
  return mean < 8 ? 1 : mean < 16 ? 4 : mean < 32 ? 8 : mean < 64 ? 16 : 32;
}

/// Calls kernel.finish(i, sums) for each row i = kernel.row(p), begin <= p < end, with sums[c] = sum_k value_k kernel.neighbour(column_k,
/// c). Rows are in no order: neighbours must be finished before.
template <int width, class Kernel>
struct RowByThread {
  Kernel kernel;

  KOKKOS_INLINE_FUNCTION void operator()(const Index position) const
  {
    const auto &t = kernel.triangle;
    const Index i = kernel.row(position);
    KernelScalar sums[width];
    for (int c = 0; c < width; c++) sums[c] = 0;
    for (std::int64_t k = t.starts[i]; k < t.starts[i + 1]; k++) {
      const KernelScalar value(t.values[k]);
      for (int c = 0; c < width; c++) sums[c] += value * kernel.neighbour(t.columns[k], c);
    }
    kernel.finish(i, sums);
  }
};

/// The same by several threads a row. Vectors go one after the other: the entries of the row are in the cache by then.
template <int width, class Kernel>
struct RowByLanes {
  Kernel kernel;
  Index begin, end;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index position = begin + Index(team.league_rank()) * team.team_size() + team.team_rank();
    if (position < end) one(team, position);
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void one(const Member &team, const Index position) const
  {
    const auto &t = kernel.triangle;
    const Index i = kernel.row(position);
    KernelScalar sums[width];
    for (int c = 0; c < width; c++) {
      const auto first = t.starts[i];
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, static_cast<int>(t.starts[i + 1] - first)),
          [&](const int k, KernelScalar &sum) { sum += KernelScalar(t.values[first + k]) * kernel.neighbour(t.columns[first + k], c); },
          sums[c]);
    }
    Kokkos::single(Kokkos::PerThread(team), [&] { kernel.finish(i, sums); });
  }
};

/// Rows up to which the threads of a host are not worth waking.
inline constexpr Index few_rows = 500;

template <int width, class Space, class Kernel>
void for_rows(const char *label, const Space &space, const Kernel &kernel, int lanes, Index begin, Index end)
{
  if (begin >= end) return;
  if constexpr (on_host<Space>) {
    if (lanes == 1 && end - begin <= few_rows) {
      const RowByThread<width, Kernel> one{kernel};
      for (Index p = begin; p < end; p++) one(p);
      return;
    }
  }
  if (lanes == 1) {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, begin, end),
                         RowByThread<width, Kernel>{kernel});
    return;
  }
  const int team = rows_of_team<Space>(256, lanes);
  Kokkos::parallel_for(label, Kokkos::TeamPolicy<Space>(space, static_cast<int>((end - begin + team - 1) / team), team, lanes),
                       RowByLanes<width, Kernel>{kernel, begin, end});
}

/// What a half of a solve reads and where it leaves its result.
template <class Scalar>
struct Half {
  Triangle<Scalar> triangle = {};
  const Scalar *scale       = nullptr;
  const Scalar *before      = nullptr; ///< factors of what is read
  const Scalar *after       = nullptr; ///< factors of what is left to the other half
  Vectors in = {}, out = {};
};

} // namespace weft::triangular
