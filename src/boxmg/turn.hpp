/// Grids whose directions are exchanged, so that lines run along x.
#pragma once
#include "boxmg/grid.hpp"

namespace weft::boxmg {

/// Two directions of a grid that are exchanged: x and another one; x and x: none.
struct Turn {
  int with = 0;

  friend bool operator==(const Turn &, const Turn &) = default;

  WEFT_INLINE int direction(int d) const { return d == 0 ? with : d == with ? 0 : d; }
  Grid grid(const Grid &from) const
  {
    Grid to = from;
    for (int d = 0; d < 3; d++) {
      to.n[d]        = from.n[direction(d)];
      to.periodic[d] = from.periodic[direction(d)];
      to.apart[d]    = from.apart[direction(d)];
    }
    return to;
  }
  Directions set(Directions from) const
  {
    Directions to = 0;
    for (int d = 0; d < 3; d++) {
      if (has(from, direction(d))) to |= 1u << d;
    }
    return to;
  }
  WEFT_INLINE int number(int of) const
  {
    const Offset o = offset_of(of);
    return Offset{{o.d[direction(0)], o.d[direction(1)], o.d[direction(2)]}}.number();
  }
  /// A set of neighbours, a bit for each number.
  unsigned neighbours(unsigned from) const
  {
    unsigned to = 0;
    for (int of = 0; of < Stencil::most; of++) {
      if (from >> of & 1) to |= 1u << number(of);
    }
    return to;
  }
  /// The other grid's neighbours, each in the place that it has in a stencil of this one.
  Stencil stencil_in_place(const Stencil &from) const
  {
    Stencil to = from;
    for (int of = 0; of < Stencil::most; of++) to.slot[of] = from.slot[number(of)];
    for (int k = 0; k < to.count; k++) to.offset[k] = offset_of(number(from.offset[k].number()));
    return to;
  }
  WEFT_INLINE Index node(Index of, const Grid &from, const Grid &to) const
  {
    Index at[3];
    from.position(of, at);
    return to.node({at[direction(0)], at[direction(1)], at[direction(2)]});
  }
};

} // namespace weft::boxmg
