/// StencilMatrix: a sparse matrix on a grid as a few diagonals, for residuals and smoothers. The way in for callers without Kokkos.
#pragma once
#include <memory>
#include <vector>

#include "base/execution.hpp"
#include "line/line_solver.hpp"
#include "line/relax/norm.hpp"

namespace weft {

/// Most diagonals that a StencilMatrix takes.
inline constexpr int most_diagonals = 64;

/// A square matrix whose entries lie on few diagonals, column - row = offset: 5 for a 5-point stencil in the plane, a few more where it wraps
/// around. A coefficient array per diagonal, in the order of the rows, and no column numbers: 8 bytes an entry instead of 12.
///
/// A CSR matrix that is not like that (more than most_diagonals offsets, or more than twice as many words as entries) is used as it is, by the
/// same functions: the caller's arrays must then stay until another matrix is read.
template <class Scalar>
class StencilMatrix {
public:
  /// `execution` must live as long as the matrix.
  StencilMatrix(const Execution &execution, Index rows);
  ~StencilMatrix();
  StencilMatrix(const StencilMatrix &)            = delete;
  StencilMatrix &operator=(const StencilMatrix &) = delete;

  /// Takes a matrix of rows() rows, in the memory of the execution, which its entries never leave. Allocates where offsets are new. Waits.
  /// What was made from the matrix before (LineRelaxation) must be factored again.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix);

  /// Takes diagonals that stand somewhere already, in the memory of the execution, `pitch` elements apart in the order of their offsets, which
  /// ascend: row r of a diagonal at values[r], 0 where its column is none of the matrix's. They must stay. Allocates and waits where the
  /// offsets are new. What was made from the matrix before must be factored again.
  void use(const Scalar *values, Index pitch, const std::vector<Index> &offsets);

  /// True if the matrix is kept as diagonals, false if the CSR matrix itself is used (or none was read).
  bool in_diagonals() const;
  /// Offsets of the diagonals, ascending; empty unless in_diagonals().
  const std::vector<Index> &offsets() const;
  Index rows() const { return rows_; }
  const Execution &execution() const { return execution_; }

  /// r = b - A x (or b - A^T x) in one pass; `norm`: takes that of r too. Arrays of rows() elements, r neither x nor b. Does not wait.
  /// Throws std::invalid_argument for the transpose of a matrix that is not in diagonals.
  void residual(const Scalar *b, const Scalar *x, Scalar *r, Norm *norm = nullptr, Transpose transpose = Transpose::no) const;

  /// y = A x in one pass. Arrays of rows() elements, y not x. Does not wait.
  void multiply(const Scalar *x, Scalar *y) const;

  struct Storage; ///< defined in storage.hpp
  const Storage &storage() const { return *storage_; }

private:
  const Execution &execution_;
  Index rows_;
  std::unique_ptr<Storage> storage_;
};

} // namespace weft
