/// The products l_ik u_kj of each entry (i, j) of the factors: a list of the pairs where it is short, else found again in every sweep.
#pragma once
#include <type_traits>

#include "crout/pattern/entries.hpp"

namespace weft::crout {

/// Which products belong to which entry. Pairs are l << 32 | u, positions in the array of values.
template <class Space>
struct Products {
  Array<Position, Space> starts;     ///< items + 1 of the entries in their order; empty where there is no list
  Array<std::uint64_t, Space> pairs; ///< k ascending
  FactorEntries<Space> entries;
  UpperColumns<Space> columns; ///< without a list: where column j of U is, which row i of L meets

  /// Calls body(l, u) for each product of entry e, k ascending.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_each(Index e, const Body &body) const
  {
    if (starts.data()) {
      const Index last = starts(e + 1);
      for (Index p = starts(e); p < last; p++) {
        const std::uint64_t pair = pairs(p);
        body(static_cast<Index>(pair >> 32), static_cast<Index>(pair & 0xffffffffu));
      }
    } else {
      merge(e, body);
    }
  }
  /// The same, from the pattern. L's row ends before i and U's column before j, so k < min(i, j) holds by itself.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void merge(Index e, const Body &body) const
  {
    const Index diagonal = e - (entries.lower + entries.upper);
    const Index i = diagonal >= 0 ? diagonal : entries.row_of(e), j = diagonal >= 0 ? diagonal : entries.columns(e);
    Index l = entries.lower_starts(i), u = columns.starts(j);
    const Index l_end = entries.lower_starts(i + 1), u_end = columns.starts(j + 1);
    while (l < l_end && u < u_end) {
      const auto left = static_cast<Index>(entries.columns(l)), right = static_cast<Index>(columns.entries(u) >> 32);
      if (left == right) body(l, static_cast<Index>(columns.entries(u) & 0xffffffffu));
      l += left <= right;
      u += right <= left;
    }
  }
};

/// Lists the products where there are at most `most_an_entry` for each entry. symmetric: none for the upper triangle. Waits.
template <class Space>
Products<Space> products_of(const Space &space, const FactorEntries<Space> &entries, const UpperColumns<Space> &columns, bool symmetric,
                            double most_an_entry)
{
  Products<Space> merge{{}, {}, entries, columns};
  const Index size  = entries.size();
  const auto starts = make_array<Position>(space, "weft product starts", size + 1);
  Index total       = 0;
  Kokkos::parallel_reduce(
      "weft count products", Range<Space>(space, 0, size),
      KOKKOS_LAMBDA(const Index e, Index &sum) {
        Index count = 0;
        if (!symmetric || !entries.is_upper(e)) merge.merge(e, [&](Index, Index) { count++; });
        starts(e) = static_cast<Position>(count);
        sum += count;
      },
      total);
  space.fence("weft count products");
  if (static_cast<double>(total) > most_an_entry * static_cast<double>(size) || total > most_entries) return merge;
  Kokkos::parallel_scan(
      "weft product starts", Range<Space>(space, 0, size + 1), KOKKOS_LAMBDA(const Index e, Index &sum, const bool final) {
        const Index count = e < size ? starts(e) : 0;
        if (final) starts(e) = static_cast<Position>(sum);
        sum += count;
      });
  Products<Space> list{starts, make_array<std::uint64_t>(space, "weft products", total), entries, {}};
  Kokkos::parallel_for(
      "weft list products", Range<Space>(space, 0, size), KOKKOS_LAMBDA(const Index e) {
        Index at = list.starts(e);
        if (symmetric && entries.is_upper(e)) return;
        merge.merge(e, [&](Index l, Index u) { list.pairs(at++) = (static_cast<std::uint64_t>(l) << 32) | static_cast<std::uint64_t>(u); });
      });
  return list;
}

/// The entries of the upper triangle that have products: the others are those of B from the start. Waits.
template <class Space>
Array<Position, Space> upper_with_products(const Space &space, const Products<Space> &products)
{
  const Index first = products.entries.lower, size = products.entries.upper;
  const auto starts = products.starts;
  Index count       = 0;
  const auto list   = make_array<Position>(space, "weft upper entries with products", size);
  Kokkos::parallel_scan(
      "weft upper entries with products", Range<Space>(space, first, first + size),
      KOKKOS_LAMBDA(const Index e, Index &before, const bool final) {
        const bool has = starts(e + 1) > starts(e);
        if (has && final) list(before) = static_cast<Position>(e);
        before += has;
      },
      count);
  space.fence("weft upper entries with products");
  return Kokkos::subview(list, std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(count)));
}

} // namespace weft::crout
