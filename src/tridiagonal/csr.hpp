/// The tridiagonal part of a CSR matrix along the lines of a layout, and how strongly a matrix couples along each direction of a grid.
#pragma once
#include <Kokkos_Core.hpp>

#include "lines.hpp"
#include "tridiagonal/line_solver.hpp"

namespace weft {

/// Fills the three diagonals (layout.span() elements each) with A(i, i - stride), A(i, i), A(i, i + stride) for every row of every line;
/// entries that the matrix does not store are 0. Entries outside the lines, also across their ends, are left out.
template <class Space, class Scalar, class Int>
void tridiagonal_of_csr(const Space &space, const LineLayout &layout, const CsrMatrix<Scalar, Int> &matrix,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &lower,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &diagonal,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &upper)
{
  Kokkos::parallel_for(
      "weft tridiagonal of csr", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineRow at = line_row(layout, number);
        const Index i    = layout.start(at.line) + at.row * layout.stride;
        Scalar l = 0, d = 0, u = 0;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Index offset = matrix.columns[k] - i;
          if (offset == 0)
            d = matrix.values[k];
          else if (offset == -layout.stride && at.row > 0)
            l = matrix.values[k];
          else if (offset == layout.stride && at.row + 1 < layout.length)
            u = matrix.values[k];
        }
        lower(i)    = l;
        diagonal(i) = d;
        upper(i)    = u;
      });
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
