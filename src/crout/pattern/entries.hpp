/// FactorEntries: where the factors of a matrix have entries, and which of the matrix' values belong to them. Made from a CSR matrix, its rows
/// and columns reordered, on the space where it is.
#pragma once
#include <limits>
#include <stdexcept>

#include "crout/arrays.hpp"
#include "line/line_solver.hpp" // CsrMatrix

namespace weft::crout {

/// Entries in the order strictly lower, strictly upper (each by rows, columns ascending), diagonal: the order of every array of values.
template <class Space>
struct FactorEntries {
  Index rows = 0, lower = 0, upper = 0;
  Array<Index, Space> lower_starts, upper_starts; ///< rows + 1, both from 0
  Array<std::int32_t, Space> columns, row_of;     ///< lower + upper
  Array<Position, Space> source;                  ///< size(): the matrix' value of each entry, `nowhere` for fill
  Array<char, Space> starts_memory, memory;       ///< where these are
  bool as_stored = false;                         ///< the matrix has just these entries in this order, row by row: lower, diagonal, upper

  Index size() const { return lower + upper + rows; }
  KOKKOS_INLINE_FUNCTION Index diagonal(Index row) const { return lower + upper + row; }
  KOKKOS_INLINE_FUNCTION Index upper_start(Index row) const { return lower + upper_starts(row); }
  KOKKOS_INLINE_FUNCTION bool is_upper(Index e) const { return e >= lower && e < lower + upper; }
  /// source() of entries of a row, which is not read where its entries are side by side in the matrix.
  KOKKOS_INLINE_FUNCTION Position lower_source(Index row, Index e) const
  {
    return as_stored ? static_cast<Position>(e + upper_starts(row) + row) : source(e);
  }
  KOKKOS_INLINE_FUNCTION Position diagonal_source(Index row) const
  {
    return as_stored ? static_cast<Position>(lower_starts(row + 1) + upper_starts(row) + row) : source(diagonal(row));
  }
  KOKKOS_INLINE_FUNCTION Position upper_source(Index row, Index e) const
  {
    return as_stored ? static_cast<Position>(e - lower + lower_starts(row + 1) + row + 1) : source(e);
  }
  /// The entry (row, column), or -1 if there is none.
  KOKKOS_INLINE_FUNCTION Index find(Index row, std::int32_t column) const
  {
    if (column == row) return diagonal(row);
    const bool is_lower = column < row;
    const Index begin   = is_lower ? lower_starts(row) : upper_start(row);
    const Index end     = is_lower ? lower_starts(row + 1) : upper_start(row + 1);
    const Index at      = find_column(columns, begin, end, column);
    return at == end ? -1 : at;
  }
};

/// Orders of rows and columns on the space: new to old and old to new. Empty arrays stand for the identity.
template <class Space>
struct Orders {
  Array<std::int32_t, Space> rows, columns, row_places, column_places;

  KOKKOS_INLINE_FUNCTION Index old_row(Index i) const { return rows.data() ? rows(i) : i; }
  KOKKOS_INLINE_FUNCTION Index new_row(Index i) const { return row_places.data() ? row_places(i) : i; }
  KOKKOS_INLINE_FUNCTION Index new_column(Index j) const { return column_places.data() ? column_places(j) : j; }
};

/// Throws std::invalid_argument unless the rows are ones that can be read; returns whether the columns of all rows ascend.
template <class Space, class Int>
bool check_matrix(const Space &space, Index rows, const CsrMatrix<KernelScalar, Int> &matrix)
{
  constexpr Index none = std::numeric_limits<Index>::max();
  Index backwards = none, outside = none, empty = none, unsorted = none;
  Kokkos::parallel_reduce(
      "weft check matrix", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &first_backwards, Index &first_outside, Index &first_empty, Index &first_unsorted) {
        const Int begin = matrix.row_starts[i], end = matrix.row_starts[i + 1];
        if (end < begin && i < first_backwards) first_backwards = i;
        if (end == begin && i < first_empty) first_empty = i;
        for (Int k = begin; k < end; k++) {
          const Index j = matrix.columns[k];
          if ((j < 0 || j >= rows) && i < first_outside) first_outside = i;
          if (k > begin && matrix.columns[k - 1] >= j && i < first_unsorted) first_unsorted = i;
        }
      },
      Kokkos::Min<Index>(backwards), Kokkos::Min<Index>(outside), Kokkos::Min<Index>(empty), Kokkos::Min<Index>(unsorted));
  space.fence("weft check matrix");
  const auto refuse = [](Index row, const char *what) {
    if (row != none) throw std::invalid_argument("row " + std::to_string(row) + " " + what);
  };
  refuse(backwards, "ends before it begins");
  refuse(outside, "has a column outside the matrix");
  refuse(empty, "is empty: the matrix is singular, no factorization exists");
  return unsorted == none;
}

namespace detail {

/// Sorts each row of a triangle, whose columns and sources are in the order in which they were found. Throws for an entry that is there twice.
template <class Space>
void sort_rows(const Space &space, const Array<Index, Space> &starts, Index first, Index size, const FactorEntries<Space> &entries,
               const Orders<Space> &orders)
{
  const auto keys    = make_array<std::uint64_t>(space, "weft sort rows", size);
  const auto columns = entries.columns;
  const auto source  = entries.source;
  Kokkos::parallel_for(
      "weft keys of rows", Range<Space>(space, 0, size),
      KOKKOS_LAMBDA(const Index e) { keys(e) = (static_cast<std::uint64_t>(columns(first + e)) << 32) | source(first + e); });
  constexpr Index none = std::numeric_limits<Index>::max();
  Index twice          = none;
  Kokkos::parallel_reduce(
      "weft sort rows", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index i, Index &first_twice) {
        const Index begin = starts(i), end = starts(i + 1);
        sort_keys(keys.data() + begin, end - begin);
        for (Index e = begin; e < end; e++) {
          columns(first + e) = static_cast<std::int32_t>(keys(e) >> 32);
          source(first + e)  = static_cast<Position>(keys(e) & 0xffffffffu);
          if (e > begin && columns(first + e) == columns(first + e - 1) && orders.old_row(i) < first_twice) first_twice = orders.old_row(i);
        }
      },
      Kokkos::Min<Index>(twice));
  space.fence("weft sort rows");
  if (twice != none) throw std::invalid_argument("row " + std::to_string(twice) + " has an entry twice");
}

template <class Space>
void allocate(const Space &space, FactorEntries<Space> &entries)
{
  if (entries.size() > most_entries)
    throw std::length_error("the factors would have " + std::to_string(entries.size()) + " entries, more than " +
                            std::to_string(most_entries) + ": allow less fill");
  const Index off_diagonal = entries.lower + entries.upper;
  Room<Space> room(space, "weft factor entries",
                   2 * Room<Space>::template bytes<std::int32_t>(off_diagonal) + Room<Space>::template bytes<Position>(entries.size()));
  entries.memory  = room.memory;
  entries.columns = room.template take<std::int32_t>(off_diagonal);
  entries.row_of  = room.template take<std::int32_t>(off_diagonal);
  entries.source  = room.template take<Position>(entries.size());
}

template <class Space>
void fill_row_of(const Space &space, const FactorEntries<Space> &entries)
{
  Kokkos::parallel_for(
      "weft rows of entries", Range<Space>(space, 0, entries.rows), KOKKOS_LAMBDA(const Index i) {
        for (Index e = entries.lower_starts(i); e < entries.lower_starts(i + 1); e++) entries.row_of(e) = static_cast<std::int32_t>(i);
        for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) entries.row_of(e) = static_cast<std::int32_t>(i);
      });
}

} // namespace detail

/// The columns of the upper triangle: for column j, column_entries(column_starts(j) ..) = row << 32 | entry, rows ascending.
template <class Space>
struct UpperColumns {
  Array<Index, Space> starts;
  Array<std::uint64_t, Space> entries;
};

template <class Space>
UpperColumns<Space> upper_columns(const Space &space, const FactorEntries<Space> &entries)
{
  UpperColumns<Space> result;
  result.starts      = Array<Index, Space>(Kokkos::view_alloc(space, "weft column starts"), static_cast<std::size_t>(entries.rows + 1));
  result.entries     = make_array<std::uint64_t>(space, "weft column entries", entries.upper);
  const auto starts  = result.starts;
  const auto list    = result.entries;
  const auto columns = entries.columns, row_of = entries.row_of;
  const Index first = entries.lower;
  Kokkos::parallel_for(
      "weft column sizes", Range<Space>(space, first, first + entries.upper),
      KOKKOS_LAMBDA(const Index e) { Kokkos::atomic_inc(&starts(columns(e))); });
  starts_of_sizes(space, starts);
  const auto next = make_array<Index>(space, "weft column ends", entries.rows + 1);
  Kokkos::deep_copy(space, next, starts);
  Kokkos::parallel_for(
      "weft column entries", Range<Space>(space, first, first + entries.upper), KOKKOS_LAMBDA(const Index e) {
        list(Kokkos::atomic_fetch_add(&next(columns(e)), Index(1))) =
            (static_cast<std::uint64_t>(row_of(e)) << 32) | static_cast<std::uint64_t>(e);
      });
  Kokkos::parallel_for(
      "weft sort columns", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index j) { sort_keys(list.data() + starts(j), starts(j + 1) - starts(j)); });
  return result;
}

namespace detail {

/// Entries of a matrix that is read whole.
template <class Space, class Int>
FactorEntries<Space> general_entries(const Space &space, Index rows, const CsrMatrix<KernelScalar, Int> &matrix,
                                     const Orders<Space> &orders, bool sorted)
{
  FactorEntries<Space> entries;
  entries.rows = rows;
  Room<Space> room(space, "weft starts of rows", 2 * Room<Space>::template bytes<Index>(rows + 1));
  entries.starts_memory   = room.memory;
  entries.lower_starts    = room.template take<Index>(rows + 1);
  entries.upper_starts    = room.template take<Index>(rows + 1);
  const auto lower_starts = entries.lower_starts, upper_starts = entries.upper_starts;
  constexpr Index none = std::numeric_limits<Index>::max();
  Index twice = none, diagonals = 0;
  Kokkos::parallel_reduce(
      "weft factor row sizes", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &first_twice, Index &all_diagonals) {
        const Index row = orders.old_row(i);
        Index lower = 0, upper = 0, diagonal = 0;
        for (Int k = matrix.row_starts[row]; k < matrix.row_starts[row + 1]; k++) {
          const Index j = orders.new_column(matrix.columns[k]);
          lower += j < i;
          upper += j > i;
          diagonal += j == i;
        }
        lower_starts(i) = lower;
        upper_starts(i) = upper;
        all_diagonals += diagonal;
        if (diagonal > 1 && row < first_twice) first_twice = row;
      },
      Kokkos::Min<Index>(twice), Kokkos::Sum<Index>(diagonals));
  const TwoSums sizes = starts_of_sizes(space, entries.lower_starts, entries.upper_starts);
  entries.lower       = sizes.first;
  entries.upper       = sizes.second;
  entries.as_stored   = sorted && diagonals == rows && !orders.rows.data() && !orders.columns.data();
  if (twice != none) throw std::invalid_argument("row " + std::to_string(twice) + " has its diagonal entry twice");
  allocate(space, entries);
  Kokkos::parallel_for(
      "weft factor entries", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        const Index row = orders.old_row(i);
        Index lower = entries.lower_starts(i), upper = entries.upper_start(i);
        entries.source(entries.diagonal(i)) = nowhere;
        for (Int k = matrix.row_starts[row]; k < matrix.row_starts[row + 1]; k++) {
          const Index j      = orders.new_column(matrix.columns[k]);
          const Index at     = j == i ? entries.diagonal(i) : j < i ? lower++ : upper++;
          entries.source(at) = static_cast<Position>(k);
          if (j == i) continue;
          entries.columns(at) = static_cast<std::int32_t>(j);
          entries.row_of(at)  = static_cast<std::int32_t>(i);
        }
      });
  if (!sorted || orders.columns.data()) {
    sort_rows(space, entries.lower_starts, 0, entries.lower, entries, orders);
    sort_rows(space, entries.upper_starts, entries.lower, entries.upper, entries, orders);
  }
  return entries;
}

/// Makes the lower triangle the mirror of the upper one, which has its columns, rows and sources.
template <class Space>
FactorEntries<Space> mirrored(const Space &space, const FactorEntries<Space> &half, Symmetry symmetry)
{
  const UpperColumns<Space> columns = upper_columns(space, half);
  FactorEntries<Space> entries;
  entries.rows  = half.rows;
  entries.lower = entries.upper = half.upper;
  entries.lower_starts          = columns.starts;
  entries.upper_starts          = half.upper_starts;
  allocate(space, entries);
  const Index size = half.upper, rows = half.rows, half_lower = half.lower;
  const Position other_half = symmetry.hermitian ? conjugated : 0;
  Kokkos::parallel_for(
      "weft mirror", Range<Space>(space, 0, size + rows), KOKKOS_LAMBDA(const Index e) {
        if (e >= size) {
          entries.source(e + size) = half.source(half_lower + e);
          return;
        }
        const Index mirror        = static_cast<Index>(columns.entries(e) & 0xffffffffu);
        entries.columns(e)        = static_cast<std::int32_t>(columns.entries(e) >> 32);
        entries.row_of(e)         = half.columns(mirror);
        entries.source(e)         = half.source(mirror) == nowhere ? nowhere : half.source(mirror) ^ other_half;
        entries.columns(size + e) = half.columns(half_lower + e);
        entries.row_of(size + e)  = half.row_of(half_lower + e);
        entries.source(size + e)  = half.source(half_lower + e);
      });
  return entries;
}

/// Counts the entries right of the diagonal of each row in the new order. No lambda, as below: GCC makes another copy of a function for some callers, and
/// nvcc's lambdas jump to nowhere there (scripts/check_lambdas.py).
template <class Space, class Int>
struct SymmetricRowSizes {
  CsrMatrix<KernelScalar, Int> matrix;
  Orders<Space> orders;
  Array<Index, Space> sizes;

  KOKKOS_INLINE_FUNCTION void operator()(const Index row) const
  {
    const Index i = orders.new_row(row);
    for (Int k = matrix.row_starts[row]; k < matrix.row_starts[row + 1]; k++) {
      if (matrix.columns[k] <= row) continue;
      const Index j = orders.new_row(matrix.columns[k]);
      Kokkos::atomic_inc(&sizes(i < j ? i : j));
    }
  }
};

/// Puts them there, in any order; joins the first row that has its diagonal entry twice.
template <class Space, class Int>
struct SymmetricHalf {
  CsrMatrix<KernelScalar, Int> matrix;
  Orders<Space> orders;
  FactorEntries<Space> half;
  Array<Index, Space> next; ///< free place of each row
  Position turned_round;    ///< where the orders bring an entry below the diagonal

  KOKKOS_INLINE_FUNCTION void operator()(const Index row, Index &first_twice) const
  {
    const Index i                 = orders.new_row(row);
    half.source(half.diagonal(i)) = nowhere;
    for (Int k = matrix.row_starts[row]; k < matrix.row_starts[row + 1]; k++) {
      if (matrix.columns[k] < row) continue;
      if (matrix.columns[k] == row) {
        if (half.source(half.diagonal(i)) != nowhere && row < first_twice) first_twice = row;
        half.source(half.diagonal(i)) = static_cast<Position>(k);
        continue;
      }
      const Index j = orders.new_row(matrix.columns[k]), from = i < j ? i : j;
      const Index at   = Kokkos::atomic_fetch_add(&next(from), Index(1));
      half.columns(at) = static_cast<std::int32_t>(i < j ? j : i);
      half.row_of(at)  = static_cast<std::int32_t>(from);
      half.source(at)  = static_cast<Position>(k) | (i < j ? 0 : turned_round);
    }
  }
};

/// Entries of a symmetric matrix of which only the part on and above the diagonal is read; one order for rows and columns.
template <class Space, class Int>
FactorEntries<Space> symmetric_entries(const Space &space, Index rows, const CsrMatrix<KernelScalar, Int> &matrix,
                                       const Orders<Space> &orders, Symmetry symmetry)
{
  FactorEntries<Space> half;
  half.rows         = rows;
  half.lower_starts = Array<Index, Space>(Kokkos::view_alloc(space, "weft lower starts"), static_cast<std::size_t>(rows + 1));
  half.upper_starts = Array<Index, Space>(Kokkos::view_alloc(space, "weft upper starts"), static_cast<std::size_t>(rows + 1));
  Kokkos::parallel_for("weft factor row sizes", Range<Space>(space, 0, rows),
                       SymmetricRowSizes<Space, Int>{matrix, orders, half.upper_starts});
  half.upper = starts_of_sizes(space, half.upper_starts);
  allocate(space, half);
  const auto next = make_array<Index>(space, "weft row ends", rows + 1);
  Kokkos::deep_copy(space, next, half.upper_starts);
  constexpr Index none = std::numeric_limits<Index>::max();
  Index twice          = none;
  Kokkos::parallel_reduce("weft factor entries", Range<Space>(space, 0, rows),
                          SymmetricHalf<Space, Int>{matrix, orders, half, next, symmetry.hermitian ? conjugated : 0},
                          Kokkos::Min<Index>(twice));
  space.fence("weft factor entries");
  if (twice != none) throw std::invalid_argument("row " + std::to_string(twice) + " has its diagonal entry twice");
  sort_rows(space, half.upper_starts, 0, half.upper, half, orders);
  return mirrored(space, half, symmetry);
}

} // namespace detail

/// The entries of P_rows A P_columns, with a diagonal whether A has one or not. symmetric: only entries on and above the diagonal of A are
/// read, the others are their mirror images (their conjugates where Hermitian), and both orders are orders.rows.
template <class Space, class Int>
FactorEntries<Space> entries_of(const Space &space, Index rows, const CsrMatrix<KernelScalar, Int> &matrix, const Orders<Space> &orders,
                                Symmetry symmetric, bool sorted)
{
  return symmetric ? detail::symmetric_entries(space, rows, matrix, orders, symmetric)
                   : detail::general_entries(space, rows, matrix, orders, sorted);
}

/// The same matrix on a larger pattern: columns of both triangles ascending, every entry of `entries` among them. Columns are `columns`, those
/// of the lower triangle first.
template <class Space>
FactorEntries<Space> extended(const Space &space, const FactorEntries<Space> &entries, const Array<Index, Space> &lower_starts,
                              const Array<Index, Space> &upper_starts, Index lower, Index upper, const Array<std::int32_t, Space> &columns)
{
  FactorEntries<Space> larger;
  larger.rows         = entries.rows;
  larger.lower        = lower;
  larger.upper        = upper;
  larger.lower_starts = lower_starts;
  larger.upper_starts = upper_starts;
  larger.columns      = columns;
  larger.row_of       = make_array<std::int32_t>(space, "weft factor rows", lower + upper);
  larger.source       = make_array<Position>(space, "weft factor sources", larger.size());
  detail::fill_row_of(space, larger);
  Kokkos::parallel_for(
      "weft sources of fill", Range<Space>(space, 0, larger.size()), KOKKOS_LAMBDA(const Index e) {
        const Index diagonal = e - (larger.lower + larger.upper);
        const Index at       = diagonal >= 0 ? entries.diagonal(diagonal) : entries.find(larger.row_of(e), larger.columns(e));
        larger.source(e)     = at < 0 ? nowhere : entries.source(at);
      });
  return larger;
}

} // namespace weft::crout
