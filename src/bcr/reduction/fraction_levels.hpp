/// Levels of partial-fraction cyclic reduction (partial_fraction.hpp), which FACR has too.
#pragma once
#include "bcr/reduction/constant_method.hpp"

namespace weft::poisson {

/// The levels of partial-fraction cyclic reduction.
struct FractionLevels {
  /// Rows kept at level k + 1.
  static LineStep forward(const Halving &halving, int k)
  {
    const Index h = Index(1) << k;
    LineStep step;
    for (Index l = 1; l <= h; l++) step.add_pole(chebyshev_root(l, h), {fraction_weight(k, l)}, {-1});
    halving.for_each_kept(k, [&](Index j) {
      const Index row = halving.rows.row(j);
      Combination neighbours;
      add(neighbours, halving.rows.row(j - h), 1);
      add(neighbours, halving.rows.row(j + h), 1);
      step.groups.push_back({0, static_cast<int>(h), {neighbours}, {{row, {{row, 1}}}}});
    });
    return step;
  }
  /// Rows eliminated at level k.
  static LineStep backward(const Halving &halving, int k)
  {
    const Index h = Index(1) << k;
    LineStep step;
    step.sources = 2;
    for (Index l = 1; l <= h; l++) step.add_pole(chebyshev_root(l, h), {1 / static_cast<double>(h), -fraction_weight(k, l)}, {1});
    halving.for_each_eliminated(k, [&](Index j) {
      const Index row = halving.rows.row(j);
      Combination neighbours;
      add(neighbours, halving.rows.row(j - h), 1);
      add(neighbours, halving.rows.row(j + h), 1);
      step.groups.push_back({0, static_cast<int>(h), {{{row, 1}}, neighbours}, {{row, {}}}});
    });
    return step;
  }
};

} // namespace weft::poisson
