/// From the matrix' values to those that the factors are made of: permuted, scaled, shifted.
#pragma once
#include "crout/factorization.hpp"
#include "crout/pattern/entries.hpp"
#include "crout/sweeps/chunk_sums.hpp"

namespace weft::crout {

/// Row and column scales, in the order of the factors.
template <class Space>
struct Scales {
  Array<double, Space> row, column; ///< empty: 1

  KOKKOS_INLINE_FUNCTION DoubleScalar scaled(DoubleScalar value, Index i, Index j) const
  {
    return row.data() ? row(i) * value * column(j) : value;
  }
};

namespace detail {

/// Largest magnitude, scaled, of each row and column. A maximum is the same in whatever order it is found.
template <class Space>
void largest_entries(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values, const Scales<Space> &scales,
                     const Array<double, Space> &of_row, const Array<double, Space> &of_column)
{
  Kokkos::deep_copy(space, of_row, 0.0);
  Kokkos::deep_copy(space, of_column, 0.0);
  Kokkos::parallel_for(
      "weft largest entries", Range<Space>(space, 0, entries.size()), KOKKOS_LAMBDA(const Index e) {
        if (entries.source(e) == nowhere) return;
        const Index diagonal = e - (entries.lower + entries.upper);
        const Index i = diagonal >= 0 ? diagonal : entries.row_of(e), j = diagonal >= 0 ? diagonal : entries.columns(e);
        const double size = modulus(scales.scaled(value_of(values, entries.source(e)), i, j));
        if (!Kokkos::isfinite(size)) return;
        Kokkos::atomic_max(&of_row(i), size);
        Kokkos::atomic_max(&of_column(j), size);
      });
}

/// 0 for fill and for what is not finite.
KOKKOS_INLINE_FUNCTION double size_of_source(const KernelScalar *values, Position source)
{
  const double size = source == nowhere ? 0 : modulus(value_of(values, source));
  return Kokkos::isfinite(size) ? size : 0;
}

KOKKOS_INLINE_FUNCTION double inverse_root(double size)
{
  return size > 0 ? 1 / Kokkos::sqrt(size) : 1.0;
}

} // namespace detail

/// Fills scales (rows elements each, 1 for the first pass of ruiz). A row without a diagonal entry takes its largest entry instead. symmetric:
/// the same for rows and columns.
template <class Space>
void find_scales(const Space &space, FactorScaling scaling, const FactorEntries<Space> &entries, const KernelScalar *values,
                 const Scales<Space> &scales)
{
  const Index rows = entries.rows;
  if (scaling == FactorScaling::unit_diagonal) {
    Kokkos::parallel_for(
        "weft unit diagonal", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
          double size = detail::size_of_source(values, entries.diagonal_source(i));
          if (size == 0) {
            for (Index e = entries.lower_starts(i); e < entries.lower_starts(i + 1); e++)
              size = Kokkos::max(size, detail::size_of_source(values, entries.lower_source(i, e)));
            for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++)
              size = Kokkos::max(size, detail::size_of_source(values, entries.upper_source(i, e)));
          }
          scales.row(i) = scales.column(i) = detail::inverse_root(size);
        });
    return;
  }
  const auto of_row    = make_array<double>(space, "weft largest of rows", rows);
  const auto of_column = make_array<double>(space, "weft largest of columns", rows);
  Kokkos::deep_copy(space, scales.row, 1.0);
  Kokkos::deep_copy(space, scales.column, 1.0);
  for (int pass = 0; pass < 3; pass++) { // D. Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices", 2001
    detail::largest_entries(space, entries, values, scales, of_row, of_column);
    Kokkos::parallel_for(
        "weft ruiz", Range<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
          scales.row(i) *= detail::inverse_root(of_row(i));
          scales.column(i) *= detail::inverse_root(of_column(i));
        });
  }
}

/// What gathering the values found.
struct Gathered {
  Index bad   = -1; ///< first row (of the factors) with a value that is not finite, in this Scalar
  double size = 0;  ///< sum of the squares of all entries
};

namespace detail {

struct RowSums {
  using is_sum = void;
  double sizes = 0, squares = 0;
  std::int64_t bad = 0; ///< rows with a value that is not finite; of a size that leaves no padding, which nobody would write

  KOKKOS_INLINE_FUNCTION RowSums &operator+=(const RowSums &other)
  {
    sizes += other.sizes;
    squares += other.squares;
    bad += other.bad;
    return *this;
  }
};

/// Values of the entries of one row, by one thread or several.
template <class Scalar, class Space>
struct GatherRow {
  FactorEntries<Space> entries;
  const KernelScalar *values;
  Scales<Space> scales;
  Array<Scalar, Space> matrix;
  Array<double, Space> sums;

  /// A value of the matrix in the row and column that are scaled so.
  KOKKOS_INLINE_FUNCTION DoubleScalar scaled(Position source, double scale, Index column) const
  {
    const DoubleScalar value = source == nowhere ? DoubleScalar(0) : value_of(values, source);
    return scales.row.data() ? scale * value * scales.column(column) : value;
  }
  KOKKOS_INLINE_FUNCTION void put(Index entry, DoubleScalar value, RowSums &row) const
  {
    const Scalar rounded = static_cast<Scalar>(value);
    matrix(entry)        = rounded;
    const double size    = static_cast<double>(modulus(rounded));
    row.sizes += size;
    row.squares += size * size;
  }
  /// Entries first, first + step, ... of row i: lower, upper, diagonal. So many loads are under way at a time.
  template <int at_once>
  KOKKOS_INLINE_FUNCTION RowSums take(Index i, int first, int step) const
  {
    const auto number    = [](Index e) { return static_cast<Position>(e); };
    const Position lower = number(entries.lower_starts(i)), upper = number(entries.upper_start(i)), diagonal = number(entries.diagonal(i));
    const Position stored = lower + upper + number(i - entries.lower); // where as_stored
    const int below       = static_cast<int>(entries.lower_starts(i + 1) - lower);
    const int last        = below + static_cast<int>(entries.upper_start(i + 1) - upper);
    const double scale    = scales.row.data() ? scales.row(i) : 1.0;
    RowSums row;
    for (int k = first; k <= last; k += at_once * step) {
      std::int32_t column[at_once];
      Position entry[at_once], source[at_once];
      DoubleScalar value[at_once];
      for (int a = 0; a < at_once; a++) {
        const int place = k + a * step;
        entry[a]        = place < below ? lower + place : place < last ? upper + (place - below) : diagonal;
        column[a]       = place < last ? entries.columns(entry[a]) : static_cast<std::int32_t>(i);
        source[a]       = place > last        ? nowhere
                          : entries.as_stored ? stored + (place < below  ? place
                                                          : place < last ? place + 1
                                                                         : below)
                                              : entries.source(entry[a]);
      }
      for (int a = 0; a < at_once; a++) value[a] = scaled(source[a], scale, column[a]);
      for (int a = 0; a < at_once; a++) {
        if (k + a * step <= last) put(entry[a], value[a], row);
      }
    }
    return row;
  }
  /// The same of all entries, by a thread that has few registers and a cache.
  KOKKOS_INLINE_FUNCTION RowSums take_in_turn(Index i) const
  {
    const double scale = scales.row.data() ? scales.row(i) : 1.0;
    RowSums row;
    const auto take = [&](Index entry, Position source, Index column) { put(entry, scaled(source, scale, column), row); };
    for (Index e = entries.lower_starts(i); e < entries.lower_starts(i + 1); e++) take(e, entries.lower_source(i, e), entries.columns(e));
    for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) take(e, entries.upper_source(i, e), entries.columns(e));
    take(entries.diagonal(i), entries.diagonal_source(i), i);
    return row;
  }
  KOKKOS_INLINE_FUNCTION RowSums finish(Index i, RowSums row) const
  {
    sums(i) = row.sizes;
    row.bad = !Kokkos::isfinite(static_cast<RealOf<Scalar>>(row.sizes));
    return row;
  }
  KOKKOS_INLINE_FUNCTION RowSums operator()(const Index i) const
  {
    constexpr bool on_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
    if constexpr (on_host)
      return finish(i, take_in_turn(i));
    else
      return finish(i, take<8>(i, 0, 1));
  }
};

/// A chunk of rows by a team, a few lanes a row: for longer rows.
template <class Scalar, class Space>
struct GatherChunk {
  GatherRow<Scalar, Space> row;
  Array<RowSums, Space> partial;

  static constexpr int lanes = 8;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Index begin = static_cast<Index>(team.league_rank()) * chunk_items, rows = row.entries.rows;
    const Index end = begin + chunk_items < rows ? begin + chunk_items : rows;
    RowSums sums;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end),
        [&](const Index i, RowSums &sum) {
          RowSums mine;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, lanes), [&](const int lane, RowSums &part) { part += row.template take<4>(i, lane, lanes); },
              Kokkos::Sum<RowSums>(mine));
          RowSums whole = mine;
          Kokkos::single(
              Kokkos::PerThread(team), [&](RowSums &result) { result = row.finish(i, mine); }, whole);
          sum += whole;
        },
        Kokkos::Sum<RowSums>(sums));
    Kokkos::single(Kokkos::PerTeam(team), [&] { partial(team.league_rank()) = sums; });
  }
};

} // namespace detail

/// Room for the sums of gather_values: chunks_of(rows) elements, and one.
template <class Space>
struct GatherRoom {
  Array<detail::RowSums, Space> partial, sum;
};

/// matrix(e) = the scaled value of entry e, 0 for fill; sums(i) = sum of the sizes in row i. Waits.
template <class Scalar, class Space>
Gathered gather_values(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values, const Scales<Space> &scales,
                       const Array<Scalar, Space> &matrix, const Array<double, Space> &sums, GatherRoom<Space> room = {})
{
  constexpr bool on_host = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
  const detail::GatherRow<Scalar, Space> row{entries, values, scales, matrix, sums};
  detail::RowSums found;
  if (!room.sum.data()) {
    room.partial = make_array<detail::RowSums>(space, "weft sums of chunks", chunks_of(entries.rows));
    room.sum     = make_array<detail::RowSums>(space, "weft sum of chunks", 1);
  }
  if (on_host || entries.size() < 16 * entries.rows) {
    sum_chunks("weft gather values", space, entries.rows, row, room.partial);
  } else {
    using Gather = detail::GatherChunk<Scalar, Space>;
    Kokkos::parallel_for("weft gather values", chunk_policy(space, entries.rows, Gather::lanes), Gather{row, room.partial});
  }
  sum_of_chunks(space, chunks_of(entries.rows), 1, room.partial, room.sum, 0);
  Kokkos::deep_copy(space, HostPointer<detail::RowSums>(&found, 1), room.sum);
  space.fence("weft gather values");
  if (found.bad == 0) return {-1, found.squares};
  Index first = std::numeric_limits<Index>::max();
  Kokkos::parallel_reduce(
      "weft find what is not finite", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index i, Index &least) {
        if (!Kokkos::isfinite(static_cast<RealOf<Scalar>>(sums(i))) && i < least) least = i;
      },
      Kokkos::Min<Index>(first));
  space.fence("weft find what is not finite");
  return {first, found.squares};
}

/// The diagonal entries of the factors' rows against the rest of their rows.
struct Diagonals {
  Index doubtful = 0;   ///< missing, zero, or small enough for a second look: of a cycle of entries that are larger together than their
                        ///< diagonal entries, one row at least has it that way, however the matrix is scaled
  Index outweighed = 0; ///< missing, zero, or smaller than the sum of the sizes of the others
};

/// Reads the matrix' values once. Waits.
template <class Space>
Diagonals look_at_diagonals(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values)
{
  constexpr double doubtful_below = 1e-4, rounding = 1e-12; // of a sum that was made in another order
  Diagonals seen;
  Kokkos::parallel_reduce(
      "weft look at diagonals", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index i, Index &doubtful, Index &outweighed) {
        double largest = 0, sum = 0;
        const auto take = [&](Position source) {
          const double size = detail::size_of_source(values, source);
          largest           = Kokkos::max(largest, size);
          sum += size;
        };
        for (Index e = entries.lower_starts(i); e < entries.lower_starts(i + 1); e++) take(entries.lower_source(i, e));
        for (Index e = entries.upper_start(i); e < entries.upper_start(i + 1); e++) take(entries.upper_source(i, e));
        const double size = detail::size_of_source(values, entries.diagonal_source(i));
        doubtful += size == 0 || size < doubtful_below * largest;
        outweighed += size == 0 || !(sum <= (1 + rounding) * size);
      },
      seen.doubtful, seen.outweighed);
  space.fence("weft look at diagonals");
  return seen;
}

/// True if all diagonal entries are positive. Waits.
template <class Space>
bool diagonal_is_positive(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values)
{
  Index others = 0;
  Kokkos::parallel_reduce(
      "weft sign of the diagonal", Range<Space>(space, 0, entries.rows),
      KOKKOS_LAMBDA(const Index i, Index &sum) {
        const Position source = entries.source(entries.diagonal(i));
        sum += source == nowhere || !(real_part(values[source]) > 0) || values[source] != DoubleScalar(real_part(values[source]));
      },
      others);
  space.fence("weft sign of the diagonal");
  return others == 0;
}

/// Of a matrix with a unit diagonal: the sizes that pivots are judged by, no more than a few times the diagonal. A row or a column in other
/// units leaves its pivot 1 and makes sums of any size.
template <class Scalar, class Space>
void limit_sums(const Space &space, const FactorEntries<Space> &entries, const Array<Scalar, Space> &matrix,
                const Array<double, Space> &sums)
{
  constexpr double most = 8;
  Kokkos::parallel_for(
      "weft sizes of pivots", Range<Space>(space, 0, entries.rows), KOKKOS_LAMBDA(const Index i) {
        const double diagonal = static_cast<double>(modulus(matrix(entries.diagonal(i))));
        if (diagonal > 0 && sums(i) > most * diagonal) sums(i) = most * diagonal;
      });
}

/// A pivot of a row of B, and what it is where it cannot be used.
template <class Space>
struct PivotRule {
  Array<double, Space> sums; ///< of the sizes in each row of B, or what stands for them: limit_sums()
  double smallest = 0;       ///< times the row's sum: larger pivots are used as they are
  double replaced = 0;       ///< the size that a smaller one gets, times the row's sum; >= smallest

  /// What is no number stays one, for who looks at the factors.
  KOKKOS_INLINE_FUNCTION bool usable(DoubleScalar pivot, Index i) const { return !(modulus(pivot) <= smallest * sums(i)); }
  /// Seen from the finished factors: up to rounding of the replacement.
  KOKKOS_INLINE_FUNCTION bool was_replaced(DoubleScalar pivot, Index i) const
  {
    return !(modulus(pivot) > 1.0001 * replaced * sums(i)) || !(sums(i) > 0);
  }
  KOKKOS_INLINE_FUNCTION DoubleScalar replacement(DoubleScalar pivot, Index i) const
  {
    return towards(sums(i) > 0 ? replaced * sums(i) : 1.0, pivot);
  }
};

/// The diagonal of B with a shift: b_ii + shift * |b_ii| away from zero (upwards where `upwards`); the row's sum stands for a zero b_ii.
template <class Scalar, class Space>
void shifted_diagonal(const Space &space, const FactorEntries<Space> &entries, const KernelScalar *values, const Scales<Space> &scales,
                      const PivotRule<Space> &rule, double shift, bool upwards, const Array<Scalar, Space> &matrix)
{
  Kokkos::parallel_for(
      "weft shifted diagonal", Range<Space>(space, 0, entries.rows), KOKKOS_LAMBDA(const Index i) {
        const Position source       = entries.source(entries.diagonal(i));
        const DoubleScalar diagonal = source == nowhere ? DoubleScalar(0) : scales.scaled(values[source], i, i);
        const double amount         = shift * (diagonal != 0 ? modulus(diagonal) : rule.sums(i));
        matrix(entries.diagonal(i)) = static_cast<Scalar>(diagonal + (upwards ? DoubleScalar(amount) : towards(amount, diagonal)));
      });
}

} // namespace weft::crout
