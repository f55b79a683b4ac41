/// DistributedLineSolver: tridiagonal lines that cross the ranks of an MPI communicator. Each rank has a piece of every line, of any length,
/// also of one row or of none; any method of select.hpp solves the pieces. docs/kernels/distributed.md has formulas, words and messages.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "distributed/ranks.hpp"
#include "tridiagonal/line_solver.hpp"

namespace weft {

template <class Scalar>
class DistributedModel;

/// Steps of a solve, in their order: what the other pieces need to know of this one; messages, the reduced systems, and what they change in the
/// right-hand side; this rank's piece.
enum class SolveStep : int { products, reduced, piece };
/// For profiles: called as a step begins and as it ends. Messages wait for the kernels before them; those of the piece may still run.
using SolveObserver = std::function<void(SolveStep step, bool begins)>;

template <class Scalar>
class DistributedLineSolver {
public:
  /// `ranks`: those that share these lines, in the order of the rows. `piece`: this rank's rows of all lines. Every rank has the same number
  /// of lines, in the same order and of the same colours; strides, lengths and forms of the coefficients may differ. The piece's coefficients
  /// are those of its rows, so lower of its first row and upper of its last one couple to the neighbouring pieces. piece.periodic, the same on
  /// all ranks: the whole lines are rings.
  /// `device_messages`: MPI can read the memory of the execution; else messages go through host memory.
  /// parameters.tolerance: how small, next to 1, an effect of one end of a piece on the other may be to be dropped, see neighbours_only.
  /// `ranks` and `execution` must live as long as the solver.
  /// Collective, as is all that says so. Throws std::invalid_argument, on all ranks, where the pieces do not fit or a method refuses one.
  DistributedLineSolver(const Execution &execution, MPI_Comm ranks, const LineProblem &piece, const std::string &method,
                        const MethodParameters &parameters = {}, bool device_messages = false);
  ~DistributedLineSolver();
  DistributedLineSolver(const DistributedLineSolver &)            = delete;
  DistributedLineSolver &operator=(const DistributedLineSolver &) = delete;

  /// Takes the tridiagonal part of a matrix, whose row i is element i of the piece's layout, and the couplings to the row before and after the
  /// piece, a value for each line (not read where there is no such row). General coefficients only; all in the memory of the execution.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &matrix, const Scalar *before, const Scalar *after);
  /// Takes copies of coefficients on the host, of pieces with constant coefficients on every rank: lower of the first row and upper of the last
  /// one couple to the neighbouring pieces.
  void read(const ConstantLines<Scalar> &lines);
  /// Takes the coefficients of another solver of the same lines in the same pieces, in whichever memory they are.
  void read(const DistributedLineSolver &other);
  /// Works on the caller's coefficients, as LineSolver does.
  void use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper);

  /// Factors the pieces and the reduced systems. Collective.
  void factor();
  /// The first row, of the whole line, with an unusable pivot; the same answer on all ranks. Collective.
  std::optional<LineRow> bad_pivot() const;

  /// solution = scale * T^-1 rhs, as LineSolver does. Collective, with the same options on all ranks (but `apart`). rhs must be writable: its
  /// values in the first and last row of a piece change while the solve runs, and are put back. Nothing is allocated, but by the first
  /// transposed solve. Waits for the messages, not for the solution.
  void solve(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options = {});
  /// solution += scale * T^-1 rhs; rhs is work space and undefined afterwards. Collective.
  void solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options = {});

  /// Who is told of each solve's steps; nobody at first.
  void observe(SolveObserver observer);

  /// True where the last factorization found that no end of any piece acts on the other end by more than the tolerance: then solves talk to
  /// the neighbours only. The same on all ranks.
  bool neighbours_only(Transpose transpose = Transpose::no) const;
  /// Rows of the whole lines.
  Index length() const { return ranks_.length(); }
  /// This rank's piece.
  const LineProblem &piece() const { return piece_; }
  /// What solves it; a rank without rows has none.
  const LineSolver<Scalar> *local() const { return local_.get(); }
  const Execution &execution() const { return execution_; }

private:
  void solve_pieces(Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options);
  /// The solver for rows of the inverse.
  const LineSolver<Scalar> *ends() const { return one_ ? one_.get() : local_.get(); }

  const Execution &execution_;
  LineProblem piece_;
  Ranks ranks_;
  std::unique_ptr<LineSolver<Scalar>> local_; ///< of the piece; empty ranks have none
  std::unique_ptr<LineSolver<Scalar>> one_;   ///< of one line, where all are alike
  std::unique_ptr<DistributedModel<Scalar>> model_;
  bool transposed_is_factored_ = false;
};

} // namespace weft
