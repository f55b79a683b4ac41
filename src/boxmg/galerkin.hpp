/// The operator of the next level, R A P, by stencils: for a coarse node, over the fine nodes that it is interpolated to, their neighbours, and the
/// coarse nodes that those are interpolated from.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/backend.hpp"
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// Coarse nodes along a direction whose products reach no end of the fine grid: first <= place < end.
struct Inside {
  Index first = 0, end = 1;
};

inline Inside inside_of(const Grid &fine, Directions coarsened, int direction)
{
  const Index n = fine.n[direction];
  if (has(coarsened, direction)) return {1, (n - 1) / 2};
  return {n > 1 ? Index(1) : Index(0), n > 1 ? n - 1 : n};
}

/// Rows along x of fine nodes and of their neighbours: products of the nodes in them are added to one row of coefficients.
struct RowProduct {
  signed char y, z;       ///< from c's own row to that of the fine nodes
  signed char on_y, on_z; ///< from there to that of their neighbours
  signed char from, to;   ///< the parts of their slots that are the same along the row
  bool straight;          ///< of these neighbours A has only the one at the same place
};

/// The rows of neighbours of a coarse node c, and what is added to each. They depend on the stencils and the directions that are coarsened, not on values.
struct RowsOfNeighbours {
  static constexpr int most = 13 * 13; ///< pairs of steps along y: 3 lead to each side, 7 to the same place; and along z

  int count = 0;
  signed char y[9], z[9]; ///< from c's row
  std::uint8_t begin[10]; ///< of the products
  RowProduct products[most];

  /// half: from the row of c itself on.
  template <class Scalar>
  RowsOfNeighbours(const Operator<Scalar> &a, const Transfer<Scalar> &p, const Stencil &coarse, bool half)
  {
    int added = 0;
    for (int row = half ? 4 : 0; row < 9; row++) {
      const int to_y = row % 3 - 1, to_z = row / 3 - 1;
      if (coarse.slot[13 + 3 * to_y + 9 * to_z] < 0) continue;
      y[count]     = static_cast<signed char>(to_y);
      z[count]     = static_cast<signed char>(to_z);
      begin[count] = static_cast<std::uint8_t>(added);
      for (int pair = 0; pair < 81; pair++) {
        const int by_z = pair / 27 - 1, on_z = pair / 9 % 3 - 1, by_y = pair / 3 % 3 - 1, on_y = pair % 3 - 1,
                  own     = 13 + 3 * on_y + 9 * on_z;
        const int to[2]   = {bit_towards(p, 1, by_y, by_y + on_y, to_y), bit_towards(p, 2, by_z, by_z + on_z, to_z)};
        const bool before = a.stencil.slot[own - 1] >= 0, after = a.stencil.slot[own + 1] >= 0;
        if (to[0] < 0 || to[1] < 0 || !(before || after || a.stencil.slot[own] >= 0)) continue;
        const auto small  = [](int number) { return static_cast<signed char>(number); };
        products[added++] = {
            small(by_y),          small(by_z),      small(on_y), small(on_z), small((by_y < 0 ? p.bit[1] : 0) + (by_z < 0 ? p.bit[2] : 0)),
            small(to[0] + to[1]), !before && !after};
      }
      begin[++count] = static_cast<std::uint8_t>(added);
    }
  }

private:
  /// The bit of the slot by which the neighbour of a fine node, `steps` from c's own place along a direction, is interpolated from the coarse node that is
  /// `to` away from c; -1: it is not, or the fine node, `by` from that place, is not interpolated from c.
  template <class Scalar>
  static int bit_towards(const Transfer<Scalar> &p, int direction, int by, int steps, int to)
  {
    const int bit = p.bit[direction];
    if (bit == 0) return by == 0 && steps == to ? 0 : -1;
    if (steps % 2 == 0) return steps == 2 * to ? 0 : -1;
    return steps == 2 * to + 1 ? 0 : steps == 2 * to - 1 ? bit : -1;
  }
};

/// width: the nodes of a row along x that are in work at a time.
template <int width, class Scalar>
struct Galerkin {
  Operator<Scalar> a;
  Transfer<Scalar> r, p; ///< the same where A is symmetric
  Stencil stencil;       ///< of the coarse operator: a whole box
  Scalar *values;
  Index pitch;
  Inside inside[3];
  bool mirrors; ///< A is symmetric, on a grid with ends: half of the coefficients are made, from the centre on, which the others mirror

  /// The coefficients of some coarse nodes for the up to three neighbours in one of the rows.
  KOKKOS_INLINE_FUNCTION void operator()(const RowsOfNeighbours &rows, int row, const Run &run) const
  {
    const auto is_inside = [&](int d, Index at) { return at >= inside[d].first && at < inside[d].end; };
    const Index end      = run.x + run.count;
    const bool inner     = is_inside(1, run.y) && is_inside(2, run.z);
    const Index first    = inner ? Kokkos::min(Kokkos::max(inside[0].first, run.x), end) : end,
                last     = inner ? Kokkos::min(Kokkos::max(inside[0].end, first), end) : end;
    for (Index x = run.x; x < first; x++) make<false>(rows, row, {x, run.y, run.z}, 1);
    if (first < last) make<true>(rows, row, {first, run.y, run.z}, static_cast<int>(last - first));
    for (Index x = last; x < end; x++) make<false>(rows, row, {x, run.y, run.z}, 1);
  }

private:
  template <int by>
  using Step = std::integral_constant<int, by>; ///< known when this is compiled, so that sums stay in registers

  KOKKOS_INLINE_FUNCTION void set(int k, Index node, const Index (&at)[3], Scalar value) const
  {
    values[k * pitch + node] = value;
    if (!mirrors || k == stencil.centre()) return;
    Scalar *const mirrored = values + stencil.mirrored(k) * pitch;
    const Offset o         = stencil.offset[k];
    Index next[3] = {at[0], at[1], at[2]}, last[3] = {at[0] - o.d[0], at[1] - o.d[1], at[2] - o.d[2]};
    if (p.coarse.move(next, o)) mirrored[p.coarse.node(next)] = value;
    bool left = false; // the grid: nobody else sets it
    for (int d = 0; d < 3; d++) left = left || last[d] < 0 || last[d] >= p.coarse.n[d];
    if (left) mirrored[node] = 0;
  }
  /// far: all fine nodes of `count` coarse ones are on the grid. Where a ring ends the row of the node itself makes all coefficients.
  template <bool far>
  KOKKOS_INLINE_FUNCTION void make(const RowsOfNeighbours &rows, int row, const Index (&at)[3], int count) const
  {
    const int to_y = rows.y[row], to_z = rows.z[row];
    const Index node = p.coarse.node(at);
    if (!far && !a.ends) {
      if (to_y == 0 && to_z == 0) walk(node, at);
      return;
    }
    Scalar sum[3][width];
    for (auto &of_neighbour : sum) {
      for (int n = 0; n < count; n++) of_neighbour[n] = 0;
    }
    if (p.bit[0] == 0)
      add_rows<far, 1>(rows, row, at, count, sum);
    else
      add_rows<far, 2>(rows, row, at, count, sum);
    for (int to_x = -1; to_x <= 1; to_x++) {
      const int k = stencil.slot[13 + to_x + 3 * to_y + 9 * to_z];
      if (k < (mirrors ? stencil.centre() : 0)) continue;
      for (int n = 0; n < count; n++) set(k, node + n, {at[0] + n, at[1], at[2]}, sum[to_x + 1][n]);
    }
  }
  /// apart: fine nodes from a coarse one to the next.
  template <bool far, int apart>
  KOKKOS_INLINE_FUNCTION void add_rows(const RowsOfNeighbours &rows, int row, const Index (&at)[3], int count,
                                       Scalar (&sum)[3][width]) const
  {
    Index own[3];
    for (int d = 0; d < 3; d++) own[d] = p.bit[d] == 0 ? at[d] : 2 * at[d];
    const Index line = a.grid.n[0], plane = line * a.grid.n[1], centre = a.grid.node(own);
    for (int k = rows.begin[row]; k < rows.begin[row + 1]; k++) {
      const RowProduct &one = rows.products[k];
      const Index y = own[1] + one.y, z = own[2] + one.z, i = centre + one.y * line + one.z * plane;
      if (!far && (y < 0 || y >= a.grid.n[1] || z < 0 || z >= a.grid.n[2])) continue;
      if (one.straight)
        add_row<far, apart, true>(one, i, i + one.on_y * line + one.on_z * plane, own[0], count, sum);
      else
        add_row<far, apart, false>(one, i, i + one.on_y * line + one.on_z * plane, own[0], count, sum);
    }
  }
  /// Products R_ci A_ij P_jd over the fine nodes of a row, i the one beside c's own, place its place, and their neighbours, j that at the same place.
  template <bool far, int apart, bool straight>
  KOKKOS_INLINE_FUNCTION void add_row(const RowProduct &one, Index i, Index j, Index place, int count, Scalar (&sum)[3][width]) const
  {
    const signed char *const slot = a.stencil.slot + 13 + 3 * one.on_y + 9 * one.on_z;
    const Scalar *const weights = p.weights + one.to * p.pitch + j, *const weights_of_next = weights + p.bit[0] * p.pitch;
    const auto add = [&](auto x, auto on_x, const Scalar *from) {
      constexpr int steps = x + on_x, coarse = apart == 2 ? (steps + 2) / 2 : steps + 1; // of the sums, the first one
      const int k = slot[on_x];
      if (k < 0) return;
      const Scalar *const entries = a.values + k * a.pitch + i + x, *const to = weights + steps, *const to_next = weights_of_next + steps;
      for (int n = 0; n < count; n++) {
        const Scalar entry = entries[n * apart];
        if (!far && entry == Scalar(0)) continue; // it may leave the grid
        const Scalar product = from[n * apart] * entry;
        sum[coarse][n] += product * to[n * apart];
        if constexpr (apart == 2 && steps % 2 != 0) sum[coarse + 1][n] += product * to_next[n * apart];
      }
    };
    const auto add_all = [&](auto x) {
      if (!far && (place + x < 0 || place + x >= a.grid.n[0])) return;
      const Scalar *const from = r.weights + (one.from + (x < 0 ? p.bit[0] : 0)) * r.pitch + i + x;
      if constexpr (!straight) add(x, Step<-1>(), from);
      add(x, Step<0>(), from);
      if constexpr (!straight) add(x, Step<1>(), from);
    };
    if constexpr (apart == 2) add_all(Step<-1>());
    add_all(Step<0>());
    if constexpr (apart == 2) add_all(Step<1>());
  }
  /// All coefficients of a node, over the fine nodes that it is interpolated to and their neighbours, also around a ring.
  KOKKOS_INLINE_FUNCTION void walk(Index node, const Index (&at)[3]) const
  {
    Scalar sum[27] = {};
    for (int number = 0; number < 27; number++) {
      const Offset by = offset_of(number);
      Index fine[3];
      int slot     = 0;
      bool reaches = true;
      for (int d = 0; d < 3 && reaches; d++) {
        int bit;
        fine[d] = r.from(d, at[d], by.d[d], &bit);
        reaches = fine[d] >= 0;
        slot += bit;
      }
      if (!reaches) continue;
      const Index i       = a.grid.node(fine);
      const Scalar weight = r.weight(slot, i);
      if (weight != 0) add_row(weight, i, fine, at, by, sum);
    }
    for (int k = 0; k < stencil.count; k++) values[k * pitch + node] = sum[stencil.offset[k].number()];
  }

  /// Adds weight times row i of A P; fine node i is `by` from the coarse one.
  KOKKOS_INLINE_FUNCTION void add_row(Scalar weight, Index i, const Index (&fine)[3], const Index (&at)[3], const Offset &by,
                                      Scalar (&sum)[27]) const
  {
    for (int k = 0; k < a.stencil.count; k++) {
      const Scalar c = a.entry(k, i);
      if (c == 0) continue;
      const Offset o = a.stencil.offset[k];
      Index j[3]     = {fine[0], fine[1], fine[2]};
      if (!a.grid.move(j, o)) continue;
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

/// Fills the coefficients of the coarse operator. mirrors: A is symmetric, and each coefficient of the grid is right, not only those of the nodes that a
/// rank owns. On a device a thread has a row of neighbours: coarse grids have few nodes.
template <class Space, class Scalar>
void galerkin(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p, const Stencil &stencil,
              Scalar *values, Index pitch, bool mirrors)
{
  Galerkin<run_nodes<Space>, Scalar> kernel{a, r, p, stencil, values, pitch, {}, mirrors && a.ends && r.weights == p.weights};
  for (int d = 0; d < 3; d++) kernel.inside[d] = inside_of(a.grid, p.coarsened, d);
  const RowsOfNeighbours rows(a, p, stencil, kernel.mirrors);
  const char *const label = "weft boxmg galerkin";
  const Region all        = Region::all(p.coarse);
  if constexpr (is_host_space<Space>) {
    over_runs(
        label, space, all, KOKKOS_LAMBDA(const Run &run) {
          for (int row = 0; row < rows.count; row++) kernel(rows, row, run);
        });
  } else {
    // The rows of a few nodes that are neighbours in memory are made by one team: they share what they read.
    constexpr int lanes = warp_threads<Space>;
    using Policy        = Kokkos::TeamPolicy<Space>;
    const auto light    = Kokkos::Experimental::WorkItemProperty::HintLightWeight; // as range() has it
    const Runs<Space> runs(all);
    Kokkos::parallel_for(
        label, Kokkos::Experimental::require(Policy(space, static_cast<int>((runs.all + lanes - 1) / lanes), rows.count, lanes), light),
        KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          const int row = team.team_rank();
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
            const Index number = Index(team.league_rank()) * lanes + lane;
            if (number < runs.all) kernel(rows, row, runs.run(number));
          });
        });
  }
}

} // namespace weft::boxmg
