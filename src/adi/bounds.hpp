/// Bounds of the field of values of a part: by Gershgorin's circles, and by the Lanczos method on its inverse.
#pragma once
#include "adi/split.hpp"
#include "base/probe_value.hpp"

namespace weft {

/// A part H times `sign` over `scale`, made as symmetric as `similarity` allows: with D the diagonal matrix that makes H symmetric but for the
/// signs of its off-diagonals, D^-t H D^t = S + K for t = similarity, S symmetric and K skew. t = 1 leaves off-diagonals sqrt(u_i l_{i+1}) in
/// S, or in K where the product is negative; t = 0 takes H as it is. Bounds of the spectra of S and K are bounds of the field of values
/// in a norm that is the 2-norm for t = 0 and the more different from it the larger t is. In the layout of the box; fixed rows are rows of the identity.
template <class Scalar>
struct SymmetricPart {
  Scalar *lower, *diagonal, *upper; ///< of S
  Scalar *skew_lower, *skew_upper;  ///< magnitudes of K's
};

struct SymmetricCoupling {
  double even = 0, odd = 0; ///< of S, and |..| of K
};
/// ln(|there| / |here|) / 2, which D takes from one to the other: within bounds, where one coupling is much less than the other or is none.
KOKKOS_INLINE_FUNCTION double log_similarity(double here, double there)
{
  constexpr double most = 3.5; // a quotient of 1e3
  if (here == there) return 0;
  if (here == 0 || there == 0) return here == 0 ? most : -most;
  return Kokkos::max(-most, Kokkos::min(most, (Kokkos::log(Kokkos::abs(there)) - Kokkos::log(Kokkos::abs(here))) / 2));
}
/// Of the entries `here` (of this row) and `there` (the neighbour's for this row).
KOKKOS_INLINE_FUNCTION SymmetricCoupling symmetric_coupling(double here, double there, double similarity)
{
  const double by = Kokkos::exp(similarity * log_similarity(here, there)), a = here * by / 2, b = there / by / 2;
  const double least = 1e-11 * (Kokkos::abs(a) + Kokkos::abs(b)), even = a + b, odd = Kokkos::abs(a - b);
  return {Kokkos::abs(even) > least ? even : 0, odd > least ? odd : 0}; // what rounding has left is none
}

/// in_before, in_after: couplings of the neighbouring pieces to this one, a value for each line, or null.
template <class Space, class Scalar>
void make_symmetric(const Space &space, const AdiBox &box, int direction, const AdiParts<Scalar> &parts, Scalar sign, double scale,
                    double similarity, const Scalar *in_before, const Scalar *in_after, const SymmetricPart<Scalar> &part)
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
        // A row that is solved by itself takes no part in a line: what others couple to it is known to them.
        Scalar here[2] = {lower[i], upper[i]}, there[2] = {0, 0};
        bool apart[2] = {fixed[i] != 0, fixed[i] != 0};
        for (int side = 0; side < 2; side++) {
          const bool end      = side == 0 ? at.row == 0 : at.row + 1 == layout.length;
          const Scalar *in    = side == 0 ? in_before : in_after;
          const Index forward = side == 0 ? -layout.stride : layout.stride, j = i + (end ? (side == 0 ? around : -around) : forward);
          if (!end || closed) {
            there[side] = side == 0 ? upper[j] : lower[j];
            apart[side] = apart[side] || fixed[j] != 0;
          } else {
            there[side] = in ? in[at.line] : Scalar(0);
            apart[side] = apart[side] || there[side] == 0;
          }
        }
        const double by = static_cast<double>(sign) / scale;
        const SymmetricCoupling none{},
            l = apart[0] ? none : symmetric_coupling(by * static_cast<double>(here[0]), by * static_cast<double>(there[0]), similarity),
            u = apart[1] ? none : symmetric_coupling(by * static_cast<double>(here[1]), by * static_cast<double>(there[1]), similarity);
        part.lower[i]      = static_cast<Scalar>(l.even);
        part.upper[i]      = static_cast<Scalar>(u.even);
        part.skew_lower[i] = static_cast<Scalar>(l.odd);
        part.skew_upper[i] = static_cast<Scalar>(u.odd);
        part.diagonal[i]   = fixed[i] ? Scalar(1) : static_cast<Scalar>(by * static_cast<double>(share[i]));
      });
}

/// Of the rows that are not fixed. Waits.
template <class Space, class Scalar>
SpectralInterval gershgorin(const Space &space, Index rows, const std::uint8_t *fixed, const SymmetricPart<Scalar> &part)
{
  Kokkos::MinMaxScalar<double> found;
  double skew = 0;
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
  Kokkos::parallel_reduce(
      "weft adi skew", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &largest) {
        if (!fixed[i]) largest = Kokkos::max(largest, static_cast<double>(part.skew_lower[i]) + static_cast<double>(part.skew_upper[i]));
      },
      Kokkos::Max<double>(skew));
  return {found.min_val, found.max_val, Kokkos::max(skew, 0.0)};
}

/// The sum of |log_similarity| over the couplings to the row before: what the rows add to the logarithm of the entries of D. Waits.
template <class Space, class Scalar>
double log_condition(const Space &space, const AdiBox &box, int direction, const AdiParts<Scalar> &parts)
{
  const LineLayout layout = box.lines(direction).layout;
  const Scalar *lower = parts.lower[direction], *upper = parts.upper[direction];
  double sum = 0;
  Kokkos::parallel_reduce(
      "weft adi condition", Kokkos::RangePolicy<Space>(space, 0, layout.rows()),
      KOKKOS_LAMBDA(const Index number, double &so_far) {
        const LineRow at = line_row(layout, number);
        if (at.row == 0) return; // pieces of lines lose one row of many
        const Index i = layout.start(at.line) + at.row * layout.stride;
        if (parts.fixed[i] == 0 && parts.fixed[i - layout.stride] == 0)
          so_far += Kokkos::abs(log_similarity(static_cast<double>(lower[i]), static_cast<double>(upper[i - layout.stride])));
      },
      sum);
  return sum;
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
        const Index node = x0 + grid.at(i, 0) + nx * (y0 + grid.at(i, 1) + ny * (z0 + grid.at(i, 2)));
        const auto mixed = splitmix64(static_cast<std::uint64_t>(node * grid.components + i % grid.components) + splitmix64_step);
        v[i]             = fixed[i] ? Scalar(0) : static_cast<Scalar>(0.5 + static_cast<double>(mixed >> 11) * 0x1p-53);
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

/// The largest eigenvalue of a small symmetric tridiagonal matrix, by bisection with Sturm's sequence.
double largest_ritz_value(const std::vector<double> &diagonal, const std::vector<double> &off);

/// The largest eigenvalue of the inverse of the factored lines S, from a few steps of the Lanczos method. least > 0: without the eigenvectors
/// of the least eigenvalue of S, which this is: of S^-1 - least S^-2. Collective. Waits.
template <class Space, class Scalar>
double lanczos_of_inverse(const Space &space, const AdiBox &box, const std::uint8_t *fixed, AnyLines<Scalar> &lines, double least,
                          const AdiRanks &ranks)
{
  constexpr int steps              = 16;
  const Index rows                 = box.rows();
  const auto vector                = [&] { return OwnedArray<Scalar, Space>("weft adi lanczos", static_cast<std::size_t>(rows)); };
  OwnedArray<Scalar, Space> before = vector(), v = vector(), w = vector(), again = least > 0 ? vector() : OwnedArray<Scalar, Space>();
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
    if (least > 0) {
      lines.solve(w.data(), again.data(), {});
      combine(space, rows, w.data(), Scalar(1), static_cast<Scalar>(least), again.data(), Scalar(0), again.data());
    }
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
  return largest_ritz_value(alpha, beta);
}

} // namespace weft
