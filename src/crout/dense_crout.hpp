/// DenseCrout: A = L U of a dense matrix by fixed-point Crout sweeps, section after section along the diagonal (L. Cejka, "Parallel LU
/// decomposition", CTU Prague 2022), on the host or on a device. The way in for callers without Kokkos.
#pragma once
#include <string>

#include "base/kernel_scalar.hpp"
#include "base/owner.hpp"
#include "crout/dense/matrix_product.hpp"

namespace weft {

struct DenseCroutOptions {
  Index section                             = 0; ///< rows of a diagonal section; 0: 32
  enum class Stop { change, residual } stop = Stop::change;
  double tolerance                          = 0; ///< a section has converged when no entry's |new - old| (residual: |a - (LU)|) is above
  bool relative                             = false; ///< the tolerance is of |A| / n, Frobenius norm: then |A - L U| <= tolerance |A|
  enum class Start { scaled, given } start  = Start::scaled; ///< what is left of A; scaled: with rows of U divided by their pivots
  int most_sweeps                           = 0;             ///< of a section; 0: as many as the exact factors may take
  Products products                         = Products::vendor;
  /// Rows are exchanged: tournament pivoting by sections, as stable as partial pivoting. Without it the leading minors must not be 0, and
  /// what is lost to small pivots is lost.
  bool pivot = false;
};

struct DenseCroutReport {
  enum class Failure { none, not_finite_input, zero_pivot, not_finite, not_converged } failure = Failure::none;
  Index row                                                                                    = -1; ///< where; of pivots: of P A
  bool pivoted                                                                                 = false;
  Index sections                                                                               = 0;
  Index sweeps      = 0; ///< of all sections, with the last one of each, which only verifies
  Index most_sweeps = 0; ///< of a section

  /// "3 sections, 104 sweeps (at most 40 in one)", or why it failed and what to do.
  std::string text() const;
};

/// P A = L U, where P is the identity without options.pivot. Matrices are column-major.
template <class Scalar>
class DenseCrout {
public:
  /// Allocates the factors, n * n. Throws std::invalid_argument for options that make no sense. `execution` must live as long.
  static Owner<DenseCrout> make(const Execution &execution, Index n, const DenseCroutOptions &options = {});
  virtual ~DenseCrout()                     = default;
  DenseCrout(const DenseCrout &)            = delete;
  DenseCrout &operator=(const DenseCrout &) = delete;

  /// Factors a (n x n, column j at a + j * lda, in the memory of the execution). Waits. The factors are usable only if the report has no
  /// failure. Throws std::invalid_argument for lda < n.
  virtual const DenseCroutReport &factor(const Scalar *a, Index lda) = 0;
  const DenseCroutReport &report() const { return report_; }

  /// Z, n * n without gaps: L with its diagonal on and below it, U without its unit diagonal above.
  virtual const Scalar *factors() const = 0;
  /// Row i of the factors is row rows_of_a()[i] of A, in the memory of the execution.
  virtual const Index *rows_of_a() const = 0;

  /// x = A^-1 rhs, or A^-T rhs, for `nrhs` vectors, `ld` elements from one to the next; x may be rhs. Computes in Scalar. Does not wait;
  /// allocates at the first solve with more vectors than any before.
  virtual void solve(const KernelScalar *rhs, KernelScalar *x, Transpose transpose = Transpose::no, int nrhs = 1, Index ld = 0) = 0;

  /// "dense, sections of 32 rows, products by cuBLAS".
  virtual std::string description() const = 0;

protected:
  DenseCrout() = default;

  DenseCroutReport report_;
};

} // namespace weft
