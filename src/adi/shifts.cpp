#include "adi/shifts.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <stdexcept>

namespace weft {

namespace {

/// dn(z K | k) for 0 <= z <= 1/2 from the complementary modulus k', by the arithmetic-geometric mean (Abramowitz and Stegun 16.4, 17.6). The
/// other half follows from dn((1 - z) K) = k' / dn(z K), where the quotient below would lose its digits.
double dn(double z, double complementary)
{
  if (z > 0.5) return complementary / dn(1 - z, complementary);
  constexpr int most = 32;
  double a[most] = {1}, c[most] = {std::sqrt((1 - complementary) * (1 + complementary))}, b = complementary;
  int n = 0;
  while (n + 1 < most && std::abs(c[n]) > std::numeric_limits<double>::epsilon() * a[n]) {
    a[n + 1] = (a[n] + b) / 2;
    c[n + 1] = (a[n] - b) / 2;
    b        = std::sqrt(a[n] * b);
    n++;
  }
  if (n == 0) return 1;
  const double pi = std::acos(-1.0);
  double phi = std::ldexp(z * pi / 2, n), before = phi; // 2^n a_n u with u = z K = z pi / (2 a_n)
  for (; n > 0; n--) {
    before = phi;
    phi    = (phi + std::asin(c[n] / a[n] * std::sin(phi))) / 2;
  }
  return std::cos(phi) / std::cos(before - phi);
}

/// The fractional linear map that takes -alpha, -1, 1 to `from`.
struct Mobius {
  double a, b, c, d;

  Mobius(double alpha, const double (&to)[3])
  {
    // (z + alpha)(-1 - 1) / ((z - 1)(-1 + alpha)) = (w - to0)(to1 - to2) / ((w - to2)(to1 - to0)), solved for w.
    const double left = -2 / (alpha - 1), right = (to[1] - to[2]) / (to[1] - to[0]);
    a = left * to[2] - right * to[0];
    b = left * alpha * to[2] + right * to[0];
    c = left - right;
    d = left * alpha + right;
  }
  double operator()(double z) const { return (a * z + b) / (c * z + d); }
};

/// Zolotarev's points for [a, b] and [c, d]: pairs (p, q), p for the denominators of the first part, q for those of the second.
std::vector<AdiShift> pairs(SpectralInterval first, SpectralInterval second, int length)
{
  // The map needs intervals, not points.
  const double least = 1e-6 * std::max({std::abs(first.high), std::abs(second.high), first.low + second.low});
  for (SpectralInterval *i : {&first, &second}) i->high = std::max(i->high, i->low + least);
  const double a = first.low, b = first.high, c = second.low, d = second.high;
  const double gamma = (a + d) * (b + c) / ((a + c) * (b + d)), alpha = -1 + 2 * gamma + 2 * std::sqrt(gamma * (gamma - 1));
  std::vector<AdiShift> shifts;
  if (alpha <= 1 + 1e-12) { // as good as a point
    shifts.assign(static_cast<std::size_t>(length), {(c + d) / 2, (a + b) / 2, 0});
    return shifts;
  }
  const Mobius map(alpha, {-d, -c, a});
  for (int j = 0; j < length; j++) {
    const double t = alpha * dn((j + 0.5) / length, 1 / alpha);
    // Rounding must not carry a shift out of the interval that it is for.
    shifts.push_back({std::clamp(-map(-t), c, d), std::clamp(map(t), a, b), 0});
  }
  return shifts;
}

/// The interval for parts that share their shifts.
SpectralInterval common(const AdiBounds &bounds)
{
  SpectralInterval all{0, bounds[0].high};
  for (const SpectralInterval &i : bounds) {
    all.low += i.low / static_cast<double>(bounds.size());
    all.high = std::max(all.high, i.high);
  }
  return all;
}

void check(const AdiBounds &bounds)
{
  double low = 0;
  bool fine  = bounds.size() == 2 || bounds.size() == 3;
  for (const SpectralInterval &i : bounds) {
    fine = fine && std::isfinite(i.low) && std::isfinite(i.high) && i.low <= i.high;
    low += i.low;
  }
  if (!fine) throw std::invalid_argument("bounds of the spectra must be finite, 2 or 3 of them, the lower one first");
  if (!(low > 0)) throw std::invalid_argument("the lower bounds of the spectra must add up to more than 0");
}

/// A power of two of the size of the largest number in the bounds: products of them in this unit are numbers too.
double unit_of(const AdiBounds &bounds)
{
  double largest = 0;
  for (const SpectralInterval &i : bounds) largest = std::max({largest, std::abs(i.low), std::abs(i.high), i.skew});
  return std::exp2(std::floor(std::log2(largest)));
}

AdiBounds in_units(AdiBounds bounds, double unit)
{
  for (SpectralInterval &i : bounds) i = {i.low / unit, i.high / unit, i.skew / unit, i.singular};
  return bounds;
}

std::vector<AdiShift> in_units(std::vector<AdiShift> shifts, double unit)
{
  for (AdiShift &s : shifts) s = {s[0] / unit, s[1] / unit, s[2] / unit};
  return shifts;
}

bool is_real(const AdiBounds &bounds)
{
  return std::all_of(bounds.begin(), bounds.end(), [](const SpectralInterval &i) { return i.skew == 0; });
}

std::vector<double> samples(const SpectralInterval &interval, double floor, int count)
{
  const double low = std::max(interval.low, floor), ratio = interval.high > low ? interval.high / low : 1;
  std::vector<double> values{interval.low};
  if (interval.singular) values.push_back(0);
  for (int k = 0; k < count; k++) values.push_back(low * std::pow(ratio, static_cast<double>(k) / (count - 1)));
  return values;
}

using Complex = std::complex<double>;

/// Points on the upper half of the ellipse: most near its lower end, where shifts are least.
std::vector<Complex> ellipse(const SpectralInterval &part, double floor, int count)
{
  const double middle = (part.low + part.high) / 2, half = (part.high - part.low) / 2;
  std::vector<Complex> points;
  for (double x : samples(part, floor, count)) {
    const double at = x >= part.low && half > 0 ? std::min(std::abs(x - middle) / half, 1.0) : 1;
    points.emplace_back(x, part.skew * std::sqrt((1 - at) * (1 + at)));
  }
  for (int k = 0; k <= count && part.skew > 0; k++) {
    const double angle = std::acos(-1.0) * static_cast<double>(k) / (half > 0 ? count : 2 * count);
    points.emplace_back(middle - half * std::cos(angle), part.skew * std::sin(angle));
  }
  return points;
}

/// What Peaceman and Rachford's cycle leaves in two dimensions, where the parts count one by one.
double worst_of_two(const AdiBounds &bounds, const std::vector<AdiShift> &shifts, double floor)
{
  const int count = is_real(bounds) ? 200 : 30;
  double worst[2] = {0, 0}, null[2] = {0, 0};
  const auto leaves = [&](std::size_t k, const Complex &z) {
    double squared = 1;
    for (const AdiShift &s : shifts) squared *= std::norm(s[1 - k] - z) / std::norm(s[k] + z);
    return squared;
  };
  for (std::size_t k : {std::size_t(0), std::size_t(1)}) {
    for (const Complex &z : ellipse(bounds[k], floor, count)) {
      if (z == 0.0 && bounds[k].singular)
        null[k] = leaves(k, z);
      else
        worst[k] = std::max(worst[k], leaves(k, z));
    }
  }
  return std::sqrt(std::max({worst[0] * worst[1], null[0] * worst[1], worst[0] * null[1]}));
}

/// What a cycle of any scheme leaves at any points of the parts.
template <class Number>
double worst_at(AdiType type, bool two, const std::vector<AdiShift> &shifts, const std::vector<Number> (&points)[3])
{
  double worst = 0;
  for (const Number &x : points[0]) {
    for (const Number &y : points[1]) {
      for (const Number &z : points[2]) {
        double squared = x + y + z == Number(0) ? 0 : 1; // a null space has no errors
        for (const AdiShift &s : shifts) {
          const double p       = s[0];
          const Number product = (s[0] + x) * (s[1] + y) * (two ? Number(1) : p + z);
          double scale         = two ? s[0] + s[1] : 2 * p * p;
          if (type == AdiType::douglas_rachford) scale = two ? p : p * p;
          squared *= std::norm(product - scale * (x + y + z)) / std::norm(product);
        }
        worst = std::max(worst, squared);
      }
    }
  }
  return std::sqrt(worst);
}

double worst(AdiType type, const AdiBounds &bounds, const std::vector<AdiShift> &shifts)
{
  const double floor = 1e-3 * common(bounds).low;
  const bool two     = bounds.size() == 2;
  if (two && type != AdiType::douglas_rachford) return worst_of_two(bounds, shifts, floor);
  if (is_real(bounds)) {
    std::vector<double> points[3] = {{0}, {0}, {0}};
    for (std::size_t k = 0; k < bounds.size(); k++) points[k] = samples(bounds[k], floor, two ? 200 : 24);
    return worst_at(type, two, shifts, points);
  }
  std::vector<Complex> points[3] = {{0}, {0}, {0}};
  for (std::size_t k = 0; k < bounds.size(); k++) {
    points[k]               = ellipse(bounds[k], floor, two ? 20 : 4);
    const std::size_t upper = points[k].size();
    for (std::size_t n = 0; n < upper && k > 0; n++) points[k].push_back(std::conj(points[k][n])); // half of the first part is enough
  }
  return worst_at(type, two, shifts, points);
}

/// Those for intervals of the real axis, one for each part or one for all.
std::vector<AdiShift> shifts_of_intervals(AdiType type, const AdiBounds &bounds, int length)
{
  if (bounds.size() == 2 && type != AdiType::douglas_rachford) return pairs(bounds[0], bounds[1], length);
  const SpectralInterval all = common(bounds);
  auto shifts                = pairs(all, all, length);
  for (AdiShift &s : shifts) s = {s[0], s[0], s[0]};
  return shifts;
}

/// The best ones among those for intervals that end anywhere from the lower end of the ellipses to where one sweep is a small step.
std::vector<AdiShift> shifts_of_ellipses(AdiType type, const AdiBounds &bounds, int length)
{
  double low = common(bounds).low, radius = low;
  for (const SpectralInterval &i : bounds) radius = std::max(radius, std::hypot(i.high, i.skew));
  const bool two   = bounds.size() == 2 && type != AdiType::douglas_rachford;
  const double end = two ? radius : std::min(radius * radius / low, 100 * radius);
  const int ends   = two || length == 1 ? 12 : 6;
  std::vector<AdiShift> best;
  double least = std::numeric_limits<double>::infinity();
  for (int from = 0; from <= ends; from++) {
    for (int to = from; to <= (length == 1 ? from : ends); to++) {
      AdiBounds intervals;
      for (const SpectralInterval &part : bounds) {
        const double top = two ? std::max(low, std::hypot(part.high, part.skew)) : end;
        intervals.push_back(
            {low * std::pow(top / low, static_cast<double>(from) / ends), low * std::pow(top / low, static_cast<double>(to) / ends)});
      }
      auto shifts         = shifts_of_intervals(type, intervals, length);
      const double leaves = worst(type, bounds, shifts);
      if (leaves < least) least = leaves, best = std::move(shifts);
    }
  }
  return best;
}

} // namespace

std::vector<AdiShift> adi_shifts(AdiType type, const AdiBounds &bounds, int length)
{
  check(bounds);
  if (length < 1) throw std::invalid_argument("a cycle has one shift at least");
  const double unit      = unit_of(bounds);
  const AdiBounds scaled = in_units(bounds, unit);
  return in_units(is_real(bounds) ? shifts_of_intervals(type, scaled, length) : shifts_of_ellipses(type, scaled, length), 1 / unit);
}

double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<AdiShift> &shifts)
{
  check(bounds);
  const double unit = unit_of(bounds);
  return worst(type, in_units(bounds, unit), in_units(shifts, unit));
}

double adi_sweeps_for(AdiType type, const AdiBounds &bounds, double log_condition)
{
  double low = 0, fewest = std::numeric_limits<double>::infinity();
  for (const SpectralInterval &i : bounds) low += i.low;
  if (!(low > 0)) return fewest;
  for (int length : {1, 4}) {
    const double leaves = adi_reduction(type, bounds, adi_shifts(type, bounds, length));
    if (leaves < 1) fewest = std::min(fewest, length * (std::log(1e8) + log_condition) / -std::log(leaves));
  }
  return fewest;
}

std::vector<double> adi_sum_steps(const std::vector<AdiShift> &shifts)
{
  std::vector<double> sorted, steps;
  for (const AdiShift &s : shifts) sorted.push_back(std::log(s[0]));
  std::sort(sorted.begin(), sorted.end());
  for (const AdiShift &s : shifts) {
    const double at = std::log(s[0]);
    const auto k    = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), at) - sorted.begin());
    const auto same = static_cast<double>(std::count(sorted.begin(), sorted.end(), at));
    // Half the way to either neighbour; at an end, and for a single shift, what a neighbour as far away on the other side would make it.
    const double before = k > 0 ? at - sorted[k - 1] : 0;
    const auto next     = std::upper_bound(sorted.begin(), sorted.end(), at);
    const double after  = next != sorted.end() ? *next - at : 0;
    const double step   = before > 0 && after > 0 ? (before + after) / 2 : std::max(before, after);
    steps.push_back((step > 0 ? step : 1) / same);
  }
  return steps;
}

std::vector<double> adi_sum_scales(const std::vector<AdiShift> &shifts, int directions)
{
  std::vector<double> scales = adi_sum_steps(shifts);
  for (std::size_t j = 0; j < scales.size(); j++) scales[j] *= 2 * std::pow(shifts[j][0], 2 * directions - 1);
  return scales;
}

namespace {

/// The least and the largest eigenvalue of M^-1 A over the bounds.
SpectralInterval sum_spectrum(const AdiBounds &bounds, const std::vector<AdiShift> &shifts, int count)
{
  const bool two     = bounds.size() == 2;
  const double floor = 1e-3 * common(bounds).low;
  const auto h = samples(bounds[0], floor, count), v = samples(bounds[1], floor, count);
  const auto w      = two ? std::vector<double>{0} : samples(bounds[2], floor, count);
  const auto scales = adi_sum_scales(shifts, static_cast<int>(bounds.size()));
  SpectralInterval all{std::numeric_limits<double>::infinity(), 0};
  for (double x : h) {
    for (double y : v) {
      for (double z : w) {
        double sum = 0;
        if (!(x + y + z > 0)) continue;
        for (std::size_t j = 0; j < shifts.size(); j++) {
          const double p = shifts[j][0], product = (p + x) * (p + y) * (two ? 1 : p + z);
          sum += scales[j] / (product * product);
        }
        all = {std::min(all.low, sum * (x + y + z)), std::max(all.high, sum * (x + y + z))};
      }
    }
  }
  return all;
}

} // namespace

AdiSum adi_sum(const AdiBounds &found, int length)
{
  check(found);
  const double unit          = unit_of(found);
  const AdiBounds bounds     = in_units(found, unit);
  const SpectralInterval all = common(bounds);
  const int count            = bounds.size() == 2 ? 40 : 12;
  AdiSum best;
  for (int terms = std::max(length, 1); terms <= std::max(length, 24); terms++) {
    best.condition = std::numeric_limits<double>::infinity();
    // The ends reach beyond the spectrum by some factors each: one term needs no second end.
    for (double below = 1; below >= 1.0 / 64; below /= std::sqrt(2.0)) {
      for (double above = 1.0 / 16; above <= 8; above *= std::sqrt(2.0)) {
        const double low = all.low * below, high = std::max(low * 1.01, all.high * above);
        std::vector<AdiShift> shifts;
        for (int j = 0; j < terms; j++) {
          const double p = high * std::pow(low / high, terms == 1 ? 0.5 : static_cast<double>(j) / (terms - 1));
          shifts.push_back({p, p, p});
        }
        const SpectralInterval spectrum = sum_spectrum(bounds, shifts, count);
        const double condition          = spectrum.high / spectrum.low;
        if (condition < best.condition) best = {shifts, 2 / (spectrum.low + spectrum.high), condition};
      }
    }
    if (length > 0 || best.condition <= 2.5) break;
  }
  best.shifts = in_units(best.shifts, 1 / unit);
  return best;
}

int adi_cycle_length(const AdiBounds &bounds, AdiType type)
{
  check(bounds);
  const int longest = is_real(bounds) ? 32 : bounds.size() == 2 ? 8 : 4;
  double rates[33], best = 0;
  for (int length = 1; length <= longest; length++) {
    const double leaves = adi_reduction(type, bounds, adi_shifts(type, bounds, length));
    if (leaves <= 0.1) return length;
    rates[length] = -std::log(leaves) / length;
    best          = std::max(best, rates[length]);
  }
  int length = 1;
  while (rates[length] < 0.9 * best) length++;
  return length;
}

} // namespace weft
