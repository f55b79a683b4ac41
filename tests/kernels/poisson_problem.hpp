/// Separable operators of every kind, and DirectSolvers on each backend to solve them.
#pragma once
#include "bcr/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "line_problem.hpp"
#include "reference/separable.hpp"

namespace weft::test {

/// Conditions at the ends of a direction with the stencil (1, -2, 1) / h^2. `cells`: Neumann on both ends of a cell-centred grid.
enum class Boundary { dirichlet, dirichlet_neumann, neumann_dirichlet, neumann, periodic, cells, cells_dirichlet };

inline constexpr Boundary constant_boundaries[] = {Boundary::dirichlet, Boundary::dirichlet_neumann, Boundary::neumann_dirichlet,
                                                   Boundary::neumann, Boundary::periodic};

inline Direction laplacian(Index n, Boundary boundary, double h = 1)
{
  const auto size = static_cast<std::size_t>(n);
  const double c  = 1 / (h * h);
  Direction d;
  d.n        = n;
  d.periodic = boundary == Boundary::periodic;
  d.lower = d.upper = std::vector<double>(size, c);
  d.diagonal        = std::vector<double>(size, -2 * c);
  if (boundary == Boundary::neumann || boundary == Boundary::neumann_dirichlet) d.upper.front() = 2 * c;
  if (boundary == Boundary::neumann || boundary == Boundary::dirichlet_neumann) d.lower.back() = 2 * c;
  if (boundary == Boundary::cells) {
    d.diagonal.front() += c;
    d.diagonal.back() += c;
  }
  if (boundary == Boundary::cells_dirichlet) {
    d.diagonal.front() -= c;
    d.diagonal.back() -= c;
  }
  if (!d.periodic) d.lower.front() = d.upper.back() = std::numeric_limits<double>::quiet_NaN(); // not to be read
  return d;
}

/// Couplings and weights that vary, diagonals that dominate: negative definite with W as inner product. Without a shift, rows that add up
/// to 0.
inline Direction random_direction(Index n, std::mt19937 &random, bool periodic = false, double shift = 0.01)
{
  const auto size     = static_cast<std::size_t>(n);
  const auto coupling = random_values<double>(size, random, 0.5, 2); // between row i and row i + 1
  Direction d;
  d.n        = n;
  d.periodic = periodic;
  d.upper    = coupling;
  d.lower    = coupling;
  std::rotate(d.lower.begin(), d.lower.end() - 1, d.lower.end());
  d.diagonal.resize(size);
  for (std::size_t i = 0; i < size; i++) d.diagonal[i] = -d.lower[i] - d.upper[i] - shift;
  if (shift == 0 && !periodic) {
    d.diagonal.front() += d.lower.front();
    d.diagonal.back() += d.upper.back();
  }
  d.weight = random_values<double>(size, random, 0.5, 2);
  if (!periodic) d.lower.front() = d.upper.back() = std::numeric_limits<double>::quiet_NaN();
  return d;
}

inline SeparableOperator separable(std::vector<Direction> directions, double shift = 0)
{
  SeparableOperator a;
  a.dimension = static_cast<int>(directions.size());
  std::move(directions.begin(), directions.end(), a.directions);
  a.shift = shift;
  return a;
}

inline std::size_t unknowns(const SeparableOperator &a)
{
  std::size_t all = 1;
  for (int k = 0; k < a.dimension; k++) all *= static_cast<std::size_t>(a.directions[k].n);
  return all;
}

template <class Scalar>
std::vector<double> widened(const std::vector<Scalar> &values)
{
  return {values.begin(), values.end()};
}

inline double largest(const std::vector<double> &values)
{
  double most = 0;
  for (double v : values) most = std::isfinite(v) ? std::max(most, std::abs(v)) : std::numeric_limits<double>::infinity();
  return most;
}

inline double largest_difference(const std::vector<double> &a, const std::vector<double> &b)
{
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); i++) difference[i] = a[i] - b[i];
  return largest(difference);
}

/// Solves for one right-hand side.
template <class Scalar>
std::vector<double> solved(const SeparableOperator &a, const std::vector<double> &rhs, const DirectOptions &options, Memory memory,
                           bool in_place = false)
{
  const Execution execution(memory);
  const auto solver = DirectSolver<Scalar>::make(execution, a, options);
  EXPECT_FALSE(solver->facts().bad_pivot) << solver->facts().description;
  const Buffer<Scalar> f(memory, std::vector<Scalar>(rhs.begin(), rhs.end()));
  const Buffer<Scalar> u(memory, std::vector<Scalar>(rhs.size(), std::numeric_limits<Scalar>::quiet_NaN()));
  solver->solve(f.data(), in_place ? f.data() : u.data());
  execution.wait();
  if (!in_place) {
    EXPECT_EQ(f.values(), std::vector<Scalar>(rhs.begin(), rhs.end())) << "the right-hand side must be kept";
  }
  return widened(in_place ? f.values() : u.values());
}

} // namespace weft::test
