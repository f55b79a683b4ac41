/// cuBLAS on a stream, for products.hpp. Handles have a work space of their own, so that no product allocates; without it, or with another
/// stream beside it, cuBLAS would not promise the same bits twice.
#pragma once
#ifdef WEFT_HAVE_CUBLAS
#include <cublas_v2.h>

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "base/native_forms.hpp"
#include "bcr/shifted/launch.hpp"

namespace weft::poisson {
template <class Scalar>
struct Product;
}

namespace weft::poisson::cuda {

inline void check(cublasStatus_t status, const char *what)
{
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(std::string("poisson: ") + what + ": " + cublasGetStatusString(status));
}

class Blas {
public:
  /// That of a stream, which all have in common who use it at one time; null where native forms are left out. Throws std::runtime_error.
  /// The last one stays, since making one takes milliseconds: to the end of the process, when CUDA may be gone before static objects.
  static std::shared_ptr<Blas> on(cudaStream_t stream)
  {
    static std::mutex mutex;
    static std::map<cudaStream_t, std::weak_ptr<Blas>> known;
    static auto &last = *new std::shared_ptr<Blas>;
    if (!native_forms.products) return nullptr;
    const std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Blas> blas = known[stream].lock();
    if (!blas)
      known[stream] = blas = std::shared_ptr<Blas>(new Blas(stream));
    else
      blas->use(stream); // another one that has the same address as one that is gone
    return last = blas;
  }
  ~Blas()
  {
    if (handle_) cublasDestroy(handle_);
    if (work_space_) cudaFree(work_space_);
  }
  Blas(const Blas &)            = delete;
  Blas &operator=(const Blas &) = delete;

  template <class Scalar>
  void multiply(const Product<Scalar> &p) const
  {
    const cublasOperation_t ta = p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, tb = p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k), count = static_cast<int>(p.count);
    const int lda = static_cast<int>(p.a.ld), ldb = static_cast<int>(p.b.ld), ldc = static_cast<int>(p.ldc);
    if constexpr (sizeof(Scalar) == sizeof(double))
      check(cublasDgemmStridedBatched(handle_, ta, tb, m, n, k, &p.alpha, p.a.first, lda, p.a.apart, p.b.first, ldb, p.b.apart, &p.beta,
                                      p.c, ldc, p.c_apart, count),
            "cublasDgemm");
    else
      check(cublasSgemmStridedBatched(handle_, ta, tb, m, n, k, &p.alpha, p.a.first, lda, p.a.apart, p.b.first, ldb, p.b.apart, &p.beta,
                                      p.c, ldc, p.c_apart, count),
            "cublasSgemm");
  }

private:
  explicit Blas(cudaStream_t stream)
  {
    check(cublasCreate(&handle_), "cublasCreate");
    check(cudaMalloc(&work_space_, bytes), "work space of cuBLAS");
    use(stream);
  }
  /// A stream takes away the work space.
  void use(cudaStream_t stream)
  {
    check(cublasSetStream(handle_, stream), "cublasSetStream");
    check(cublasSetWorkspace(handle_, work_space_, bytes), "cublasSetWorkspace");
  }

  static constexpr std::size_t bytes = std::size_t(32) << 20; // what cuBLAS recommends for Hopper

  cublasHandle_t handle_ = nullptr;
  void *work_space_      = nullptr;
};

} // namespace weft::poisson::cuda
#endif
