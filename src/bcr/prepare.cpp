#include "bcr/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bcr/modes/mode_tables.hpp"
#include "bcr/reduction/select.hpp"

namespace weft {

namespace poisson {

double least_pivot(const LineMatrix &b, double mode, double pole, Index pinned)
{
  const std::size_t n = b.size(), rows = b.periodic ? n - 1 : n;
  const double shift = mode - pole, of_shift = std::abs(mode) + std::abs(pole);
  double least    = 1;
  const auto look = [&](double pivot, std::size_t i) {
    const double scale = std::abs(b.lower[i]) + std::abs(b.diagonal[i]) + of_shift + std::abs(b.upper[i]);
    const double ratio = std::abs(pivot) / scale;
    least              = std::isfinite(pivot) && ratio > 0 ? std::min(least, ratio) : 0;
  };
  double after = 0, before = 0, coupling = b.upper[n - 1], last = b.diagonal[n - 1] + shift;
  for (std::size_t i = 0; i < rows && least > 0; i++) {
    if (!b.periodic && static_cast<Index>(i) == pinned) {
      after = 0;
      continue;
    }
    const double lower = b.periodic && i == 0 ? 0 : b.lower[i], diagonal = b.diagonal[i] + shift;
    const double pivot = diagonal - lower * after;
    look(pivot, i);
    if (b.periodic) {
      if (i + 1 == rows) coupling += b.lower[n - 1];
      before = ((i == 0 ? b.lower[0] : 0) + (i + 1 == rows ? b.upper[i] : 0) - lower * before) / pivot;
      last -= coupling * before;
      coupling *= -b.upper[i] / pivot;
    }
    after = b.upper[i] / pivot;
  }
  if (b.periodic && pinned < 0) look(last, n - 1);
  return least;
}

namespace {

std::optional<std::string> problem_refused(const SeparableOperator &problem)
{
  if (problem.dimension < 1 || problem.dimension > 3) return "a separable operator has one to three directions";
  if (!std::isfinite(problem.shift)) return "the shift is not finite";
  for (int k = 0; k < problem.dimension; k++) {
    if (auto why = direction_refused(problem.directions[k])) return "direction " + std::to_string(k) + ": " + *why;
  }
  return std::nullopt;
}

/// Directions of lines, rows and modes, and the method.
struct Choice {
  std::string method;
  int line, block, batch;
  bool line_modes = false; ///< of the lines too
};

/// Lines along x, which is closest in memory, come first.
constexpr int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/// Why a method does not take these directions.
std::optional<std::string> order_refused(const Choice &choice, const LineMatrix (&lines)[3], double shift, const DirectOptions &options)
{
  const RowProblem rows{lines[choice.line], lines[choice.block], shift};
  std::optional<std::string> why = "no direct method is called '" + choice.method + "'";
  for_each_poisson_method([&](auto known) {
    if (choice.method == known.name) why = known.refuses(rows, options);
  });
  if (!why && lines[choice.batch].n > 1) why = mode_basis_refused(lines[choice.batch]);
  return why;
}

/// The directions of TensorLines (tensor_lines.hpp), where a problem suits it: fast transforms along all directions but the last one, along
/// which rows are equal.
std::optional<Choice> tensor_order(const LineMatrix (&lines)[3])
{
  const bool flat       = lines[2].n == 1;
  const Choice order    = {Facr::name, flat ? 1 : 2, 0, flat ? 2 : 1};
  const LineMatrix &mid = lines[order.batch];
  if (!equal_inside(lines[order.line]) || !fast_modes(lines[0]) || (mid.n > 1 && !fast_modes(mid))) return std::nullopt;
  return order;
}

/// The first assignment of directions that a method takes, or why it takes none; another where that spares transforms along a direction of
/// strong convection, whose eigenvectors are nearly parallel.
std::optional<std::string> choose(const std::string &method, const SeparableOperator &problem, const LineMatrix (&lines)[3],
                                  const DirectOptions &options, Choice &choice, bool on_host)
{
  const Index longest         = std::max({lines[0].n, lines[1].n, lines[2].n});
  constexpr double few_digits = 1e3;
  double least                = std::numeric_limits<double>::infinity();
  std::optional<std::string> first_reason;
  if (method == Facr::name && options.levels <= 0) {
    if (const auto order = tensor_order(lines)) {
      choice = {method, order->line, order->block, order->batch};
      return std::nullopt;
    }
  }
  // On a device so many lines that each has a thread, along the direction that is farthest in memory (shifted/side_by_side.hpp).
  if (!on_host && method == Facr::name && options.levels <= 0 && problem.dimension == 3 && lines[2].n > 1 && !lines[2].periodic &&
      lines[0].n * lines[1].n >= least_side_by_side) {
    choice = {method, 2, 0, 1};
    if (!order_refused(choice, lines, problem.shift, options) &&
        eigenvector_condition(lines[0]) * eigenvector_condition(lines[1]) <= few_digits)
      return std::nullopt;
  }
  for (bool any : {false, true}) { // lines of one point only where nothing else will do
    for (const auto &order : orders) {
      if (problem.dimension < 3 && order[2] != 2) continue; // no mode of a direction that is not there
      if (problem.dimension < 2 && order[0] != 0) continue;
      if (any != (lines[order[0]].n == 1 && longest > 1)) continue;
      const Choice here{method, order[0], order[1], order[2]};
      const auto why = order_refused(here, lines, problem.shift, options);
      if (!first_reason) first_reason = why;
      if (why) continue;
      const double condition = eigenvector_condition(lines[order[1]]) * eigenvector_condition(lines[order[2]]);
      if (!(condition < least)) continue;
      choice = here;
      least  = condition;
      if (condition <= few_digits) return std::nullopt;
    }
    if (std::isfinite(least)) return std::nullopt;
  }
  return first_reason;
}

/// The methods that `auto` tries, fastest first: see docs/kernels/poisson.md. Few rows are best transformed.
constexpr const char *fastest_first[]     = {PartialFraction::name, Separable::name, Facr::name};
constexpr const char *fastest_first_few[] = {Facr::name, PartialFraction::name, Separable::name};
constexpr Index few_rows                  = 128;
static_assert(std::size(fastest_first) == std::tuple_size_v<ServingMethods>, "auto tries every method that serves");

/// On a device dense transforms are products at the rate of its matrix units: they take less time than `separable` up to some number of rows.
constexpr const char *fastest_first_there[] = {PartialFraction::name, Facr::name, Separable::name};
constexpr Index most_dense_rows_there       = 6000;

/// True where no direction of many rows has dense transforms.
bool products_pay(const LineMatrix (&lines)[3], const Choice &choice)
{
  return std::all_of(std::begin(lines), std::end(lines), [&](const LineMatrix &line) {
    return &line == &lines[choice.line] || line.n <= most_dense_rows_there || fast_modes(line);
  });
}

/// Rows along y so few and so long that cyclic reduction on a host takes less time than transforms along x.
bool few_long_rows(const LineMatrix (&lines)[3])
{
  return lines[2].n == 1 && lines[1].n < few_rows && lines[0].n >= 4 * lines[1].n;
}

std::optional<std::string> choose(const SeparableOperator &problem, const DirectOptions &options, Choice &choice, bool on_host)
{
  if (auto why = problem_refused(problem)) return why;
  LineMatrix lines[3];
  for (int k = 0; k < problem.dimension; k++) lines[k] = line_matrix(problem.directions[k]);
  if (options.method != "auto") return choose(options.method, problem, lines, options, choice, on_host);
  std::optional<std::string> why;
  if (options.levels <= 0 && tensor_order(lines)) {
    if (on_host && few_long_rows(lines) && !choose(PartialFraction::name, problem, lines, options, choice, on_host) && choice.block == 1)
      return why;
    return choose(Facr::name, problem, lines, options, choice, on_host);
  }
  const bool few = lines[0].n > 1 && lines[1].n > 1 && lines[1].n <= few_rows;
  for (const char *method : few ? fastest_first_few : on_host ? fastest_first : fastest_first_there) {
    why = choose(method, problem, lines, options, choice, on_host);
    if (!why && (few || on_host || method != Facr::name || products_pay(lines, choice))) return why;
  }
  std::string where;
  int without = 0;
  for (int k = 0; k < problem.dimension; k++) {
    if (!mode_basis_refused(lines[k])) continue;
    where += (without++ ? std::string(" and ") : "") + "xyz"[k];
  }
  if (without < 2) return why;
  return "couplings there and back, lower_{i+1} and upper_i, differ in sign or too much in size along directions " + where +
         ": these have no real eigenvectors, and one direction at most can do without: take upwind differences, or another preconditioner";
}

/// Whether A has the constant vector in its null space; fills what a singular operator needs. False where that takes a left null vector which
/// no symmetrizer gives (convection around a ring).
bool look_for_null_space(Prepared &p, const LineMatrix (&lines)[3], double shift)
{
  double sum = shift, scale = std::abs(shift);
  for (const LineMatrix &line : lines) {
    const auto value = line.of_constant();
    if (!value) return true;
    sum += *value;
    scale += line.row_size(line.weakest_row());
  }
  p.singular = std::abs(sum) <= 64 * std::numeric_limits<double>::epsilon() * scale;
  if (!p.singular) return true;
  for (const LineMatrix &line : lines) p.singular = p.singular && symmetrizer(line);
  if (!p.singular) return false;
  for (int k = 0; k < 3; k++) p.left[k] = lines[k].left_of_constant();
  const double mode = *lines[p.batch].of_constant();
  for (std::size_t b = 0; b < p.modes.values.size(); b++) {
    if (std::abs(p.modes.values[b] - mode) < std::abs(p.modes.values[static_cast<std::size_t>(p.pinned_plane)] - mode))
      p.pinned_plane = static_cast<Index>(b);
  }
  return true;
}

/// The pole of each step whose lines are singular in the singular plane.
void pin(Prepared &p, const LineMatrix &line)
{
  const LineMatrix &b = p.schedule.line;
  p.pinned.assign(p.schedule.steps.size(), -1);
  if (!p.singular) return;
  // The row left out is what the others make of it, times the left null vector's largest value over its value there.
  const std::vector<double> &left = p.left[p.line];
  p.pinned_row                    = b.periodic ? b.n - 1 : std::max_element(left.rbegin(), left.rend()).base() - left.begin() - 1;
  double constant                 = b.of_constant().value_or(0);
  if (p.line_modes) {
    const std::vector<double> &values = p.line_modes->values;
    const double of_constant          = *line.of_constant();
    const auto row                    = std::min_element(values.begin(), values.end(),
                                                         [of_constant](double x, double y) { return std::abs(x - of_constant) < std::abs(y - of_constant); });
    p.pinned_row                      = row - values.begin();
    constant                          = b.diagonal[static_cast<std::size_t>(p.pinned_row)];
  }
  constant += p.schedule.factor * p.modes.values[static_cast<std::size_t>(p.pinned_plane)];
  for (std::size_t s = 0; s < p.schedule.steps.size(); s++) {
    const auto *step = std::get_if<LineStep>(&p.schedule.steps[s]);
    if (!step || step->kind == Lines::products) continue;
    double closest = b.norm();
    for (double pole : step->pole) closest = std::max(closest, std::abs(pole));
    closest *= 1e-11;
    for (std::size_t i = 0; i < step->pole.size(); i++) {
      if (std::abs(constant - step->pole[i]) > closest) continue;
      closest     = std::abs(constant - step->pole[i]);
      p.pinned[s] = static_cast<Index>(i);
    }
  }
}

/// What modes less poles add to the lines at least and at most.
std::pair<double, double> added_to_lines(const Prepared &p)
{
  double lowest = 0, highest = 0;
  bool any                  = false;
  std::vector<double> modes = p.modes.values;
  for (double &m : modes) m *= p.schedule.factor;
  const auto [least, most] = std::minmax_element(modes.begin(), modes.end());
  for (const auto &s : p.schedule.steps) {
    const auto *step = std::get_if<LineStep>(&s);
    if (!step || step->kind == Lines::products) continue;
    for (double pole : step->pole) {
      lowest  = any ? std::min(lowest, *least - pole) : *least - pole;
      highest = any ? std::max(highest, *most - pole) : *most - pole;
      any     = true;
    }
  }
  return {lowest, highest};
}

/// Whether the diagonals of all lines dominate, weakly.
bool dominates(const Prepared &p)
{
  const LineMatrix &b          = p.schedule.line;
  const auto [lowest, highest] = added_to_lines(p);
  bool negative = true, positive = true;
  const double slack = 1e-12 * b.norm();
  for (std::size_t i = 0; i < b.size(); i++) {
    const double off = std::abs(b.lower[i]) + std::abs(b.upper[i]) - slack;
    // Rows that stand alone have nothing to dominate, and dominance says little of them.
    const bool coupled = b.n > 1 && ((i + 1 == b.size() && !b.periodic) || b.upper[i] * b.lower[i + 1 < b.size() ? i + 1 : 0] != 0);
    negative           = negative && coupled && b.diagonal[i] + highest <= -off;
    positive           = positive && coupled && b.diagonal[i] + lowest >= off;
  }
  return negative || positive;
}

/// least_pivot() of all lines of all steps and modes; 1 where diagonals dominate, as in every definite problem, which needs no elimination.
double least_pivot(const Prepared &p)
{
  const LineMatrix &b          = p.schedule.line;
  const auto [lowest, highest] = added_to_lines(p);
  const double slack           = 1e-12 * b.norm();
  std::vector<double> modes    = p.modes.values;
  for (double &m : modes) m *= p.schedule.factor;
  if (p.dominant && !p.singular) {
    // Weak dominance is not enough where a row's sum vanishes for every row: then the constant vector is in the null space.
    const auto sum = b.of_constant();
    if (!sum || (std::abs(*sum + lowest) > slack && std::abs(*sum + highest) > slack)) return 1;
  }
  double smallest = 1;
  for (std::size_t s = 0; s < p.schedule.steps.size(); s++) {
    const auto *step = std::get_if<LineStep>(&p.schedule.steps[s]);
    if (!step || step->kind == Lines::products) continue;
    for (std::size_t i = 0; i < step->pole.size(); i++) {
      for (std::size_t mode = 0; mode < modes.size(); mode++) {
        const bool pinned = p.pinned[s] == static_cast<Index>(i) && p.pinned_plane == static_cast<Index>(mode);
        if (p.dominant && !pinned) {
          // A dominant line can only be singular where it is so for the constant vector.
          const auto sum = b.of_constant();
          if (!sum || std::abs(*sum + modes[mode] - step->pole[i]) > slack) continue;
        }
        smallest = std::min(smallest, least_pivot(b, modes[mode], step->pole[i], pinned ? p.pinned_row : -1));
        if (smallest == 0) return 0;
      }
    }
  }
  return smallest;
}

/// `make_schedule` makes that of the rows.
template <class MakeSchedule>
Prepared prepare_as(const SeparableOperator &problem, const Choice &choice, const BasisSource &source, const MakeSchedule &make_schedule)
{
  Prepared p;
  p.method = choice.method;
  p.line   = choice.line;
  p.block  = choice.block;
  p.batch  = choice.batch;
  LineMatrix lines[3];
  for (int k = 0; k < problem.dimension; k++) {
    lines[k]           = line_matrix(problem.directions[k]);
    p.n[k]             = lines[k].n;
    const auto &weight = problem.directions[k].weight;
    if (std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; })) continue;
    for (double w : weight) p.scale[k].push_back(1 / w);
  }
  if (p.transforms())
    p.modes = mode_basis(lines[p.batch], source);
  else
    p.modes.values = {lines[p.batch].diagonal[0]};
  LineMatrix along = lines[p.line];
  if (choice.line_modes) {
    p.line_modes   = mode_basis(along, source);
    along.periodic = false;
    along.diagonal = p.line_modes->values;
    along.lower = along.upper = std::vector<double>(along.size(), 0);
  }
  p.schedule          = make_schedule(RowProblem{along, lines[p.block], problem.shift, &source});
  const bool solvable = look_for_null_space(p, lines, problem.shift);
  pin(p, lines[p.line]);
  p.dominant    = dominates(p);
  p.least_pivot = solvable ? least_pivot(p) : 0;
  p.bad_pivot   = p.least_pivot <= 100 * std::numeric_limits<double>::epsilon();
  return p;
}

Prepared prepare_as(const SeparableOperator &problem, const Choice &choice, const DirectOptions &options, const BasisSource &source)
{
  return prepare_as(problem, choice, source, [&](const RowProblem &rows) {
    Schedule schedule;
    for_each_poisson_method([&](auto method) {
      if (choice.method == method.name) schedule = method.schedule(rows, options);
    });
    return schedule;
  });
}

/// What else may solve a problem whose lines meet small pivots: lines along another direction; modes of the lines, each by itself. Only
/// transforms need no matrix but the whole one to be regular, so that `auto` takes those.
std::vector<Choice> other_choices(const SeparableOperator &problem, const DirectOptions &options, const Choice &first)
{
  LineMatrix lines[3];
  for (int k = 0; k < problem.dimension; k++) lines[k] = line_matrix(problem.directions[k]);
  std::vector<Choice> plain, modes;
  for (const auto &order : orders) {
    if (problem.dimension < 3 && order[2] != 2) continue;
    if (problem.dimension < 2 && order[0] != 0) continue;
    Choice choice{options.method == "auto" ? std::string(Facr::name) : first.method, order[0], order[1], order[2]};
    if (order_refused(choice, lines, problem.shift, options)) continue;
    plain.push_back(choice);
    choice.line_modes = true;
    if (!mode_basis_refused(lines[order[0]])) modes.push_back(choice);
  }
  plain.insert(plain.end(), modes.begin(), modes.end());
  return plain;
}

} // namespace

Prepared prepare(const SeparableOperator &problem, const DirectOptions &options, bool on_host, const BasisSource &source)
{
  Choice choice;
  if (const auto why = choose(problem, options, choice, on_host)) throw std::invalid_argument(*why);
  BasisSource here      = source;
  const bool in_columns = choice.line == 2 && problem.directions[0].n * problem.directions[1].n >= least_side_by_side;
  here.for_products     = options.pads >= 0 || (!on_host && in_columns);
  Prepared best         = prepare_as(problem, choice, options, here);
  if (best.least_pivot >= small_pivot) return best;
  for (const Choice &other : other_choices(problem, options, choice)) {
    Prepared p = prepare_as(problem, other, options, here);
    if (p.least_pivot > best.least_pivot) best = std::move(p);
    if (best.least_pivot >= small_pivot) break;
  }
  return best;
}

Prepared prepare_tensor(const SeparableOperator &problem)
{
  if (const auto why = problem_refused(problem)) throw std::invalid_argument(*why);
  for (int k : {0, 1}) {
    if (const auto why = mode_basis_refused(line_matrix(problem.directions[k]))) throw std::invalid_argument(*why);
  }
  return prepare_as(problem, Choice{Facr::name, 2, 0, 1}, {}, [](const RowProblem &rows) { return Facr::tensor(rows); });
}

Index Prepared::multiplied_rows() const
{
  Index rows = transforms() && !modes.fast ? 2 * n[batch] : 0;
  if (line_modes && !line_modes->fast) rows += 2 * n[line];
  for (const auto &s : schedule.steps) {
    const auto *step = std::get_if<TransformStep>(&s);
    if (step && !step->fast) rows += step->n;
  }
  return rows;
}

bool Prepared::all_products() const
{
  if (!schedule.tensor || (transforms() && modes.fast) || (line_modes && line_modes->fast)) return false;
  return std::none_of(schedule.steps.begin(), schedule.steps.end(), [](const auto &s) {
    const auto *step = std::get_if<TransformStep>(&s);
    return step && step->fast;
  });
}

Parity Prepared::parity(int direction) const
{
  if (direction == batch && transforms()) return modes.parity;
  if (direction != block) return {};
  for (const auto &s : schedule.steps) {
    if (const auto *step = std::get_if<TransformStep>(&s)) return step->parity;
  }
  return {};
}

KnownBases Prepared::bases() const
{
  KnownBases all;
  const auto add = [&](const std::shared_ptr<const DenseBasis> &basis) {
    if (basis) all.push_back(basis);
  };
  add(modes.there);
  if (line_modes) add(line_modes->there);
  for (const auto &step : schedule.steps) {
    const auto *transform = std::get_if<TransformStep>(&step);
    if (transform && transform->to_modes) add(transform->there);
  }
  return all;
}

double Prepared::flops() const
{
  const double length = static_cast<double>(n[line]), planes = static_cast<double>(n[batch]);
  // A fast transform of n numbers is counted as 2.5 n log2 n operations, that of n / 2 complex numbers.
  const auto transform = [](double rows, bool fast, bool folds = false) {
    return fast ? 2.5 * rows * std::log2(rows) : (folds ? 1 : 2) * rows * rows;
  };
  double flops = transforms() ? 2 * transform(planes, modes.fast.has_value(), folds[batch]) * length * static_cast<double>(n[block]) : 0;
  if (line_modes) flops += 2 * transform(length, line_modes->fast.has_value()) * planes * static_cast<double>(n[block]);
  for (const auto &s : schedule.steps) {
    if (const auto *step = std::get_if<LineStep>(&s)) {
      double solves = 0;
      for (const auto &group : step->groups) solves += group.poles;
      flops += solves * planes * length * (9 + (step->kind == Lines::fractions ? 2 * (step->sources + step->outputs) : 0));
    } else {
      const auto &rows = std::get<TransformStep>(s);
      flops += transform(static_cast<double>(rows.n), rows.fast.has_value(), folds[block]) * length * planes;
    }
  }
  return flops;
}

std::string Prepared::description() const
{
  static constexpr char names[] = "xyz";
  Index solves                  = 0;
  int launches = 0, transformed = transforms() ? 2 : 0, fast = transforms() && modes.fast ? 2 : 0;
  if (line_modes) transformed += 2, fast += line_modes->fast ? 2 : 0;
  for (const auto &s : schedule.steps) {
    if (const auto *step = std::get_if<LineStep>(&s)) {
      launches++;
      for (const auto &group : step->groups) solves += group.poles;
    } else {
      transformed++;
      if (std::get<TransformStep>(s).fast) fast++;
    }
  }
  std::string text = method + (line_modes ? ": modes of lines along " : ": lines along ") + names[line];
  if (n[block] > 1) text += ", rows along " + std::string(1, names[block]);
  if (transforms()) text += ", modes of " + std::string(1, names[batch]);
  text += ", " + std::to_string(solves * n[batch]) + " line solves in " + std::to_string(launches) + " steps";
  if (transformed)
    text += ", " + std::to_string(transformed) +
            (fast == transformed ? " fast"
             : fast              ? " transforms (some fast)"
                                 : "") +
            (fast && fast < transformed ? "" : " transforms");
  if (folds[block] || folds[batch]) text += ", even and odd modes apart";
  if (singular) text += ", singular";
  return text;
}

} // namespace poisson

std::vector<const char *> poisson_method_names()
{
  std::vector<const char *> names;
  poisson::for_each_poisson_method([&](auto method) { names.push_back(method.name); });
  return names;
}

std::optional<std::string> poisson_method_refuses(const std::string &method, const SeparableOperator &problem, const DirectOptions &options)
{
  DirectOptions asked = options;
  asked.method        = method;
  poisson::Choice choice;
  return poisson::choose(problem, asked, choice, false);
}

} // namespace weft
