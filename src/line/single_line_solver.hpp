/// SingleLineSolver: tridiagonal lines in single precision between arrays in double. Half the memory for coefficients and factors, for
/// preconditioners, whose rounding an outer method in double takes away. Needs no Kokkos header.
#pragma once
#include "base/owner.hpp"
#include "line/line_solver.hpp"

namespace weft {

class SingleLineSolver : public AnyLines<KernelScalar> {
public:
  /// As LineSolver's.
  static Owner<SingleLineSolver> make(const Execution &execution, const LineProblem &problem, const std::string &method,
                                      const MethodParameters &parameters = {});

  /// Takes the tridiagonal part of a matrix, rounded. What is too large for a float ends as an unusable pivot.
  virtual void read(const CsrMatrix<KernelScalar, std::int32_t> &matrix) = 0;
  virtual void read(const CsrMatrix<KernelScalar, std::int64_t> &matrix) = 0;
  void read(const ConstantLines<KernelScalar> &lines);
  void read(const AnyLines<KernelScalar> &other) override { lines_->read(*static_cast<const SingleLineSolver &>(other).lines_); }
  void factor() override { lines_->factor(); }
  std::optional<LineRow> bad_pivot() const override { return lines_->bad_pivot(); }
  /// As LineSolver's; rhs is left as it is.
  void solve(KernelScalar *rhs, KernelScalar *solution, const SolveOptions<KernelScalar> &options = {}) const override = 0;

  const char *method() const override { return lines_->method(); }
  Index length() const override { return lines_->length(); }
  double flops() const override { return lines_->flops(); }

protected:
  explicit SingleLineSolver(std::unique_ptr<LineSolver<SingleScalar>> lines) : lines_(std::move(lines)) {}

  std::unique_ptr<LineSolver<SingleScalar>> lines_;
};

} // namespace weft
