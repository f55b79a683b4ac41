/// CsrCopy: a copy of a CSR matrix of the host in the memory of an execution. Needs no Kokkos header.
#pragma once
#include "base/owner.hpp"
#include "line/line_solver.hpp"

namespace weft {

template <class Scalar, class Int>
class CsrCopy {
public:
  /// Waits for the copy. `execution` need not live longer.
  CsrCopy(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &host);

  const CsrMatrix<Scalar, Int> &matrix() const { return matrix_; }
  /// New values of the same pattern, of the host. Waits.
  void take(const Execution &execution, const Scalar *values);

private:
  Index entries_;
  CsrMatrix<Scalar, Int> matrix_;
  OwnerOfAny row_starts_, columns_, values_; ///< the memory
};

} // namespace weft
