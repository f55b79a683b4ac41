/// Dense blocks of b * b and vectors of b, small enough for the registers of one thread.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/pivot_flag.hpp"

namespace weft {

template <class Scalar, int b>
struct BlockVector {
  Scalar entries[b] = {};

  KOKKOS_INLINE_FUNCTION Scalar &operator()(int p) { return entries[p]; }
  KOKKOS_INLINE_FUNCTION const Scalar &operator()(int p) const { return entries[p]; }
};

/// From this size on the products and inverses of blocks are functions of their own on a host. Unrolled into each kernel that has some, they
/// were most of what the compiler had to do.
inline constexpr int least_called_block = 4;

template <class Scalar, int b>
struct Block {
  Scalar entries[b][b] = {};

  KOKKOS_INLINE_FUNCTION Scalar &operator()(int p, int q) { return entries[p][q]; }
  KOKKOS_INLINE_FUNCTION const Scalar &operator()(int p, int q) const { return entries[p][q]; }

  friend KOKKOS_INLINE_FUNCTION BlockVector<Scalar, b> operator*(const Block &m, const BlockVector<Scalar, b> &x)
  {
    BlockVector<Scalar, b> y;
    for (int q = 0; q < b; q++) {
      for (int p = 0; p < b; p++) y(p) += m(p, q) * x(q);
    }
    return y;
  }
  friend KOKKOS_INLINE_FUNCTION Block operator*(const Block &m, const Block &n)
  {
    KOKKOS_IF_ON_HOST((if constexpr (b >= least_called_block) return called_product(m, n);))
    return product_of(m, n);
  }
  friend KOKKOS_INLINE_FUNCTION Block operator+(Block m, const Block &n)
  {
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) m(p, q) += n(p, q);
    }
    return m;
  }
  friend KOKKOS_INLINE_FUNCTION Block operator-(const Block &m)
  {
    Block negative;
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) negative(p, q) = -m(p, q);
    }
    return negative;
  }

private:
  KOKKOS_INLINE_FUNCTION static Block product_of(const Block &m, const Block &n)
  {
    Block product;
    for (int k = 0; k < b; k++) {
      for (int p = 0; p < b; p++) {
        for (int q = 0; q < b; q++) product(p, q) += m(p, k) * n(k, q);
      }
    }
    return product;
  }
  [[gnu::noinline]] static Block called_product(const Block &m, const Block &n) { return product_of(m, n); }
};

template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION Block<Scalar, b> identity()
{
  Block<Scalar, b> one;
  for (int p = 0; p < b; p++) one(p, p) = 1;
  return one;
}

template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION bool is_finite(const Block<Scalar, b> &m)
{
  bool all = true;
  for (int p = 0; p < b; p++) {
    for (int q = 0; q < b; q++) all = all && finite(m(p, q));
  }
  return all;
}

template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION BlockVector<Scalar, b> operator+(BlockVector<Scalar, b> x, const BlockVector<Scalar, b> &y)
{
  for (int p = 0; p < b; p++) x(p) += y(p);
  return x;
}

/// rhs - m x, and the same of blocks.
template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION BlockVector<Scalar, b> residual(BlockVector<Scalar, b> rhs, const Block<Scalar, b> &m,
                                                       const BlockVector<Scalar, b> &x)
{
  for (int q = 0; q < b; q++) {
    for (int p = 0; p < b; p++) rhs(p) -= m(p, q) * x(q);
  }
  return rhs;
}
template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION Block<Scalar, b> residual_of(Block<Scalar, b> rhs, const Block<Scalar, b> &m, const Block<Scalar, b> &x)
{
  for (int k = 0; k < b; k++) {
    for (int p = 0; p < b; p++) {
      for (int q = 0; q < b; q++) rhs(p, q) -= m(p, k) * x(k, q);
    }
  }
  return rhs;
}
template <class Scalar, int b>
[[gnu::noinline]] Block<Scalar, b> called_residual(const Block<Scalar, b> &rhs, const Block<Scalar, b> &m, const Block<Scalar, b> &x)
{
  return residual_of(rhs, m, x);
}
template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION Block<Scalar, b> residual(const Block<Scalar, b> &rhs, const Block<Scalar, b> &m, const Block<Scalar, b> &x)
{
  KOKKOS_IF_ON_HOST((if constexpr (b >= least_called_block) return called_residual(rhs, m, x);))
  return residual_of(rhs, m, x);
}

/// Replaces a block by its inverse: Gauss-Jordan elimination in place, pivots from the rows of the block, each row measured by its
/// `scale` (what usable_pivot compares with). False if a pivot is unusable. Rows are swapped by selection, since an index that is not known
/// when the code is compiled would move the block out of the registers.
template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION bool invert_in_place(Block<Scalar, b> &m, BlockVector<RealOf<Scalar>, b> scale)
{
  int pivots[b];
  bool usable = true;
  for (int k = 0; k < b; k++) {
    int pivot = k;
    auto best = modulus(m(k, k)) / scale(k);
    for (int p = k + 1; p < b; p++) {
      const auto size = modulus(m(p, k)) / scale(p);
      if (size > best) {
        best  = size;
        pivot = p;
      }
    }
    pivots[k] = pivot;
    for (int p = k + 1; p < b; p++) {
      if (p != pivot) continue;
      Kokkos::kokkos_swap(scale(k), scale(p));
      for (int q = 0; q < b; q++) Kokkos::kokkos_swap(m(k, q), m(p, q));
    }
    usable               = usable && usable_pivot(m(k, k), scale(k));
    const Scalar inverse = 1 / m(k, k);
    m(k, k)              = 1;
    for (int q = 0; q < b; q++) m(k, q) *= inverse;
    for (int p = 0; p < b; p++) {
      if (p == k) continue;
      const Scalar factor = m(p, k);
      m(p, k)             = 0;
      for (int q = 0; q < b; q++) m(p, q) -= factor * m(k, q);
    }
  }
  for (int k = b - 1; k >= 0; k--) {
    for (int q = k + 1; q < b; q++) {
      if (q != pivots[k]) continue;
      for (int p = 0; p < b; p++) Kokkos::kokkos_swap(m(p, k), m(p, q));
    }
  }
  return usable;
}

template <class Scalar, int b>
[[gnu::noinline]] bool called_invert(Block<Scalar, b> &m, const BlockVector<RealOf<Scalar>, b> &scale)
{
  return invert_in_place(m, scale);
}
template <class Scalar, int b>
KOKKOS_INLINE_FUNCTION bool invert(Block<Scalar, b> &m, const BlockVector<RealOf<Scalar>, b> &scale)
{
  KOKKOS_IF_ON_HOST((if constexpr (b >= least_called_block) return called_invert(m, scale);))
  return invert_in_place(m, scale);
}

} // namespace weft
