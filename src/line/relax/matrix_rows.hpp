/// Matrices as kernels see them: types with rows, product(i, x) = sum_j A(i, j) x_j, so that a kernel is written once for all of them.
#pragma once
#include <Kokkos_Core.hpp>

#include "line/line_solver.hpp"

namespace weft {

/// A product with an entry that may not be there (0): then x may be anything, also NaN or what another thread is writing. Both are loaded
/// before either is looked at, so nothing waits for the coefficient.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar times(Scalar coefficient, Scalar x)
{
  return coefficient != 0 ? coefficient * x : Scalar(0);
}

/// A matrix as diagonals: A(i, i + offsets[d]) = values[d * pitch + i], 0 where the matrix has no entry. Pointers in the kernels' memory.
template <class Scalar>
struct Diagonals {
  const Scalar *values = nullptr;
  const Index *offsets = nullptr;
  int count            = 0;
  Index pitch = 0, rows = 0;

  KOKKOS_INLINE_FUNCTION Scalar at(const Scalar *x, Index j) const { return j >= 0 && j < rows ? x[j] : Scalar(0); }
  KOKKOS_INLINE_FUNCTION Scalar product(Index i, const Scalar *x) const
  {
    Scalar sum = 0;
    for (int d = 0; d < count; d++) sum += times(values[d * pitch + i], at(x, i + offsets[d]));
    return sum;
  }
  /// The same with A^T: what stands in row i - offset of each diagonal.
  KOKKOS_INLINE_FUNCTION Scalar transposed_product(Index i, const Scalar *x) const
  {
    Scalar sum = 0;
    for (int d = 0; d < count; d++) {
      const Index j = i - offsets[d];
      if (j >= 0 && j < rows) sum += times(values[d * pitch + j], x[j]);
    }
    return sum;
  }
};

/// result[i - first] -= coefficients[i] x[i + offset] for rows first .. end - 1 of a matrix of `rows` rows. Made to vectorize: diagonal after
/// diagonal over a run of rows that stays in cache.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void subtract_diagonal(const Scalar *coefficients, Index offset, Index rows, const Scalar *x, Index first, Index end,
                                              Scalar *KOKKOS_RESTRICT result)
{
  const Index from = Kokkos::max(first, -offset), to = Kokkos::min(end, rows - offset);
  for (Index i = from; i < to; i++) result[i - first] -= times(coefficients[i], x[i + offset]);
}
/// Rows of such a run.
inline constexpr Index run_rows = 512;

template <class Scalar, class Int>
struct CsrRows {
  CsrMatrix<Scalar, Int> matrix;
  Index rows = 0;

  KOKKOS_INLINE_FUNCTION Scalar product(Index i, const Scalar *x) const
  {
    Scalar sum = 0;
    for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) sum += matrix.values[k] * x[matrix.columns[k]];
    return sum;
  }
};

} // namespace weft
