/// Weights of the interpolation from the operator (Dendy 1982, section 3).
///
/// A node between coarse ones along the directions S (of those that are coarsened) is given the value that satisfies its own equation, with the
/// stencil summed over all directions that are not in S, and with neighbours that lie between fewer coarse nodes interpolated before it:
///
///   w_i = sum over neighbours k along S of (-a_k / c) w_(i+k),      c: see denominator().
///
/// Where convection is strong, a coupling of the diagonal's sign counts as one of the node with itself, so that constants are interpolated as before:
/// weights from such are of any size (1000 in recirculating flow at 257²), and the coarse operator is then of no use.
///
/// So nodes on coarse ones come first, then those between two, between four, between eight.
#pragma once
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// Nodes that lie between coarse ones along the directions s, of those that are coarsened.
template <class Scalar>
Region between(const Transfer<Scalar> &p, Directions s)
{
  Region nodes = Region::all(p.fine);
  for (int d = 0; d < 3; d++) {
    if (p.bit[d] == 0) continue;
    nodes.first[d] = has(s, d);
    nodes.step[d]  = 2;
    nodes.count[d] = (p.fine.n[d] - nodes.first[d] + 1) / 2;
  }
  return nodes;
}

/// Fills in the weights that no values change: 1 of nodes on coarse ones, 0 of a next coarse node along a direction in which a node lies on one.
template <class Space, class Scalar>
void start_weights(const Space &space, const Transfer<Scalar> &p, Scalar *weights)
{
  Kokkos::deep_copy(space, Kokkos::View<Scalar *, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(weights, p.slots() * p.pitch), Scalar(0));
  const Grid grid = p.fine;
  over_runs(
      "weft boxmg weights", space, between(p, 0), KOKKOS_LAMBDA(const Run &run) {
        for (Index j = 0; j < run.count; j++) weights[run.x + j * run.step + grid.n[0] * (run.y + grid.n[1] * run.z)] = 1;
      });
}

/// Fills the weights of the interpolation that belongs to a, to its transpose, or to its symmetric part; p.weights is `weights`, which
/// start_weights() has seen. Nodes between fewer coarse ones first. convected: see above. followers: of each node the directions along which weights
/// are linear all the same; null: none. corners: at which squares touch are known, see touching.hpp. In interpolation.cpp for the backends and the scalars of the build.
template <class Space, class Scalar>
void make_weights(const Space &space, const Operator<Scalar> &a, Part part, const Transfer<Scalar> &p, bool from_operator, bool convected,
                  Scalar *weights, const unsigned char *followers = nullptr, bool corners = false);

} // namespace weft::boxmg
