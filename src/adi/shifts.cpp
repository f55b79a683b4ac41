#include "adi/shifts.hpp"

#include <algorithm>
#include <cmath>
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

std::vector<double> samples(const SpectralInterval &interval, double floor, int count)
{
  const double low = std::max(interval.low, floor), ratio = interval.high > low ? interval.high / low : 1;
  std::vector<double> values{interval.low};
  for (int k = 0; k < count; k++) values.push_back(low * std::pow(ratio, static_cast<double>(k) / (count - 1)));
  return values;
}

} // namespace

std::vector<AdiShift> adi_shifts(AdiType type, const AdiBounds &bounds, int length)
{
  check(bounds);
  if (length < 1) throw std::invalid_argument("a cycle has one shift at least");
  if (bounds.size() == 2 && type != AdiType::douglas_rachford) return pairs(bounds[0], bounds[1], length);
  const SpectralInterval all = common(bounds);
  auto shifts                = pairs(all, all, length);
  for (AdiShift &s : shifts) s = {s[0], s[0], s[0]};
  return shifts;
}

double adi_reduction(AdiType type, const AdiBounds &bounds, const std::vector<AdiShift> &shifts)
{
  check(bounds);
  const bool two     = bounds.size() == 2;
  const double floor = 1e-3 * common(bounds).low;
  const int count    = two ? 200 : 40;
  const auto h = samples(bounds[0], floor, count), v = samples(bounds[1], floor, count);
  const auto w = two ? std::vector<double>{0} : samples(bounds[2], floor, count);
  double worst = 0;
  for (double x : h) {
    for (double y : v) {
      for (double z : w) {
        double error = 1;
        for (const AdiShift &s : shifts) {
          const double third = two ? 1 : s[2] + z, p = s[0];
          double scale = two ? s[0] + s[1] : 2 * p * p;
          if (type == AdiType::douglas_rachford) scale = two ? p : p * p;
          error *= 1 - scale * (x + y + z) / ((s[0] + x) * (s[1] + y) * third);
        }
        worst = std::max(worst, std::abs(error));
      }
    }
  }
  return worst;
}

std::vector<double> adi_sum_scales(const std::vector<AdiShift> &shifts, int directions)
{
  std::vector<double> sorted, scales;
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
    scales.push_back(2 * (step > 0 ? step : 1) / same * std::pow(s[0], 2 * directions - 1));
  }
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

AdiSum adi_sum(const AdiBounds &bounds, int length)
{
  check(bounds);
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
  return best;
}

int adi_cycle_length(const AdiBounds &bounds)
{
  check(bounds);
  const AdiBounds two = bounds.size() == 2 ? bounds : AdiBounds{common(bounds), common(bounds)};
  int length          = 1;
  while (length < 16 && adi_reduction(AdiType::peaceman_rachford, two, adi_shifts(AdiType::peaceman_rachford, two, length)) > 0.1) length++;
  return length;
}

} // namespace weft
