#include "adi/shift_samples.hpp"

namespace weft {

using namespace adi;

bool adi_apart_from_zero(const AdiBounds &bounds)
{
  if (sum_of_lows(bounds) > 0) return true;
  if (std::all_of(bounds.begin(), bounds.end(), [](const SpectralInterval &i) { return i.offset == 0; })) return false;
  // Sums of convex regions are convex: some straight line through 0 has all of them on its far side.
  constexpr int directions = 360;
  for (int n = 0; n < directions; n++) {
    const double angle = 2 * std::acos(-1.0) * n / directions, c = std::cos(angle), s = std::sin(angle);
    double nearest = 0;
    for (const SpectralInterval &i : bounds) {
      const double wide = std::abs(c) * (i.high - i.low) / 2, tall = std::abs(s) * i.skew;
      nearest += c * (i.low + i.high) / 2 + s * i.offset - (i.box ? wide + tall : std::hypot(wide, tall));
    }
    if (nearest > 0) return true;
  }
  return false;
}

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

std::vector<double> samples(const SpectralInterval &interval, double floor, int count)
{
  const double low = std::max(interval.low, floor), ratio = interval.high > low ? interval.high / low : 1;
  std::vector<double> values{interval.low};
  if (interval.singular) values.push_back(0);
  for (int k = 0; k < count; k++) values.push_back(low * std::pow(ratio, static_cast<double>(k) / (count - 1)));
  return values;
}

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

/// Or any number above `enough` if it is more.
double worst(AdiType type, const AdiBounds &bounds, const std::vector<AdiShift> &shifts,
             double enough = std::numeric_limits<double>::infinity())
{
  const double floor = 1e-3 * common(bounds).low;
  const bool two     = bounds.size() == 2;
  if (two && type != AdiType::douglas_rachford) {
    const int count = is_real(bounds) ? 200 : 30;
    return worst_of_two(bounds, shifts, {ellipse(bounds[0], floor, count), ellipse(bounds[1], floor, count)});
  }
  if (is_real(bounds)) {
    std::vector<double> points[3] = {{0}, {0}, {0}};
    for (std::size_t k = 0; k < bounds.size(); k++) points[k] = samples(bounds[k], floor, two ? 200 : 24);
    return worst_at(type, two, shifts, points, enough);
  }
  std::vector<Complex> points[3] = {{0}, {0}, {0}};
  for (std::size_t k = 0; k < bounds.size(); k++) {
    points[k]               = ellipse(bounds[k], floor, two ? 20 : 4);
    const std::size_t upper = points[k].size();
    for (std::size_t n = 0; n < upper && k > 0; n++) points[k].push_back(std::conj(points[k][n])); // half of the first part is enough
  }
  return worst_at(type, two, shifts, points, enough);
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
      const double leaves = worst(type, bounds, shifts, least);
      if (leaves < least) least = leaves, best = std::move(shifts);
    }
  }
  return best;
}

} // namespace

template <>
std::vector<AdiShift> adi_shifts(AdiType type, const AdiBounds &bounds, int length)
{
  check(bounds);
  if (length < 1) throw std::invalid_argument("a cycle has one shift at least");
  const double unit      = unit_of(bounds);
  const AdiBounds scaled = in_units(bounds, unit);
  return in_units(is_real(bounds) ? shifts_of_intervals(type, scaled, length) : shifts_of_ellipses(type, scaled, length), 1 / unit);
}

template <>
double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<AdiShift> &shifts)
{
  check(bounds);
  const double unit = unit_of(bounds);
  return worst(type, in_units(bounds, unit), in_units(shifts, unit));
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

template <>
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

template double adi_sweeps_for<double>(AdiType, const AdiBounds &, double);
template std::vector<double> adi_sum_steps<double>(const std::vector<AdiShift> &);
template int adi_cycle_length<double>(const AdiBounds &, AdiType);

} // namespace weft
