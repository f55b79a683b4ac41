/// FactoredLines: what LineSolver and BlockLineSolver have in common: a method on one backend, and the method of the transposed lines once these
/// are asked for. Needs no Kokkos header.
#pragma once
#include <memory>
#include <string>

#include "base/execution.hpp"
#include "line/any_lines.hpp"

namespace weft {

template <class Scalar>
class LineModel;

template <class Scalar>
class FactoredLines : public AnyLines<Scalar> {
public:
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper) final;
  void read(const AnyLines<Scalar> &other) override;
  void factor() final;
  std::optional<LineRow> bad_pivot() const final;
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const final;
  void solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options = {}) const final;
  void solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) final;
  const char *method() const final { return method_.c_str(); }
  const Execution &execution() const { return execution_; }

protected:
  FactoredLines(const Execution &execution, std::string method, const MethodParameters &parameters);
  ~FactoredLines() override;

  /// The method's plan and work space, for the lines or for their transposes.
  virtual std::unique_ptr<LineModel<Scalar>> make(Transpose transpose) const = 0;

  const Execution &execution_;
  std::string method_;
  MethodParameters parameters_;
  std::unique_ptr<LineModel<Scalar>> model_;

private:
  LineModel<Scalar> &model(Transpose transpose) const;

  mutable std::unique_ptr<LineModel<Scalar>> transposed_; ///< made and factored by the first transposed solve after factor()
  mutable bool transposed_is_factored_ = false;
};

} // namespace weft
