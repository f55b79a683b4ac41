/// block_factor() for a core of a host, of four lines at a time: an elimination waits for its divisions, and those of four lines do not wait for
/// one another. What is done to all four is one instruction where the processor has such vectors. The operations are those of block_factor(), in
/// its order, so that the factors are the same, bit by bit.
#pragma once
#include <utility>

#include "base/simd.hpp"
#include "line/blocks/block_factors.hpp"

namespace weft {

/// The same number of four lines.
template <class Scalar>
struct FourLines {
  static constexpr int lines = 4;
  Scalar of[lines];

  FourLines &operator+=(const FourLines &other)
  {
    for (int l = 0; l < lines; l++) of[l] += other.of[l];
    return *this;
  }
  FourLines &operator-=(const FourLines &other)
  {
    for (int l = 0; l < lines; l++) of[l] -= other.of[l];
    return *this;
  }
  FourLines &operator*=(const FourLines &other)
  {
    for (int l = 0; l < lines; l++) of[l] *= other.of[l];
    return *this;
  }
  friend FourLines operator*(FourLines x, const FourLines &y) { return x *= y; }
};

/// A block of each line, and what block.hpp does to one.
template <class Scalar, int b>
struct FourBlocks {
  using Number               = FourLines<Scalar>;
  static constexpr int lines = Number::lines;
  Number entries[b][b];

  Number &operator()(int p, int q) { return entries[p][q]; }
  const Number &operator()(int p, int q) const { return entries[p][q]; }

  void set(int line, const Block<Scalar, b> &block)
  {
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) entries[p][q].of[line] = block(p, q);
    }
  }
  Block<Scalar, b> get(int line) const
  {
    Block<Scalar, b> block;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) block(p, q) = entries[p][q].of[line];
    }
    return block;
  }
  /// The product of two others.
  void multiply(const FourBlocks &m, const FourBlocks &n)
  {
    for (int p = 0; p < b; p++) {
      Number row[b] = {};
      for (int k = 0; k < b; k++) {
        for (int q = 0; q < b; q++) row[q] += m(p, k) * n(k, q);
      }
      for (int q = 0; q < b; q++) entries[p][q] = row[q];
    }
  }
  /// This minus m n.
  void subtract(const FourBlocks &m, const FourBlocks &n)
  {
    for (int p = 0; p < b; p++) {
      for (int k = 0; k < b; k++) {
        for (int q = 0; q < b; q++) entries[p][q] -= m(p, k) * n(k, q);
      }
    }
  }
  /// As invert_in_place(). A line exchanges rows by itself: most have none to exchange.
  void invert(Number (&scale)[b], bool (&usable)[lines])
  {
    int pivots[b][lines];
    for (int k = 0; k < b; k++) {
      Number best, inverse;
      for (int l = 0; l < lines; l++) {
        best.of[l]   = modulus(entries[k][k].of[l]) / scale[k].of[l];
        pivots[k][l] = k;
      }
      for (int p = k + 1; p < b; p++) {
        for (int l = 0; l < lines; l++) {
          const Scalar size = modulus(entries[p][k].of[l]) / scale[p].of[l];
          pivots[k][l]      = size > best.of[l] ? p : pivots[k][l];
          best.of[l]        = size > best.of[l] ? size : best.of[l];
        }
      }
      for (int l = 0; l < lines; l++) {
        const int p = pivots[k][l];
        if (p == k) continue;
        std::swap(scale[k].of[l], scale[p].of[l]);
        for (int q = 0; q < b; q++) std::swap(entries[k][q].of[l], entries[p][q].of[l]);
      }
      for (int l = 0; l < lines; l++) {
        usable[l]           = usable[l] & usable_pivot(entries[k][k].of[l], scale[k].of[l]);
        inverse.of[l]       = 1 / entries[k][k].of[l];
        entries[k][k].of[l] = 1;
      }
      for (int q = 0; q < b; q++) entries[k][q] *= inverse;
      for (int p = 0; p < b; p++) {
        if (p == k) continue;
        const Number factor = entries[p][k];
        entries[p][k]       = {};
        for (int q = 0; q < b; q++) entries[p][q] -= factor * entries[k][q];
      }
    }
    for (int k = b - 1; k >= 0; k--) {
      for (int l = 0; l < lines; l++) {
        const int q = pivots[k][l];
        if (q == k) continue;
        for (int p = 0; p < b; p++) std::swap(entries[p][k].of[l], entries[p][q].of[l]);
      }
    }
  }
};

/// Whether lines are many enough for that, each in one piece.
template <class Space, class Scalar, int b, class Order>
bool takes_four_lines(const BlockFactors<Space, Scalar, b, Order> &factors)
{
  return factors.chunks == 1 && factors.lines.count() >= FourLines<Scalar>::lines * Space().concurrency();
}

/// Where lines are not a multiple of four, the last four have some of those before again.
template <class Space, class Scalar, int b, class Order>
void block_factor_four_lines(const Space &space, const BlockFactors<Space, Scalar, b, Order> &factors,
                             const BlockTridiagonal<Scalar, Space, b> &matrix)
{
  using Blocks        = FourBlocks<Scalar, b>;
  constexpr int lines = Blocks::lines;
  const Index count   = factors.lines.count();
  factors.flag.clear(space);
  Kokkos::parallel_for("weft block factor", Kokkos::RangePolicy<Space>(space, 0, (count + lines - 1) / lines), [=](const Index four) {
    with_widest_vectors([&] {
      const LineLayout &layout = factors.lines.layout;
      const Index first        = Kokkos::min(four * lines, count - lines);
      Index start[lines];
      for (int l = 0; l < lines; l++) start[l] = factors.lines.start(first + l);
      Blocks right = {};
      for (Index row = 0; row < layout.length; row++) {
        Blocks lower, inverse, upper;
        for (int l = 0; l < lines; l++) {
          const Index i = start[l] + row * layout.stride;
          lower.set(l, matrix.lower_of(row, i));
          inverse.set(l, matrix.diagonal_of(i));
          upper.set(l, matrix.upper_of(row, i));
        }
        typename Blocks::Number scale[b] = {};
        for (int p = 0; p < b; p++) {
          for (int q = 0; q < b; q++) {
            for (int l = 0; l < lines; l++)
              scale[p].of[l] += modulus(lower(p, q).of[l]) + modulus(inverse(p, q).of[l]) + modulus(upper(p, q).of[l]);
          }
        }
        bool usable[lines] = {true, true, true, true};
        inverse.subtract(lower, right);
        inverse.invert(scale, usable);
        right.multiply(inverse, upper);
        upper.multiply(inverse, lower);
        for (int l = 0; l < lines; l++) {
          if (first + l < four * lines) continue; // another thread's
          if (!usable[l]) factors.flag.report(first + l, row);
          const Index at = factors.order.first(first + l, row);
          factors.set(factors.inverse, at, inverse.get(l));
          factors.set(factors.left, at, upper.get(l));
          factors.set(factors.right, at, right.get(l));
        }
      }
    });
  });
}

} // namespace weft
