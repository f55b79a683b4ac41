/// CsrCopy: a copy of a CSR matrix of the host in the memory of an execution. Needs no Kokkos header.
#pragma once
#include "line/line_solver.hpp"

namespace weft {

template <class Scalar, class Int>
class CsrCopy {
public:
  /// Waits for the copy. `execution` need not live longer.
  CsrCopy(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &host);
  ~CsrCopy();
  CsrCopy(const CsrCopy &)            = delete;
  CsrCopy &operator=(const CsrCopy &) = delete;

  const CsrMatrix<Scalar, Int> &matrix() const { return matrix_; }

  struct Arrays; ///< what owns the memory

private:
  CsrMatrix<Scalar, Int> matrix_;
  std::unique_ptr<Arrays> arrays_;
};

} // namespace weft
