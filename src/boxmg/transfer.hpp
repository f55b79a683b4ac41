/// Interpolation from a coarse grid and its transpose, restriction, with weights at the fine nodes.
#pragma once
#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// Weights of the interpolation to a fine grid. A node lies on a coarse one or between two of them along each coarsened direction: weight
/// `slot` of a node belongs to the coarse node that is, along the coarsened direction whose bit is set in slot, the next one, else the node's own
/// or the one before. Bits go to the coarsened directions in their order.
template <class Scalar>
struct Transfer {
  Grid fine, coarse;
  Directions coarsened  = 0;
  int bit[3]            = {0, 0, 0}; ///< of a direction in a slot; 0 where it is not coarsened
  const Scalar *weights = nullptr;   ///< slots of them, pitch elements apart
  Index pitch           = 0;

  Transfer() = default;
  Transfer(const Grid &grid, Directions directions) : fine(grid), coarse(boxmg::coarse(grid, directions)), coarsened(directions)
  {
    int next = 1;
    for (int d = 0; d < 3; d++) {
      if (!has(directions, d)) continue;
      bit[d] = next;
      next *= 2;
    }
  }
  WEFT_INLINE int slots() const
  {
    int count = 1;
    for (int d = 0; d < 3; d++) count *= bit[d] > 0 ? 2 : 1;
    return count;
  }
  WEFT_INLINE Scalar weight(int slot, Index node) const { return weights[slot * pitch + node]; }
  /// The place along a direction, on the coarse grid, that a slot of a fine node belongs to, from 0 to n: n is 0 again where the grid is
  /// periodic, and nowhere elsewhere. -1: a node on a coarse one has no next.
  WEFT_INLINE Index place(int direction, Index fine_place, int slot) const
  {
    if (bit[direction] == 0) return fine_place;
    const bool next = (slot & bit[direction]) != 0;
    if (fine_place % 2 == 0) return next ? -1 : fine_place / 2;
    return fine_place / 2 + (next ? 1 : 0);
  }
  /// The same, on the grid; -1: nowhere.
  WEFT_INLINE Index on_grid(int direction, Index fine_place, int slot) const
  {
    const Index at = place(direction, fine_place, slot);
    if (at < coarse.n[direction]) return at;
    return coarse.periodic[direction] ? 0 : -1;
  }
  /// The fine node `by` = -1, 0 or 1 from a coarse one along a direction that interpolates from it, and the bit of its slot; -1: there is none.
  WEFT_INLINE Index from(int direction, Index coarse_place, int by, int *slot) const
  {
    *slot = 0;
    if (bit[direction] == 0) return by == 0 ? coarse_place : -1;
    Index i = 2 * coarse_place + by;
    if (by == 0) return i;
    if (i < 0 || i >= fine.n[direction]) {
      if (!fine.periodic[direction]) return -1;
      i += i < 0 ? fine.n[direction] : -fine.n[direction];
      if (i % 2 == 0) return -1; // two coarse nodes side by side, where a ring of odd length closes
    }
    if (by < 0) *slot = bit[direction];
    return i;
  }
};

/// x += P e on some nodes of the fine grid.
template <class Space, class Scalar>
struct Interpolate {
  Transfer<Scalar> p;
  const Scalar *e;
  Scalar *x;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    const Index row = p.fine.n[0] * (run.y + p.fine.n[1] * run.z), first = row + run.x;
    Scalar sum[run_nodes<Space>];
    for (Index j = 0; j < run.count; j++) sum[j] = x[first + j * run.step];
    for (int slot = 0; slot < p.slots(); slot++) {
      if (slot & p.bit[0]) continue; // both of x are taken together
      const Index y = p.on_grid(1, run.y, slot), z = p.on_grid(2, run.z, slot);
      if (y >= 0 && z >= 0) add(run, first, slot, e + p.coarse.n[0] * (y + p.coarse.n[1] * z), sum);
    }
    for (Index j = 0; j < run.count; j++) x[first + j * run.step] = sum[j];
  }

private:
  KOKKOS_INLINE_FUNCTION void add(const Run &run, Index first, int slot, const Scalar *from, Scalar *sum) const
  {
    const Scalar *w = p.weights + slot * p.pitch + first;
    if (p.bit[0] == 0) {
      for (Index j = 0; j < run.count; j++) sum[j] += w[j * run.step] * from[run.x + j * run.step];
      return;
    }
    const Scalar *next = w + p.bit[0] * p.pitch;
    const Index odd = run.x % 2, n = p.coarse.n[0];
    const auto between = [&](Index j, Index c) {
      sum[j] += w[j * run.step] * from[c];
      if (c + 1 < n)
        sum[j] += next[j * run.step] * from[c + 1];
      else if (p.coarse.periodic[0])
        sum[j] += next[j * run.step] * from[0];
    };
    if (run.step == 2 && odd) {
      for (Index j = 0; j < run.count; j++) between(j, run.x / 2 + j);
    } else if (run.step == 2) { // nodes on coarse ones
      for (Index j = 0; j < run.count; j++) sum[j] += w[2 * j] * from[run.x / 2 + j];
    } else {
      for (Index j = odd; j < run.count; j += 2) sum[j] += w[j] * from[(run.x + j) / 2];
      for (Index j = 1 - odd; j < run.count; j += 2) between(j, (run.x + j) / 2);
    }
  }
};

/// The same at nodes of some rows, one below the other, for a device: all loads are on their way together. Four rows of real numbers in single precision, in
/// one or two coarsened directions; else one, as many as registers should hold. coarsened: how many directions are.
template <class Scalar, int coarsened>
struct InterpolateNodes {
  static constexpr int corners = 1 << coarsened,
                       at_once = coarsened < 3 && sizeof(Scalar) < sizeof(double) ? 4 : 1; ///< coarse nodes around one; rows

  const Scalar *weights, *e;
  Scalar *x;
  Index pitch;
  int row, plane;           ///< nodes of a row of the fine grid, rows of a plane
  int halved[3], stride[3]; ///< along each direction: 1 where it is coarsened; of the coarse grid
  int direction[coarsened]; ///< the coarsened ones, in the order of the slots' bits
  int last[coarsened];      ///< the last coarse place along each
  bool periodic[coarsened];
  int apart, end; ///< from a row to the next one; after the last one of a plane

  InterpolateNodes(const Transfer<Scalar> &p, const Scalar *coarse, Scalar *fine, const Region &wanted)
      : weights(p.weights), e(coarse), x(fine), pitch(p.pitch), row(static_cast<int>(p.fine.n[0])), plane(static_cast<int>(p.fine.n[1])),
        apart(static_cast<int>(wanted.step[1])), end(static_cast<int>(wanted.first[1] + wanted.step[1] * wanted.count[1]))
  {
    int next = 1, m = 0;
    for (int d = 0; d < 3; d++) {
      halved[d] = p.bit[d] != 0;
      stride[d] = next;
      next *= static_cast<int>(p.coarse.n[d]);
      if (!halved[d]) continue;
      direction[m] = d;
      last[m]      = static_cast<int>(p.coarse.n[d]) - 1;
      periodic[m]  = p.coarse.periodic[d];
      m++;
    }
  }
  /// Where the first of the rows are.
  static Region first_rows(Region wanted)
  {
    wanted.step[1] *= at_once;
    wanted.count[1] = (wanted.count[1] + at_once - 1) / at_once;
    return wanted;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    Scalar w[at_once][corners], from[at_once][corners], sum[at_once];
    for (int r = 0; r < at_once; r++) {
      const int y = static_cast<int>(run.y) + r * apart;
      load({static_cast<int>(run.x), y, static_cast<int>(run.z)}, y < end, w[r], from[r], sum[r]);
    }
    for (int r = 0; r < at_once; r++) {
      const int y = static_cast<int>(run.y) + r * apart;
      for (int k = 0; k < corners; k++) sum[r] += w[r][k] * from[r][k];
      if (y < end) x[node({static_cast<int>(run.x), y, static_cast<int>(run.z)})] = sum[r];
    }
  }

private:
  KOKKOS_INLINE_FUNCTION Index node(const int (&at)[3]) const { return at[0] + Index(row) * (at[1] + Index(plane) * at[2]); }
  KOKKOS_INLINE_FUNCTION void load(const int (&at)[3], bool exists, Scalar (&w)[corners], Scalar (&from)[corners], Scalar &own) const
  {
    const Index here = node(at);
    Index first      = 0; // the coarse node at its place, or before it
    for (int d = 0; d < 3; d++) first += Index(at[d] >> halved[d]) * stride[d];
    int step[coarsened]; // to the next one; 0: there is none
    for (int m = 0; m < coarsened; m++) {
      const int d = direction[m], place = d == 0 ? at[0] : d == 1 ? at[1] : at[2], to = d == 0 ? stride[0] : d == 1 ? stride[1] : stride[2];
      step[m] = place % 2 == 0 ? 0 : place >> 1 < last[m] ? to : periodic[m] ? -last[m] * to : 0;
    }
    for (int k = 0; k < corners; k++) {
      Index there = first;
      bool inside = exists;
      for (int m = 0; m < coarsened; m++) {
        if (!(k >> m & 1)) continue;
        there += step[m];
        inside = inside && step[m] != 0;
      }
      w[k]    = inside ? weights[k * pitch + here] : Scalar(0);
      from[k] = inside ? e[there] : Scalar(0);
    }
    own = exists ? x[here] : Scalar(0);
  }
};

/// coarse = P^T r on the coarse grid.
template <class Space, class Scalar>
struct Restrict {
  Transfer<Scalar> p;
  const Scalar *r;
  Scalar *coarse;
  int even; ///< a direction along which r is 0 at odd places, whatever stands there; -1: none

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    const Index out = p.coarse.n[0] * (run.y + p.coarse.n[1] * run.z) + run.x;
    if constexpr (!is_host_space<Space>) {
      coarse[out] = at_node(run);
    } else {
      Scalar sum[run_nodes<Space>];
      for (Index j = 0; j < run.count; j++) sum[j] = 0;
      for (int dz = -1; dz <= 1; dz++) {
        for (int dy = -1; dy <= 1; dy++) {
          int slot_y, slot_z;
          const Index y = p.from(1, run.y, dy, &slot_y), z = p.from(2, run.z, dz, &slot_z);
          if (y >= 0 && z >= 0 && counts(1, dy) && counts(2, dz)) add(run, slot_y + slot_z, p.fine.n[0] * (y + p.fine.n[1] * z), sum);
        }
      }
      for (Index j = 0; j < run.count; j++) coarse[out + j] = sum[j];
    }
  }

private:
  KOKKOS_INLINE_FUNCTION bool counts(int direction, int by) const { return by == 0 || direction != even; }
  /// For a device: the loads of a plane are on their way together.
  KOKKOS_INLINE_FUNCTION Scalar at_node(const Run &run) const
  {
    Index place[3][3];
    int slots[3][3];
    for (int by = 0; by < 3; by++) {
      place[0][by] = p.from(0, run.x, by - 1, &slots[0][by]);
      place[1][by] = p.from(1, run.y, by - 1, &slots[1][by]);
      place[2][by] = p.from(2, run.z, by - 1, &slots[2][by]);
      for (int d = 0; d < 3; d++) {
        if (!counts(d, by - 1)) place[d][by] = -1;
      }
    }
    Scalar sum = 0;
    for (int l = 0; l < 3; l++) {
      if (place[2][l] < 0) continue;
      Scalar w[9], v[9];
      for (int k = 0; k < 9; k++) {
        const Index i = place[0][k % 3], j = place[1][k / 3], node = i + p.fine.n[0] * (j + p.fine.n[1] * place[2][l]);
        const bool there = i >= 0 && j >= 0;
        w[k]             = there ? p.weight(slots[0][k % 3] + slots[1][k / 3] + slots[2][l], node) : Scalar(0);
        v[k]             = there ? r[node] : Scalar(0);
      }
      for (int k = 0; k < 9; k++) sum += w[k] * v[k];
    }
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void add(const Run &run, int slot, Index row, Scalar *sum) const
  {
    const Scalar *w = p.weights + slot * p.pitch + row, *v = r + row;
    if (p.bit[0] == 0) {
      for (Index j = 0; j < run.count; j++) sum[j] += w[run.x + j] * v[run.x + j];
      return;
    }
    if (even == 0) {
      for (Index j = 0; j < run.count; j++) sum[j] += w[2 * (run.x + j)] * v[2 * (run.x + j)];
      return;
    }
    const Scalar *next = w + p.bit[0] * p.pitch;
    const Index n      = p.fine.n[0];
    for (Index j = 0; j < run.count; j++) {
      const Index i = 2 * (run.x + j);
      Scalar here   = w[i] * v[i];
      if (i > 0)
        here += next[i - 1] * v[i - 1];
      else if (p.fine.periodic[0] && n % 2 == 0)
        here += next[n - 1] * v[n - 1];
      if (i + 1 < n) here += w[i + 1] * v[i + 1];
      sum[j] += here;
    }
  }
};

/// wanted: the nodes on which x is wanted.
template <class Space, class Scalar>
void interpolate(const Space &space, const Transfer<Scalar> &p, const Scalar *e, Scalar *x, const Region &wanted)
{
  const char *const say = "weft boxmg interpolation";
  const auto by_rows    = [&](const auto &body) { over_runs(say, space, body.first_rows(wanted), body); };
  if constexpr (is_host_space<Space>)
    over_runs(say, space, wanted, Interpolate<Space, Scalar>{p, e, x});
  else if (p.slots() == 2)
    by_rows(InterpolateNodes<Scalar, 1>(p, e, x, wanted));
  else if (p.slots() == 4)
    by_rows(InterpolateNodes<Scalar, 2>(p, e, x, wanted));
  else
    by_rows(InterpolateNodes<Scalar, 3>(p, e, x, wanted));
}

/// even: a direction that is coarsened, along which r is 0 at odd places, whatever stands there; -1: none.
template <class Space, class Scalar>
void restrict_to(const Space &space, const Transfer<Scalar> &p, const Scalar *r, Scalar *coarse, int even)
{
  over_runs("weft boxmg restriction", space, Region::all(p.coarse), Restrict<Space, Scalar>{p, r, coarse, even});
}

} // namespace weft::boxmg
