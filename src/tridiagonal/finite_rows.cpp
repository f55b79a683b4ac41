#include "tridiagonal/finite_rows.hpp"

#include <Kokkos_Core.hpp>

#include "backend.hpp"

namespace weft {

namespace {

template <class Space, class Scalar, class Int>
Index least_row_not_finite(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix)
{
  Index first = rows;
  Kokkos::parallel_reduce(
      "weft first row not finite", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &least) {
        for (Int k = matrix.begin(i); k < matrix.end(i); k++) {
          if (!Kokkos::isfinite(matrix.values[k]) && i < least) least = i;
        }
      },
      Kokkos::Min<Index>(first));
  return first;
}

} // namespace

template <class Scalar, class Int>
std::optional<Index> first_row_not_finite(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &matrix)
{
  if (rows == 0) return std::nullopt;
  const Index first = on_backend(execution, [&](const auto &space) { return least_row_not_finite(space, rows, matrix); });
  return first < rows ? std::optional(first) : std::nullopt;
}

template std::optional<Index> first_row_not_finite(const Execution &, Index, const CsrMatrix<double, std::int32_t> &);
template std::optional<Index> first_row_not_finite(const Execution &, Index, const CsrMatrix<double, std::int64_t> &);

} // namespace weft
