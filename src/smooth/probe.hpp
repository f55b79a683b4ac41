/// A solve of a right-hand side that looks random, and how far its result is from the solution: what direct solvers check themselves by.
/// Needs no Kokkos header.
///
/// Of A x = b with row scales s_i = max_j |a_ij|, so that equations in any units count the same:
///   residual   |b - A x| / |b|, both divided by s row by row
///   backward   the root mean square over the rows of |b_i - (A x)_i| / (|b_i| + sum_j |a_ij| |x_j|): by how much, relative to its entries,
///              the matrix has to change for x to solve it (W. Oettli, W. Prager, Numer. Math. 6 (1964) 405)
/// The residual of an ill-conditioned matrix is large whoever solves; then the other tells whether the solver or the matrix is to blame.
#pragma once
#include "execution.hpp"
#include "tridiagonal/line_solver.hpp"

namespace weft {

/// Rows of one process, in the memory of an Execution. Sparse with the columns of this process and those of others, or dense.
template <class Int>
struct ProbeRows {
  Index rows  = 0;
  Index first = 0;                ///< number of the first row in the whole matrix
  CsrMatrix<double, Int> inside;  ///< unless dense
  CsrMatrix<double, Int> outside; ///< row_starts is null where there are none
  const double *dense = nullptr;  ///< column after column, `pitch` elements apart
  Index pitch         = 0;
};

/// Sums over the rows of a process; they add up over processes.
struct ProbeSums {
  double residual = 0; ///< of the squares of (b - A x)_i / s_i
  double rhs      = 0; ///< of the squares of b_i / s_i
  double backward = 0; ///< of the squares of |b - A x|_i / (|b_i| + sum_j |a_ij| |x_j|), j among the columns of this process
};

/// x_i = a value in [-1, 1) that depends on the number of the row in the whole matrix alone. Does not wait.
void set_probe(const Execution &execution, Index first, Index rows, double *x);
/// b_i = s_i times that value.
template <class Int>
void set_probe_rhs(const Execution &execution, const ProbeRows<Int> &matrix, double *b);
/// `product` is A x; null: it is made here, from the columns of this process. Waits.
template <class Int>
ProbeSums probe_sums(const Execution &execution, const ProbeRows<Int> &matrix, const double *product, const double *b, const double *x);

} // namespace weft
