/// Weights of the interpolation from the operator (Dendy 1982, section 3).
///
/// A node between coarse ones along the directions S (of those that are coarsened) is given the value that satisfies its own equation, with the
/// stencil summed over all directions that are not in S, and with neighbours that lie between fewer coarse nodes interpolated before it:
///
///   w_i = sum over neighbours k along S of (-a_k / c) w_(i+k),      c: see denominator().
///
/// So nodes on coarse ones come first, then those between two, between four, between eight.
#pragma once
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// A neighbour of a node between coarse ones along S: its place in the collapsed stencil, and which slots of its own weights belong to which of the
/// node's. Along directions in which it is a step away it lies on a coarse node, the next one or the one before; along the others it lies
/// between the same two.
struct Beside {
  Offset offset;
  int number;
  int fixed, free; ///< bits of the node's slots that the step fixes, and that are the neighbour's too
};

/// What all nodes between coarse ones along the directions S share.
struct Between {
  Directions s = 0;
  int odd      = 0; ///< directions in it
  Region nodes;
  int collapsed[Stencil::most] = {}; ///< by neighbour of the stencil: its number in the sum over the other directions
  int count                    = 0;
  Beside beside[26];

  template <class Scalar>
  Between(Directions directions, const Transfer<Scalar> &p, const Stencil &stencil) : s(directions), nodes(Region::all(p.fine))
  {
    for (int d = 0; d < 3; d++) {
      if (p.bit[d] == 0) continue;
      odd += has(s, d);
      nodes.first[d] = has(s, d);
      nodes.step[d]  = 2;
      nodes.count[d] = (p.fine.n[d] - nodes.first[d] + 1) / 2;
    }
    for (int k = 0; k < stencil.count; k++) {
      Offset kept;
      for (int d = 0; d < 3; d++) kept.d[d] = has(s, d) ? stencil.offset[k].d[d] : 0;
      collapsed[k] = kept.number();
    }
    for (int number = 0; number < 27; number++) {
      const Offset o = offset_of(number);
      Beside next{o, number, 0, 0};
      bool along = number != 13;
      for (int d = 0; d < 3; d++) {
        if (!has(s, d))
          along = along && o.d[d] == 0;
        else if (o.d[d] == 0)
          next.free |= p.bit[d];
        else if (o.d[d] > 0)
          next.fixed |= p.bit[d];
      }
      if (along) beside[count++] = next;
    }
  }
};

/// Weights of the nodes that lie between coarse ones along the same directions.
template <class Scalar>
struct Weights {
  Operator<Scalar> a;
  Part part;
  Transfer<Scalar> p;
  Between between;
  bool from_operator;
  Scalar *weights;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    for (Index j = 0; j < run.count; j++) {
      const Index at[3] = {run.x + j * run.step, run.y, run.z};
      make(a.grid.node(at), at);
    }
  }

private:
  KOKKOS_INLINE_FUNCTION void make(Index node, const Index (&at)[3]) const
  {
    Scalar w[8] = {};
    if (between.s == 0)
      w[0] = 1;
    else if (from_operator)
      solve(node, at, w);
    else
      for (int slot = 0; slot < p.slots(); slot++) w[slot] = Scalar(1) / (1 << between.odd);
    for (int slot = 0; slot < p.slots(); slot++) weights[slot * p.pitch + node] = there(slot, at) ? w[slot] : Scalar(0);
  }
  /// True if the coarse node of the slot exists; a node on coarse ones along a direction has no next along it.
  KOKKOS_INLINE_FUNCTION bool there(int slot, const Index (&at)[3]) const
  {
    for (int d = 0; d < 3; d++) {
      if (p.on_grid(d, at[d], slot) < 0) return false;
    }
    return true;
  }
  KOKKOS_INLINE_FUNCTION void solve(Index node, const Index (&at)[3], Scalar (&w)[8]) const
  {
    Scalar row[27] = {};
    collapse(node, at, row);
    const Scalar c = denominator(row, a.diagonal(node) < 0 ? Scalar(-1) : Scalar(1));
    if (!(Kokkos::abs(c) > 0)) return;
    for (int k = 0; k < between.count; k++) {
      const Beside &beside = between.beside[k];
      Index there[3]       = {at[0], at[1], at[2]};
      if (row[beside.number] == 0 || !a.grid.move(there, beside.offset)) continue;
      const Index neighbour = a.grid.node(there);
      const Scalar share    = row[beside.number] / c;
      for (int slot = 0; slot < p.slots(); slot++) {
        if ((slot & ~beside.free) == 0) w[slot | beside.fixed] -= share * p.weight(slot, neighbour);
      }
    }
  }
  /// The stencil of a node, summed over all directions but those of S, in 3^|S| of the 27 places, 13 the node itself.
  KOKKOS_INLINE_FUNCTION void collapse(Index node, const Index (&at)[3], Scalar (&row)[27]) const
  {
    for (int k = 0; k < a.stencil.count; k++) {
      Index there[3] = {at[0], at[1], at[2]};
      // Coefficients of the neighbours too: there are some.
      if (part != Part::whole && !a.grid.move(there, a.stencil.offset[k])) continue;
      row[between.collapsed[k]] += entry_of(a, part, k, node, a.grid.node(there));
    }
  }
  /// What the neighbours' coefficients are divided by; sign: of the diagonal, as a sum over columns of random sizes may have the other one. Where
  /// the diagonal exceeds their sum by little (a row sum of zero and rounding, or the zeroth-order term of a fine grid) that sum, so that
  /// constants are interpolated as they are; else the diagonal, as beside a boundary whose rows are eliminated, where one side has no
  /// neighbour. "Little" is the share of the weaker side, as in Dendy's 1982 paper.
  KOKKOS_INLINE_FUNCTION Scalar denominator(const Scalar (&row)[27], Scalar sign) const
  {
    const Scalar centre = sign * row[13];
    Scalar sum = 0, weaker = centre, sides[3][2] = {};
    for (int k = 0; k < between.count; k++) {
      const Beside &beside = between.beside[k];
      sum -= sign * row[beside.number];
      for (int d = 0; d < 3; d++) {
        if (beside.offset.d[d] != 0) sides[d][beside.offset.d[d] > 0] += Kokkos::abs(row[beside.number]);
      }
    }
    for (int d = 0; d < 3; d++) {
      if (has(between.s, d)) weaker = Kokkos::min(weaker, Kokkos::min(sides[d][0], sides[d][1]));
    }
    const bool little = sum > 0 && centre < sum + (centre > 0 ? weaker / centre : Scalar(0)) * sum;
    return sign * (little ? sum : centre > 0 ? centre : sum);
  }
};

/// Fills the weights of the interpolation that belongs to a, to its transpose, or to its symmetric part; p.weights is `weights`. Nodes between
/// fewer coarse ones first.
template <class Space, class Scalar>
void make_weights(const Space &space, const Operator<Scalar> &a, Part part, const Transfer<Scalar> &p, bool from_operator, Scalar *weights)
{
  for (int odd = 0; odd <= 3; odd++) {
    for (Directions s = 0; s < 8; s++) {
      if ((s & ~p.coarsened) != 0) continue;
      const Between between(s, p, a.stencil);
      if (between.odd == odd)
        over_runs("weft boxmg weights", space, between.nodes, Weights<Scalar>{a, part, p, between, from_operator, weights});
    }
  }
}

} // namespace weft::boxmg
