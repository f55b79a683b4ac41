/// CroutModel: a factorization on one backend, its types hidden. What factorization.cpp needs to know; CroutModelOn has the rest.
#pragma once
#include <memory>

#include "crout/factorization.hpp"

namespace weft {

template <class Scalar>
class CroutModel {
public:
  virtual ~CroutModel()                                                                                           = default;
  virtual void analyse(Index rows, const CsrMatrix<double, std::int32_t> &matrix, const FactorOrdering &ordering) = 0;
  virtual void analyse(Index rows, const CsrMatrix<double, std::int64_t> &matrix, const FactorOrdering &ordering) = 0;
  /// Whether analyse() would find the same for these values.
  virtual bool analysis_holds(const CsrMatrix<double, std::int32_t> &matrix) = 0;
  virtual bool analysis_holds(const CsrMatrix<double, std::int64_t> &matrix) = 0;
  /// The first row with a value that is not finite, or -1.
  virtual Index row_not_finite(const CsrMatrix<double, std::int32_t> &matrix) const = 0;
  virtual Index row_not_finite(const CsrMatrix<double, std::int64_t> &matrix) const = 0;
  /// not_finite: that row, for values that the pattern of the factors leaves out; else -1.
  virtual void factor(const double *values, bool warm, Index not_finite) = 0;
  virtual const CroutReport &report() const                              = 0;
  virtual double product_size()                                          = 0;
  virtual SparseTriangles<Scalar> triangles() const                      = 0;
  virtual FactorTransform transform() const                              = 0;
};

/// The factory, instantiated in factorization_SCALAR.cpp so that the precisions compile side by side.
template <class Scalar>
struct CroutModels {
  static std::unique_ptr<CroutModel<Scalar>> make(const Execution &execution, const CroutOptions &options);
};

} // namespace weft
