/// Compact schemes A g = B f on a line of unit spacing: derivatives of fourth and sixth order with their closures, and a filter.
/// S. K. Lele, Compact finite difference schemes with spectral-like resolution, J. Comput. Phys. 103 (1992): (2.1.6), (2.1.7), (2.2.6), (2.2.7),
/// (4.1.3), (4.3.2); filters and their rows near ends: D. Gaitonde, M. Visbal, AIAA Journal 38 (2000).
#pragma once
#include <array>
#include <stdexcept>
#include <string>

#include "kernels/compact_stencil.hpp"

namespace compact {

/// A row of A: the coefficients of the rows before, at and after.
using Couplings = std::array<double, 3>;

struct Scheme {
  std::string name;
  int derivative = 1, order = 4; ///< derivative 0: a filter
  Couplings inner{};
  std::vector<Couplings> head, tail; ///< of the first rows, and of the last ones, the last one first
  weft::CompactRows right;           ///< B, to be divided by the spacing to the power `derivative`
};

/// The tail is the head read from the other side: odd derivatives change their sign.
inline void mirror(Scheme &scheme)
{
  const double sign = scheme.derivative == 1 ? -1 : 1;
  for (const Couplings &row : scheme.head) scheme.tail.push_back({row[2], row[1], row[0]});
  scheme.right.tail = scheme.right.head;
  for (auto &row : scheme.right.tail) {
    for (double &weight : row) weight *= sign;
  }
}

inline Scheme first_derivative(int order)
{
  Scheme s{"first derivative", 1, order, {}, {{0, 1, 2}}, {}, {}};
  s.right.head = {{-2.5, 2, 0.5}}; // third order
  if (order == 4) {
    s.inner       = {0.25, 1, 0.25};
    s.right.inner = {-0.75, 0, 0.75};
  } else {
    s.inner       = {1.0 / 3, 1, 1.0 / 3};
    s.right.inner = {-1.0 / 36, -7.0 / 9, 0, 7.0 / 9, 1.0 / 36};
    s.head.push_back({0.25, 1, 0.25}); // fourth
    s.right.head.push_back({-0.75, 0, 0.75});
  }
  return s;
}

inline Scheme second_derivative(int order)
{
  Scheme s{"second derivative", 2, order, {}, {{0, 1, 11}}, {}, {}};
  s.right.head = {{13, -27, 15, -1}}; // third order
  if (order == 4) {
    s.inner       = {0.1, 1, 0.1};
    s.right.inner = {1.2, -2.4, 1.2};
  } else {
    const double a = 12.0 / 11, b = 3.0 / 44;
    s.inner       = {2.0 / 11, 1, 2.0 / 11};
    s.right.inner = {b, a, -2 * (a + b), a, b};
    s.head.push_back({0.1, 1, 0.1});
    s.right.head.push_back({1.2, -2.4, 1.2});
  }
  return s;
}

/// Weights of the filter of order 2 N with parameter alpha, N = 1, 2, 3: what it leaves at wavenumber pi is nothing.
inline std::vector<double> filter_weights(int order, double alpha)
{
  std::vector<double> a; // a[n] is shared by the rows at -n and n
  if (order == 2) a = {0.5 + alpha, 0.5 + alpha};
  if (order == 4) a = {0.625 + 0.75 * alpha, 0.5 + alpha, -0.125 + 0.25 * alpha};
  if (order == 6) a = {(11 + 10 * alpha) / 16, (15 + 34 * alpha) / 32, (-3 + 6 * alpha) / 16, (1 - 2 * alpha) / 32};
  std::vector<double> weights(2 * a.size() - 1);
  for (std::size_t n = 0; n < a.size(); n++) weights[a.size() - 1 - n] = weights[a.size() - 1 + n] = n == 0 ? a[0] : a[n] / 2;
  return weights;
}

/// Rows near an end are filtered by lower orders, the first one not at all.
inline Scheme filter(int order, double alpha)
{
  Scheme s{"filter", 0, order, {alpha, 1, alpha}, {{0, 1, 0}}, {}, {}};
  s.right.inner = filter_weights(order, alpha);
  s.right.head  = {{1}};
  for (int lower = 2; lower < order; lower += 2) {
    s.head.push_back({alpha, 1, alpha});
    s.right.head.push_back(filter_weights(lower, alpha));
  }
  return s;
}

/// derivative 1 or 2, or 0 for the filter; order 4 or 6. Throws std::invalid_argument on others.
inline Scheme make_scheme(int derivative, int order, double alpha = 0.45)
{
  if (order != 4 && order != 6) throw std::invalid_argument("schemes of order 4 and 6 are offered, not of order " + std::to_string(order));
  if (derivative == 0 && !(alpha > -0.5 && alpha < 0.5)) throw std::invalid_argument("the filter's parameter lies between -1/2 and 1/2");
  Scheme scheme = derivative == 0 ? filter(order, alpha) : derivative == 1 ? first_derivative(order) : second_derivative(order);
  mirror(scheme);
  return scheme;
}

} // namespace compact
