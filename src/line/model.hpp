/// LineModel: one method on one backend, its types hidden. What line_solver.cpp needs to know; method_model.hpp has the rest.
#pragma once
#include <Kokkos_Core.hpp>
#include <memory>

#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
class LineModel {
public:
  using Host = Kokkos::View<Scalar *, Kokkos::HostSpace>;
  struct HostCoefficients {
    Host lower, diagonal, upper;
  };
  /// Where the coefficients are.
  struct Pointers {
    const Scalar *lower = nullptr, *diagonal = nullptr, *upper = nullptr;
  };

  virtual ~LineModel()                                                                         = default;
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &matrix)                             = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &matrix)                             = 0;
  virtual void read(const HostCoefficients &coefficients)                                      = 0;
  virtual HostCoefficients host_coefficients() const                                           = 0;
  virtual void use(const Pointers &pointers)                                                   = 0;
  virtual Pointers pointers() const                                                            = 0;
  virtual void factor()                                                                        = 0;
  virtual std::optional<LineRow> bad_pivot() const                                             = 0;
  virtual void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const = 0;
  virtual void solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)  = 0;
};

/// The factory of a method's models. Defined in method_model.hpp and instantiated in METHOD.cpp, one file per method, so that methods compile
/// side by side.
template <class Method, class Scalar>
struct Models {
  static std::unique_ptr<LineModel<Scalar>> make(const Execution &execution, const LineProblem &problem, const MethodParameters &parameters,
                                                 Transpose transpose);
};

} // namespace weft
