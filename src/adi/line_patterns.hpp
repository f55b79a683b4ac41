/// LinePatterns: the lines of one direction as chunks of rows of which few are different, so that a solve reads no coefficients.
///
/// A line is cut into chunks of R rows. Chunks whose rows have the same couplings, the same share of the diagonal and the same fixed rows are
/// of one pattern: a rectangle with constant coefficients has four, a circle some thirty, an operator whose coefficients vary along
/// one direction as many as lines have chunks. For each shift the factors of a pattern are kept, those of wide.hpp: within a chunk
///   value_j = inverse_j rhs_j - lower_j value_{j-1},      x_j = value_j - before_j x_-1 - after_j x_{j+1}
///
/// Bytes a row: 4 / R, the number of its chunk's pattern.
#pragma once
#include <bit>
#include <cstdint>

#include "adi/split.hpp"
#include "line/methods/wide/wide_kernel.hpp"

namespace weft {

/// R: 128 bytes, so that a chunk is a whole memory line where rows follow each other.
template <class Scalar>
inline constexpr int pattern_rows = 128 / sizeof(Scalar);
/// More patterns than this are not worth keeping.
inline constexpr Index most_patterns = 1 << 16;

template <class Scalar>
struct alignas(4 * sizeof(Scalar) > 16 ? 16 : 4 * sizeof(Scalar)) PatternRow {
  Scalar inverse, lower, before, after;
};
/// The first unknown of a chunk, hanging on the one before the chunk and on the chunk's last one; its value is that of the right-hand side.
template <class Scalar>
struct PatternHead {
  Scalar before, after;
};

/// Factors of all patterns for one shift.
template <class Space, class Scalar>
struct PatternFactors {
  OwnedArray<PatternRow<Scalar>, Space> rows; ///< R of each pattern
  OwnedArray<PatternHead<Scalar>, Space> heads;
};

/// The rows that chunks are made of.
template <class Scalar>
struct PatternSource {
  static constexpr int R = pattern_rows<Scalar>;
  enum Kind : int { inner, fixed_row, none };
  struct Row {
    Kind kind;
    Scalar lower, share, upper;
    KOKKOS_INLINE_FUNCTION bool operator==(const Row &other) const
    {
      return kind == other.kind && lower == other.lower && share == other.share && upper == other.upper;
    }
  };

  LineLayout layout, chunks; ///< the rows, and their chunks as rows of shorter lines
  const Scalar *lower, *share, *upper;
  const std::uint8_t *fixed;

  KOKKOS_INLINE_FUNCTION Row row(Index line, Index r) const
  {
    if (r >= layout.length) return {none, 0, 1, 0};
    const Index i = layout.start(line) + r * layout.stride;
    return {fixed[i] ? fixed_row : inner, r > 0 ? lower[i] : Scalar(0), share[i], r + 1 < layout.length ? upper[i] : Scalar(0)};
  }
  KOKKOS_INLINE_FUNCTION static std::uint64_t bits(Scalar value)
  {
    using Word = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
    return Kokkos::bit_cast<Word>(value + Scalar(0)); // 0 and -0 are one
  }
  KOKKOS_INLINE_FUNCTION std::uint64_t hash(Index line, Index chunk) const
  {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    const auto mix  = [&](std::uint64_t word) {
      h = (h ^ word) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    };
    for (int j = 0; j < R; j++) {
      const Row at = row(line, chunk * R + j);
      mix(static_cast<std::uint64_t>(at.kind));
      mix(bits(at.lower));
      mix(bits(at.share));
      mix(bits(at.upper));
    }
    return h != 0 ? h : 1;
  }
  KOKKOS_INLINE_FUNCTION bool same(const LineRow &a, const LineRow &b) const
  {
    for (int j = 0; j < R; j++) {
      if (!(row(a.line, a.row * R + j) == row(b.line, b.row * R + j))) return false;
    }
    return true;
  }
};

/// Places of a hash table, found by looking at one after another.
template <class Memory>
struct PatternTable {
  static constexpr Index size = 4 * most_patterns, longest_look = 256;
  Kokkos::View<std::uint64_t *, Memory> keys; ///< 0: free
  Kokkos::View<Index *, Memory> first;        ///< the first chunk of each
  Kokkos::View<Index *, Memory> number;       ///< of the pattern, in the order of the table

  PatternTable() : keys("weft adi pattern keys", size), first("weft adi pattern chunks", size), number("weft adi pattern numbers", size) {}
  /// The place of a key, which is put there if it is new; -1 where the table is too full.
  KOKKOS_INLINE_FUNCTION Index place(std::uint64_t key) const
  {
    Index at = static_cast<Index>(key % static_cast<std::uint64_t>(size));
    for (Index n = 0; n < longest_look; n++, at = at + 1 < size ? at + 1 : 0) {
      std::uint64_t there = Kokkos::atomic_load(&keys(at));
      if (there == 0) there = Kokkos::atomic_compare_exchange(&keys(at), std::uint64_t(0), key);
      if (there == 0 || there == key) return at;
    }
    return -1;
  }
};

/// Which pattern each chunk has: `patterns`, in the layout source.chunks; `representatives`: a chunk of each. False where there are too many. Waits.
template <class Space, class Scalar>
bool find_patterns(const Space &space, const PatternSource<Scalar> &source, const OwnedArray<std::int32_t, Space> &patterns,
                   OwnedArray<Index, Space> &representatives)
{
  using Memory = typename Space::memory_space;
  const PatternTable<Memory> table;
  const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> all(space, 0, source.chunks.rows());
  Kokkos::deep_copy(space, table.first, Kokkos::Experimental::finite_max_v<Index>);
  Index failed = 0;
  Kokkos::parallel_reduce(
      "weft adi patterns", all,
      KOKKOS_LAMBDA(const Index k, Index &without) {
        const LineRow chunk = line_row(source.chunks, k);
        const Index at      = table.place(source.hash(chunk.line, chunk.row));
        if (at < 0)
          without++;
        else if (Kokkos::atomic_load(&table.first(at)) > k)
          Kokkos::atomic_min(&table.first(at), k);
      },
      failed);
  if (failed > 0) return false;
  Index count = 0;
  Kokkos::parallel_scan(
      "weft adi number patterns", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, table.size),
      KOKKOS_LAMBDA(const Index at, Index &sum, const bool last) {
        if (last) table.number(at) = sum;
        if (table.keys(at) != 0) sum++;
      },
      count);
  space.fence("weft: count patterns");
  if (count > most_patterns) return false;
  representatives             = OwnedArray<Index, Space>("weft adi patterns", static_cast<std::size_t>(count));
  const auto representatives_ = representatives;
  Kokkos::parallel_for(
      "weft adi first of patterns", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, table.size),
      KOKKOS_LAMBDA(const Index at) {
        if (table.keys(at) != 0) representatives_(table.number(at)) = table.first(at);
      });
  // Equal hashes say little: chunks are compared.
  Kokkos::parallel_reduce(
      "weft adi patterns of chunks", all,
      KOKKOS_LAMBDA(const Index k, Index &others) {
        const LineRow chunk = line_row(source.chunks, k);
        const Index at      = table.place(source.hash(chunk.line, chunk.row));
        if (!source.same(chunk, line_row(source.chunks, table.first(at)))) others++;
        patterns(source.chunks.start(chunk.line) + chunk.row * source.chunks.stride) = static_cast<std::int32_t>(table.number(at));
      },
      failed);
  return failed == 0;
}

/// Bit j: row j of the pattern is fixed.
template <class Space, class Scalar>
void find_fixed_rows(const Space &space, const PatternSource<Scalar> &source, const OwnedArray<Index, Space> &representatives,
                     const OwnedArray<std::uint32_t, Space> &fixed)
{
  Kokkos::parallel_for(
      "weft adi fixed rows of patterns", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(representatives.extent(0))),
      KOKKOS_LAMBDA(const Index p) {
        const LineRow chunk = line_row(source.chunks, representatives(p));
        std::uint32_t bits  = 0;
        for (int j = 0; j < source.R; j++) {
          if (source.row(chunk.line, chunk.row * source.R + j).kind == PatternSource<Scalar>::fixed_row) bits |= std::uint32_t(1) << j;
        }
        fixed(p) = bits;
      });
}

/// Factors of the patterns with a shift, which fixed rows do not get. `unusable`: takes a 1 where a pivot is.
template <class Space, class Scalar>
void factor_patterns(const Space &space, const PatternSource<Scalar> &source, const OwnedArray<Index, Space> &representatives, Scalar shift,
                     const PatternFactors<Space, Scalar> &factors, const Kokkos::View<int, typename Space::memory_space> &unusable)
{
  Kokkos::parallel_for(
      "weft adi factor patterns", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(representatives.extent(0))),
      KOKKOS_LAMBDA(const Index p) {
        constexpr int R          = PatternSource<Scalar>::R;
        const LineRow chunk      = line_row(source.chunks, representatives(p));
        PatternRow<Scalar> *rows = &factors.rows(p * R);
        Scalar before = 0, after = 0;
        for (int j = 0; j < R; j++) {
          const auto row        = source.row(chunk.line, chunk.row * R + j);
          const Scalar diagonal = row.kind == PatternSource<Scalar>::inner ? row.share + shift : row.share;
          const Scalar pivot    = diagonal - row.lower * after;
          if (!usable_pivot(pivot, Kokkos::abs(row.lower) + Kokkos::abs(diagonal) + Kokkos::abs(row.upper))) unusable() = 1;
          const Scalar inverse = reciprocal(pivot);
          before               = (j == 0 ? row.lower : -row.lower * before) * inverse;
          after                = row.upper * inverse;
          rows[j]              = {inverse, j == 0 ? Scalar(0) : row.lower * inverse, before, after};
        }
        PatternHead<Scalar> head{0, -1};
        for (int j = R - 2; j >= 0; j--) head = {rows[j].before - rows[j].after * head.before, -rows[j].after * head.after};
        factors.heads(p) = head;
      });
}

/// The patterns of the lines of a direction and where each is.
template <class Space, class Scalar>
class LinePatterns {
public:
  using Factors          = PatternFactors<Space, Scalar>;
  static constexpr int R = pattern_rows<Scalar>;

  /// False where there are too many. Waits.
  bool find(const Space &space, const LineLayout &layout, const Scalar *lower, const Scalar *share, const Scalar *upper,
            const std::uint8_t *fixed)
  {
    const LineLayout chunks = lines_like(layout, (layout.length + R - 1) / R);
    source_                 = {layout, chunks, lower, share, upper, fixed};
    if (static_cast<Index>(patterns_.extent(0)) != chunks.rows())
      patterns_ = OwnedArray<std::int32_t, Space>("weft adi patterns of chunks", static_cast<std::size_t>(chunks.rows()));
    if (!find_patterns(space, source_, patterns_, representatives_)) return false;
    fixed_ = OwnedArray<std::uint32_t, Space>("weft adi fixed rows", representatives_.extent(0));
    find_fixed_rows(space, source_, representatives_, fixed_);
    return true;
  }
  Factors factors(const Space &space, Scalar shift, const Kokkos::View<int, typename Space::memory_space> &unusable) const
  {
    Factors made{OwnedArray<PatternRow<Scalar>, Space>("weft adi pattern rows", representatives_.extent(0) * R),
                 OwnedArray<PatternHead<Scalar>, Space>("weft adi pattern heads", representatives_.extent(0))};
    factor_patterns(space, source_, representatives_, shift, made, unusable);
    return made;
  }
  Index count() const { return static_cast<Index>(representatives_.extent(0)); }
  const LineLayout &layout() const { return source_.layout; }
  const LineLayout &chunks() const { return source_.chunks; }
  const std::int32_t *patterns() const { return patterns_.data(); }
  const std::uint32_t *fixed() const { return fixed_.data(); }

private:
  PatternSource<Scalar> source_{};
  OwnedArray<std::int32_t, Space> patterns_;
  OwnedArray<Index, Space> representatives_;
  OwnedArray<std::uint32_t, Space> fixed_;
};

} // namespace weft
