/// From a CSR matrix to the stencil's diagonals, and what is looked at on a level: symmetry, signs, strengths.
#pragma once
#include <limits>

#include "boxmg/operator.hpp"
#include "line/line_solver.hpp"

namespace weft::boxmg {

inline constexpr Index no_node = std::numeric_limits<Index>::max();

/// The number of the neighbour that node `to` is of node `from`, or -1. In a ring of two nodes the other one is the next.
KOKKOS_INLINE_FUNCTION int neighbour_number(const Grid &grid, const Index (&from)[3], Index to)
{
  Index at[3];
  grid.position(to, at);
  Offset o;
  for (int d = 0; d < 3; d++) {
    Index by = at[d] - from[d];
    if (grid.periodic[d] && grid.n[d] > 2) {
      if (by == grid.n[d] - 1) by = -1;
      if (by == 1 - grid.n[d]) by = 1;
    }
    if (by < -1 || by > 1) return -1;
    o.d[d] = static_cast<int>(by);
  }
  return o.number();
}

/// What a matrix has.
struct MatrixLook {
  unsigned neighbours = 0;       ///< by number
  Index stranger      = no_node; ///< the first row that couples to a node that is no neighbour of its own
  Index not_finite    = no_node; ///< the first row with such an entry
};

template <class Space, class Value, class Int>
MatrixLook look_at(const Space &space, const Grid &grid, const CsrMatrix<Value, Int> &matrix)
{
  MatrixLook look;
  Kokkos::parallel_reduce(
      "weft boxmg look", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, grid.nodes()),
      KOKKOS_LAMBDA(const Index node, unsigned &mask, Index &stranger, Index &not_finite) {
        Index at[3];
        grid.position(node, at);
        for (Int k = matrix.begin(node); k < matrix.end(node); k++) {
          if (!Kokkos::isfinite(matrix.values[k])) not_finite = Kokkos::min(not_finite, node);
          if (matrix.values[k] == 0) continue;
          const int number = neighbour_number(grid, at, matrix.column(k));
          if (number < 0)
            stranger = Kokkos::min(stranger, node);
          else
            mask |= 1u << number;
        }
      },
      Kokkos::BOr<unsigned>(look.neighbours), Kokkos::Min<Index>(look.stranger), Kokkos::Min<Index>(look.not_finite));
  return look;
}

template <class Space, class Value, class Int, class Scalar>
void fill(const Space &space, const Operator<Scalar> &a, const CsrMatrix<Value, Int> &matrix, Scalar *values)
{
  over_nodes(
      "weft boxmg read", space, a.grid, KOKKOS_LAMBDA(const Index node, const Index(&at)[3]) {
        for (int k = 0; k < a.stencil.count; k++) values[k * a.pitch + node] = 0;
        for (Int k = matrix.begin(node); k < matrix.end(node); k++) {
          if (matrix.values[k] == 0) continue;
          const int number = neighbour_number(a.grid, at, matrix.column(k));
          if (number >= 0) values[a.stencil.slot[number] * a.pitch + node] += static_cast<Scalar>(matrix.values[k]);
        }
      });
}

/// What is chosen from, on a level.
struct LevelLook {
  bool symmetric      = true;
  Index zero_diagonal = no_node; ///< the first one
  Index wrong_sign    = no_node; ///< the first diagonal of the other sign than `sign`
  double strength[3]  = {};      ///< couplings along each direction over the diagonal, summed over the nodes
  Index not_strong[3] = {};      ///< nodes where another direction couples, and more strongly
};

/// Symmetric to so many units of rounding.
template <class Scalar>
inline constexpr Scalar symmetry_tolerance = 100 * std::numeric_limits<Scalar>::epsilon();

template <class Scalar>
KOKKOS_INLINE_FUNCTION bool symmetric_row(const Operator<Scalar> &a, Index node, const Index (&at)[3])
{
  for (int k = 0; k < a.stencil.count; k++) {
    const Scalar c = a.entry(k, node);
    Index there[3] = {at[0], at[1], at[2]};
    bool inside    = true;
    for (int d = 0; d < 3; d++) inside = inside && a.grid.move(there, d, a.stencil.offset[k].d[d]);
    if (!inside) continue;
    const Index neighbour = a.grid.node(there);
    const Scalar scale    = Kokkos::min(Kokkos::abs(a.diagonal(node)), Kokkos::abs(a.diagonal(neighbour)));
    if (!(Kokkos::abs(c - a.transposed(k, neighbour)) <= symmetry_tolerance<Scalar> * Kokkos::max(scale, Kokkos::abs(c)))) return false;
  }
  return true;
}

/// Sums of the couplings of a node along each direction, whatever the steps along the others.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void strengths_of(const Operator<Scalar> &a, Index node, double (&along)[3])
{
  double sides[3][2] = {};
  for (int k = 0; k < a.stencil.count; k++) {
    for (int d = 0; d < 3; d++) {
      const int o = a.stencil.offset[k].d[d];
      if (o != 0) sides[d][o > 0] += static_cast<double>(a.entry(k, node));
    }
  }
  for (int d = 0; d < 3; d++) along[d] = Kokkos::abs(sides[d][0]) + Kokkos::abs(sides[d][1]);
}

/// sign: of the diagonals, as on the finest level. dominance: a direction is strong at a node where it couples so many times as strongly as the
/// others do, or where the others are next to nothing beside the diagonal.
template <class Space, class Scalar>
LevelLook look_at(const Space &space, const Operator<Scalar> &a, double sign, double dominance, bool known_symmetric)
{
  LevelLook look;
  Index skew = 0;
  double x = 0, y = 0, z = 0;
  Index not_x = 0, not_y = 0, not_z = 0;
  const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> nodes(space, 0, a.grid.nodes());
  Kokkos::parallel_reduce(
      "weft boxmg signs", nodes,
      KOKKOS_LAMBDA(const Index node, Index &unlike, Index &zero, Index &wrong) {
        Index at[3];
        a.grid.position(node, at);
        const double d = static_cast<double>(a.diagonal(node));
        if (!known_symmetric && !symmetric_row(a, node, at)) unlike++;
        if (d == 0) zero = Kokkos::min(zero, node);
        if (!(d * sign >= 0)) wrong = Kokkos::min(wrong, node);
      },
      skew, Kokkos::Min<Index>(look.zero_diagonal), Kokkos::Min<Index>(look.wrong_sign));
  Kokkos::parallel_reduce(
      "weft boxmg strengths", nodes,
      KOKKOS_LAMBDA(const Index node, double &sum_x, double &sum_y, double &sum_z, Index &weak_x, Index &weak_y, Index &weak_z) {
        double along[3];
        strengths_of(a, node, along);
        const double d = Kokkos::abs(static_cast<double>(a.diagonal(node)));
        if (!(d > 0)) return;
        sum_x += along[0] / d;
        sum_y += along[1] / d;
        sum_z += along[2] / d;
        bool weak[3];
        for (int m = 0; m < 3; m++) {
          const double other = Kokkos::max(along[(m + 1) % 3], along[(m + 2) % 3]);
          weak[m]            = other > 0.1 * d && along[m] < dominance * other;
        }
        weak_x += weak[0];
        weak_y += weak[1];
        weak_z += weak[2];
      },
      x, y, z, not_x, not_y, not_z);
  look.symmetric   = skew == 0;
  look.strength[0] = x, look.strength[1] = y, look.strength[2] = z;
  look.not_strong[0] = not_x, look.not_strong[1] = not_y, look.not_strong[2] = not_z;
  return look;
}

/// The sign of most of the diagonal.
template <class Space, class Scalar>
double sign_of(const Space &space, const Operator<Scalar> &a)
{
  Index below = 0;
  Kokkos::parallel_reduce(
      "weft boxmg sign", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, a.grid.nodes()),
      KOKKOS_LAMBDA(const Index node, Index &count) { count += a.diagonal(node) < 0; }, below);
  return 2 * below > a.grid.nodes() ? -1 : 1;
}

} // namespace weft::boxmg
