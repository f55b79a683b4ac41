/// The operator of the next level, R A P, by stencils: a coarse node at a time, over the fine nodes that it is interpolated to, their neighbours,
/// and the coarse nodes that those are interpolated from.
#pragma once
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

template <class Scalar>
struct Galerkin {
  Operator<Scalar> a;
  Transfer<Scalar> r, p; ///< the same where A is symmetric
  Stencil stencil;       ///< of the coarse operator: a whole box
  Scalar *values;
  Index pitch;

  KOKKOS_INLINE_FUNCTION void operator()(Index node, const Index (&at)[3]) const
  {
    Scalar sum[27] = {};
    for (int number = 0; number < 27; number++) {
      const Offset by = {{number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1}};
      Index fine[3];
      int slot    = 0;
      bool inside = true;
      for (int d = 0; d < 3 && inside; d++) {
        int bit;
        fine[d] = r.from(d, at[d], by.d[d], &bit);
        inside  = fine[d] >= 0;
        slot += bit;
      }
      if (!inside) continue;
      const Index i       = a.grid.node(fine);
      const Scalar weight = r.weight(slot, i);
      if (weight != 0) add_row(weight, i, fine, at, by, sum);
    }
    for (int k = 0; k < stencil.count; k++) values[k * pitch + node] = sum[stencil.offset[k].number()];
  }

private:
  /// Adds weight times row i of A P; fine node i is `by` from the coarse one.
  KOKKOS_INLINE_FUNCTION void add_row(Scalar weight, Index i, const Index (&fine)[3], const Index (&at)[3], const Offset &by,
                                      Scalar (&sum)[27]) const
  {
    for (int k = 0; k < a.stencil.count; k++) {
      const Scalar c = a.entry(k, i);
      if (c == 0) continue;
      const Offset o = a.stencil.offset[k];
      Index j[3]     = {fine[0], fine[1], fine[2]};
      bool inside    = true;
      for (int d = 0; d < 3; d++) inside = inside && a.grid.move(j, d, o.d[d]);
      if (!inside) continue;
      const Index neighbour = a.grid.node(j);
      for (int slot = 0; slot < p.slots(); slot++) {
        const Scalar w = p.weight(slot, neighbour);
        if (w == 0) continue;
        int target = 13, step = 1;
        for (int d = 0; d < 3; d++, step *= 3) target += step * away(d, at[d], by.d[d] + o.d[d], j[d], slot);
        sum[target] += weight * c * w;
      }
    }
  }
  /// Coarse steps along a direction from a coarse node to the one of a slot of the fine node j that is `steps` fine ones from it: -1, 0 or 1.
  KOKKOS_INLINE_FUNCTION int away(int direction, Index from, int steps, Index j, int slot) const
  {
    if (p.bit[direction] == 0) return steps;
    const int odd = static_cast<int>(j % 2), next = (slot & p.bit[direction]) != 0;
    // Where a ring of odd length closes, two coarse nodes stand side by side: a step there is a coarse step.
    const Index n = a.grid.n[direction];
    if (n % 2 != 0 && a.grid.periodic[direction]) {
      const Index reached = 2 * from + steps;
      if (reached >= n) return static_cast<int>((p.coarse.n[direction] - from) + (j - odd) / 2 + next);
      if (reached < 0) return static_cast<int>((j - odd) / 2 + next - p.coarse.n[direction] - from);
    }
    return (steps - odd) / 2 + next;
  }
};

template <class Space, class Scalar>
void galerkin(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p, const Stencil &stencil,
              Scalar *values, Index pitch)
{
  over_nodes("weft boxmg galerkin", space, p.coarse, Galerkin<Scalar>{a, r, p, stencil, values, pitch});
}

} // namespace weft::boxmg
