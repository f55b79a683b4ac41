/// What the methods for constant coefficients along the block direction share: partial, buneman1, buneman2, plain.
///
/// Divided by the coupling t of neighbouring rows the system is U_{j-1} + B U_j + U_{j+1} = F_j, B = (T_line + (d + shift) I) / t.
#pragma once
#include <optional>
#include <string>

#include "bcr/direct_solver.hpp"
#include "bcr/reduction/chebyshev.hpp"
#include "bcr/reduction/schedule.hpp"

namespace weft::poisson {

/// Why cyclic reduction cannot halve such rows down to one, or nothing.
inline std::optional<std::string> halving_refused(const std::string &method, const LineMatrix &block)
{
  const auto constant = constant_line(block);
  if (!constant)
    return method +
           " needs constant coefficients along one direction, with Dirichlet, Neumann (node-centred) or periodic ends: take separable";
  if (exact_log2(constant->intervals) < 0)
    return method +
           " needs 2^m intervals along its block direction (2^m - 1 points between Dirichlet ends, 2^m with one Neumann end or "
           "periodic, 2^m + 1 between Neumann ends), this one has " +
           std::to_string(block.n) + " points: take separable or facr";
  return std::nullopt;
}

/// The levels of cyclic reduction.
struct Halving {
  ConstantLine rows;
  int last;  ///< the level left after reduction
  Index top; ///< the last point with an unknown

  explicit Halving(const LineMatrix &block) : rows(*constant_line(block))
  {
    const int m = exact_log2(rows.intervals);
    last        = rows.has_last() ? m : m - 1;
    top         = rows.has_last() ? rows.intervals : rows.intervals - 1;
    // A ring of one interval does not exist; Neumann ends with one interval keep both rows at level 0.
  }
  /// Two rows are left at the top, else one.
  bool pair() const { return rows.has_first(); }
  Schedule schedule(const RowProblem &problem) const
  {
    return {problem.line.shifted(rows.diagonal + problem.shift, rows.off), 1 / rows.off, {}};
  }
  /// Calls body(j) for the points that stay at level k + 1.
  template <class Body>
  void for_each_kept(int k, const Body &body) const
  {
    const Index h = Index(1) << k;
    for (Index j = rows.has_first() ? 0 : 2 * h; j <= top; j += 2 * h) body(j);
  }
  /// Calls body(j) for the points that level k eliminates.
  template <class Body>
  void for_each_eliminated(int k, const Body &body) const
  {
    const Index h = Index(1) << k;
    for (Index j = h; j <= top; j += 2 * h) body(j);
  }
};

/// Rows a and b become factor (a + b) and factor (a - b).
inline LineStep pair_sums(Index a, Index b, double factor)
{
  LineStep step;
  step.sources = 0;
  step.outputs = 2;
  step.groups.push_back({0, 0, {}, {{a, {{a, factor}, {b, factor}}}, {b, {{a, factor}, {b, -factor}}}}});
  return step;
}

/// Solves (B^(k) + 2 I) s = source_0 and (B^(k) - 2 I) d = source_1, as a product of factors: what is left of Neumann and periodic rows. As
/// B^(k) = -2 T_n(B / 2), the factors are B - 2 cos(2 pi l / n) and B - 2 cos((2l - 1) pi / n), l = 1 .. n, nearly all of them twice; every
/// root in Leja order and both of its factors at once.
inline LineStep pair_solve(int k, const std::vector<Combination> &sources, const std::vector<LineStep::Output> &outputs)
{
  LineStep step;
  step.kind     = Lines::solves;
  const Index n = Index(1) << k;
  for (std::size_t odd : {0, 1}) {
    const Index begin = static_cast<Index>(step.pole.size());
    const auto factor = [&](double root) { step.add_pole(root, {1}, {sign_of_level(k)}); };
    if (n == 1) {
      factor(odd ? 2 : -2);
    } else {
      std::vector<double> roots;
      for (Index l = odd ? 1 : 0; l <= n / 2; l++) roots.push_back(two_cos(2 * l - static_cast<Index>(odd), n));
      for (double root : leja_order(roots)) {
        factor(root);
        if (std::abs(root) < 2) factor(root);
      }
    }
    step.groups.push_back({begin, static_cast<int>(n), {sources[odd]}, {outputs[odd]}});
  }
  return step;
}

/// The levels of partial-fraction cyclic reduction (partial_fraction.hpp), which FACR has too.
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
