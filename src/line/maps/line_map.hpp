/// LineMap: lines through the rows of any matrix, given by a user or found in the matrix. Needs no Kokkos header.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "line/line_layout.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// Rows in the order of the lines, and where each line starts: line l is rows[starts[l]] .. rows[starts[l + 1] - 1].
struct HostLines {
  std::vector<Index> rows, starts{0};

  friend bool operator==(const HostLines &, const HostLines &) = default;
};

/// How the lines of a matrix are found (docs/kernels/forest.md). A weight is max(|a_ij|, |a_ji|) / sqrt(|a_ii a_jj|).
struct ForestOptions {
  double least_weight   = 0; ///< edges of a smaller weight do not count
  double least_relative = 0; ///< neither do edges of less than this times the greatest weight at either of their rows
  /// Lines are cut where elimination without pivoting could break down, at the weakest edges. The tridiagonal part of a positive definite
  /// matrix need not be definite itself: uncut, it may be worse than the diagonal.
  bool safe_pivots = true;
  int rounds       = 40; ///< of proposals, at most
};

/// The most rows that a map can have.
inline constexpr Index most_forest_rows = Index(1) << 30;
/// The most colours that lines can have.
inline constexpr int most_line_colours = 64;

class GhostRows;
struct JoinedPieces;

/// A line that goes on on other ranks. Rows by their numbers in the whole matrix.
struct OpenLine {
  Index line;          ///< of the map
  Index first, last;   ///< its rows at either end
  Index before, after; ///< the rows of other ranks that come before and after; -1 where the line ends
  Index rows;
};

class LineMap {
public:
  /// The linear forest of the matrix: each of its `rows` rows is in exactly one line, maybe alone. Columns outside 0 .. rows-1 are ignored.
  /// Waits for the result. Throws std::invalid_argument for more than most_forest_rows rows. The result is the same, bit by bit, on
  /// every backend. `execution` must live as long as the map.
  /// With `ghosts` the lines of the whole matrix, whose rows lie on several ranks: each rank has its pieces of them, and together they are
  /// the same lines on any number of ranks. Collective then, and at most most_forest_rows rows of all ranks.
  template <class Scalar, class Int>
  LineMap(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &matrix, const ForestOptions &options = {},
          const GhostRows *ghosts = nullptr);
  /// A user's lines. Rows that are in none become lines of one row, after the others. Throws std::invalid_argument, naming the row, for
  /// rows outside 0 .. rows-1 or given twice.
  LineMap(const Execution &execution, Index rows, const HostLines &lines);
  /// The lines (and colours) of another map, in whichever memory that is.
  LineMap(const Execution &execution, const LineMap &other);
  ~LineMap();
  LineMap(const LineMap &)            = delete;
  LineMap &operator=(const LineMap &) = delete;

  /// Colours the lines so that no two of a colour are coupled by an entry of the matrix, and sorts them by colour. To be called before
  /// solvers are made. Waits. Throws std::runtime_error where most_line_colours do not suffice.
  /// With `ghosts` the lines of all ranks, of which `joined` go on on others; returns the colour of each of those. Collective then, and all
  /// ranks have the same number of colours. Without, this rank's lines alone.
  template <class Scalar, class Int>
  std::vector<int> colour(const CsrMatrix<Scalar, Int> &matrix, const GhostRows *ghosts = nullptr, const JoinedPieces *joined = nullptr);

  Index rows() const { return rows_; }
  Index lines() const { return lines_; }
  Index longest() const { return longest_; }
  /// 1 until coloured; 0 without rows.
  int colours() const { return static_cast<int>(colour_rows_.size()) - 1; }
  /// Where the rows of each colour start in the order of the lines: colours() + 1 numbers.
  const std::vector<Index> &colour_rows() const { return colour_rows_; }
  /// The first row of the matrix with an entry that is not finite, if the map was found in a matrix that has one. Such entries are no
  /// edges.
  std::optional<Index> not_finite() const { return not_finite_; }
  /// The lines that go on on other ranks, where the map was found with ghosts.
  const std::vector<OpenLine> &open_lines() const { return open_lines_; }
  /// Turns lines round. To be called before solvers are made. Waits.
  void turn_round(const std::vector<Index> &lines);
  /// A copy of the lines.
  HostLines host_lines() const;
  const Execution &execution() const { return execution_; }

  struct Arrays; ///< the same in the memory of the execution; defined in line_arrays.hpp
  const Arrays &arrays() const { return *arrays_; }

private:
  void start_with_one_colour();

  const Execution &execution_;
  Index rows_, lines_ = 0, longest_ = 0;
  std::vector<Index> colour_rows_;
  std::optional<Index> not_finite_;
  std::vector<OpenLine> open_lines_;
  std::unique_ptr<Arrays> arrays_;
};

/// What the lines of a matrix' graph carry of its couplings, once its values are others.
struct CarriedCouplings {
  std::int64_t share = 0; ///< in units of 2^-20, summed over the rows
  std::int64_t rows  = 0; ///< that have couplings which a line can carry
  std::int64_t left  = 0; ///< entries that couple a row of this rank to one that is not before or after it
};

/// For each row: its couplings to the rows before and after it in its line, as a share of the two greatest that count (options.least_weight,
/// here of the row's own entries), at most 1. Rows that have none are left out, and so are couplings to other ranks. Waits.
template <class Scalar, class Int>
CarriedCouplings carried_couplings(const LineMap &map, const CsrMatrix<Scalar, Int> &matrix, const ForestOptions &options);

} // namespace weft
