/// The factors of block-tridiagonal lines that all methods here solve with: block LU along each line, the pivots inverted.
///
///   right_i = inverse_i upper_i,   left_i = inverse_i lower_i,   inverse_i = (diagonal_i - lower_i right_{i-1})^{-1}
///
/// so that a solve is two recurrences without divisions:  z_i = inverse_i rhs_i - left_i z_{i-1},  x_i = z_i - right_i x_{i+1}.
/// There is no pivoting between the block rows of a line, but partial pivoting inside each block: lines should be block diagonally dominant
/// or definite.
///
/// `Order` says where the blocks of a row stand, so that what neighbouring threads of a method read lies side by side:
///   first(line, row)   place of entry (0, 0)
///   apart              from an entry of a block to the next
///   size               of the places of all rows; times b * b for the tables
///
/// A thread eliminates a line. Where lines are too few for that, they are cut into chunks, a thread each, by Redheffer's star product
/// (Redheffer, On a certain linear fractional transformation, 1960): without right-hand sides a chunk ties its end rows to its neighbours by
///   x_first = first_before x_before + first_after x_after,   x_last = last_before x_before + last_after x_after
/// and x_before = -right_before x_first gives, from chunk to chunk,
///   right_last = last_before right_before (I + first_before right_before)^{-1} first_after - last_after.
/// Then each chunk is eliminated from the right_before that is its own: pivots and factors are those of the whole line, not of the cut one.
/// A chunk whose own elimination is not safe (a pivot below 1/1000 of its row), is gone through row by row instead.
#pragma once
#include <algorithm>
#include <cmath>

#include "line/blocks/block_tridiagonal.hpp"

namespace weft {

template <class Space, class Scalar, int b, class Order>
class BlockFactors {
public:
  using Table = OwnedArray<Scalar, Space>;

  BlockLines lines;
  Order order;
  Table inverse, left, right;
  PivotFlag<typename Space::memory_space> flag;
  /// Rows of a chunk, chunks of a line, and what is known of each: where there is one chunk, nothing.
  Index rows_of_chunk = 0, chunks = 1;
  Table first_before, first_after, last_before, last_after, right_before;

  /// `slice`: rows of a chunk, 0 for the own choice.
  BlockFactors(const BlockLines &of, const Order &in, int slice)
      : lines(of), order(in), inverse(table("weft block inverse", in.size)), left(table("weft block left", in.size)),
        right(table("weft block right", in.size)), flag(of.layout), rows_of_chunk(slice)
  {
    const Index length = lines.layout.length;
    if (slice == 0) { // a device holds some 32 times fewer threads of so many registers than it has places for threads
      const Index threads = Space().concurrency() / (on_device<Space> ? 32 : 4);
      rows_of_chunk       = lines.count() > threads || length < 128 ? length : std::max<Index>(32, std::lround(std::sqrt(length)));
    }
    if (length == 0 || rows_of_chunk >= length) return;
    chunks = (length + rows_of_chunk - 1) / rows_of_chunk;
    for (Table *each : {&first_before, &first_after, &last_before, &last_after, &right_before})
      *each = table("weft block chunks", lines.count() * chunks);
  }

  KOKKOS_INLINE_FUNCTION static Block<Scalar, b> get(const Table &from, Index first, Index apart)
  {
    Block<Scalar, b> block;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) block(p, q) = from(first + (p * b + q) * apart);
    }
    return block;
  }
  KOKKOS_INLINE_FUNCTION static void set(const Table &to, Index first, Index apart, const Block<Scalar, b> &block)
  {
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) to(first + (p * b + q) * apart) = block(p, q);
    }
  }
  /// A block of one of the factors.
  KOKKOS_INLINE_FUNCTION Block<Scalar, b> get(const Table &from, Index first) const { return get(from, first, order.apart); }
  KOKKOS_INLINE_FUNCTION void set(const Table &to, Index first, const Block<Scalar, b> &block) const { set(to, first, order.apart, block); }

private:
  static Table table(const std::string &label, Index blocks)
  {
    return Table(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(blocks * b * b));
  }
};

/// A block row after the elimination of the unknowns before it.
template <class Scalar, int b>
struct EliminatedRow {
  Block<Scalar, b> inverse, lower, upper;
  bool usable;

  /// Of row `row`, element i, where the row before has `right`. Pivots are usable from `margin` times usable_pivot's measure on.
  template <class Space>
  KOKKOS_INLINE_FUNCTION EliminatedRow(const BlockTridiagonal<Scalar, Space, b> &matrix, Index row, Index i, const Block<Scalar, b> &right,
                                       RealOf<Scalar> margin = 1)
      : inverse(matrix.diagonal_of(i)), lower(matrix.lower_of(row, i)), upper(matrix.upper_of(row, i))
  {
    BlockVector<RealOf<Scalar>, b> scale;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) scale(p) += modulus(lower(p, q)) + modulus(inverse(p, q)) + modulus(upper(p, q));
      scale(p) *= margin;
    }
    inverse = residual(inverse, lower, right);
    usable  = invert(inverse, scale);
  }
};

/// Ties the ends of every chunk to its neighbours; NaN where that is not safe.
template <class Space, class Scalar, int b, class Order>
void block_factor_chunks(const Space &space, const BlockFactors<Space, Scalar, b, Order> &factors,
                         const BlockTridiagonal<Scalar, Space, b> &matrix)
{
  const Index all = factors.lines.count() * factors.chunks;
  Kokkos::parallel_for(
      "weft block factor chunks", Kokkos::RangePolicy<Space>(space, 0, all), KOKKOS_LAMBDA(const Index number) {
        const LineLayout &layout = factors.lines.layout;
        const Index line = number % factors.lines.count(), chunk = number / factors.lines.count();
        const Index start = factors.lines.start(line), first = chunk * factors.rows_of_chunk;
        const Index end   = Kokkos::min(first + factors.rows_of_chunk, layout.length);
        const auto margin = RealOf<Scalar>(1e-5) / std::numeric_limits<RealOf<Scalar>>::epsilon(); // 100 epsilon become 1e-3
        // x_first and x_row by x_before and x_{row+1}; the row before the first is x_before itself.
        Block<Scalar, b> first_before, first_after = identity<Scalar, b>(), last_before = identity<Scalar, b>(), right;
        bool safe = true;
        for (Index row = first; row < end; row++) {
          const EliminatedRow<Scalar, b> r(matrix, row, start + row * layout.stride, right, margin);
          safe         = safe && r.usable;
          last_before  = -(r.inverse * (r.lower * last_before));
          right        = r.inverse * r.upper;
          first_before = first_before + first_after * last_before;
          first_after  = -(first_after * right);
        }
        if (!safe) right(0, 0) = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();
        factors.set(factors.first_before, number, all, first_before);
        factors.set(factors.first_after, number, all, first_after);
        factors.set(factors.last_before, number, all, last_before);
        factors.set(factors.last_after, number, all, -right);
      });
}

/// Finds the `right` before every chunk, a thread per line.
template <class Space, class Scalar, int b, class Order>
void block_factor_between_chunks(const Space &space, const BlockFactors<Space, Scalar, b, Order> &factors,
                                 const BlockTridiagonal<Scalar, Space, b> &matrix)
{
  const Index count = factors.lines.count(), all = count * factors.chunks;
  Kokkos::parallel_for(
      "weft block factor between chunks", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(const Index line) {
        const LineLayout &layout = factors.lines.layout;
        const Index start        = factors.lines.start(line);
        Block<Scalar, b> right;
        for (Index chunk = 0; chunk < factors.chunks; chunk++) {
          const Index number = chunk * count + line, first = chunk * factors.rows_of_chunk;
          factors.set(factors.right_before, number, all, right);
          Block<Scalar, b> coupled = identity<Scalar, b>() + factors.get(factors.first_before, number, all) * right;
          BlockVector<RealOf<Scalar>, b> scale;
          for (int p = 0; p < b; p++) {
            for (int q = 0; q < b; q++) scale(p) += modulus(coupled(p, q));
            scale(p) = (1 + scale(p)) * RealOf<Scalar>(1e-5) / std::numeric_limits<RealOf<Scalar>>::epsilon();
          }
          const bool usable = invert(coupled, scale);
          const Block<Scalar, b> after =
              factors.get(factors.last_before, number, all) * (right * (coupled * factors.get(factors.first_after, number, all))) +
              -factors.get(factors.last_after, number, all);
          if (usable && is_finite(after)) {
            right = after;
            continue;
          }
          const Index end = Kokkos::min(first + factors.rows_of_chunk, layout.length);
          for (Index row = first; row < end; row++) {
            const EliminatedRow<Scalar, b> r(matrix, row, start + row * layout.stride, right);
            right = r.inverse * r.upper;
          }
        }
      });
}

template <class Space, class Scalar, int b, class Order>
void block_factor_rows(const Space &space, const BlockFactors<Space, Scalar, b, Order> &factors,
                       const BlockTridiagonal<Scalar, Space, b> &matrix)
{
  const Index count = factors.lines.count(), chunks = factors.chunks, all = count * chunks;
  Kokkos::parallel_for(
      "weft block factor", Kokkos::RangePolicy<Space>(space, 0, all), KOKKOS_LAMBDA(const Index number) {
        const LineLayout &layout = factors.lines.layout;
        const Index line = number % count, start = factors.lines.start(line), first = number / count * factors.rows_of_chunk;
        const Index end = Kokkos::min(first + factors.rows_of_chunk, layout.length);
        Block<Scalar, b> right;
        if (first > 0) right = factors.get(factors.right_before, number, all);
        for (Index row = first; row < end; row++) {
          const EliminatedRow<Scalar, b> r(matrix, row, start + row * layout.stride, right);
          if (!r.usable) factors.flag.report(line, row);
          right          = r.inverse * r.upper;
          const Index at = factors.order.first(line, row);
          factors.set(factors.inverse, at, r.inverse);
          factors.set(factors.left, at, r.inverse * r.lower);
          factors.set(factors.right, at, right);
        }
      });
}

template <class Space, class Scalar, int b, class Order>
void block_factor(const Space &space, const BlockFactors<Space, Scalar, b, Order> &factors,
                  const BlockTridiagonal<Scalar, Space, b> &matrix)
{
  factors.flag.clear(space);
  if (factors.chunks > 1) {
    block_factor_chunks(space, factors, matrix);
    block_factor_between_chunks(space, factors, matrix);
  }
  block_factor_rows(space, factors, matrix);
}

} // namespace weft
