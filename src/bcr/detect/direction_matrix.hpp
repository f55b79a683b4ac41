/// A direction of a separable operator as the methods see it: W^-1 T, so that A = (W_x (x) W_y (x) W_z) (sum_k I (x) T'_k (x) I + shift I).
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bcr/direct_solver.hpp"
#include "line/line_layout.hpp"

namespace weft::poisson {

/// A tridiagonal matrix. Corners are 0 unless periodic; periodic means three rows or more.
struct LineMatrix {
  Index n       = 1;
  bool periodic = false;
  std::vector<double> lower{0}, diagonal{0}, upper{0};

  friend bool operator==(const LineMatrix &, const LineMatrix &) = default;
  std::size_t size() const { return static_cast<std::size_t>(n); }
  /// Sum of magnitudes of a row, and the largest of them.
  double row_size(std::size_t i) const { return std::abs(lower[i]) + std::abs(diagonal[i]) + std::abs(upper[i]); }
  double norm() const;
  /// The row with the smallest one, whose sum has the least rounding.
  std::size_t weakest_row() const;
  /// The eigenvalue of the constant vector, where that is an eigenvector to rounding of each row.
  std::optional<double> of_constant() const;
  /// v with v^T T = of_constant() v^T, positive, largest entry 1; needs is_symmetrizable.
  std::vector<double> left_of_constant() const;
  /// The longest run [first, last) of equal rows.
  std::pair<Index, Index> equal_rows() const;
  /// (this + add I) / divisor
  LineMatrix shifted(double add, double divisor) const;
};

/// What is wrong with a direction, or nothing.
std::optional<std::string> direction_refused(const Direction &direction);

/// W^-1 T, rings of one and two rows unrolled.
LineMatrix line_matrix(const Direction &direction);

/// d with D^-1 T D symmetric, D = diag(d); nothing where there is none. The square of d is the inverse of the weights that make T
/// self-adjoint.
std::optional<std::vector<double>> symmetrizer(const LineMatrix &line);
/// The condition of its eigenvectors, that of the diagonal which makes them orthogonal: digits that transforms lose. Infinite where there is
/// none.
double eigenvector_condition(const LineMatrix &line);

/// Conditions at either end of a direction with constant coefficients on a node-centred grid.
enum class Ends { dirichlet_dirichlet, dirichlet_neumann, neumann_dirichlet, neumann_neumann, periodic };

/// A line with rows (off, diagonal, off), but for 2 off as the only coupling at an end with Neumann's condition, where the solution
/// continues as in a mirror. Its rows are points of 0 .. intervals; at a Dirichlet end the unknown is 0 and has no row.
struct ConstantLine {
  Ends ends;
  double off, diagonal;
  Index intervals;

  bool ring() const { return ends == Ends::periodic; }
  /// Point 0 has an unknown. A Neumann-Dirichlet line is counted from its Dirichlet end.
  bool has_first() const { return ends == Ends::neumann_neumann || ring(); }
  bool has_last() const { return ends != Ends::dirichlet_dirichlet && !ring(); }
  /// The same read from either end.
  bool has_mirror() const { return ends == Ends::dirichlet_dirichlet || ends == Ends::neumann_neumann; }
  /// The row of a point, or of its mirror image; -1 where the unknown is 0.
  Index row(Index point) const;
};

std::optional<ConstantLine> constant_line(const LineMatrix &line);

} // namespace weft::poisson
