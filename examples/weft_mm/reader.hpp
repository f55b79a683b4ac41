// Reads a Matrix Market file through SuiteSparse's CHOLMOD. Knows nothing about PETSc.
#pragma once

#include "market_checker.hpp"
#include "scalar.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft_mm {

// A sparse matrix by columns, zero-based, both triangles present whatever the file stored, entries at the same place summed.
struct SparseMatrix {
  MarketHeader header;
  std::vector<std::int64_t> column_start; // columns + 1 positions in row_of and value_of
  std::vector<std::int64_t> row_of;
  std::vector<Scalar> value_of;

  std::int64_t rows() const { return header.rows; }
  std::int64_t columns() const { return header.columns; }
  std::int64_t nonzeros() const { return static_cast<std::int64_t>(value_of.size()); }
};

// Reads any real, integer or pattern file, and complex ones where scalars are complex, coordinate or array, plain or .gz. Each place of a pattern becomes the value 1, as in the
// format's own mmread (CHOLMOD's default, a Laplacian for symmetric patterns, is switched off). `look` sees the sizes
// before memory is taken for them. Throws InputError.
SparseMatrix read_market_file(const std::string &path, const LookAtSizes &look = {});

// The same for a matrix that is to be solved with: throws InputError where it is empty, rectangular, or has a row or column without any
// non-zero.
SparseMatrix read_square_matrix(const std::string &path);

// The right-hand side for this matrix. What: "ones", "random" (uniform in [-1, 1), so are imaginary parts, always the same), "solution" (the matrix times that
// random vector), or the path of a Matrix Market file with one column. Throws InputError.
std::vector<Scalar> make_right_hand_side(const std::string &what, const SparseMatrix &matrix);

} // namespace weft_mm
