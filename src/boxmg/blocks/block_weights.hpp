/// What the interpolation of one unknown must know of the others.
///
/// Each unknown c is interpolated by weights from its own stencil A_cc (interpolation.hpp). There the diagonal's excess over the couplings beside it
/// makes weights smaller: what a zeroth-order term damps need not be interpolated. But an excess that other unknowns balance damps nothing: in
/// -u'' + k (u - v), -v'' + k (v - u) the sum u = v diffuses as if there were no k. With E the sums of the rows of each A_cd at a node, so that E x is
/// what the equations make of values x that are the same at all nodes around, the excess that stays where the other unknowns follow is the Schur complement
///
///   s_c = E_cc - E_co E_oo^-1 E_oc,      o: the others,      delta_c = E_cc - s_c within 0 .. E_cc
///
/// and weights come from A_cc with delta_c taken from the diagonal. It does not depend on the units of the unknowns or the equations.
///
/// At a node where the equation of c couples to no neighbour of its kind along a direction, but to something else, c follows that: there its weights are
/// linear along the direction. With a vorticity or a temperature that is given by the nodes beside a wall, and weights of 0 along it, iterations grow
/// with the grid (SNES ex19: 25 at 129², so 13).
#pragma once
#include "boxmg/blocks/block_operator.hpp"

namespace weft::boxmg {

/// Of a node, with signs by which diagonals are positive.
struct NodeSums {
  double e[most_unknowns][most_unknowns] = {};
  double diagonal[most_unknowns]         = {};

  /// delta of unknown c. An unknown whose own excess is nothing beside its diagonal, or becomes nothing, cannot be solved for and follows no other.
  KOKKOS_INLINE_FUNCTION double balanced(int c, int unknowns) const
  {
    constexpr double nothing = 1e-10;
    if (!(e[c][c] > 0)) return 0;
    double m[most_unknowns][most_unknowns];
    bool left[most_unknowns];
    for (int p = 0; p < unknowns; p++) {
      left[p] = p != c;
      for (int q = 0; q < unknowns; q++) m[p][q] = e[p][q];
    }
    for (int step = 1; step < unknowns; step++) {
      int pivot   = -1;
      double most = nothing;
      for (int p = 0; p < unknowns; p++) {
        const double share = left[p] && diagonal[p] > 0 ? m[p][p] / diagonal[p] : 0;
        if (share > most) most = share, pivot = p;
      }
      if (pivot < 0) break;
      left[pivot] = false;
      for (int p = 0; p < unknowns; p++) {
        if (!left[p] && p != c) continue;
        const double factor = m[p][pivot] / m[pivot][pivot];
        for (int q = 0; q < unknowns; q++) m[p][q] -= factor * m[pivot][q];
      }
    }
    return Kokkos::max(0.0, e[c][c] - Kokkos::max(m[c][c], 0.0));
  }
};

/// Takes delta from the diagonals of all A_cc, whose coefficients are among `values`, keeps these in `kept`, and says along which directions nodes
/// follow, unknown by unknown. transpose: of columns. Each node reads and writes its own diagonals only.
template <class Scalar>
struct BalanceDiagonals {
  Couplings<Scalar> a;
  Transpose transpose;
  double signs[most_unknowns];
  Scalar *values, *kept;
  unsigned char *followers;

  KOKKOS_INLINE_FUNCTION void operator()(Index node, const Index (&at)[3]) const
  {
    NodeSums sums;
    for (int c = 0; c < a.unknowns; c++) {
      Directions own   = 0; // along which c couples to neighbours of its kind
      bool any         = false;
      sums.diagonal[c] = signs[c] * static_cast<double>(a.find(c, c)->a.diagonal(node));
      for (const Coupling<Scalar> *one = a.begin(c, transpose); one != a.end(c, transpose); one++) {
        const bool couples = sum(*one, node, at, &sums.e[c][transpose == Transpose::no ? one->column : one->row], &own);
        any                = any || couples;
      }
      followers[c * a.grid.nodes() + node] = any ? static_cast<unsigned char>(7 & ~own) : 0;
    }
    for (int c = 0; c < a.unknowns; c++) {
      const Operator<Scalar> &own     = a.find(c, c)->a;
      kept[c * a.grid.nodes() + node] = own.diagonal(node);
      values[a.find(c, c)->first + own.stencil.centre() * own.pitch + node] -= static_cast<Scalar>(signs[c] * sums.balanced(c, a.unknowns));
    }
  }

private:
  /// The sum of what a row of a pair has, times the sign of its unknown. Returns whether it has anything, of A_cc beside the diagonal; adds the directions
  /// along which A_cc couples.
  KOKKOS_INLINE_FUNCTION bool sum(const Coupling<Scalar> &one, Index node, const Index (&at)[3], double *total, Directions *own) const
  {
    const int unknown = transpose == Transpose::no ? one.row : one.column;
    bool couples      = false;
    for (int k = 0; k < one.a.stencil.count; k++) {
      const Index there = one.a.neighbour(k, node, at);
      if (there < 0) continue;
      const Scalar entry = transpose == Transpose::no ? one.a.entry(k, node) : one.a.transposed(k, there);
      *total += signs[unknown] * static_cast<double>(entry);
      if (entry == 0 || (one.row == one.column && k == one.a.stencil.centre())) continue;
      couples = true;
      for (int d = 0; d < 3; d++) {
        if (one.row == one.column && one.a.stencil.offset[k].d[d] != 0) *own |= 1u << d;
      }
    }
    return couples;
  }
};

template <class Space, class Scalar>
void balance_diagonals(const Space &space, const Couplings<Scalar> &a, Transpose transpose, const std::vector<double> &signs,
                       Scalar *values, Scalar *kept, unsigned char *followers)
{
  BalanceDiagonals<Scalar> body{a, transpose, {}, values, kept, followers};
  std::copy(signs.begin(), signs.end(), body.signs);
  over_nodes("weft boxmg balanced diagonals", space, a.grid, body);
}

/// And back.
template <class Space, class Scalar>
void restore_diagonals(const Space &space, const Couplings<Scalar> &a, Scalar *values, const Scalar *kept)
{
  const Index nodes = a.grid.nodes();
  Kokkos::parallel_for(
      "weft boxmg diagonals", range(space, nodes * a.unknowns), KOKKOS_LAMBDA(const Index number) {
        const Index c = number / nodes, node = number - c * nodes;
        const Coupling<Scalar> *const own                                  = a.find(static_cast<int>(c), static_cast<int>(c));
        values[own->first + own->a.stencil.centre() * own->a.pitch + node] = kept[number];
      });
}

} // namespace weft::boxmg
