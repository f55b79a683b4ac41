/// The list of methods for block-tridiagonal lines: a method added to it is tested and selectable.
#pragma once
#include <tuple>

#include "line/blocks/block_thomas.hpp"
#include "line/blocks/block_wide.hpp"

namespace weft {

using BlockTridiagonalMethods = std::tuple<BlockThomas, BlockWide>;

/// Lines from which on a thread per line keeps a device's memory busy by itself: each loads whole blocks, so fewer do than of scalar lines
/// with a load a row; the number is that of some hundred threads on each of the processors of a large device.
inline constexpr Index block_lines_that_fill_a_device = 32768;

/// The method that `auto` stands for. On a host core block-thomas does the least work; a device needs many lines for it.
inline const char *choose_block_tridiagonal_method(const BlockLines &lines, bool device)
{
  return device && lines.layout.length > 2 && lines.count() < block_lines_that_fill_a_device ? BlockWide::name : BlockThomas::name;
}

} // namespace weft
