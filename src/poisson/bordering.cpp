#include "poisson/bordering.hpp"

#include "poisson/constant_lines.hpp"

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

/// The sums over the poles of `columns` for each combination of columns left over.
LineStep fractions(int left_over, Index intervals, const std::vector<double> &values)
{
  const std::vector<double> sine = sines(intervals);
  LineStep step;
  for (int c = 0; c < left_over; c++) {
    const Index begin = static_cast<Index>(step.pole.size());
    for (Index q = 1 + c; q < intervals; q += left_over) {
      const double s = sine[static_cast<std::size_t>(q)];
      step.add_pole(-values[static_cast<std::size_t>(q - 1)], {1}, {2 * left_over / static_cast<double>(intervals) * s * s});
    }
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
    made.step = fractions(left_over, constant->intervals, values);
    return made;
  }
  return std::nullopt;
}

} // namespace weft::poisson
