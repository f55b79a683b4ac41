/// Products of dense matrices, many of one size at once: the vendor's BLAS on a host, cuBLAS on a device (products_cuda.hpp), else a kernel.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "base/backend.hpp"
#include "base/native.hpp"
#include "line/tridiagonal.hpp"
#if defined(WEFT_NATIVE_CUDA)
#include "bcr/transforms/products_cuda.hpp"
#endif

extern "C" {
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc, std::size_t, std::size_t);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha, const float *a,
            const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc, std::size_t, std::size_t);
}

namespace weft::poisson {

/// The rows, columns and leading dimensions with which cuBLAS multiplies doubles at some 57 Tflop/s on Hopper (512 each way). Where one of
/// them is odd it does so at 36 to 45, and where the leading dimensions alone are even at 40 to 49.
constexpr Index padded_length(Index n)
{
  return n == 1 ? 1 : (n + 7) / 8 * 8;
}

/// Matrices column after column, ld elements from one to the next, `apart` from matrix to matrix; op(A) is A, or A^T where `transposed`.
template <class Scalar>
struct Operand {
  const Scalar *first = nullptr;
  Index ld            = 1;
  bool transposed     = false;
  Index apart         = 0;

  KOKKOS_INLINE_FUNCTION Scalar operator()(Index matrix, Index i, Index j) const
  {
    return first[matrix * apart + (transposed ? j + i * ld : i + j * ld)];
  }
};

/// C (m x n) = alpha op(A) (m x k) op(B) (k x n) + beta C, `count` times. C overlaps neither, and is not read where beta is 0.
template <class Scalar>
struct Product {
  Index m = 0, n = 0, k = 0;
  Operand<Scalar> a, b;
  Scalar *c = nullptr;
  Index ldc = 1, c_apart = 0, count = 1;
  Scalar alpha = 1, beta = 0;

  /// The sizes as BLAS takes them.
  bool fits() const { return std::max({m, n, k, a.ld, b.ld, ldc, count}) <= std::numeric_limits<int>::max(); }

  static constexpr Index columns = 8; ///< of C, for a thread of the kernel
  KOKKOS_INLINE_FUNCTION Index tiles() const { return (n + columns - 1) / columns; }

  /// Some columns of a row of C.
  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index i = number % m, rest = number / m, matrix = rest % count, first = rest / count * columns;
    Scalar sums[columns];
    for (int l = 0; l < columns; l++) sums[l] = 0;
    for (Index q = 0; q < k; q++) {
      const Scalar value = a(matrix, i, q);
      for (int l = 0; l < columns; l++) sums[l] += value * b(matrix, q, first + l < n ? first + l : n - 1);
    }
    for (int l = 0; l < columns; l++) {
      if (first + l >= n) break;
      Scalar &entry = c[matrix * c_apart + i + (first + l) * ldc];
      entry         = alpha * sums[l] + (beta == 0 ? Scalar(0) : beta * entry);
    }
  }
};

template <class Scalar>
void multiply_on_host(const Product<Scalar> &p)
{
  const char ta = p.a.transposed ? 'T' : 'N', tb = p.b.transposed ? 'T' : 'N';
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int lda = static_cast<int>(p.a.ld), ldb = static_cast<int>(p.b.ld), ldc = static_cast<int>(p.ldc);
  for (Index l = 0; l < p.count; l++) {
    const Scalar *const a = p.a.first + l * p.a.apart, *const b = p.b.first + l * p.b.apart;
    Scalar *const c = p.c + l * p.c_apart;
    if constexpr (std::is_same_v<Scalar, double>)
      dgemm_(&ta, &tb, &m, &n, &k, &p.alpha, a, &lda, b, &ldb, &p.beta, c, &ldc, 1, 1);
    else
      sgemm_(&ta, &tb, &m, &n, &k, &p.alpha, a, &lda, b, &ldb, &p.beta, c, &ldc, 1, 1);
  }
}

/// True for a BLAS that is known to be fast: OpenBLAS, MKL, BLIS and their like. The reference BLAS multiplies some five times slower.
bool host_blas_is_fast();

template <class Space>
class Products {
public:
  Products() = default;
  explicit Products(const Space &space);

  /// What multiplies, for people.
  std::string name() const
  {
    if (is_host_space<Space>)
      return host_blas_is_fast() ? "the host's BLAS"
                                 : "a BLAS that is not known to be fast (take OpenBLAS: some five times faster than the reference BLAS)";
#if defined(WEFT_NATIVE_CUDA) && defined(WEFT_HAVE_CUBLAS)
    if (vendor_) return "cuBLAS";
#endif
    return "a kernel";
  }

  /// Allocates nothing and does not wait.
  template <class Scalar>
  void operator()(const Space &space, const Product<Scalar> &product) const
  {
    if (product.m * product.n * product.count == 0) return;
    if constexpr (is_host_space<Space>) {
      if (product.fits()) {
        multiply_on_host(product);
        return;
      }
    }
#if defined(WEFT_NATIVE_CUDA) && defined(WEFT_HAVE_CUBLAS)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
      if (vendor_ && product.fits()) {
        vendor_->multiply(product);
        return;
      }
    }
#endif
    Kokkos::parallel_for("weft matrix product",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, product.m * product.count * product.tiles()),
                         product);
  }

private:
#if defined(WEFT_NATIVE_CUDA) && defined(WEFT_HAVE_CUBLAS)
  std::shared_ptr<cuda::Blas> vendor_; ///< null: the kernel
#endif
};

template <class Space>
Products<Space>::Products([[maybe_unused]] const Space &space)
{
#if defined(WEFT_NATIVE_CUDA) && defined(WEFT_HAVE_CUBLAS)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) vendor_ = cuda::Blas::on(space.cuda_stream());
#endif
}

} // namespace weft::poisson
