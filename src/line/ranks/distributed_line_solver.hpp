/// DistributedLines: lines that cross the ranks of an MPI communicator, of scalars (DistributedLineSolver) or of blocks
/// (DistributedBlockLineSolver). Each rank has a piece of every line, of any length, also of one row or of none; any method of select.hpp or of
/// block_select.hpp solves the pieces. docs/kernels/distributed.md has formulas, words and messages.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/owner.hpp"
#include "line/blocks/block_line_solver.hpp"
#include "line/ranks/ranks.hpp"
#include "line/relax/stencil_matrix.hpp"

namespace weft {

/// Steps of a solve, in their order: what the other pieces need to know of this one; messages, the reduced systems, and what they change in the
/// right-hand side; this rank's piece.
enum class SolveStep : int { products, reduced, piece };
/// For profiles: called as a step begins and as it ends. Messages wait for the kernels before them; those of the piece may still run.
using SolveObserver = std::function<void(SolveStep step, bool begins)>;

/// Problem says what a piece is: LineProblem, or BlockLines.
template <class Problem, class Scalar>
class DistributedLines final : public AnyLines<Scalar> {
  static constexpr bool scalars = std::is_same_v<Problem, LineProblem>;

public:
  using Local = FactoredLines<Problem, Scalar>;

  /// `ranks`: those that share these lines, in the order of the rows. `piece`: this rank's rows, or nodes, of all lines. Every rank has the same
  /// number of lines, in the same order and of the same colours; strides, lengths and forms of the coefficients may differ. The piece's
  /// coefficients are those of its rows, so lower of its first row and upper of its last one couple to the neighbouring pieces. `ring`
  /// (piece.periodic where lines are of scalars), the same on all ranks: the whole lines are rings.
  /// `device_messages`: MPI can read the memory of the execution; else messages go through host memory.
  /// parameters.tolerance: how small, next to 1, an effect of one end of a piece on the other may be to be dropped, see neighbours_only.
  /// `ranks` and `execution` must live as long as the solver.
  /// Collective, as is all that says so. Throws std::invalid_argument, on all ranks, where the pieces do not fit or a method refuses one.
  DistributedLines(const Execution &execution, MPI_Comm ranks, const Problem &piece, bool ring, const std::string &method,
                   const MethodParameters &parameters = {}, bool device_messages = false);
  DistributedLines(const Execution &execution, MPI_Comm ranks, const Problem &piece, const std::string &method,
                   const MethodParameters &parameters = {}, bool device_messages = false) requires scalars
      : DistributedLines(execution, ranks, piece, piece.periodic, method, parameters, device_messages)
  {
  }

  /// Takes the part of a matrix, whose row i is element i of the piece's layout, that lies on the lines, and the couplings to the row or node
  /// before and after the piece, a value or a block, row by row, for each line (not read where there is none). General coefficients only; all
  /// in the memory of the execution.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after)
  {
    if (!local_) return;
    local_->read(matrix);
    impl_->use_couplings(before, after);
  }
  /// Takes copies of coefficients on the host, of pieces with constant coefficients on every rank: lower of the first row and upper of the last
  /// one couple to the neighbouring pieces.
  void read(const ConstantLines<Scalar> &lines) requires scalars // defined here: compilers of kernels and of glue may name it differently
  {
    if (!local_) return;
    local_->read(lines);
    one_->read(lines);
    impl_->use_couplings(std::vector<Scalar>{ranks_.has_before() ? lines.lower.front() : Scalar(0)},
                         std::vector<Scalar>{ranks_.has_after() ? lines.upper.back() : Scalar(0)});
  }
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
  /// Of one right-hand side the piece is factored and solved in one go too, and not factored before where windows make the rows of its inverse
  /// (end_windows.hpp).
  void solve_once(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {}) override;

  /// For a relaxation of the whole lines of a colour by a kernel that knows pieces only, a LineRelaxation of this one in `matrix`, whose row i
  /// is element i of the piece's layout: takes what the neighbouring pieces will be then from the first and the last row of rhs, until
  /// put_back(). x: what other lines are; null if 0. Only where fused() is true on all ranks. Collective.
  void take_neighbours(Scalar *rhs, const StencilMatrix<Scalar> &matrix, const Scalar *x, Colour colour) const requires scalars
  {
    impl_->take_neighbours(rhs, matrix, x, colour);
  }
  void put_back(Scalar *rhs, Colour colour) const requires scalars { impl_->put_back(rhs, colour); }

  /// Who is told of each solve's steps; nobody at first.
  void observe(SolveObserver observer) { impl_->observer = std::move(observer); }

  /// True where the last factorization found that no end of any piece acts on the other end by more than the tolerance: then solves talk to
  /// the neighbours only. The same on all ranks.
  bool neighbours_only(Transpose transpose = Transpose::no) const override { return impl_->neighbours_only(transpose); }
  /// `here` on all ranks that share the lines. Collective.
  bool everywhere(bool here) const { return ranks_.smallest(here ? 1 : 0) == 1; }
  /// Rows of the whole lines.
  Index length() const override { return ranks_.length(); }
  Index block() const override { return block_; }
  const char *method() const override { return local_ ? local_->method() : "none"; }
  double flops() const override { return local_ ? local_->flops() : 0; }

  /// What a rank does for its piece on one backend: DistributedImplOn.
  struct Impl {
    virtual ~Impl() = default;
    /// The coefficients, from which the couplings to the neighbours come.
    virtual void use(const Scalar *lower, const Scalar *upper) = 0;
    /// The couplings themselves, a block for each line, or one for all.
    virtual void use_couplings(const Scalar *before, const Scalar *after)                           = 0;
    virtual void use_couplings(const std::vector<Scalar> &before, const std::vector<Scalar> &after) = 0;
    virtual std::array<std::vector<Scalar>, 2> host_couplings() const                               = 0;
    /// Of the matrix or its transpose. `ends` solves for the rows of the inverse: the piece, or one line where all are alike; factor_ends() makes it ready
    /// to, if it is called.
    virtual void factor(Transpose transpose, const Local *ends, const std::function<void()> &factor_ends)            = 0;
    virtual bool neighbours_only(Transpose transpose) const                                                          = 0;
    virtual Index bad_pivot() const                                                                                  = 0;
    virtual void solve(const Local *piece, Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const = 0;
    /// The same by solve_once() of the piece, of one right-hand side.
    virtual void solve_once(Local *piece, Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const = 0;
    /// The part of a solve before the piece's, for right-hand sides less what scalar rows couple to beside their lines; and the part after it.
    virtual void take_neighbours(Scalar *rhs, const StencilMatrix<Scalar> &matrix, const Scalar *x, Colour colour) const = 0;
    virtual void put_back(Scalar *rhs, Colour colour) const                                                              = 0;

    SolveObserver observer;
  };

private:
  /// Throws, on all ranks, where the pieces make no lines, or one was refused. `unknowns` of a node, whose lines are counted.
  void check(const LineLayout &piece, Index unknowns, const std::optional<std::string> &refused_here) const;
  void factor_piece();
  /// The solver for rows of the inverse.
  const Local *ends() const { return one_ ? one_.get() : local_.get(); }

  Index block_; ///< unknowns of a node
  Ranks ranks_;
  std::unique_ptr<Local> local_; ///< of the piece; empty ranks have none
  std::unique_ptr<Local> one_;   ///< of one line, where all are alike
  Owner<Impl> impl_;
  mutable bool transposed_is_factored_ = false;
};

template <class Scalar>
using DistributedLineSolver = DistributedLines<LineProblem, Scalar>;
template <class Scalar>
using DistributedBlockLineSolver = DistributedLines<BlockLines, Scalar>;

} // namespace weft
