/// Bounds of the field of values of a part: by Gershgorin's circles, and by the Lanczos method on its inverse.
#pragma once
#include "adi/split.hpp"
#include "base/probe_value.hpp"

namespace weft {

/// A part H over `turn` (AdiSolver::turn) and `scale`, made as symmetric as `similarity` allows: with D the diagonal matrix that makes H symmetric
/// but for the signs of its off-diagonals, D^-t H D^t = S + K for t = similarity, S symmetric and K skew; of complex matrices S is Hermitian and K
/// skew-Hermitian. t = 1 leaves off-diagonals sqrt(u_i l_{i+1}) in S, or in K where the product is negative; t = 0 takes H as it is. Bounds of the
/// spectra of S and K are bounds of the field of values in a norm that is the 2-norm for t = 0 and the more different from it the larger t is.
/// In the layout of the box; fixed rows are rows of the identity.
template <class Scalar>
struct SymmetricPart {
  Scalar *lower, *diagonal, *upper; ///< of S
  Scalar *skew_lower, *skew_upper;  ///< K's; of real matrices their magnitudes
  Scalar *height;                   ///< K's diagonal over i; null for real matrices, which have none
};

template <class Number>
struct SymmetricCoupling {
  Number even = 0; ///< of S
  Number odd  = 0; ///< of K, of real matrices its magnitude
};
/// ln(|there| / |here|) / 2, which D takes from one to the other: within bounds, where one coupling is much less than the other or is none.
KOKKOS_INLINE_FUNCTION double log_similarity(double here, double there)
{
  constexpr double most = 3.5; // a quotient of 1e3
  if (here == there) return 0;
  if (here == 0 || there == 0) return here == 0 ? most : -most;
  return Kokkos::max(-most, Kokkos::min(most, (Kokkos::log(there) - Kokkos::log(here)) / 2));
}
/// Of the entries `here` (of this row) and `there` (the neighbour's for this row).
template <class Number>
KOKKOS_INLINE_FUNCTION SymmetricCoupling<Number> symmetric_coupling(const Number &here, const Number &there, double similarity)
{
  const double by = Kokkos::exp(similarity * log_similarity(modulus(here), modulus(there)));
  const Number a = here * by / 2.0, b = conjugate(there) / by / 2.0, even = a + b;
  const double least = 1e-11 * (modulus(a) + modulus(b));
  Number odd         = a - b;
  if constexpr (!is_complex<Number>) odd = modulus(odd);
  return {modulus(even) > least ? even : Number(0), modulus(odd) > least ? odd : Number(0)}; // what rounding has left is none
}

/// The couplings of a direction's rows to the rows before and after, and of those to them.
template <class Scalar>
struct AdiNeighbours {
  LineLayout layout;
  bool closed;
  Index around;
  const Scalar *lower, *share, *upper;
  const std::uint8_t *fixed;
  const Scalar *in_before, *in_after;

  struct Couplings {
    Index row; ///< in the layout of the box
    Scalar here[2], there[2];
    bool apart[2]; ///< there is none
  };

  /// in_before, in_after: couplings of the neighbouring pieces to this one, a value for each line, or null.
  AdiNeighbours(const AdiBox &box, int direction, const AdiParts<Scalar> &parts, const Scalar *before, const Scalar *after)
      : layout(box.lines(direction).layout), closed(box.closed(direction) && !box.crosses[direction]),
        around((layout.length - 1) * layout.stride), lower(parts.lower[direction]), share(parts.share[direction]),
        upper(parts.upper[direction]), fixed(parts.fixed), in_before(before), in_after(after)
  {
  }
  KOKKOS_INLINE_FUNCTION Couplings at(Index number) const
  {
    const LineRow at = line_row(layout, number);
    const Index i    = layout.start(at.line) + at.row * layout.stride;
    // A row that is solved by itself takes no part in a line: what others couple to it is known to them.
    Couplings found{i, {lower[i], upper[i]}, {0, 0}, {fixed[i] != 0, fixed[i] != 0}};
    for (int side = 0; side < 2; side++) {
      const bool end      = side == 0 ? at.row == 0 : at.row + 1 == layout.length;
      const Scalar *in    = side == 0 ? in_before : in_after;
      const Index forward = side == 0 ? -layout.stride : layout.stride, j = i + (end ? (side == 0 ? around : -around) : forward);
      if (!end || closed) {
        found.there[side] = side == 0 ? upper[j] : lower[j];
        found.apart[side] = found.apart[side] || fixed[j] != 0;
      } else {
        found.there[side] = in ? in[at.line] : Scalar(0);
        found.apart[side] = found.apart[side] || found.there[side] == Scalar(0);
      }
    }
    return found;
  }
};

template <class Space, class Scalar>
void make_symmetric(const Space &space, const AdiNeighbours<Scalar> &lines, Scalar turn, double scale, double similarity,
                    const SymmetricPart<Scalar> &part)
{
  using Number = InDouble<Scalar>;
  Kokkos::parallel_for(
      "weft adi symmetric", Kokkos::RangePolicy<Space>(space, 0, lines.layout.rows()), KOKKOS_LAMBDA(const Index number) {
        const auto c    = lines.at(number);
        const Number by = conjugate(widened(turn)) / scale;
        const SymmetricCoupling<Number> none{},
            l                 = c.apart[0] ? none : symmetric_coupling(by * widened(c.here[0]), by * widened(c.there[0]), similarity),
            u                 = c.apart[1] ? none : symmetric_coupling(by * widened(c.here[1]), by * widened(c.there[1]), similarity);
        const Index i         = c.row;
        const Number diagonal = lines.fixed[i] ? Number(1) : by * widened(lines.share[i]);
        part.lower[i]         = static_cast<Scalar>(l.even);
        part.upper[i]         = static_cast<Scalar>(u.even);
        part.skew_lower[i]    = static_cast<Scalar>(l.odd);
        part.skew_upper[i]    = static_cast<Scalar>(u.odd);
        part.diagonal[i]      = static_cast<Scalar>(real_part(diagonal));
        if (part.height) part.height[i] = static_cast<Scalar>(part_of(diagonal, 1));
      });
}

/// Whether the field of values reaches beyond the ellipse of `region`, as a slanted segment does: by the circles of the Hermitian part of
/// e^{-i angle} (S + K), cos(angle) S - i sin(angle) K, for the two angles of the box's diagonals. Collective. Waits.
template <class Space, class Scalar>
bool has_corners(const Space &space, Index rows, const std::uint8_t *fixed, const SymmetricPart<Scalar> &part,
                 const SpectralInterval &region, const AdiRanks &ranks)
{
  const double wide = (region.high - region.low) / 2, middle = (region.low + region.high) / 2, offset = region.offset;
  const double size = std::hypot(wide, region.skew), c = region.skew / size, s = wide / size;
  double farthest = 0;
  Kokkos::parallel_reduce(
      "weft adi corners", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &so_far) {
        if (fixed[i]) return;
        for (const double sine : {s, -s}) {
          const InDouble<Scalar> turned(0, sine);
          const double at = c * (static_cast<double>(real_part(part.diagonal[i])) - middle) +
                            sine * (static_cast<double>(real_part(part.height[i])) - offset);
          const double radius = modulus(c * widened(part.lower[i]) - turned * widened(part.skew_lower[i])) +
                                modulus(c * widened(part.upper[i]) - turned * widened(part.skew_upper[i]));
          so_far = Kokkos::max(so_far, Kokkos::abs(at) + radius);
        }
      },
      Kokkos::Max<double>(farthest));
  farthest = -farthest;
  ranks.least(&farthest, 1);
  constexpr double nearly = 1.02;
  return -farthest > nearly * std::hypot(c * wide, s * region.skew);
}

/// Of the rows that are not fixed, over all ranks. Collective. Waits.
template <class Space, class Scalar>
SpectralInterval gershgorin(const Space &space, Index rows, const std::uint8_t *fixed, const SymmetricPart<Scalar> &part,
                            const AdiRanks &ranks)
{
  Kokkos::MinMaxScalar<double> found;
  Kokkos::parallel_reduce(
      "weft adi gershgorin", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Kokkos::MinMaxScalar<double> &so_far) {
        if (fixed[i]) return;
        const double d      = static_cast<double>(real_part(part.diagonal[i]));
        const double radius = modulus(widened(part.lower[i])) + modulus(widened(part.upper[i]));
        so_far.min_val      = Kokkos::min(so_far.min_val, d - radius);
        so_far.max_val      = Kokkos::max(so_far.max_val, d + radius);
      },
      Kokkos::MinMax<double>(found));
  if constexpr (is_complex<Scalar>) {
    Kokkos::MinMaxScalar<double> heights;
    Kokkos::parallel_reduce(
        "weft adi heights", Kokkos::RangePolicy<Space>(space, 0, rows),
        KOKKOS_LAMBDA(const Index i, Kokkos::MinMaxScalar<double> &so_far) {
          if (fixed[i]) return;
          const double at     = static_cast<double>(real_part(part.height[i]));
          const double radius = modulus(widened(part.skew_lower[i])) + modulus(widened(part.skew_upper[i]));
          so_far.min_val      = Kokkos::min(so_far.min_val, at - radius);
          so_far.max_val      = Kokkos::max(so_far.max_val, at + radius);
        },
        Kokkos::MinMax<double>(heights));
    double ends[4] = {found.min_val, -found.max_val, heights.min_val, -heights.max_val};
    ranks.least(ends, 4);
    if (!(ends[0] <= -ends[1])) return {ends[0], -ends[1]}; // every row is fixed
    // In units of the largest entry: what rounding has left is none.
    constexpr double rounding = 1e-11;
    const double offset = (ends[2] - ends[3]) / 2, half = (-ends[3] - ends[2]) / 2;
    SpectralInterval region{ends[0], -ends[1], half > rounding ? half : 0, false, std::abs(offset) > rounding ? offset : 0};
    region.box = region.skew > 0 && has_corners(space, rows, fixed, part, region, ranks);
    return region;
  } else {
    double skew = 0;
    Kokkos::parallel_reduce(
        "weft adi skew", Kokkos::RangePolicy<Space>(space, 0, rows),
        KOKKOS_LAMBDA(const Index i, double &largest) {
          if (!fixed[i]) largest = Kokkos::max(largest, static_cast<double>(part.skew_lower[i]) + static_cast<double>(part.skew_upper[i]));
        },
        Kokkos::Max<double>(skew));
    double ends[3] = {found.min_val, -found.max_val, -Kokkos::max(skew, 0.0)};
    ranks.least(ends, 3);
    return {ends[0], -ends[1], -ends[2]};
  }
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
          so_far += Kokkos::abs(log_similarity(modulus(widened(lower[i])), modulus(widened(upper[i - layout.stride]))));
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

/// The real part of the scalar product.
template <class Space, class Scalar>
double dot(const Space &space, Index rows, const Scalar *x, const Scalar *y)
{
  double sum = 0;
  Kokkos::parallel_reduce(
      "weft adi dot", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, double &s) { s += real_part(conjugate(widened(x[i])) * widened(y[i])); }, sum);
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
