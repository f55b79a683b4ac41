#include "bcr/detect/direction_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::poisson {

namespace {

constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();

bool equal(double a, double b)
{
  return std::abs(a - b) <= rounding * std::max(std::abs(a), std::abs(b));
}

} // namespace

std::optional<std::string> direction_refused(const Direction &direction)
{
  if (direction.n < 1) return "a direction needs at least one point";
  const auto n = static_cast<std::size_t>(direction.n);
  if (direction.lower.size() != n || direction.diagonal.size() != n || direction.upper.size() != n)
    return "a direction's three diagonals must have as many values as it has points";
  if (!direction.weight.empty() && direction.weight.size() != n) return "a direction must have as many weights as points, or none";
  for (double w : direction.weight) {
    if (!(w > 0) || !std::isfinite(w)) return "the weights of a direction must be positive";
  }
  const LineMatrix line = line_matrix(direction);
  if (!std::isfinite(line.norm())) return "a coefficient of a direction is not finite";
  return std::nullopt;
}

LineMatrix line_matrix(const Direction &direction)
{
  LineMatrix line{direction.n, direction.periodic, direction.lower, direction.diagonal, direction.upper};
  const std::size_t n = line.size(), last = n - 1;
  if (!line.periodic) line.lower[0] = line.upper[last] = 0;
  if (line.periodic && n <= 2) {
    line.periodic = false;
    if (n == 1) {
      line.diagonal[0] += line.lower[0] + line.upper[0];
    } else {
      line.upper[0] += line.lower[0];
      line.lower[1] += line.upper[1];
    }
    line.lower[0] = line.upper[last] = 0;
  }
  for (std::size_t i = 0; i < direction.weight.size(); i++) {
    line.lower[i] /= direction.weight[i];
    line.diagonal[i] /= direction.weight[i];
    line.upper[i] /= direction.weight[i];
  }
  return line;
}

double LineMatrix::norm() const
{
  double norm = 0;
  for (std::size_t i = 0; i < size(); i++) {
    const double row = row_size(i);
    if (!(row <= norm)) norm = row; // a NaN stays
    if (std::isnan(norm)) break;
  }
  return norm;
}

std::size_t LineMatrix::weakest_row() const
{
  std::size_t least = 0;
  for (std::size_t i = 1; i < size(); i++) {
    if (row_size(i) < row_size(least)) least = i;
  }
  return least;
}

std::optional<double> LineMatrix::of_constant() const
{
  const auto sum          = [&](std::size_t i) { return lower[i] + diagonal[i] + upper[i]; };
  const std::size_t least = weakest_row();
  for (std::size_t i = 0; i < size(); i++) {
    if (std::abs(sum(i) - sum(least)) > rounding * (row_size(i) + row_size(least))) return std::nullopt;
  }
  return sum(least);
}

std::vector<double> LineMatrix::left_of_constant() const
{
  std::vector<double> v = *symmetrizer(*this);
  for (double &d : v) d = 1 / (d * d);
  const double largest = *std::max_element(v.begin(), v.end());
  for (double &d : v) d /= largest;
  return v;
}

std::pair<Index, Index> LineMatrix::equal_rows() const
{
  std::pair<Index, Index> longest{0, 0};
  Index first = 0;
  for (Index i = 1; i <= n; i++) {
    const auto at = static_cast<std::size_t>(i);
    if (i < n && lower[at] == lower[at - 1] && diagonal[at] == diagonal[at - 1] && upper[at] == upper[at - 1]) continue;
    if (i - first > longest.second - longest.first) longest = {first, i};
    first = i;
  }
  return longest;
}

LineMatrix LineMatrix::shifted(double add, double divisor) const
{
  LineMatrix line = *this;
  for (std::size_t i = 0; i < size(); i++) {
    line.lower[i] /= divisor;
    line.diagonal[i] = (line.diagonal[i] + add) / divisor;
    line.upper[i] /= divisor;
  }
  return line;
}

std::optional<std::vector<double>> symmetrizer(const LineMatrix &line)
{
  // d_{i+1} / d_i = sqrt(lower_{i+1} / upper_i)
  std::vector<double> d(line.size(), 1);
  const auto ratio = [&](std::size_t from, std::size_t to) -> std::optional<double> {
    const double up = line.upper[from], down = line.lower[to];
    if (up == 0 && down == 0) return 1;
    if (!(up * down > 0)) return std::nullopt;
    return std::sqrt(down / up);
  };
  for (std::size_t i = 0; i + 1 < line.size(); i++) {
    const auto r = ratio(i, i + 1);
    if (!r) return std::nullopt;
    d[i + 1] = d[i] * *r;
    if (!(d[i + 1] > 1e-50 && d[i + 1] < 1e50)) return std::nullopt;
  }
  if (line.periodic) {
    const auto r = ratio(line.size() - 1, 0);
    if (!r || std::abs(d.back() * *r - 1) > rounding * static_cast<double>(line.n)) return std::nullopt;
  }
  return d;
}

double eigenvector_condition(const LineMatrix &line)
{
  const auto d = symmetrizer(line);
  if (!d) return std::numeric_limits<double>::infinity();
  const auto [least, most] = std::minmax_element(d->begin(), d->end());
  return *most / *least;
}

Index ConstantLine::row(Index point) const
{
  if (ring()) return ((point % intervals) + intervals) % intervals;
  const Index mirrored = intervals - std::abs(intervals - std::abs(point));
  if ((mirrored == 0 && !has_first()) || (mirrored == intervals && !has_last())) return -1;
  if (ends == Ends::neumann_dirichlet) return intervals - mirrored;
  return has_first() ? mirrored : mirrored - 1;
}

std::optional<ConstantLine> constant_line(const LineMatrix &line)
{
  const std::size_t n = line.size(), last = n - 1;
  for (double d : line.diagonal) {
    if (!equal(d, line.diagonal[0])) return std::nullopt;
  }
  ConstantLine c{Ends::dirichlet_dirichlet, 1, line.diagonal[0], line.n + 1};
  if (n == 1) return c;
  bool first_doubled = false, last_doubled = false;
  if (n == 2) {
    const double ratio = line.lower[1] / line.upper[0];
    first_doubled      = equal(ratio, 1) || equal(ratio, 0.5);
    last_doubled       = equal(ratio, 1) || equal(ratio, 2);
    if (!first_doubled && !last_doubled) return std::nullopt;
    c.off = first_doubled ? line.upper[0] / 2 : line.upper[0];
  } else {
    c.off = line.upper[1];
    for (std::size_t i = 1; i < last; i++) {
      if (!equal(line.lower[i], c.off) || !equal(line.upper[i], c.off)) return std::nullopt;
    }
    if (line.periodic) {
      for (double end : {line.lower[0], line.upper[0], line.lower[last], line.upper[last]}) {
        if (!equal(end, c.off)) return std::nullopt;
      }
    } else {
      first_doubled = equal(line.upper[0], 2 * c.off);
      last_doubled  = equal(line.lower[last], 2 * c.off);
      if (!first_doubled && !equal(line.upper[0], c.off)) return std::nullopt;
      if (!last_doubled && !equal(line.lower[last], c.off)) return std::nullopt;
    }
  }
  if (c.off == 0 || !std::isfinite(c.off)) return std::nullopt;
  if (line.periodic)
    c.ends = Ends::periodic;
  else if (first_doubled)
    c.ends = last_doubled ? Ends::neumann_neumann : Ends::neumann_dirichlet;
  else if (last_doubled)
    c.ends = Ends::dirichlet_neumann;
  c.intervals = line.n + (c.ends == Ends::dirichlet_dirichlet ? 1 : c.ends == Ends::neumann_neumann ? -1 : 0);
  return c;
}

} // namespace weft::poisson
