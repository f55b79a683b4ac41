/// The turns that a complex matrix may have: numbers of modulus 1 by which it is divided before its parts are bounded (AdiSolver::turn).
///
/// The first is where the spectra spread. Of all lines through its mean, the spectrum of X = A - mean lies nearest to that along which the
/// skew-Hermitian part of X / turn is least in Frobenius' norm, so that turn^2 is tr(X^2) over its modulus: the couplings of R times e^{i theta}
/// have e^{2 i theta}, whatever is added to the diagonal, those of a Hermitian matrix 1, and of central differences of strong convection -1. The
/// second is the direction of the mean itself, which is that of real matrices: 1 or -1.
#pragma once
#include "adi/bounds.hpp"

namespace weft {

/// tr(X^2) over the rows that are not fixed: of a diagonal less `mean`, or the products of couplings of a direction. With the number of rows and
/// the sum of the diagonal.
struct TurnSums {
  using is_sum = void;
  Complex<double> sum{}, squares{};
  double rows = 0;

  KOKKOS_INLINE_FUNCTION TurnSums &operator+=(const TurnSums &other)
  {
    sum += other.sum;
    squares += other.squares;
    rows += other.rows;
    return *this;
  }
  /// Over all ranks. Collective.
  void add_up(const AdiRanks &ranks)
  {
    double values[5] = {sum.real(), sum.imag(), squares.real(), squares.imag(), rows};
    ranks.sum(values, 5);
    sum     = {values[0], values[1]};
    squares = {values[2], values[3]};
    rows    = values[4];
  }
};

template <class Space, class Scalar>
TurnSums sum_diagonal(const Space &space, Index rows, const AdiParts<Scalar> &parts, double scale, const Complex<double> &mean)
{
  TurnSums total;
  Kokkos::parallel_reduce(
      "weft adi diagonal", Kokkos::RangePolicy<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, TurnSums &sums) {
        if (parts.fixed[i]) return;
        const Complex<double> d = widened(parts.diagonal[i]) / scale;
        sums += {d, (d - mean) * (d - mean), 1};
      },
      Kokkos::Sum<TurnSums>(total));
  return total;
}

template <class Space, class Scalar>
TurnSums sum_products(const Space &space, const AdiNeighbours<Scalar> &lines, double scale)
{
  TurnSums total;
  Kokkos::parallel_reduce(
      "weft adi products", Kokkos::RangePolicy<Space>(space, 0, lines.layout.rows()),
      KOKKOS_LAMBDA(const Index number, TurnSums &sums) {
        const auto c = lines.at(number);
        for (int side = 0; side < 2; side++) {
          if (!c.apart[side]) sums.squares += (widened(c.here[side]) / scale) * (widened(c.there[side]) / scale);
        }
      },
      Kokkos::Sum<TurnSums>(total));
  return total;
}

/// `lines`: of each direction; scale: of the size of the entries. Collective. Waits.
template <class Space, class Scalar>
std::vector<std::complex<double>> turns_of(const Space &space, Index rows, const AdiParts<Scalar> &parts,
                                           const std::vector<AdiNeighbours<Scalar>> &lines, double scale, const AdiRanks &ranks)
{
  TurnSums sums = sum_diagonal(space, rows, parts, scale, {0, 0});
  sums.add_up(ranks);
  const std::complex<double> mean = sums.rows > 0 ? std::complex<double>(sums.sum) / sums.rows : 0;
  sums                            = sum_diagonal(space, rows, parts, scale, mean);
  for (const AdiNeighbours<Scalar> &direction : lines) sums += sum_products(space, direction, scale);
  sums.add_up(ranks);

  const auto of_size_one = [](const std::complex<double> &z) -> std::complex<double> {
    const double size = std::abs(z), rounding = 1e-14 * size;
    if (!(size > 0 && std::isfinite(size))) return 1;
    return {std::abs(z.real()) > rounding ? z.real() / size : 0, std::abs(z.imag()) > rounding ? z.imag() / size : 0};
  };
  const std::complex<double> along_mean = of_size_one(mean);
  std::complex<double> along_spread     = std::sqrt(of_size_one(sums.squares));
  double cosine                         = std::real(std::conj(along_mean) * along_spread);
  if (cosine < 0) along_spread = -along_spread, cosine = -cosine;
  if (std::abs(along_spread - along_mean) < 1e-9) return {along_spread};
  // The diagonal is shared out by the first of them: where it has nothing to do with the spread that is the mean's.
  if (cosine < 1e-10) return {along_mean, along_spread};
  return {along_spread, along_mean};
}

} // namespace weft
