/// To modes along one direction of the grid and back: products with a small dense matrix, and what takes their place.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "bcr/transforms/fast_transform.hpp"
#include "bcr/transforms/parallel_eigen.hpp"
#include "bcr/transforms/products.hpp"
#include "line/tridiagonal.hpp"

namespace weft::poisson {

/// to(q, i, o) = sum_j matrix(q, j) from(j, i, o), element (j, i, o) of an array at j * stride + i * inner_stride + o * outer_stride.
template <class Space, class Scalar>
struct Transform {
  OwnedArray<Scalar, Space> matrix; ///< row after row, element (q, j) at q * ld + j
  Index ld        = 0;
  bool transposed = false; ///< column after column, element (q, j) at j * ld + q
  Index n = 0, inner = 1, inner_stride = 1, outer = 1, outer_stride = 0;
  Index from_stride = 1, to_stride = 1;
  const Scalar *from = nullptr;
  Scalar *to         = nullptr;

  static constexpr int rows = 8; ///< of the matrix, for a thread of the kernel

  /// Columns and rows of one product.
  KOKKOS_INLINE_FUNCTION Index tiles() const { return (n + rows - 1) / rows; }

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index i = number % inner, rest = number / inner, o = rest % outer, first = rest / outer * rows;
    const Index at = i * inner_stride + o * outer_stride;
    Scalar sums[rows];
    for (int r = 0; r < rows; r++) sums[r] = 0;
    for (Index j = 0; j < n; j++) {
      const Scalar value = from[at + j * from_stride];
      for (int r = 0; r < rows; r++) {
        const Index q = first + r < n ? first + r : n - 1;
        sums[r] += matrix(transposed ? j * ld + q : q * ld + j) * value;
      }
    }
    for (int r = 0; r < rows; r++) {
      if (first + r < n) to[at + (first + r) * to_stride] = sums[r];
    }
  }
};

/// The transform as products of matrices, where the strides let it.
template <class Space, class Scalar>
std::optional<Product<Scalar>> product_of(const Transform<Space, Scalar> &t)
{
  // BLAS counts columns first: there the matrix lies transposed.
  if (t.inner_stride == 1 && std::min(t.from_stride, t.to_stride) >= t.inner)
    return Product<Scalar>{t.inner,
                           t.n,
                           t.n,
                           {t.from, t.from_stride, false, t.outer_stride},
                           {t.matrix.data(), t.ld, t.transposed},
                           t.to,
                           t.to_stride,
                           t.outer_stride,
                           t.outer};
  if (t.from_stride == 1 && t.to_stride == 1 && t.inner_stride >= t.n)
    return Product<Scalar>{t.n,
                           t.inner,
                           t.n,
                           {t.matrix.data(), t.ld, !t.transposed},
                           {t.from, t.inner_stride, false, t.outer_stride},
                           t.to,
                           t.inner_stride,
                           t.outer_stride,
                           t.outer};
  return std::nullopt;
}

template <class Space, class Scalar>
void run_transform(const Space &space, Transform<Space, Scalar> t, const Products<Space> &products)
{
  if (t.n * t.inner * t.outer == 0) return;
  if (t.outer > 1 && (t.outer_stride == 1 || t.inner == 1 || t.inner_stride == t.outer * t.outer_stride)) {
    std::swap(t.inner, t.outer);
    std::swap(t.inner_stride, t.outer_stride);
  }
  if (t.outer_stride == t.inner * t.inner_stride) { // one long direction
    t.inner *= t.outer;
    t.outer = 1;
  }
  if (const auto product = product_of(t)) {
    products(space, *product);
    return;
  }
  Kokkos::parallel_for("weft poisson transform",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, t.inner * t.outer * t.tiles()), t);
}

/// A transform of all lines of one direction, by a matrix product or by a fast transform in its place. With a parity by two products: lines are
/// sums and differences then (Halves of right_hand_side.hpp), of half the numbers each.
template <class Space, class Scalar>
struct ModeTransform {
  Transform<Space, Scalar> lines;  ///< where they lie, and the matrix
  Index first = 0;                 ///< of lines with a parity: numbers of the first kind
  Transform<Space, Scalar> others; ///< of the second kind: the matrix alone
  std::optional<FastTransform<Space, Scalar>> fast;
  Products<Space> products;

  ModeTransform() = default;
  /// `matrix` (n * n, row after row) is empty where there is a fast transform. It has padded_length(n) rows and columns on a device, or where
  /// `pads`, zeros where there were none. `first`: modes of the first kind where it keeps parities apart, and `to_modes` whether modes are
  /// its rows.
  ModeTransform(const Space &space, Index n, const std::vector<double> &matrix, const std::optional<TransformShape> &shape,
                bool pads = !is_host_space<Space>, Index first_modes = 0, bool to_modes = true)
      : first(first_modes)
  {
    if (shape) {
      fast.emplace(space, *shape);
      return;
    }
    products           = Products<Space>(space);
    const Index length = pads ? padded_length(n) : n;
    set_block(lines, matrix, n, {0, 0}, first > 0 ? first : n, first > 0 ? first : length);
    if (first > 0) set_block(others, matrix, n, {to_modes ? first : 0, to_modes ? 0 : first}, n - first, length - first);
  }
  /// V^-1 or V of a basis that is in the memory of `space` already.
  ModeTransform(const Space &space, const DenseBasis &basis, bool to_modes) : products(space)
  {
    const auto &there = static_cast<const DenseBasisOn<Space> &>(basis);
    lines.matrix      = converted<Scalar>(space, to_modes ? there.inverse : there.vectors);
    lines.ld          = there.ld;
    lines.transposed  = to_modes;
  }

  std::size_t bytes() const { return (lines.matrix.size() + others.matrix.size()) * sizeof(Scalar) + (fast ? fast->bytes() : 0); }

  /// Transforms lines.from to lines.to, which may be one array where `fast` and both lie alike.
  void operator()(const Space &space, const Transform<Space, Scalar> &t) const
  {
    if (!fast) {
      Transform<Space, Scalar> some = t;
      if (first > 0) some.n = first;
      run_transform(space, some, products);
      if (first == 0) return;
      some.matrix = others.matrix;
      some.ld     = others.ld;
      some.n      = t.n - first;
      some.from += first * t.from_stride;
      some.to += first * t.to_stride;
      run_transform(space, some, products);
      return;
    }
    const LinesAt from{t.from_stride, t.inner, t.inner_stride, t.outer_stride}, to{t.to_stride, t.inner, t.inner_stride, t.outer_stride};
    (*fast)(space, t.from, from, t.to, to, t.inner * t.outer);
  }

private:
  /// `size` rows and columns of a matrix from an element on, with zeros up to `ld`.
  static void set_block(Transform<Space, Scalar> &block, const std::vector<double> &matrix, Index n, const Index (&from)[2], Index size,
                        Index ld)
  {
    block.ld        = ld;
    block.matrix    = OwnedArray<Scalar, Space>("weft poisson transform", static_cast<std::size_t>(ld * ld));
    const auto host = Kokkos::create_mirror_view(block.matrix);
    for (Index i = 0; i < size; i++) {
      for (Index j = 0; j < size; j++)
        host(static_cast<std::size_t>(i * ld + j)) = static_cast<Scalar>(matrix[static_cast<std::size_t>((from[0] + i) * n + from[1] + j)]);
    }
    Kokkos::deep_copy(block.matrix, host);
  }
};

} // namespace weft::poisson
