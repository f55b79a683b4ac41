/// The operator of the next level, R A P, by stencils: a coarse node at a time, over the fine nodes that it is interpolated to, their neighbours,
/// and the coarse nodes that those are interpolated from.
#pragma once
#include <algorithm>

#include "base/backend.hpp"
#include "boxmg/coarse_row.hpp"

namespace weft::boxmg {

/// A product R_ci A_ij P_jd of a coarse node c away from the ends of the grid: where its factors stand beside those of c's own fine node. The same for
/// all such nodes.
struct Product {
  Index r, a, p;
  Offset by; ///< from c's fine node to i
};

/// All of them, by the coefficient of c that they are added to: coefficient k has those from first[k] on.
template <class Space>
struct Products {
  OwnedArray<Product, Space> all;
  int first[Stencil::most + 1] = {};
};

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

/// The products of the nodes inside, for each coefficient. They depend on the stencil, the grid and the directions that are coarsened, not on values.
template <class Scalar>
std::vector<std::vector<Product>> products_of(const Operator<Scalar> &a, const Transfer<Scalar> &p, const Stencil &coarse)
{
  std::vector<std::vector<Product>> products(static_cast<std::size_t>(coarse.count));
  const Index step[3] = {1, a.grid.n[0], a.grid.n[0] * a.grid.n[1]};
  for (int number = 0; number < 27; number++) {
    const Offset by = offset_of(number);
    int r_slot      = 0;
    bool reaches    = true;
    for (int d = 0; d < 3; d++) {
      if (by.d[d] < 0) r_slot += p.bit[d];
      reaches = reaches && (by.d[d] == 0 || p.bit[d] != 0);
    }
    if (!reaches) continue;
    for (int k = 0; k < a.stencil.count; k++) {
      const Offset o = a.stencil.offset[k];
      for (int slot = 0; slot < p.slots(); slot++) {
        Offset to;
        bool there = true;
        Index i = 0, j = 0;
        for (int d = 0; d < 3; d++) {
          const int steps = by.d[d] + o.d[d], odd = steps % 2 != 0, next = (slot & p.bit[d]) != 0;
          i += by.d[d] * step[d];
          j += steps * step[d];
          if (p.bit[d] == 0) {
            to.d[d] = steps;
            continue;
          }
          there   = there && (odd || !next);
          to.d[d] = (steps - odd) / 2 + next;
        }
        if (there)
          products[static_cast<std::size_t>(coarse.slot[to.number()])].push_back(
              {r_slot * p.pitch + i, k * a.pitch + i, slot * p.pitch + j, by});
      }
    }
  }
  return products;
}

template <class Space, class Scalar>
struct Galerkin {
  Operator<Scalar> a;
  Transfer<Scalar> r, p; ///< the same where A is symmetric
  Stencil stencil;       ///< of the coarse operator: a whole box
  Scalar *values;
  Index pitch;
  Inside inside[3];
  const Product *products;
  int starts[Stencil::most + 1]; ///< of the products of each coefficient
  bool
      mirrors; ///< A is symmetric, on a grid with ends: half of the coefficients are made, those from the centre on, and the others mirror them

  /// All coefficients of a coarse node.
  KOKKOS_INLINE_FUNCTION void operator()(Index node, const Index (&at)[3]) const
  {
    for (int k = 0; k < stencil.count; k++) make(k, node, at);
  }
  /// Coefficient k of it. Where the list does not serve, the first one makes all.
  KOKKOS_INLINE_FUNCTION void make(int k, Index node, const Index (&at)[3]) const
  {
    if (is_listed(at))
      set(k, node, at, listed(k, at, 0, 1));
    else if (k == 0)
      walk(node, at);
  }
  /// Whether the list serves for a coarse node: not at the ends of a ring.
  KOKKOS_INLINE_FUNCTION bool is_listed(const Index (&at)[3]) const { return a.ends || is_far(at); }
  /// The sum of every so many products of a coefficient, from the one numbered `begin` on.
  KOKKOS_INLINE_FUNCTION Scalar listed(int coefficient, const Index (&at)[3], int begin, int apart) const
  {
    return is_far(at) ? sum<true>(coefficient, at, begin, apart) : sum<false>(coefficient, at, begin, apart);
  }
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
  /// The coefficients that are to be made: from this one on.
  KOKKOS_INLINE_FUNCTION int first() const { return mirrors ? stencil.centre() : 0; }

private:
  KOKKOS_INLINE_FUNCTION bool is_far(const Index (&at)[3]) const
  {
    bool far = true;
    for (int d = 0; d < 3; d++) far = far && at[d] >= inside[d].first && at[d] < inside[d].end;
    return far;
  }
  /// On a device four products are on their way together. far: all of their nodes are there; else fine nodes may be beyond an end, and a coefficient
  /// that leaves the grid is 0.
  template <bool far>
  KOKKOS_INLINE_FUNCTION Scalar sum(int coefficient, const Index (&at)[3], int from, int apart) const
  {
    constexpr int together = is_host_space<Space> ? 1 : 4;
    Index own[3];
    for (int d = 0; d < 3; d++) own[d] = p.bit[d] == 0 ? at[d] : 2 * at[d];
    const Index i   = a.grid.node(own);
    const int begin = starts[coefficient] + from, end = starts[coefficient + 1];
    Scalar sum = 0;
    for (int k = begin; k < end; k += together * apart) {
      Scalar product[together];
      for (int m = 0; m < together; m++) {
        const bool listed  = k + m * apart < end;
        const Product &one = products[listed ? k + m * apart : k];
        const bool there   = listed && (far || there_is(own, one.by));
        const Scalar c     = there ? a.values[i + one.a] : Scalar(0);
        product[m]         = there && (far || c != 0) ? r.weights[i + one.r] * c * p.weights[i + one.p] : Scalar(0);
      }
      for (int m = 0; m < together; m++) sum += product[m];
    }
    return sum;
  }
  KOKKOS_INLINE_FUNCTION bool there_is(const Index (&own)[3], const Offset &by) const
  {
    bool there = true;
    for (int d = 0; d < 3; d++) there = there && own[d] + by.d[d] >= 0 && own[d] + by.d[d] < a.grid.n[d];
    return there;
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

/// For a device. A thread a coefficient, since coarse grids have few nodes; where they have so few that the longest lists are what is waited for, the
/// lanes of a vector: 17³ nodes of 27 points 250 us by threads.
template <class Space, class Scalar>
void over_coefficients(const Space &space, const Galerkin<Space, Scalar> &kernel)
{
  const Grid grid   = kernel.p.coarse;
  const int first   = kernel.first();
  const Index count = grid.nodes() * (kernel.stencil.count - first), products = kernel.starts[kernel.stencil.count] / kernel.stencil.count;
  const char *const say = "weft boxmg galerkin";
  if (count > products * 2048) {
    Kokkos::parallel_for(
        say, range(space, count), KOKKOS_LAMBDA(const Index number) {
          const Index k = number / grid.nodes(), node = number - k * grid.nodes();
          Index at[3];
          grid.position(node, at);
          kernel.make(first + static_cast<int>(k), node, at);
        });
    return;
  }
  constexpr int lanes = warp_threads<Space>, rows = 4;
  using Policy = Kokkos::TeamPolicy<Space>;
  Kokkos::parallel_for(
      say, light(Policy(space, static_cast<int>((count + rows - 1) / rows), rows, lanes)),
      KOKKOS_LAMBDA(const typename Policy::member_type &team) {
        const Index number = Index(team.league_rank()) * rows + team.team_rank();
        if (number >= count) return;
        const Index quotient = number / grid.nodes(), node = number - quotient * grid.nodes();
        const int k = first + static_cast<int>(quotient);
        Index at[3];
        grid.position(node, at);
        if (!kernel.is_listed(at)) {
          Kokkos::single(Kokkos::PerThread(team), [&] { kernel.make(k, node, at); });
          return;
        }
        Scalar sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, lanes), [&](int lane, Scalar &part) { part += kernel.listed(k, at, lane, lanes); }, sum);
        Kokkos::single(Kokkos::PerThread(team), [&] { kernel.set(k, node, at, sum); });
      });
}

/// The coarse operator by the list of its products, which is made where it is empty. half: A is symmetric, and R the transpose of P, which a
/// device makes use of.
template <class Space, class Scalar>
void galerkin_by_products(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p,
                          const Stencil &stencil, Products<Space> &products, Scalar *values, Index pitch, bool half)
{
  if (products.all.size() == 0) {
    std::vector<Product> all;
    int coefficient = 0;
    for (const auto &of_one : products_of(a, p, stencil)) {
      all.insert(all.end(), of_one.begin(), of_one.end());
      products.first[++coefficient] = static_cast<int>(all.size());
    }
    products.all = OwnedArray<Product, Space>("weft boxmg products", all.size());
    Kokkos::deep_copy(space, products.all, Array<const Product, Kokkos::HostSpace>(all.data(), all.size()));
  }
  Galerkin<Space, Scalar> kernel{a, r, p, stencil, values, pitch, {}, products.all.data(), {}, half && !is_host_space<Space>};
  std::copy(std::begin(products.first), std::end(products.first), kernel.starts);
  for (int d = 0; d < 3; d++) kernel.inside[d] = inside_of(a.grid, p.coarsened, d);
  if constexpr (is_host_space<Space>)
    over_nodes("weft boxmg galerkin", space, p.coarse, kernel);
  else
    over_coefficients(space, kernel);
}

/// Fills the coefficients of the coarse operator. products: empty where the stencil, the grid or what is coarsened is new; they stay.
/// mirrors: A is symmetric, and each coefficient of the grid is right, not only those of the nodes that a rank owns.
template <class Space, class Scalar>
void galerkin(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p, const Stencil &stencil,
              Products<Space> &products, Scalar *values, Index pitch, bool mirrors)
{
  constexpr Index fewest = 2048; // for a device, in space: 17^3 nodes 29 us by rows and 78 by products, 9^3 24 and 16 (H200)
  const bool half        = mirrors && a.ends && r.weights == p.weights;
  const bool many        = is_host_space<Space> || stencil.count < Stencil::most || p.coarse.nodes() >= fewest;
  if (many && galerkin_by_rows(space, a, r, p, stencil, values, pitch, half)) return;
  galerkin_by_products(space, a, r, p, stencil, products, values, pitch, half);
}

} // namespace weft::boxmg
