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

  KOKKOS_INLINE_FUNCTION SweepSums operator()(Index i) const
  {
    const double b = static_cast<double>(matrix[i]), old = static_cast<double>(from[i]);
    double pivot    = b;
    const Index end = entries.lower_starts(i + 1);
    for (Index e = entries.lower_starts(i); e < end; e++)
      pivot -= static_cast<double>(couplings[e]) / static_cast<double>(from[entries.columns(e)]);
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

/// All factors from their pivots. Returns how many are not finite. Waits.
template <class Scalar, class Space>
Index factors_of_pivots(const Space &space, const FactorEntries<Space> &entries, const Array<Scalar, Space> &matrix, const Scalar *pivots,
                        const Array<Scalar, Space> &values)
{
  Index wrong       = 0;
  const Index lower = entries.lower, diagonal = entries.lower + entries.upper;
  const auto columns = entries.columns;
  Kokkos::parallel_reduce(
      "weft factors of pivots", Range<Space>(space, 0, entries.size()),
      KOKKOS_LAMBDA(const Index e, Index &count) {
        const Scalar value = e < lower ? matrix(e) / pivots[columns(e)] : e < diagonal ? matrix(e) : pivots[e - diagonal];
        values(e)          = value;
        count += !Kokkos::isfinite(value);
      },
      wrong);
  space.fence("weft factors of pivots");
  return wrong;
}

/// The arrays that these sweeps need, and their loop.
template <class Scalar, class Space>
class PivotSweeper {
public:
  PivotSweeper(const Space &space, const FactorEntries<Space> &entries, const Array<Position, Space> &partner)
      : entries_(entries), partner_(partner), couplings_(make_array<Scalar>(space, "weft pivot couplings", entries.lower)),
        partial_(make_array<SweepSums>(space, "weft sums of chunks", sweep_chunks(rows()))),
        history_(make_array<SweepSums>(space, "weft sums of sweeps", most_few))
  {
    for (auto &pivots : pivots_) pivots = make_array<Scalar>(space, "weft pivots", entries.rows);
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
        run_sweep(space, PivotSweep<Scalar, Space>{entries_, rule, couplings_.data(), diagonal, before, to}, rows(), partial_, history_, s);
        std::swap(from, to);
      }
      result.sweeps += batch;
      result.take(sweep_sums(space, history_, batch), size);
      stop = result.enough(plan) || result.sweeps >= plan.sweeps || !result.finite || (plan.watch && result.growth() > most_growth);
    }
    result.all    = result.sweeps;
    result.finite = factors_of_pivots(space, entries_, matrix, from, values) == 0 && result.finite;
    return result;
  }

private:
  static constexpr int few_pivot_sweeps = 4; ///< before the first look
  SweepItems rows() const { return {0, 0, 0, 0, 0, entries_.rows}; }

  FactorEntries<Space> entries_;
  Array<Position, Space> partner_;
  Array<Scalar, Space> couplings_, pivots_[2];
  Array<SweepSums, Space> partial_, history_;
};

} // namespace weft::crout
