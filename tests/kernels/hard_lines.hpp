/// The ill-conditioned and pivot-breaking tridiagonal matrices that stable solvers are measured with: the sixteen of Chang, Stratton, Kim and
/// Hwu, "A scalable, numerically stable, high-performance tridiagonal solver using GPUs" (SC 2012), table 1.
#pragma once
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace weft::test {

struct HardLine {
  std::string name;
  std::vector<double> lower, diagonal, upper;

  HardLine(const std::string &what, std::size_t n) : name(what), lower(n), diagonal(n), upper(n) {}
};

/// Tridiagonal with the given singular values: random reflections from both sides make a full matrix, Householder's reduction a banded one.
inline HardLine with_singular_values(const std::string &name, const std::vector<double> &values, std::mt19937 &random)
{
  const std::size_t n = values.size();
  std::vector<double> a(n * n, 0), v(n), product(n);
  for (std::size_t i = 0; i < n; i++) a[i * n + i] = values[i];
  std::normal_distribution<double> normal;
  // a -= 2 v (v^T a) / v^T v on the rows and columns where v is not zero, or the same from the right
  const auto reflect = [&](std::size_t from, bool left) {
    double square = 0;
    for (std::size_t i = from; i < n; i++) square += v[i] * v[i];
    if (square == 0) return;
    product.assign(n, 0);
    for (std::size_t i = left ? from : 0; i < n; i++) {
      if (left) {
        for (std::size_t j = 0; j < n; j++) product[j] += v[i] * a[i * n + j];
      } else {
        for (std::size_t j = from; j < n; j++) product[i] += a[i * n + j] * v[j];
      }
    }
    for (std::size_t i = left ? from : 0; i < n; i++) {
      const double factor = 2 / square * (left ? v[i] : product[i]);
      for (std::size_t j = left ? 0 : from; j < n; j++) a[i * n + j] -= factor * (left ? product[j] : v[j]);
    }
  };
  for (int k = 0; k < 6; k++) {
    for (double &x : v) x = normal(random);
    reflect(0, k % 2 == 0);
  }
  for (std::size_t k = 0; k + 2 < n; k++) {
    for (bool left : {true, false}) { // zeros below the subdiagonal of column k, then beyond the superdiagonal of row k
      const std::size_t first = k + 1;
      double square           = 0;
      for (std::size_t i = first; i < n; i++) {
        v[i] = left ? a[i * n + k] : a[k * n + i];
        square += v[i] * v[i];
      }
      v[first] += std::copysign(std::sqrt(square), v[first]);
      reflect(first, left);
    }
  }
  HardLine line(name, n);
  for (std::size_t i = 0; i < n; i++) {
    line.diagonal[i] = a[i * n + i];
    if (i > 0) line.lower[i] = a[i * n + i - 1];
    if (i + 1 < n) line.upper[i] = a[i * n + i + 1];
  }
  return line;
}

inline std::vector<HardLine> hard_lines(std::size_t n)
{
  std::mt19937 random(2012);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<HardLine> all;
  const auto add = [&](const std::string &name, auto diagonal, auto coupling) -> HardLine & {
    HardLine line(name, n);
    for (std::size_t i = 0; i < n; i++) {
      line.diagonal[i] = diagonal();
      if (i > 0) line.lower[i] = coupling();
      if (i + 1 < n) line.upper[i] = coupling();
    }
    return all.emplace_back(line);
  };
  const auto any       = [&] { return uniform(random); };
  const auto always    = [](double value) { return [value] { return value; }; };
  const double kappa   = 1e15;
  const auto geometric = [&](std::size_t i) { return std::pow(kappa, -static_cast<double>(i) / static_cast<double>(n - 1)); };
  const auto singular  = [&](const std::string &name, auto value) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; i++) values[i] = value(i);
    all.push_back(with_singular_values(name, values, random));
  };

  add("1 random", any, any);
  add("2 diagonal 1e8", always(1e8), any);
  HardLine &lesp = add("3 lesp", any, any);
  for (std::size_t i = 0; i < n; i++) {
    lesp.diagonal[i] = -(2 * static_cast<double>(i) + 5);
    lesp.lower[i]    = i > 0 ? 1 / static_cast<double>(i + 1) : 0;
    lesp.upper[i]    = i + 1 < n ? static_cast<double>(i + 2) : 0;
  }
  add("4 random, one lower 1e-50 as large", any, any).lower[n / 2] *= 1e-50;
  add("5 random, half of the couplings zero", any, [&] { return any() < 0 ? 0.0 : any(); });
  add("6 diagonal 64", always(64), any);
  HardLine &kms   = add("7 inverse of kms(0.5)", always(5.0 / 3), always(-2.0 / 3));
  kms.diagonal[0] = kms.diagonal[n - 1] = 4.0 / 3;
  singular("8 singular values 1 but one", [&](std::size_t i) { return i + 1 < n ? 1 : 1 / kappa; });
  singular("9 singular values geometric", geometric);
  singular("10 singular values 1e-15 but one", [&](std::size_t i) { return i > 0 ? 1 / kappa : 1; });
  singular("11 singular values arithmetic",
           [&](std::size_t i) { return 1 - static_cast<double>(i) / static_cast<double>(n - 1) * (1 - 1 / kappa); });
  HardLine &small = add("12 random, lower 1e-50 as large", any, any);
  for (double &l : small.lower) l *= 1e-50;
  HardLine &dorr     = add("13 dorr(1e-4)", any, any);
  const double theta = 1e-4, h = 1 / static_cast<double>(n + 1), term = theta / (h * h);
  for (std::size_t k = 0; k < n; k++) {
    const double slope = (0.5 - static_cast<double>(k + 1) * h) / h;
    const bool half    = k < (n + 1) / 2;
    double lower = -term - (half ? 0 : -slope), upper = -term - (half ? slope : 0);
    dorr.diagonal[k] = -(lower + upper);
    dorr.lower[k]    = k > 0 ? lower : 0;
    dorr.upper[k]    = k + 1 < n ? upper : 0;
  }
  add("14 diagonal 1e-8", always(1e-8), any);
  HardLine &clement = add("15 clement", always(0), any);
  for (std::size_t i = 0; i < n; i++) {
    clement.lower[i] = i > 0 ? static_cast<double>(n - i) : 0;
    clement.upper[i] = i + 1 < n ? static_cast<double>(i + 1) : 0;
  }
  add("16 diagonal 0", always(0), any);
  return all;
}

} // namespace weft::test
