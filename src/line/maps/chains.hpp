/// Chains: lines that go on on other ranks, put together from the pieces that the ranks have. Needs neither Kokkos nor MPI.
#pragma once
#include <vector>

#include "line/maps/ghost_rows.hpp"
#include "line/maps/joined_pieces.hpp"

namespace weft {

struct Chains {
  struct Piece {
    int rank;
    Index place;   ///< among the open lines of its rank
    bool reversed; ///< the line passes through it from its last row to its first
    OpenLine line;

    Index before() const { return reversed ? line.after : line.before; }
    Index after() const { return reversed ? line.before : line.after; }
    Index first() const { return reversed ? line.last : line.first; }
    Index last() const { return reversed ? line.first : line.last; }
  };
  using Line = std::vector<Piece>;

  std::vector<Line> lines; ///< each from the end that has the lower number, in the order of these numbers
  std::vector<Line> cycles;
};

/// The same on all ranks. Collective.
Chains chains_of(const GhostRows &ranks, const std::vector<OpenLine> &own);

/// The lines of a map that go on on other ranks, for JoinedLineSolver; those that lie the wrong way are turned round in the map.
/// Collective.
JoinedPieces join_lines(const GhostRows &ranks, LineMap &map);

/// The lines of each colour, for JoinedLineSolver, where each line has a colour; the same on all ranks. `rank`: this one.
std::vector<JoinedPieces> split_by_colour(const JoinedPieces &joined, const std::vector<int> &colour, int colours, int rank);

} // namespace weft
