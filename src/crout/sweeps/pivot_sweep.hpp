/// Sweeps over pivots alone, for patterns on which no entry off the diagonal has a product (matrices whose graph has no triangles: 5- and
/// 7-point stencils). There u_ij = b_ij and l_ij = b_ij / u_jj from the start, and Crout's equations are left with the diagonal:
///
///     d_i <- b_ii - sum_{k<i} w_ik / d_k,   w_ik = b_ik b_ki
///
/// One of these sweeps does what two sweeps over all entries do, since L follows the pivots at once: s of them give the pivots of 2 s - 1.
/// Sweeps keep 1 / d. Per row and sweep: a word and a distance or column for each lower entry, b_ii, 1 / d old and new.
#pragma once
#include <array>

#include "crout/sweeps/sweeper.hpp"
#include "crout/triangles/sliced.hpp"

namespace weft::crout {

/// Which entry of the upper triangle lies opposite to each of the lower one; `nowhere` where none does.
template <class Space>
struct Opposite {
  FactorEntries<Space> entries;
  Array<Position, Space> partner; ///< empty: only look

  /// found: entries (i, j), i != j, with l_ik u_kj for some k in row i.
  KOKKOS_INLINE_FUNCTION void operator()(const Index i, Index &found) const
  {
    const Index begin = entries.lower_starts(i), end = entries.lower_starts(i + 1);
    for (Index l = begin; l < end; l++) {
      const Index k   = entries.columns(l);
      Position across = nowhere;
      for (Index u = entries.upper_start(k); u < entries.upper_start(k + 1); u++) {
        if (entries.columns(u) == i)
          across = static_cast<Position>(u);
        else
          found += entries.find(i, entries.columns(u)) >= 0;
      }
      if (partner.data()) partner(l) = across;
    }
  }
};

/// The partners of the lower entries, if no entry off the diagonal has a product; else an empty array. Waits.
template <class Space>
Array<Position, Space> pivot_partners(const Space &space, const FactorEntries<Space> &entries)
{
  const auto look = [&](Index begin, Index end, const Array<Position, Space> &partner) {
    Index found = 0;
    Kokkos::parallel_reduce("weft opposite entries", Range<Space>(space, begin, end), Opposite<Space>{entries, partner},
                            Kokkos::Sum<Index>(found));
    space.fence("weft opposite entries");
    return found == 0;
  };
  const Index middle = entries.rows / 2, some = middle < 2048 ? middle : 2048; // most patterns show their products in a few rows
  if (entries.rows == 0 || !look(middle - some, middle + some, {})) return {};
  const auto partner = make_array<Position>(space, "weft opposite entries", entries.lower);
  return look(0, entries.rows, partner) ? partner : Array<Position, Space>();
}

/// The lower triangle as sweeps over pivots read it: in the order of the entries,
template <class Space>
struct RowsOfEntries {
  FactorEntries<Space> entries;
  static constexpr Index step = 1; ///< between the entries of a row

  KOKKOS_INLINE_FUNCTION Index first(Index i) const { return entries.lower_starts(i); }
  /// Entries of the row, those that fill it up among them.
  KOKKOS_INLINE_FUNCTION int width(Index i) const { return static_cast<int>(entries.lower_starts(i + 1) - entries.lower_starts(i)); }
  KOKKOS_INLINE_FUNCTION Index column(Index, Index at) const { return entries.columns(at); }
};
/// or in slices (sliced.hpp).
template <class Distance>
struct RowsOfSlices {
  const std::int32_t *starts;
  const Distance *distances;
  static constexpr Index step = triangular::slice_rows;

  KOKKOS_INLINE_FUNCTION Index first(Index i) const { return Index(starts[i / step]) * step + i % step; }
  KOKKOS_INLINE_FUNCTION int width(Index i) const { return starts[i / step + 1] - starts[i / step]; }
  KOKKOS_INLINE_FUNCTION Index column(Index i, Index at) const { return i - static_cast<Index>(distances[at]); }
};

/// One sweep: x = 1 / d from the inverses before. Returns the square of what is left of b - sum w x - d.
template <class Scalar, class Space, class Rows>
struct PivotSweep {
  Rows rows;
  PivotRule<Space> rule;
  const Scalar *couplings, *matrix, *from;
  Scalar *to;
  static constexpr int loads = 4; ///< of neighbours, under way at a time

  KOKKOS_INLINE_FUNCTION double operator()(Index i) const
  {
    const DoubleScalar b = widened(matrix[i]), old = 1 / widened(from[i]);
    DoubleScalar pivot = b;
    const Index begin  = rows.first(i);
    const int width    = rows.width(i);
    for (int first = 0; first < width; first += loads) {
      DoubleScalar w[loads], x[loads];
      for (int k = 0; k < loads; k++) {
        const bool there = first + k < width;
        const Index at   = begin + (first + k) * Rows::step;
        w[k]             = there ? widened(couplings[at]) : DoubleScalar(0);
        x[k]             = there ? widened(from[rows.column(i, at)]) : DoubleScalar(0);
      }
      for (int k = 0; k < loads; k++) pivot -= w[k] * x[k];
    }
    const DoubleScalar residual = pivot - old;
    to[i]                       = static_cast<Scalar>(1 / (rule.usable(pivot, i) ? pivot : rule.replacement(pivot, i)));
    return square_of(residual);
  }
};

/// w of all lower entries of a row, and the inverse pivot that sweeps start from.
template <class Scalar, class Space, class Rows>
struct PivotCouplings {
  Rows rows;
  FactorEntries<Space> entries;
  PivotRule<Space> rule;
  Array<Position, Space> partner;
  Array<Scalar, Space> matrix;
  const Scalar *before; ///< pivots to start from; null: those of B
  Scalar *couplings, *inverses;
  static constexpr int loads = 4;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    const Index first = entries.lower_starts(i), begin = rows.first(i);
    const int size = static_cast<int>(entries.lower_starts(i + 1) - first), width = rows.width(i);
    const DoubleScalar found = widened(before ? before[i] : matrix(entries.diagonal(i)));
    inverses[i]              = static_cast<Scalar>(1 / (rule.usable(found, i) ? found : rule.replacement(found, i)));
    for (int some = 0; some < width; some += loads) {
      Position across[loads];
      Scalar here[loads], there[loads];
      for (int k = 0; k < loads; k++) {
        const bool is = some + k < size;
        across[k]     = is ? partner(first + some + k) : nowhere;
        here[k]       = is ? matrix(first + some + k) : Scalar(0);
      }
      for (int k = 0; k < loads; k++) there[k] = across[k] == nowhere ? Scalar(0) : matrix(across[k]);
      for (int k = 0; k < loads; k++) {
        if (some + k < width) couplings[begin + (some + k) * Rows::step] = here[k] * there[k];
      }
    }
  }
};

/// How many factors are not finite, and what their pivots are like.
struct FactorCounts {
  using is_sum           = void;
  std::uint32_t infinite = 0, boosted = 0, positive = 0, negative = 0;

  KOKKOS_INLINE_FUNCTION FactorCounts &operator+=(const FactorCounts &other)
  {
    infinite += other.infinite;
    boosted += other.boosted;
    positive += other.positive;
    negative += other.negative;
    return *this;
  }
};

/// Factors off the diagonal from the inverses of the pivots, and a count of those that are not finite: few, if any.
template <class Scalar, class Space>
struct FactorOfPivots {
  Index lower;
  Array<std::int32_t, Space> columns;
  const Scalar *matrix, *inverses;
  Scalar *values;
  Array<FactorCounts, Space> counts;

  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const
  {
    const Scalar value = e < lower ? matrix[e] * inverses[columns(e)] : matrix[e];
    values[e]          = value;
    if (!finite(value)) Kokkos::atomic_inc(&counts(0).infinite);
  }
};

/// The pivots themselves, a row at a time.
template <class Scalar, class Space>
struct PivotOfInverse {
  PivotRule<Space> rule;
  const Scalar *inverses;
  Scalar *pivots;

  KOKKOS_INLINE_FUNCTION FactorCounts operator()(const Index i) const
  {
    const Scalar pivot = 1 / inverses[i];
    pivots[i]          = pivot;
    FactorCounts counts;
    counts.infinite = !finite(pivot);
    counts.boosted  = rule.was_replaced(widened(pivot), i);
    counts.positive = real_part(pivot) > 0;
    counts.negative = real_part(pivot) < 0;
    return counts;
  }
};

/// The arrays that these sweeps need, and their loop.
template <class Scalar, class Space>
class PivotSweeper {
public:
  PivotSweeper(const Space &space, const FactorEntries<Space> &entries, const Array<Position, Space> &partner)
      : entries_(entries), partner_(partner)
  {
    Index places = entries.lower;
    if constexpr (!triangular::on_host<Space>) {
      slices_.analyse(space, {entries.rows, entries.lower, entries.lower_starts.data(), entries.columns.data(), nullptr, true}, false);
      if (slices_.sliced().starts) places = slices_.places();
    }
    const Index chunks = chunks_of(entries.rows);
    Room<Space> room(space, "weft pivot sweeps",
                     Room<Space>::template bytes<Scalar>(places) + 2 * Room<Space>::template bytes<Scalar>(entries.rows) +
                         Room<Space>::template bytes<double>(most_unread * chunks) + Room<Space>::template bytes<double>(most_unread) +
                         Room<Space>::template bytes<FactorCounts>(chunks) + Room<Space>::template bytes<FactorCounts>(1));
    memory_    = room.memory;
    couplings_ = room.template take<Scalar>(places);
    for (auto &inverses : inverses_) inverses = room.template take<Scalar>(entries.rows);
    partial_        = room.template take<double>(most_unread * chunks);
    history_        = room.template take<double>(most_unread);
    partial_counts_ = room.template take<FactorCounts>(chunks);
    counts_         = room.template take<FactorCounts>(1);
  }

  /// What it can do: sweeps that end by themselves, plain ones over all rows.
  static bool suits(const SweepPlan &plan)
  {
    return plan.stop == SweepStop::automatic && plan.omega == 1 && plan.sections <= 1 && !plan.asynchronous;
  }

  /// Sweeps and leaves the factors in values; size: sum of the squares of B. Waits.
  SweepResult run(const Space &space, const SweepPlan &plan, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix, double size,
                  const Array<Scalar, Space> &values)
  {
    const triangular::Sliced<Scalar> &sliced = slices_.sliced();
    if (sliced.near) return run_on(space, RowsOfSlices<std::uint16_t>{sliced.starts, sliced.near}, plan, rule, matrix, size, values);
    if (sliced.far) return run_on(space, RowsOfSlices<std::uint32_t>{sliced.starts, sliced.far}, plan, rule, matrix, size, values);
    return run_on(space, RowsOfEntries<Space>{entries_}, plan, rule, matrix, size, values);
  }
  /// What the last sweeps ended with.
  const FactorCounts &found() const { return found_; }

private:
  static constexpr int few_pivot_sweeps = 4; ///< before the first look
  static constexpr int most_unread      = 4;

  template <class Rows>
  SweepResult run_on(const Space &space, const Rows &rows, const SweepPlan &plan, const PivotRule<Space> &rule,
                     const Array<Scalar, Space> &matrix, double size, const Array<Scalar, Space> &values)
  {
    SweepResult result;
    result.noise         = sweep_noise<Scalar>;
    const Index diagonal = entries_.diagonal(0), chunks = chunks_of(entries_.rows);
    Scalar *from = inverses_[0].data(), *to = inverses_[1].data();
    Kokkos::parallel_for("weft pivot couplings", Range<Space>(space, 0, entries_.rows),
                         PivotCouplings<Scalar, Space, Rows>{rows, entries_, rule, partner_, matrix,
                                                             plan.warm ? values.data() + diagonal : nullptr, couplings_.data(), from});
    for (bool stop = false; !stop;) {
      const int batch = std::min(result.sweeps > 0 ? most_unread : plan.warm ? few_warm : few_pivot_sweeps, plan.sweeps - result.sweeps);
      for (int s = 0; s < batch; s++) {
        sum_chunks("weft pivot sweep", space, entries_.rows,
                   PivotSweep<Scalar, Space, Rows>{rows, rule, couplings_.data(), matrix.data() + diagonal, from, to}, partial_,
                   s * chunks);
        std::swap(from, to);
      }
      sum_of_chunks(space, chunks, batch, partial_, history_, 0);
      std::array<double, most_unread> left;
      const auto read = static_cast<std::size_t>(batch);
      Kokkos::deep_copy(space, HostPointer<double>(left.data(), read),
                        Kokkos::subview(history_, std::pair<std::size_t, std::size_t>(0, read)));
      space.fence("weft pivot sweep");
      result.sweeps += batch;
      for (std::size_t s = 0; s < read; s++) result.take(left[s], size);
      stop = result.enough(plan) || result.sweeps >= plan.sweeps || !result.finite || (plan.watch && result.growth() > most_growth);
    }
    result.all = result.sweeps;
    sum_by_chunks("weft pivots", space, entries_.rows, PivotOfInverse<Scalar, Space>{rule, from, values.data() + diagonal}, partial_counts_,
                  counts_, 0);
    Kokkos::parallel_for("weft factors of pivots", Range<Space>(space, 0, diagonal),
                         FactorOfPivots<Scalar, Space>{entries_.lower, entries_.columns, matrix.data(), from, values.data(), counts_});
    Kokkos::deep_copy(space, HostPointer<FactorCounts>(&found_, 1), counts_);
    space.fence("weft factors of pivots");
    result.finite = found_.infinite == 0 && result.finite;
    return result;
  }

  FactorEntries<Space> entries_;
  triangular::Slices<Space, Scalar> slices_; ///< of a device
  Array<Position, Space> partner_;
  Array<char, Space> memory_; ///< where the following are
  Array<Scalar, Space> couplings_, inverses_[2];
  Array<double, Space> partial_, history_;
  Array<FactorCounts, Space> partial_counts_, counts_;
  FactorCounts found_;
};

} // namespace weft::crout
