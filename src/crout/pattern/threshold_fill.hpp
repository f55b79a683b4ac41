/// Patterns by size of entries, found row by row on the space (after H. Anzt, E. Chow, J. Dongarra, "ParILUT - a new parallel threshold ILU
/// factorization", SIAM J. Sci. Comput. 40, 2018, with exact elimination where they sweep). A round eliminates on the pattern so far; each sum of
/// products l_ik u_kj that falls outside is a candidate; those that are large enough join, at most a quota for each row and triangle. After
/// the last round entries that turned out small are dropped, also the matrix' own. The size of an entry is |u_ij| or |l_ij u_jj|, its
/// measure the mean size of the row's entries in B.
#pragma once
#include "crout/elimination/elimination.hpp"
#include "crout/factorization.hpp"
#include "crout/pattern/level_fill.hpp"

namespace weft::crout {

/// What an entry must be to be kept.
template <class Space>
struct KeepRule {
  Array<double, Space> smallest; ///< of each row
  Index quota;                   ///< entries of a row and triangle
};

namespace detail {

struct Candidate {
  std::int32_t column;
  DoubleScalar value;
  KOKKOS_INLINE_FUNCTION bool operator<(const Candidate &other) const { return column < other.column; }
};
struct LargerFirst {
  KOKKOS_INLINE_FUNCTION bool operator()(const Candidate &a, const Candidate &b) const
  {
    const double left = modulus(a.value), right = modulus(b.value);
    return left > right || (left == right && a.column < b.column);
  }
};

/// Calls body(l, u) for each product of row i that falls outside the pattern; of the upper triangle only where symmetric.
template <class Space, class Body>
KOKKOS_INLINE_FUNCTION void for_each_product_outside(const FactorEntries<Space> &entries, Index i, bool symmetric, const Body &body)
{
  for (Index l = entries.lower_starts(i); l < entries.lower_starts(i + 1); l++) {
    const Index m = entries.columns(l);
    for (Index u = entries.upper_start(m); u < entries.upper_start(m + 1); u++) {
      const std::int32_t j = entries.columns(u);
      if ((!symmetric || j > i) && entries.find(i, j) < 0) body(l, u);
    }
  }
}

/// Of candidates in the order of their columns, keeps the `quota` largest, in the same order. Returns how many are left.
KOKKOS_INLINE_FUNCTION Index keep_largest(Candidate *candidates, Index count, Index quota)
{
  if (count <= quota) return count;
  sort_keys(candidates, count, LargerFirst());
  sort_keys(candidates, quota);
  return quota;
}

/// The candidates of row i, `count` products in any order, become the columns to add, ascending. Returns their number.
template <class Space>
KOKKOS_INLINE_FUNCTION Index choose(Candidate *row, Index count, Index i, const KeepRule<Space> &keep)
{
  sort_keys(row, count);
  Index lower = 0, size = 0; // sums of equal columns that are large enough
  for (Index c = 0; c < count;) {
    Candidate sum = row[c++];
    for (; c < count && row[c].column == sum.column; c++) sum.value += row[c].value;
    if (!(modulus(sum.value) >= keep.smallest(i))) continue;
    lower += sum.column < i;
    row[size++] = sum;
  }
  const Index kept_lower = keep_largest(row, lower, keep.quota), kept_upper = keep_largest(row + lower, size - lower, keep.quota);
  for (Index c = 0; c < kept_upper; c++) row[kept_lower + c] = row[lower + c];
  return kept_lower + kept_upper;
}

/// The pattern whose triangles have these columns, with sources from `original`; symmetric: the lower triangle is the mirror of the upper one.
template <class Space>
FactorEntries<Space> with_columns(const Space &space, const FactorEntries<Space> &original, const FactorEntries<Space> &made,
                                  Symmetry symmetric)
{
  if (!symmetric) return extended(space, original, made.lower_starts, made.upper_starts, made.lower, made.upper, made.columns);
  const Array<Index, Space> none(Kokkos::view_alloc(space, "weft lower starts"), static_cast<std::size_t>(original.rows + 1));
  const auto columns = make_array<std::int32_t>(space, "weft upper columns", made.upper);
  Kokkos::deep_copy(space, columns,
                    Kokkos::subview(made.columns, std::pair<std::size_t, std::size_t>(static_cast<std::size_t>(made.lower),
                                                                                      static_cast<std::size_t>(made.lower + made.upper))));
  return mirrored(space, extended(space, original, none, made.upper_starts, 0, made.upper, columns), symmetric);
}

/// `entries` and the candidates that are kept; nothing where there is none.
template <class Scalar, class Space>
std::optional<FactorEntries<Space>> with_candidates(const Space &space, const FactorEntries<Space> &original,
                                                    const FactorEntries<Space> &entries, const Array<Scalar, Space> &values,
                                                    const KeepRule<Space> &keep, Symmetry symmetric)
{
  const Index rows  = entries.rows;
  const auto starts = make_array<Index>(space, "weft candidate starts", rows + 1);
  const auto sizes  = make_array<Index>(space, "weft candidate sizes", rows);
  Kokkos::parallel_for(
      "weft count candidates", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        Index count = 0;
        for_each_product_outside(entries, i, symmetric.symmetric, [&](Index, Index) { count++; });
        starts(i) = count;
      });
  const Index total = starts_of_sizes(space, starts);
  if (total == 0) return std::nullopt;
  const auto candidates = make_array<Candidate>(space, "weft candidates", total);
  const auto found      = make_array<std::int32_t>(space, "weft candidate columns", total);
  Kokkos::parallel_for(
      "weft choose candidates", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        Index at = starts(i);
        for_each_product_outside(entries, i, symmetric.symmetric, [&](Index l, Index u) {
          candidates(at++) = {entries.columns(u), widened(values(l)) * widened(values(u))};
        });
        sizes(i) = choose(candidates.data() + starts(i), at - starts(i), i, keep);
        for (Index c = 0; c < sizes(i); c++) found(starts(i) + c) = candidates(starts(i) + c).column;
      });
  const Growing<Space> growing{entries, Array<Level, Space>(Kokkos::view_alloc(space, "weft no levels"), entries.columns.extent(0))};
  return with_columns(space, original, merged(space, growing, starts, sizes, found, 1).entries, symmetric);
}

/// What is left of a pattern after its values are known.
template <class Scalar, class Space>
FactorEntries<Space> without_small(const Space &space, const FactorEntries<Space> &original, const FactorEntries<Space> &entries,
                                   const Array<Scalar, Space> &values, const KeepRule<Space> &keep, Symmetry symmetric)
{
  const Index rows = entries.rows;
  FactorEntries<Space> made;
  made.rows               = rows;
  made.lower_starts       = make_array<Index>(space, "weft lower starts", rows + 1);
  made.upper_starts       = make_array<Index>(space, "weft upper starts", rows + 1);
  const auto kept         = make_array<Candidate>(space, "weft kept entries", entries.lower + entries.upper);
  const auto lower_starts = made.lower_starts, upper_starts = made.upper_starts;
  Kokkos::parallel_for(
      "weft choose entries", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        const auto choose_row = [&](Index begin, Index end) {
          Index size = begin;
          for (Index e = begin; e < end; e++) {
            const DoubleScalar pivot = e < entries.lower ? widened(values(entries.diagonal(entries.columns(e)))) : DoubleScalar(1);
            const double weight      = modulus(widened(values(e)) * pivot);
            if (weight >= keep.smallest(i)) kept(size++) = {entries.columns(e), weight};
          }
          return keep_largest(kept.data() + begin, size - begin, keep.quota);
        };
        lower_starts(i) = choose_row(entries.lower_starts(i), entries.lower_starts(i + 1));
        upper_starts(i) = choose_row(entries.upper_start(i), entries.upper_start(i + 1));
      });
  made.lower   = starts_of_sizes(space, made.lower_starts);
  made.upper   = starts_of_sizes(space, made.upper_starts);
  made.columns = make_array<std::int32_t>(space, "weft factor columns", made.lower + made.upper);
  Kokkos::parallel_for(
      "weft kept columns", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        for (Index e = made.lower_starts(i); e < made.lower_starts(i + 1); e++)
          made.columns(e) = kept(entries.lower_starts(i) + e - made.lower_starts(i)).column;
        for (Index e = made.upper_start(i); e < made.upper_start(i + 1); e++)
          made.columns(e) = kept(entries.upper_start(i) + e - made.upper_start(i)).column;
      });
  return with_columns(space, original, made, symmetric);
}

} // namespace detail

/// The pattern for these values; `entries` is that of the matrix. Waits. Throws std::length_error where it has more than `most` entries.
template <class Scalar, class Space>
FactorEntries<Space> threshold_fill(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values,
                                    const Scales<Space> &scales, const PivotRule<Space> &rule, double tolerance, Index quota,
                                    Symmetry symmetric, Index most)
{
  constexpr int rounds     = 5;
  constexpr bool on_host   = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
  const Index rows         = entries.rows;
  FactorEntries<Space> now = entries;
  KeepRule<Space> keep{make_array<double>(space, "weft smallest entries", rows), quota};
  for (int round = 0; round <= rounds; round++) {
    const auto matrix = make_array<Scalar>(space, "weft scaled matrix", now.size());
    const auto z      = make_array<Scalar>(space, "weft factors", now.size());
    gather_values(space, now, values, scales, matrix, rule.sums);
    if (round == 0) {
      Kokkos::parallel_for(
          "weft smallest entries", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
            const Index count =
                entries.lower_starts(i + 1) - entries.lower_starts(i) + entries.upper_starts(i + 1) - entries.upper_starts(i) + 1;
            keep.smallest(i) = tolerance * rule.sums(i) / static_cast<double>(count);
          });
    }
    const auto mirror = symmetric ? upper_columns(space, now).entries : Array<std::uint64_t, Space>();
    if constexpr (on_host) {
      space.fence("weft threshold fill: elimination by one thread");
      eliminate_in_order(now, mirror, rule, matrix, z, symmetric);
    } else {
      make_eliminator<Scalar>(space, now, mirror, symmetric)->run(space, rule, matrix, z);
    }
    if (round == rounds) return detail::without_small(space, entries, now, z, keep, symmetric);
    const auto larger = detail::with_candidates(space, entries, now, z, keep, symmetric);
    if (larger && larger->size() > most)
      throw std::length_error("the factors would have " + std::to_string(larger->size()) + " entries, more than the " +
                              std::to_string(most) + " that are allowed: drop more");
    if (larger && larger->size() > now.size())
      now = *larger;
    else
      round = rounds - 1;
  }
  return now;
}

} // namespace weft::crout
