/// What is found on the host, once for a pattern: complete fill, and rows that put entries on the diagonal.
#pragma once
#include <cstdint>
#include <vector>

#include "lines.hpp"

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

/// A row for each column such that the entry there is not zero, and large against the rest of its row where that can be had: matches by
/// augmenting paths (I. S. Duff, "On algorithms for obtaining a maximum transversal", ACM TOMS 7, 1981), first with entries close to the
/// largest of their row, then with smaller ones. `sizes` are the magnitudes of the entries. -1 where a column has no row: the matrix is singular.
std::vector<Index> row_of_each_column(const HostPattern &pattern, const std::vector<double> &sizes);

} // namespace weft::crout
