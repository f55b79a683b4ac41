#include "boxmg/blocks/block_multigrid.hpp"

#include "boxmg/blocks/block_hierarchy.hpp"

namespace weft::boxmg {

template <class Value>
std::unique_ptr<typename BoxMultigrid<Value>::Hierarchy> make_block_hierarchy(const Execution &execution, const Grid &grid,
                                                                              const BoxmgOptions &options)
{
  if constexpr (BlockLines::largest_block == 1 || is_complex<Value>)
    throw std::invalid_argument("this build has nodes of one unknown");
  else
    return on_backend(execution, [&](const auto &space) -> std::unique_ptr<typename BoxMultigrid<Value>::Hierarchy> {
      return std::make_unique<BlockHierarchy<std::decay_t<decltype(space)>, Value>>(space, execution, grid, options);
    });
}

template std::unique_ptr<BoxMultigrid<KernelScalar>::Hierarchy> make_block_hierarchy<KernelScalar>(const Execution &, const Grid &,
                                                                                                   const BoxmgOptions &);

} // namespace weft::boxmg
