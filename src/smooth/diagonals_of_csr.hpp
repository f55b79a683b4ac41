/// From CSR to diagonals, where the matrix is.
#pragma once
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "smooth/stencil_matrix.hpp"
#include "tridiagonal/tridiagonal.hpp"

namespace weft {

/// The number of entries of a CSR matrix. Waits.
template <class Space, class Scalar, class Int>
Index entries_of_csr(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix)
{
  Int entries = 0;
  if (rows > 0) {
    Kokkos::deep_copy(space, Array<Int, Kokkos::HostSpace>(&entries, 1), Array<const Int, Space>(matrix.row_starts + rows, 1));
    space.fence("weft: number of entries");
  }
  return entries;
}

/// Offsets column - row of all entries, ascending, or nothing where there are more than most_diagonals. Waits.
///
/// Threads put offsets into a list of slots by compare-and-swap, all from the first slot on, so that none is there twice.
template <class Space, class Scalar, class Int>
std::optional<std::vector<Index>> offsets_of_csr(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix)
{
  constexpr Index none = std::numeric_limits<Index>::max();
  const OwnedArray<Index, Space> slots("weft offsets", most_diagonals);
  Kokkos::deep_copy(space, slots, none);
  Index left_over = 0;
  Kokkos::parallel_reduce(
      "weft offsets", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &others) {
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Index offset = Index(matrix.columns[k]) - i;
          int slot           = 0;
          for (; slot < most_diagonals; slot++) {
            Index there = Kokkos::atomic_load(&slots(slot));
            if (there == none) there = Kokkos::atomic_compare_exchange(&slots(slot), none, offset);
            if (there == none || there == offset) break;
          }
          if (slot == most_diagonals) {
            others++;
            return; // one is enough to know
          }
        }
      },
      left_over);
  if (left_over > 0) return std::nullopt;
  std::vector<Index> offsets(most_diagonals);
  Kokkos::deep_copy(space, Array<Index, Kokkos::HostSpace>(offsets.data(), offsets.size()), slots);
  space.fence("weft: offsets");
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::find(offsets.begin(), offsets.end(), none), offsets.end());
  return offsets;
}

/// Fills diagonal after diagonal, `pitch` words each. Returns false if an entry lies on none of them. Waits.
template <class Space, class Scalar, class Int>
bool fill_diagonals(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix, const OwnedArray<Index, Space> &offsets,
                    Index pitch, const OwnedArray<Scalar, Space> &values)
{
  const int count = static_cast<int>(offsets.extent(0));
  Index missing   = 0;
  Kokkos::parallel_reduce(
      "weft diagonals", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &others) {
        for (int d = 0; d < count; d++) values(d * pitch + i) = 0;
        int d = 0;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Index offset = Index(matrix.columns[k]) - i;
          int tried          = 0;
          for (; tried < count && offsets(d) != offset; tried++) d = d + 1 < count ? d + 1 : 0;
          if (tried == count)
            others++;
          else
            values(d * pitch + i) += matrix.values[k];
        }
      },
      missing);
  return missing == 0;
}

} // namespace weft
