/// The pattern of ILU(k), found row by row on the space. An entry has level 0 in the matrix; elimination through row m gives (i, j) the level
/// level(i, m) + level(m, j) + 1, m < min(i, j), and an entry's level is the least of these (Watts 1981; Saad, Iterative Methods, 10.3.3).
/// Entries of level l come from pairs of lower levels only, so round l adds all of them in every row side by side, and k rounds are enough.
#pragma once
#include "crout/pattern/entries.hpp"

namespace weft::crout {

namespace detail {

using Level = std::uint16_t;

/// A pattern that grows, with what is known of each entry.
template <class Space>
struct Growing {
  FactorEntries<Space> entries; ///< without row_of and source
  Array<Level, Space> level;    ///< of lower and upper entries
};

/// Calls body(column) for each entry of row i that elimination makes from pairs of levels that sum to `round` - 1 and that is not there yet.
template <class Space, class Body>
KOKKOS_INLINE_FUNCTION void for_each_fill(const Growing<Space> &growing, Index i, int round, const Body &body)
{
  const FactorEntries<Space> &entries = growing.entries;
  for (Index l = entries.lower_starts(i); l < entries.lower_starts(i + 1); l++) {
    const int wanted = round - 1 - growing.level(l);
    if (wanted < 0) continue;
    const Index m = entries.columns(l);
    for (Index u = entries.upper_start(m); u < entries.upper_start(m + 1); u++) {
      if (growing.level(u) == wanted && entries.find(i, entries.columns(u)) < 0) body(entries.columns(u));
    }
  }
}

/// The pattern with the columns of found(starts(i) .. starts(i) + sizes(i)), ascending and new, added to row i at level `round`.
template <class Space>
Growing<Space> merged(const Space &space, const Growing<Space> &growing, const Array<Index, Space> &starts,
                      const Array<Index, Space> &sizes, const Array<std::int32_t, Space> &found, int round)
{
  const Index rows                = growing.entries.rows;
  const FactorEntries<Space> &old = growing.entries;
  Growing<Space> result;
  FactorEntries<Space> &entries = result.entries;
  entries.rows                  = rows;
  entries.lower_starts          = make_array<Index>(space, "weft lower starts", rows + 1);
  entries.upper_starts          = make_array<Index>(space, "weft upper starts", rows + 1);
  const auto lower_starts = entries.lower_starts, upper_starts = entries.upper_starts;
  Kokkos::parallel_for(
      "weft sizes with fill", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        Index below = 0;
        while (below < sizes(i) && found(starts(i) + below) < i) below++;
        lower_starts(i) = old.lower_starts(i + 1) - old.lower_starts(i) + below;
        upper_starts(i) = old.upper_starts(i + 1) - old.upper_starts(i) + sizes(i) - below;
      });
  entries.lower = starts_of_sizes(space, entries.lower_starts);
  entries.upper = starts_of_sizes(space, entries.upper_starts);
  if (entries.size() > most_entries)
    throw std::length_error("the factors would have " + std::to_string(entries.size()) + " entries: allow fewer levels");
  entries.columns = make_array<std::int32_t>(space, "weft factor columns", entries.lower + entries.upper);
  result.level    = make_array<Level>(space, "weft fill levels", entries.lower + entries.upper);
  Kokkos::parallel_for(
      "weft merge fill", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        Index next           = starts(i);
        const Index last     = starts(i) + sizes(i);
        const auto merge_row = [&](Index from, Index from_end, Index to, Index to_end) {
          for (; to < to_end; to++) {
            const bool is_old          = from < from_end && (next == last || old.columns(from) < found(next));
            result.entries.columns(to) = is_old ? old.columns(from) : found(next);
            result.level(to)           = is_old ? growing.level(from) : static_cast<Level>(round);
            if (is_old)
              from++;
            else
              next++;
          }
        };
        const FactorEntries<Space> &made = result.entries;
        merge_row(old.lower_starts(i), old.lower_starts(i + 1), made.lower_starts(i), made.lower_starts(i + 1));
        merge_row(old.upper_start(i), old.upper_start(i + 1), made.upper_start(i), made.upper_start(i + 1));
      });
  return result;
}

} // namespace detail

/// `entries` with fill up to level k. Waits. Throws std::length_error where there would be more than most_fill entries.
template <class Space>
FactorEntries<Space> level_fill(const Space &space, const FactorEntries<Space> &entries, int k, Index most_fill)
{
  using namespace detail;
  const Index rows = entries.rows;
  Growing<Space> growing{entries, Array<Level, Space>(Kokkos::view_alloc(space, "weft fill levels"), entries.columns.extent(0))};
  int highest = 0; // pairs of these make entries of level 2 * highest + 1 at most
  for (int round = 1; round <= k && round <= 2 * highest + 1; round++) {
    const auto starts = make_array<Index>(space, "weft fill starts", rows + 1);
    const auto sizes  = make_array<Index>(space, "weft fill sizes", rows);
    Kokkos::parallel_for(
        "weft count fill", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
          Index count = 0;
          for_each_fill(growing, i, round, [&](std::int32_t) { count++; });
          starts(i) = count;
        });
    const Index total = starts_of_sizes(space, starts);
    if (total == 0) continue;
    const auto found = make_array<std::int32_t>(space, "weft fill", total);
    Kokkos::parallel_for(
        "weft find fill", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
          Index at = starts(i);
          for_each_fill(growing, i, round, [&](std::int32_t column) { found(at++) = column; });
          sort_keys(found.data() + starts(i), at - starts(i));
          Index size = 0; // each column once
          for (Index f = starts(i); f < at; f++) {
            if (size == 0 || found(starts(i) + size - 1) != found(f)) found(starts(i) + size++) = found(f);
          }
          sizes(i) = size;
        });
    growing = merged(space, growing, starts, sizes, found, round);
    highest = round;
    if (growing.entries.size() > most_fill)
      throw std::length_error("level " + std::to_string(round) + " of the fill has " + std::to_string(growing.entries.size()) +
                              " entries, more than the " + std::to_string(most_fill) + " that are allowed");
  }
  if (highest == 0) return entries;
  const FactorEntries<Space> &made = growing.entries;
  return extended(space, entries, made.lower_starts, made.upper_starts, made.lower, made.upper, made.columns);
}

} // namespace weft::crout
