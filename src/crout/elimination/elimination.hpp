/// Exact factors on a pattern: Gaussian elimination row by row, what falls outside the pattern is dropped. A row waits for the rows of its
/// lower entries; on a host rows that wait for nothing any more form a level and go side by side, a device has waiting_elimination.hpp.
#pragma once
#include <limits>
#include <optional>

#include "crout/elimination/waiting_elimination.hpp"
#include "crout/sweeps/sweep.hpp"

namespace weft::crout {

/// Rows by levels.
template <class Space>
struct LevelRows {
  std::vector<Index> starts; ///< levels + 1
  Array<std::int32_t, Space> rows;

  Index levels() const { return static_cast<Index>(starts.size()) - 1; }
};

/// level(i) <- 1 + the largest level of a row that row i waits for. Levels only grow, so passes may overlap.
template <class Space>
struct RaiseLevel {
  FactorEntries<Space> entries;
  Array<std::int32_t, Space> level;

  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index &changed) const
  {
    const std::int32_t before = Kokkos::atomic_load(&level(i));
    std::int32_t mine         = before;
    for (Index e = entries.lower_starts(i); e < entries.lower_starts(i + 1); e++) {
      const std::int32_t theirs = Kokkos::atomic_load(&level(entries.columns(e))) + 1;
      if (theirs > mine) mine = theirs;
    }
    if (mine == before) return;
    Kokkos::atomic_store(&level(i), mine);
    changed++;
  }
};

/// Raises levels by passes over all rows until none changes. Nothing if there are more than `most`. For a host. Waits.
template <class Space>
std::optional<LevelRows<Space>> level_rows(const Space &space, const FactorEntries<Space> &entries,
                                           Index most = std::numeric_limits<Index>::max())
{
  const Index rows = entries.rows;
  const Array<std::int32_t, Space> level(Kokkos::view_alloc(space, "weft row levels"), static_cast<std::size_t>(rows));
  for (Index changed = 1, passes = 0; changed > 0;) {
    Kokkos::parallel_reduce("weft row levels", Range<Space>(space, 0, rows), RaiseLevel<Space>{entries, level}, changed);
    space.fence("weft row levels");
    if (changed > 0 && ++passes > most) return std::nullopt; // a level a pass at least
  }
  std::int32_t highest = -1;
  Kokkos::parallel_reduce(
      "weft highest level", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, std::int32_t &most) { most = level(i) > most ? level(i) : most; }, Kokkos::Max<std::int32_t>(highest));
  space.fence("weft row levels");
  LevelRows<Space> result;
  const Index levels = rows > 0 ? highest + 1 : 0;
  if (levels > most) return std::nullopt;
  const Array<Index, Space> starts(Kokkos::view_alloc(space, "weft level starts"), static_cast<std::size_t>(levels + 1));
  Kokkos::parallel_for(
      "weft level sizes", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) { Kokkos::atomic_inc(&starts(level(i))); });
  starts_of_sizes(space, starts);
  result.starts   = to_vector<Index>(space, starts);
  result.rows     = make_array<std::int32_t>(space, "weft rows by levels", rows);
  const auto list = result.rows;
  Kokkos::parallel_for(
      "weft rows by levels", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i) { list(Kokkos::atomic_fetch_add(&starts(level(i)), Index(1))) = static_cast<std::int32_t>(i); });
  return result;
}

/// The largest size among some values. Waits.
template <class Scalar, class Space>
double largest_size(const Space &space, const Array<Scalar, Space> &values)
{
  double largest = 0;
  Kokkos::parallel_reduce(
      "weft largest value", Range<Space>(space, 0, static_cast<Index>(values.extent(0))),
      KOKKOS_LAMBDA(const Index e, double &most) {
        const double size = static_cast<double>(modulus(values(e)));
        most              = size > most ? size : most;
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// Elimination of the rows of a level, a thread a row, in place. Rows of one level are independent, so their order does not matter.
template <class Scalar, class Space>
struct EliminateRow {
  FactorEntries<Space> entries;
  Array<std::uint64_t, Space> mirror; ///< symmetric: the upper entry of each lower one
  PivotRule<Space> rule;
  Array<Scalar, Space> values;
  Array<std::int32_t, Space> order;
  Symmetry symmetric;

  KOKKOS_INLINE_FUNCTION void operator()(const Index position) const
  {
    const Index i = order(position);
    for (Index l = entries.lower_starts(i); l < entries.lower_starts(i + 1); l++) {
      const Index m       = entries.columns(l);
      const Index above   = symmetric ? static_cast<Index>(mirror(l) & 0xffffffffu) : l;
      const Scalar factor = symmetric.mirrored(values(above)) / values(entries.diagonal(m));
      values(l)           = factor;
      for (Index u = symmetric ? above : entries.upper_start(m); u < entries.upper_start(m + 1); u++) {
        const Index at = entries.find(i, entries.columns(u));
        if (at >= 0) values(at) -= factor * values(u);
      }
    }
    Scalar &pivot = values(entries.diagonal(i));
    pivot         = symmetric.diagonal(pivot);
    if (!rule.usable(widened(pivot), i)) pivot = static_cast<Scalar>(rule.replacement(widened(pivot), i));
  }
};

/// What elimination saw of the factors that it wrote.
struct Written {
  double largest   = 0;                                 ///< size among them
  Index not_finite = std::numeric_limits<Index>::max(); ///< first row with such an entry
};

/// The same by one host thread: the row is spread over an array of all columns, so that nothing is searched for. `matrix` may be `values`.
template <class Scalar, class Space>
Written eliminate_in_order(const FactorEntries<Space> &entries, const Array<std::uint64_t, Space> &mirror, const PivotRule<Space> &rule,
                           const Array<Scalar, Space> &matrix, const Array<Scalar, Space> &values, Symmetry symmetric)
{
  std::vector<Scalar> row(static_cast<std::size_t>(entries.rows));
  Scalar *const spread             = row.data(); // columns outside the pattern hold what fell there: nobody reads it
  const Index *const lower_starts  = entries.lower_starts.data();
  const std::int32_t *const column = entries.columns.data();
  const Scalar *const b            = matrix.data();
  Scalar *const z                  = values.data();
  Scalar *const diagonal           = z + entries.lower + entries.upper;
  Written written;
  for (Index i = 0; i < entries.rows; i++) {
    double largest = 0, sum = 0; // a sum of what is not finite is not finite
    const auto see = [&](Scalar value) {
      const double size = static_cast<double>(modulus(value));
      largest           = size > largest ? size : largest;
      sum += size;
    };
    const Index lower_begin = lower_starts[i], lower_end = lower_starts[i + 1];
    const Index upper_begin = entries.upper_start(i), upper_end = entries.upper_start(i + 1);
    if (!symmetric)
      for (Index l = lower_begin; l < lower_end; l++) spread[column[l]] = b[l];
    for (Index u = upper_begin; u < upper_end; u++) spread[column[u]] = b[u];
    spread[i] = b[entries.diagonal(i)];
    for (Index l = lower_begin; l < lower_end; l++) {
      const Index m      = column[l];
      const Index above  = symmetric ? static_cast<Index>(mirror(l) & 0xffffffffu) : 0;
      const Scalar size  = symmetric ? symmetric.mirrored(z[above]) : spread[m];
      const Scalar ratio = size / diagonal[m];
      z[l]               = ratio;
      see(ratio);
      if (ratio == 0) continue;
      const Index end = entries.upper_start(m + 1);
      for (Index u = symmetric ? above : entries.upper_start(m); u < end; u++) spread[column[u]] -= ratio * z[u];
    }
    for (Index u = upper_begin; u < upper_end; u++) {
      z[u] = spread[column[u]];
      see(z[u]);
    }
    spread[i]        = symmetric.diagonal(spread[i]);
    const auto pivot = widened(spread[i]);
    diagonal[i]      = rule.usable(pivot, i) ? spread[i] : static_cast<Scalar>(rule.replacement(pivot, i));
    see(diagonal[i]);
    written.largest = largest > written.largest ? largest : written.largest;
    if (!Kokkos::isfinite(sum) && i < written.not_finite) written.not_finite = i;
  }
  return written;
}

/// Eliminates on one pattern, any number of times, level by level: threads of a host wait for all rows of one.
template <class Scalar, class Space>
class LevelEliminator {
public:
  LevelEliminator(const Space &, const FactorEntries<Space> &entries, const Array<std::uint64_t, Space> &mirror, Symmetry symmetric,
                  const LevelRows<Space> &order)
      : entries_(entries), mirror_(mirror), order_(order), symmetric_(symmetric)
  {
  }
  Index levels() const { return order_.levels(); }

  /// values = the exact factors of `matrix` on the pattern. Does not wait.
  void run(const Space &space, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix, const Array<Scalar, Space> &values) const
  {
    Kokkos::deep_copy(space, values, matrix);
    const EliminateRow<Scalar, Space> row{entries_, mirror_, rule, values, order_.rows, symmetric_};
    for (std::size_t level = 0; level + 1 < order_.starts.size(); level++)
      Kokkos::parallel_for("weft eliminate level", Range<Space>(space, order_.starts[level], order_.starts[level + 1]), row);
  }
  /// Nobody has looked.
  Array<Index, Space> not_finite() const { return {}; }

private:
  FactorEntries<Space> entries_;
  Array<std::uint64_t, Space> mirror_;
  LevelRows<Space> order_;
  Symmetry symmetric_;
};

template <class Scalar, class Space>
using Eliminator = std::conditional_t<triangular::on_host<Space>, LevelEliminator<Scalar, Space>, WaitingEliminator<Scalar, Space>>;

/// Finds the order of the rows. Nothing if there are more than `most` levels. Waits.
template <class Scalar, class Space>
std::optional<Eliminator<Scalar, Space>> make_eliminator(const Space &space, const FactorEntries<Space> &entries,
                                                         const Array<std::uint64_t, Space> &mirror, Symmetry symmetric,
                                                         Index most = std::numeric_limits<std::int32_t>::max())
{
  if constexpr (triangular::on_host<Space>) {
    const auto order = level_rows(space, entries, most);
    if (order) return Eliminator<Scalar, Space>(space, entries, mirror, symmetric, *order);
  } else {
    const auto order = ready_rows(space, entries, most);
    if (order) return Eliminator<Scalar, Space>(space, entries, mirror, symmetric, *order);
  }
  return std::nullopt;
}

} // namespace weft::crout
