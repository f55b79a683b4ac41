/// cuSPARSE on the device: the function that its manual has for each layout. None of them keeps factors.
#pragma once
#include <cusparse.h>

#include <vector>

#include "problem.hpp"

namespace weft::bench {

template <class Scalar>
struct Cusparse;
template <>
struct Cusparse<double> {
  static constexpr auto one_line         = cusparseDgtsv2_nopivot;
  static constexpr auto one_line_size    = cusparseDgtsv2_nopivot_bufferSizeExt;
  static constexpr auto contiguous       = cusparseDgtsv2StridedBatch;
  static constexpr auto contiguous_size  = cusparseDgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved      = cusparseDgtsvInterleavedBatch;
  static constexpr auto interleaved_size = cusparseDgtsvInterleavedBatch_bufferSizeExt;
};
template <>
struct Cusparse<float> {
  static constexpr auto one_line         = cusparseSgtsv2_nopivot;
  static constexpr auto one_line_size    = cusparseSgtsv2_nopivot_bufferSizeExt;
  static constexpr auto contiguous       = cusparseSgtsv2StridedBatch;
  static constexpr auto contiguous_size  = cusparseSgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved      = cusparseSgtsvInterleavedBatch;
  static constexpr auto interleaved_size = cusparseSgtsvInterleavedBatch_bufferSizeExt;
};

inline void check_cusparse(cusparseStatus_t status, const char *what)
{
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuSPARSE's ") + what + ": " + cusparseGetErrorString(status));
}

/// A handle on the default stream of Kokkos.
class CusparseHandle {
public:
  CusparseHandle()
  {
    check_cusparse(cusparseCreate(&handle_), "cusparseCreate");
    check_cusparse(cusparseSetStream(handle_, Kokkos::Cuda().cuda_stream()), "cusparseSetStream");
  }
  CusparseHandle(const CusparseHandle &)            = delete;
  CusparseHandle &operator=(const CusparseHandle &) = delete;
  ~CusparseHandle() { cusparseDestroy(handle_); }
  operator cusparseHandle_t() const { return handle_; }

  std::string version() const
  {
    int number = 0;
    check_cusparse(cusparseGetVersion(handle_, &number), "cusparseGetVersion");
    return std::to_string(number);
  }

private:
  cusparseHandle_t handle_ = nullptr;
};

/// The function that CusparseWork calls for a layout.
inline const char *cusparse_function(const LineLayout &layout)
{
  if (layout.count() == 1) return "gtsv2_nopivot";
  return layout.stride == 1 ? "gtsv2StridedBatch" : "gtsvInterleavedBatch";
}

/// Solves in place: the right-hand side is overwritten, interleaved the coefficients too. That is brought back outside the timed work, and
/// the work space allocated, in cuSPARSE's favour.
template <class Scalar>
class CusparseWork final : public Work {
public:
  explicit CusparseWork(const LineLayout &layout)
      : count_(static_cast<int>(layout.count())), length_(static_cast<int>(layout.length)), interleaved_(count_ > 1 && layout.stride > 1)
  {
    using Functions = Cusparse<Scalar>;
    const int count = copies_beyond_cache<Kokkos::Cuda>(Problem<Kokkos::Cuda, Scalar>::words * Index(sizeof(Scalar)) * layout.rows());
    const auto own  = [&] { return make_array<Kokkos::Cuda, Scalar>(interleaved_ ? layout.rows() : 0); };
    for (int seed = 0; seed < count; seed++)
      copies_.push_back({make_problem<Kokkos::Cuda, Scalar>(space_, layout, seed), own(), own(), own()});

    const auto &at    = copies_.front().problem;
    std::size_t bytes = 0;
    const Scalar *l = at.lower.data(), *d = at.diagonal.data(), *u = at.upper.data(), *x = at.solution.data();
    if (count_ == 1)
      check_cusparse(Functions::one_line_size(handle_, length_, 1, l, d, u, x, length_, &bytes), "size of work space");
    else if (interleaved_)
      check_cusparse(Functions::interleaved_size(handle_, thomas, length_, l, d, u, x, count_, &bytes), "size of work space");
    else
      check_cusparse(Functions::contiguous_size(handle_, length_, l, d, u, x, count_, length_, &bytes), "size of work space");
    buffer_ = make_array<Kokkos::Cuda, char>(static_cast<Index>(bytes));
  }

  int copies() const override { return static_cast<int>(copies_.size()); }

  void restore() override
  {
    for (const Copy &at : copies_) {
      Kokkos::deep_copy(space_, at.problem.solution, at.problem.rhs);
      if (!interleaved_) continue;
      Kokkos::deep_copy(space_, at.lower, at.problem.lower);
      Kokkos::deep_copy(space_, at.diagonal, at.problem.diagonal);
      Kokkos::deep_copy(space_, at.upper, at.problem.upper);
    }
  }

  void run(int copy) override
  {
    using Functions = Cusparse<Scalar>;
    const Copy &at  = copies_[copy];
    const Scalar *l = at.problem.lower.data(), *d = at.problem.diagonal.data(), *u = at.problem.upper.data();
    Scalar *x    = at.problem.solution.data();
    void *buffer = buffer_.data();
    if (count_ == 1)
      check_cusparse(Functions::one_line(handle_, length_, 1, l, d, u, x, length_, buffer), "gtsv2_nopivot");
    else if (interleaved_)
      check_cusparse(
          Functions::interleaved(handle_, thomas, length_, at.lower.data(), at.diagonal.data(), at.upper.data(), x, count_, buffer),
          "gtsvInterleavedBatch");
    else
      check_cusparse(Functions::contiguous(handle_, length_, l, d, u, x, count_, length_, buffer), "gtsv2StridedBatch");
  }

  double error(int copy) override { return largest_residual(space_, copies_[copy].problem); }

private:
  static constexpr int thomas = 0; ///< the fastest of its three algorithms, and like ours without pivoting
  using Values                = OwnedArray<Scalar, Kokkos::Cuda>;
  struct Copy {
    Problem<Kokkos::Cuda, Scalar> problem;
    Values lower, diagonal, upper; ///< what gtsvInterleavedBatch may overwrite
  };
  int count_, length_;
  bool interleaved_;
  Kokkos::Cuda space_;
  CusparseHandle handle_;
  OwnedArray<char, Kokkos::Cuda> buffer_;
  std::vector<Copy> copies_;
};

} // namespace weft::bench
