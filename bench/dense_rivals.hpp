/// LU factors of a dense matrix by LAPACK on a host and by cuSOLVER on a device, with and without pivoting.
#pragma once
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "line/line_layout.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include <cusolverDn.h>
#endif

extern "C" void dgetrf_(const int *rows, const int *columns, double *a, const int *lda, int *pivots, int *info);

namespace weft::bench {

/// LAPACK has no form without pivoting: both calls are the same. On a device that has no other it takes a copy to the host.
template <class Space>
class Getrf {
public:
  using Array = Kokkos::View<double *, typename Space::memory_space>;

  Getrf(const Space &space, Index n) : space_(space), n_(static_cast<int>(n)), factors_("weft bench getrf", std::size_t(n * n)) {}
  void operator()(const Array &a, bool) const
  {
    Kokkos::deep_copy(space_, factors_, a);
    space_.fence("weft bench getrf");
    std::vector<int> pivots(static_cast<std::size_t>(n_));
    int info = 0;
    dgetrf_(&n_, &n_, factors_.data(), &n_, pivots.data(), &info);
  }

private:
  Space space_;
  int n_;
  Kokkos::View<double *, Kokkos::HostSpace> factors_;
};

#if defined(KOKKOS_ENABLE_CUDA)
template <>
class Getrf<Kokkos::Cuda> {
public:
  using Space = Kokkos::Cuda;
  using Array = Kokkos::View<double *, Space::memory_space>;

  Getrf(const Space &space, Index n)
      : space_(space), n_(n), factors_("weft bench getrf", std::size_t(n * n)), pivots_("weft bench pivots", std::size_t(n)),
        info_("weft bench info")
  {
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, space.cuda_stream()));
    check(cusolverDnCreateParams(&parameters_));
    std::size_t bytes = 0, host_bytes = 0;
    check(cusolverDnXgetrf_bufferSize(handle_, parameters_, n, n, CUDA_R_64F, factors_.data(), n, CUDA_R_64F, &bytes, &host_bytes));
    work_ = Kokkos::View<char *, Space::memory_space>("weft bench work", bytes);
    host_work_.resize(host_bytes + 1);
  }
  Getrf(const Getrf &)            = delete;
  Getrf &operator=(const Getrf &) = delete;
  ~Getrf()
  {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroy(handle_);
  }
  /// With the copy of the matrix that it overwrites, which takes a hundredth of it.
  void operator()(const Array &a, bool pivoting) const
  {
    Kokkos::deep_copy(space_, factors_, a);
    check(cusolverDnXgetrf(handle_, parameters_, n_, n_, CUDA_R_64F, factors_.data(), n_, pivoting ? pivots_.data() : nullptr, CUDA_R_64F,
                           work_.data(), work_.size(), const_cast<char *>(host_work_.data()), host_work_.size(), info_.data()));
  }

private:
  static void check(cusolverStatus_t status)
  {
    if (status != CUSOLVER_STATUS_SUCCESS) throw std::runtime_error("cuSOLVER's getrf: status " + std::to_string(status));
  }

  Space space_;
  Index n_;
  Array factors_;
  Kokkos::View<std::int64_t *, Space::memory_space> pivots_;
  Kokkos::View<int, Space::memory_space> info_;
  Kokkos::View<char *, Space::memory_space> work_;
  std::vector<char> host_work_;
  cusolverDnHandle_t handle_     = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
};
#endif

} // namespace weft::bench
