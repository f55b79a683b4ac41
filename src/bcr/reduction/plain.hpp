/// Block cyclic reduction as first published, which multiplies right-hand sides by B^(k) and divides by it again: every part of the
/// solution but that of the largest eigenvalues drowns. The error grows like exp(0.88 N), above 1 at N = 63 in double. Kept to show it;
/// never chosen by auto.
///
///   forward   F_j <- F_{j-h} + F_{j+h} - B^(k) F_j,     backward  U_j = [B^(k)]^-1 (F_j - U_{j-h} - U_{j+h})
///
/// with B^(k) and its inverse as products of factors in natural order. Buzbee, Golub, Nielson, SIAM J. Numer. Anal. 7 (1970) 627.
#pragma once
#include "bcr/reduction/constant_method.hpp"

namespace weft::poisson {

struct Plain {
  static constexpr const char *name = "plain";

  static std::optional<std::string> refuses(const RowProblem &problem, const DirectOptions &)
  {
    return halving_refused(name, problem.block);
  }

  static Schedule schedule(const RowProblem &problem, const DirectOptions &)
  {
    const Halving halving(problem.block);
    Schedule schedule = halving.schedule(problem);
    int last          = halving.last;
    for (int k = 0; k < last; k++) schedule.steps.push_back(forward(halving, k));
    if (halving.pair()) {
      const Index first = halving.rows.row(0), end = halving.rows.row(Index(1) << last);
      schedule.steps.push_back(pair_sums(first, end, 1));
      schedule.steps.push_back(pair_solve(last--, {{{first, 1}}, {{end, 1}}}, {{first, {}}, {end, {}}}));
      schedule.steps.push_back(pair_sums(first, end, 0.5));
    }
    for (int k = last; k >= 0; k--) schedule.steps.push_back(backward(halving, k));
    return schedule;
  }

private:
  static LineStep factors(int k, Lines kind, double weight)
  {
    LineStep step;
    step.kind     = kind;
    const Index n = Index(1) << k;
    for (Index l = 1; l <= n; l++) step.add_pole(chebyshev_root(l, n), {1}, {weight});
    return step;
  }
  static LineStep forward(const Halving &halving, int k)
  {
    const Index h = Index(1) << k;
    LineStep step = factors(k, Lines::products, -sign_of_level(k));
    halving.for_each_kept(k, [&](Index j) {
      const Index row = halving.rows.row(j);
      Combination neighbours;
      add(neighbours, halving.rows.row(j - h), 1);
      add(neighbours, halving.rows.row(j + h), 1);
      step.groups.push_back({0, static_cast<int>(h), {{{row, 1}}}, {{row, neighbours}}});
    });
    return step;
  }
  static LineStep backward(const Halving &halving, int k)
  {
    const Index h = Index(1) << k;
    LineStep step = factors(k, Lines::solves, sign_of_level(k));
    halving.for_each_eliminated(k, [&](Index j) {
      const Index row = halving.rows.row(j);
      Combination rhs{{row, 1}};
      add(rhs, halving.rows.row(j - h), -1);
      add(rhs, halving.rows.row(j + h), -1);
      step.groups.push_back({0, static_cast<int>(h), {rhs}, {{row, {}}}});
    });
    return step;
  }
};

} // namespace weft::poisson
