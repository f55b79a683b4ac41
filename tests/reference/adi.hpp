/// Plain serial twin of AdiSolver: dense matrices, one rank.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

namespace weft::reference {

using Dense  = std::vector<std::vector<double>>;
using Vector = std::vector<double>;

inline Vector residual(const Dense &a, const Vector &b, const Vector &x)
{
  Vector r = b;
  for (std::size_t i = 0; i < b.size(); i++) {
    for (std::size_t j = 0; j < b.size(); j++) r[i] -= a[i][j] * x[j];
  }
  return r;
}

/// Gaussian elimination with partial pivoting.
inline Vector solve_dense(Dense a, Vector b)
{
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; i++) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; i++) {
      const double factor = a[i][k] / a[k][k];
      if (factor == 0) continue;
      for (std::size_t j = k; j < n; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; j++) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

inline Dense transpose(const Dense &a)
{
  Dense t = a;
  for (std::size_t i = 0; i < a.size(); i++) {
    for (std::size_t j = 0; j < a.size(); j++) t[i][j] = a[j][i];
  }
  return t;
}

/// The parts of a matrix on a box of n[0] * n[1] * n[2] nodes with `components` unknowns each.
struct AdiTwin {
  Dense a;
  std::array<Dense, 3> parts;
  std::vector<bool> fixed;
  std::vector<std::size_t> directions;

  AdiTwin(const Dense &matrix, const std::array<std::size_t, 3> &n, std::size_t components, const std::array<bool, 3> &ring)
      : a(matrix), fixed(matrix.size(), true)
  {
    const std::size_t rows = a.size();
    for (std::size_t k = 0; k < 3; k++) {
      if (n[k] > 1 || (k == 0 && n[0] * n[1] * n[2] == 1)) directions.push_back(k);
      parts[k].assign(rows, Vector(rows));
    }
    const auto place = [&](std::size_t i) {
      const std::size_t node = i / components;
      return std::array<std::size_t, 4>{node % n[0], node / n[0] % n[1], node / n[0] / n[1], i % components};
    };
    // The direction along which two unknowns are neighbours, and the side; 3 for none.
    const auto neighbours = [&](std::size_t i, std::size_t j) {
      const auto p = place(i), q = place(j);
      std::size_t found = 3, differences = 0;
      int side = 0;
      for (std::size_t k = 0; k < 4; k++) {
        if (p[k] == q[k]) continue;
        differences++;
        if (k == 3) continue;
        const bool closed = ring[k] && n[k] > 2;
        if (q[k] + 1 == p[k] || (closed && p[k] == 0 && q[k] + 1 == n[k])) found = k, side = 0;
        if (p[k] + 1 == q[k] || (closed && q[k] == 0 && p[k] + 1 == n[k])) found = k, side = 1;
      }
      if (differences != 1) found = 3;
      return std::pair{found, side};
    };

    std::vector<std::array<std::array<double, 2>, 3>> couplings(rows);
    std::array<double, 3> strength{}, count{};
    double sign = 0;
    for (std::size_t i = 0; i < rows; i++) {
      for (std::size_t j = 0; j < rows; j++) {
        if (i == j || a[i][j] == 0) continue;
        fixed[i]             = false;
        const auto [k, side] = neighbours(i, j);
        if (k == 3) continue;
        parts[k][i][j]                                  = a[i][j];
        couplings[i][k][static_cast<std::size_t>(side)] = std::abs(a[i][j]);
        strength[k] += std::abs(a[i][j]);
        count[k]++;
      }
      if (!fixed[i]) sign += a[i][i] > 0 ? 1 : -1;
    }
    sign              = sign < 0 ? -1 : 1;
    const auto excess = [&](std::size_t i) {
      double e = sign * a[i][i];
      for (std::size_t k : directions) e -= couplings[i][k][0] + couplings[i][k][1];
      return e;
    };
    double least = HUGE_VAL;
    for (std::size_t i = 0; i < rows; i++) {
      if (!fixed[i]) least = std::min(least, excess(i));
    }
    std::array<std::vector<double>, 3> slab; // the least excess of each, of each component
    const auto in_slab = [&](std::size_t i, std::size_t k) { return place(i)[k] * components + i % components; };
    for (std::size_t k : directions) {
      slab[k].assign(n[k] * components, HUGE_VAL);
      for (std::size_t i = 0; i < rows; i++) {
        double &there = slab[k][in_slab(i, k)];
        if (!fixed[i]) there = std::min(there, excess(i) - least);
      }
    }
    for (std::size_t i = 0; i < rows; i++) {
      std::array<double, 3> weight{}, term{};
      double sum = 0, terms = 0;
      for (std::size_t k : directions) {
        const double l = couplings[i][k][0], u = couplings[i][k][1];
        if (l == 0 && u == 0)
          weight[k] = 2 * strength[k] / count[k];
        else if (l == 0 || u == 0)
          weight[k] = l + u;
        term[k] = slab[k][in_slab(i, k)];
        terms += term[k];
        if (weight[k] > 0) weight[k] = term[k] + 1e-10 * weight[k];
        sum += weight[k];
      }
      const double d = static_cast<double>(directions.size()), whole = excess(i) - least;
      for (std::size_t k : directions) {
        const double left = std::max(0.0, whole - terms) * (sum > 0 ? weight[k] / sum : 1 / d);
        const double more = term[k] * (terms > whole ? whole / terms : 1) + left;
        parts[k][i][i]    = fixed[i] ? a[i][i] : sign * (couplings[i][k][0] + couplings[i][k][1] + least / d + more);
      }
    }
    sign_ = sign;
  }

  /// x += scale S_last^-1 .. S_first^-1 r. Of a sum, `first` and other terms: fixed rows take part in the first one only, as r / diagonal.
  void sweep(const std::vector<int> &order, const std::array<double, 3> &shift, double scale, Vector r, Vector &x, bool transposed,
             bool sum = false, bool first = false) const
  {
    const Vector whole = r;
    scale *= order.size() % 2 == 0 ? sign_ : 1; // -A has the shifted parts of A, each with another sign
    for (std::size_t i = 0; sum && i < r.size(); i++) r[i] = fixed[i] ? 0 : r[i];
    for (int k : order) {
      Dense s = parts[static_cast<std::size_t>(k)];
      for (std::size_t i = 0; i < s.size(); i++) {
        if (!fixed[i])
          s[i][i] += sign_ * shift[static_cast<std::size_t>(k)];
        else if (order.size() > 1 && static_cast<std::size_t>(k) != directions[0])
          s[i][i] = static_cast<std::size_t>(k) == directions[1] ? scale : 1;
      }
      r = solve_dense(transposed ? transpose(s) : s, r);
      for (std::size_t i = 0; sum && i < r.size(); i++) r[i] = fixed[i] ? 0 : r[i];
    }
    for (std::size_t i = 0; i < x.size(); i++) {
      if (sum && fixed[i])
        x[i] += first ? whole[i] / a[i][i] : 0;
      else
        x[i] += scale * r[i];
    }
  }

private:
  double sign_ = 1;
};

} // namespace weft::reference
