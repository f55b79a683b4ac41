/// The block-tridiagonal part of a CSR matrix along the lines of a layout.
#pragma once
#include <Kokkos_Core.hpp>

#include "line/blocks/block_lines.hpp"
#include "line/line_solver.hpp"

namespace weft {

/// Fills the blocks (lines.coefficient_size() elements each) that couple every node of every line to the node before it, to itself and to the
/// node after it; entries that the matrix does not store are 0. Entries outside the lines, also across their ends, are left out.
template <class Space, class Scalar, class Int>
void tridiagonal_of_csr(const Space &space, const BlockLines &lines, const CsrMatrix<Scalar, Int> &matrix,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &lower,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &diagonal,
                        const Kokkos::View<Scalar *, typename Space::memory_space> &upper)
{
  Kokkos::parallel_for(
      "weft block tridiagonal of csr", Kokkos::RangePolicy<Space>(space, 0, lines.layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineLayout &layout = lines.layout;
        const LineRow at         = line_row(layout, number);
        const Index b = layout.components, i = layout.start(at.line) + at.row * layout.stride, node = i / b, next = layout.stride / b;
        for (Index q = 0; q < b; q++) lower(i * b + q) = diagonal(i * b + q) = upper(i * b + q) = 0;
        for (Int k = matrix.begin(i); k < matrix.end(i); k++) {
          const Index column = matrix.column(k);
          if (column < 0) continue; // of a part of the matrix that lies before the lines
          const Index offset = column / b - node, entry = i * b + column % b;
          if (offset == 0)
            diagonal(entry) = matrix.values[k];
          else if (offset == -next && at.row > 0)
            lower(entry) = matrix.values[k];
          else if (offset == next && at.row + 1 < layout.length)
            upper(entry) = matrix.values[k];
        }
      });
}

/// See block_line_solver.hpp.
template <class Space, class Scalar, class Int>
bool components_couple(const Space &space, const BlockLines &lines, const CsrMatrix<Scalar, Int> &matrix)
{
  Index couplings = 0;
  Kokkos::parallel_reduce(
      "weft components couple", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, lines.layout.rows()),
      KOKKOS_LAMBDA(const Index number, Index &count) {
        const LineLayout &layout = lines.layout;
        const LineRow at         = line_row(layout, number);
        const Index b = layout.components, i = layout.start(at.line) + at.row * layout.stride, next = layout.stride / b;
        for (Int k = matrix.begin(i); k < matrix.end(i); k++) {
          const Index column = matrix.column(k), apart = column / b - i / b;
          const bool near = apart == 0 || (apart == next && at.row + 1 < layout.length) || (apart == -next && at.row > 0);
          count += column >= 0 && near && column % b != i % b && matrix.values[k] != 0;
        }
      },
      couplings);
  return couplings > 0;
}

} // namespace weft
