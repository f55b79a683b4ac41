/// r = b - A x, and norms.
///
/// Words moved per row with diagonals: one each, and b, x, r. 5-point: 8; 7-point: 10; 9-point: 12.
#pragma once
#include <stdexcept>

#include "line/relax/matrix_rows.hpp"
#include "line/relax/norm.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// What a value counts for in a norm's total. A largest magnitude would lose NaN.
template <class Scalar>
KOKKOS_INLINE_FUNCTION double measure(NormType type, const Scalar &of)
{
  double value;
  if constexpr (is_complex<Scalar>)
    value = static_cast<double>(modulus(of));
  else
    value = static_cast<double>(of);
  if (type == NormType::two) return value * value;
  return Kokkos::isnan(value) ? Kokkos::Experimental::infinity_v<double> : modulus(value);
}
KOKKOS_INLINE_FUNCTION double join(NormType type, double a, double b)
{
  return type == NormType::two ? a + b : Kokkos::max(a, b);
}

/// Calls body(k), k = 0 .. n-1; with a norm its total takes what body returns.
template <class Space, class Body>
void for_each_measured(const char *label, const Space &space, Index n, const Body &body, const Norm *norm)
{
  const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> policy(space, 0, n);
  if (!norm) {
    Kokkos::parallel_for(
        label, policy, KOKKOS_LAMBDA(const Index k) { body(k); });
    return;
  }
  double *const total = norm->total();
  const NormType type = norm->type();
  const Kokkos::View<double, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> part(total + 1);
  if (type == NormType::two)
    Kokkos::parallel_reduce(
        label, policy, KOKKOS_LAMBDA(const Index k, double &sum) { sum += body(k); }, part);
  else
    Kokkos::parallel_reduce(
        label, policy, KOKKOS_LAMBDA(const Index k, double &largest) { largest = Kokkos::max(largest, body(k)); },
        Kokkos::Max<double, typename Space::memory_space>(part));
  Kokkos::parallel_for(
      "weft norm", Kokkos::RangePolicy<Space>(space, 0, 1), KOKKOS_LAMBDA(int) { total[0] = join(type, total[0], total[1]); });
}

/// Rows that a kernel works on: all of a matrix, or those of lines of one colour.
struct SomeRows {
  Index count = 0;
  bool every  = true;
  LineLayout layout; ///< unless every row is wanted
  Colour colour = Colour::all;

  static SomeRows all(Index rows) { return {rows, true, {}, Colour::all}; }
  static SomeRows of_lines(const LineLayout &layout, Colour colour)
  {
    return {layout.rows(), colour == Colour::all && layout.rows() == layout.span(), layout, colour};
  }
  /// The element that row number k is, or -1 if it is not wanted.
  KOKKOS_INLINE_FUNCTION Index element(Index k) const
  {
    if (every) return k;
    const LineRow at = line_row(layout, k);
    return layout.has_colour(at.line, colour) ? layout.start(at.line) + at.row * layout.stride : -1;
  }
};

template <class Scalar, class Rows, Transpose transpose>
struct ResidualOfRow {
  Rows matrix;
  SomeRows rows;
  const Scalar *b, *x;
  Scalar *r;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index i = rows.element(k);
    if (i < 0) return 0;
    if constexpr (transpose == Transpose::no)
      r[i] = b[i] - matrix.product(i, x);
    else
      r[i] = b[i] - matrix.transposed_product(i, x);
    return measure(type, r[i]);
  }
};

/// On the host: diagonal after diagonal over a block of rows, which stays in cache, so that the inner loop vectorizes.
template <class Scalar>
struct ResidualOfBlock {
  Diagonals<Scalar> matrix;
  Index rows; ///< the first so many
  const Scalar *b, *x;
  Scalar *r;
  NormType type;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index first = k * run_rows, end = Kokkos::min(first + run_rows, rows);
    for (Index i = first; i < end; i++) r[i] = b[i];
    for (int d = 0; d < matrix.count; d++)
      subtract_diagonal(matrix.values + d * matrix.pitch, matrix.offsets[d], matrix.rows, x, first, end, r + first);
    double total = 0;
    for (Index i = first; i < end; i++) total = join(type, total, measure(type, r[i]));
    return total;
  }
};

template <Transpose transpose, class Space, class Scalar, class Rows>
void residual(const Space &space, const Rows &matrix, const SomeRows &rows, const Scalar *b, const Scalar *x, Scalar *r, const Norm *norm)
{
  const NormType type = norm ? norm->type() : NormType::two;
  if constexpr (is_host_space<Space> && std::is_same_v<Rows, Diagonals<Scalar>> && transpose == Transpose::no) {
    using Block = ResidualOfBlock<Scalar>;
    if (rows.every) {
      for_each_measured("weft residual", space, (rows.count + run_rows - 1) / run_rows, Block{matrix, rows.count, b, x, r, type}, norm);
      return;
    }
  }
  for_each_measured("weft residual", space, rows.count, ResidualOfRow<Scalar, Rows, transpose>{matrix, rows, b, x, r, type}, norm);
}

/// The same, whatever the form of the matrix.
template <class Space, class Scalar, class Storage>
void residual_of(const Space &space, const Storage &storage, const SomeRows &rows, const Scalar *b, const Scalar *x, Scalar *r,
                 const Norm *norm, Transpose transpose)
{
  storage.visit([&](const auto &matrix) {
    if (transpose == Transpose::no) {
      residual<Transpose::no>(space, matrix, rows, b, x, r, norm);
    } else {
      if constexpr (std::is_same_v<std::decay_t<decltype(matrix)>, Diagonals<Scalar>>)
        residual<Transpose::yes>(space, matrix, rows, b, x, r, norm);
      else
        throw std::invalid_argument("the matrix is not in diagonals: its transpose must be applied by others");
    }
  });
}

template <class Scalar, class Rows>
struct ProductOfRow {
  Rows matrix;
  const Scalar *x;
  Scalar *y;

  KOKKOS_INLINE_FUNCTION double operator()(Index i) const
  {
    y[i] = matrix.product(i, x);
    return 0;
  }
};

/// On the host, as ResidualOfBlock.
template <class Scalar>
struct ProductOfBlock {
  Diagonals<Scalar> matrix;
  const Scalar *x;
  Scalar *y;

  KOKKOS_INLINE_FUNCTION double operator()(Index k) const
  {
    const Index first = k * run_rows, end = Kokkos::min(first + run_rows, matrix.rows);
    for (Index i = first; i < end; i++) y[i] = 0;
    for (int d = 0; d < matrix.count; d++)
      subtract_diagonal(matrix.values + d * matrix.pitch, matrix.offsets[d], matrix.rows, x, first, end, y + first);
    for (Index i = first; i < end; i++) y[i] = -y[i];
    return 0;
  }
};

/// y = A x, whatever the form of the matrix.
template <class Space, class Scalar, class Storage>
void product_of(const Space &space, const Storage &storage, Index rows, const Scalar *x, Scalar *y)
{
  storage.visit([&](const auto &matrix) {
    using Rows = std::decay_t<decltype(matrix)>;
    if constexpr (is_host_space<Space> && std::is_same_v<Rows, Diagonals<Scalar>>)
      for_each_measured("weft product", space, (rows + run_rows - 1) / run_rows, ProductOfBlock<Scalar>{matrix, x, y}, nullptr);
    else
      for_each_measured("weft product", space, rows, ProductOfRow<Scalar, Rows>{matrix, x, y}, nullptr);
  });
}

} // namespace weft
