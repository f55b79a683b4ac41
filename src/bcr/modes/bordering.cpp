#include "bcr/modes/bordering.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bcr/modes/mode_tables.hpp"
#include "bcr/transforms/eigen.hpp"

namespace weft::poisson {

namespace {

constexpr Index least_intervals = 64; ///< below it nothing is gained

/// True where the Fourier transform of that length is no chirp.
bool is_fast(Index length)
{
  const auto plan = fourier_plan(length);
  return plan && plan->board == length;
}

/// The first rows of a line.
LineMatrix shortened(LineMatrix line, Index n)
{
  line.n = n;
  for (auto *values : {&line.lower, &line.diagonal, &line.upper}) values->resize(line.size());
  line.upper.back() = 0;
  return line;
}

/// sin(pi q / intervals)
std::vector<double> sines(Index intervals)
{
  const std::vector<double> roots = unit_roots(intervals, 1, intervals);
  std::vector<double> values;
  for (Index q = 0; q < intervals; q++) values.push_back(-roots[static_cast<std::size_t>(2 * q + 1)]);
  return values;
}

bool all_decay(const std::vector<double> &modes, const LineMatrix &line)
{
  ConstantModes unused;
  for (double value : modes) {
    if (!add_mode(line, value, unused)) return false;
  }
  return true;
}

struct Pole {
  double value, weight;
};

/// The Gauss rule of so many nodes for a sum over poles, by Lanczos's recurrence on their weights (G. Golub, J. Welsch, Math. Comp. 23
/// (1969) 221).
std::vector<Pole> gauss_rule(const std::vector<Pole> &poles, std::size_t nodes)
{
  const std::size_t n      = poles.size();
  const long double centre = (static_cast<long double>(poles.front().value) + poles.back().value) / 2,
                    scale  = std::abs(static_cast<long double>(poles.back().value) - poles.front().value) / 2;
  const auto dot           = [&](const std::vector<long double> &x, const std::vector<long double> &y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0L);
  };
  long double all = 0;
  for (const Pole &pole : poles) all += pole.weight;
  std::vector<std::vector<long double>> basis(1, std::vector<long double>(n));
  for (std::size_t i = 0; i < n; i++) basis[0][i] = std::sqrt(poles[i].weight / all);
  LineMatrix jacobi;
  jacobi.n     = static_cast<Index>(nodes);
  jacobi.lower = jacobi.diagonal = jacobi.upper = std::vector<double>(nodes, 0);
  for (std::size_t k = 0; k < nodes; k++) {
    std::vector<long double> next(n);
    for (std::size_t i = 0; i < n; i++) next[i] = (poles[i].value - centre) / scale * basis[k][i];
    jacobi.diagonal[k] = static_cast<double>(dot(next, basis[k]));
    if (k + 1 == nodes) break;
    for (int twice = 0; twice < 2; twice++) {
      for (const auto &before : basis) {
        const long double along = dot(next, before);
        for (std::size_t i = 0; i < n; i++) next[i] -= along * before[i];
      }
    }
    const long double size = std::sqrt(dot(next, next));
    for (long double &value : next) value /= size;
    jacobi.upper[k] = jacobi.lower[k + 1] = static_cast<double>(size);
    basis.push_back(std::move(next));
  }
  const EigenRows first = eigen_rows(jacobi, {0});
  std::vector<Pole> rule;
  for (std::size_t k = 0; k < nodes; k++)
    rule.push_back(
        {static_cast<double>(centre + scale * first.values[k]), static_cast<double>(all * first.vectors[0][k] * first.inverse[0][k])});
  return rule;
}

/// Where the eigenvalues of a line can be (Gershgorin's circles).
std::pair<double, double> spectrum(const LineMatrix &line)
{
  double low = 0, high = 0;
  for (std::size_t i = 0; i < line.size(); i++) {
    const double radius = std::abs(line.lower[i]) + std::abs(line.upper[i]);
    low                 = i == 0 ? line.diagonal[i] - radius : std::min(low, line.diagonal[i] - radius);
    high                = i == 0 ? line.diagonal[i] + radius : std::max(high, line.diagonal[i] + radius);
  }
  return {low, high};
}

/// Fewer poles with the same sum of B - pole's inverses to the last digit. All are to be on one side of B's spectrum; those nearest to it are
/// kept. Of the others, in the order of their distances, number b + 1 .. 2 b lie within a factor of 4 of each other, measured from where the
/// spectrum begins: the error of 18 nodes is 3^-36 for any B that leaves A definite. (Eigenvalues of constant coefficients are as squares
/// near either end.)
std::vector<Pole> condensed(std::vector<Pole> poles, std::pair<double, double> of_line)
{
  constexpr std::size_t kept = 32, nodes = 18;
  const auto [low, high] = of_line;
  const bool above       = poles.front().value > high;
  for (const Pole &pole : poles) {
    if (above ? !(pole.value > high) : !(pole.value < low)) return poles;
  }
  std::sort(poles.begin(), poles.end(), [&](const Pole &a, const Pole &b) { return above ? a.value < b.value : a.value > b.value; });
  std::vector<Pole> fewer(poles.begin(), poles.begin() + static_cast<std::ptrdiff_t>(std::min(kept, poles.size())));
  for (std::size_t begin = kept, end = 0; begin < poles.size(); begin = end) {
    end = std::min(2 * begin, poles.size());
    const std::vector<Pole> some(poles.begin() + static_cast<std::ptrdiff_t>(begin), poles.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<Pole> rule = some.size() > nodes ? gauss_rule(some, nodes) : some;
    fewer.insert(fewer.end(), rule.begin(), rule.end());
  }
  return fewer;
}

/// The sums over the poles of `columns` for each combination of columns left over.
LineStep fractions(int left_over, Index intervals, const std::vector<double> &values, std::pair<double, double> of_line)
{
  const std::vector<double> sine = sines(intervals);
  LineStep step;
  for (int c = 0; c < left_over; c++) {
    std::vector<Pole> poles;
    for (Index q = 1 + c; q < intervals; q += left_over) {
      const double s = sine[static_cast<std::size_t>(q)];
      poles.push_back({-values[static_cast<std::size_t>(q - 1)], 2 * left_over / static_cast<double>(intervals) * s * s});
    }
    const Index begin = static_cast<Index>(step.pole.size());
    for (const Pole &pole : condensed(std::move(poles), of_line)) step.add_pole(pole.value, {1}, {pole.weight});
    step.groups.push_back({begin, static_cast<int>(static_cast<Index>(step.pole.size()) - begin), {{{c, 1}}}, {{c, {}}}});
  }
  return step;
}

} // namespace

std::optional<Bordering> bordering(const LineMatrix &columns, const std::vector<double> &values, const LineMatrix &line)
{
  const auto constant = constant_line(columns);
  if (!constant || constant->ends != Ends::dirichlet_dirichlet || is_fast(constant->intervals) || !equal_inside(line)) return std::nullopt;
  for (int left_over : {1, 2}) {
    const Index intervals = constant->intervals - left_over;
    if (intervals < least_intervals || !is_fast(intervals)) continue;
    Bordering made;
    made.left_over = left_over;
    made.inner     = *fast_modes(shortened(columns, intervals - 1));
    if (!all_decay(made.inner.values, line) || !all_decay(values, line)) return std::nullopt;
    const std::vector<double> sine = sines(intervals);
    for (Index q = 1; q < intervals; q++) {
      const double sign = left_over == 1 && q % 2 == 0 ? -1 : 1, coupling = sign * constant->off * sine[static_cast<std::size_t>(q)];
      made.into.push_back(2 / static_cast<double>(intervals) * coupling);
      made.out.push_back(left_over * coupling);
    }
    made.step = fractions(left_over, constant->intervals, values, spectrum(line));
    return made;
  }
  return std::nullopt;
}

} // namespace weft::poisson
