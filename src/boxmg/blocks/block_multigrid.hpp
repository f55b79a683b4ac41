/// The way from BoxMultigrid to a hierarchy of several unknowns a node, which is compiled by itself.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

/// options.unknowns: 2 to most_unknowns.
template <class Value>
std::unique_ptr<typename BoxMultigrid<Value>::Hierarchy> make_block_hierarchy(const Execution &execution, const Grid &grid,
                                                                              const BoxmgOptions &options);

} // namespace weft::boxmg
