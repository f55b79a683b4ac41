#include "line/relax/outside_rows.hpp"

#include <Kokkos_Core.hpp>

#include "base/backend.hpp"
#include "line/relax/matrix_rows.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// Counted up to a row. Not of a function, nor without a name outside this file: nvcc names kernels by it.
struct RowsAndEntries {
  Index rows = 0, entries = 0;
  KOKKOS_INLINE_FUNCTION RowsAndEntries &operator+=(const RowsAndEntries &other)
  {
    rows += other.rows;
    entries += other.entries;
    return *this;
  }
};

namespace {

/// Row number k of those with entries: row[k] of the matrix, entries start[k] .. start[k + 1] - 1.
template <class Space, class Scalar>
struct RowsIn final : OutsideRows<Scalar> {
  Space space;
  OwnedArray<Index, Space> row, start, columns;
  OwnedArray<Scalar, Space> values, kept;

  explicit RowsIn(const Space &where) : space(where) {}

  Index count() const { return static_cast<Index>(row.extent(0)); }
  void read(Index rows, const CsrMatrix<Scalar, std::int32_t> &outside) override { read_csr(rows, outside); }
  void read(Index rows, const CsrMatrix<Scalar, std::int64_t> &outside) override { read_csr(rows, outside); }

  template <class Int>
  void read_csr(Index rows, const CsrMatrix<Scalar, Int> &outside)
  {
    if (rows == 0) return;
    Index many = 0, entries = 0;
    const auto policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, rows);
    Kokkos::parallel_reduce(
        "weft rows with ghosts", policy,
        KOKKOS_LAMBDA(const Index i, Index &number, Index &size) {
          number += outside.end(i) > outside.begin(i);
          size += outside.end(i) - outside.begin(i);
        },
        many, entries);
    const auto n = static_cast<std::size_t>(many), m = static_cast<std::size_t>(entries);
    if (row.extent(0) != n || columns.extent(0) != m) {
      row     = OwnedArray<Index, Space>("weft rows with ghosts", n);
      start   = OwnedArray<Index, Space>("weft rows with ghosts", n + 1);
      kept    = OwnedArray<Scalar, Space>("weft rows with ghosts", n);
      columns = OwnedArray<Index, Space>("weft ghosts of rows", m);
      values  = OwnedArray<Scalar, Space>("weft ghosts of rows", m);
    }
    const auto row_here     = row;
    const auto start_here   = start;
    const auto columns_here = columns;
    const auto values_here  = values;
    Kokkos::parallel_scan(
        "weft rows with ghosts", policy, KOKKOS_LAMBDA(const Index i, RowsAndEntries &before, const bool last) {
          const Index size = outside.end(i) - outside.begin(i);
          if (last && size > 0) {
            row_here(before.rows)       = i;
            start_here(before.rows + 1) = before.entries + size; // the first one is 0
            for (Index k = 0; k < size; k++) {
              columns_here(before.entries + k) = outside.columns[outside.begin(i) + k];
              values_here(before.entries + k)  = outside.values[outside.begin(i) + k];
            }
          }
          before.rows += size > 0;
          before.entries += size;
        });
    space.fence("weft: rows with ghosts");
  }

  void take(Scalar *b, const Scalar *ghosts) const override
  {
    const auto of = row, from = start, ghost = columns;
    const auto factor = values, was = kept;
    Kokkos::parallel_for(
        "weft take ghosts", Kokkos::RangePolicy<Space>(space, 0, count()), KOKKOS_LAMBDA(const Index k) {
          Scalar sum = 0;
          for (Index e = from(k); e < from(k + 1); e++) sum += times(factor(e), ghosts[ghost(e)]);
          const Index i = of(k);
          was(k)        = b[i];
          b[i] -= sum;
        });
  }
  void put_back(Scalar *b) const override
  {
    const auto to   = row;
    const auto from = kept;
    Kokkos::parallel_for(
        "weft put back", Kokkos::RangePolicy<Space>(space, 0, count()), KOKKOS_LAMBDA(const Index k) { b[to(k)] = from(k); });
  }
};

} // namespace

template <class Scalar>
Owner<OutsideRows<Scalar>> OutsideRows<Scalar>::make(const Execution &execution)
{
  return on_backend(
      execution, [](const auto &space) -> Owner<OutsideRows> { return make_owner<RowsIn<std::decay_t<decltype(space)>, Scalar>>(space); });
}

template class OutsideRows<KernelScalar>;
template class OutsideRows<OtherScalar>;

} // namespace weft
