/// The plain exact solve of a host: row after row.
#pragma once
#include "crout/triangles/triangle.hpp"

namespace weft::triangular {

/// x_i = before_i in_i - scale_i sum_k value_k x_{column_k} in the order of dependencies, with scale and before the same or one of them 1;
/// x may be in. out_i = x_i, where that is elsewhere. The neighbour nearest to the diagonal, found last, is also used last: the next row
/// waits for one product, one difference and the scaling.
template <int width, bool forward, class Scalar>
void sequential_rows(const Half<Scalar> &half, KernelScalar *x)
{
  const Triangle<Scalar> &t   = half.triangle;
  const std::int64_t *starts  = t.starts;
  const std::int32_t *columns = t.columns;
  const Scalar *values        = t.values;
  const Scalar *before        = half.before == half.scale ? nullptr : half.before; // else both are taken out of the brackets
  const Scalar *scale         = half.scale;
  const bool copies           = half.out.data && half.out.data != x;
  for (Index p = 0; p < t.rows; p++) {
    const Index i = forward ? p : t.rows - 1 - p;
    KernelScalar value[width];
    for (int c = 0; c < width; c++) value[c] = times(before, i, half.in.get(i, c));
    const std::int64_t begin = starts[i], end = starts[i + 1];
    for (std::int64_t e = begin; e < end; e++) {
      const std::int64_t k = forward ? e : begin + end - 1 - e;
      const KernelScalar factor(values[k]);
      const KernelScalar *xj = x + Index(columns[k]) * width;
      for (int c = 0; c < width; c++) value[c] -= factor * xj[c];
    }
    for (int c = 0; c < width; c++) {
      value[c]         = times(scale, i, value[c]);
      x[i * width + c] = value[c];
      if (copies) half.out.put(i, c, value[c]);
    }
  }
}

template <int width, class Scalar>
void sequential_half(const Half<Scalar> &half, KernelScalar *x)
{
  half.triangle.forward ? sequential_rows<width, true>(half, x) : sequential_rows<width, false>(half, x);
}

} // namespace weft::triangular
