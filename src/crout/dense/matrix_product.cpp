#include "crout/dense/matrix_product.hpp"

#include <stdexcept>
#include <string>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/real_of.hpp"

#if defined(WEFT_HAVE_CUBLAS)
#include <cublas_v2.h>
#endif
#if defined(WEFT_HAVE_BLAS)
extern "C" {
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *);
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *, const int *, const float *,
            const int *, const float *, float *, const int *);
void zgemm_(const char *, const char *, const int *, const int *, const int *, const weft::Complex<double> *, const weft::Complex<double> *,
            const int *, const weft::Complex<double> *, const int *, const weft::Complex<double> *, weft::Complex<double> *, const int *);
void cgemm_(const char *, const char *, const int *, const int *, const int *, const weft::Complex<float> *, const weft::Complex<float> *,
            const int *, const weft::Complex<float> *, const int *, const weft::Complex<float> *, weft::Complex<float> *, const int *);
}
#endif

namespace weft {

namespace {

template <class Scalar>
struct OrderedProduct {
  RealOf<Scalar> sign;
  bool transposed;
  Index m, n, k;
  const Scalar *a;
  Index lda;
  const Scalar *b;
  Index ldb;
  Scalar *c;
  Index ldc;

  /// An entry of C.
  KOKKOS_INLINE_FUNCTION void operator()(const Index entry) const
  {
    const Index i = entry % m, j = entry / m;
    Scalar sum = c[i + j * ldc];
    for (Index q = 0; q < k; q++) sum += sign * a[transposed ? q + i * lda : i + q * lda] * b[q + j * ldb];
    c[i + j * ldc] = sum;
  }
};

#if defined(WEFT_HAVE_BLAS)
[[maybe_unused]] void gemm(const char *ta, const int (&size)[3], double alpha, const double *a, int lda, const double *b, int ldb,
                           double *c, int ldc)
{
  const double one = 1;
  dgemm_(ta, "N", &size[0], &size[1], &size[2], &alpha, a, &lda, b, &ldb, &one, c, &ldc);
}
[[maybe_unused]] void gemm(const char *ta, const int (&size)[3], float alpha, const float *a, int lda, const float *b, int ldb, float *c,
                           int ldc)
{
  const float one = 1;
  sgemm_(ta, "N", &size[0], &size[1], &size[2], &alpha, a, &lda, b, &ldb, &one, c, &ldc);
}
[[maybe_unused]] void gemm(const char *ta, const int (&size)[3], Complex<double> alpha, const Complex<double> *a, int lda,
                           const Complex<double> *b, int ldb, Complex<double> *c, int ldc)
{
  const Complex<double> one = 1;
  zgemm_(ta, "N", &size[0], &size[1], &size[2], &alpha, a, &lda, b, &ldb, &one, c, &ldc);
}
[[maybe_unused]] void gemm(const char *ta, const int (&size)[3], Complex<float> alpha, const Complex<float> *a, int lda,
                           const Complex<float> *b, int ldb, Complex<float> *c, int ldc)
{
  const Complex<float> one = 1;
  cgemm_(ta, "N", &size[0], &size[1], &size[2], &alpha, a, &lda, b, &ldb, &one, c, &ldc);
}
#endif

#if defined(WEFT_HAVE_CUBLAS)
void check(cublasStatus_t status, const char *what)
{
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string(what) + " failed: " + cublasGetStatusString(status));
}
[[maybe_unused]] cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t ta, const int (&size)[3], double alpha, const double *a,
                                     int lda, const double *b, int ldb, double *c, int ldc)
{
  const double one = 1;
  return cublasDgemm(handle, ta, CUBLAS_OP_N, size[0], size[1], size[2], &alpha, a, lda, b, ldb, &one, c, ldc);
}
[[maybe_unused]] cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t ta, const int (&size)[3], float alpha, const float *a,
                                     int lda, const float *b, int ldb, float *c, int ldc)
{
  const float one = 1;
  return cublasSgemm(handle, ta, CUBLAS_OP_N, size[0], size[1], size[2], &alpha, a, lda, b, ldb, &one, c, ldc);
}
[[maybe_unused]] cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t ta, const int (&size)[3], Complex<double> alpha,
                                     const Complex<double> *a, int lda, const Complex<double> *b, int ldb, Complex<double> *c, int ldc)
{
  const Complex<double> one = 1;
  const auto as             = [](const Complex<double> *z) { return reinterpret_cast<const cuDoubleComplex *>(z); };
  return cublasZgemm(handle, ta, CUBLAS_OP_N, size[0], size[1], size[2], as(&alpha), as(a), lda, as(b), ldb, as(&one),
                     reinterpret_cast<cuDoubleComplex *>(c), ldc);
}
[[maybe_unused]] cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t ta, const int (&size)[3], Complex<float> alpha,
                                     const Complex<float> *a, int lda, const Complex<float> *b, int ldb, Complex<float> *c, int ldc)
{
  const Complex<float> one = 1;
  const auto as            = [](const Complex<float> *z) { return reinterpret_cast<const cuComplex *>(z); };
  return cublasCgemm(handle, ta, CUBLAS_OP_N, size[0], size[1], size[2], as(&alpha), as(a), lda, as(b), ldb, as(&one),
                     reinterpret_cast<cuComplex *>(c), ldc);
}
#endif

} // namespace

template <class Scalar>
struct MatrixProduct<Scalar>::Vendor {
#if defined(WEFT_HAVE_CUBLAS)
  cublasHandle_t handle = nullptr;

  explicit Vendor(const Execution &execution)
  {
    if (execution.memory() != Memory::device) return;
    check(cublasCreate(&handle), "cublasCreate");
    check(cublasSetStream(handle, static_cast<cudaStream_t>(execution.stream())), "cublasSetStream");
  }
  ~Vendor()
  {
    if (handle) cublasDestroy(handle);
  }
#else
  explicit Vendor(const Execution &) {}
#endif
  static bool present(Memory memory)
  {
    (void)memory;
#if defined(WEFT_HAVE_CUBLAS)
    if (memory == Memory::device) return true;
#endif
#if defined(WEFT_HAVE_BLAS)
    if (memory == Memory::host) return true;
#endif
    return false;
  }
};

template <class Scalar>
MatrixProduct<Scalar>::MatrixProduct(const Execution &execution, Products products) : execution_(execution)
{
  if (products == Products::vendor && Vendor::present(execution.memory())) vendor_ = std::make_unique<Vendor>(execution);
}

template <class Scalar>
MatrixProduct<Scalar>::~MatrixProduct() = default;

template <class Scalar>
const char *MatrixProduct<Scalar>::name() const
{
  return !vendor_ ? "ordered" : execution_.memory() == Memory::device ? "cuBLAS" : "BLAS";
}

template <class Scalar>
void MatrixProduct<Scalar>::add(int sign, Transpose transpose, Index m, Index n, Index k, const Scalar *a, Index lda, const Scalar *b,
                                Index ldb, Scalar *c, Index ldc) const
{
  if (m == 0 || n == 0 || k == 0) return;
  const bool transposed = transpose == Transpose::yes;
#if defined(WEFT_HAVE_CUBLAS)
  if (vendor_ && vendor_->handle) {
    check(gemm(vendor_->handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, {int(m), int(n), int(k)}, Scalar(sign), a, int(lda), b, int(ldb), c,
               int(ldc)),
          "cublas gemm");
    return;
  }
#endif
#if defined(WEFT_HAVE_BLAS)
  if (vendor_) {
    gemm(transposed ? "T" : "N", {int(m), int(n), int(k)}, Scalar(sign), a, int(lda), b, int(ldb), c, int(ldc));
    return;
  }
#endif
  on_backend(execution_, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    Kokkos::parallel_for("weft ordered product", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, m * n),
                         OrderedProduct<Scalar>{static_cast<RealOf<Scalar>>(sign), transposed, m, n, k, a, lda, b, ldb, c, ldc});
  });
}

template class MatrixProduct<KernelScalar>;
template class MatrixProduct<OtherScalar>;

} // namespace weft
