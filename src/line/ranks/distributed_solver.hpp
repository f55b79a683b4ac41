/// DistributedSolver: what solvers for lines that cross ranks have in common, whatever solves a rank's piece: the scalar lines of
/// DistributedLineSolver, and the lines of blocks of DistributedBlockLineSolver. docs/kernels/distributed.md has formulas, words and messages.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "line/line_solver.hpp"
#include "line/ranks/ranks.hpp"

namespace weft {

template <class Scalar, class Local>
class DistributedImpl;

/// Steps of a solve, in their order: what the other pieces need to know of this one; messages, the reduced systems, and what they change in the
/// right-hand side; this rank's piece.
enum class SolveStep : int { products, reduced, piece };
/// For profiles: called as a step begins and as it ends. Messages wait for the kernels before them; those of the piece may still run.
using SolveObserver = std::function<void(SolveStep step, bool begins)>;

template <class Scalar, class Local>
class DistributedSolver : public AnyLines<Scalar> {
public:
  /// Takes the part of a matrix, whose row i is element i of the piece's layout, that lies on the lines, and the couplings to the row or node
  /// before and after the piece, a value or a block, row by row, for each line (not read where there is none). General coefficients only; all
  /// in the memory of the execution.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after);
  /// Takes the coefficients of another solver of the same lines in the same pieces, in whichever memory they are.
  void read(const AnyLines<Scalar> &other) override;
  /// Works on the caller's coefficients, as the local solver does.
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper) override;

  /// Factors the pieces and the reduced systems. Collective.
  void factor() override;
  /// The first row, of the whole line, with an unusable pivot; the same answer on all ranks. Collective.
  std::optional<LineRow> bad_pivot() const override;

  /// As the local solver does. Collective, with the same options on all ranks (but `ld`). Values of rhs in the first and last row of a piece
  /// change while the solve runs; where rhs is kept they are put back. Nothing is allocated, but by the first transposed solve. Waits for the
  /// messages, not for the solution.
  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) const override;

  /// Who is told of each solve's steps; nobody at first.
  void observe(SolveObserver observer);

  /// True where the last factorization found that no end of any piece acts on the other end by more than the tolerance: then solves talk to
  /// the neighbours only. The same on all ranks.
  bool neighbours_only(Transpose transpose = Transpose::no) const override;
  /// `here` on all ranks that share the lines. Collective.
  bool everywhere(bool here) const { return ranks_.smallest(here ? 1 : 0) == 1; }
  /// Rows of the whole lines.
  Index length() const override { return ranks_.length(); }
  Index block() const override { return local_ ? local_->block() : 1; }
  const char *method() const override { return local_ ? local_->method() : "none"; }
  double flops() const override { return local_ ? local_->flops() : 0; }
  /// What solves this rank's piece; a rank without rows has none.
  const Local *local() const { return local_.get(); }
  const Execution &execution() const { return execution_; }

protected:
  DistributedSolver(const Execution &execution, MPI_Comm ranks, const LineLayout &piece, bool ring);
  ~DistributedSolver() override;

  /// Throws, on all ranks, where the pieces make no lines, or one was refused. `unknowns` of a node, whose lines are counted.
  void check(const LineLayout &piece, Index unknowns, const std::optional<std::string> &refused_here) const;

  const Execution &execution_;
  Ranks ranks_;
  std::unique_ptr<Local> local_; ///< of the piece; empty ranks have none
  std::unique_ptr<Local> one_;   ///< of one line, where all are alike
  std::unique_ptr<DistributedImpl<Scalar, Local>> impl_;

private:
  /// The solver for rows of the inverse.
  const Local *ends() const { return one_ ? one_.get() : local_.get(); }

  mutable bool transposed_is_factored_ = false;
};

} // namespace weft
