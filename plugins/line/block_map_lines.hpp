/// BlockMapLines: lines of blocks that follow the strongest couplings of a matrix' nodes, as a LineSet.
#pragma once
#include "line/line_set.hpp"
#include "line/maps/mapped_block_solver.hpp"

namespace weft {

class BlockMapLines final : public LineSet {
public:
  BlockMapLines(std::unique_ptr<LineMap> nodes, Index block, const std::string &kernel, const MethodParameters &parameters)
      : nodes_(std::move(nodes)), block_(block), solver_(*nodes_, block, kernel, parameters), parameters_(parameters)
  {
  }

  const Execution &execution() const override { return nodes_->execution(); }
  int colours() const override { return 1; }

  void read(const LocalMatrix &matrix) override
  {
    solver_.read(matrix.inside);
    solver_.factor();
  }
  std::optional<Index> bad_row() const override
  {
    return nodes_->not_finite() ? std::optional(*nodes_->not_finite() * block_) : solver_.bad_pivot();
  }
  std::unique_ptr<LineSet> twin(const Execution &execution) const override
  {
    auto other = std::make_unique<BlockMapLines>(std::make_unique<LineMap>(execution, *nodes_), block_, solver_.method(), parameters_);
    other->solver_.read(solver_);
    other->solver_.factor();
    return other;
  }

  void solve(PetscScalar *b, PetscScalar *x, const LineSolveOptions &options) const override { solver_.solve(b, x, options); }

  double flops(Colour) const override { return solver_.flops(); }
  std::optional<CarriedCouplings> carried(const LocalMatrix &matrix) const override
  {
    return carried_couplings(*nodes_, node_couplings(execution(), nodes_->rows(), block_, matrix.inside)->matrix(), GraphOptions());
  }
  const char *method() const override { return solver_.method(); }
  PetscInt64 count() const override { return nodes_->lines(); }
  PetscInt64 longest() const override { return nodes_->longest(); }
  std::string kind() const override { return " of blocks"; }

private:
  std::unique_ptr<LineMap> nodes_;
  Index block_;
  MappedBlockSolver<PetscScalar> solver_;
  MethodParameters parameters_;
};

} // namespace weft
