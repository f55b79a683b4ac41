/// Matrix products of the dense factorization: by the vendor's BLAS, or in an order of our own.
#pragma once
#include <memory>

#include "base/execution.hpp"
#include "line/line_layout.hpp"
#include "line/line_problem.hpp" // Transpose

namespace weft {

enum class Products {
  vendor, ///< cuBLAS on a device, BLAS on a host; ordered where this build has neither
  ordered ///< k ascending, each product and each sum rounded by itself: the same bits everywhere
};

template <class Scalar>
class MatrixProduct {
public:
  MatrixProduct(const Execution &execution, Products products);
  ~MatrixProduct();
  MatrixProduct(const MatrixProduct &)            = delete;
  MatrixProduct &operator=(const MatrixProduct &) = delete;

  /// C (m x n) += sign op(A) (m x k) B (k x n), sign 1 or -1. Column-major, in the memory of the execution; does not wait. C overlaps
  /// neither. op(A) is A or A^T. Throws std::runtime_error where BLAS fails.
  void add(int sign, Transpose transpose, Index m, Index n, Index k, const Scalar *a, Index lda, const Scalar *b, Index ldb, Scalar *c,
           Index ldc) const;
  /// "cuBLAS", "BLAS" or "ordered".
  const char *name() const;

private:
  struct Vendor;
  const Execution &execution_;
  std::unique_ptr<Vendor> vendor_; ///< null: ordered
};

} // namespace weft
