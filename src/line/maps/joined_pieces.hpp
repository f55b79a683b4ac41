/// JoinedPieces: lines through rows of any ranks, in any order of these. A piece is the rows of a line that follow each other on one rank.
#pragma once
#include <cstdint>
#include <vector>

#include "line/maps/line_map.hpp"

namespace weft {

struct JoinedPieces {
  // The same on all ranks. Lines that stay on a rank are left out.
  std::vector<int> ranks;       ///< of every piece, line by line, in the order of each line
  std::vector<Index> starts{0}; ///< where the pieces of each line start, one more than lines
  Index longest = 0;            ///< rows of the longest of these lines

  // Of this rank's own pieces, in the same order.
  HostLines own;                           ///< their rows, numbered on this rank
  std::vector<std::int64_t> before, after; ///< numbers, in the whole matrix, of the rows that come before and after; -1 where the line ends
  Index begin_elsewhere = 0;               ///< of these pieces, those that are not the first of their line

  Index count() const { return static_cast<Index>(starts.size()) - 1; }
  /// The next piece of this rank: its rows, from `begin` on, and what comes before and after it.
  template <class Iterator>
  void add_own(Iterator begin, Iterator end, std::int64_t row_before, std::int64_t row_after)
  {
    own.rows.insert(own.rows.end(), begin, end);
    own.starts.push_back(static_cast<Index>(own.rows.size()));
    before.push_back(row_before);
    after.push_back(row_after);
    begin_elsewhere += row_before >= 0;
  }

  friend bool operator==(const JoinedPieces &, const JoinedPieces &) = default;
};

} // namespace weft
