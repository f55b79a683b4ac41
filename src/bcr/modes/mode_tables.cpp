#include "bcr/modes/mode_tables.hpp"

#include <cmath>

namespace weft::poisson {

bool equal_inside(const LineMatrix &line)
{
  const std::size_t n = line.size();
  if (n < 4) return false;
  const double off = line.upper[1], diagonal = line.diagonal[1];
  if (off == 0) return false;
  const auto equal = [&](double a, double b) { return std::abs(a - b) <= 4e-16 * (std::abs(off) + std::abs(diagonal)); };
  for (std::size_t i = line.periodic ? 0 : 1; i < (line.periodic ? n : n - 1); i++) {
    if (!equal(line.lower[i], off) || !equal(line.upper[i], off) || !equal(line.diagonal[i], diagonal)) return false;
  }
  return true;
}

bool add_mode(const LineMatrix &line, long double shift, ConstantModes &modes)
{
  const std::size_t last = line.size() - 1;
  const long double n = static_cast<long double>(line.n), off = line.upper[1];
  const long double delta = (line.diagonal[1] + shift) / off;
  // |delta| - 2, without losing digits where the diagonal and both couplings cancel
  const long double sign   = delta < 0 ? -1 : 1;
  const long double excess = ((sign * line.diagonal[1] - 2 * static_cast<long double>(off)) + sign * shift) / off;
  if (!(excess > 0)) return false;
  const long double h = excess / 2, size = 1 / (1 + h + std::sqrt(h * (2 + h))), r = -sign * size;
  if (!(-n * std::log(size) >= least_decay)) return false;
  // r^(n-1) and r^(n-2): where the second is out of the range of numbers, so is the first
  const long double last_power = std::pow(size, n - 2) * (r < 0 && line.n % 2 == 1 ? -1 : 1), whole_power = last_power * r;
  // Rows of the ends: what p_i = r^i and s_i = r^(n-1-i) give there, and the residuals of g by g_0, F_0, y_{n-1}, F_{n-1}.
  long double p[2], s[2], residual[2][4] = {};
  if (line.periodic) {
    p[0]           = whole_power + delta + r;
    s[0]           = 1 + delta * whole_power + last_power;
    p[1]           = s[0];
    s[1]           = p[0];
    residual[0][0] = r;
    residual[0][2] = -1;
    residual[1][0] = -1;
  } else {
    const long double first = (line.diagonal[0] + shift) / off, upper = line.upper[0] / off, lower = line.lower[last] / off,
                      end = (line.diagonal[last] + shift) / off;
    p[0]                  = first + upper * r;
    s[0]                  = first * whole_power + upper * last_power;
    p[1]                  = lower * last_power + end * whole_power;
    s[1]                  = lower * r + end;
    // f_0 = -g_0 / r + g_1, and g_1 = (g_0 - F_0) / r
    residual[0][0] = -1 / r - first + (1 - upper) / r;
    residual[0][1] = -(1 - upper) / r;
    // f_{n-1} = delta g_{n-1} + g_{n-2}, and g_{n-2} = (y_{n-1} - F_{n-1}) / r + r y_{n-1}
    residual[1][2] = (1 - lower) * (1 / r + r) + (line.diagonal[1] - static_cast<long double>(line.diagonal[last])) / off;
    residual[1][3] = -(1 - lower) / r;
  }
  const long double determinant = p[0] * s[1] - p[1] * s[0];
  if (!(std::abs(determinant) > 1e-9L * (std::abs(p[0] * s[1]) + std::abs(p[1] * s[0])))) return false;
  modes.root.push_back(static_cast<double>(r));
  modes.gain.push_back(static_cast<double>(-r / off));
  for (int k = 0; k < 4; k++) modes.ends.push_back(static_cast<double>((s[1] * residual[0][k] - s[0] * residual[1][k]) / determinant));
  for (int k = 0; k < 4; k++) modes.ends.push_back(static_cast<double>((p[0] * residual[1][k] - p[1] * residual[0][k]) / determinant));
  return true;
}

} // namespace weft::poisson
