/// Sweeps over pivots alone, for patterns on which no entry off the diagonal has a product (matrices whose graph has no triangles: 5- and
/// 7-point stencils). There u_ij = b_ij and l_ij = b_ij / u_jj from the start, and Crout's equations are left with the diagonal:
///
///     d_i <- b_ii - sum_{k<i} w_ik / d_k,   w_ik = b_ik b_ki
///
/// One of these sweeps does what two sweeps over all entries do, since L follows the pivots at once: s of them give the pivots of 2 s - 1.
/// Per row and sweep: a word and a column for each lower entry, b_ii, d old and new.
#pragma once
#include "crout/sweeper.hpp"

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

template <class Scalar, class Space>
struct PivotSweep {
  FactorEntries<Space> entries;
  PivotRule<Space> rule;
  const Scalar *couplings, *matrix, *from;
  Scalar *to;
  static constexpr int at_once = 4;

  KOKKOS_INLINE_FUNCTION SweepSums operator()(Index i) const
  {
    const double b = static_cast<double>(matrix[i]), old = static_cast<double>(from[i]);
    double pivot    = b;
    const Index end = entries.lower_starts(i + 1);
    for (Index first = entries.lower_starts(i); first < end; first += at_once) { // so many loads under way at a time
      double w[at_once], d[at_once];
      for (int k = 0; k < at_once; k++) {
        const bool there = first + k < end;
        w[k]             = there ? static_cast<double>(couplings[first + k]) : 0.0;
        d[k]             = there ? static_cast<double>(from[entries.columns(first + k)]) : 1.0;
      }
      for (int k = 0; k < at_once; k++) pivot -= w[k] / d[k];
    }
    const double residual = pivot - old;
    if (!rule.usable(pivot, i)) pivot = rule.replacement(pivot, i);
    to[i]               = static_cast<Scalar>(pivot);
    const double change = pivot - old;
    return {residual * residual, change * change, pivot * pivot, b * b};
  }
};

/// w of all lower entries, and the pivots that sweeps start from where `pivots` is given.
template <class Scalar, class Space>
void pivot_couplings(const Space &space, const FactorEntries<Space> &entries, const Array<Position, Space> &partner,
                     const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix, const Array<Scalar, Space> &couplings,
                     Scalar *pivots)
{
  const Index lower = entries.lower;
  Kokkos::parallel_for(
      "weft pivot couplings", Range<Space>(space, 0, lower + (pivots ? entries.rows : 0)), KOKKOS_LAMBDA(const Index e) {
        if (e < lower) {
          couplings(e) = partner(e) == nowhere ? Scalar(0) : matrix(e) * matrix(partner(e));
          return;
        }
        const Index i      = e - lower;
        const double pivot = static_cast<double>(matrix(entries.diagonal(i)));
        pivots[i]          = static_cast<Scalar>(rule.usable(pivot, i) ? pivot : rule.replacement(pivot, i));
      });
}

/// How many factors are not finite, and what their pivots are like.
struct FactorCounts {
  Index infinite = 0, boosted = 0, positive = 0, negative = 0;

  KOKKOS_INLINE_FUNCTION FactorCounts &operator+=(const FactorCounts &other)
  {
    infinite += other.infinite;
    boosted += other.boosted;
    positive += other.positive;
    negative += other.negative;
    return *this;
  }
};

} // namespace weft::crout

template <>
struct Kokkos::reduction_identity<weft::crout::FactorCounts> {
  KOKKOS_FORCEINLINE_FUNCTION static weft::crout::FactorCounts sum() { return {}; }
};

namespace weft::crout {

/// Factors from their pivots, an entry at a time.
template <class Scalar, class Space>
struct FactorOfPivots {
  Index lower, diagonal;
  Array<std::int32_t, Space> columns;
  PivotRule<Space> rule;
  const Scalar *matrix, *pivots;
  Scalar *values;

  KOKKOS_INLINE_FUNCTION FactorCounts operator()(Index e) const
  {
    const Index i      = e - diagonal;
    const Scalar value = e < lower ? matrix[e] / pivots[columns(e)] : i < 0 ? matrix[e] : pivots[i];
    values[e]          = value;
    FactorCounts counts;
    counts.infinite = !Kokkos::isfinite(value);
    if (i < 0) return counts;
    counts.boosted  = rule.was_replaced(static_cast<double>(value), i);
    counts.positive = value > 0;
    counts.negative = value < 0;
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
    const Index chunks = chunks_of(entries.rows), all_chunks = chunks_of(entries.size());
    Room<Space> room(space, "weft pivot sweeps",
                     Room<Space>::template bytes<Scalar>(entries.lower) + 2 * Room<Space>::template bytes<Scalar>(entries.rows) +
                         Room<Space>::template bytes<SweepSums>(chunks) + Room<Space>::template bytes<SweepSums>(most_few) +
                         Room<Space>::template bytes<FactorCounts>(all_chunks) + Room<Space>::template bytes<FactorCounts>(1));
    memory_    = room.memory;
    couplings_ = room.template take<Scalar>(entries.lower);
    for (auto &pivots : pivots_) pivots = room.template take<Scalar>(entries.rows);
    partial_        = room.template take<SweepSums>(chunks);
    history_        = room.template take<SweepSums>(most_few);
    partial_counts_ = room.template take<FactorCounts>(all_chunks);
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
    SweepResult result;
    result.noise = sweep_noise<Scalar>;
    Scalar *from = pivots_[0].data(), *to = pivots_[1].data();
    const Scalar *start = values.data() + entries_.diagonal(0), *diagonal = matrix.data() + entries_.diagonal(0);
    pivot_couplings(space, entries_, partner_, rule, matrix, couplings_, plan.warm ? nullptr : from);
    for (bool stop = false; !stop;) {
      const int batch = result.sweeps > 0 ? 4 : plan.warm ? few_warm : few_pivot_sweeps;
      for (int s = 0; s < batch; s++) {
        const Scalar *before = plan.warm && result.sweeps + s == 0 ? start : from;
        sum_by_chunks("weft pivot sweep", space, entries_.rows,
                      PivotSweep<Scalar, Space>{entries_, rule, couplings_.data(), diagonal, before, to}, partial_, history_, s);
        std::swap(from, to);
      }
      result.sweeps += batch;
      result.take(sweep_sums(space, history_, batch), size);
      stop = result.enough(plan) || result.sweeps >= plan.sweeps || !result.finite || (plan.watch && result.growth() > most_growth);
    }
    result.all                 = result.sweeps;
    const Index diagonal_start = entries_.diagonal(0);
    sum_by_chunks("weft factors of pivots", space, entries_.size(),
                  FactorOfPivots<Scalar, Space>{entries_.lower, diagonal_start, entries_.columns, rule, matrix.data(), from, values.data()},
                  partial_counts_, counts_, 0);
    Kokkos::deep_copy(space, HostPointer<FactorCounts>(&found_, 1), counts_);
    space.fence("weft factors of pivots");
    result.finite = found_.infinite == 0 && result.finite;
    return result;
  }
  /// What the last sweeps ended with.
  const FactorCounts &found() const { return found_; }

private:
  static constexpr int few_pivot_sweeps = 4; ///< before the first look

  FactorEntries<Space> entries_;
  Array<Position, Space> partner_;
  Array<char, Space> memory_; ///< where the following are
  Array<Scalar, Space> couplings_, pivots_[2];
  Array<SweepSums, Space> partial_, history_;
  Array<FactorCounts, Space> partial_counts_, counts_;
  FactorCounts found_;
};

} // namespace weft::crout
