/// The kernels of MappedLineSolver: lines out of a matrix, right-hand sides into the order of the lines, solutions back.
#pragma once
#include "line/maps/line_arrays.hpp"

namespace weft {

/// Fills the three diagonals, `position` - `first` being the element of a row at `position`, for the positions first .. last-1.
template <class Space, class Scalar, class Value, class Int>
void mapped_tridiagonal_of_csr(const Space &space, const LineArrays<Space> &lines, Index first, Index last,
                               const CsrMatrix<Value, Int> &matrix, Scalar *lower, Scalar *diagonal, Scalar *upper)
{
  const auto rows = static_cast<Index>(lines.order.extent(0));
  Kokkos::parallel_for(
      "weft tridiagonal of mapped lines", Kokkos::RangePolicy<Space>(space, first, last), KOKKOS_LAMBDA(const Index position) {
        const RowNumber i      = lines.order(position);
        const RowNumber before = lines.begins(position) ? -1 : lines.order(position - 1);
        const RowNumber after  = position + 1 == rows || lines.begins(position + 1) ? -1 : lines.order(position + 1);
        Row<Scalar> row{0, 0, 0};
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Int column = matrix.columns[k];
          if (column == static_cast<Int>(i))
            row.diagonal = static_cast<Scalar>(matrix.values[k]);
          else if (before >= 0 && column == static_cast<Int>(before))
            row.lower = static_cast<Scalar>(matrix.values[k]);
          else if (after >= 0 && column == static_cast<Int>(after))
            row.upper = static_cast<Scalar>(matrix.values[k]);
        }
        lower[position - first]    = row.lower;
        diagonal[position - first] = row.diagonal;
        upper[position - first]    = row.upper;
      });
}

template <class Space, class Scalar, class Value>
void gather_rows(const Space &space, const LineArrays<Space> &lines, Index first, Index last, const Value *rhs, Scalar *work)
{
  const auto order = lines.order;
  Kokkos::parallel_for(
      "weft gather rows", Kokkos::RangePolicy<Space>(space, first, last),
      KOKKOS_LAMBDA(const Index position) { work[position - first] = static_cast<Scalar>(rhs[order(position)]); });
}

template <class Space, class Scalar, class Value>
void scatter_rows(const Space &space, const LineArrays<Space> &lines, Index first, Index last, const Scalar *work, Value *solution,
                  const Update<Value> &update)
{
  const auto order = lines.order;
  Kokkos::parallel_for(
      "weft scatter rows", Kokkos::RangePolicy<Space>(space, first, last),
      KOKKOS_LAMBDA(const Index position) { put(solution[order(position)], update, static_cast<Value>(work[position - first])); });
}

} // namespace weft
