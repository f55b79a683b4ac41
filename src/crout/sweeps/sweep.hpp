/// Fixed-point Crout sweeps (E. Chow, A. Patel, "Fine-grained parallel incomplete LU factorization", SIAM J. Sci. Comput. 37, 2015, eq. 2.4):
///
///     i > j:   l_ij <- (b_ij - sum_{k<j} l_ik u_kj) / u_jj
///     i <= j:  u_ij <-  b_ij - sum_{k<i} l_ik u_kj
///
/// from the values of the sweep before, all entries side by side. The difference b - sum - (what it should be) is the residual B - L U of the
/// old values, so its norm costs nothing. Per entry of the pattern and sweep: its value read and written, b read, its column or the list's
/// start, and 8 + 2 words of 8 bytes a product; l and u that meet are mostly in cache.
#pragma once
#include "crout/sweeps/chunk_sums.hpp"
#include "crout/sweeps/products.hpp"
#include "crout/sweeps/values.hpp"

namespace weft::crout {

/// Sums over the entries of a sweep.
struct SweepSums {
  using is_sum    = void;
  double residual = 0; ///< (B - L U)^2 of the old values
  double change   = 0; ///< (new - old)^2
  double size     = 0; ///< new^2
  double matrix   = 0; ///< B^2

  KOKKOS_INLINE_FUNCTION SweepSums &operator+=(const SweepSums &other)
  {
    residual += other.residual;
    change += other.change;
    size += other.size;
    matrix += other.matrix;
    return *this;
  }
};

/// A range of rows' entries as consecutive items: lower, upper (not where symmetric), diagonal.
struct SweepItems {
  Index lower = 0, lower_count = 0, upper = 0, upper_count = 0, diagonal = 0, rows = 0;
  const Position *upper_list = nullptr; ///< these entries instead of a range

  KOKKOS_INLINE_FUNCTION Index count() const { return lower_count + upper_count + rows; }
  KOKKOS_INLINE_FUNCTION Index entry(Index item) const
  {
    if (item < lower_count) return lower + item;
    item -= lower_count;
    if (item >= upper_count) return diagonal + item - upper_count;
    return upper_list ? static_cast<Index>(upper_list[item]) : upper + item;
  }
};

/// Loads and stores of a sweep between two arrays, or in one. In one, plain loads may see old values for ever: a relaxed atomic does not.
template <class Scalar, bool in_place>
struct SweepMemory {
  KOKKOS_INLINE_FUNCTION static DoubleScalar load(const Scalar *values, Index e)
  {
    if constexpr (in_place)
      return widened(load_word(const_cast<Scalar *>(values) + e));
    else
      return widened(values[e]);
  }
  KOKKOS_INLINE_FUNCTION static void store(Scalar *values, Index e, DoubleScalar value)
  {
    if constexpr (in_place)
      store_word(values + e, static_cast<Scalar>(value));
    else
      values[e] = static_cast<Scalar>(value);
  }

private:
  /// The parts of a complex value may be of two sweeps: both are on their way to the same limit.
  KOKKOS_INLINE_FUNCTION static Scalar load_word(Scalar *word)
  {
    if constexpr (is_complex<Scalar>) {
      auto *const parts = reinterpret_cast<RealOf<Scalar> *>(word);
      return {Kokkos::atomic_load(parts), Kokkos::atomic_load(parts + 1)};
    } else {
      return Kokkos::atomic_load(word);
    }
  }
  KOKKOS_INLINE_FUNCTION static void store_word(Scalar *word, Scalar value)
  {
    if constexpr (is_complex<Scalar>) {
      auto *const parts = reinterpret_cast<RealOf<Scalar> *>(word);
      Kokkos::atomic_store(parts, value.real());
      Kokkos::atomic_store(parts + 1, value.imag());
    } else {
      Kokkos::atomic_store(word, value);
    }
  }
};

/// One sweep over items, as a functor on an entry.
template <class Scalar, class Space, bool symmetric, bool in_place>
struct Sweep {
  Products<Space> products;
  Array<std::uint64_t, Space> mirror; ///< symmetric: row << 32 | upper entry of each lower entry
  PivotRule<Space> rule;
  const Scalar *matrix;
  const Scalar *from;
  Scalar *to;
  double omega;
  Symmetry kind; ///< symmetric: by conjugates or not

  using Values = SweepMemory<Scalar, in_place>;

  KOKKOS_INLINE_FUNCTION SweepSums operator()(Index e) const
  {
    const FactorEntries<Space> &entries = products.entries;
    const DoubleScalar b                = widened(matrix[e]);
    DoubleScalar rest                   = b;
    products.for_each(e, [&](Index l, Index u) { rest -= Values::load(from, l) * Values::load(from, u); });
    const DoubleScalar old = Values::load(from, e);
    const Index diagonal   = e - (entries.lower + entries.upper);
    SweepSums sums;
    if (e < entries.lower) {
      const DoubleScalar pivot = Values::load(from, entries.diagonal(entries.columns(e)));
      sums                     = update(e, old, rest / pivot, rest - old * pivot, b);
      if constexpr (symmetric) {
        const Index upper    = static_cast<Index>(mirror(e) & 0xffffffffu);
        const DoubleScalar u = Values::load(from, upper);
        const DoubleScalar v = kind.mirrored(rest);
        sums += update(upper, u, v, v - u, b);
      }
    } else {
      if (diagonal >= 0) rest = kind.diagonal(rest);
      DoubleScalar wanted = rest;
      if (diagonal >= 0 && !rule.usable(old + omega * (rest - old), diagonal))
        wanted = old + (rule.replacement(rest, diagonal) - old) / omega; // so that the update below ends there
      sums = update(e, old, wanted, rest - old, b);
    }
    return sums;
  }

private:
  KOKKOS_INLINE_FUNCTION SweepSums update(Index e, DoubleScalar old, DoubleScalar wanted, DoubleScalar residual, DoubleScalar b) const
  {
    const DoubleScalar change = omega * (wanted - old), value = omega == 1 ? wanted : old + change;
    Values::store(to, e, value);
    return {square_of(residual), square_of(change), square_of(value), square_of(b)};
  }
};

inline Index sweep_chunks(const SweepItems &items)
{
  return chunks_of(items.count());
}

/// A sweep's functor on the number of an item.
template <class SweepFunctor>
struct OnItems {
  SweepFunctor sweep;
  SweepItems items;

  KOKKOS_INLINE_FUNCTION SweepSums operator()(Index item) const { return sweep(items.entry(item)); }
};

/// Runs the functor over items; history(slot) gets its sums. `partial` has sweep_chunks(items) elements.
template <class Space, class SweepFunctor>
void run_sweep(const Space &space, const SweepFunctor &sweep, const SweepItems &items, const Array<SweepSums, Space> &partial,
               const Array<SweepSums, Space> &history, int slot)
{
  sum_by_chunks("weft crout sweep", space, items.count(), OnItems<SweepFunctor>{sweep, items}, partial, history, slot);
}

/// The values that sweeps start from: L from B divided by the pivots, U and the diagonal as in B.
template <class Scalar, class Space>
void first_guess(const Space &space, const FactorEntries<Space> &entries, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix,
                 const Array<Scalar, Space> &values)
{
  Kokkos::parallel_for(
      "weft crout first guess", Range<Space>(space, 0, entries.size()), KOKKOS_LAMBDA(const Index e) {
        const DoubleScalar b = widened(matrix(e));
        if (entries.is_upper(e)) {
          values(e) = static_cast<Scalar>(b);
          return;
        }
        const Index column       = e < entries.lower ? static_cast<Index>(entries.columns(e)) : e - (entries.lower + entries.upper);
        const DoubleScalar pivot = widened(matrix(entries.diagonal(column)));
        const DoubleScalar safe  = rule.usable(pivot, column) ? pivot : rule.replacement(pivot, column);
        values(e)                = static_cast<Scalar>(e < entries.lower ? b / safe : safe);
      });
}

/// L D L^T or L D L^H: sweeps keep both triangles of a symmetric matrix; after the last one L follows from U and the diagonal.
template <class Scalar, class Space>
void lower_of_upper(const Space &space, const FactorEntries<Space> &entries, const Array<std::uint64_t, Space> &mirror,
                    const Array<Scalar, Space> &values, Symmetry symmetry)
{
  Kokkos::parallel_for(
      "weft lower of upper", Range<Space>(space, 0, entries.lower), KOKKOS_LAMBDA(const Index e) {
        values(e) = symmetry.mirrored(values(static_cast<Index>(mirror(e) & 0xffffffffu))) / values(entries.diagonal(entries.columns(e)));
      });
}

/// What the finished factors are like.
struct FactorCheck {
  Index bad      = std::numeric_limits<Index>::max();      ///< first row (of the factors) with an unusable pivot
  Index infinite = std::numeric_limits<Index>::max();      ///< first row with a value that is not finite
  Index boosted = 0, weak = 0, positive = 0, negative = 0; ///< weak: CroutReport::strong
};

/// Looks at all values, or where `not_finite` is given only at the pivots: it holds the first row with a value that is not finite, if any. Pivots
/// of the size of replacements count as boosted. Waits.
template <class Scalar, class Space>
FactorCheck check_factors(const Space &space, const FactorEntries<Space> &entries, const PivotRule<Space> &rule,
                          const Array<Scalar, Space> &values, const Array<Index, Space> &not_finite = {})
{
  FactorCheck check;
  const Index size = entries.lower + entries.upper;
  Index wrong      = 0;
  if (not_finite.data()) {
    Kokkos::deep_copy(space, HostPointer<Index>(&check.infinite, 1), not_finite);
  } else {
    Kokkos::parallel_reduce(
        "weft check factors", Range<Space>(space, 0, size), KOKKOS_LAMBDA(const Index e, Index &count) { count += !finite(values(e)); },
        wrong);
  }
  if (wrong > 0) {
    Kokkos::parallel_reduce(
        "weft find what is not finite", Range<Space>(space, 0, size),
        KOKKOS_LAMBDA(const Index e, Index &first) {
          if (!finite(values(e)) && entries.row_of(e) < first) first = entries.row_of(e);
        },
        Kokkos::Min<Index>(check.infinite));
  }
  Index infinite = std::numeric_limits<Index>::max();
  Kokkos::parallel_reduce(
      "weft check pivots", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index i, Index &first_bad, Index &first_infinite, Index &boosted, Index &weak, Index &positive, Index &negative) {
        const Scalar pivot   = values(entries.diagonal(i));
        const bool is_finite = finite(pivot);
        if (!is_finite && i < first_infinite) first_infinite = i;
        const bool replaced = is_finite && rule.was_replaced(widened(pivot), i);
        if (replaced && i < first_bad) first_bad = i;
        boosted += replaced;
        weak += !(modulus(widened(pivot)) >= CroutReport::strong * rule.sums(i));
        positive += real_part(pivot) > 0;
        negative += real_part(pivot) < 0;
      },
      Kokkos::Min<Index>(check.bad), Kokkos::Min<Index>(infinite), Kokkos::Sum<Index>(check.boosted), Kokkos::Sum<Index>(check.weak),
      Kokkos::Sum<Index>(check.positive), Kokkos::Sum<Index>(check.negative));
  space.fence("weft check factors");
  check.infinite = check.infinite < infinite ? check.infinite : infinite;
  return check;
}

} // namespace weft::crout
