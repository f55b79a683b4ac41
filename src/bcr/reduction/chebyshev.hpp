/// The polynomials of cyclic reduction (Buzbee, Golub, Nielson, SIAM J. Numer. Anal. 7 (1970) 627):
///   B^(0) = B,   B^(k) = -2 T_n(B / 2) = -prod_l (B - 2 cos(theta_l) I),   theta_l = (l - 1/2) pi / n,   n = 2^k
#pragma once
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "line/line_layout.hpp"

namespace weft::poisson {

/// 2 cos(pi numerator / denominator), exact where it is 0.
inline double two_cos(Index numerator, Index denominator)
{
  if (2 * numerator == denominator) return 0;
  return static_cast<double>(
      2 * std::cos(std::numbers::pi_v<long double> * static_cast<long double>(numerator) / static_cast<long double>(denominator)));
}

/// 2 cos(theta_l), l = 1 .. n.
inline double chebyshev_root(Index l, Index n)
{
  return two_cos(2 * l - 1, 2 * n);
}

/// B^(k) has this sign before its product of factors.
inline double sign_of_level(int k)
{
  return k == 0 ? 1 : -1;
}

/// alpha_l = s_k (-1)^(l-1) sin(theta_l) / n of [B^(k)]^-1 = sum_l alpha_l (B - 2 cos(theta_l) I)^-1 (Sweet, SIAM J. Sci. Stat. Comput. 9
/// (1988) 761; Gallopoulos and Saad, Parallel Comput. 10 (1989) 143).
inline double fraction_weight(int k, Index l)
{
  const auto n            = static_cast<long double>(Index(1) << k);
  const long double theta = (static_cast<long double>(l) - 0.5L) * std::numbers::pi_v<long double> / n;
  return static_cast<double>(sign_of_level(k) * (l % 2 ? 1 : -1) * std::sin(theta) / n);
}

/// Orders numbers so that each is as far as can be from those before it (Leja): products over the first few of them stay of order one.
inline std::vector<double> leja_order(const std::vector<double> &values)
{
  std::vector<double> order;
  std::vector<double> distance(values.size(), 0); // log of the product of distances to those chosen
  std::vector<bool> chosen(values.size(), false);
  for (std::size_t step = 0; step < values.size(); step++) {
    std::size_t best = values.size();
    for (std::size_t i = 0; i < values.size(); i++) {
      if (chosen[i]) continue;
      const bool better =
          best == values.size() || (step == 0 ? std::abs(values[i]) > std::abs(values[best]) : distance[i] > distance[best]);
      if (better) best = i;
    }
    chosen[best] = true;
    order.push_back(values[best]);
    for (std::size_t i = 0; i < values.size(); i++) {
      distance[i] += std::log(std::abs(values[i] - values[best]) + std::numeric_limits<double>::min());
    }
  }
  return order;
}

/// m where n = 2^m, or -1.
inline int exact_log2(Index n)
{
  int m = 0;
  while ((Index(1) << m) < n) m++;
  return (Index(1) << m) == n ? m : -1;
}

} // namespace weft::poisson
