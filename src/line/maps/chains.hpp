/// Lines that go on on other ranks: what a rank knows of the others' rows (GhostRows), how pieces that the ranks have make lines (Chains), and these
/// lines (JoinedPieces). Needs neither Kokkos nor MPI.
#pragma once
#include "line/maps/line_map.hpp"

namespace weft {

/// Rows of other ranks that rows of this one couple to.
///
/// What one rank knows, and how it asks the others. All ranks ask for the same things in the same order.
class GhostRows {
public:
  virtual ~GhostRows() = default;

  int rank    = 0;
  Index first = 0;            ///< number of this rank's first row in the whole matrix
  Index all   = 0;            ///< rows of the whole matrix
  std::vector<Index> numbers; ///< of the ghosts in the whole matrix, rising
  std::vector<Index> shown;   ///< rows of this rank that others have as ghosts, in the order in which `bring` takes them
  std::vector<Index> starts;  ///< the couplings of row i of this rank are starts[i] .. starts[i + 1] - 1
  std::vector<Index> ghosts;  ///< with which ghost
  std::vector<double> mine;   ///< a_ij of row i and ghost j, 0 where it is not stored
  std::vector<double> theirs; ///< a_ji

  /// `words` of each ghost from its rank, for those of each row of `shown`.
  virtual void bring(const double *shown, double *ghosts, int words) const = 0;
  virtual Index sum(Index here) const                                      = 0;
  /// The numbers of all ranks, one rank's after the other's; `places`: where each rank's start, one more than ranks.
  virtual std::vector<std::int64_t> gather(const std::vector<std::int64_t> &here, std::vector<Index> &places) const = 0;
};

/// Lines through rows of any ranks, in any order of these. A piece is the rows of a line that follow each other on one rank.
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

/// Lines put together from the open ones of all ranks.
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
