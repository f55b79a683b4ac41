/// To modes along one direction of the grid and back: products with a small dense matrix, and what takes their place.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "bcr/transforms/fast_transform.hpp"
#include "line/tridiagonal.hpp"

extern "C" {
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha, const double *a,
            const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc, std::size_t, std::size_t);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha, const float *a,
            const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc, std::size_t, std::size_t);
}

namespace weft::poisson {

/// to(q, i, o) = sum_j matrix(q, j) from(j, i, o), element (j, i, o) of an array at j * stride + i * inner_stride + o * outer_stride.
template <class Space, class Scalar>
struct Transform {
  OwnedArray<Scalar, Space> matrix; ///< row after row
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
        sums[r] += matrix(q * n + j) * value;
      }
    }
    for (int r = 0; r < rows; r++) {
      if (first + r < n) to[at + (first + r) * to_stride] = sums[r];
    }
  }
};

template <class Scalar>
void multiply_matrices(char transa, Index m, Index n, Index k, const Scalar *a, Index lda, const Scalar *b, Index ldb, Scalar *c, Index ldc)
{
  const int mm = static_cast<int>(m), nn = static_cast<int>(n), kk = static_cast<int>(k);
  const int la = static_cast<int>(lda), lb = static_cast<int>(ldb), lc = static_cast<int>(ldc);
  const Scalar one = 1, zero = 0;
  if constexpr (std::is_same_v<Scalar, double>)
    dgemm_(&transa, "N", &mm, &nn, &kk, &one, a, &la, b, &lb, &zero, c, &lc, 1, 1);
  else
    sgemm_(&transa, "N", &mm, &nn, &kk, &one, a, &la, b, &lb, &zero, c, &lc, 1, 1);
}

/// The host takes BLAS where the strides let it, a device a kernel.
template <class Space, class Scalar>
void run_transform(const Space &space, Transform<Space, Scalar> t)
{
  if (t.n * t.inner * t.outer == 0) return;
  if (t.outer > 1 && (t.outer_stride == 1 || t.inner == 1)) {
    std::swap(t.inner, t.outer);
    std::swap(t.inner_stride, t.outer_stride);
  }
  if (t.outer_stride == t.inner * t.inner_stride) { // one long direction
    t.inner *= t.outer;
    t.outer = 1;
  }
  if constexpr (is_host_space<Space>) {
    const bool fits =
        std::max({t.n, t.inner, t.outer, t.from_stride, t.to_stride, t.inner_stride, t.outer_stride}) <= std::numeric_limits<int>::max();
    // BLAS counts columns first: there the matrix lies transposed.
    if (fits && t.inner_stride == 1 && std::min(t.from_stride, t.to_stride) >= t.inner) {
      for (Index o = 0; o < t.outer; o++) {
        const Index at = o * t.outer_stride;
        multiply_matrices('N', t.inner, t.n, t.n, t.from + at, t.from_stride, t.matrix.data(), t.n, t.to + at, t.to_stride);
      }
      return;
    }
    if (fits && t.from_stride == 1 && t.to_stride == 1 && t.inner_stride >= t.n) {
      for (Index o = 0; o < t.outer; o++) {
        const Index at = o * t.outer_stride;
        multiply_matrices('T', t.n, t.inner, t.n, t.matrix.data(), t.n, t.from + at, t.inner_stride, t.to + at, t.inner_stride);
      }
      return;
    }
  }
  Kokkos::parallel_for("weft poisson transform",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, t.inner * t.outer * t.tiles()), t);
}

/// A transform of all lines of one direction, by a matrix product or by a fast transform in its place.
template <class Space, class Scalar>
struct ModeTransform {
  Transform<Space, Scalar> lines; ///< where they lie, and the matrix
  std::optional<FastTransform<Space, Scalar>> fast;

  ModeTransform() = default;
  /// `matrix` is empty where there is a fast transform.
  ModeTransform(const Space &space, const std::vector<double> &matrix, const std::optional<TransformShape> &shape)
  {
    lines.matrix = upload<Scalar, Space>("weft poisson transform", matrix);
    if (shape) fast.emplace(space, *shape);
  }

  std::size_t bytes() const { return lines.matrix.size() * sizeof(Scalar) + (fast ? fast->bytes() : 0); }

  /// Transforms lines.from to lines.to, which may be one array where `fast` and both lie alike.
  void operator()(const Space &space, const Transform<Space, Scalar> &t) const
  {
    if (!fast) {
      run_transform(space, t);
      return;
    }
    const LinesAt from{t.from_stride, t.inner, t.inner_stride, t.outer_stride}, to{t.to_stride, t.inner, t.inner_stride, t.outer_stride};
    (*fast)(space, t.from, from, t.to, to, t.inner * t.outer);
  }
};

} // namespace weft::poisson
