/// FACR(l): l levels of cyclic reduction, then a transform of the rows left, line solves for its modes, the transform back, and the l
/// levels backwards (Hockney, J. ACM 12 (1965) 95; Swarztrauber, SIAM Rev. 19 (1977) 490). With l = 0 it is the tensor-product solver, for
/// any direction that has real eigenvectors: sines and cosines in closed form, those of LAPACK where coefficients vary. The transform is a
/// fast one where there is one (trigonometric.hpp), else a matrix product.
///
/// After l levels of partial fractions (partial_fraction.hpp), n = 2^l, mode q of the rows left, angle phi_q, is
///   U_q = (1/n) sum_{i < n} (B - 2 cos((phi_q + 2 pi i) / n) I)^-1 f_q        (l >= 1; l = 0: (B + 2 cos(phi_q) I)^-1 f_q):
/// as many line solves as with l = 0, on 1/n of the transform's work.
#pragma once
#include "bcr/modes/bordering.hpp"
#include "bcr/reduction/constant_method.hpp"
#include "bcr/transforms/eigen.hpp"

namespace weft::poisson {

struct Facr {
  static constexpr const char *name = "facr";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &options)
  {
    if (options.levels <= 0) return mode_basis_refused(problem.block);
    const auto constant = constant_line(problem.block);
    if (!constant) return "facr reduces rows cyclically only where coefficients are constant along the block direction: take 0 levels";
    if (options.levels > 30 || (constant->intervals >> options.levels) << options.levels != constant->intervals ||
        (constant->intervals >> options.levels) < (constant->ring() ? 3 : 2))
      return "facr with " + std::to_string(options.levels) +
             " levels needs a multiple of 2^levels intervals, and two left (of a ring three); "
             "this direction has " +
             std::to_string(constant->intervals);
    return mode_basis_refused(reduced(*constant, options.levels).line);
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &options)
  {
    if (options.levels <= 0) {
      Schedule schedule = tensor(problem);
      if (const auto fast = fast_modes(problem.block)) schedule.bordering = bordering(problem.block, fast->values, schedule.line);
      return schedule;
    }
    const int levels = options.levels;
    const Halving halving(problem.block);
    Schedule schedule = halving.schedule(problem);
    for (int k = 0; k < levels; k++) schedule.steps.push_back(FractionLevels::forward(halving, k));
    const Reduced rows     = reduced(halving.rows, levels);
    const EigenBasis basis = mode_basis(rows.line);
    const Index n = Index(1) << levels, first = rows.first, count = rows.line.n;
    LineStep modes;
    const std::vector<Angle> angles = constant_angles(rows.constant);
    for (Index q = 0; q < count; q++) {
      const Angle phi = angles[static_cast<std::size_t>(q)];
      const Index row = problem.block.n + q, at = static_cast<Index>(modes.pole.size());
      for (Index i = 0; i < n; i++)
        modes.add_pole(two_cos(phi.numerator + 2 * phi.denominator * i, n * phi.denominator), {1 / static_cast<double>(n)}, {1});
      modes.groups.push_back({at, static_cast<int>(n), {{{row, 1}}}, {{row, {}}}});
    }
    schedule.steps.push_back(TransformStep{count, basis.inverse, basis.to_modes(), first, n, problem.block.n, 1});
    schedule.steps.push_back(std::move(modes));
    schedule.steps.push_back(TransformStep{count, basis.vectors, basis.from_modes(), problem.block.n, 1, first, n});
    for (int k = levels - 1; k >= 0; k--) schedule.steps.push_back(FractionLevels::backward(halving, k));
    return schedule;
  }

  /// No levels.
  static Schedule tensor(const RowProblem &problem)
  {
    const EigenBasis basis = problem.source ? mode_basis(problem.block, *problem.source) : mode_basis(problem.block);
    Schedule schedule{problem.line.shifted(problem.shift, 1), 1, {}, true};
    const Index n = problem.block.n;
    LineStep modes;
    for (Index q = 0; q < n; q++) {
      modes.add_pole(-basis.values[static_cast<std::size_t>(q)], {1}, {1});
      modes.groups.push_back({q, 1, {{{n + q, 1}}}, {{n + q, {}}}});
    }
    schedule.steps.push_back(TransformStep{n, basis.inverse, basis.to_modes(), 0, 1, n, 1, basis.there, true, basis.parity});
    schedule.steps.push_back(std::move(modes));
    schedule.steps.push_back(TransformStep{n, basis.vectors, basis.from_modes(), n, 1, 0, 1, basis.there, false, basis.parity});
    return schedule;
  }

private:
  /// The rows left after some levels, which keep their conditions at the ends.
  struct Reduced {
    ConstantLine constant;
    LineMatrix line; ///< (1, 0, 1)
    Index first;     ///< row of the grid of its first row, in the order of `line`
  };
  static Reduced reduced(ConstantLine constant, int levels)
  {
    const Index n      = Index(1) << levels;
    const Index row    = constant.has_first() ? 0 : constant.ends == Ends::neumann_dirichlet ? 0 : n - 1;
    constant.diagonal  = 0;
    constant.off       = 1;
    constant.intervals = constant.intervals / n;
    LineMatrix line;
    line.n        = constant.intervals + (constant.ends == Ends::dirichlet_dirichlet ? -1 : constant.ends == Ends::neumann_neumann ? 1 : 0);
    line.periodic = constant.ring();
    line.lower = line.upper = std::vector<double>(line.size(), 1);
    line.diagonal           = std::vector<double>(line.size(), 0);
    if (!line.periodic) line.lower.front() = line.upper.back() = 0;
    if (line.n > 1 && (constant.ends == Ends::neumann_neumann || constant.ends == Ends::neumann_dirichlet)) line.upper.front() = 2;
    if (line.n > 1 && (constant.ends == Ends::neumann_neumann || constant.ends == Ends::dirichlet_neumann)) line.lower.back() = 2;
    return {constant, line, row};
  }
};

} // namespace weft::poisson
