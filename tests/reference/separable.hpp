/// The serial twin of the direct Poisson methods: the separable operator itself, term by term, and dense elimination for small grids.
#pragma once
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "bcr/direct_solver.hpp"

namespace weft::reference {

/// Calls entry(row, column, value) for every product of coefficients of A; values of one entry add up.
template <class Entry>
void for_each_entry(const SeparableOperator &a, const Entry &entry)
{
  Index n[3] = {1, 1, 1};
  for (int k = 0; k < a.dimension; k++) n[k] = a.directions[k].n;
  const Index stride[3] = {1, n[0], n[0] * n[1]};
  const auto weight     = [&](int k, Index i) {
    return k < a.dimension && !a.directions[k].weight.empty() ? a.directions[k].weight[static_cast<std::size_t>(i)] : 1.0;
  };
  for (Index row = 0; row < n[0] * n[1] * n[2]; row++) {
    const Index i[3] = {row % n[0], row / n[0] % n[1], row / stride[2]};
    entry(row, row, a.shift * weight(0, i[0]) * weight(1, i[1]) * weight(2, i[2]));
    for (int k = 0; k < a.dimension; k++) {
      const Direction &d   = a.directions[k];
      const auto at        = static_cast<std::size_t>(i[k]);
      const double others  = weight((k + 1) % 3, i[(k + 1) % 3]) * weight((k + 2) % 3, i[(k + 2) % 3]);
      const Index before   = i[k] > 0 ? row - stride[k] : row + (n[k] - 1) * stride[k];
      const Index after    = i[k] + 1 < n[k] ? row + stride[k] : row - (n[k] - 1) * stride[k];
      const bool has_lower = i[k] > 0 || d.periodic, has_upper = i[k] + 1 < n[k] || d.periodic;
      entry(row, row, d.diagonal[at] * others);
      if (has_lower) entry(row, before, d.lower[at] * others);
      if (has_upper) entry(row, after, d.upper[at] * others);
    }
  }
}

/// A u
inline std::vector<double> apply(const SeparableOperator &a, const std::vector<double> &u)
{
  std::vector<double> f(u.size(), 0);
  for_each_entry(
      a, [&](Index row, Index column, double value) { f[static_cast<std::size_t>(row)] += value * u[static_cast<std::size_t>(column)]; });
  return f;
}

/// A^-1 f by Gauss elimination with partial pivoting of the dense matrix, in long double.
inline std::vector<double> solve_dense(const SeparableOperator &a, const std::vector<double> &f)
{
  const std::size_t n = f.size();
  std::vector<std::vector<long double>> m(n, std::vector<long double>(n + 1, 0));
  for_each_entry(
      a, [&](Index row, Index column, double value) { m[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] += value; });
  for (std::size_t i = 0; i < n; i++) m[i][n] = f[i];
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; i++) {
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    }
    std::swap(m[k], m[pivot]);
    for (std::size_t i = k + 1; i < n; i++) {
      if (m[i][k] == 0) continue;
      const long double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= n; j++) m[i][j] -= factor * m[k][j];
    }
  }
  std::vector<double> u(n);
  for (std::size_t i = n; i-- > 0;) {
    long double sum = m[i][n];
    for (std::size_t j = i + 1; j < n; j++) sum -= m[i][j] * u[j];
    u[i] = static_cast<double>(sum / m[i][i]);
  }
  return u;
}

} // namespace weft::reference
