/// DistributedLineSolver: tridiagonal lines that cross the ranks of an MPI communicator. Each rank has a piece of every line, of any length,
/// also of one row or of none; any method of select.hpp solves the pieces. docs/kernels/distributed.md has formulas, words and messages.
#pragma once
#include "line/ranks/distributed_solver.hpp"
#include "line/relax/stencil_matrix.hpp"

namespace weft {

template <class Scalar>
class DistributedLineSolver final : public DistributedSolver<Scalar, LineSolver<Scalar>> {
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

  using DistributedSolver<Scalar, LineSolver<Scalar>>::read;
  /// Takes copies of coefficients on the host, of pieces with constant coefficients on every rank: lower of the first row and upper of the last
  /// one couple to the neighbouring pieces.
  void read(const ConstantLines<Scalar> &lines);

  /// For a relaxation of the whole lines of a colour by a kernel that knows pieces only, a LineRelaxation of this one in `matrix`, whose row i
  /// is element i of the piece's layout: takes what the neighbouring pieces will be then from the first and the last row of rhs, until
  /// put_back(). x: what other lines are; null if 0. Only where fused() is true on all ranks. Collective.
  void take_neighbours(Scalar *rhs, const StencilMatrix<Scalar> &matrix, const Scalar *x, Colour colour) const;
  void put_back(Scalar *rhs, Colour colour) const;

  /// This rank's piece.
  const LineProblem &piece() const { return piece_; }

private:
  using Base = DistributedSolver<Scalar, LineSolver<Scalar>>;
  using Base::impl_;
  using Base::local_;
  using Base::one_;
  using Base::ranks_;

  LineProblem piece_;
};

} // namespace weft
