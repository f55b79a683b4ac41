/// SingleLineSolver: tridiagonal lines in single precision between arrays in double. Half the memory for coefficients and factors, for
/// preconditioners, whose rounding an outer method in double takes away. Needs no Kokkos header.
#pragma once
#include "line/line_solver.hpp"

namespace weft {

class SingleLineSolver final : public AnyLines<double> {
public:
  SingleLineSolver(const Execution &execution, const LineProblem &problem, const std::string &method,
                   const MethodParameters &parameters = {});
  ~SingleLineSolver() override;
  /// As LineSolver's.
  static std::unique_ptr<SingleLineSolver> make(const Execution &execution, const LineProblem &problem, const std::string &method,
                                                const MethodParameters &parameters = {})
  {
    return std::make_unique<SingleLineSolver>(execution, problem, method, parameters);
  }

  /// Takes the tridiagonal part of a matrix, rounded. What is too large for a float ends as an unusable pivot.
  template <class Int>
  void read(const CsrMatrix<double, Int> &matrix);
  void read(const ConstantLines<double> &lines);

  void read(const AnyLines<double> &other) override;
  void factor() override { lines_->factor(); }
  std::optional<LineRow> bad_pivot() const override { return lines_->bad_pivot(); }

  /// As LineSolver's; rhs is left as it is.
  void solve(double *rhs, double *solution, const SolveOptions<double> &options = {}) const override;

  const LineProblem &problem() const { return lines_->problem(); }
  const LineLayout &layout() const { return lines_->layout(); }
  const char *method() const override { return lines_->method(); }
  Index length() const override { return lines_->length(); }
  double flops() const override { return lines_->flops(); }
  const Execution &execution() const { return lines_->execution(); }

  class Work; ///< arrays in the memory of the execution
private:
  std::unique_ptr<LineSolver<float>> lines_;
  std::unique_ptr<Work> work_;
};

} // namespace weft
