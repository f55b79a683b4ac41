/// SparseTriangles: the two triangles of a sparse factorization, as the triangular solves take them. Free of Kokkos.
#pragma once
#include <cstdint>

#include "line/line_layout.hpp"

namespace weft {

/// B ~ L U with L unit lower and U upper triangular; B is the permuted and scaled matrix (see FactorTransform). Compressed rows, columns of
/// a row ascending; all arrays in the memory of the execution that made them.
template <class Scalar>
struct SparseTriangles {
  Index rows                        = 0;
  const std::int64_t *lower_starts  = nullptr; ///< strictly lower part of L: rows + 1
  const std::int32_t *lower_columns = nullptr;
  const Scalar *lower_values        = nullptr;
  const std::int64_t *upper_starts  = nullptr; ///< strictly upper part of U: rows + 1
  const std::int32_t *upper_columns = nullptr;
  const Scalar *upper_values        = nullptr;
  const Scalar *diagonal            = nullptr; ///< of U: rows; never 0, always finite
  std::int64_t lower_entries        = 0;       ///< lower_starts[rows], for hosts that cannot read it
  std::int64_t upper_entries        = 0;
  bool symmetric                    = false; ///< U = D L^T, that is B ~ L D L^T: the transposed solve is the solve
  bool checked                      = false; ///< columns are known to ascend on their side of the diagonal
};

/// What was factored: B_ij = row_scale[i] * A(row_order[i], column_order[j]) * column_scale[j]. So A^-1 r is found in three steps:
///
///     y_i = row_scale[i] * r[row_order[i]];   L U z = y;   x[column_order[j]] = column_scale[j] * z_j
///
/// All arrays have `rows` elements in the memory of the execution; a null pointer stands for the identity.
struct FactorTransform {
  const std::int32_t *row_order    = nullptr;
  const std::int32_t *column_order = nullptr;
  const double *row_scale          = nullptr;
  const double *column_scale       = nullptr;
};

} // namespace weft
