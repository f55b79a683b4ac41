/// What the files of shifts share: units, and what a cycle leaves at points of the parts. Included by shifts.cpp and complex_shifts.cpp only.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "adi/shifts.hpp"

namespace weft::adi {

using Complex = std::complex<double>;

/// The interval for parts that share their shifts.
inline SpectralInterval common(const AdiBounds &bounds)
{
  SpectralInterval all{0, bounds[0].high};
  for (const SpectralInterval &i : bounds) {
    all.low += i.low / static_cast<double>(bounds.size());
    all.high = std::max(all.high, i.high);
  }
  return all;
}

inline void check(const AdiBounds &bounds)
{
  bool fine = bounds.size() == 2 || bounds.size() == 3;
  for (const SpectralInterval &i : bounds) fine = fine && std::isfinite(i.low) && std::isfinite(i.high) && i.low <= i.high;
  if (!fine) throw std::invalid_argument("bounds of the spectra must be finite, 2 or 3 of them, the lower one first");
  if (!adi_apart_from_zero(bounds)) throw std::invalid_argument("the lower bounds of the spectra must add up to more than 0");
}

/// A power of two of the size of the largest number in the bounds: products of them in this unit are numbers too.
inline double unit_of(const AdiBounds &bounds)
{
  double largest = 0;
  for (const SpectralInterval &i : bounds) largest = std::max({largest, std::abs(i.low), std::abs(i.high), i.skew, std::abs(i.offset)});
  return std::exp2(std::floor(std::log2(largest)));
}

inline AdiBounds in_units(AdiBounds bounds, double unit)
{
  for (SpectralInterval &i : bounds) i = {i.low / unit, i.high / unit, i.skew / unit, i.singular, i.offset / unit, i.box};
  return bounds;
}

template <class Number>
std::vector<AdiShiftOf<Number>> in_units(std::vector<AdiShiftOf<Number>> shifts, double unit)
{
  for (AdiShiftOf<Number> &s : shifts) s = {s[0] / unit, s[1] / unit, s[2] / unit};
  return shifts;
}

inline bool is_real(const AdiBounds &bounds)
{
  return std::all_of(bounds.begin(), bounds.end(), [](const SpectralInterval &i) { return i.skew == 0 && i.offset == 0; });
}

/// Whether all parts are segments, of the real axis or beside it.
inline bool is_narrow(const AdiBounds &bounds)
{
  return std::all_of(bounds.begin(), bounds.end(), [](const SpectralInterval &i) { return i.skew == 0; });
}

/// What Peaceman and Rachford's cycle leaves in two dimensions, where the parts count one by one; or any number above `enough` if it is more. A search
/// begins with the points at which the last one has left most: their numbers are in `at`.
template <class Number>
double worst_of_two(const AdiBounds &bounds, const std::vector<AdiShiftOf<Number>> &shifts, const std::vector<Complex> (&points)[2],
                    double enough = std::numeric_limits<double>::infinity(), std::size_t *at = nullptr)
{
  const std::size_t length   = shifts.size(),
                    first[2] = {at ? *at % points[0].size() : 0, at ? *at / points[0].size() % points[1].size() : 0};
  std::vector<double> real[2], imaginary[2]; // loops over numbers by themselves are what the search takes its time for
  for (std::size_t k : {std::size_t(0), std::size_t(1)}) {
    for (const AdiShiftOf<Number> &s : shifts) {
      real[k].push_back(std::real(s[k]));
      imaginary[k].push_back(std::imag(s[k]));
    }
  }
  const auto leaves = [&](std::size_t k, const Complex &z) {
    const double x = z.real(), y = z.imag(), *const to_re = real[1 - k].data(), *const to_im = imaginary[1 - k].data(),
                 *const from_re = real[k].data(), *const from_im = imaginary[k].data();
    double squared = 1;
    for (std::size_t j = 0; j < length; j++) {
      const double to_x = to_re[j] - x, to_y = to_im[j] - y, from_x = from_re[j] + x, from_y = from_im[j] + y;
      squared *= (to_x * to_x + to_y * to_y) / (from_x * from_x + from_y * from_y);
    }
    return squared;
  };
  const auto is_null = [&](std::size_t k, const Complex &z) { return z == 0.0 && bounds[k].singular; };
  if (at && !is_null(0, points[0][first[0]]) && !is_null(1, points[1][first[1]])) {
    const double left = std::sqrt(leaves(0, points[0][first[0]]) * leaves(1, points[1][first[1]]));
    if (left > enough) return left;
  }
  double worst[2] = {0, 0}, null[2] = {0, 0};
  std::size_t most[2] = {0, 0};
  for (std::size_t k : {std::size_t(0), std::size_t(1)}) {
    for (std::size_t n = 0; n < points[k].size(); n++) {
      const double left = leaves(k, points[k][n]);
      if (is_null(k, points[k][n])) {
        null[k] = left;
      } else if (left > worst[k]) {
        worst[k] = left;
        most[k]  = n;
      }
    }
  }
  if (at) *at = most[0] + points[0].size() * most[1];
  return std::sqrt(std::max({worst[0] * worst[1], null[0] * worst[1], worst[0] * null[1]}));
}

/// What a cycle of any scheme leaves at any points of the parts, or any number above `enough` if it is more. Every shift is one number for all
/// directions, but in two dimensions may be two. A search begins where the last one ended: `at` is a pair of points of the other directions.
///
/// Along the last direction, z, all else is constant: with w the sum of the others' points and a = scale / the product of their S_k,
///     1 - M^-1 A = 1 - a (w + z) / (p + z) = (1 - a) - a (w - p) / (p + z).
template <class Number, class Shift>
double worst_at(AdiType type, bool two, const std::vector<AdiShiftOf<Shift>> &shifts, const std::vector<Number> (&points)[3],
                double enough = std::numeric_limits<double>::infinity(), std::size_t *at = nullptr)
{
  constexpr double infinite       = std::numeric_limits<double>::infinity();
  const std::vector<Number> &last = points[two ? 1 : 2], only{0}, &second = two ? only : points[1];
  const std::size_t count = last.size(), pairs = points[0].size() * second.size(), from = at ? *at % pairs : 0;
  // Real and imaginary parts by themselves: loops over them are what the search for shifts takes its time for.
  std::vector<double> real(shifts.size() * count), imaginary(shifts.size() * count), squared(count);
  for (std::size_t j = 0; j < shifts.size(); j++) {
    for (std::size_t m = 0; m < count; m++) {
      const Number pole = shifts[j][1] + last[m];
      if (pole == Number(0)) return infinite;
      const Complex inverse    = 1.0 / pole;
      real[j * count + m]      = inverse.real();
      imaginary[j * count + m] = inverse.imag();
    }
  }
  double worst = 0;
  for (std::size_t n = 0; n < pairs; n++) {
    const std::size_t pair = (from + n) % pairs;
    const Number x = points[0][pair % points[0].size()], y = second[pair / points[0].size()], w = x + y;
    for (std::size_t m = 0; m < count; m++) squared[m] = w + last[m] == Number(0) ? 0 : 1; // a null space has no errors
    for (std::size_t j = 0; j < shifts.size(); j++) {
      const Shift p = shifts[j][0], q = shifts[j][1];
      Shift scale = two ? p + q : 2.0 * p * p;
      if (type == AdiType::douglas_rachford) scale = two ? p : p * p;
      const Number product = (p + x) * (two ? Number(1) : q + y);
      if (product == Number(0)) return infinite;
      const Complex a = scale / product, slope = -a * (w - q);
      const double at_zero = 1 - a.real(), beside = -a.imag(), rise = slope.real(), turn = slope.imag();
      for (std::size_t m = 0; m < count; m++) {
        const double re = real[j * count + m], im = imaginary[j * count + m];
        const double first = at_zero + rise * re - turn * im, other = beside + rise * im + turn * re;
        squared[m] *= first * first + other * other;
      }
    }
    for (const double one : squared) worst = std::max(worst, one);
    if (std::sqrt(worst) > enough) {
      if (at) *at = pair;
      break;
    }
  }
  return std::sqrt(worst);
}

} // namespace weft::adi

namespace weft {

template <class Number>
double adi_sweeps_for(AdiType type, const AdiBounds &bounds, double log_condition)
{
  double fewest = std::numeric_limits<double>::infinity();
  if (!adi_apart_from_zero(bounds)) return fewest;
  for (int length : {1, 4}) {
    const double leaves = adi_reduction<Number>(type, bounds, adi_shifts<Number>(type, bounds, length));
    if (leaves < 1) fewest = std::min(fewest, length * (std::log(1e8) + log_condition) / -std::log(leaves));
  }
  return fewest;
}

template <class Number>
std::vector<double> adi_sum_steps(const std::vector<AdiShiftOf<Number>> &shifts)
{
  std::vector<double> sorted, steps;
  for (const AdiShiftOf<Number> &s : shifts) sorted.push_back(std::log(std::abs(s[0])));
  std::sort(sorted.begin(), sorted.end());
  for (const AdiShiftOf<Number> &s : shifts) {
    const double at = std::log(std::abs(s[0]));
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

template <class Number>
int adi_cycle_length(const AdiBounds &bounds, AdiType type)
{
  adi::check(bounds);
  // Shifts of ellipses gain little by their number; those of segments, also off the real axis, as long as they need.
  const int longest = adi::is_real(bounds) || (adi::is_narrow(bounds) && bounds.size() == 2) ? 32 : bounds.size() == 2 ? 8 : 4;
  double rates[33], best = 0;
  for (int length = 1; length <= longest; length++) {
    const double leaves = adi_reduction<Number>(type, bounds, adi_shifts<Number>(type, bounds, length));
    if (leaves <= 0.1) return length;
    rates[length] = -std::log(leaves) / length;
    best          = std::max(best, rates[length]);
  }
  int length = 1;
  while (rates[length] < 0.9 * best) length++;
  return length;
}

} // namespace weft
