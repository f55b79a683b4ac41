#include "boxmg/box_multigrid.hpp"

#include <stdexcept>

#include "boxmg/blocks/block_multigrid.hpp"
#include "boxmg/csr_of_level.hpp"
#include "boxmg/hierarchy.hpp"
#include "boxmg/turned.hpp"
#include "line/blocks/block_lines.hpp"

namespace weft {

namespace {

void check(const boxmg::Grid &grid, const BoxmgOptions &options, const BoxmgRanks *ranks)
{
  for (const Index n : grid.n) {
    if (n < 1) throw std::invalid_argument("a grid has at least one node along each direction");
  }
  if (options.levels < 0) throw std::invalid_argument("the number of levels is at least 1, or 0 for as many as there can be");
  if (options.sweeps < 1) throw std::invalid_argument("the number of sweeps is at least 1");
  if (options.coarsest_nodes < 1) throw std::invalid_argument("the coarsest grid has at least 1 node");
  if (options.unknowns < 1 || options.unknowns > BlockLines::largest_block)
    throw std::invalid_argument("a node has 1 to " + std::to_string(BlockLines::largest_block) + " unknowns");
  if (options.unknowns > 1 && (ranks || options.single_precision || options.smoother == BoxmgSmoother::planes))
    throw std::invalid_argument("several unknowns a node are for one rank, in double precision, without planes");
  if (options.coarsen > 7) throw std::invalid_argument("there are three directions to coarsen");
}

} // namespace

template <class Scalar>
BoxMultigrid<Scalar>::BoxMultigrid(const Execution &execution, const boxmg::Grid &grid, const BoxmgOptions &options,
                                   const BoxmgRanks *ranks)
    : execution_(execution)
{
  check(grid, options, ranks);
  if (options.unknowns > 1) {
    hierarchy_ = boxmg::make_block_hierarchy<Scalar>(execution, grid, options);
    return;
  }
  hierarchy_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<Hierarchy> {
    using Space = std::decay_t<decltype(space)>;
    if (ranks && options.single_precision)
      return std::make_unique<boxmg::HierarchyOn<Space, Scalar, SingleScalar>>(space, execution, grid, options, ranks);
    if (ranks) return std::make_unique<boxmg::HierarchyOn<Space, Scalar, Scalar>>(space, execution, grid, options, ranks);
    if (options.single_precision) return std::make_unique<boxmg::Turnable<Space, Scalar, SingleScalar>>(space, execution, grid, options);
    return std::make_unique<boxmg::Turnable<Space, Scalar, Scalar>>(space, execution, grid, options);
  });
}

template <class Scalar>
BoxMultigrid<Scalar>::~BoxMultigrid()
{
  destroy_or_leave(hierarchy_);
}

template <class Scalar>
template <class Int>
void BoxMultigrid<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix, std::optional<bool> symmetric)
{
  hierarchy_->read(matrix, symmetric);
}

template <class Scalar>
template <class Int>
void BoxMultigrid<Scalar>::read(const boxmg::RowsOfPart<Scalar, Int> &rows, std::optional<bool> symmetric)
{
  hierarchy_->read(rows, symmetric);
}

template <class Scalar>
std::optional<BoxmgFault> BoxMultigrid<Scalar>::fault() const
{
  return hierarchy_->fault();
}

template <class Scalar>
bool BoxMultigrid<Scalar>::is_for_one_rank() const
{
  return hierarchy_->is_for_one_rank();
}

template <class Scalar>
void BoxMultigrid<Scalar>::apply(Scalar *b, Scalar *x, Transpose transpose) const
{
  hierarchy_->apply(b, x, transpose, nullptr);
}

template <class Scalar>
void BoxMultigrid<Scalar>::apply_and_tell(Scalar *b, Scalar *x, const std::function<void(int, bool, double)> &heard) const
{
  hierarchy_->apply(b, x, Transpose::no, &heard);
}

template <class Scalar>
int BoxMultigrid<Scalar>::iterate(Scalar *b, Scalar *x, bool zero, int steps, const std::function<bool(double)> &enough) const
{
  return hierarchy_->iterate(b, x, zero, steps, enough);
}

template <class Scalar>
std::vector<BoxmgLevel> BoxMultigrid<Scalar>::levels() const
{
  return hierarchy_->levels();
}

template <class Scalar>
bool BoxMultigrid<Scalar>::symmetric() const
{
  return hierarchy_->symmetric();
}

template <class Scalar>
BoxmgCycle BoxMultigrid<Scalar>::cycle() const
{
  return hierarchy_->cycle();
}

template <class Scalar>
bool BoxMultigrid<Scalar>::dominant() const
{
  return hierarchy_->dominant();
}

template <class Scalar>
Index BoxMultigrid<Scalar>::rows_left_out() const
{
  return hierarchy_->rows_left_out();
}

template <class Scalar>
double BoxMultigrid<Scalar>::flops() const
{
  return hierarchy_->flops();
}

template <class Scalar>
typename BoxMultigrid<Scalar>::Csr BoxMultigrid<Scalar>::operator_of(int level) const
{
  return hierarchy_->operator_of(level);
}

template <class Scalar>
typename BoxMultigrid<Scalar>::Csr BoxMultigrid<Scalar>::interpolation_of(int level) const
{
  return hierarchy_->interpolation_of(level, false);
}

template <class Scalar>
typename BoxMultigrid<Scalar>::Csr BoxMultigrid<Scalar>::restriction_of(int level) const
{
  return hierarchy_->interpolation_of(level, true);
}

template class BoxMultigrid<KernelScalar>;
template void BoxMultigrid<KernelScalar>::read(const CsrMatrix<KernelScalar, std::int32_t> &, std::optional<bool>);
template void BoxMultigrid<KernelScalar>::read(const CsrMatrix<KernelScalar, std::int64_t> &, std::optional<bool>);
template void BoxMultigrid<KernelScalar>::read(const boxmg::RowsOfPart<KernelScalar, std::int32_t> &, std::optional<bool>);
template void BoxMultigrid<KernelScalar>::read(const boxmg::RowsOfPart<KernelScalar, std::int64_t> &, std::optional<bool>);

} // namespace weft
