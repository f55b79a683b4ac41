/// From CSR to diagonals, where the matrix is.
#pragma once
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "line/relax/stencil_matrix.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// What kernels find: bits, which the host reads after them.
template <class Space>
class Findings {
public:
  Findings() = default;
  /// To be cleared before it is used.
  explicit Findings(const std::string &label) : bits_(Kokkos::view_alloc(Kokkos::WithoutInitializing, label)) {}

  void clear(const Space &space) const { Kokkos::deep_copy(space, bits_, 0); }
  KOKKOS_INLINE_FUNCTION void report(int bits) const
  {
    if ((bits & ~Kokkos::atomic_load(&bits_())) != 0) Kokkos::atomic_or(&bits_(), bits);
  }
  /// For a host that waits later. Does not wait.
  template <class There>
  void tell(const Space &space, const There &there) const
  {
    Kokkos::deep_copy(space, there, bits_);
  }

private:
  Kokkos::View<int, typename Space::memory_space> bits_;
};

/// A number that kernels write and the host reads, after a fence, without a copy.
using Pinned = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>;

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

/// Offsets column - row, ascending, or nothing where there are more than most_diagonals. Waits.
///
/// Some rows tell nearly all of them. `all`: then the others compare with numbers that no thread changes any more, out of the nearest cache.
template <class Space, class Scalar, class Int>
std::optional<std::vector<Index>> offsets_of_csr(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix, bool all)
{
  constexpr Index none = std::numeric_limits<Index>::max(), some = 2048;
  const OwnedArray<Index, Space> slots("weft offsets", most_diagonals), known("weft known offsets", most_diagonals);
  Kokkos::deep_copy(space, slots, none);
  Kokkos::deep_copy(space, known, none);
  if (!collect_offsets(space, rows, rows / some + 1, matrix, known, slots)) return std::nullopt;
  if (all) {
    Kokkos::deep_copy(space, known, slots);
    if (!collect_offsets(space, rows, 1, matrix, known, slots)) return std::nullopt;
  }
  std::vector<Index> offsets(most_diagonals);
  Kokkos::deep_copy(space, Array<Index, Kokkos::HostSpace>(offsets.data(), offsets.size()), slots);
  space.fence("weft: offsets");
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::find(offsets.begin(), offsets.end(), none), offsets.end());
  return offsets;
}

/// Puts the entries of a row in their places in the diagonals.
template <class Scalar>
struct DiagonalsOfRow {
  const Index *offsets;
  int count;
  Index pitch;
  Scalar *values;

  /// Row i of `many` entries. Returns false if one lies on none of the diagonals.
  template <class Int>
  KOKKOS_INLINE_FUNCTION bool fill(Index i, const Int *columns, const Scalar *entries, Int many) const
  {
    // Columns in order: a walk along both.
    Int k = 0;
    for (int d = 0; d < count; d++) {
      const Index column = i + offsets[d];
      Scalar sum         = 0;
      for (; k < many && Index(columns[k]) == column; k++) sum += entries[k];
      values[d * pitch + i] = sum;
    }
    if (k == many) return true;
    // In any order.
    for (int d = 0; d < count; d++) values[d * pitch + i] = 0;
    bool placed = true;
    for (k = 0; k < many; k++) {
      int d = 0;
      while (d < count && i + offsets[d] != Index(columns[k])) d++;
      placed = placed && d < count;
      if (d < count) values[d * pitch + i] += entries[k];
    }
    return placed;
  }
};

/// Fills diagonal after diagonal, `pitch` words each, zeros after the last row. Returns false if an entry lies on none of them. Waits.
///
/// On a device a team brings the entries of its rows, which follow each other in memory, to its scratch memory first: threads that walk along
/// rows of their own in memory ask for every sector several times.
template <class Space, class Scalar, class Int>
bool fill_diagonals(const Space &space, Index rows, const CsrMatrix<Scalar, Int> &matrix, const OwnedArray<Index, Space> &offsets,
                    Index pitch, const OwnedArray<Scalar, Space> &values, const Pinned &missing)
{
  const int count = static_cast<int>(offsets.extent(0));
  const DiagonalsOfRow<Scalar> diagonals{offsets.data(), count, pitch, values.data()};
  missing() = 0;
  if constexpr (is_host_space<Space>) {
    Kokkos::parallel_for(
        "weft diagonals", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, pitch), KOKKOS_LAMBDA(const Index i) {
          const Int first = i < rows ? matrix.row_starts[i] : Int(0), end = i < rows ? matrix.row_starts[i + 1] : Int(0);
          if (!diagonals.fill(i, matrix.columns + first, matrix.values + first, end - first)) Kokkos::atomic_store(&missing(), 1);
        });
  } else {
    constexpr int most_bytes = 32 * 1024, entry = sizeof(Scalar) + sizeof(Int);
    int together = 256; // rows of a team, a thread each
    while (together > 32 && together * count * entry > most_bytes) together /= 2;
    const Int room = static_cast<Int>(together * Kokkos::max(count, 1));
    using Team     = Kokkos::TeamPolicy<Space>;
    Team policy(space, static_cast<int>((pitch + together - 1) / together), together);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(room) * entry + 16));
    Kokkos::parallel_for(
        "weft diagonals", policy, KOKKOS_LAMBDA(const typename Team::member_type &team) {
          const Index top = Index(team.league_rank()) * together, i = top + team.team_rank();
          const Int begin = matrix.row_starts[top < rows ? top : rows],
                    end   = matrix.row_starts[top + together < rows ? top + together : rows];
          const Int first = matrix.row_starts[i < rows ? i : rows], many = matrix.row_starts[i < rows ? i + 1 : rows] - first;
          const bool fits = end - begin <= room;
          auto *entries   = static_cast<Scalar *>(team.team_scratch(0).get_shmem_aligned(room * sizeof(Scalar), sizeof(Scalar)));
          auto *columns   = static_cast<Int *>(team.team_scratch(0).get_shmem_aligned(room * sizeof(Int), sizeof(Int)));
          if (fits) {
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, end - begin), [&](const Int k) {
              entries[k] = matrix.values[begin + k];
              columns[k] = matrix.columns[begin + k];
            });
          }
          team.team_barrier();
          if (i >= pitch) return;
          const bool placed = fits ? diagonals.fill(i, columns + (first - begin), entries + (first - begin), many)
                                   : diagonals.fill(i, matrix.columns + first, matrix.values + first, many);
          if (!placed) missing() = 1;
        });
  }
  space.fence("weft: diagonals");
  return missing() == 0;
}

} // namespace weft
