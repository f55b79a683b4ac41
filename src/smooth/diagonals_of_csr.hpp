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

/// Puts the offsets column - row of the entries of rows 0, step, 2 step, ... that are not among `known` into a list of slots, by
/// compare-and-swap, all from the first slot on, so that none is there twice. Returns false where the slots do not suffice. Waits.
template <class Space, class Scalar, class Int>
bool collect_offsets(const Space &space, Index rows, Index step, const CsrMatrix<Scalar, Int> &matrix,
                     const OwnedArray<Index, Space> &known, const OwnedArray<Index, Space> &slots)
{
  constexpr Index none = std::numeric_limits<Index>::max();
  Index left_over      = 0;
  Kokkos::parallel_reduce(
      "weft offsets", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, (rows + step - 1) / step),
      KOKKOS_LAMBDA(const Index number, Index &others) {
        const Index i = number * step;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
          const Index offset = Index(matrix.columns[k]) - i;
          int slot           = 0;
          while (slot < most_diagonals && known(slot) != none && known(slot) != offset) slot++;
          if (slot < most_diagonals && known(slot) == offset) continue;
          for (slot = 0; slot < most_diagonals; slot++) {
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
  return left_over == 0;
}

/// Offsets column - row of all entries, ascending, or nothing where there are more than most_diagonals. Waits.
///
/// Some rows tell nearly all of them; the others then compare with numbers that no thread changes any more, out of the nearest cache.
template <class Space, class Scalar, class Int>
std::optional<std::vector<Index>> offsets_of_csr(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix)
{
  constexpr Index none = std::numeric_limits<Index>::max(), some = 2048;
  const OwnedArray<Index, Space> slots("weft offsets", most_diagonals), known("weft known offsets", most_diagonals);
  Kokkos::deep_copy(space, slots, none);
  Kokkos::deep_copy(space, known, none);
  if (!collect_offsets(space, rows, rows / some + 1, matrix, known, slots)) return std::nullopt;
  Kokkos::deep_copy(space, known, slots);
  if (!collect_offsets(space, rows, 1, matrix, known, slots)) return std::nullopt;
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
        // Columns in order: a walk along both.
        Int k         = matrix.row_starts[i];
        const Int end = matrix.row_starts[i + 1];
        for (int d = 0; d < count; d++) {
          Scalar sum = 0;
          for (; k < end && Index(matrix.columns[k]) - i == offsets(d); k++) sum += matrix.values[k];
          values(d * pitch + i) = sum;
        }
        if (k == end) return;
        // In any order.
        for (int d = 0; d < count; d++) values(d * pitch + i) = 0;
        for (k = matrix.row_starts[i]; k < end; k++) {
          int d = 0;
          while (d < count && offsets(d) != Index(matrix.columns[k]) - i) d++;
          if (d == count)
            others++;
          else
            values(d * pitch + i) += matrix.values[k];
        }
      },
      missing);
  return missing == 0;
}

} // namespace weft
