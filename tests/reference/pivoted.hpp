/// The serial twin of the pivoting methods: one line, Gaussian elimination with partial pivoting as LAPACK's xGTSV, in the arithmetic of Scalar.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

namespace weft::reference {

/// Solves lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = rhs_i. lower[0] and upper[n-1] are not read.
template <class Scalar>
std::vector<Scalar> solve_pivoted(std::vector<Scalar> lower, std::vector<Scalar> diagonal, std::vector<Scalar> upper,
                                  std::vector<Scalar> rhs)
{
  const std::size_t n = diagonal.size();
  std::vector<Scalar> second(n, 0); // couples to x_{i+2} where rows i and i+1 were exchanged
  if (n > 0) upper[n - 1] = 0;
  for (std::size_t i = 0; i + 1 < n; i++) {
    if (std::abs(lower[i + 1]) > std::abs(diagonal[i])) {
      std::swap(diagonal[i], lower[i + 1]);
      std::swap(upper[i], diagonal[i + 1]);
      std::swap(second[i], upper[i + 1]);
      std::swap(rhs[i], rhs[i + 1]);
    }
    const Scalar factor = lower[i + 1] / diagonal[i];
    diagonal[i + 1] -= factor * upper[i];
    upper[i + 1] -= factor * second[i];
    rhs[i + 1] -= factor * rhs[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    const Scalar right = (i + 1 < n ? upper[i] * rhs[i + 1] : Scalar(0)) + (i + 2 < n ? second[i] * rhs[i + 2] : Scalar(0));
    rhs[i]             = (rhs[i] - right) / diagonal[i];
  }
  return rhs;
}

} // namespace weft::reference
