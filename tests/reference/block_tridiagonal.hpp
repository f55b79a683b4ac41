/// The serial twin of the block-tridiagonal methods: one line, block elimination in the arithmetic of Scalar, each pivot block solved with by
/// dense Gaussian elimination with partial pivoting.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "base/real_of.hpp"

namespace weft::reference {

/// Replaces the `columns` right-hand sides of a dense system by its solutions; all row by row.
template <class Scalar>
void solve_dense(std::size_t n, std::vector<Scalar> matrix, std::vector<Scalar> &rhs, std::size_t columns)
{
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t p = k + 1; p < n; p++) {
      if (modulus(matrix[p * n + k]) > modulus(matrix[pivot * n + k])) pivot = p;
    }
    for (std::size_t q = 0; q < n; q++) std::swap(matrix[k * n + q], matrix[pivot * n + q]);
    for (std::size_t q = 0; q < columns; q++) std::swap(rhs[k * columns + q], rhs[pivot * columns + q]);
    for (std::size_t p = k + 1; p < n; p++) {
      const Scalar factor = matrix[p * n + k] / matrix[k * n + k];
      for (std::size_t q = k; q < n; q++) matrix[p * n + q] -= factor * matrix[k * n + q];
      for (std::size_t q = 0; q < columns; q++) rhs[p * columns + q] -= factor * rhs[k * columns + q];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t q = 0; q < columns; q++) {
      for (std::size_t p = k + 1; p < n; p++) rhs[k * columns + q] -= matrix[k * n + p] * rhs[p * columns + q];
      rhs[k * columns + q] /= matrix[k * n + k];
    }
  }
}

/// Solves lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = rhs_i with b * b blocks, row by row. The first lower and the last upper are
/// not read.
template <class Scalar>
std::vector<Scalar> solve_block_tridiagonal(std::size_t b, const std::vector<Scalar> &lower, std::vector<Scalar> diagonal,
                                            const std::vector<Scalar> &upper, std::vector<Scalar> rhs)
{
  const std::size_t n = rhs.size() / b, columns = b + 1;
  std::vector<Scalar> eliminated(n * b * columns); // of each row: diagonal_i^-1 (upper_i, rhs_i)
  for (std::size_t i = 0; i < n; i++) {
    std::vector<Scalar> pivot(b * b), right(b * columns);
    for (std::size_t p = 0; p < b; p++) {
      for (std::size_t q = 0; q < b; q++) {
        pivot[p * b + q]       = diagonal[(i * b + p) * b + q];
        right[p * columns + q] = i + 1 < n ? upper[(i * b + p) * b + q] : 0;
      }
      right[p * columns + b] = rhs[i * b + p];
      for (std::size_t k = 0; k < b && i > 0; k++) {
        const Scalar factor    = lower[(i * b + p) * b + k];
        const Scalar *previous = &eliminated[((i - 1) * b + k) * columns];
        for (std::size_t q = 0; q < b; q++) pivot[p * b + q] -= factor * previous[q];
        right[p * columns + b] -= factor * previous[b];
      }
    }
    solve_dense(b, pivot, right, columns);
    for (std::size_t k = 0; k < b * columns; k++) eliminated[i * b * columns + k] = right[k];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t p = 0; p < b; p++) {
      const Scalar *row = &eliminated[(i * b + p) * columns];
      rhs[i * b + p]    = row[b];
      for (std::size_t q = 0; q < b && i + 1 < n; q++) rhs[i * b + p] -= row[q] * rhs[(i + 1) * b + q];
    }
  }
  return rhs;
}

/// The same of a ring: the first lower couples to the last node, the last upper to the first one. As one dense system.
template <class Scalar>
std::vector<Scalar> solve_block_ring(std::size_t b, const std::vector<Scalar> &lower, const std::vector<Scalar> &diagonal,
                                     const std::vector<Scalar> &upper, std::vector<Scalar> rhs)
{
  const std::size_t unknowns = rhs.size(), n = unknowns / b;
  std::vector<Scalar> matrix(unknowns * unknowns, 0);
  for (std::size_t i = 0; i < n; i++) {
    const auto add = [&](const std::vector<Scalar> &blocks, std::size_t j) {
      for (std::size_t p = 0; p < b; p++) {
        for (std::size_t q = 0; q < b; q++) matrix[(i * b + p) * unknowns + j * b + q] += blocks[(i * b + p) * b + q];
      }
    };
    add(lower, (i + n - 1) % n);
    add(diagonal, i);
    add(upper, (i + 1) % n);
  }
  solve_dense(unknowns, matrix, rhs, 1);
  return rhs;
}

} // namespace weft::reference
