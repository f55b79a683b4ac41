#include "bcr/detect/new_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft {

namespace {

/// Values from one entry each have three roundings or so; sums of rows have those of their entries. The nearest operator of another matrix has
/// the rounding of sums over all of it, and is no closer to the matrix for a digit more.
double rounding_of(const Separation &found)
{
  return std::clamp(1e-3 * found.deviation, 8 * std::numeric_limits<double>::epsilon(), 1e-13);
}

double row_size(const Direction &d, std::size_t i)
{
  return std::abs(d.lower[i]) + std::abs(d.diagonal[i]) + std::abs(d.upper[i]);
}

/// a = factor * b to `rounding`.
bool near(double a, double b, double factor, double rounding)
{
  return std::abs(a - factor * b) <= rounding * std::abs(a);
}

bool near(const std::vector<double> &a, const std::vector<double> &b, double factor, double rounding)
{
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](double x, double y) { return near(x, y, factor, rounding); });
}

bool near(const Direction &a, const Direction &b, double factor, double rounding)
{
  if (a.n != b.n || a.periodic != b.periodic || !near(a.weight, b.weight, 1, rounding) || !near(a.lower, b.lower, factor, rounding) ||
      !near(a.upper, b.upper, factor, rounding))
    return false;
  for (std::size_t i = 0; i < a.diagonal.size(); i++) {
    if (!(std::abs(a.diagonal[i] - factor * b.diagonal[i]) <= rounding * row_size(a, i))) return false;
  }
  return true;
}

/// The sum of the sizes of the weakest rows, of which the shift has the rounding.
double weakest_row(const SeparableOperator &op)
{
  double sum = 0;
  for (int k = 0; k < op.dimension; k++) {
    const Direction &d = op.directions[k];
    double least       = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < d.diagonal.size(); i++) least = std::min(least, row_size(d, i) / (d.weight.empty() ? 1 : d.weight[i]));
    sum += least;
  }
  return sum;
}

/// What the largest number of an operator has become, over what it was; 0 where there is none.
double ratio_of_largest(const SeparableOperator &now, const SeparableOperator &last)
{
  double most = std::abs(last.shift), ratio = now.shift / last.shift;
  for (int k = 0; k < last.dimension; k++) {
    const auto &before = last.directions[k].diagonal, &after = now.directions[k].diagonal;
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); i++) {
      if (std::abs(before[i]) > most) most = std::abs(before[i]), ratio = after[i] / before[i];
    }
  }
  return most > 0 && std::isfinite(ratio) ? ratio : 0;
}

bool near(const SeparableOperator &a, const SeparableOperator &b, double factor, double rounding)
{
  if (!(std::abs(a.shift - factor * b.shift) <= rounding * std::max(std::abs(a.shift), weakest_row(a)))) return false;
  for (int k = 0; k < a.dimension; k++) {
    if (!near(a.directions[k], b.directions[k], factor, rounding)) return false;
  }
  return true;
}

bool near(const FaceRows &a, const FaceRows &b, double factor, double rounding)
{
  return near(a.diagonal, b.diagonal, factor, rounding) && near(a.outward, b.outward, factor, rounding) &&
         near(a.inward, b.inward, factor, rounding) && a.turn == b.turn;
}

} // namespace

bool same_shape(const Separation &a, const Separation &b)
{
  bool same = a.size() > 0 && !a.pencil && !b.pencil && a.foreign + a.unusable + b.foreign + b.unusable == 0 &&
              a.separable.dimension == b.separable.dimension && a.symmetric == b.symmetric && a.scaled == b.scaled && a.known == b.known &&
              a.unit == b.unit;
  for (int d = 0; d < 3; d++) {
    same = same && a.grid[d] == b.grid[d] && a.first[d] == b.first[d] && a.nodes[d] == b.nodes[d] && a.periodic[d] == b.periodic[d];
    for (int side : {0, 1}) same = same && a.faces[d][side].eliminated() == b.faces[d][side].eliminated();
  }
  return same;
}

Kept compare(const Separation &now, const Separation &last)
{
  if (same_operator(now, last)) return {1, true, true};
  Kept kept;
  if (!same_shape(now, last)) return kept;
  const double rounding = rounding_of(now), ratio = ratio_of_largest(now.separable, last.separable);
  if (ratio == 0 || (ratio != 1 && now.unit != 1) || !near(now.separable, last.separable, ratio, rounding)) return kept;
  const bool same_turn = std::abs(now.turn - last.turn) <= rounding && near(now.imaginary_shift, last.imaginary_shift, ratio, rounding);
  if (!same_turn) return kept;
  kept.factor = ratio;
  kept.faces  = true;
  for (int d = 0; d < 3; d++) {
    for (int side : {0, 1}) kept.faces = kept.faces && near(now.faces[d][side], last.faces[d][side], ratio, rounding);
  }
  kept.rows = now.row_scale == last.row_scale;
  return kept;
}

void keep_directions(Separation &now, const Separation &last)
{
  if (!same_shape(now, last)) return;
  const double rounding = rounding_of(now);
  for (int k = 0; k < now.separable.dimension; k++) {
    Direction &direction = now.separable.directions[k];
    if (near(direction, last.separable.directions[k], 1, rounding)) direction = last.separable.directions[k];
  }
}

void scale_faces(Separation &separation, double factor)
{
  for (auto &ends : separation.faces) {
    for (FaceRows &rows : ends) {
      for (auto *values : {&rows.diagonal, &rows.outward, &rows.inward}) {
        for (double &value : *values) value *= factor;
      }
    }
  }
}

} // namespace weft
