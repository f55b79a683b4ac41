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

/// The same where lower[0] couples to the last row and upper[n-1] to the first. The last unknown is taken out:
/// x = y + x_{n-1} z on the other rows, T y = rhs, T z = minus the last column.
template <class Scalar>
std::vector<Scalar> solve_periodic(const std::vector<Scalar> &lower, const std::vector<Scalar> &diagonal, const std::vector<Scalar> &upper,
                                   const std::vector<Scalar> &rhs)
{
  const std::size_t n = diagonal.size();
  if (n == 1) return {rhs[0] / (lower[0] + diagonal[0] + upper[0])};
  const auto head = [](const std::vector<Scalar> &v) { return std::vector<Scalar>(v.begin(), v.end() - 1); };
  std::vector<Scalar> column(n - 1, 0);
  column[0] -= lower[0];
  column[n - 2] -= upper[n - 2];
  std::vector<Scalar> y       = solve_tridiagonal(head(lower), head(diagonal), head(upper), head(rhs));
  const std::vector<Scalar> z = solve_tridiagonal(head(lower), head(diagonal), head(upper), column);
  const Scalar last =
      (rhs[n - 1] - lower[n - 1] * y[n - 2] - upper[n - 1] * y[0]) / (diagonal[n - 1] + lower[n - 1] * z[n - 2] + upper[n - 1] * z[0]);
  for (std::size_t i = 0; i + 1 < n; i++) y[i] += last * z[i];
  y.push_back(last);
  return y;
}

} // namespace weft::reference
