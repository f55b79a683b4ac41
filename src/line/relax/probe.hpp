/// A solve of a right-hand side that looks random, and how far its result is from the solution: what direct solvers check themselves by.
/// Needs no Kokkos header.
///
///   residual   |b - A x| / |b| for a b whose entries are all of like size
///   backward   the root mean square over the rows of |b_i - (A x)_i| / (|b_i| + sum_j |a_ij| |x_j|): by how much, relative to its entries,
///              the matrix has to change for x to solve it (W. Oettli, W. Prager, Numer. Math. 6 (1964) 405)
/// The residual of an ill-conditioned matrix is large whoever solves; then the other tells whether the solver or the matrix is to blame.
#pragma once
#include "base/execution.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// Rows of one process, in the memory of an Execution. Sparse with the columns of this process and those of others, or dense.
template <class Int>
struct ProbeRows {
  Index rows  = 0;
  Index first = 0;                      ///< number of the first row in the whole matrix
  CsrMatrix<KernelScalar, Int> inside;  ///< unless dense
  CsrMatrix<KernelScalar, Int> outside; ///< row_starts is null where there are none
  const KernelScalar *dense = nullptr;  ///< column after column, `ld` elements from one to the next
  Index ld                  = 0;
};

/// Sums over the rows of a process; they add up over processes.
struct ProbeSums {
  double residual = 0; ///< of the squares of (b - A x)_i / unit
  double rhs      = 0; ///< of the squares of b_i / unit
  double backward = 0; ///< of the squares of |b - A x|_i / (|b_i| + sum_j |a_ij| |x_j|), j among the columns of this process
};
/// The logarithms of the largest entries of the rows: their sum, and the number of rows that are not 0. They add up over processes.
struct ProbeSizes {
  double logarithms = 0, rows = 0;
};

/// Waits.
template <class Int>
ProbeSizes probe_sizes(const Execution &execution, const ProbeRows<Int> &matrix);
/// x_i = `unit` times a value in [-1, 1) that depends on the number of the row in the whole matrix alone. Does not wait.
void set_probe(const Execution &execution, Index first, Index rows, double unit, KernelScalar *x);
/// `product` is A x; null: it is made here, from the columns of this process. Waits.
template <class Int>
ProbeSums probe_sums(const Execution &execution, const ProbeRows<Int> &matrix, double unit, const KernelScalar *product,
                     const KernelScalar *b, const KernelScalar *x);

} // namespace weft
