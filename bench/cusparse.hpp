/// cuSPARSE on the device: the function that its manual has for each layout. None of them keeps factors.
#pragma once
#include <cusparse.h>

#include <map>

#include "problem.hpp"

namespace weft::bench {

template <class Scalar>
struct Cusparse;
template <>
struct Cusparse<double> {
  using Number                           = double;
  static constexpr auto pivoted          = cusparseDgtsv2;
  static constexpr auto pivoted_size     = cusparseDgtsv2_bufferSizeExt;
  static constexpr auto unpivoted        = cusparseDgtsv2_nopivot;
  static constexpr auto unpivoted_size   = cusparseDgtsv2_nopivot_bufferSizeExt;
  static constexpr auto contiguous       = cusparseDgtsv2StridedBatch;
  static constexpr auto contiguous_size  = cusparseDgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved      = cusparseDgtsvInterleavedBatch;
  static constexpr auto interleaved_size = cusparseDgtsvInterleavedBatch_bufferSizeExt;
};
template <>
struct Cusparse<float> {
  using Number                           = float;
  static constexpr auto pivoted          = cusparseSgtsv2;
  static constexpr auto pivoted_size     = cusparseSgtsv2_bufferSizeExt;
  static constexpr auto unpivoted        = cusparseSgtsv2_nopivot;
  static constexpr auto unpivoted_size   = cusparseSgtsv2_nopivot_bufferSizeExt;
  static constexpr auto contiguous       = cusparseSgtsv2StridedBatch;
  static constexpr auto contiguous_size  = cusparseSgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved      = cusparseSgtsvInterleavedBatch;
  static constexpr auto interleaved_size = cusparseSgtsvInterleavedBatch_bufferSizeExt;
};
template <>
struct Cusparse<Complex<double>> {
  using Number                           = cuDoubleComplex;
  static constexpr auto pivoted          = cusparseZgtsv2;
  static constexpr auto pivoted_size     = cusparseZgtsv2_bufferSizeExt;
  static constexpr auto unpivoted        = cusparseZgtsv2_nopivot;
  static constexpr auto unpivoted_size   = cusparseZgtsv2_nopivot_bufferSizeExt;
  static constexpr auto contiguous       = cusparseZgtsv2StridedBatch;
  static constexpr auto contiguous_size  = cusparseZgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved      = cusparseZgtsvInterleavedBatch;
  static constexpr auto interleaved_size = cusparseZgtsvInterleavedBatch_bufferSizeExt;
};
template <>
struct Cusparse<Complex<float>> {
  using Number                           = cuComplex;
  static constexpr auto pivoted          = cusparseCgtsv2;
  static constexpr auto pivoted_size     = cusparseCgtsv2_bufferSizeExt;
  static constexpr auto unpivoted        = cusparseCgtsv2_nopivot;
  static constexpr auto unpivoted_size   = cusparseCgtsv2_nopivot_bufferSizeExt;
  static constexpr auto contiguous       = cusparseCgtsv2StridedBatch;
  static constexpr auto contiguous_size  = cusparseCgtsv2StridedBatch_bufferSizeExt;
  static constexpr auto interleaved      = cusparseCgtsvInterleavedBatch;
  static constexpr auto interleaved_size = cusparseCgtsvInterleavedBatch_bufferSizeExt;
};

/// As cuSPARSE has them.
template <class Scalar>
auto *numbers(Scalar *p)
{
  return reinterpret_cast<typename Cusparse<Scalar>::Number *>(p);
}
template <class Scalar>
const auto *numbers(const Scalar *p)
{
  return reinterpret_cast<const typename Cusparse<Scalar>::Number *>(p);
}

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

/// Its functions, as results name them.
enum class CusparseFunction { pivoted, unpivoted, contiguous, thomas, lu, qr };

inline CusparseFunction cusparse_function(const std::string &name)
{
  static const std::map<std::string, CusparseFunction> functions{
      {"cusparse:gtsv2", CusparseFunction::pivoted},
      {"cusparse:gtsv2_nopivot", CusparseFunction::unpivoted},
      {"cusparse:gtsv2StridedBatch", CusparseFunction::contiguous},
      {"cusparse:gtsvInterleavedBatch", CusparseFunction::thomas},
      {"cusparse:gtsvInterleavedBatch-lu", CusparseFunction::lu},
      {"cusparse:gtsvInterleavedBatch-qr", CusparseFunction::qr},
  };
  const auto found = functions.find(name);
  if (found == functions.end()) throw std::runtime_error("no library function is called " + name);
  return found->second;
}

/// Solves in place: the right-hand side is overwritten, interleaved the coefficients too. That is brought back outside the timed work, and
/// the work space allocated, in cuSPARSE's favour. It knows coefficients for every row only.
template <class Scalar>
class CusparseWork final : public SolveWork<Kokkos::Cuda, Scalar> {
public:
  CusparseWork(const Problems<Kokkos::Cuda, Scalar> &problems, CusparseFunction function)
      : SolveWork<Kokkos::Cuda, Scalar>(problems, problems.copies), function_(function),
        general_(with_general_coefficients(this->space_, problems)), count_(static_cast<int>(problems.lines.layout.count())),
        length_(static_cast<int>(problems.lines.layout.length))
  {
    if (interleaved()) {
      for (Values *array : {&own_lower_, &own_diagonal_, &own_upper_})
        *array = make_array<Kokkos::Cuda, Scalar>(problems.copies * problems.pitch);
    }
    buffer_ = make_array<Kokkos::Cuda, char>(static_cast<Index>(bytes_of_work_space()));
  }

  bool in_place() const override { return true; }
  void restore() override
  {
    Kokkos::deep_copy(this->space_, general_.solution, general_.rhs);
    if (!interleaved()) return;
    Kokkos::deep_copy(this->space_, own_lower_, general_.lower);
    Kokkos::deep_copy(this->space_, own_diagonal_, general_.diagonal);
    Kokkos::deep_copy(this->space_, own_upper_, general_.upper);
  }

  void run(int copy) override
  {
    using Functions = Cusparse<Scalar>;
    const auto &p   = general_;
    const auto at   = [copy, &p](const Values &values) { return numbers(p.of(values, copy)); };
    const auto *l = at(p.lower), *d = at(p.diagonal), *u = at(p.upper);
    auto *x      = at(p.solution);
    void *buffer = buffer_.data();
    switch (function_) {
    case CusparseFunction::pivoted:
      return check_cusparse(Functions::pivoted(handle_, length_, 1, l, d, u, x, length_, buffer), "gtsv2");
    case CusparseFunction::unpivoted:
      return check_cusparse(Functions::unpivoted(handle_, length_, 1, l, d, u, x, length_, buffer), "gtsv2_nopivot");
    case CusparseFunction::contiguous:
      return check_cusparse(Functions::contiguous(handle_, length_, l, d, u, x, count_, length_, buffer), "gtsv2StridedBatch");
    default:
      return check_cusparse(
          Functions::interleaved(handle_, algorithm(), length_, at(own_lower_), at(own_diagonal_), at(own_upper_), x, count_, buffer),
          "gtsvInterleavedBatch");
    }
  }

private:
  using Values = OwnedArray<Scalar, Kokkos::Cuda>;
  bool interleaved() const { return function_ >= CusparseFunction::thomas; }
  /// gtsvInterleavedBatch's number for it.
  int algorithm() const { return static_cast<int>(function_) - static_cast<int>(CusparseFunction::thomas); }

  std::size_t bytes_of_work_space() const
  {
    using Functions = Cusparse<Scalar>;
    const auto &p   = general_;
    const auto *l = numbers(p.lower.data()), *d = numbers(p.diagonal.data()), *u = numbers(p.upper.data()), *x = numbers(p.solution.data());
    std::size_t bytes = 0;
    const auto status = [&] {
      switch (function_) {
      case CusparseFunction::pivoted:
        return Functions::pivoted_size(handle_, length_, 1, l, d, u, x, length_, &bytes);
      case CusparseFunction::unpivoted:
        return Functions::unpivoted_size(handle_, length_, 1, l, d, u, x, length_, &bytes);
      case CusparseFunction::contiguous:
        return Functions::contiguous_size(handle_, length_, l, d, u, x, count_, length_, &bytes);
      default:
        return Functions::interleaved_size(handle_, algorithm(), length_, l, d, u, x, count_, &bytes);
      }
    }();
    check_cusparse(status, "size of work space");
    return bytes;
  }

  CusparseFunction function_;
  Problems<Kokkos::Cuda, Scalar> general_;
  int count_, length_;
  CusparseHandle handle_;
  OwnedArray<char, Kokkos::Cuda> buffer_;
  Values own_lower_, own_diagonal_, own_upper_; ///< what gtsvInterleavedBatch may overwrite
};

template <class Scalar>
std::unique_ptr<Work> make_rival(const Problems<Kokkos::Cuda, Scalar> &problems, const std::string &name)
{
  return std::make_unique<CusparseWork<Scalar>>(problems, cusparse_function(name));
}

} // namespace weft::bench
