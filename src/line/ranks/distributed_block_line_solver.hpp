/// DistributedBlockLineSolver: block-tridiagonal lines that cross the ranks of an MPI communicator. The sibling of DistributedLineSolver for
/// nodes whose unknowns are solved for together; any method of block_select.hpp solves the pieces, and lines may be rings.
#pragma once
#include "line/blocks/block_line_solver.hpp"
#include "line/ranks/distributed_solver.hpp"

namespace weft {

template <class Scalar>
class DistributedBlockLineSolver final : public DistributedSolver<Scalar, BlockLineSolver<Scalar>> {
public:
  /// As DistributedLineSolver: `piece` is this rank's nodes of all lines of nodes, `ring` (the same on all ranks) closes the whole lines. Lower of
  /// a piece's first node and upper of its last one couple to the neighbouring pieces. Collective, as is all that says so. Throws
  /// std::invalid_argument, on all ranks, where the pieces do not fit or a method refuses one.
  DistributedBlockLineSolver(const Execution &execution, MPI_Comm ranks, const BlockLines &piece, bool ring, const std::string &method,
                             const MethodParameters &parameters = {}, bool device_messages = false);

  /// This rank's piece.
  const BlockLines &lines() const { return piece_; }
  Index block() const override { return piece_.layout.components; }

private:
  using Base = DistributedSolver<Scalar, BlockLineSolver<Scalar>>;
  using Base::impl_;
  using Base::local_;
  using Base::ranks_;

  BlockLines piece_;
};

} // namespace weft
