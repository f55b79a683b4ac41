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

/// The stencil of a node, summed over all directions but those of S: 3^|S| of the 27 places, 13 the node itself.
template <class Scalar>
struct Collapsed {
  Scalar a[27] = {};
  Scalar sign; ///< of the diagonal: a sum over columns of random sizes may have the other one

  KOKKOS_INLINE_FUNCTION Collapsed(const Operator<Scalar> &matrix, Part part, Directions s, Index node, const Index (&at)[3])
      : sign(matrix.diagonal(node) < 0 ? Scalar(-1) : Scalar(1))
  {
    for (int k = 0; k < matrix.stencil.count; k++) {
      const Offset o = matrix.stencil.offset[k];
      Index there[3] = {at[0], at[1], at[2]};
      bool inside    = true;
      for (int d = 0; d < 3 && inside; d++) inside = matrix.grid.move(there, d, o.d[d]);
      if (!inside) continue;
      Offset kept;
      for (int d = 0; d < 3; d++) kept.d[d] = has(s, d) ? o.d[d] : 0;
      a[kept.number()] += entry_of(matrix, part, k, node, matrix.grid.node(there));
    }
  }
  /// What the neighbours' coefficients are divided by. Where the diagonal exceeds their sum by little (a row sum of zero and rounding, or the
  /// zeroth-order term of a fine grid) that sum, so that constants are interpolated as they are; else the diagonal, as beside a boundary whose
  /// rows are eliminated, where one side has no neighbour. "Little" is the share of the weaker side, as in Dendy's 1982 paper.
  KOKKOS_INLINE_FUNCTION Scalar denominator(Directions s) const
  {
    const Scalar centre = sign * a[13];
    Scalar sum = 0, weaker = centre;
    for (int k = 0; k < 27; k++) {
      if (k != 13) sum -= sign * a[k];
    }
    for (int d = 0; d < 3; d++) {
      if (!has(s, d)) continue;
      Scalar side[2] = {0, 0};
      for (int k = 0; k < 27; k++) {
        const int o = d == 0 ? k % 3 - 1 : d == 1 ? k / 3 % 3 - 1 : k / 9 - 1;
        if (o != 0) side[o > 0] += Kokkos::abs(a[k]);
      }
      weaker = Kokkos::min(weaker, Kokkos::min(side[0], side[1]));
    }
    const bool little = sum > 0 && centre < sum + (centre > 0 ? weaker / centre : Scalar(0)) * sum;
    return sign * (little ? sum : Kokkos::max(centre, Scalar(0)));
  }
};

/// Weights of the nodes that lie between coarse ones along `between` directions.
template <class Scalar>
struct Weights {
  Operator<Scalar> a;
  Part part;
  Transfer<Scalar> p;
  int between;
  bool from_operator;
  Scalar *weights;

  KOKKOS_INLINE_FUNCTION void operator()(Index node, const Index (&at)[3]) const
  {
    Directions s = 0;
    int odd      = 0;
    for (int d = 0; d < 3; d++) {
      if (p.bit[d] == 0 || at[d] % 2 == 0) continue;
      s |= 1u << d;
      odd++;
    }
    if (odd != between) return;
    Scalar w[8] = {};
    if (s == 0)
      w[0] = 1;
    else if (from_operator)
      solve(s, node, at, w);
    else
      for (int slot = 0; slot < p.slots(); slot++) w[slot] = along(s, slot) ? Scalar(1) / (1 << odd) : Scalar(0);
    for (int slot = 0; slot < p.slots(); slot++) weights[slot * p.pitch + node] = there(s, slot, at) ? w[slot] : Scalar(0);
  }

private:
  /// True if the slot is one of a node that lies between coarse ones along s: it has no next along other directions.
  KOKKOS_INLINE_FUNCTION bool along(Directions s, int slot) const
  {
    for (int d = 0; d < 3; d++) {
      if ((slot & p.bit[d]) != 0 && !has(s, d)) return false;
    }
    return true;
  }
  /// True if the coarse node of the slot exists.
  KOKKOS_INLINE_FUNCTION bool there(Directions s, int slot, const Index (&at)[3]) const
  {
    if (!along(s, slot)) return false;
    for (int d = 0; d < 3; d++) {
      if (p.on_grid(d, at[d], slot) < 0) return false;
    }
    return true;
  }
  KOKKOS_INLINE_FUNCTION void solve(Directions s, Index node, const Index (&at)[3], Scalar (&w)[8]) const
  {
    const Collapsed<Scalar> row(a, part, s, node, at);
    const Scalar c = row.denominator(s);
    if (!(Kokkos::abs(c) > 0)) return;
    for (int k = 0; k < 27; k++) {
      if (k == 13 || row.a[k] == 0) continue;
      const Offset o = {{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}};
      // The neighbour's slots: along directions in which it is a step away it lies on a coarse node, which is the next one or the one before.
      Index there[3] = {at[0], at[1], at[2]};
      int fixed = 0, free = 0;
      bool inside = true;
      for (int d = 0; d < 3; d++) {
        inside = inside && a.grid.move(there, d, o.d[d]);
        if (!has(s, d)) continue;
        if (o.d[d] == 0)
          free |= p.bit[d];
        else if (o.d[d] > 0)
          fixed |= p.bit[d];
      }
      if (!inside) continue;
      const Index neighbour = a.grid.node(there);
      for (int slot = 0; slot < p.slots(); slot++) {
        if ((slot & ~free) == 0) w[slot | fixed] -= row.a[k] / c * p.weight(slot, neighbour);
      }
    }
  }
};

/// Fills the weights of the interpolation that belongs to a, to its transpose, or to its symmetric part; p.weights is `weights`.
template <class Space, class Scalar>
void make_weights(const Space &space, const Operator<Scalar> &a, Part part, const Transfer<Scalar> &p, bool from_operator, Scalar *weights)
{
  int most = 0;
  for (int d = 0; d < 3; d++) most += p.bit[d] > 0;
  for (int between = 0; between <= most; between++)
    over_nodes("weft boxmg weights", space, a.grid, Weights<Scalar>{a, part, p, between, from_operator, weights});
}

} // namespace weft::boxmg
