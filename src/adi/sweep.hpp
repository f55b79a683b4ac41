/// What a sweep of alternating directions does beside solving lines: residuals, shifted diagonals, sizes of corrections.
#pragma once
#include "adi/split.hpp"

namespace weft {

/// What lies on no line, in CSR form; rows are those of the box.
template <class Scalar>
struct AdiRest {
  const Index *starts, *columns;
  const Scalar *values;
  bool empty;
};

/// The couplings along D directions, x before y before z: neighbours are `stride` elements away.
template <class Scalar, int D>
struct AdiStencil {
  const Scalar *lower[D], *upper[D], *diagonal;
  Index stride[D], n[D], rows;
  bool closed[D], transposed;

  AdiStencil(const AdiGrid &grid, const AdiParts<Scalar> &parts, bool transpose)
      : diagonal(parts.diagonal), rows(grid.rows), transposed(transpose)
  {
    int d = 0;
    for (int k = 0; k < 3; k++) {
      if (!grid.has[k]) continue;
      lower[d]  = parts.lower[k];
      upper[d]  = parts.upper[k];
      stride[d] = grid.stride[k];
      n[d]      = grid.n[k];
      closed[d] = grid.closed[k];
      d++;
    }
  }
  /// Of one part alone, its share of the diagonal with it.
  AdiStencil(const AdiGrid &grid, const AdiParts<Scalar> &parts, bool transpose, int k)
      : lower{parts.lower[k]}, upper{parts.upper[k]}, diagonal(parts.share[k]), stride{grid.stride[k]}, n{grid.n[k]},
        rows(grid.rows), closed{grid.closed[k]}, transposed(transpose)
  {
    static_assert(D == 1);
  }
  /// Couplings that lead nowhere are 0, so an index need only be inside the array.
  KOKKOS_INLINE_FUNCTION Scalar apply(Index i, const Scalar *x) const
  {
    Scalar sum = diagonal[i] * x[i];
    for (int d = 0; d < D; d++) {
      Index before = i - stride[d], after = i + stride[d];
      if (closed[d]) {
        const Index at = i / stride[d] % n[d], around = (n[d] - 1) * stride[d];
        if (at == 0) before = i + around;
        if (at + 1 == n[d]) after = i - around;
      }
      if (before >= 0) sum += (transposed ? upper[d][before] : lower[d][i]) * x[before];
      if (after < rows) sum += (transposed ? lower[d][after] : upper[d][i]) * x[after];
    }
    return sum;
  }
};

/// Part by part: no other thread looks at a sum before all have ended.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void subtract_at_once(Scalar *from, const Scalar &value)
{
  for (int n = 0; n < parts_of<Scalar>; n++) Kokkos::atomic_sub(reinterpret_cast<RealOf<Scalar> *>(from) + n, part_of(value, n));
}

/// r = b - A x, or with the transpose of A.
template <class Space, class Scalar, int D>
void adi_residual(const Space &space, const AdiStencil<Scalar, D> &stencil, const AdiRest<Scalar> &rest, const Scalar *b, const Scalar *x,
                  Scalar *r)
{
  const bool gather = !rest.empty && !stencil.transposed, scatter = !rest.empty && stencil.transposed;
  Kokkos::parallel_for(
      "weft adi residual", Kokkos::RangePolicy<Space>(space, 0, stencil.rows), KOKKOS_LAMBDA(const Index i) {
        Scalar sum = stencil.apply(i, x);
        if (gather) {
          for (Index e = rest.starts[i]; e < rest.starts[i + 1]; e++) sum += rest.values[e] * x[rest.columns[e]];
        }
        r[i] = b[i] - sum;
      });
  if (!scatter) return;
  Kokkos::parallel_for(
      "weft adi residual, transposed rest", Kokkos::RangePolicy<Space>(space, 0, stencil.rows), KOKKOS_LAMBDA(const Index i) {
        for (Index e = rest.starts[i]; e < rest.starts[i + 1]; e++) subtract_at_once(r + rest.columns[e], rest.values[e] * x[i]);
      });
}

/// g = b - (V - shift) x, V the part of the other direction: the right-hand side of (H + shift) u = g. Fixed rows start from b.
template <class Space, class Scalar>
void start_half_sweep(const Space &space, const AdiStencil<Scalar, 1> &other, const std::uint8_t *fixed, Scalar shift, const Scalar *b,
                      const Scalar *x, Scalar *g)
{
  Kokkos::parallel_for(
      "weft adi start", Kokkos::RangePolicy<Space>(space, 0, other.rows),
      KOKKOS_LAMBDA(const Index i) { g[i] = fixed[i] ? b[i] : b[i] - other.apply(i, x) + shift * x[i]; });
}

/// From g and u = (H + s)^-1 g to the right-hand side b - g + (s + s') u of the half-sweep that follows. `next` may be g.
template <class Space, class Scalar>
void reflect(const Space &space, Index rows, const std::uint8_t *fixed, const Scalar *b, const Scalar *g, Scalar both_shifts,
             const Scalar *u, Scalar *next)
{
  Kokkos::parallel_for(
      "weft adi reflect", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i) { next[i] = fixed[i] ? b[i] : b[i] - g[i] + both_shifts * u[i]; });
}

/// x = z, and the largest |z - x| in `change`.
template <class Space, class Scalar>
void replace_and_measure(const Space &space, Index rows, const Scalar *z, Scalar *x,
                         const Kokkos::View<double, typename Space::memory_space> &change)
{
  Kokkos::parallel_reduce(
      "weft adi change", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &largest) {
        const double size = modulus(widened(z[i]) - widened(x[i]));
        x[i]              = z[i];
        if (!(size <= largest)) largest = size;
      },
      Kokkos::Max<double, typename Space::memory_space>(change));
}

/// The diagonal of H_k + shift. Fixed rows get the matrix's diagonal, or `instead` where that is not 0.
template <class Space, class Scalar>
void shift_diagonal(const Space &space, Index rows, const std::uint8_t *fixed, const Scalar *share, Scalar shift, Scalar instead,
                    Scalar *shifted)
{
  Kokkos::parallel_for(
      "weft adi shift", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        const Scalar alone = instead != Scalar(0) ? instead : share[i];
        shifted[i]         = fixed[i] ? alone : share[i] + shift;
      });
}

/// A right-hand side without the fixed rows.
template <class Space, class Scalar>
void copy_unknowns(const Space &space, Index rows, const std::uint8_t *fixed, const Scalar *r, Scalar *to)
{
  Kokkos::parallel_for(
      "weft adi unknowns", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i) { to[i] = fixed[i] ? Scalar(0) : r[i]; });
}

/// The fixed rows by themselves: x = x + r / diagonal or r / diagonal.
template <class Space, class Scalar>
void solve_fixed(const Space &space, Index rows, const std::uint8_t *fixed, const Scalar *diagonal, const Scalar *r, bool add, Scalar *x)
{
  Kokkos::parallel_for(
      "weft adi fixed", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        if (fixed[i]) x[i] = (add ? x[i] : Scalar(0)) + r[i] / diagonal[i];
      });
}

/// x = x + scale * z or scale * z, and the largest |scale * z| in `change`.
template <class Space, class Scalar>
void add_and_measure(const Space &space, Index rows, const Scalar *z, Scalar scale, bool add, Scalar *x,
                     const Kokkos::View<double, typename Space::memory_space> &change)
{
  Kokkos::parallel_reduce(
      "weft adi correction", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &largest) {
        const Scalar correction = scale * z[i];
        x[i]                    = add ? x[i] + correction : correction;
        const double size       = modulus(widened(correction));
        if (!(size <= largest)) largest = size;
      },
      Kokkos::Max<double, typename Space::memory_space>(change));
}

} // namespace weft
