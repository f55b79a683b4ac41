/// Levels of a triangle: the level of a row is one more than the highest of those it depends on; rows of a level are solved side by side.
#pragma once
#include <Kokkos_Sort.hpp>
#include <vector>

#include "crout/arrays.hpp"
#include "crout/elimination/in_order.hpp"

namespace weft::triangular {

/// Rows sorted by level, and within a level as they come; or block after block of rows, each sorted so.
template <class Space>
struct Levels {
  Owned<std::int32_t, Space> order; ///< rows
  Owned<Index, Space> starts;       ///< without blocks. levels + 1: positions in order
  std::vector<Index> host_starts;   ///< the same
  Index number = 0;

  Index count() const { return number; }
};

/// Rows of a block, whose solution fits into the scratch memory of a team. Small ones start more teams; large ones leave more rows under way at
/// a time, of all that a device has room for.
inline constexpr Index most_block_rows = 2048;
KOKKOS_INLINE_FUNCTION Index block_rows(Index rows)
{
  return rows <= (Index(1) << 19) ? most_block_rows / 2 : most_block_rows;
}

/// Publishes the level of each row, from 0; not yet known: -1.
template <class Scalar>
struct FindLevel {
  Triangle<Scalar> triangle;
  std::int64_t *levels;

  KOKKOS_INLINE_FUNCTION Index row(Index position) const { return triangle.forward ? position : triangle.rows - 1 - position; }
  KOKKOS_INLINE_FUNCTION std::int64_t start(Index) const { return 0; }
  KOKKOS_INLINE_FUNCTION int take(std::int64_t k, std::int64_t, std::int64_t &level) const
  {
    const std::int64_t other = look(levels[triangle.columns[k]]);
    if (other < 0) return 0;
    level = Kokkos::max(level, other + 1);
    return 1;
  }
  KOKKOS_INLINE_FUNCTION void finish(Index i, std::int64_t level) const { publish(levels[i], level); }
};

/// Keys that sort rows by block, level in the whole triangle and distance from the block's first row. Blocks come in the order of the solve.
template <class Space>
struct KeyInBlocks {
  Owned<std::int64_t, Space> keys; ///< in: levels
  Index rows, levels;
  bool forward;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    const Index position = forward ? i : rows - 1 - i, size = block_rows(rows);
    keys(i) = (position / size * levels + keys(i)) * size + position % size;
  }
};
template <class Space>
struct OrderInBlocks {
  Owned<std::int64_t, Space> keys;
  Owned<std::int32_t, Space> order;
  Index rows;
  bool forward;

  KOKKOS_INLINE_FUNCTION void operator()(const Index p) const
  {
    const Index size = block_rows(rows), position = p / size * size + keys(p) % size;
    order(p) = static_cast<std::int32_t>(forward ? position : rows - 1 - position);
  }
};

/// starts[l] = first position whose key is at least l * rows.
template <class Space>
struct FindStarts {
  Owned<std::int64_t, Space> keys;
  Owned<Index, Space> starts;
  Owned<std::int32_t, Space> order;
  Index rows, levels;

  KOKKOS_INLINE_FUNCTION void operator()(const Index p) const
  {
    const Index level = keys(p) / rows, before = p > 0 ? keys(p - 1) / rows : -1;
    order(p) = static_cast<std::int32_t>(keys(p) % rows);
    if (level != before) starts(level) = p; // each level has rows: level == before + 1
    if (p + 1 == rows) starts(levels) = rows;
  }
};

/// Finds the levels in one pass over the triangle and a sort. waiting: what a device does. Waits.
template <class Space, class Scalar>
Levels<Space> find_levels(const Space &space, const Triangle<Scalar> &triangle, bool waiting = !on_host<Space>, bool in_blocks = false)
{
  const Index rows = triangle.rows;
  Levels<Space> levels;
  if (rows == 0) return levels;
  const auto all  = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, rows);
  const auto keys = uninitialized<std::int64_t, Space>("weft levels", rows);
  Kokkos::deep_copy(space, keys, std::int64_t(-1));
  const FindLevel<Scalar> find{triangle, keys.data()};
  if (on_host<Space> && !waiting) {
    space.fence("weft: levels not known");
    for (Index p = 0; p < rows; p++) {
      const Index i      = find.row(p);
      std::int64_t level = find.start(i);
      for (std::int64_t k = triangle.starts[i]; k < triangle.starts[i + 1]; k++) find.take(k, k + 1, level);
      find.finish(i, level);
    }
  } else {
    in_order("weft find levels", space, find, Ticket<Space>("weft ticket"));
  }
  std::int64_t deepest = 0;
  Kokkos::parallel_reduce(
      "weft deepest level", all, KOKKOS_LAMBDA(const Index i, std::int64_t &most) { most = Kokkos::max(most, keys(i)); },
      Kokkos::Max<std::int64_t>(deepest));
  levels.number = deepest + 1;
  levels.order  = uninitialized<std::int32_t, Space>("weft level order", rows);
  if (in_blocks) {
    Kokkos::parallel_for("weft keys in blocks", all, KeyInBlocks<Space>{keys, rows, levels.number, triangle.forward});
    Kokkos::sort(space, keys);
    Kokkos::parallel_for("weft order in blocks", all, OrderInBlocks<Space>{keys, levels.order, rows, triangle.forward});
    space.fence("weft: order of the rows");
    return levels;
  }
  Kokkos::parallel_for(
      "weft level keys", all, KOKKOS_LAMBDA(const Index i) { keys(i) = keys(i) * rows + i; });
  Kokkos::sort(space, keys);
  levels.starts = uninitialized<Index, Space>("weft level starts", levels.number + 1);
  Kokkos::parallel_for("weft level starts", all, FindStarts<Space>{keys, levels.starts, levels.order, rows, levels.number});
  levels.host_starts = crout::to_vector<Index>(space, levels.starts);
  return levels;
}

} // namespace weft::triangular
