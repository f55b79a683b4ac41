#include "bcr/shifted/fraction_tables.hpp"

#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace weft::poisson {

namespace {

constexpr long double negligible = 1e-18L; ///< against 1: a power of r that is left out

/// A line of equal rows with a pole taken off, divided by its coupling.
struct PoleLine {
  long double r = 0, size = 0; ///< root and its magnitude

  static std::optional<PoleLine> of(const LineMatrix &line, long double pole)
  {
    const long double off = line.upper[1], delta = (line.diagonal[1] - pole) / off, sign = delta < 0 ? -1 : 1;
    const long double excess = ((sign * line.diagonal[1] - 2 * off) - sign * pole) / off; // |delta| - 2 with all its digits
    if (!(excess > 0)) return std::nullopt;
    const long double h = excess / 2, size = 1 / (1 + h + std::sqrt(h * (2 + h)));
    if (!(-static_cast<long double>(line.n) * std::log(size) >= least_decay)) return std::nullopt;
    return PoleLine{-sign * size, size};
  }
  long double power(long double e) const { return std::pow(size, e) * (r < 0 && std::fmod(std::abs(e), 2.0L) == 1 ? -1 : 1); }
};

/// c with c[0] x + c[1] y + c[2] f = 0 at an end: x enters there, y leaves, f is the end's right-hand side (see the header).
std::array<long double, 3> end_condition(long double r, long double diagonal_missing, long double coupling_missing)
{
  return {1 + diagonal_missing * r + coupling_missing * r * r, r + diagonal_missing + coupling_missing / r, coupling_missing * (r - 1 / r)};
}

/// r^0 .. r^E
std::array<long double, chunk_rows + 1> chunk_powers(long double r)
{
  std::array<long double, chunk_rows + 1> powers{1};
  for (std::size_t e = 1; e < powers.size(); e++) powers[e] = powers[e - 1] * r;
  return powers;
}

/// Rows of the last chunk that are beyond the line.
int beyond_line(const LineMatrix &line)
{
  return static_cast<int>((chunk_rows - line.n % chunk_rows) % chunk_rows);
}
bool has_tail(const LineMatrix &line)
{
  return beyond_line(line) > 2;
}

bool add_record(const LineMatrix &line, const LineStep &step, std::size_t pole, double smallest, std::vector<double> &records)
{
  const auto found = PoleLine::of(line, step.pole[pole]);
  if (!found) return false;
  const PoleLine &p   = *found;
  const long double r = p.r, off = line.upper[1], n = static_cast<long double>(line.n);
  const auto powers = chunk_powers(r);
  const int beyond  = beyond_line(line);
  if (std::abs(powers[chunk_rows] * powers[chunk_rows]) < smallest * 1e6L) return false;
  std::array<double, PoleRecord::size> record{};
  const auto put = [&](int at, long double value) { record[static_cast<std::size_t>(at)] = static_cast<double>(value); };
  for (std::size_t e = 0; e < half_chunk; e++) {
    const auto at = static_cast<int>(e);
    put(PoleRecord::sums + at, powers[e] + powers[chunk_rows - 1 - e]);
    put(PoleRecord::differences + at, powers[chunk_rows - 1 - e] - powers[e]);
  }
  long double of_chunks = 1;
  for (int k = 0; k <= warp_chunks; k++, of_chunks *= powers[chunk_rows]) put(PoleRecord::powers + k, of_chunks);
  put(PoleRecord::along_last, powers[static_cast<std::size_t>(chunk_rows - beyond)]);
  for (int s = 0; s < step.sources; s++)
    put(PoleRecord::weights + s, -r * r / ((1 - r * r) * off) *
                                     step.in[pole * static_cast<std::size_t>(step.sources) + static_cast<std::size_t>(s)] * step.out[pole]);
  // What enters at both ends, F' and H' being sums into which nothing enters; the last chunk's sum is r^beyond F'_{n-1}.
  long double first[4] = {}, last[4] = {};
  const long double along = p.power(n);
  if (line.periodic) {
    first[1] = last[0] = 1 / (1 - along);
  } else {
    const std::size_t end   = line.size() - 1;
    const long double inner = line.diagonal[1];
    const auto k            = end_condition(r, (inner - static_cast<long double>(line.diagonal[0])) / off, 1 - line.upper[0] / off),
               m            = end_condition(r, (inner - static_cast<long double>(line.diagonal[end])) / off, 1 - line.lower[end] / off);
    const long double determinant = k[0] * m[0] - k[1] * m[1] * along * along;
    if (!(std::abs(determinant) > 1e-9L * (std::abs(k[0] * m[0]) + std::abs(k[1] * m[1] * along * along)))) return false;
    first[0] = -m[0] * k[1] / determinant;
    first[1] = k[1] * along * m[1] / determinant;
    first[2] = -m[0] * k[2] / determinant;
    first[3] = k[1] * along * m[2] / determinant;
    last[0]  = m[1] * along * k[1] / determinant;
    last[1]  = -k[0] * m[1] / determinant;
    last[2]  = m[1] * along * k[2] / determinant;
    last[3]  = -k[0] * m[2] / determinant;
  }
  const long double counted = has_tail(line) ? 1 : powers[static_cast<std::size_t>(beyond)];
  first[1] /= counted;
  last[1] /= counted;
  for (int k = 0; k < 4; k++) {
    put(PoleRecord::first + k, first[k]);
    put(PoleRecord::last + k, last[k] / counted);
  }
  int steps = 0;
  while ((1 << steps) < warp_chunks && std::pow(p.size, static_cast<long double>(chunk_rows << steps)) > negligible) steps++;
  put(PoleRecord::steps, steps);
  put(PoleRecord::far, std::pow(p.size, static_cast<long double>(chunk_rows * warp_chunks)) > negligible ? 1 : 0);
  records.insert(records.end(), record.begin(), record.end());
  return true;
}

/// sum_p w_p r_p^|i-j| for the sums and the differences of rows e and E-1-e of a chunk.
void add_matrix(const LineMatrix &line, const LineStep &step, const LineStep::Group &group, int source, std::vector<double> &matrices)
{
  long double of_distance[chunk_rows] = {};
  for (Index q = group.first_pole; q < group.first_pole + group.poles; q++) {
    const auto pole          = static_cast<std::size_t>(q);
    const PoleLine p         = *PoleLine::of(line, step.pole[pole]);
    const long double weight = -p.r / ((1 - p.r * p.r) * line.upper[1]) *
                               step.in[pole * static_cast<std::size_t>(step.sources) + static_cast<std::size_t>(source)] * step.out[pole];
    const auto powers = chunk_powers(p.r);
    for (std::size_t d = 0; d < chunk_rows; d++) of_distance[d] += weight * powers[d];
  }
  for (int sign : {1, -1}) {
    for (int e = 0; e < half_chunk; e++) {
      for (int f = 0; f < half_chunk; f++)
        matrices.push_back(static_cast<double>(of_distance[e > f ? e - f : f - e] + sign * of_distance[chunk_rows - 1 - e - f]));
    }
  }
}

} // namespace

std::optional<FractionTables> fraction_tables(const LineMatrix &line, const LineStep &step, double smallest)
{
  if (step.kind != Lines::fractions || step.outputs != 1 || step.sources < 1 || step.sources > 2 || !equal_inside(line))
    return std::nullopt;
  FractionTables tables;
  tables.tail = has_tail(line);
  std::map<std::pair<Index, int>, int> sets;
  for (const LineStep::Group &group : step.groups) {
    if (group.poles < 1 || group.outputs.size() != 1 || group.outputs[0].row < 0) return std::nullopt;
    sets.try_emplace({group.first_pole, group.poles}, static_cast<int>(sets.size()));
  }
  for (std::size_t pole = 0; pole < step.pole.size(); pole++) {
    if (!add_record(line, step, pole, smallest, tables.poles)) return std::nullopt;
  }
  std::vector<const LineStep::Group *> first_of(sets.size(), nullptr);
  for (const LineStep::Group &group : step.groups) {
    const int set = sets.at({group.first_pole, group.poles});
    tables.matrix_of.push_back(set);
    if (!first_of[static_cast<std::size_t>(set)]) first_of[static_cast<std::size_t>(set)] = &group;
  }
  for (const LineStep::Group *group : first_of) {
    for (int s = 0; s < step.sources; s++) add_matrix(line, step, *group, s, tables.matrices);
  }
  return tables;
}

} // namespace weft::poisson
