/// The tridiagonal part of a CSR matrix along the lines of a layout, and how strongly a matrix couples along each direction of a grid.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <optional>

#include "line/line_layout.hpp"
#include "line/line_solver.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// The entries of row `at` (element i) that lie on its line: A(i, i - stride), A(i, i), A(i, i + stride), 0 where nothing is stored. Those of
/// the ends of a periodic line wrap (a ring of two rows has one entry for both couplings). Other entries that leave the line are left out.
template <class Scalar, class Int>
KOKKOS_INLINE_FUNCTION Row<Scalar> row_of_csr(const LineProblem &problem, const CsrMatrix<Scalar, Int> &matrix, const LineRow &at, Index i)
{
  const LineLayout &layout = problem.layout;
  const Index last = layout.length - 1, wrap = problem.periodic && last > 1 ? last * layout.stride : 0;
  Row<Scalar> row{0, 0, 0};
  for (Int k = matrix.begin(i); k < matrix.end(i); k++) {
    const Index offset = matrix.column(k) - i;
    if (offset == 0)
      row.diagonal = matrix.values[k];
    else if (offset == (at.row > 0 ? -layout.stride : wrap))
      row.lower = matrix.values[k];
    else if (offset == (at.row < last ? layout.stride : -wrap))
      row.upper = matrix.values[k];
  }
  return row;
}

/// Fills the three diagonals (layout.span() elements each) for every row of every line, rounded to their precision.
template <class Space, class Value, class Scalar, class Int>
void tridiagonal_of_csr(const Space &space, const LineProblem &problem, const CsrMatrix<Value, Int> &matrix,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &lower,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &diagonal,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &upper)
{
  Kokkos::parallel_for(
      "weft tridiagonal of csr", Kokkos::RangePolicy<Space>(space, 0, problem.layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineLayout &layout = problem.layout;
        const LineRow at         = line_row(layout, number);
        const Index i            = layout.start(at.line) + at.row * layout.stride;
        const Row<Value> row     = row_of_csr(problem, matrix, at, i);
        lower(i)                 = static_cast<Scalar>(row.lower);
        diagonal(i)              = static_cast<Scalar>(row.diagonal);
        upper(i)                 = static_cast<Scalar>(row.upper);
      });
}

/// The coefficients of the lines if they are all the same along the lines, but for at most most_closure rows at either end, to 8 units of
/// rounding of a row; else nothing. Where some row is not finite the coefficients are NaN, which no method takes for a pivot. Waits for the
/// result.
template <class Space, class Scalar, class Int>
std::optional<ConstantLines<Scalar>> constant_lines(const Space &space, LineProblem problem, const CsrMatrix<Scalar, Int> &matrix)
{
  ConstantLines<Scalar> lines;
  const LineLayout layout = problem.layout;
  problem.coefficients    = Coefficients::constant;
  problem.closure         = std::min(most_closure, layout.length / 2);
  const Index size        = problem.coefficient_size();
  if (layout.rows() == 0) return std::nullopt;

  // What the first line says, and whether the others say the same.
  const Kokkos::View<Scalar *[3], typename Space::memory_space> expected("weft constant lines", static_cast<std::size_t>(size));
  Kokkos::parallel_for(
      "weft first line", Kokkos::RangePolicy<Space>(space, 0, size), KOKKOS_LAMBDA(const Index k) {
        const Index row = k <= problem.closure ? k : layout.length - (size - k);
        if (row >= layout.length) return;
        const Row<Scalar> r = row_of_csr(problem, matrix, {0, row}, layout.start(0) + row * layout.stride);
        expected(k, 0)      = r.lower;
        expected(k, 1)      = r.diagonal;
        expected(k, 2)      = r.upper;
      });
  Index others = 0, not_finite = 0;
  Kokkos::parallel_reduce(
      "weft other lines", Kokkos::RangePolicy<Space>(space, 0, layout.rows()),
      KOKKOS_LAMBDA(const Index number, Index &count, Index &bad) {
        const LineRow at    = line_row(layout, number);
        const Index i       = layout.start(at.line) + at.row * layout.stride;
        const Row<Scalar> r = row_of_csr(problem, matrix, at, i);
        const Index k       = problem.coefficient(at.row, i);
        const auto rounding = 8 * std::numeric_limits<RealOf<Scalar>>::epsilon() * r.scale();
        const auto apart    = modulus(r.lower - expected(k, 0)) + modulus(r.diagonal - expected(k, 1)) + modulus(r.upper - expected(k, 2));
        if (!(apart <= rounding)) count++;
        if (!Kokkos::isfinite(r.scale())) bad++;
      },
      others, not_finite);
  if (others > 0 && not_finite == 0) return std::nullopt;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
  lines.closure   = problem.closure;
  for (Index k = 0; k < size; k++) {
    lines.lower.push_back(host(k, 0));
    lines.diagonal.push_back(not_finite > 0 ? Scalar(std::numeric_limits<RealOf<Scalar>>::quiet_NaN()) : host(k, 1));
    lines.upper.push_back(host(k, 2));
  }
  return lines;
}

/// Couplings along the directions of a box of n[0] * n[1] * n[2] nodes (components fastest), and to what lies beyond its faces. Dividing by the
/// diagonal makes rows comparable; rows without a usable diagonal do not count. Waits for the result.
template <class Space, class Scalar, class Int>
CouplingStrengths coupling_strengths(const Space &space, const Index (&n)[3], Index components, const CsrMatrix<Scalar, Int> &matrix,
                                     const BoxFaces<Scalar> &faces = {})
{
  using Three = Kokkos::Array<Index, 3>;
  const Three size{n[0], n[1], n[2]}, step{components, components * n[0], components * n[0] * n[1]};
  double x = 0, y = 0, z = 0, x_rows = 0, y_rows = 0, z_rows = 0;
  Kokkos::parallel_reduce(
      "weft coupling strengths", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, step[2] * n[2]),
      KOKKOS_LAMBDA(const Index i, double &sum_x, double &sum_y, double &sum_z, double &stiff_x, double &stiff_y, double &stiff_z) {
        const Index at[3] = {i / step[0] % size[0], i / step[1] % size[1], i / step[2]}, component = i % step[0];
        double along[3] = {0, 0, 0}, d = 0;
        for (Int k = matrix.begin(i); k < matrix.end(i); k++) {
          const Index offset = matrix.column(k) - i;
          const double value = static_cast<double>(modulus(matrix.values[k]));
          if (offset == 0) d = value;
          for (int a = 0; a < 3; a++) {
            const bool first = at[a] == 0, last = at[a] + 1 == size[a];
            const Index wrap = faces.wraps[a] && size[a] > 2 ? (size[a] - 1) * step[a] : 0;
            if (offset != 0 && (offset == (last ? -wrap : step[a]) || offset == (first ? wrap : -step[a]))) {
              along[a] += value;
              break; // directions of one node share their steps
            }
          }
        }
        for (int a = 0; a < 3; a++) {
          const int across[2] = {a == 0 ? 1 : 0, a == 2 ? 1 : 2};
          const Index line    = component + step[0] * (at[across[0]] + size[across[0]] * at[across[1]]);
          if (faces.before[a] && at[a] == 0) along[a] += static_cast<double>(modulus(faces.before[a][line]));
          if (faces.after[a] && at[a] + 1 == size[a]) along[a] += static_cast<double>(modulus(faces.after[a][line]));
        }
        if (!(d > 0)) return;
        sum_x += along[0] / d;
        sum_y += along[1] / d;
        sum_z += along[2] / d;
        stiff_x += along[0] > 3 * Kokkos::max(along[1], along[2]);
        stiff_y += along[1] > 3 * Kokkos::max(along[0], along[2]);
        stiff_z += along[2] > 3 * Kokkos::max(along[0], along[1]);
      },
      x, y, z, x_rows, y_rows, z_rows);
  return {{x, y, z}, {x_rows, y_rows, z_rows}};
}

} // namespace weft
