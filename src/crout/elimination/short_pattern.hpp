/// What elimination of short rows in registers (cuda/short_rows.hpp) knows of a pattern: for each lower entry and each entry of its row a byte that
/// says which word of U their product takes.
#pragma once
#include <algorithm>
#include <limits>

#include "crout/elimination/ready_rows.hpp"

namespace weft::crout {

inline constexpr Index most_in_registers = 128;
/// Lower entries whose bytes stand together, for each lane.
inline constexpr int word_group = 8;

/// Where a row's entries and its groups of bytes begin, in the order of elimination.
struct alignas(8) ShortRow {
  std::int32_t row;
  Position lower, upper, group;
  std::uint8_t below, right;
};

/// What short rows know of their pattern.
template <class Space>
struct ShortPattern {
  Array<ShortRow, Space> rows;
  Array<Position, Space> begins; ///< of each lower entry (i, m): of row m of U (symmetric: of its part from column i on)
  Array<std::uint64_t, Space>
      words;     ///< word (group * lanes + k), byte a: which word from there on entry k of the row needs for lower entry a
  int lanes = 0; ///< 32, 64 or 128: 0 if there is none

  static constexpr std::uint8_t no_word = 255;
};

/// The bytes of one lower entry.
template <class Space>
struct FindWords {
  FactorEntries<Space> entries;
  ShortPattern<Space> pattern;
  Array<std::int32_t, Space> places;  ///< of the rows in the order of elimination
  Array<std::uint64_t, Space> mirror; ///< the upper entry of each lower one
  bool symmetric;

  KOKKOS_INLINE_FUNCTION void operator()(const Index e) const
  {
    const ShortRow row = pattern.rows(places(entries.row_of(e)));
    const int number   = static_cast<int>(e - row.lower);
    const Index m = entries.columns(e), group = Index(row.group) + number / word_group;
    const Index begin = symmetric ? static_cast<Index>(mirror(e) & 0xffffffffu) : entries.upper_start(m);
    pattern.begins(e) = static_cast<Position>(begin);
    // The byte of the first lane; the next one's are word_group bytes on.
    std::uint8_t *const bytes = reinterpret_cast<std::uint8_t *>(&pattern.words(group * pattern.lanes)) + number % word_group;
    int l = number + 1, u = 0;
    for (Index word = begin; word < entries.upper_start(m + 1); word++) {
      const Index j = entries.columns(word);
      int place     = -1;
      if (j == row.row) place = row.below + row.right;
      if (j < row.row && !symmetric) {
        while (l < row.below && entries.columns(Index(row.lower) + l) < j) l++;
        if (l < row.below && entries.columns(Index(row.lower) + l) == j) place = l;
      }
      if (j > row.row) {
        while (u < row.right && entries.columns(Index(row.upper) + u) < j) u++;
        if (u < row.right && entries.columns(Index(row.upper) + u) == j) place = row.below + u;
      }
      if (place >= 0) bytes[place * word_group] = static_cast<std::uint8_t>(word - begin);
    }
  }
};

/// Without lanes where a few long rows would take much memory for all: more than 8 bytes a byte of the factors in double, or than most_bytes. Waits.
template <class Space>
ShortPattern<Space> short_pattern(const Space &space, const FactorEntries<Space> &entries, const Array<std::uint64_t, Space> &mirror,
                                  bool symmetric, const ReadyRows<Space> &order, Index most_bytes = std::numeric_limits<Index>::max())
{
  ShortPattern<Space> pattern;
  pattern.lanes     = order.longest <= 32 ? 32 : order.longest <= 64 ? 64 : 128;
  pattern.rows      = make_array<ShortRow>(space, "weft short rows", entries.rows);
  pattern.begins    = make_array<Position>(space, "weft beginnings of rows", entries.lower);
  const auto rows   = pattern.rows;
  const auto list   = order.rows;
  const auto places = make_array<std::int32_t>(space, "weft places of rows", entries.rows);
  Index groups      = 0;
  Kokkos::parallel_scan(
      "weft short rows", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index p, Index &before, const bool final) {
        const Index i = list(p), lower = entries.lower_starts(i), upper = entries.upper_start(i);
        const auto below = static_cast<std::uint8_t>(entries.lower_starts(i + 1) - lower);
        const auto right = static_cast<std::uint8_t>(entries.upper_start(i + 1) - upper);
        if (final) {
          const auto position = [](Index number) { return static_cast<Position>(number); };
          rows(p)             = {static_cast<std::int32_t>(i), position(lower), position(upper), position(before), below, right};
          places(i)           = static_cast<std::int32_t>(p);
        }
        before += (below + word_group - 1) / word_group;
      },
      groups);
  space.fence("weft short rows");
  const Index most = std::min(8 * entries.size() + (Index(1) << 22), most_bytes / static_cast<Index>(sizeof(std::uint64_t)));
  if (groups * pattern.lanes > most) return {};
  pattern.words = make_array<std::uint64_t>(space, "weft words of short rows", groups * pattern.lanes);
  Kokkos::deep_copy(space, pattern.words, ~std::uint64_t(0));
  Kokkos::parallel_for("weft words of short rows", Range<Space>(space, 0, entries.lower),
                       FindWords<Space>{entries, pattern, places, mirror, symmetric});
  space.fence("weft words of short rows");
  return pattern;
}

} // namespace weft::crout
