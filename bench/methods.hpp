/// The methods of the library, through LineSolver: no kernel of theirs is compiled here.
#pragma once
#include <stdexcept>
#include <type_traits>

#include "base/backend.hpp"
#include "line/line_solver.hpp"
#include "problem.hpp"

namespace weft::bench {

template <class Space>
constexpr Memory memory_of()
{
  return std::is_same_v<Space, HostBackend> ? Memory::host : Memory::device;
}

/// Factors and solves, with new coefficients every time.
template <class Space, class Scalar>
class OneShotWork final : public SolveWork<Space, Scalar> {
public:
  OneShotWork(const Problems<Space, Scalar> &problems, const MethodSpec &method)
      : SolveWork<Space, Scalar>(problems, problems.copies), execution_(memory_of<Space>()),
        solver_(LineSolver<Scalar>::make(execution_, problems.lines, method.name, method.parameters))
  {
  }
  void run(int copy) override
  {
    const auto &p = this->problems_;
    solver_->use(p.coefficients_of(p.lower, copy), p.coefficients_of(p.diagonal, copy), p.coefficients_of(p.upper, copy));
    solver_->solve_once(p.of(p.rhs, copy), p.of(p.solution, copy));
  }
  std::string label() const override { return solver_->method(); }

private:
  Execution execution_;
  std::unique_ptr<LineSolver<Scalar>> solver_;
};

/// Solves with factors made before. They are inputs too: where lines have their own coefficients, each copy has a solver of its own.
template <class Space, class Scalar>
class FactoredWork final : public SolveWork<Space, Scalar> {
public:
  FactoredWork(const Problems<Space, Scalar> &problems, const MethodSpec &method)
      : SolveWork<Space, Scalar>(problems, of_their_own(problems) ? std::min(problems.copies, most_solvers) : problems.copies),
        execution_(memory_of<Space>())
  {
    const auto &p = this->problems_;
    for (int k = 0; k < (of_their_own(p) ? p.copies : 1); k++) {
      solvers_.push_back(LineSolver<Scalar>::make(execution_, p.lines, method.name, method.parameters));
      LineSolver<Scalar> &solver = *solvers_.back();
      solver.use(p.coefficients_of(p.lower, k), p.coefficients_of(p.diagonal, k), p.coefficients_of(p.upper, k));
      solver.factor();
      if (solver.bad_pivot()) throw std::runtime_error(method.text() + " finds a pivot unusable");
    }
  }
  void run(int copy) override
  {
    const auto &p      = this->problems_;
    const auto &solver = *solvers_[of_their_own(p) ? static_cast<std::size_t>(copy) : 0];
    solver.solve(p.of(p.rhs, copy), p.of(p.solution, copy));
  }
  std::string label() const override { return solvers_.front()->method(); }

private:
  static constexpr int most_solvers = 64;
  static bool of_their_own(const Problems<Space, Scalar> &problems) { return problems.lines.coefficients == Coefficients::general; }
  Execution execution_;
  std::vector<std::unique_ptr<LineSolver<Scalar>>> solvers_;
};

} // namespace weft::bench
