/// What the members of DistributedBlockLineSolver do. Included by the .cpp file of each Scalar only: they compile side by side.
#pragma once
#include "line/ranks/distributed_block_line_solver.hpp"
#include "line/ranks/solver_parts.hpp"

namespace weft {

/// Goes down from the largest block to that of the lines.
template <class Scalar, int b = BlockLines::largest_block, class Space>
std::unique_ptr<DistributedImpl<Scalar, BlockLineSolver<Scalar>>>
make_distributed_block_impl(const Space &space, const Ranks &ranks, const LineProblem &piece, double tolerance, bool device_messages)
{
  if (piece.layout.components == b)
    return std::make_unique<DistributedImplOn<Space, Scalar, BlockLineSolver<Scalar>, b>>(space, ranks, piece, true, tolerance,
                                                                                          device_messages);
  if constexpr (b > 1)
    return make_distributed_block_impl<Scalar, b - 1>(space, ranks, piece, tolerance, device_messages);
  else
    return nullptr;
}

template <class Scalar>
DistributedBlockLineSolver<Scalar>::DistributedBlockLineSolver(const Execution &execution, MPI_Comm ranks, const BlockLines &piece,
                                                               bool ring, const std::string &method, const MethodParameters &parameters,
                                                               bool device_messages)
    : Base(execution, ranks, piece.layout, ring), piece_(piece)
{
  // The shape of a piece without nodes counts as well.
  std::optional<std::string> why = block_tridiagonal_method_refuses(block_tridiagonal_method_names().front(), piece);
  try {
    if (!why && !ranks_.is_empty()) local_ = BlockLineSolver<Scalar>::make(execution, piece, method, parameters);
  } catch (const std::invalid_argument &refusal) {
    why = refusal.what();
  }
  this->check(piece.layout, piece.layout.components, why);
  on_backend(execution, [&](const auto &space) {
    impl_ = make_distributed_block_impl<Scalar>(space, ranks_, LineProblem(piece.layout), parameters.tolerance, device_messages);
  });
}

} // namespace weft
