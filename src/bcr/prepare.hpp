/// What a DirectSolver decides before any kernel runs: which direction is which, the method's schedule, what is singular.
#pragma once
#include <optional>

#include "bcr/reduction/schedule.hpp"
#include "bcr/transforms/eigen.hpp"

namespace weft::poisson {

/// Pivots below this, relative to their rows, cost digits that other directions may save.
inline constexpr double small_pivot = 1e-6;

/// Lines of modes from which a thread for each (shifted/side_by_side.hpp) fills a device.
inline constexpr Index least_side_by_side = 32768;

/// A problem ready for a backend.
struct Prepared {
  std::string method;
  int line = 0, block = 1, batch = 2; ///< directions of the line solves, of the rows, and of the modes of a third direction
  Index n[3] = {1, 1, 1};
  std::vector<double> scale[3]; ///< 1 / W of each direction, empty where 1
  Schedule schedule;
  EigenBasis modes; ///< of the third direction; matrices empty where it has one point
  /// Of the lines, which the schedule then has as numbers apart, where elimination along them would meet pivots near to 0.
  std::optional<EigenBasis> line_modes;
  bool singular = false;
  std::vector<double> left[3]; ///< of a singular operator: the left null vector of W^-1 A is the product of these
  Index pinned_plane = 0;      ///< the mode of the third direction that is singular
  Index pinned_row   = 0;      ///< of the singular line: the row that is left out, where the left null vector is largest
  std::vector<Index> pinned;   ///< of each step: the pole whose line is singular, or -1
  bool folds[3]      = {};     ///< directions whose even and odd modes the solver transforms apart
  bool bad_pivot     = false;
  bool dominant      = false; ///< the diagonals of all lines dominate: the operator is definite, or semidefinite
  double least_pivot = 1;     ///< smallest pivot of a line, relative to its row: elimination loses as many digits as it is below 1

  /// Eigenvectors that are where the solve is.
  KnownBases bases() const;
  /// Rows of the matrices that a solve multiplies with, one after the other; 0 where no transform is a matrix product.
  Index multiplied_rows() const;
  /// True for transforms along all directions but that of the lines, as matrix products.
  bool all_products() const;
  /// Of the transforms along a direction.
  Parity parity(int direction) const;
  bool transforms() const { return n[batch] > 1; }
  DirectFacts facts() const { return {method, description(), singular, bad_pivot, flops()}; }
  /// Operations of a solve.
  double flops() const;
  std::string description() const;
};

/// Throws std::invalid_argument where poisson_method_refuses. `on_host`: what `auto` is the fastest method for.
/// `source`: where eigenvectors come from that a solve on a device multiplies with.
Prepared prepare(const SeparableOperator &problem, const DirectOptions &options, bool on_host, const BasisSource &source = {});

/// Transforms along the first two directions, lines along the third: `facr` without levels of three directions, of which the second may
/// have one point. Throws std::invalid_argument where mode_basis_refused.
Prepared prepare_tensor(const SeparableOperator &problem);

/// Smallest pivot, relative to its row, of the elimination of B + (mode - pole) I, whose row number `pinned` is left out (-1: none); 0 where
/// one is not finite. A ring leaves out its last row only.
double least_pivot(const LineMatrix &b, double mode, double pole, Index pinned);

} // namespace weft::poisson
