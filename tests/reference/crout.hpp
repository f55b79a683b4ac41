/// The serial twins of src/crout: patterns and factors of a sparse matrix as the textbooks have them, in ordered maps.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

namespace weft::reference {

/// Rows of a square sparse matrix: column to value.
using SparseRows = std::vector<std::map<std::size_t, double>>;

/// Levels of fill up to k: entries of the matrix and the diagonal have level 0 (Saad, Iterative Methods for Sparse Linear Systems, 10.3.3).
inline std::vector<std::map<std::size_t, int>> fill_levels(const SparseRows &matrix, int k)
{
  std::vector<std::map<std::size_t, int>> level(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); i++) {
    level[i][i] = 0;
    for (const auto &[j, value] : matrix[i]) level[i][j] = 0;
    for (auto left = level[i].begin(); left->first < i; ++left) { // entries that come in are to the right of the one that makes them
      for (auto right = level[left->first].upper_bound(left->first); right != level[left->first].end(); ++right) {
        const int made = left->second + right->second + 1;
        if (made > k) continue;
        const auto there = level[i].try_emplace(right->first, made).first;
        there->second    = std::min(there->second, made);
      }
    }
  }
  return level;
}

/// L (unit lower, its diagonal not stored) and U in one matrix on a pattern: Gaussian elimination by rows, what falls outside is dropped.
inline SparseRows factors(const SparseRows &matrix, const std::vector<std::map<std::size_t, int>> &pattern)
{
  SparseRows z(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); i++) {
    for (const auto &[j, level] : pattern[i]) z[i][j] = 0;
    for (const auto &[j, value] : matrix[i]) z[i][j] = value;
    for (auto left = z[i].begin(); left->first < i; ++left) {
      const std::size_t m = left->first;
      left->second /= z[m].at(m);
      for (auto right = z[m].upper_bound(m); right != z[m].end(); ++right) {
        const auto at = z[i].find(right->first);
        if (at != z[i].end()) at->second -= left->second * right->second;
      }
    }
  }
  return z;
}

/// ILUT (Y. Saad, "ILUT: a dual threshold incomplete LU factorization", 1994): a row's entries below tolerance times its mean size are dropped,
/// then all but the `quota` largest of either triangle.
inline SparseRows threshold_factors(const SparseRows &matrix, double tolerance, std::size_t quota)
{
  SparseRows z(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); i++) {
    std::map<std::size_t, double> row(matrix[i].begin(), matrix[i].end());
    double size = 0;
    for (const auto &[j, value] : matrix[i]) size += std::abs(value);
    const double smallest = tolerance * size / static_cast<double>(std::max<std::size_t>(matrix[i].size(), 1));
    row.try_emplace(i, 0);
    for (auto left = row.begin(); left->first < i;) {
      const std::size_t m = left->first;
      left->second /= z[m].at(m);
      if (std::abs(left->second * z[m].at(m)) < smallest) {
        left = row.erase(left);
        continue;
      }
      for (auto right = z[m].upper_bound(m); right != z[m].end(); ++right) row[right->first] -= left->second * right->second;
      ++left;
    }
    std::vector<std::pair<double, std::size_t>> triangles[2];
    for (const auto &[j, value] : row) {
      const double weight = j < i ? std::abs(value * z[j].at(j)) : std::abs(value);
      if (j != i && weight >= smallest) triangles[j > i].push_back({weight, j});
    }
    z[i][i] = row.at(i);
    for (auto &triangle : triangles) {
      std::sort(triangle.rbegin(), triangle.rend());
      if (triangle.size() > quota) triangle.resize(quota);
      for (const auto &[weight, j] : triangle) z[i][j] = row.at(j);
    }
  }
  return z;
}

/// Where sweeps start: L from the matrix divided by its diagonal, the rest as in the matrix.
inline SparseRows first_guess(const SparseRows &matrix, const std::vector<std::map<std::size_t, int>> &pattern)
{
  SparseRows z(matrix.size());
  for (std::size_t i = 0; i < matrix.size(); i++) {
    for (const auto &[j, level] : pattern[i]) {
      const auto at = matrix[i].find(j);
      z[i][j]       = at == matrix[i].end() ? 0 : j < i ? at->second / matrix[j].at(j) : at->second;
    }
  }
  return z;
}

/// b_ij - sum_{k < min(i, j)} l_ik u_kj.
inline double rest_of_entry(const SparseRows &matrix, const SparseRows &z, std::size_t i, std::size_t j)
{
  const auto b = matrix[i].find(j);
  double rest  = b == matrix[i].end() ? 0 : b->second;
  for (auto left = z[i].begin(); left != z[i].end() && left->first < std::min(i, j); ++left) {
    const auto right = z[left->first].find(j);
    if (right != z[left->first].end()) rest -= left->second * right->second;
  }
  return rest;
}

/// One synchronous sweep of the fixed point (Chow and Patel 2015, eq. 2.4), under-relaxed.
inline SparseRows sweep(const SparseRows &matrix, const SparseRows &z, double omega)
{
  SparseRows next = z;
  for (std::size_t i = 0; i < z.size(); i++) {
    for (auto &[j, value] : next[i]) {
      const double rest = rest_of_entry(matrix, z, i, j);
      value += omega * ((j < i ? rest / z[j].at(j) : rest) - value);
    }
  }
  return next;
}

/// Norm of B - L U on the pattern over that of B, Frobenius.
inline double residual(const SparseRows &matrix, const SparseRows &z)
{
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < z.size(); i++) {
    for (const auto &[j, value] : z[i]) {
      const double left = rest_of_entry(matrix, z, i, j) - (j < i ? value * z[j].at(j) : value);
      const auto b      = matrix[i].find(j);
      sum += left * left;
      if (b != matrix[i].end()) size += b->second * b->second;
    }
  }
  return std::sqrt(sum / size);
}

/// Sweeps after which every entry is exact: the longest chain of entries that wait for each other.
inline int depth(const SparseRows &z)
{
  std::vector<std::map<std::size_t, int>> level(z.size());
  int deepest = 0;
  for (std::size_t i = 0; i < z.size(); i++) {
    for (const auto &[j, value] : z[i]) {
      int mine = 0; // an entry that is right in the first guess
      for (auto left = level[i].begin(); left != level[i].end() && left->first < std::min(i, j); ++left) {
        const auto right = level[left->first].find(j);
        if (right != level[left->first].end()) mine = std::max({mine, left->second + 1, right->second + 1});
      }
      if (j < i && level[j].at(j) > 0) mine = std::max(mine, level[j].at(j) + 1);
      level[i][j] = mine;
      deepest     = std::max(deepest, mine);
    }
  }
  return deepest;
}

/// Solves L U x = b.
inline std::vector<double> solve_factors(const SparseRows &z, std::vector<double> x)
{
  for (std::size_t i = 0; i < z.size(); i++)
    for (auto left = z[i].begin(); left != z[i].end() && left->first < i; ++left) x[i] -= left->second * x[left->first];
  for (std::size_t i = z.size(); i-- > 0;) {
    for (auto right = z[i].upper_bound(i); right != z[i].end(); ++right) x[i] -= right->second * x[right->first];
    x[i] /= z[i].at(i);
  }
  return x;
}

} // namespace weft::reference
