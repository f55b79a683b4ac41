/// The tridiagonal part of a CSR matrix along the lines of a layout, and how strongly a matrix couples along each direction of a grid.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <optional>

#include "lines.hpp"
#include "tridiagonal/line_solver.hpp"
#include "tridiagonal/tridiagonal.hpp"

namespace weft {

/// The entries of row `at` (element i) that lie on its line: A(i, i - stride), A(i, i), A(i, i + stride), 0 where nothing is stored. Entries
/// that leave the line, also across its ends, are left out.
template <class Scalar, class Int>
KOKKOS_INLINE_FUNCTION Row<Scalar> row_of_csr(const LineLayout &layout, const CsrMatrix<Scalar, Int> &matrix, const LineRow &at, Index i)
{
  Row<Scalar> row{0, 0, 0};
  for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
    const Index offset = matrix.columns[k] - i;
    if (offset == 0)
      row.diagonal = matrix.values[k];
    else if (offset == -layout.stride && at.row > 0)
      row.lower = matrix.values[k];
    else if (offset == layout.stride && at.row + 1 < layout.length)
      row.upper = matrix.values[k];
  }
  return row;
}

/// Fills the three diagonals (layout.span() elements each) for every row of every line.
template <class Space, class Scalar, class Int>
void tridiagonal_of_csr(const Space &space, const LineLayout &layout, const CsrMatrix<Scalar, Int> &matrix,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &lower,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &diagonal,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &upper)
{
  Kokkos::parallel_for(
      "weft tridiagonal of csr", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineRow at      = line_row(layout, number);
        const Index i         = layout.start(at.line) + at.row * layout.stride;
        const Row<Scalar> row = row_of_csr(layout, matrix, at, i);
        lower(i)              = row.lower;
        diagonal(i)           = row.diagonal;
        upper(i)              = row.upper;
      });
}

/// The coefficients of the lines if they are all the same along the lines, but for at most most_closure rows at either end, to 8 units of
/// rounding of a row; else nothing. Waits for the result.
template <class Space, class Scalar, class Int>
std::optional<ConstantLines<Scalar>> constant_lines(const Space &space, const LineLayout &layout, const CsrMatrix<Scalar, Int> &matrix)
{
  ConstantLines<Scalar> lines;
  LineProblem problem(layout);
  problem.coefficients = Coefficients::constant;
  problem.closure      = std::min(most_closure, layout.length / 2);
  const Index size     = problem.coefficient_size();
  if (layout.rows() == 0) return std::nullopt;

  // What the first line says, and whether the others say the same.
  const Kokkos::View<Scalar *[3], typename Space::memory_space> expected("weft constant lines", static_cast<std::size_t>(size));
  Kokkos::parallel_for(
      "weft first line", Kokkos::RangePolicy<Space>(space, 0, size), KOKKOS_LAMBDA(const Index k) {
        const Index row = k <= problem.closure ? k : layout.length - (size - k);
        if (row >= layout.length) return;
        const Row<Scalar> r = row_of_csr(layout, matrix, {0, row}, layout.start(0) + row * layout.stride);
        expected(k, 0)      = r.lower;
        expected(k, 1)      = r.diagonal;
        expected(k, 2)      = r.upper;
      });
  Index others = 0;
  Kokkos::parallel_reduce(
      "weft other lines", Kokkos::RangePolicy<Space>(space, 0, layout.rows()),
      KOKKOS_LAMBDA(const Index number, Index &count) {
        const LineRow at      = line_row(layout, number);
        const Index i         = layout.start(at.line) + at.row * layout.stride;
        const Row<Scalar> r   = row_of_csr(layout, matrix, at, i);
        const Index k         = problem.coefficient(at.row, i);
        const Scalar rounding = 8 * std::numeric_limits<Scalar>::epsilon() * r.scale();
        const Scalar apart =
            Kokkos::abs(r.lower - expected(k, 0)) + Kokkos::abs(r.diagonal - expected(k, 1)) + Kokkos::abs(r.upper - expected(k, 2));
        if (!(apart <= rounding)) count++;
      },
      others);
  if (others > 0) return std::nullopt;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected);
  lines.closure   = problem.closure;
  for (Index k = 0; k < size; k++) {
    lines.lower.push_back(host(k, 0));
    lines.diagonal.push_back(host(k, 1));
    lines.upper.push_back(host(k, 2));
  }
  return lines;
}

/// For each direction of a box of n[0] * n[1] * n[2] nodes (components fastest): the sum over all rows of |A(i, i +- neighbour)| / |A(i,
/// i)|. Dividing by the diagonal makes rows comparable; rows without a usable diagonal do not count.
template <class Space, class Scalar, class Int>
CouplingStrengths coupling_strengths(const Space &space, const Index (&n)[3], Index components, const CsrMatrix<Scalar, Int> &matrix)
{
  const Index sx = components, sy = sx * n[0], sz = sy * n[1], nx = n[0], ny = n[1], nz = n[2];
  double x = 0, y = 0, z = 0;
  Kokkos::parallel_reduce(
      "weft coupling strengths", Kokkos::RangePolicy<Space>(space, 0, sz * nz),
      KOKKOS_LAMBDA(const Index i, double &sum_x, double &sum_y, double &sum_z) {
        const Index at_x = i / sx % nx, at_y = i / sy % ny, at_z = i / sz;
        double along_x = 0, along_y = 0, along_z = 0, d = 0;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Index offset = matrix.columns[k] - i;
          const double size  = Kokkos::abs(static_cast<double>(matrix.values[k]));
          if (offset == 0)
            d = size;
          else if ((offset == sx && at_x + 1 < nx) || (offset == -sx && at_x > 0))
            along_x += size;
          else if ((offset == sy && at_y + 1 < ny) || (offset == -sy && at_y > 0))
            along_y += size;
          else if ((offset == sz && at_z + 1 < nz) || (offset == -sz && at_z > 0))
            along_z += size;
        }
        if (!(d > 0)) return;
        sum_x += along_x / d;
        sum_y += along_y / d;
        sum_z += along_z / d;
      },
      x, y, z);
  return {x, y, z};
}

} // namespace weft
