/// Corners at which squares of two materials touch: two opposite quarters of the nodes around couple much more strongly than the two others.
///
/// What V cycles leave of an error there is nearly constant in each strong square, and of opposite signs in two that touch. Between them it goes
/// through the corner, and around it as around a source: it rises by 0.69 of what it rises in two steps in the first one on a grid whose spacing is
/// that of the finest, by 0.76 on the next one, and by 0.81, 0.84, .. after that. Weights from stencils summed across a direction make it half, and
/// its energy on each coarser grid too large by a tenth to a third, which all levels add up to.
///
/// So a node beside a corner, between it and the next coarse node, has here the weight that its own equations and those of its neighbours give. With 0
/// at the corner, 1 and -1 two steps away in the strong squares and 0 in the weak ones, the four nodes beside it are +-x and the two strong
/// ones diagonally from it +-d, and
///
///   [ K_xx  K_xd ] [ x ]     [ r_x ]
///   [ K_xd  K_dd ] [ d ] = - [ r_d ]
///
/// are the sums of these nodes' equations by their signs. x is the weight: 0.67, 0.74, 0.80, 0.83, .. for a large contrast. That of the corner is what is
/// left of the sum of both, which plain weights have where constants are damped too. A node whose plain weights are not alike, as beside a weak layer or
/// before an end, keeps them.
///
/// All corners must lie on coarse nodes, with four steps or more from one to the next. Where squares are two steps wide, all coarse nodes are corners,
/// and a coarser grid knows nothing of what is constant in a square: touching_levels() tells how many levels come before that one.
#pragma once
#include <bit>

#include "base/backend.hpp"
#include "boxmg/interpolation.hpp"

namespace weft::boxmg {

/// For grids of two directions.
template <class Scalar>
struct Touching {
  using Real = RealOf<Scalar>;

  static constexpr Real much = 8; ///< the least contrast of squares; below it plain weights are as good

  Operator<Scalar> a;

  /// 1: the strong quarters are those of two positive and of two negative steps; -1: the two others; 0: this is no such corner.
  KOKKOS_INLINE_FUNCTION int corner(const Index (&at)[3]) const
  {
    Real quarters[2][2]; // by the steps' signs: the same or not, and of y
    for (int y : {0, 1}) {
      for (int x : {0, 1}) {
        Index there[3] = {at[0], at[1], 0};
        if (!a.grid.move(there, 0, 2 * x - 1) || !a.grid.move(there, 1, 2 * y - 1)) return 0;
        quarters[x != y][y] = modulus(a.diagonal(a.grid.node(there)));
      }
    }
    const auto outdo = [&](const Real(&strong)[2], const Real(&weak)[2]) {
      return Kokkos::min(strong[0], strong[1]) > much * Kokkos::max(weak[0], weak[1]);
    };
    const int turn = outdo(quarters[0], quarters[1]) ? 1 : outdo(quarters[1], quarters[0]) ? -1 : 0;
    return turn != 0 && couples_alike(at) ? turn : 0;
  }

  /// x.
  KOKKOS_INLINE_FUNCTION Real weight(const Index (&at)[3], int turn) const
  {
    Scalar k[2][2] = {}, r[2] = {}; // the first index: a node beside the corner, or diagonally from it
    for (int y = -1; y <= 1; y++) {
      for (int x = -1; x <= 1; x++) {
        const int own  = sign(x, y * turn);
        Index there[3] = {at[0], at[1], 0};
        if (own == 0 || !a.grid.move(there, 0, x) || !a.grid.move(there, 1, y)) continue;
        const int kind   = x != 0 && y != 0;
        const Index node = a.grid.node(there);
        for (int m = 0; m < a.stencil.count; m++) {
          const int to_x = x + a.stencil.offset[m].d[0], to_y = y + a.stencil.offset[m].d[1];
          const Scalar value = a.entry(m, node) * Scalar(own * sign(to_x, to_y * turn));
          if (to_x * to_x > 1 || to_y * to_y > 1)
            r[kind] += value;
          else
            k[kind][to_x != 0 && to_y != 0] += value;
        }
      }
    }
    const Scalar determinant = k[0][0] * k[1][1] - k[0][1] * k[1][0];
    return modulus(determinant) > 0 ? real_part((k[0][1] * r[1] - k[1][1] * r[0]) / determinant) : Real(0);
  }

private:
  /// Of what such an error is at some steps from a corner.
  KOKKOS_INLINE_FUNCTION static int sign(int x, int y)
  {
    if (x == 0 && y == 0) return 0;
    return x >= 0 && y >= 0 ? 1 : x <= 0 && y <= 0 ? -1 : 0;
  }
  /// Whether the corner's own couplings to all four sides are of one size, as where it belongs to all squares; where each node is of one material they are not.
  KOKKOS_INLINE_FUNCTION bool couples_alike(const Index (&at)[3]) const
  {
    const Index node = a.grid.node({at[0], at[1], 0});
    Scalar sides[4]  = {};
    for (int m = 0; m < a.stencil.count; m++) {
      const Scalar c = a.entry(m, node);
      const auto &by = a.stencil.offset[m].d;
      for (int d = 0; d < 2; d++) {
        sides[2 * d] += by[d] < 0 ? c : Scalar(0);
        sides[2 * d + 1] += by[d] > 0 ? c : Scalar(0);
      }
    }
    Real least = modulus(sides[0]), most = least;
    for (const Scalar &side : sides) {
      least = Kokkos::min(least, modulus(side));
      most  = Kokkos::max(most, modulus(side));
    }
    return most < 4 * least;
  }
};

/// Puts right the weights of nodes beside corners on coarse nodes, between these and the next one. In 2-D, where both directions are coarsened; weights of
/// nodes between two coarse ones are there, and others not yet.
template <class Space, class Scalar>
void weigh_corners(const Space &space, const Operator<Scalar> &a, const Transfer<Scalar> &p, Scalar *weights)
{
  using Real             = RealOf<Scalar>;
  constexpr Real quarter = 0.25, half = 0.5, most = 0.95;
  const Touching<Scalar> touching{a};
  over_runs(
      "weft boxmg corners", space, between(p, 0), KOKKOS_LAMBDA(const Run &run) {
        for (Index j = 0; j < run.count; j++) {
          const Index at[3] = {run.x + j * run.step, run.y, 0};
          const int turn    = touching.corner(at);
          if (turn == 0) continue;
          const auto x = touching.weight(at, turn);
          for (int d = 0; d < 2; d++) {
            for (int by : {-1, 1}) {
              Index there[3] = {at[0], at[1], 0};
              if (!a.grid.move(there, d, by)) continue;
              Scalar *const before = weights + a.grid.node(there), *const after = before + p.bit[d] * p.pitch;
              const Scalar both = *before + *after;
              const auto size   = modulus(both);
              // Where its own equation knows more, of a weak layer or of an end, the node keeps what that gives.
              if (!(Kokkos::min(modulus(*before), modulus(*after)) > quarter * size && x >= half * size && x <= most * size)) continue;
              const Scalar next = x / size * both;
              *before           = by > 0 ? both - next : next;
              *after            = by > 0 ? next : both - next;
            }
          }
        }
      });
}

/// The bits of all places at which squares touch, in the whole grid of which this one begins at `first`. Does not wait.
template <class Space, class Scalar>
void look_for_corners(const Space &space, const Operator<Scalar> &a, const Grid &whole, const Index (&first)[3],
                      const Result<Index, Space> &places)
{
  const Touching<Scalar> touching{a};
  const Index x = first[0], y = first[1];
  Kokkos::parallel_reduce(
      "weft boxmg corners", range(space, a.grid.nodes()),
      KOKKOS_LAMBDA(const Index node, Index &bits) {
        Index at[3];
        a.grid.position(node, at);
        if (touching.corner(at) != 0) bits |= (at[0] + x + whole.n[0]) % whole.n[0] | (at[1] + y + whole.n[1]) % whole.n[1];
      },
      Kokkos::BOr<Index, typename Space::memory_space>(places));
}

/// How many levels, from the finest on, have their corners on coarse nodes, four steps or more apart: coarser ones are not of use, and the next one is the
/// last. 0: none, or the last one has more nodes than `most`.
inline std::size_t touching_levels(Grid grid, Index places, Index most)
{
  for (int d = 0; d < 2; d++) places |= places != 0 && grid.periodic[d] ? grid.n[d] : 0;
  const int halvings = std::countr_zero(static_cast<std::uint64_t>(places));
  if (places == 0 || halvings < 2) return 0;
  for (int k = 1; k < halvings; k++) grid = coarse(grid, 3);
  return grid.nodes() <= most ? static_cast<std::size_t>(halvings - 1) : 0;
}

} // namespace weft::boxmg
