/// The eliminated faces of a grid on the device, and what a solve does about them.
#pragma once
#include <Kokkos_Core.hpp>

#include "bcr/detect/star.hpp"

namespace weft {

/// The rows of the faces that are solved before or after the rest (FaceRows).
template <class Space>
struct Faces {
  using Rows = Kokkos::View<double *[3], Kokkos::LayoutRight, typename Space::memory_space>; ///< diagonal, outward, inward

  Index grid[3]         = {1, 1, 1};
  bool eliminated[3][2] = {};
  double rhs_factor     = 1;     ///< of right-hand sides
  bool known            = false; ///< factors of rows other than 1 are diagonals that say what the unknown is
  Rows rows[3][2];

  /// Where a node stands on its grid, and on a face across direction d.
  KOKKOS_INLINE_FUNCTION Index element(const Index (&at)[3]) const { return at[0] + grid[0] * (at[1] + grid[1] * at[2]); }
  KOKKOS_INLINE_FUNCTION Index number(int d, const Index (&at)[3]) const
  {
    return at[across(d, 0)] + grid[across(d, 0)] * at[across(d, 1)];
  }
  /// Elements from a node to its neighbour within, seen from that end of direction d.
  KOKKOS_INLINE_FUNCTION Index inwards(int d, int side) const
  {
    const Index stride = d == 0 ? 1 : d == 1 ? grid[0] : grid[0] * grid[1];
    return side == 0 ? stride : -stride;
  }
  KOKKOS_INLINE_FUNCTION bool holds(int d, int side, const Index (&at)[3]) const
  {
    return eliminated[d][side] && at[d] == (side == 0 ? 0 : grid[d] - 1);
  }
  /// One step within.
  KOKKOS_INLINE_FUNCTION bool next_to(int d, int side, const Index (&at)[3]) const
  {
    return eliminated[d][side] && at[d] == (side == 0 ? 1 : grid[d] - 2);
  }
  /// On how many eliminated faces a node lies.
  KOKKOS_INLINE_FUNCTION int count(const Index (&at)[3]) const
  {
    int faces = 0;
    for (int d = 0; d < 3; d++) faces += holds(d, 0, at) + holds(d, 1, at);
    return faces;
  }
  /// The nodes on none.
  Box inner() const
  {
    Box box;
    for (int d = 0; d < 3; d++) box.lo[d] = eliminated[d][0], box.hi[d] = grid[d] - eliminated[d][1];
    return box;
  }
};

// With the nodes ordered by the number c of eliminated faces that they lie on, a matrix is
//
//     ( A_00  A_01           )     c = 0: the inner box; A_00 - A_01 D_1^-1 A_10 is left for the separable solver
//     ( A_10  D_1            )     D_c is diagonal; nodes of c > 1 couple to nodes of c - 1 only, and nothing couples to them
//     (       A_21  D_2      )
//     (             A_32  D_3)
//
// The steps of a solve and of a transposed one, a node each.

/// Where the inner box lies in an array: elements from one line along x to the next one, and from one plane to the next one.
struct InnerArray {
  Index line, plane;

  KOKKOS_INLINE_FUNCTION Index element(Index i, Index j, Index k) const { return i + line * j + plane * k; }
};

/// The inner right-hand side rhs_0 - A_01 D_1^-1 rhs_1, or rhs_0 - A_10^T solution_1.
template <class Space, class Scalar>
struct ReduceToInner {
  Faces<Space> faces;
  Box inner;
  const KernelReal *rhs, *solution;
  Scalar *inner_rhs;
  Kokkos::View<const double *, typename Space::memory_space> row_scale; ///< empty: all 1
  bool transposed;
  InnerArray array;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, const Index j, const Index k) const
  {
    const Index at[3] = {inner.lo[0] + i, inner.lo[1] + j, inner.lo[2] + k};
    const Index here  = faces.element(at);
    double value      = faces.rhs_factor * rhs[here];
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        if (!faces.next_to(d, side, at)) continue;
        const Index row = faces.number(d, at), out = here - faces.inwards(d, side);
        const auto &rows = faces.rows[d][side];
        value -= transposed ? rows(row, 1) * solution[out] : rows(row, 2) * (faces.rhs_factor * rhs[out] / rows(row, 0));
      }
    }
    if (row_scale.size() > 0) {
      const double scale = row_scale(i + inner.size(0) * (j + inner.size(1) * k));
      if (faces.known)
        value = scale == 1 ? value : 0;
      else if (!transposed)
        value /= scale;
    }
    inner_rhs[array.element(i, j, k)] = static_cast<Scalar>(value);
  }
};

template <class Space, class Scalar>
struct FillInner {
  Faces<Space> faces;
  Box inner;
  const Scalar *inner_solution;
  const KernelReal *rhs;
  KernelReal *solution;
  Kokkos::View<const double *, typename Space::memory_space> row_scale; ///< empty: all 1
  bool transposed;
  InnerArray array;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, const Index j, const Index k) const
  {
    const Index at[3] = {inner.lo[0] + i, inner.lo[1] + j, inner.lo[2] + k};
    double value      = inner_solution[array.element(i, j, k)];
    const Index here  = faces.element(at);
    if (row_scale.size() > 0) {
      const double scale = row_scale(i + inner.size(0) * (j + inner.size(1) * k));
      if (faces.known)
        value = scale == 1 ? value : faces.rhs_factor * rhs[here] / scale;
      else if (transposed)
        value /= scale;
    }
    solution[here] = value;
  }
};

struct TimesFactor {
  KernelReal *values;
  double factor;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const { values[k] *= factor; }
};

/// Steps at the nodes of a list.
enum class FaceStep {
  after,             ///< D_c solution_c = rhs_c - A_c,c-1 solution_c-1, for c = 1, 2, 3
  before_transposed, ///< D_c solution_c = rhs_c - A_c+1,c^T solution_c+1, for c = 3, 2, 1
  after_transposed   ///< D_1 solution_1 -= A_01^T solution_0
};

template <class Space>
struct SolveFaces {
  Faces<Space> faces;
  Kokkos::View<const Index *, typename Space::memory_space> nodes;
  const KernelReal *rhs;
  KernelReal *solution;
  FaceStep step;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    const Index here  = nodes(k);
    const Index at[3] = {here % faces.grid[0], here / faces.grid[0] % faces.grid[1], here / faces.grid[0] / faces.grid[1]};
    double value = step == FaceStep::after_transposed ? 0 : faces.rhs_factor * rhs[here], diagonal = 1;
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        const auto &rows = faces.rows[d][side];
        const Index row  = faces.number(d, at);
        if (faces.holds(d, side, at)) {
          diagonal = rows(row, 0);
          if (step == FaceStep::after) value -= rows(row, 1) * solution[here + faces.inwards(d, side)];
          if (step == FaceStep::after_transposed) value -= rows(row, 2) * solution[here + faces.inwards(d, side)];
        } else if (faces.next_to(d, side, at) && step == FaceStep::before_transposed) {
          value -= rows(row, 1) * solution[here - faces.inwards(d, side)];
        }
      }
    }
    solution[here] = (step == FaceStep::after_transposed ? solution[here] : 0) + value / diagonal;
  }
};

} // namespace weft
