/// Poisson problems whose solutions are known: random ones, exact but for rounding, and smooth ones, exact but for the grid. Free of Kokkos.
#pragma once
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "bcr/direct_solver.hpp"
#include "harness.hpp"

namespace weft::bench {

/// What holds at the two ends of a direction; points are nodes, the last two kinds' are middles of cells.
enum class Boundary { dirichlet, dirichlet_neumann, neumann_dirichlet, neumann, periodic, cells_neumann, cells_dirichlet };
inline constexpr std::array all_boundaries{Boundary::dirichlet, Boundary::dirichlet_neumann, Boundary::neumann_dirichlet, Boundary::neumann,
                                           Boundary::periodic,  Boundary::cells_neumann,     Boundary::cells_dirichlet};

inline const char *name_of(Boundary boundary)
{
  constexpr const char *names[] = {"dirichlet", "dirichlet-neumann", "neumann-dirichlet", "neumann",
                                   "periodic",  "cells-neumann",     "cells-dirichlet"};
  return names[static_cast<int>(boundary)];
}

inline Index points_of(Boundary boundary, Index intervals)
{
  return boundary == Boundary::dirichlet ? intervals - 1 : boundary == Boundary::neumann ? intervals + 1 : intervals;
}

/// A u = rhs, x fastest.
struct PoissonProblem {
  SeparableOperator a;
  std::vector<double> rhs, solution;
};

/// (1, -2, 1) / h^2, and what the conditions make of the ends: a Neumann end of nodes doubles its coupling, cells mirror their first value.
inline Direction direction_of(Boundary boundary, Index n, double h)
{
  const double c  = 1 / (h * h);
  const auto size = static_cast<std::size_t>(n);
  Direction d;
  d.n        = n;
  d.periodic = boundary == Boundary::periodic;
  d.lower = d.upper = std::vector<double>(size, c);
  d.diagonal        = std::vector<double>(size, -2 * c);
  if (boundary == Boundary::neumann || boundary == Boundary::neumann_dirichlet) d.upper.front() *= 2;
  if (boundary == Boundary::neumann || boundary == Boundary::dirichlet_neumann) d.lower.back() *= 2;
  const double mirrored = boundary == Boundary::cells_neumann ? c : boundary == Boundary::cells_dirichlet ? -c : 0;
  d.diagonal.front() += mirrored;
  d.diagonal.back() += mirrored;
  return d;
}

/// The matrix of the papers, `size.lines` block rows of `size.rows` unknowns: five points, Dirichlet ends, a random solution in [-1, 1).
PoissonProblem random_poisson(Size size);

/// u_xx + u_yy - u = f on (0, 1) x (0, 2) with u = g(x) g(y), as many intervals along x as along y and the same conditions all around.
/// g(t) = e^t, or e^sin(2 pi t) where periodic: no condition is homogeneous but that one.
PoissonProblem smooth_poisson(Boundary boundary, Index intervals);

} // namespace weft::bench
