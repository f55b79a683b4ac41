/// BlockLines: the lines of nodes of a layout, whose components are the unknowns of a node. Free of Kokkos.
///
/// A node's b unknowns are neighbours in memory, and b divides every stride, so that node k is elements k * b .. k * b + b - 1. Entry (p, q)
/// of the b * b block of node k stands at k * b * b + p * b + q of a coefficient array, as in PETSc's point blocks.
#pragma once
#include "line/blocks/largest_block.hpp"
#include "line/line_layout.hpp"

namespace weft {

struct BlockLines {
  static constexpr int largest_block = largest_block_built;

  LineLayout layout;

  BlockLines() = default;
  BlockLines(const LineLayout &lines) : layout(lines) {}

  /// Number of lines of nodes.
  WEFT_INLINE Index count() const { return layout.across[0] * layout.across[1]; }
  /// Element of the first unknown of a line of nodes.
  WEFT_INLINE Index start(Index line) const { return layout.start(line * layout.components); }
  WEFT_INLINE bool has_colour(Index line, Colour wanted) const { return layout.has_colour(line * layout.components, wanted); }
  /// Elements of each coefficient array.
  WEFT_INLINE Index coefficient_size() const { return layout.span() * layout.components; }
};

} // namespace weft
