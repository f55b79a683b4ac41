/// The serial twin of the line smoother.
#pragma once
#include <cstddef>
#include <vector>

#include "base/real_of.hpp"
#include "line/line_layout.hpp"
#include "reference/tridiagonal.hpp"

namespace weft::reference {

/// A CSR matrix on the host.
template <class Scalar, class Int>
struct Csr {
  std::vector<Int> row_starts{0}, columns;
  std::vector<Scalar> values;

  std::size_t rows() const { return row_starts.size() - 1; }
  Scalar at(std::size_t i, std::size_t j) const
  {
    Scalar sum = 0;
    for (auto k = row_starts[i]; k < row_starts[i + 1]; k++) {
      if (static_cast<std::size_t>(columns[k]) == j) sum += values[k];
    }
    return sum;
  }
};

/// b - A x, or b - A^T x.
template <class Scalar, class Int>
std::vector<Scalar> residual(const Csr<Scalar, Int> &matrix, std::vector<Scalar> b, const std::vector<Scalar> &x, bool transposed = false)
{
  for (std::size_t i = 0; i < matrix.rows(); i++) {
    for (auto k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
      const auto j = static_cast<std::size_t>(matrix.columns[k]);
      if (transposed)
        b[j] -= matrix.values[k] * x[i];
      else
        b[i] -= matrix.values[k] * x[j];
    }
  }
  return b;
}

/// The change omega T^-1 r of x on lines of a colour, 0 elsewhere.
template <class Scalar, class Int>
std::vector<Scalar> line_changes(const Csr<Scalar, Int> &matrix, const LineLayout &layout, const std::vector<Scalar> &r,
                                 RealOf<Scalar> omega, Colour colour, bool transposed = false)
{
  std::vector<Scalar> change(r.size());
  const auto n = static_cast<std::size_t>(layout.length), stride = static_cast<std::size_t>(layout.stride);
  for (Index line = 0; line < layout.count(); line++) {
    if (!layout.has_colour(line, colour)) continue;
    std::vector<Scalar> lower(n), diagonal(n), upper(n), rhs(n);
    for (std::size_t row = 0; row < n; row++) {
      const std::size_t i = static_cast<std::size_t>(layout.start(line)) + row * stride;
      const auto entry    = [&](std::size_t j) { return transposed ? matrix.at(j, i) : matrix.at(i, j); };
      diagonal[row]       = entry(i);
      if (row > 0) lower[row] = entry(i - stride);
      if (row + 1 < n) upper[row] = entry(i + stride);
      rhs[row] = r[i];
    }
    const std::vector<Scalar> z = solve_tridiagonal(lower, diagonal, upper, rhs);
    for (std::size_t row = 0; row < n; row++) change[static_cast<std::size_t>(layout.start(line)) + row * stride] = omega * z[row];
  }
  return change;
}

} // namespace weft::reference
