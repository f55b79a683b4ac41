/// What one pass over a matrix tells before lines are made: whether its values are numbers, and whether it is one tridiagonal line, or ring, in
/// the order of its rows.
#pragma once
#include <optional>

#include "line/line_solver.hpp"

namespace weft {

/// Columns of the part of a matrix that couples to rows of other ranks, and where this rank's rows stand in the whole matrix.
struct PlaceOfRows {
  Index rows = 0, first = 0, all = 0;        ///< of this rank; number of its first one; of the whole matrix
  Index before = -1, after = -1;             ///< columns of the rows before the first and after the last one of this rank; -1 for none
  Index last_of_all = -1, first_of_all = -1; ///< columns of the last and the first row of the whole matrix, where these are other ranks'
};

/// Entries that are 0 count as none.
struct MatrixLook {
  std::optional<Index> not_finite; ///< the first row of this rank with such an entry
  Index beside  = 0;               ///< entries that couple a row to others than those before and after it, but for the corners
  Index corners = 0;               ///< entries that couple the first and the last row of the whole matrix, of more than two
  Index between =
      0; ///< entries that couple a row to the one before or after it where another line of `line_rows` rows begins, or another rank
  Index elsewhere = 0; ///< entries that couple to rows of other ranks
  Index weak      = 0; ///< rows whose diagonal is smaller than the sum of the others' sizes, by more than rounding
};

/// `outside` has no rows where there are no other ranks. Both in the memory of the execution. Waits for the result.
template <class Scalar, class Int>
MatrixLook look_at(const Execution &execution, const PlaceOfRows &place, Index line_rows, const CsrMatrix<Scalar, Int> &inside,
                   const CsrMatrix<Scalar, Int> &outside);

/// Entries of a matrix of this rank's rows that lines of a grid lack: that couple a row neither to its own unknown at the nodes before and after it in
/// its line nor, if `together`, to any unknown there and of its node. closed: the first and the last row of a line are neighbours. Looks at some rows
/// in the middle first and, where these have such an entry, at no more: the number is of interest where it is 0. Waits for the result.
template <class Scalar, class Int>
Index couplings_beyond(const Execution &execution, const LineLayout &lines, bool together, bool closed,
                       const CsrMatrix<Scalar, Int> &inside);

} // namespace weft
