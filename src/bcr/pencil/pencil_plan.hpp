/// What a solver of a PencilOperator decides before any kernel runs, without Kokkos: which directions are transformed, and the lines of the
/// modes along the one that is not.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bcr/modes/mode_tables.hpp"
#include "bcr/pencil/pencil_modes.hpp"

namespace weft::poisson {

/// Mode number q + n_a r of the directions a < b other than `along` has the line alpha M + beta T along it, or, where that is transformed
/// too, the numbers alpha m + beta t.
struct PencilPlan {
  Index n[3] = {1, 1, 1};
  int along  = 2;
  bool lines = true;    ///< along it they are solved, not transformed
  PencilModes modes[3]; ///< of the directions that are transformed; a direction of one point is not
  std::vector<double> alpha, beta;
  /// Where rows along the lines are equal inside and modes lie side by side: the lines as mode_lines.hpp has them, but for the modes
  /// `others`.
  std::optional<ConstantModes> constant;
  std::vector<Index> others;
  Index pinned_mode = -1, pinned_row = -1; ///< of a singular operator: the number that is taken for 0
  double least_pivot = 1;                  ///< the smallest one of a line, relative to its row; of numbers relative to the largest
  bool bad_pivot     = false;

  bool transforms(int d) const { return n[d] > 1 && !(lines && d == along); }
  Index modes_of_lines() const { return static_cast<Index>(alpha.size()); }
  double flops() const;
  std::string description() const;
};

/// Why an operator has no plan, or nothing: at most one direction, which is no ring, can do without real eigenvectors.
std::optional<std::string> pencil_refused(const PencilOperator &op);

/// Throws std::invalid_argument where pencil_refused.
PencilPlan plan_pencil(const PencilOperator &op);

} // namespace weft::poisson
