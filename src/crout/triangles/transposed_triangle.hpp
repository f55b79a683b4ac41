/// The transpose of a strict triangle: its pattern once, its values whenever they change.
#pragma once
#include <Kokkos_Sort.hpp>
#include <limits>
#include <stdexcept>

#include "crout/triangles/triangle.hpp"

namespace weft::triangular {

template <class Space>
struct TransposedPattern {
  Owned<std::int64_t, Space> starts;
  Owned<std::int32_t, Space> columns;
  Owned<std::int64_t, Space> from; ///< which entry of the triangle an entry is
};

/// Entry k of the triangle in column j has key j * entries + k: sorted they are the transpose, rows and columns ascending.
template <class Space>
struct TransposeKeys {
  const std::int64_t *starts;
  const std::int32_t *columns;
  Index rows, entries;
  Owned<std::int64_t, Space> keys;
  TransposedPattern<Space> to;

  /// The row that entry k stands in.
  KOKKOS_INLINE_FUNCTION Index row_of(Index k) const
  {
    Index low = 0, high = rows - 1;
    while (low < high) {
      const Index middle = (low + high + 1) / 2;
      if (starts[middle] <= k)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  struct Make {};
  struct Read {};
  KOKKOS_INLINE_FUNCTION void operator()(Make, const Index k) const { keys(k) = columns[k] * entries + k; }
  KOKKOS_INLINE_FUNCTION void operator()(Read, const Index p) const
  {
    const Index row = keys(p) / entries, before = p > 0 ? keys(p - 1) / entries : -1;
    const Index entry = keys(p) % entries;
    to.from(p)        = entry;
    to.columns(p)     = static_cast<std::int32_t>(row_of(entry));
    for (Index r = before + 1; r <= row; r++) to.starts(r) = p;
    if (p + 1 == entries) {
      for (Index r = row + 1; r <= rows; r++) to.starts(r) = entries;
    }
  }
};

/// The same by counting, one thread.
template <class Space, class Scalar>
void count_transpose(const Triangle<Scalar> &t, const TransposedPattern<Space> &to)
{
  for (Index k = 0; k < t.entries; k++) to.starts(t.columns[k])++; // entries of each column, then their ends, then their starts
  for (Index r = 1; r <= t.rows; r++) to.starts(r) += to.starts(r - 1);
  for (Index i = t.rows - 1; i >= 0; i--) {
    for (Index k = t.starts[i + 1] - 1; k >= t.starts[i]; k--) {
      const Index p = --to.starts(t.columns[k]);
      to.columns(p) = static_cast<std::int32_t>(i);
      to.from(p)    = k;
    }
  }
}

/// by_sorting: what a device does. Waits.
template <class Space, class Scalar>
TransposedPattern<Space> transpose_pattern(const Space &space, const Triangle<Scalar> &t, bool by_sorting = !on_host<Space>)
{
  TransposedPattern<Space> to;
  to.starts  = Owned<std::int64_t, Space>("weft transposed starts", static_cast<std::size_t>(t.rows + 1));
  to.columns = uninitialized<std::int32_t, Space>("weft transposed columns", t.entries);
  to.from    = uninitialized<std::int64_t, Space>("weft transposed entries", t.entries);
  if (t.entries == 0) return to;
  if constexpr (on_host<Space>) {
    if (!by_sorting) {
      count_transpose(t, to);
      return to;
    }
  }
  if (t.entries > std::numeric_limits<std::int64_t>::max() / t.rows)
    throw std::length_error("a triangle of so many entries cannot be transposed");
  using Keys = TransposeKeys<Space>;
  using Make = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, typename Keys::Make>;
  using Read = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>, typename Keys::Read>;
  const Keys keys{t.starts, t.columns, t.rows, t.entries, uninitialized<std::int64_t, Space>("weft transpose keys", t.entries), to};
  Kokkos::parallel_for("weft transpose keys", Make(space, 0, t.entries), keys);
  Kokkos::sort(space, keys.keys);
  Kokkos::parallel_for("weft transpose", Read(space, 0, t.entries), keys);
  space.fence("weft: transpose");
  return to;
}

template <class Scalar>
struct GatherValues {
  const std::int64_t *from;
  const Scalar *values;
  Scalar *to;
  KOKKOS_INLINE_FUNCTION void operator()(const Index p) const { to[p] = values[from[p]]; }
};

template <class Space, class Scalar>
void transpose_values(const Space &space, const TransposedPattern<Space> &pattern, const Scalar *values, const Owned<Scalar, Space> &to)
{
  Kokkos::parallel_for("weft transpose values",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(to.size())),
                       GatherValues<Scalar>{pattern.from.data(), values, to.data()});
}

} // namespace weft::triangular
