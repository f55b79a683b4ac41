/// Diffusion for the coarse operators of convection.
#pragma once
#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// The first level whose operator gets it, 0 the finest: those before need none, and fewer iterations without.
inline constexpr std::size_t stabilised_from = 2;

/// Products R A P of upwind convection add no diffusion across the flow. On coarse grids what is left of the fine grid's is so small beside the
/// convection that couplings of the diagonal's sign grow from level to level, until an operator no longer has an inverse of any use (recirculating
/// flow at 1025²). An artificial diffusion between such two nodes takes a part of that sign away:
///
///   d_ij = share max(0, min(|a_ij - a_ji| / 2, max(a_ij, a_ji))),      a_ij -= d_ij, a_ji -= d_ij, a_ii += d_ij, a_jj += d_ij
///
/// for a positive diagonal, so that sums over rows and over columns stay (the discrete diffusion of D. Kuzmin and S. Turek, J. Comput. Phys. 175
/// (2002), with a share of 1). All of it would make the coarse operator's diffusion that of its own grid, of which a correction is right by half.
template <class Scalar>
struct ArtificialDiffusion {
  static constexpr auto share = RealOf<Scalar>(0.05);
  Operator<Scalar> a;
  RealOf<Scalar> sign; ///< of the diagonal; of a complex operator its real part has what is said here

  /// d of a node and its neighbour k, the same seen from there.
  KOKKOS_INLINE_FUNCTION RealOf<Scalar> between(int k, Index node, Index neighbour) const
  {
    using Real       = RealOf<Scalar>;
    const Real there = real_part(sign * a.entry(k, node)), back = real_part(sign * a.transposed(k, neighbour));
    return sign * share * Kokkos::max(Real(0), Kokkos::min(modulus(there - back) / 2, Kokkos::max(there, back)));
  }
};

/// Adds it to the operator a, whose coefficients are `values`. Diagonals first, as the neighbours' are not read; then both couplings of two nodes at once.
template <class Space, class Scalar>
void stabilise(const Space &space, const Operator<Scalar> &a, double sign, Scalar *values)
{
  const ArtificialDiffusion<Scalar> diffusion{a, static_cast<RealOf<Scalar>>(sign)};
  over_nodes(
      "weft boxmg diffusion", space, a.grid, KOKKOS_LAMBDA(const Index node, const Index(&at)[3]) {
        RealOf<Scalar> sum = 0;
        for (int k = 0; k < a.stencil.count; k++) {
          Index there[3] = {at[0], at[1], at[2]};
          if (k != a.stencil.centre() && a.grid.move(there, a.stencil.offset[k])) sum += diffusion.between(k, node, a.grid.node(there));
        }
        values[a.stencil.centre() * a.pitch + node] += sum;
      });
  over_nodes(
      "weft boxmg diffusion", space, a.grid, KOKKOS_LAMBDA(const Index node, const Index(&at)[3]) {
        for (int k = 0; k < a.stencil.count; k++) {
          Index there[3] = {at[0], at[1], at[2]};
          if (a.stencil.offset[k].number() <= 13 || !a.grid.move(there, a.stencil.offset[k])) continue;
          const Index neighbour  = a.grid.node(there);
          const RealOf<Scalar> d = diffusion.between(k, node, neighbour);
          values[k * a.pitch + node] -= d;
          values[a.stencil.mirrored(k) * a.pitch + neighbour] -= d;
        }
      });
}

} // namespace weft::boxmg
