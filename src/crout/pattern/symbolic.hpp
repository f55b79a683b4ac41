/// What is found on the host, once for a pattern: complete fill, and rows that put large entries on the diagonal.
#pragma once
#include <cstdint>
#include <vector>

#include "line/line_layout.hpp"

namespace weft::crout {

/// A square pattern on the host: columns of row i are columns[starts[i] .. starts[i + 1]).
struct HostPattern {
  std::vector<Index> starts{0};
  std::vector<std::int32_t> columns;

  Index rows() const { return static_cast<Index>(starts.size()) - 1; }
};

/// The parent of each column in the elimination tree: the row of the first entry below the diagonal of the Cholesky factor's column; -1 of a root.
std::vector<Index> elimination_tree(const HostPattern &lower);

/// The strictly lower triangle of the Cholesky factor of a symmetric pattern, columns ascending. `lower` holds the pattern's strictly lower
/// triangle in any order, entries twice or not. Row i of the factor is the part of the elimination tree between row i of the pattern and i
/// (J. W. H. Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. 11, 1990). Throws std::length_error where it
/// has more than `most` entries, before it stores them.
HostPattern complete_fill(const HostPattern &lower, Index most);

/// Rows matched to columns.
struct Matching {
  std::vector<Index> row_of_column; ///< -1 where a column has no row: the matrix is singular
  /// The smallest diagonal entry of the pattern after rows and columns are scaled so that the matched entries have size 1 and the others at
  /// most that: 0 for one that is missing, and where not all columns have rows. No scaling of the matrix by rows and columns changes it.
  double smallest_diagonal = 0;
};

/// The matching whose entries have the largest product, by shortest augmenting paths (I. S. Duff, J. Koster, "On algorithms for permuting large
/// entries to the diagonal of a sparse matrix", SIAM J. Matrix Anal. 22, 2001). Where a diagonal entry is as good as others it is taken. Where the
/// columns cannot all have rows, as many as can. `sizes` are the magnitudes of the entries, finite.
Matching largest_product(const HostPattern &pattern, const std::vector<double> &sizes);

} // namespace weft::crout
