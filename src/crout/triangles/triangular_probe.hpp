/// How well Jacobi steps solve with a triangle: |r - T z| / |r| for a vector r that is the same in every run (design: a test on the factor
/// decides between approximate and exact solves, as the error of few steps grows where a triangle is far from normal).
#pragma once
#include <array>
#include <cmath>

#include "base/probe_value.hpp"
#include "crout/triangles/jacobi_steps.hpp"

namespace weft::triangular {

template <class Scalar>
struct SetProbe {
  KernelScalar *g;
  const Scalar *scale;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { g[i] = times(scale, i, probe_value(i)); }
};

/// One more step changes z by scale * (r - T z).
template <class Scalar>
struct ProbeChange {
  const KernelScalar *g;
  const Scalar *scale;
  Triangle<Scalar> triangle;
  const KernelScalar *z;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &residual, double &size) const
  {
    KernelScalar sum = 0;
    for (std::int64_t k = triangle.starts[i]; k < triangle.starts[i + 1]; k++) sum += widened(triangle.values[k]) * z[triangle.columns[k]];
    const KernelScalar change = (scale ? (g[i] - z[i]) / widened(scale[i]) : g[i] - z[i]) - sum;
    const double r            = probe_value(i);
    residual += square_of(change);
    size += r * r;
  }
};

/// Waits. half: triangle and scale; work: three arrays of `rows` elements.
template <class Space, class Scalar>
double probe_residual(const Space &space, Half<Scalar> half, const Sliced<Scalar> &sliced, int steps, int lanes,
                      const std::array<KernelScalar *, 3> &arrays)
{
  const Index rows = half.triangle.rows;
  if (rows == 0) return 0;
  KernelScalar *const work[3] = {arrays[0], arrays[1], arrays[2]};
  const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> all(space, 0, rows);
  Kokkos::parallel_for("weft probe vector", all, SetProbe<Scalar>{work[0], half.scale});
  half.in     = inner<1>(work[0]);
  half.before = half.after = nullptr;
  half.out                 = {};
  const KernelScalar *z    = jacobi_half<1>(space, half, sliced, steps, lanes, work);
  double residual = 0, size = 0;
  Kokkos::parallel_reduce("weft probe residual", all, ProbeChange<Scalar>{work[0], half.scale, half.triangle, z}, residual, size);
  return std::sqrt(residual / size);
}

} // namespace weft::triangular
