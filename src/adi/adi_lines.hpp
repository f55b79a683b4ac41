/// AdiLines: the shifted lines of one direction, as AdiSolver needs them: those of a box that one rank has whole, or those that cross ranks
/// (distributed_lines.hpp).
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
class AdiLines {
public:
  virtual ~AdiLines() = default;

  /// Works on the caller's coefficients, problem.coefficient_size() each, which must stay.
  virtual void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper) = 0;
  virtual void factor()                                                              = 0;
  /// Of the last factorization: line and row, of the whole line. Waits.
  virtual std::optional<LineRow> bad_pivot() const = 0;
  /// As LineSolver's. Lines that cross ranks change rhs while they work and put it back.
  virtual void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) = 0;
  virtual void solve_add(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)   = 0;
  /// factor() and solve() in one go.
  virtual void solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) = 0;
  virtual const char *method() const                                                                = 0;
  virtual double flops() const                                                                      = 0;
};

/// Makes the lines of a direction (0, 1, 2). Throws std::invalid_argument where the method refuses them.
template <class Scalar>
using MakeAdiLines = std::function<std::unique_ptr<AdiLines<Scalar>>(int direction, const LineProblem &problem)>;

/// Lines that one rank has whole.
template <class Scalar>
class LocalAdiLines final : public AdiLines<Scalar> {
public:
  LocalAdiLines(const Execution &execution, const LineProblem &problem, const std::string &method, const MethodParameters &parameters)
      : solver_(execution, problem, method, parameters)
  {
  }
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper) override { solver_.use(lower, diagonal, upper); }
  void factor() override { solver_.factor(); }
  std::optional<LineRow> bad_pivot() const override { return solver_.bad_pivot(); }
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override { solver_.solve(rhs, solution, options); }
  void solve_add(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override { solver_.solve_add(rhs, solution, options); }
  void solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override
  {
    solver_.solve_once(rhs, solution, options);
  }
  const char *method() const override { return solver_.method(); }
  double flops() const override { return solver_.flops(); }

private:
  LineSolver<Scalar> solver_;
};

} // namespace weft
