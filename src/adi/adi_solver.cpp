#include "adi/adi_solver.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "adi/adi_solver_impl.hpp"
#include "base/kernel_scalar.hpp"

namespace weft {

double largest_ritz_value(const std::vector<double> &diagonal, const std::vector<double> &off)
{
  const std::size_t n = diagonal.size();
  double low = diagonal[0], high = diagonal[0];
  for (std::size_t i = 0; i < n; i++) {
    const double radius = (i > 0 ? std::abs(off[i - 1]) : 0) + (i + 1 < n ? std::abs(off[i]) : 0);
    low                 = std::min(low, diagonal[i] - radius);
    high                = std::max(high, diagonal[i] + radius);
  }
  const auto all_below = [&](double x) {
    double pivot = 1;
    for (std::size_t i = 0; i < n; i++) {
      const double coupling = i > 0 ? off[i - 1] * off[i - 1] : 0;
      pivot                 = diagonal[i] - x - (coupling == 0 ? 0 : coupling / pivot);
      if (!(pivot < 0)) return false;
    }
    return true;
  };
  for (int step = 0; step < 100 && low < high; step++) {
    const double middle              = (low + high) / 2;
    (all_below(middle) ? high : low) = middle;
  }
  return (low + high) / 2;
}

template <class Scalar>
Owner<AdiSolver<Scalar>> AdiSolver<Scalar>::make(const Execution &execution, const AdiBox &box, const AdiOptions &options,
                                                 MakeLines<Scalar> make_lines, const AdiRanks &ranks)
{
  if (!make_lines)
    make_lines = [&execution, options](int, const LineProblem &problem) {
      return LineSolver<Scalar>::make(execution, problem, options.line_solver, options.parameters);
    };
  return on_backend(execution, [&](const auto &space) -> Owner<AdiSolver> {
    return make_owner<AdiSolverOn<std::decay_t<decltype(space)>, Scalar>>(execution, space, box, options, make_lines, ranks);
  });
}

template <class Scalar>
void AdiSolver<Scalar>::read(const AdiSolver &other)
{
  read(other.copy());
  set_shifts(other.shifts_, other.sum_scale_);
  factor();
}

template <class Scalar>
struct AdiSolver<Scalar>::Found {
  AdiBounds bounds;
  double similarity = 1, log_condition = 0, sweeps = -1; ///< sweeps: -1 where nobody has counted
};

/// Of the parts as they are, which `similarity` makes more or less symmetric.
template <class Scalar>
AdiBounds AdiSolver<Scalar>::parts(AdiBoundsMethod method, double similarity) const
{
  AdiBounds all;
  for (int k : directions_) all.push_back(bounds_of(k, method, similarity));
  // Gershgorin's lower ends are 0 or less for most operators.
  const bool guess = method == AdiBoundsMethod::gershgorin &&
                     std::all_of(all.begin(), all.end(), [](const SpectralInterval &i) { return i.high > 0 && i.low <= 1e-12 * i.high; });
  for (std::size_t d = 0; guess && d < all.size(); d++) {
    const double n = static_cast<double>(box_.global[directions_[d]]);
    all[d].low     = all[d].high * std::pow(std::sin(std::acos(-1.0) / (2 * (n + 1))), 2);
  }
  return all;
}

template <class Scalar>
typename AdiSolver<Scalar>::Found AdiSolver<Scalar>::find_bounds(AdiBoundsMethod method) const
{
  double log_condition = 0;
  for (int k : directions_) log_condition += log_condition_of(k);
  // Made symmetric a part has the least field of values, in a norm that may be far from the 2-norm: what takes the fewest sweeps is between.
  Found found{parts(method, 1)};
  if (log_condition > 1 && directions_.size() > 1) {
    found.sweeps = adi_sweeps_for<Number>(options_.type, found.bounds, log_condition);
    for (double next : {0.5, 0.2, 0.08, 0.03}) {
      const AdiBounds others = parts(method, next);
      const double needed    = adi_sweeps_for<Number>(options_.type, others, next * log_condition);
      if (needed < found.sweeps) found = {others, next, 0, needed};
    }
  }
  found.log_condition = found.similarity * log_condition;
  return found;
}

template <class Scalar>
AdiBounds AdiSolver<Scalar>::bounds(AdiBoundsMethod method)
{
  Found found;
  if constexpr (is_complex<Scalar>) {
    const std::vector<Number> turns = this->turns();
    Number best                     = turns[0];
    for (const Number &turn : turns) {
      set_turn(turn);
      Found other = find_bounds(method);
      if (turns.size() > 1 && other.sweeps < 0 && directions_.size() > 1)
        other.sweeps = adi_sweeps_for<Number>(options_.type, other.bounds, other.log_condition);
      if (!found.bounds.empty() && !(other.sweeps < found.sweeps)) continue;
      found = std::move(other);
      best  = turn;
      if (std::all_of(found.bounds.begin(), found.bounds.end(), [](const SpectralInterval &i) { return i.skew == 0; })) break; // segments
    }
    set_turn(best);
  } else {
    found = find_bounds(method);
  }
  AdiBounds all  = found.bounds;
  log_condition_ = found.log_condition;

  double high = 0, low = sum_of_lows(all), offset = 0;
  const double directions = static_cast<double>(all.size());
  bool real               = true;
  for (const SpectralInterval &i : all) high = std::max(high, std::abs(i.high)), real = real && i.skew == 0, offset += i.offset;
  const double rounding = 64 * static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon()) * high;
  const bool singular   = std::abs(low) <= rounding && std::abs(offset) <= rounding;
  if (all.size() < 2 || !std::isfinite(low) || (!adi_apart_from_zero(all) && !singular)) return all;
  if (!singular && real && all.size() == 2 && options_.type != AdiType::douglas_rachford && !options_.symmetric) return all;
  double lowest = low / directions;
  offset /= directions;
  if (singular) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < all.size(); d++) least = std::min(least, gap(directions_[d], all[d].low, found.similarity));
    lowest = 0;
    low    = std::isfinite(least) ? least * (real ? 1 : 0.5) : high; // ellipses are narrow at their ends
  }
  for (std::size_t d = 0; d < all.size(); d++) {
    const double by = lowest - all[d].low, up = offset - all[d].offset;
    if (std::max(std::abs(by), std::abs(up)) > 1e-3 * (singular ? low : std::abs(lowest))) {
      if constexpr (is_complex<Scalar>)
        move(directions_[d], {by, up});
      else
        move(directions_[d], by);
      all[d].low += by;
      all[d].high += by;
      all[d].offset += up;
    }
    if (singular) all[d] = {std::min(low, all[d].high), all[d].high, all[d].skew, true};
  }
  return all;
}

template <class Scalar>
void AdiSolver<Scalar>::set_shifts(const std::vector<Shift> &shifts, double scale)
{
  if (shifts.empty()) throw std::invalid_argument("a cycle has one shift at least");
  sum_scale_ = scale;
  // shifts come for the directions in turn, parts lie where their direction is
  shifts_ = directions_.size() == 1 ? std::vector<Shift>{{0, 0, 0}} : shifts;
  std::vector<Shift> placed(shifts_.size(), Shift{}), alone = placed;
  for (std::size_t j = 0; j < placed.size(); j++) {
    for (std::size_t d = 0; d < directions_.size(); d++) placed[j][static_cast<std::size_t>(directions_[d])] = shifts_[j][d];
  }
  // Where a sweep solves along several directions, its corrections of a fixed row must multiply to 1 / diagonal; those of sums to nothing,
  // since the row is solved apart from them.
  using Real             = RealOf<Scalar>;
  constexpr double large = sizeof(Real) == 8 ? 0x1p80 : 0x1p21, most = static_cast<double>(std::numeric_limits<Real>::max()) / 16;
  for (const Sweep &sweep : sweeps()) {
    const auto j = static_cast<std::size_t>(sweep.shift);
    for (std::size_t d = 0; d < directions_.size(); d++) {
      const auto k = static_cast<std::size_t>(directions_[d]);
      if (sweep.sum)
        alone[j][k] = placed[j][k] * std::min(large, most / std::abs(placed[j][k]));
      else if (d > 0 && sweep.directions.size() > 1)
        alone[j][k] = sweep.scales[d - 1] * (d + 1 == sweep.scales.size() ? sweep.scales[d] : 1);
    }
  }
  place_shifts(placed, alone);
}

template <class Scalar>
std::vector<typename AdiSolver<Scalar>::Sweep> AdiSolver<Scalar>::sweeps(Transpose transpose) const
{
  const std::size_t count = directions_.size();
  std::vector<Sweep> all;
  if (options_.symmetric && count > 1) {
    const std::vector<double> steps = adi_sum_steps(shifts_);
    std::vector<int> there_and_back = directions_;
    there_and_back.insert(there_and_back.end(), directions_.rbegin(), directions_.rend());
    for (std::size_t j = 0; j < shifts_.size(); j++) {
      std::vector<Number> scales(2 * count, shifts_[j][0]);
      scales.back() = 2 * sum_scale_ * steps[j];
      all.push_back({there_and_back, static_cast<int>(j), scales, j == 0, true});
    }
    return all; // the transpose of each term is itself
  }
  for (std::size_t j = 0; j < shifts_.size(); j++) {
    const Shift &s      = shifts_[j];
    const bool backward = options_.type == AdiType::douglas_rachford;
    Sweep sweep{directions_, static_cast<int>(j), {1}};
    if (count == 3)
      sweep.scales = {s[0], s[0], backward ? 1.0 : 2.0};
    else if (count == 2 && options_.type != AdiType::peaceman_rachford)
      sweep.scales = {backward ? s[0] : s[0] + s[1], 1};
    if (count != 2 || options_.type != AdiType::peaceman_rachford) {
      all.push_back(sweep);
      continue;
    }
    for (int k : directions_) {
      sweep.directions = {k};
      all.push_back(sweep);
    }
  }
  if (transpose == Transpose::no) return all;
  std::reverse(all.begin(), all.end());
  for (Sweep &sweep : all) std::reverse(sweep.directions.begin(), sweep.directions.end());
  return all;
}

template <class Scalar>
void AdiSolver<Scalar>::cycle(Scalar *b, Scalar *x, bool zero_guess, Transpose transpose, int count)
{
  if (transpose == Transpose::no && sweeps_in_halves()) {
    half_sweeps(b, x, zero_guess, count);
    return;
  }
  bool from_zero                = zero_guess;
  Scalar *r                     = b;
  const std::vector<Sweep> once = sweeps(transpose);
  for (int n = 0; n < count; n++) {
    for (const Sweep &sweep : once) {
      if (sweep.residual && !from_zero) r = residual(b, x, transpose);
      correct(sweep, r, x, from_zero, transpose);
      from_zero = false;
    }
  }
}

template <class Scalar>
double AdiSolver<Scalar>::flops() const
{
  // A residual takes a product and a sum for each coupling of a row, two sums more for the rest; from one half-sweep to the next it is three.
  const double of_a_row = sweeps_in_halves() ? 3.0 : 2.0 + 4.0 * static_cast<double>(directions_.size());
  const double residual = static_cast<double>(box_.rows()) * of_a_row;
  double flops          = 0;
  for (const Sweep &sweep : sweeps()) {
    if (sweep.residual) flops += residual;
    for (int k : sweep.directions) flops += lines(k).flops();
  }
  return flops;
}

template class AdiSolver<KernelScalar>;
template class AdiSolver<OtherScalar>;

} // namespace weft
