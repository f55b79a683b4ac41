// Complex shifts for parts whose spectra lie in ellipses or boxes off the real axis: of several candidates, polished, the one that leaves least.
//  1. Parts in the right half-plane: real shifts for the ellipses without their offsets, with the offsets added. For an offset that all of a part
//     has (a shifted Laplacian, 1 + i dt H) zeros and poles stay where errors are, and each factor is less than the real one.
//  2. Leja and Bagby's points: each pair is where the pairs before leave most (T. Bagby, "On interpolation by rational functions", Duke Math. J.
//     36, 1969; for alternating directions G. Starke, SIAM J. Numer. Anal. 28, 1991). They need nothing but that the regions are apart.
//  3. Shifts on an arc between the ends of their part, together or apart.
// What a cycle leaves is taken from samples on the edges of the regions, as for real shifts.
#include "adi/shift_samples.hpp"

namespace weft {

using namespace adi;

namespace {

using Shifts = std::vector<ComplexAdiShift>;

constexpr Complex i_unit{0, 1};

Complex low_end(const SpectralInterval &part)
{
  return {part.low, part.offset};
}
Complex high_end(const SpectralInterval &part)
{
  return {part.high, part.offset};
}

/// Points on the edge of a part's region, dense where it is near 0, as errors are hard to reduce there.
std::vector<Complex> edge(const SpectralInterval &part, int count)
{
  const double middle = (part.low + part.high) / 2, half = (part.high - part.low) / 2;
  const double near = std::max({part.low, std::abs(part.offset), 1e-6 * half, std::numeric_limits<double>::min()});
  const double from = std::asinh(part.low / near), to = std::asinh(part.high / near);
  std::vector<Complex> points;
  const auto put = [&](double x, double height) {
    points.emplace_back(x, part.offset + height);
    if (height > 0) points.emplace_back(x, part.offset - height);
  };
  if (part.singular) points.emplace_back(0, 0);
  put(part.low, 0);
  put(part.high, 0);
  for (int k = 1; k + 1 < count && half > 0; k++) {
    const double x  = std::clamp(near * std::sinh(from + (to - from) * k / (count - 1)), part.low, part.high);
    const double at = std::min(std::abs(x - middle) / half, 1.0);
    put(x, part.box ? part.skew : part.skew * std::sqrt((1 - at) * (1 + at)));
  }
  for (int k = 1; k < count && part.skew > 0; k++) {
    const double angle = std::acos(-1.0) * k / count;
    if (!part.box) {
      put(middle - half * std::cos(angle), part.skew * std::sin(angle));
    } else {
      put(part.low, part.skew * k / (count - 1));
      put(part.high, part.skew * k / (count - 1));
    }
  }
  return points;
}

/// Whether each direction has a shift of its own.
bool in_pairs(AdiType type, const AdiBounds &bounds)
{
  return bounds.size() == 2 && type != AdiType::douglas_rachford;
}

/// What a cycle leaves, at samples that are chosen once.
class Reduction {
public:
  Reduction(AdiType type, const AdiBounds &bounds, bool fine) : type_(type), bounds_(bounds)
  {
    // An ellipse has four points where a segment has one.
    const bool narrow = is_narrow(bounds);
    const int count   = in_pairs(type, bounds) ? (narrow ? 100 : 30) : bounds.size() == 2 ? (narrow ? 40 : 12) : narrow ? 14 : 4;
    for (std::size_t k = 0; k < bounds.size(); k++) points_[k] = edge(bounds[k], fine ? (narrow ? 2 : 3) * count : count);
  }
  /// Or any number above `enough` if it is more.
  double operator()(const Shifts &shifts, double enough = std::numeric_limits<double>::infinity()) const
  {
    if (in_pairs(type_, bounds_)) return worst_of_two(bounds_, shifts, {points_[0], points_[1]}, enough, &at_);
    return worst_at(type_, bounds_.size() == 2, shifts, points_, enough, &at_);
  }
  const std::vector<Complex> &points(std::size_t k) const { return points_[k]; }

private:
  AdiType type_;
  AdiBounds bounds_;
  std::vector<Complex> points_[3] = {{0}, {0}, {0}};
  mutable std::size_t at_         = 0; // shifts near the last ones leave most where those did
};

/// Leja and Bagby's points for `zeros` and minus `poles`: (pole's shift, zero) one after another, from the two that are nearest. `one`: the same
/// number for both.
Shifts leja_bagby(const std::vector<Complex> &zeros, const std::vector<Complex> &poles, bool one, int length)
{
  std::vector<double> at_zeros(zeros.size(), 0), at_poles(poles.size(), 0); // logarithms of what is left, and of its inverse
  Shifts shifts;
  for (int j = 0; j < length; j++) {
    std::size_t z = 0, p = 0;
    if (j > 0) {
      z = static_cast<std::size_t>(std::max_element(at_zeros.begin(), at_zeros.end()) - at_zeros.begin());
      p = static_cast<std::size_t>(std::max_element(at_poles.begin(), at_poles.end()) - at_poles.begin());
    } else {
      for (std::size_t m = 0; m < zeros.size(); m++) {
        for (std::size_t n = 0; n < poles.size(); n++) {
          if (std::norm(zeros[m] + poles[n]) < std::norm(zeros[z] + poles[p])) z = m, p = n;
        }
      }
    }
    const Complex zero = zeros[z], pole = one ? zero : poles[p];
    shifts.push_back({pole, zero, pole});
    for (std::size_t m = 0; m < zeros.size(); m++) at_zeros[m] += std::log(std::abs(zero - zeros[m]) / std::abs(pole + zeros[m]));
    for (std::size_t n = 0; n < poles.size(); n++) at_poles[n] += std::log(std::abs(pole - poles[n]) / std::abs(zero + poles[n]));
  }
  return shifts;
}

/// A number between two others whose arguments differ by less than pi, their geometric mean for t = 1/2.
Complex between(Complex from, Complex to, double t)
{
  return from == 0.0 ? to : from * std::exp(t * std::log(to / from));
}

std::vector<Shifts> candidates(AdiType type, const AdiBounds &bounds, const Reduction &leaves, int length)
{
  const bool pairs = in_pairs(type, bounds);
  std::vector<Shifts> all;
  double offset = 0;
  for (const SpectralInterval &i : bounds) offset += i.offset / static_cast<double>(bounds.size());
  if (sum_of_lows(bounds) > 0) {
    AdiBounds level = bounds;
    for (SpectralInterval &i : level) i.offset = 0;
    const std::vector<AdiShift> of_level = adi_shifts(type, level, length);
    for (const double share : {1.0, 0.0}) {
      all.emplace_back();
      for (const AdiShift &s : of_level) {
        const double first = share * (pairs ? bounds[1].offset : offset), second = share * (pairs ? bounds[0].offset : offset);
        all.back().push_back({s[0] + i_unit * first, s[1] + i_unit * second, s[2] + i_unit * first});
      }
    }
  }
  std::vector<Complex> points = leaves.points(0);
  for (std::size_t k = 1; k < bounds.size() && !pairs; k++) points.insert(points.end(), leaves.points(k).begin(), leaves.points(k).end());
  all.push_back(leja_bagby(points, pairs ? leaves.points(1) : points, !pairs, length));
  const SpectralInterval one = common(bounds);
  for (const double wide : {0.0, 0.3, 0.6, 0.9}) {
    all.emplace_back();
    for (int j = 0; j < length; j++) {
      const double t     = 0.5 + wide * ((j + 0.5) / length - 0.5);
      const Complex same = between({one.low, offset}, {one.high, offset}, t);
      const Complex p    = pairs ? between(low_end(bounds[1]), high_end(bounds[1]), t) : same,
                    q    = pairs ? between(low_end(bounds[0]), high_end(bounds[0]), t) : same;
      all.back().push_back({p, q, p});
    }
  }
  return all;
}

/// Each shift by itself is made a little larger, smaller or turned, as long as the cycle gains by it.
void polish(bool pairs, const Reduction &leaves, Shifts &shifts)
{
  double least = leaves(shifts);
  for (double step = 0.4; step > 0.01; step /= 2) {
    for (ComplexAdiShift &s : shifts) {
      for (std::size_t k = 0; k < (pairs ? 2u : 1u); k++) {
        for (const Complex by : {Complex(step), Complex(-step), step * i_unit, -step * i_unit}) {
          const ComplexAdiShift before = s;
          s[k] *= std::exp(by);
          if (!pairs) s = {s[0], s[0], s[0]};
          const double now = leaves(shifts, least);
          if (now < least)
            least = now;
          else
            s = before;
        }
      }
    }
  }
}

/// Constants that take each part to the same lower end and offset. Two parts whose shifts follow are the same problem.
std::vector<Complex> to_level(const AdiBounds &bounds)
{
  Complex mean = 0;
  for (const SpectralInterval &i : bounds) mean += low_end(i) / static_cast<double>(bounds.size());
  std::vector<Complex> by;
  for (const SpectralInterval &i : bounds) by.push_back(mean - low_end(i));
  return by;
}

Shifts best_shifts(AdiType type, AdiBounds bounds, int length)
{
  const bool pairs = in_pairs(type, bounds);
  std::vector<Complex> by(3, 0.0);
  if (pairs) {
    by = to_level(bounds);
    for (std::size_t k = 0; k < 2; k++) {
      bounds[k].low += by[k].real();
      bounds[k].high += by[k].real();
      bounds[k].offset += by[k].imag();
    }
  }
  const Reduction leaves(type, bounds, false), surely(type, bounds, true);
  constexpr int most_polished = 8; // more are there for segments only, which 1. serves well
  double least                = std::numeric_limits<double>::infinity();
  Shifts best;
  const auto compare = [&](const Shifts &shifts) {
    const double now = surely(shifts, least); // few samples may be polished between
    if (best.empty() || now < least) least = now, best = shifts;
  };
  std::vector<Shifts> all = candidates(type, bounds, leaves, length);
  for (const Shifts &shifts : all) compare(shifts);
  // A look at points of all directions at once is dear: there the best two are polished alone.
  if (!pairs) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t k = 0; k < all.size(); k++) order.emplace_back(leaves(all[k]), k);
    std::sort(order.begin(), order.end());
    all = {all[order[0].second], all[order[1].second]};
  }
  for (Shifts &shifts : all) {
    if (length > most_polished) break;
    polish(pairs, leaves, shifts);
    compare(shifts);
  }
  if (pairs) {
    for (ComplexAdiShift &s : best) s = {s[0] - by[1], s[1] - by[0], 0.0};
  }
  return best;
}

} // namespace

template <>
std::vector<ComplexAdiShift> adi_shifts(AdiType type, const AdiBounds &bounds, int length)
{
  if (is_real(bounds)) {
    Shifts same;
    for (const AdiShift &s : adi_shifts(type, bounds, length)) same.push_back({s[0], s[1], s[2]});
    return same;
  }
  check(bounds);
  if (length < 1) throw std::invalid_argument("a cycle has one shift at least");
  const double unit = unit_of(bounds);
  return in_units(best_shifts(type, in_units(bounds, unit), length), 1 / unit);
}

template <>
double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<ComplexAdiShift> &shifts)
{
  check(bounds);
  const double unit = unit_of(bounds);
  return Reduction(type, in_units(bounds, unit), true)(in_units(shifts, unit));
}

template <>
AdiSumOf<Complex> adi_sum(const AdiBounds &found, int length)
{
  check(found);
  // The terms are those of the ends' sizes.
  AdiBounds sizes;
  for (const SpectralInterval &i : found) {
    const double low = i.offset == 0 ? i.low : std::abs(low_end(i)), high = i.offset == 0 ? i.high : std::abs(high_end(i));
    sizes.push_back({std::min(low, high), std::max(low, high), 0, i.singular});
  }
  const AdiSum sum = adi_sum(sizes, length);
  AdiSumOf<Complex> turned{{}, sum.scale, sum.condition};
  for (const AdiShift &s : sum.shifts) turned.shifts.push_back({s[0], s[1], s[2]});
  if (is_real(found)) return turned;

  const double unit              = unit_of(found);
  const AdiBounds bounds         = in_units(found, unit);
  const auto shifts              = in_units(sum.shifts, unit);
  const auto scales              = adi_sum_scales(shifts, static_cast<int>(bounds.size()));
  std::vector<Complex> points[3] = {{0}, {0}, {0}};
  for (std::size_t k = 0; k < bounds.size(); k++) points[k] = edge(bounds[k], bounds.size() == 2 ? 40 : 8);
  double least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const Complex &x : points[0]) {
    for (const Complex &y : points[1]) {
      for (const Complex &z : points[2]) {
        Complex value = 0;
        for (std::size_t j = 0; j < shifts.size(); j++) {
          const Complex product = (shifts[j][0] + x) * (shifts[j][0] + y) * (bounds.size() == 2 ? 1.0 : shifts[j][0] + z);
          value += scales[j] * (x + y + z) / (product * product);
        }
        if (x + y + z == 0.0) continue;
        least   = std::min(least, std::abs(value));
        largest = std::max(largest, std::abs(value));
      }
    }
  }
  turned.scale     = 2 / (least + largest);
  turned.condition = largest / least;
  return turned;
}

template double adi_sweeps_for<Complex>(AdiType, const AdiBounds &, double);
template std::vector<double> adi_sum_steps<Complex>(const std::vector<ComplexAdiShift> &);
template int adi_cycle_length<Complex>(const AdiBounds &, AdiType);

} // namespace weft
