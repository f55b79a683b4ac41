/// The serial twin of the triangular solves: plain substitution, rows stored densely or sparsely by the caller.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::reference {

/// The factors of B = L U: strict triangles by rows, and the diagonal of U.
template <class Scalar>
struct Triangles {
  std::vector<std::int64_t> lower_starts{0}, upper_starts{0};
  std::vector<std::int32_t> lower_columns, upper_columns;
  std::vector<Scalar> lower_values, upper_values, diagonal;

  std::size_t rows() const { return diagonal.size(); }
};

/// L y = b.
template <class Scalar>
std::vector<double> solve_lower(const Triangles<Scalar> &t, std::vector<double> y)
{
  for (std::size_t i = 0; i < t.rows(); i++) {
    for (auto k = t.lower_starts[i]; k < t.lower_starts[i + 1]; k++) y[i] -= double(t.lower_values[k]) * y[t.lower_columns[k]];
  }
  return y;
}

/// U x = y.
template <class Scalar>
std::vector<double> solve_upper(const Triangles<Scalar> &t, std::vector<double> x)
{
  for (std::size_t i = t.rows(); i-- > 0;) {
    for (auto k = t.upper_starts[i]; k < t.upper_starts[i + 1]; k++) x[i] -= double(t.upper_values[k]) * x[t.upper_columns[k]];
    x[i] /= double(t.diagonal[i]);
  }
  return x;
}

/// U^T y = b, column by column of U^T.
template <class Scalar>
std::vector<double> solve_upper_transposed(const Triangles<Scalar> &t, std::vector<double> y)
{
  for (std::size_t i = 0; i < t.rows(); i++) {
    y[i] /= double(t.diagonal[i]);
    for (auto k = t.upper_starts[i]; k < t.upper_starts[i + 1]; k++) y[t.upper_columns[k]] -= double(t.upper_values[k]) * y[i];
  }
  return y;
}

/// L^T x = y.
template <class Scalar>
std::vector<double> solve_lower_transposed(const Triangles<Scalar> &t, std::vector<double> x)
{
  for (std::size_t i = t.rows(); i-- > 0;) {
    for (auto k = t.lower_starts[i]; k < t.lower_starts[i + 1]; k++) x[t.lower_columns[k]] -= double(t.lower_values[k]) * x[i];
  }
  return x;
}

} // namespace weft::reference
