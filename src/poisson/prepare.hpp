/// What a DirectSolver decides before any kernel runs: which direction is which, the method's schedule, what is singular.
#pragma once
#include "poisson/eigen.hpp"
#include "poisson/schedule.hpp"

namespace weft::poisson {

/// A problem ready for a backend.
struct Prepared {
  std::string method;
  int line = 0, block = 1, batch = 2; ///< directions of the line solves, of the rows, and of the modes of a third direction
  Index n[3] = {1, 1, 1};
  std::vector<double> scale[3]; ///< 1 / W of each direction, empty where 1
  Schedule schedule;
  EigenBasis modes; ///< of the third direction; matrices empty where it has one point
  bool singular = false;
  std::vector<double> left[3]; ///< of a singular operator: the left null vector of W^-1 A is the product of these
  Index pinned_plane = 0;      ///< the mode of the third direction that is singular
  std::vector<Index> pinned;   ///< of each step: the pole whose line is singular, or -1
  bool bad_pivot = false;

  bool transforms() const { return n[batch] > 1; }
  /// Operations of a solve.
  double flops() const;
  std::string description() const;
};

/// Throws std::invalid_argument where poisson_method_refuses. `on_host`: what `auto` is the fastest method for.
Prepared prepare(const SeparableOperator &problem, const DirectOptions &options, bool on_host);

/// Transforms along the first two directions, lines along the third: `facr` without levels of three directions, of which the second may
/// have one point. Throws std::invalid_argument where mode_basis_refused.
Prepared prepare_tensor(const SeparableOperator &problem);

} // namespace weft::poisson
