/// ILU(0) of cuSPARSE: csrilu02, and SpSV for both triangles.
#pragma once
#define DISABLE_CUSPARSE_DEPRECATED // csrilu02 has no successor
#include <cusparse.h>

#include <Kokkos_Core.hpp>
#include <stdexcept>
#include <string>

#include "crout_problem.hpp"

namespace weft::bench {

class CusparseIlu {
public:
  using Space = Kokkos::Cuda;

  explicit CusparseIlu(const Space &space) : space_(space)
  {
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, space.cuda_stream()), "cusparseSetStream");
  }
  CusparseIlu(const CusparseIlu &)            = delete;
  CusparseIlu &operator=(const CusparseIlu &) = delete;
  ~CusparseIlu()
  {
    forget();
    cusparseDestroy(handle_);
  }

  /// Analysis of csrilu02, factors, analyses of SpSV.
  void set_up(const CroutProblem<Space> &p)
  {
    forget();
    rows_    = static_cast<int>(p.rows);
    entries_ = static_cast<int>(p.entries);
    starts_  = p.starts;
    columns_ = p.columns;
    factors_ = DeviceArray<double, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench factors"), p.values.extent(0));
    between_ =
        DeviceArray<double, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench between"), static_cast<std::size_t>(p.rows));
    Kokkos::deep_copy(space_, factors_, p.values);
    check(cusparseCreateMatDescr(&matrix_), "cusparseCreateMatDescr");
    check(cusparseCreateCsrilu02Info(&info_), "cusparseCreateCsrilu02Info");
    int bytes = 0;
    check(cusparseDcsrilu02_bufferSize(handle_, rows_, entries_, matrix_, factors_.data(), starts_.data(), columns_.data(), info_, &bytes),
          "csrilu02");
    buffer_ =
        DeviceArray<char, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench buffer"), static_cast<std::size_t>(bytes));
    check(cusparseDcsrilu02_analysis(handle_, rows_, entries_, matrix_, factors_.data(), starts_.data(), columns_.data(), info_,
                                     CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
          "csrilu02_analysis");
    factor();
    halves_[0] = triangle(CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT);
    halves_[1] = triangle(CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT);
    for (Half &half : halves_) analyse(half);
  }
  /// New values of the same pattern: factors, and what SpSV keeps of them.
  void refactor(const DeviceArray<double, Space> &values)
  {
    Kokkos::deep_copy(space_, factors_, values);
    factor();
    for (Half &half : halves_)
      check(cusparseSpSV_updateMatrix(handle_, half.solve, factors_.data(), CUSPARSE_SPSV_UPDATE_GENERAL), "SpSV_updateMatrix");
  }
  void forget()
  {
    for (Half &half : halves_) {
      if (half.solve) cusparseSpSV_destroyDescr(half.solve);
      if (half.matrix) cusparseDestroySpMat(half.matrix);
      half = {};
    }
    if (info_) cusparseDestroyCsrilu02Info(info_);
    if (matrix_) cusparseDestroyMatDescr(matrix_);
    info_    = nullptr;
    matrix_  = nullptr;
    factors_ = between_ = {};
    buffer_             = {};
  }
  /// Factors alone.
  void factor_only(const DeviceArray<double, Space> &values)
  {
    Kokkos::deep_copy(space_, factors_, values);
    factor();
  }
  /// Nothing to say of the factors, or throws which pivot is zero. Waits.
  std::string checked(const CroutProblem<Space> &) const
  {
    int row = -1;
    if (cusparseXcsrilu02_zeroPivot(handle_, info_, &row) == CUSPARSE_STATUS_ZERO_PIVOT)
      throw std::runtime_error("zero pivot in row " + std::to_string(row));
    return {};
  }
  void forward(const double *rhs, double *x) { solve(halves_[0], rhs, x); }
  void backward(const double *rhs, double *x) { solve(halves_[1], rhs, x); }
  void apply(const double *rhs, double *x)
  {
    forward(rhs, between_.data());
    backward(between_.data(), x);
  }

private:
  struct Half {
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseSpSVDescr_t solve   = nullptr;
    DeviceArray<char, Space> buffer;
  };

  static void check(cusparseStatus_t status, const char *what)
  {
    if (status != CUSPARSE_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cuSPARSE's ") + what + ": " + cusparseGetErrorString(status));
  }
  void factor()
  {
    check(cusparseDcsrilu02(handle_, rows_, entries_, matrix_, factors_.data(), starts_.data(), columns_.data(), info_,
                            CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer_.data()),
          "csrilu02");
  }
  Half triangle(cusparseFillMode_t fill, cusparseDiagType_t diagonal)
  {
    Half half;
    check(cusparseCreateCsr(&half.matrix, rows_, rows_, entries_, starts_.data(), columns_.data(), factors_.data(), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
          "cusparseCreateCsr");
    check(cusparseSpMatSetAttribute(half.matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "fill mode");
    check(cusparseSpMatSetAttribute(half.matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal), "type of diagonal");
    check(cusparseSpSV_createDescr(&half.solve), "SpSV_createDescr");
    return half;
  }
  template <class Body>
  void with_vectors(const double *rhs, double *x, const Body &body)
  {
    cusparseDnVecDescr_t b = nullptr, y = nullptr;
    check(cusparseCreateDnVec(&b, rows_, const_cast<double *>(rhs), CUDA_R_64F), "cusparseCreateDnVec");
    check(cusparseCreateDnVec(&y, rows_, x, CUDA_R_64F), "cusparseCreateDnVec");
    body(b, y);
    cusparseDestroyDnVec(b);
    cusparseDestroyDnVec(y);
  }
  void analyse(Half &half)
  {
    with_vectors(between_.data(), between_.data(), [&](auto b, auto y) {
      std::size_t bytes = 0;
      check(cusparseSpSV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, half.matrix, b, y, CUDA_R_64F,
                                    CUSPARSE_SPSV_ALG_DEFAULT, half.solve, &bytes),
            "SpSV_bufferSize");
      half.buffer = DeviceArray<char, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench buffer"), bytes);
      check(cusparseSpSV_analysis(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, half.matrix, b, y, CUDA_R_64F,
                                  CUSPARSE_SPSV_ALG_DEFAULT, half.solve, half.buffer.data()),
            "SpSV_analysis");
    });
  }
  void solve(Half &half, const double *rhs, double *x)
  {
    with_vectors(rhs, x, [&](auto b, auto y) {
      check(cusparseSpSV_solve(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, half.matrix, b, y, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT,
                               half.solve),
            "SpSV_solve");
    });
  }

  Space space_;
  double one_ = 1;
  int rows_ = 0, entries_ = 0;
  cusparseHandle_t handle_   = nullptr;
  cusparseMatDescr_t matrix_ = nullptr;
  csrilu02Info_t info_       = nullptr;
  DeviceArray<std::int32_t, Space> starts_, columns_;
  DeviceArray<double, Space> factors_, between_;
  DeviceArray<char, Space> buffer_;
  Half halves_[2];
};

} // namespace weft::bench
