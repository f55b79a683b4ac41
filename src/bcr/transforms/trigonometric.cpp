#include "bcr/transforms/trigonometric.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace weft::poisson {

namespace {

constexpr long double pi = std::numbers::pi_v<long double>;

/// sin(pi n / d) to the last bit of a long double, exact at its zeros and ends.
long double sine(Index n, Index d)
{
  n %= 2 * d;
  const bool negative = n >= d;
  if (negative) n -= d;
  if (2 * n > d) n = d - n;
  const long double s = 4 * n > d ? std::cos(pi * static_cast<long double>(d - 2 * n) / static_cast<long double>(2 * d))
                                  : std::sin(pi * static_cast<long double>(n) / static_cast<long double>(d));
  return negative ? -s : s;
}
long double cosine(Index n, Index d)
{
  return sine(2 * n + d, 2 * d);
}

/// diagonal + 2 off cos(2 a) with a = pi n / d, exact where diagonal = -2 off and a is small.
double eigenvalue(double diagonal, double off, Index n, Index d)
{
  const long double s = sine(n, d);
  return static_cast<double>((static_cast<long double>(diagonal) + 2 * static_cast<long double>(off)) -
                             4 * static_cast<long double>(off) * s * s);
}

/// Cell-centred ends: the coupling beyond the end is added to (Neumann) or taken from (Dirichlet) the diagonal.
struct CellLine {
  double off, diagonal;
  bool neumann;
};
std::optional<CellLine> cell_line(const LineMatrix &line)
{
  const std::size_t n = line.size();
  if (n < 3 || line.periodic) return std::nullopt;
  const double off = line.upper[0], diagonal = line.diagonal[1];
  const auto equal = [&](double a, double b) { return std::abs(a - b) <= 4e-15 * (std::abs(off) + std::abs(diagonal)); };
  for (std::size_t i = 0; i < n; i++) {
    if (i > 0 && !equal(line.lower[i], off)) return std::nullopt;
    if (i + 1 < n && !equal(line.upper[i], off)) return std::nullopt;
    if (i > 0 && i + 1 < n && !equal(line.diagonal[i], diagonal)) return std::nullopt;
  }
  for (bool neumann : {true, false}) {
    const double end = neumann ? diagonal + off : diagonal - off;
    if (off != 0 && equal(line.diagonal[0], end) && equal(line.diagonal[n - 1], end)) return CellLine{off, diagonal, neumann};
  }
  return std::nullopt;
}

/// 1 / length where a mode is 1 or -1 everywhere, else 2 / length.
std::vector<double> scales(Index n, Index length, const std::vector<Index> &units)
{
  std::vector<double> scale(static_cast<std::size_t>(n), 2 / static_cast<double>(length));
  for (Index q : units) scale[static_cast<std::size_t>(q)] = 1 / static_cast<double>(length);
  return scale;
}

FastModes cell_modes(const CellLine &cells, Index n)
{
  FastModes modes;
  for (Index q = 0; q < n; q++) modes.values.push_back(eigenvalue(cells.diagonal, cells.off, cells.neumann ? q : q + 1, 2 * n));
  modes.to_modes                  = {Trigonometric::dct2, n, n};
  modes.from_modes                = {Trigonometric::dct3, n, n};
  modes.to_modes.alternates_input = modes.to_modes.writes_backwards = !cells.neumann;
  modes.from_modes.reads_backwards = modes.from_modes.alternates_output = !cells.neumann;
  modes.to_modes.scale                                                  = scales(n, n, {cells.neumann ? 0 : n - 1});
  return modes;
}

FastModes node_modes(const ConstantLine &line, Index n)
{
  const Index length = line.intervals;
  FastModes modes;
  const auto value = [&](Index numerator, Index denominator) { // of the angle pi numerator / denominator
    modes.values.push_back(eigenvalue(line.diagonal, line.off, numerator, 2 * denominator));
  };
  switch (line.ends) {
  case Ends::dirichlet_dirichlet:
    for (Index q = 1; q < length; q++) value(q, length);
    modes.to_modes = modes.from_modes = {Trigonometric::dst1, n, length};
    modes.to_modes.scale              = scales(n, length, {});
    break;
  case Ends::neumann_neumann:
    for (Index q = 0; q <= length; q++) value(q, length);
    modes.to_modes = modes.from_modes = {Trigonometric::dct1, n, length};
    modes.from_modes.first_weight = modes.from_modes.last_weight = 2;
    modes.to_modes.scale                                         = scales(n, length, {0, length});
    break;
  case Ends::periodic:
    for (Index q = 0; q < n; q++) value(2 * ((q + 1) / 2), length);
    modes.to_modes       = {Trigonometric::real, n, length};
    modes.from_modes     = {Trigonometric::real_back, n, length};
    modes.to_modes.scale = scales(n, length, length % 2 == 0 ? std::vector<Index>{0, n - 1} : std::vector<Index>{0});
    break;
  default: // sin(pi (q + 1/2) (j + 1) / N), counted from the Dirichlet end
    for (Index q = 1; q <= length; q++) value(2 * q - 1, 2 * length);
    modes.to_modes                   = {Trigonometric::dct3, n, length};
    modes.from_modes                 = {Trigonometric::dct2, n, length};
    modes.to_modes.first_weight      = 0.5;
    modes.to_modes.alternates_output = modes.from_modes.alternates_input = true;
    modes.to_modes.reads_backwards = modes.from_modes.writes_backwards = line.ends == Ends::dirichlet_neumann;
    modes.to_modes.scale                                               = scales(n, length, {});
  }
  return modes;
}

using Complex = std::complex<long double>;

void add_number(std::vector<double> &to, const Complex &value)
{
  to.push_back(static_cast<double>(value.real()));
  to.push_back(static_cast<double>(value.imag()));
}

/// Powers of 2, 3, 5 and 7 whose product is n, as stages take them; or nothing.
std::optional<std::vector<int>> small_factors(Index n)
{
  std::vector<int> factors;
  for (int f : {8, 4, 2, 3, 5, 7}) {
    for (; n % f == 0; n /= f) factors.push_back(f);
  }
  if (n != 1) return std::nullopt;
  return factors;
}

/// sum_j x_j exp(-2 pi i j k / n), by the factors of n. `roots`: exp(-2 pi i k / m) for all k < m, m = n * apart.
std::vector<Complex> transform_of(const std::vector<Complex> &x, std::vector<int> factors, const std::vector<Complex> &roots, Index apart)
{
  if (factors.empty()) return x;
  const auto n = static_cast<Index>(x.size()), f = static_cast<Index>(factors.back()), part = n / f;
  factors.pop_back();
  std::vector<Complex> sums(x.size(), 0), some(static_cast<std::size_t>(part));
  for (Index l = 0; l < f; l++) {
    for (Index j = 0; j < part; j++) some[static_cast<std::size_t>(j)] = x[static_cast<std::size_t>(l + j * f)];
    const std::vector<Complex> of_some = transform_of(some, factors, roots, apart * f);
    for (Index k = 0; k < n; k++)
      sums[static_cast<std::size_t>(k)] += roots[static_cast<std::size_t>(l * k % n * apart)] * of_some[static_cast<std::size_t>(k % part)];
  }
  return sums;
}

} // namespace

std::optional<FourierPlan> fourier_plan(Index length)
{
  if (length < 1 || length > (Index(1) << 28)) return std::nullopt;
  if (auto factors = small_factors(length)) return FourierPlan{length, *factors};
  for (Index board = 2 * length - 4;; board++) {
    if (auto factors = small_factors(board)) return FourierPlan{board, *factors};
  }
}

Chirp chirp_of(Index length, Index board)
{
  Chirp made;
  std::vector<Complex> ring(static_cast<std::size_t>(board), 0);
  Complex last;
  for (Index j = 0; j < length; j++) {
    const Index square = j * j % (2 * length);
    const Complex c(cosine(square, length), -sine(square, length));
    add_number(made.chirp, c);
    last = std::conj(c);
    if (j + 1 < length || board >= 2 * length - 2)
      ring[static_cast<std::size_t>(j)] = ring[static_cast<std::size_t>((board - j) % board)] = last;
  }
  const Complex missing = last - ring[static_cast<std::size_t>(board - length + 1)];
  made.missing[0]       = static_cast<double>(missing.real());
  made.missing[1]       = static_cast<double>(missing.imag());
  for (Complex &value : ring) value /= static_cast<long double>(board);
  std::vector<Complex> roots;
  for (Index k = 0; k < board; k++) roots.emplace_back(cosine(2 * k, board), -sine(2 * k, board));
  for (const Complex &value : transform_of(ring, *small_factors(board), roots, 1)) add_number(made.filter, value);
  return made;
}

std::optional<FastModes> fast_modes(const LineMatrix &line)
{
  if (const auto constant = constant_line(line)) {
    if (line.n < 2 || !fourier_plan(constant->intervals)) return std::nullopt;
    return node_modes(*constant, line.n);
  }
  if (const auto cells = cell_line(line)) {
    if (!fourier_plan(line.n)) return std::nullopt;
    return cell_modes(*cells, line.n);
  }
  return std::nullopt;
}

std::vector<double> unit_roots(Index count, Index step, Index denominator)
{
  std::vector<double> roots;
  for (Index k = 0; k < count; k++) {
    roots.push_back(static_cast<double>(cosine(k * step, denominator)));
    roots.push_back(static_cast<double>(-sine(k * step, denominator)));
  }
  return roots;
}

} // namespace weft::poisson
