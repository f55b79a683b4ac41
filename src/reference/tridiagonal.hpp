/// The serial twin of the tridiagonal methods: one line, plain Gaussian elimination without pivoting, in the arithmetic of Scalar.
#pragma once
#include <vector>

namespace weft::reference {

/// Solves lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = rhs_i. lower[0] and upper[n-1] are not read.
template <class Scalar>
std::vector<Scalar> solve_tridiagonal(const std::vector<Scalar> &lower, std::vector<Scalar> diagonal, const std::vector<Scalar> &upper,
                                      std::vector<Scalar> rhs)
{
  const std::size_t n = diagonal.size();
  for (std::size_t i = 1; i < n; i++) {
    const Scalar factor = lower[i] / diagonal[i - 1];
    diagonal[i] -= factor * upper[i - 1];
    rhs[i] -= factor * rhs[i - 1];
  }
  for (std::size_t i = n; i-- > 0;) rhs[i] = (rhs[i] - (i + 1 < n ? upper[i] * rhs[i + 1] : Scalar(0))) / diagonal[i];
  return rhs;
}

} // namespace weft::reference
