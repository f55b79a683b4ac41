/// Bounds of the spectrum of a part: by Gershgorin's circles, and by the Lanczos method on its inverse.
#pragma once
#include "adi/split.hpp"

namespace weft {

/// A part made symmetric: off-diagonals sqrt(upper_i lower_{i+1}), by a similarity with a diagonal matrix; 0 where the product is negative,
/// whose eigenvalues then have the diagonal's real part. In the layout of the box, for a part times `sign`; fixed rows are rows of the identity.
template <class Scalar>
struct SymmetricPart {
  Scalar *lower, *diagonal, *upper;
};

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar symmetric_coupling(Scalar here, Scalar there)
{
  const Scalar product = here * there;
  return product > 0 ? Kokkos::copysign(Kokkos::sqrt(product), here) : Scalar(0);
}

/// in_before, in_after: couplings of the neighbouring pieces to this one, a value for each line, or null.
template <class Space, class Scalar>
void make_symmetric(const Space &space, const AdiBox &box, int direction, const AdiParts<Scalar> &parts, Scalar sign,
                    const Scalar *in_before, const Scalar *in_after, const SymmetricPart<Scalar> &part)
{
  const LineLayout layout = box.lines(direction).layout;
  const bool closed       = box.closed(direction) && !box.crosses[direction];
  const Scalar *lower = parts.lower[direction], *upper = parts.upper[direction], *share = parts.share[direction];
  const std::uint8_t *fixed = parts.fixed;
  const Index around        = (layout.length - 1) * layout.stride;
  Kokkos::parallel_for(
      "weft adi symmetric", Kokkos::RangePolicy<Space>(space, 0, layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const LineRow at = line_row(layout, number);
        const Index i    = layout.start(at.line) + at.row * layout.stride;
        Scalar before = 0, after = 0; // couplings of the neighbours to this row
        if (at.row > 0)
          before = upper[i - layout.stride];
        else if (closed)
          before = upper[i + around];
        else if (in_before)
          before = in_before[at.line];
        if (at.row + 1 < layout.length)
          after = lower[i + layout.stride];
        else if (closed)
          after = lower[i - around];
        else if (in_after)
          after = in_after[at.line];
        part.lower[i]    = sign * symmetric_coupling(lower[i], before);
        part.upper[i]    = sign * symmetric_coupling(upper[i], after);
        part.diagonal[i] = fixed[i] ? Scalar(1) : sign * share[i];
      });
}

/// Gershgorin's interval of the rows that are not fixed; low > high where there is none. Waits.
template <class Space, class Scalar>
SpectralInterval gershgorin(const Space &space, Index rows, const std::uint8_t *fixed, const SymmetricPart<Scalar> &part)
{
  Kokkos::MinMaxScalar<double> found;
  Kokkos::parallel_reduce(
      "weft adi gershgorin", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Kokkos::MinMaxScalar<double> &so_far) {
        if (fixed[i]) return;
        const double d      = static_cast<double>(part.diagonal[i]);
        const double radius = Kokkos::abs(static_cast<double>(part.lower[i])) + Kokkos::abs(static_cast<double>(part.upper[i]));
        so_far.min_val      = Kokkos::min(so_far.min_val, d - radius);
        so_far.max_val      = Kokkos::max(so_far.max_val, d + radius);
      },
      Kokkos::MinMax<double>(found));
  return {found.min_val, found.max_val};
}

/// Adds sigma to the diagonal of the rows that are not fixed.
template <class Space, class Scalar>
void add_to_diagonal(const Space &space, Index rows, const std::uint8_t *fixed, Scalar sigma, Scalar *diagonal)
{
  Kokkos::parallel_for(
      "weft adi shift", Kokkos::RangePolicy<Space>(space, 0, rows), KOKKOS_LAMBDA(const Index i) {
        if (!fixed[i]) diagonal[i] += sigma;
      });
}

/// A vector that does not depend on how the grid is cut: values in (1/2, 3/2) from the place in the whole grid, 0 in fixed rows.
template <class Space, class Scalar>
void start_vector(const Space &space, const AdiBox &box, const std::uint8_t *fixed, Scalar *v)
{
  const AdiGrid grid(box);
  const Index x0 = box.first[0], y0 = box.first[1], z0 = box.first[2], nx = box.global[0], ny = box.global[1];
  Kokkos::parallel_for(
      "weft adi start", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Index node    = x0 + grid.at(i, 0) + nx * (y0 + grid.at(i, 1) + ny * (z0 + grid.at(i, 2)));
        std::uint64_t state = static_cast<std::uint64_t>(node * grid.components + i % grid.components) + 0x9e3779b97f4a7c15ull;
        state               = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
        state               = (state ^ (state >> 27)) * 0x94d049bb133111ebull;
        state ^= state >> 31; // splitmix64
        v[i] = fixed[i] ? Scalar(0) : static_cast<Scalar>(0.5 + static_cast<double>(state >> 11) * 0x1p-53);
      });
}

template <class Space, class Scalar>
double dot(const Space &space, Index rows, const Scalar *x, const Scalar *y)
{
  double sum = 0;
  Kokkos::parallel_reduce(
      "weft adi dot", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &s) { s += static_cast<double>(x[i]) * static_cast<double>(y[i]); }, sum);
  return sum;
}

/// w = w / beta - alpha v - gamma u
template <class Space, class Scalar>
void combine(const Space &space, Index rows, Scalar *w, Scalar scale, Scalar alpha, const Scalar *v, Scalar gamma, const Scalar *u)
{
  Kokkos::parallel_for(
      "weft adi combine", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i) { w[i] = scale * w[i] - alpha * v[i] - gamma * u[i]; });
}

/// The smallest and the largest eigenvalue of a small symmetric tridiagonal matrix, by bisection with Sturm's sequence.
SpectralInterval ritz_interval(const std::vector<double> &diagonal, const std::vector<double> &off);

/// The extreme eigenvalues of the inverse of the factored lines, from a few steps of the Lanczos method. Collective. Waits.
template <class Space, class Scalar>
SpectralInterval lanczos_of_inverse(const Space &space, const AdiBox &box, const std::uint8_t *fixed, AdiLines<Scalar> &lines,
                                    const AdiRanks &ranks)
{
  constexpr int steps              = 16;
  const Index rows                 = box.rows();
  const auto vector                = [&] { return OwnedArray<Scalar, Space>("weft adi lanczos", static_cast<std::size_t>(rows)); };
  OwnedArray<Scalar, Space> before = vector(), v = vector(), w = vector();
  const auto product = [&](const auto &x, const auto &y) {
    double sum = dot(space, rows, x.data(), y.data());
    ranks.sum(&sum, 1);
    return sum;
  };
  start_vector(space, box, fixed, v.data());
  std::vector<double> alpha, beta{std::sqrt(product(v, v))};
  combine(space, rows, v.data(), static_cast<Scalar>(1 / beta[0]), Scalar(0), v.data(), Scalar(0), v.data());
  beta.pop_back();
  for (int step = 0; step < steps; step++) {
    lines.solve(v.data(), w.data(), {});
    alpha.push_back(product(v, w));
    combine(space, rows, w.data(), Scalar(1), static_cast<Scalar>(alpha.back()), v.data(),
            static_cast<Scalar>(beta.empty() ? 0 : beta.back()), before.data());
    const double size = std::sqrt(product(w, w));
    if (!(size > 1e-6 * std::abs(alpha[0]))) break; // an invariant space, to the digits that a bound needs
    combine(space, rows, w.data(), static_cast<Scalar>(1 / size), Scalar(0), v.data(), Scalar(0), v.data());
    beta.push_back(size);
    std::swap(before, v);
    std::swap(v, w);
  }
  beta.resize(alpha.size() - 1);
  space.fence("weft: lanczos, whose vectors end here");
  return ritz_interval(alpha, beta);
}

} // namespace weft
