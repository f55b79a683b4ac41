/// AdiLines that cross ranks. Part of weft_distributed: it needs MPI.
#pragma once
#include "adi/adi_lines.hpp"
#include "line/ranks/distributed_line_solver.hpp"

namespace weft {

template <class Scalar>
class DistributedAdiLines final : public AdiLines<Scalar> {
public:
  /// `ranks`: those of these lines, in the order of the rows. Collective, as all of it is.
  DistributedAdiLines(const Execution &execution, MPI_Comm ranks, const LineProblem &piece, const std::string &method,
                      const MethodParameters &parameters)
      : solver_(execution, ranks, piece, method, parameters), local_(execution, cut_off(piece), method, parameters)
  {
  }
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper) override { solver_.use(lower, diagonal, upper); }
  void factor() override { solver_.factor(); }
  std::optional<LineRow> bad_pivot() const override { return solver_.bad_pivot(); }
  void solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override
  {
    solver_.solve(const_cast<Scalar *>(rhs), solution, options);
  }
  void solve_add(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override { solver_.solve_add(rhs, solution, options); }
  void solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) override
  {
    solver_.factor();
    solve(rhs, solution, options);
  }
  const char *method() const override { return local_.method(); }
  double flops() const override { return local_.flops(); }

private:
  static LineProblem cut_off(LineProblem piece)
  {
    piece.periodic = false;
    return piece;
  }

  DistributedLineSolver<Scalar> solver_;
  LineSolver<Scalar> local_;
};

} // namespace weft
