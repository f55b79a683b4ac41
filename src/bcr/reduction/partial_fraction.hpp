/// Partial-fraction cyclic reduction: block Gauss elimination of every second row in turn, whose coefficients are rational functions of B
/// with the roots of B^(k) as poles. Level k, h = n = 2^k, theta_l = (l - 1/2) pi / n:
///
///   forward   f_j <- f_j - [B^(k)]^-1 (f_{j-h} + f_{j+h}),                                        j = 2h, 4h, ...
///   backward  U_j  = sum_l (B - 2 cos(theta_l) I)^-1 ( f_j / n - alpha_l (U_{j-h} + U_{j+h}) ),    j = h, 3h, 5h, ...
///
/// since what elimination leaves on the diagonal is D_k with D_k^-1 = (1/n) sum_l (B - 2 cos(theta_l) I)^-1, all weights positive. One
/// array, no vectors p and q as in Buneman's form; N / 2 independent line solves at every level. Neumann ends mirror, rings wrap; they
/// leave two rows coupled by D and 2 T, which sum and difference decouple:
///   f_0 + f_n: poles 2 cos(2 pi l / n), l = 0 .. n/2, weights 2/n, the two outer ones 1/n;
///   f_0 - f_n: poles 2 cos((2l - 1) pi / n), l = 1 .. n/2, weights 2/n.
///
/// Where more than 2^8 intervals are left after some levels, reduction goes on; those 2^8 are then reduced at once, to no row: the
/// eigenvectors of the rows left, sines and cosines, make as many single rows of them, each with the poles of all levels at once (facr.hpp). That
/// takes the work of two levels in place of sixteen launches.
///
/// Words moved per point: at each of the 2 log2 N levels half of the rows are read twice and a half written.
/// After Swarztrauber and Sweet, J. Comput. Appl. Math. 27 (1989) 241; Rossi and Toivanen, SIAM J. Matrix Anal. Appl. 20 (1999) 628.
#pragma once
#include "bcr/reduction/facr.hpp"

namespace weft::poisson {

struct PartialFraction {
  static constexpr const char *name = "partial";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &)
  {
    return halving_refused(name, problem.block);
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &)
  {
    const Halving halving(problem.block);
    if (const int levels = exact_log2(halving.rows.intervals) - last_levels; levels > 0) {
      DirectOptions some;
      some.levels = levels;
      return Facr::schedule(problem, some);
    }
    Schedule schedule = halving.schedule(problem);
    int last          = halving.last;
    for (int k = 0; k < last; k++) schedule.steps.push_back(FractionLevels::forward(halving, k));
    if (halving.pair()) schedule.steps.push_back(pair(halving, last--));
    for (int k = last; k >= 0; k--) schedule.steps.push_back(FractionLevels::backward(halving, k));
    return schedule;
  }

private:
  static constexpr int last_levels = 8;

  /// The two rows left.
  static LineStep pair(const Halving &halving, int level)
  {
    const Index n     = Index(1) << level;
    const Index first = halving.rows.row(0), last = halving.rows.row(n);
    const double of = static_cast<double>(n);
    LineStep step;
    step.sources = step.outputs = 2;
    if (n == 1) {
      step.add_pole(-2, {1, 0}, {0.5, 0.5});
      step.add_pole(2, {0, 1}, {0.5, -0.5});
    } else {
      for (Index l = 0; l <= n / 2; l++) step.add_pole(two_cos(2 * l, n), {(l == 0 || l == n / 2 ? 1 : 2) / of, 0}, {0.5, 0.5});
      for (Index l = 1; l <= n / 2; l++) step.add_pole(two_cos(2 * l - 1, n), {0, 2 / of}, {0.5, -0.5});
    }
    step.groups.push_back(
        {0, static_cast<int>(step.pole.size()), {{{first, 1}, {last, 1}}, {{first, 1}, {last, -1}}}, {{first, {}}, {last, {}}}});
    return step;
  }
};

} // namespace weft::poisson
