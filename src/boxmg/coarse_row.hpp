/// A row of R A P in the registers of a thread: for grids with ends, and stencils that are a whole star or a whole box.
///
/// Of a coarse node c, whose own fine node has the neighbours i that interpolate from it,
///
///   row of c at d = sum over fine nodes j  (sum over i  R_ci A_ij)  P_jd.
///
/// Where each factor stands is known when this is compiled, and nothing branches, so that loads are on their way together. The list of all products
/// R_ci A_ij P_jd (galerkin.hpp), which serves everything else, waits for memory instead, one load after the other.
#pragma once
#include <utility>

#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// Directions by their roles: x has the first one, and of y and z the one that is coarsened comes before the one that is not, so that fewer cases
/// differ.
struct Roles {
  int direction[3] = {0, 1, 2};

  explicit Roles(Directions coarsened)
  {
    if (!has(coarsened, 1) && has(coarsened, 2)) std::swap(direction[1], direction[2]);
  }
  /// A set of directions as one of roles.
  Directions of(Directions set) const
  {
    Directions roles = 0;
    for (int role = 0; role < 3; role++) roles |= has(set, direction[role]) ? 1u << role : 0u;
    return roles;
  }
};

/// Which factors a row has. halved: the roles whose directions are coarsened; coupled: those along which the operator couples. star: it couples along
/// one direction at a time. half: A is symmetric and R the transpose of P, so that coefficients from the centre on are made, and mirrored. split: a
/// thread makes the coefficients of one step along each of these, and others make the rest, where nodes are few.
template <Directions halved, Directions coupled, bool star, bool half, Directions split>
struct RowGeometry {
  /// How many threads make a row.
  static constexpr int all_shares  = (has(split, 0) ? 3 : 1) * (has(split, 1) ? 3 : 1) * (has(split, 2) ? 3 : 1);
  static constexpr int first_share = half ? all_shares / 2 : 0, shares = all_shares - first_share;

  /// Steps along the direction of a role: of a number among 27, and among 125 of up to two.
  WEFT_INLINE static constexpr int near(int number, int role) { return (role == 0 ? number : role == 1 ? number / 3 : number / 9) % 3 - 1; }
  WEFT_INLINE static constexpr int far(int number, int role) { return (role == 0 ? number : role == 1 ? number / 5 : number / 25) % 5 - 2; }

  struct Some {
    int count = 0, number[125] = {};
  };
  /// The fine nodes i, by their steps from the coarse node's own, that interpolate from it.
  static constexpr Some interpolating()
  {
    Some some;
    for (int i = 0; i < 27; i++) {
      if (interpolates(i)) some.number[some.count++] = i;
    }
    return some;
  }
  /// The fine nodes j that a share needs.
  static constexpr Some reached(int share)
  {
    Some some;
    for (int j = 0; j < 125; j++) {
      if (coupling(j).count > 0 && slots(share, j).count > 0) some.number[some.count++] = j;
    }
    return some;
  }
  /// The nodes i that couple to a fine node j.
  static constexpr Some coupling(int j)
  {
    Some some;
    for (int i = 0; i < 27; i++) {
      if (interpolates(i) && coefficient(i, j) >= 0) some.number[some.count++] = i;
    }
    return some;
  }
  /// The slots of j whose coarse node is one of the share's.
  static constexpr Some slots(int share, int j)
  {
    Some some;
    for (int slot = 0; slot < 8; slot++) {
      if (target(j, slot) >= 0 && makes(share, target(j, slot))) some.number[some.count++] = slot;
    }
    return some;
  }
  /// The coefficients of a share.
  static constexpr Some made(int share)
  {
    Some some;
    for (int number = 0; number < 27; number++) {
      bool exists = makes(share, number);
      for (int role = 0; role < 3; role++) exists = exists && (near(number, role) == 0 || has(coupled, role));
      if (exists) some.number[some.count++] = number;
    }
    return some;
  }
  /// The slot of the weight by which node i interpolates from the coarse one.
  static constexpr int slot_back(int i)
  {
    int slot = 0;
    for (int role = 0; role < 3; role++) slot += near(i, role) < 0 ? 1 << role : 0;
    return slot;
  }
  /// The number of the coefficient by which node i couples to node j; -1: they are no neighbours.
  static constexpr int coefficient(int i, int j)
  {
    int number = 13, steps = 0, scale = 1;
    for (int role = 0; role < 3; role++, scale *= 3) {
      const int o = far(j, role) - near(i, role);
      if (o < -1 || o > 1 || (o != 0 && !has(coupled, role))) return -1;
      number += scale * o;
      steps += o != 0;
    }
    return star && steps > 1 ? -1 : number;
  }
  /// The coarse node that a slot of node j belongs to, by its number from the coarse one; -1: j has no such slot.
  static constexpr int target(int j, int slot)
  {
    int number = 13, scale = 1;
    for (int role = 0; role < 3; role++, scale *= 3) {
      const int s = far(j, role), next = slot >> role & 1, odd = s % 2 != 0;
      if (has(halved, role) ? next && !odd : next || s < -1 || s > 1) return -1;
      number += scale * (has(halved, role) ? (s - odd) / 2 + next : s);
    }
    return number;
  }

private:
  static constexpr bool interpolates(int i)
  {
    for (int role = 0; role < 3; role++) {
      if (near(i, role) != 0 && !has(halved, role)) return false;
    }
    return true;
  }
  static constexpr bool makes(int share, int number)
  {
    int scale = 1, own = 0;
    for (int role = 0; role < 3; role++) {
      if (!has(split, role)) continue;
      own += scale * (near(number, role) + 1);
      scale *= 3;
    }
    return own == share && (!half || number >= 13);
  }
};

template <class Scalar, Directions halved, Directions coupled, bool star, bool half, Directions split>
struct CoarseRow {
  using Geometry = RowGeometry<halved, coupled, star, half, split>;

  const Scalar *a[27];       ///< coefficients of the fine operator, by number
  const Scalar *r[8], *p[8]; ///< weights, by slot
  Scalar *values[27];        ///< coefficients of the coarse operator
  Index n[3], step[3];       ///< of the fine grid along the direction of each role: nodes, and from one to the next in memory
  Index coarse_n[3], coarse_step[3];
  Index coarse_nodes;
  bool small; ///< numbers of nodes fit 32 bits

  CoarseRow(const Roles &roles, const Operator<Scalar> &fine, const Transfer<Scalar> &restriction, const Transfer<Scalar> &interpolation,
            const Stencil &stencil, Scalar *coarse, Index pitch)
      : coarse_nodes(interpolation.coarse.nodes()), small(fine.grid.nodes() < Index(1) << 31)
  {
    const Grid &next          = interpolation.coarse;
    const Index one[3]        = {1, fine.grid.n[0], fine.grid.n[0] * fine.grid.n[1]};
    const Index coarse_one[3] = {1, next.n[0], next.n[0] * next.n[1]};
    for (int role = 0; role < 3; role++) {
      const int d       = roles.direction[role];
      n[role]           = fine.grid.n[d];
      step[role]        = one[d];
      coarse_n[role]    = next.n[d];
      coarse_step[role] = coarse_one[d];
    }
    for (int number = 0; number < 27; number++) {
      Offset o;
      for (int role = 0; role < 3; role++) o.d[roles.direction[role]] = static_cast<signed char>(Geometry::near(number, role));
      const int k = fine.stencil.slot[o.number()], to = stencil.slot[o.number()];
      a[number]      = k < 0 ? nullptr : fine.values + k * fine.pitch;
      values[number] = to < 0 ? nullptr : coarse + to * pitch;
    }
    for (int slot = 0; slot < 8; slot++) {
      int own = 0;
      for (int role = 0; role < 3; role++) own += slot >> role & 1 ? interpolation.bit[roles.direction[role]] : 0;
      r[slot] = restriction.weights + own * restriction.pitch;
      p[slot] = interpolation.weights + own * interpolation.pitch;
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(Index thread) const
  {
    const Index share = Geometry::shares == 1 ? 0 : quotient(thread, coarse_nodes, small);
    make(thread - share * coarse_nodes, Geometry::first_share + static_cast<int>(share), Numbers<Geometry::all_shares>());
  }

private:
  template <int count>
  using Numbers = std::make_integer_sequence<int, count>;
  template <int... numbers>
  using Sequence = std::integer_sequence<int, numbers...>;

  /// A coarse node of a thread, and what its sums need.
  struct Row {
    Index at[3], node, own; ///< its place, its number, its own fine node
    unsigned inside;        ///< bit 5 role + 2 + s: a step of s from its own fine node stays on the grid
    Scalar weight[27], sum[27];
  };

  template <int... share>
  KOKKOS_INLINE_FUNCTION void make(Index number, int wanted, Sequence<share...>) const
  {
    static_cast<void>(((share >= Geometry::first_share && share == wanted && (make<share>(number), true)) || ...));
  }
  template <int share>
  KOKKOS_INLINE_FUNCTION void make(Index number) const
  {
    const Index line = quotient(number, coarse_n[0], small), layer = quotient(line, coarse_n[1], small);
    Row row{{number - line * coarse_n[0], line - layer * coarse_n[1], layer}, 0, 0, 0, {}, {}};
    for (int role = 0; role < 3; role++) {
      const Index place = has(halved, role) ? 2 * row.at[role] : row.at[role];
      row.own += place * step[role];
      row.node += row.at[role] * coarse_step[role];
      for (int s = -2; s <= 2; s++) row.inside |= (place + s >= 0 && place + s < n[role] ? 1u : 0u) << (5 * role + 2 + s);
    }
    restricts(row, Numbers<Geometry::interpolating().count>());
    reaches<share>(row, Numbers<Geometry::reached(share).count>());
    stores<share>(row, Numbers<Geometry::made(share).count>());
  }
  /// A value of the fine grid some steps from the coarse node's own; 0 beyond its ends.
  template <int x, int y, int z>
  KOKKOS_INLINE_FUNCTION Scalar value(const Row &row, const Scalar *values) const
  {
    constexpr unsigned steps = 1u << (2 + x) | 1u << (7 + y) | 1u << (12 + z);
    return (row.inside & steps) == steps ? values[row.own + x * step[0] + y * step[1] + z * step[2]] : Scalar(0);
  }
  template <int i>
  KOKKOS_INLINE_FUNCTION Scalar near(const Row &row, const Scalar *values) const
  {
    return value<Geometry::near(i, 0), Geometry::near(i, 1), Geometry::near(i, 2)>(row, values);
  }
  template <int... k>
  KOKKOS_INLINE_FUNCTION void restricts(Row &row, Sequence<k...>) const
  {
    constexpr auto nodes = Geometry::interpolating();
    ((row.weight[nodes.number[k]] = near<nodes.number[k]>(row, r[Geometry::slot_back(nodes.number[k])])), ...);
  }
  template <int share, int... k>
  KOKKOS_INLINE_FUNCTION void reaches(Row &row, Sequence<k...>) const
  {
    constexpr auto nodes = Geometry::reached(share);
    (reach<share, nodes.number[k]>(row), ...);
  }
  template <int share, int j>
  KOKKOS_INLINE_FUNCTION void reach(Row &row) const
  {
    const Scalar restricted = couple<j>(row, Numbers<Geometry::coupling(j).count>());
    interpolate<share, j>(row, restricted, Numbers<Geometry::slots(share, j).count>());
  }
  /// (R A) of the coarse node and fine node j.
  template <int j, int... k>
  KOKKOS_INLINE_FUNCTION Scalar couple(const Row &row, Sequence<k...>) const
  {
    constexpr auto nodes = Geometry::coupling(j);
    return ((row.weight[nodes.number[k]] * near<nodes.number[k]>(row, a[Geometry::coefficient(nodes.number[k], j)])) + ...);
  }
  template <int share, int j, int... k>
  KOKKOS_INLINE_FUNCTION void interpolate(Row &row, Scalar restricted, Sequence<k...>) const
  {
    constexpr auto slots = Geometry::slots(share, j);
    ((row.sum[Geometry::target(j, slots.number[k])] +=
      restricted * value<Geometry::far(j, 0), Geometry::far(j, 1), Geometry::far(j, 2)>(row, p[slots.number[k]])),
     ...);
  }
  template <int share, int... k>
  KOKKOS_INLINE_FUNCTION void stores(const Row &row, Sequence<k...>) const
  {
    constexpr auto numbers = Geometry::made(share);
    (store<numbers.number[k]>(row), ...);
  }
  template <int number>
  KOKKOS_INLINE_FUNCTION void store(const Row &row) const
  {
    values[number][row.node] = row.sum[number];
    if constexpr (half && number > 13) {
      constexpr int o[3] = {Geometry::near(number, 0), Geometry::near(number, 1), Geometry::near(number, 2)};
      bool next = true, last = true;
      Index there = row.node;
      for (int role = 0; role < 3; role++) {
        next = next && row.at[role] + o[role] >= 0 && row.at[role] + o[role] < coarse_n[role];
        last = last && row.at[role] - o[role] >= 0 && row.at[role] - o[role] < coarse_n[role];
        there += o[role] * coarse_step[role];
      }
      if (next) values[26 - number][there] = row.sum[number];
      if (!last) values[26 - number][row.node] = 0; // it leaves the grid, and nobody else sets it
    }
  }
};

/// The coarse operator by its rows; mirrors: half, as above, on a device. False where that does not serve, and nothing is done then: rings, stencils
/// with holes, directions that are coarsened alone, and grids that do not couple along x. In coarse_row.cpp for the backends and the scalars of the
/// build.
template <class Space, class Scalar>
bool galerkin_by_rows(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &r, const Transfer<Scalar> &p,
                      const Stencil &stencil, Scalar *values, Index pitch, bool mirrors);

} // namespace weft::boxmg
