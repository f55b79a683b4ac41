/// StencilLinesAcross: lines of a grid that go on on other ranks, with this rank's rows of the matrix in diagonals.
#pragma once
#include "line/line_set.hpp"
#include "line/ranks/distributed_line_solver.hpp"
#include "line/ranks/outside_couplings.hpp"

namespace weft {

/// Lines of a colour that do not couple are relaxed in one pass over the rank's rows, once the ranks have told each other how lines will meet.
class StencilLinesAcross final : public LineSet {
public:
  using Couplings = OutsideCouplings<KernelScalar>;

  /// lines: in one piece, `piece`, cut off from the others'. `matrix` must outlive this, and be read before this is.
  StencilLinesAcross(std::unique_ptr<GridLines> lines, const StencilMatrix<KernelScalar> &matrix, const LineProblem &piece,
                     std::shared_ptr<Couplings> couplings, const std::string &kernel, const MethodParameters &parameters)
      : LineSet(lines->execution(), lines->colours()), lines_(std::move(lines)), matrix_(matrix), couplings_(std::move(couplings)),
        piece_(matrix, piece, colours(), kernel, parameters)
  {
  }

  void read(const LocalMatrix &matrix) override
  {
    lines_->read(matrix);
    piece_.read(matrix);
    one_pass_ = solver().everywhere(piece_.one_pass());
  }
  std::optional<Index> bad_row() const override
  {
    const auto whole = lines_->bad_row(), piece = one_pass_ ? piece_.bad_row() : std::nullopt;
    return whole && piece ? std::min(whole, piece) : whole ? whole : piece;
  }
  std::unique_ptr<LineSet> twin(const Execution &execution) const override { return lines_->twin(execution); }
  void solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const override { lines_->solve(b, x, options); }
  double flops(Colour colour) const override { return lines_->flops(colour); }

  bool relaxes() const override { return one_pass_ && matrix_.in_diagonals(); }
  void relax(KernelScalar *b, KernelScalar *x, Guess guess, const LineSolveOptions &options) const override
  {
    solver().take_neighbours(b, matrix_, guess == Guess::zero ? nullptr : x, options.colour);
    piece_.relax(b, x, guess, options);
    solver().put_back(b, options.colour);
  }
  void clear_own(KernelScalar *ghosts, Colour colour) const override { couplings_->clear(ghosts, colour); }
  double relax_flops(Colour colour) const override { return piece_.relax_flops(colour); }

  const char *method() const override { return lines_->method(); }
  PetscInt64 count() const override { return lines_->count(); }
  PetscInt64 longest() const override { return lines_->longest(); }
  std::string kind() const override { return lines_->kind() + (one_pass_ ? " with their residuals in one pass" : ""); }
  bool neighbours_only() const override { return lines_->neighbours_only(); }

private:
  DistributedLineSolver<KernelScalar> &solver() const { return static_cast<DistributedLineSolver<KernelScalar> &>(lines_->solver(0)); }

  std::unique_ptr<GridLines> lines_;
  const StencilMatrix<KernelScalar> &matrix_;
  std::shared_ptr<Couplings> couplings_;
  StencilLines piece_;
  bool one_pass_ = false;
};

} // namespace weft
