/// Grids and stencils of boxmg: which nodes a level has, and which neighbours its operator couples. Free of Kokkos.
#pragma once
#include "line/line_layout.hpp"

namespace weft::boxmg {

/// A neighbour: -1, 0 or 1 along each direction. As small as can be: kernels have stencils among their arguments, and those of more than 512
/// bytes wait for each other on a device.
struct Offset {
  signed char d[3] = {};

  /// Its number among 27, 13 the node itself; -k is 26 - number.
  WEFT_INLINE int number() const { return 13 + d[0] + 3 * d[1] + 9 * d[2]; }
};

WEFT_INLINE constexpr Offset offset_of(int number)
{
  return {
      {static_cast<signed char>(number % 3 - 1), static_cast<signed char>(number / 3 % 3 - 1), static_cast<signed char>(number / 9 - 1)}};
}

/// A box of n[0] * n[1] * n[2] nodes, x fastest; n[d] = 1 in the directions that it lacks.
struct Grid {
  Index n[3]       = {1, 1, 1};
  bool periodic[3] = {};
  bool apart[3]    = {}; ///< a direction along which nothing couples: the grid is a stack of planes, or of lines

  friend bool operator==(const Grid &, const Grid &) = default;

  WEFT_INLINE Index nodes() const { return n[0] * n[1] * n[2]; }
  WEFT_INLINE bool stack() const { return apart[0] || apart[1] || apart[2]; }
  /// One of a stack.
  WEFT_INLINE Grid piece() const
  {
    Grid one = *this;
    for (int d = 0; d < 3; d++) one.n[d] = apart[d] ? 1 : n[d];
    return one;
  }
  WEFT_INLINE Index node(const Index (&at)[3]) const { return at[0] + n[0] * (at[1] + n[1] * at[2]); }
  WEFT_INLINE void position(Index node, Index (&at)[3]) const
  {
    at[0] = node % n[0];
    at[1] = node / n[0] % n[1];
    at[2] = node / (n[0] * n[1]);
  }
  /// Moves along a direction by -1, 0 or 1, around a periodic one; false where the grid ends there.
  WEFT_INLINE bool move(Index (&at)[3], int direction, int by) const
  {
    Index &i = at[direction];
    i += by;
    if (i >= 0 && i < n[direction]) return true;
    if (!periodic[direction]) return false;
    i += i < 0 ? n[direction] : -n[direction];
    return true;
  }
  /// Moves to a neighbour; false where there is none, and `at` is then nowhere.
  WEFT_INLINE bool move(Index (&at)[3], const Offset &by) const
  {
    return move(at, 0, by.d[0]) && move(at, 1, by.d[1]) && move(at, 2, by.d[2]);
  }
};

/// In memory from a node to a neighbour.
inline Index distance(const Grid &grid, const Offset &by)
{
  return by.d[0] + grid.n[0] * (by.d[1] + grid.n[1] * by.d[2]);
}

/// The neighbours that an operator couples, at most 27, in the order of their numbers.
struct Stencil {
  static constexpr int most = 27;

  int count = 0;
  Offset offset[most];
  signed char slot[most]; ///< by number: where the coefficient stands, or -1

  WEFT_INLINE Stencil()
  {
    for (signed char &s : slot) s = -1;
  }
  /// mask: bit `number` is set for each neighbour. Closed under negation: a transpose has the same stencil.
  explicit Stencil(unsigned mask) : Stencil()
  {
    for (int number = 0; number < most; number++) {
      if (!(mask >> number & 1) && !(mask >> (26 - number) & 1) && number != 13) continue;
      offset[count] = offset_of(number);
      slot[number]  = static_cast<signed char>(count++);
    }
  }
  /// All neighbours in the directions in which a grid, or a piece of a stack, has more than one node.
  static Stencil box(const Grid &whole)
  {
    const Grid grid = whole.piece();
    unsigned mask   = 0;
    for (int number = 0; number < most; number++) {
      const Offset o = offset_of(number);
      bool inside    = true;
      for (int k = 0; k < 3; k++) inside = inside && (o.d[k] == 0 || grid.n[k] > 1);
      if (inside) mask |= 1u << number;
    }
    return Stencil(mask);
  }
  /// Where the coefficient of the node itself stands, and that of the opposite neighbour: opposite ones are as far from both ends of the list.
  WEFT_INLINE int centre() const { return count / 2; }
  WEFT_INLINE int mirrored(int k) const { return count - 1 - k; }
};

/// Whether all neighbours are a step along one direction away. Lines of such an operator do not couple to those a step away along both others, so that a
/// chessboard's two colours will do in space too.
inline bool is_star(const Stencil &stencil)
{
  for (int k = 0; k < stencil.count; k++) {
    const Offset o = stencil.offset[k];
    if ((o.d[0] != 0) + (o.d[1] != 0) + (o.d[2] != 0) > 1) return false;
  }
  return true;
}

/// Directions as a set of bits: 1 x, 2 y, 4 z.
using Directions = unsigned;
WEFT_INLINE constexpr bool has(Directions set, int direction)
{
  return (set >> direction & 1) != 0;
}

/// Even nodes are those of the coarse grid, in the directions that are coarsened.
inline Grid coarse(Grid grid, Directions coarsened)
{
  for (int d = 0; d < 3; d++) {
    if (has(coarsened, d)) grid.n[d] = (grid.n[d] + 1) / 2;
  }
  return grid;
}

} // namespace weft::boxmg
