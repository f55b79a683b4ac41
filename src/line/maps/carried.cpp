#include "line/maps/line_arrays.hpp"

namespace weft {

namespace {

/// |a_ii|, or the greatest entry of the row where that is 0, as in MatrixGraph.
template <class Space, class Scalar, class Int>
OwnedArray<double, Space> sizes_of_rows(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix)
{
  const auto sizes = table<double, Space>("weft sizes of rows", rows);
  Kokkos::parallel_for(
      "weft sizes of rows", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        double diagonal = 0, greatest = 0;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const double size = static_cast<double>(modulus(matrix.values[k]));
          if (matrix.columns[k] == static_cast<Int>(i)) diagonal = size;
          if (size > greatest) greatest = size;
        }
        sizes(i) = diagonal > 0 ? diagonal : greatest;
      });
  return sizes;
}

template <class Space, class Scalar, class Int>
CarriedCouplings carried_on(const Space &space, const LineArrays<Space> &lines, const CsrMatrix<Scalar, Int> &matrix, double least)
{
  constexpr double units = 1 << 20;
  const auto rows        = static_cast<Index>(lines.order.extent(0));
  const auto order       = lines.order;
  const auto begins      = lines.begins;
  CarriedCouplings carried;
  const auto sizes = sizes_of_rows(space, rows, matrix);
  Kokkos::parallel_reduce(
      "weft carried couplings", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index position, std::int64_t &share, std::int64_t &count, std::int64_t &left) {
        const RowNumber i      = order(position);
        const RowNumber before = begins(position) ? -1 : order(position - 1);
        const RowNumber after  = position + 1 == rows || begins(position + 1) ? -1 : order(position + 1);
        double first = 0, second = 0, on_line = 0;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Int j = matrix.columns[k];
          if (j < 0 || j >= static_cast<Int>(rows) || j == static_cast<Int>(i)) continue;
          const double size = static_cast<double>(modulus(matrix.values[k]));
          left += size > 0 && j != static_cast<Int>(before) && j != static_cast<Int>(after);
          if (!(size > 0 && size >= least * Kokkos::sqrt(sizes(i) * sizes(j)))) continue;
          if (j == static_cast<Int>(before) || j == static_cast<Int>(after)) on_line += size;
          if (size > first) {
            second = first;
            first  = size;
          } else if (size > second) {
            second = size;
          }
        }
        if (first == 0) return;
        const double part = on_line / (first + second);
        share += static_cast<std::int64_t>((part < 1 ? part : 1) * units);
        count++;
      },
      carried.share, carried.rows, carried.left);
  space.fence("weft: carried couplings");
  return carried;
}

} // namespace

template <class Scalar, class Int>
CarriedCouplings carried_couplings(const LineMap &map, const CsrMatrix<Scalar, Int> &matrix, const ForestOptions &options)
{
  return on_backend(map.execution(), [&](const auto &space) {
    return carried_on(space, arrays_of<std::decay_t<decltype(space)>>(map.arrays()), matrix, options.least_weight);
  });
}

template CarriedCouplings carried_couplings(const LineMap &, const CsrMatrix<KernelScalar, std::int32_t> &, const ForestOptions &);
template CarriedCouplings carried_couplings(const LineMap &, const CsrMatrix<KernelScalar, std::int64_t> &, const ForestOptions &);

} // namespace weft
