/// SingleLineSolver: tridiagonal lines in single precision between arrays in double. Half the memory for coefficients and factors, for
/// preconditioners, whose rounding an outer method in double takes away. Needs no Kokkos header.
#pragma once
#include "line/line_solver.hpp"

namespace weft {

class SingleLineSolver {
public:
  /// As LineSolver's.
  SingleLineSolver(const Execution &execution, const LineProblem &problem, const std::string &method,
                   const MethodParameters &parameters = {});
  ~SingleLineSolver();
  SingleLineSolver(const SingleLineSolver &)            = delete;
  SingleLineSolver &operator=(const SingleLineSolver &) = delete;

  /// Takes the tridiagonal part of a matrix, rounded. What is too large for a float ends as an unusable pivot.
  template <class Int>
  void read(const CsrMatrix<double, Int> &matrix);
  void read(const SingleLineSolver &other);
  void read(const ConstantLines<double> &lines);

  void factor() { lines_.factor(); }
  std::optional<LineRow> bad_pivot() const { return lines_.bad_pivot(); }

  /// As LineSolver's; solve_add leaves rhs as it is.
  void solve(const double *rhs, double *solution, const SolveOptions<double> &options = {}) const;
  void solve_add(const double *rhs, double *solution, SolveOptions<double> options = {}) const;

  const LineProblem &problem() const { return lines_.problem(); }
  const LineLayout &layout() const { return lines_.layout(); }
  const char *method() const { return lines_.method(); }
  double flops() const { return lines_.flops(); }
  const Execution &execution() const { return lines_.execution(); }

  class Work; ///< arrays in the memory of the execution
private:
  LineSolver<float> lines_;
  std::unique_ptr<Work> work_;
};

} // namespace weft
