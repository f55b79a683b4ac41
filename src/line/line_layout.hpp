/// LineLayout: where the rows of a batch of lines lie in a flat array. No Kokkos header is needed to describe lines, only to walk them on a
/// device.
#pragma once
#include <cstdint>
#include <limits>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define WEFT_INLINE __host__ __device__ inline
#else
#define WEFT_INLINE inline
#endif

namespace weft {

using Index = std::int64_t;

/// Which lines a kernel works on: all of them, every second one as on a chessboard (zebra ordering), or, of lines of a map, those of a number.
enum class Colour : int { all = -1, even = 0, odd = 1 };

/// A batch of lines of equal length. The lines themselves form a small grid: `components` scalar unknowns of a grid node, neighbours
/// in memory, each with lines of its own, times two directions across the lines. Row r of line (c, i, j) is element
///
///     c + i * across_stride[0] + j * across_stride[1] + r * stride
///
/// of every array (coefficients, right-hand side, solution) that goes with the layout.
struct LineLayout {
  Index length           = 0;      ///< rows of a line
  Index stride           = 1;      ///< elements from a row to the next one of its line
  Index components       = 1;      ///< unknowns of a node
  Index across[2]        = {1, 1}; ///< lines along the two directions across
  Index across_stride[2] = {0, 0}; ///< elements from a line to its neighbour in each of them
  int first_colour       = 0;      ///< colour of line (0, 0): differs between ranks, so that colours do not depend on the partition

  friend bool operator==(const LineLayout &, const LineLayout &) = default;

  /// Number of lines.
  WEFT_INLINE Index count() const { return components * across[0] * across[1]; }
  /// Number of rows in all lines.
  WEFT_INLINE Index rows() const { return count() * length; }
  /// Elements that an array must have: one more than the largest index.
  WEFT_INLINE Index span() const
  {
    return rows() == 0 ? 0 : components + (across[0] - 1) * across_stride[0] + (across[1] - 1) * across_stride[1] + (length - 1) * stride;
  }
  /// Element of the first row of a line.
  WEFT_INLINE Index start(Index line) const
  {
    const Position at = position(line);
    return at.component + at.across[0] * across_stride[0] + at.across[1] * across_stride[1];
  }
  /// Chessboard colour of a line.
  WEFT_INLINE Colour colour(Index line) const
  {
    const Position at = position(line);
    return static_cast<Colour>((at.across[0] + at.across[1] + first_colour) & 1);
  }
  WEFT_INLINE bool has_colour(Index line, Colour wanted) const { return wanted == Colour::all || colour(line) == wanted; }
  /// Where a line stands in the grid of lines. A device divides 64-bit numbers slowly, so no division is done that need not be.
  struct Position {
    Index component, across[2];
  };
  WEFT_INLINE Position position(Index line) const
  {
    Position at{0, {line, 0}};
    if (components > 1) at = {line % components, {line / components, 0}};
    if (across[1] > 1) at.across[1] = at.across[0] / across[0], at.across[0] %= across[0];
    return at;
  }

  /// True where neighbouring rows of one line are closer in memory than neighbouring lines: walk rows fastest then.
  WEFT_INLINE bool rows_are_closest() const { return count() == 1 || stride <= components; }
};

/// A row of a line.
struct LineRow {
  Index line, row;
};
/// What a number that tells the first unusable pivot is where there is none.
inline constexpr Index no_bad_pivot = std::numeric_limits<Index>::max();

/// Numbers all rows of a layout from 0 to rows() - 1 so that neighbouring numbers lie close in memory.
WEFT_INLINE LineRow line_row(const LineLayout &layout, Index number)
{
  if (layout.rows_are_closest()) return {number / layout.length, number % layout.length};
  return {number % layout.count(), number / layout.count()};
}

/// Lines along direction 0, 1 or 2 of a box of n[0] * n[1] * n[2] nodes with `components` unknowns each, components fastest, then x, y, z.
/// `first` is the global index of the box's first node, which decides the colours.
inline LineLayout lines_of_box(int direction, const Index n[3], Index components, const Index first[3])
{
  const Index strides[3] = {components, components * n[0], components * n[0] * n[1]};
  const int across[2]    = {direction == 0 ? 1 : 0, direction == 2 ? 1 : 2};
  LineLayout layout;
  layout.length     = n[direction];
  layout.stride     = strides[direction];
  layout.components = components;
  for (int k = 0; k < 2; k++) {
    layout.across[k]        = n[across[k]];
    layout.across_stride[k] = strides[across[k]];
  }
  layout.first_colour = static_cast<int>((first[across[0]] + first[across[1]]) & 1);
  return layout;
}

/// A line of `length` rows for each line of a layout, without gaps: one after another where the layout's rows are closest, else side by side.
inline LineLayout lines_like(const LineLayout &layout, Index length)
{
  const bool contiguous = layout.rows_are_closest();
  LineLayout lines;
  lines.length           = length;
  lines.stride           = contiguous ? 1 : layout.count();
  lines.across[0]        = layout.count();
  lines.across_stride[0] = contiguous ? length : 1;
  return lines;
}

/// One line through n rows that follow each other in memory.
inline LineLayout one_line(Index n)
{
  LineLayout layout;
  layout.length = n;
  return layout;
}

} // namespace weft
