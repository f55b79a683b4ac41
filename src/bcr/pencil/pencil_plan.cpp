#include "bcr/pencil/pencil_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bcr/detect/star.hpp"
#include "bcr/prepare.hpp"

namespace weft::poisson {

namespace {

/// The direction whose lines are solved: one that cannot be transformed, else the longest that matrix products would have to transform,
/// else the last one; -1 where no direction can hold them.
int direction_of_lines(const PencilOperator &op)
{
  int refused = -1, dense = -1, fast = -1;
  for (int d = 0; d < 3; d++) {
    const Pencil &pencil = op.directions[d];
    if (pencil.n() == 1 || pencil.periodic()) continue;
    if (has_fast_modes(pencil)) {
      fast = d;
      continue;
    }
    if (dense < 0 || pencil.n() >= op.directions[dense].n()) dense = d;
    if (pencil_modes_refused(pencil)) refused = d;
  }
  return refused >= 0 ? refused : dense >= 0 ? dense : fast;
}

/// p_q^a of a direction.
double value(const PencilPlan &plan, int d, int which, Index q)
{
  if (plan.n[d] == 1) return which == 0 ? 1 : 0;
  return plan.modes[d].values[which][static_cast<std::size_t>(q)];
}

/// alpha and beta of all modes.
void make_lines(PencilPlan &plan, const PencilOperator &op)
{
  const int a = across(plan.along, 0), b = across(plan.along, 1);
  plan.alpha.clear();
  plan.beta.clear();
  for (Index r = 0; r < plan.n[b]; r++) {
    for (Index q = 0; q < plan.n[a]; q++) {
      double sum[2] = {0, 0};
      for (int along : {0, 1}) {
        for (int i : {0, 1}) {
          for (int j : {0, 1})
            sum[along] += op.core[static_cast<std::size_t>((along << plan.along) + (i << a) + (j << b))] * value(plan, a, i, q) *
                          value(plan, b, j, r);
        }
      }
      plan.alpha.push_back(sum[0]);
      plan.beta.push_back(sum[1]);
    }
  }
}

/// Equal rows but for the first and the last one, with equal couplings.
bool equal_rows_inside(const LineMatrix &line)
{
  if (line.n < 4 || line.periodic) return false;
  const double close = 4e-16 * line.row_size(1);
  for (std::size_t i = 1; i + 1 < line.size(); i++) {
    if (std::abs(line.diagonal[i] - line.diagonal[1]) > close) return false;
    if (std::abs(line.lower[i] - line.upper[1]) > close || std::abs(line.upper[i] - line.upper[1]) > close) return false;
  }
  return true;
}

/// Lines as multiples of a second difference plus what its rows' sum is, which keeps the digits of smooth modes; those that do not decay
/// are among the others.
void make_constant_lines(PencilPlan &plan, const Pencil &pencil)
{
  const LineMatrix &m = pencil.matrix[0], &t = pencil.matrix[1];
  const bool side_by_side = plan.along == 2 || (plan.along == 1 && plan.n[2] == 1);
  plan.others.clear();
  if (!side_by_side || !equal_rows_inside(m) || !equal_rows_inside(t)) {
    for (Index mode = 0; mode < plan.modes_of_lines(); mode++) plan.others.push_back(mode);
    return;
  }
  plan.constant.emplace();
  LineMatrix line        = m; // its ends and row 1 are looked at
  const std::size_t last = m.size() - 1;
  for (std::size_t mode = 0; mode < plan.alpha.size(); mode++) {
    const double alpha = plan.alpha[mode], beta = plan.beta[mode];
    const auto of = [&](const std::vector<double> LineMatrix::*diagonal, std::size_t i) {
      return static_cast<long double>(alpha) * (m.*diagonal)[i] + static_cast<long double>(beta) * (t.*diagonal)[i];
    };
    const double off = static_cast<double>(of(&LineMatrix::upper, 1));
    const long double sum =
        alpha * static_cast<long double>(m.diagonal[1] + 2 * m.upper[1]) + beta * static_cast<long double>(t.diagonal[1] + 2 * t.upper[1]);
    line.lower[1] = line.upper[1] = off;
    line.diagonal[1]              = -2 * off;
    line.diagonal[0]              = static_cast<double>(of(&LineMatrix::diagonal, 0) - sum);
    line.upper[0]                 = static_cast<double>(of(&LineMatrix::upper, 0));
    line.diagonal[last]           = static_cast<double>(of(&LineMatrix::diagonal, last) - sum);
    line.lower[last]              = static_cast<double>(of(&LineMatrix::lower, last));
    if (std::abs(off) > small_pivot * std::abs(static_cast<double>(sum)) && add_mode(line, sum, *plan.constant)) continue;
    plan.constant->add_none();
    plan.others.push_back(static_cast<Index>(mode));
  }
}

/// The smallest pivot of the lines that are eliminated, relative to its row; 0 where one is not finite.
double least_pivot_of_lines(const PencilPlan &plan, const Pencil &pencil)
{
  const LineMatrix &m = pencil.matrix[0], &t = pencil.matrix[1];
  double least = 1;
  for (const Index mode : plan.others) {
    const double alpha = plan.alpha[static_cast<std::size_t>(mode)], beta = plan.beta[static_cast<std::size_t>(mode)];
    double after = 0;
    for (std::size_t i = 0; i < m.size() && least > 0; i++) {
      const double lower = alpha * m.lower[i] + beta * t.lower[i], diagonal = alpha * m.diagonal[i] + beta * t.diagonal[i],
                   upper = alpha * m.upper[i] + beta * t.upper[i];
      const double pivot = diagonal - lower * after;
      const double ratio = std::abs(pivot) / (std::abs(alpha) * m.row_size(i) + std::abs(beta) * t.row_size(i));
      least              = std::isfinite(pivot) && ratio > 0 ? std::min(least, ratio) : 0;
      after              = upper / pivot;
    }
  }
  return least;
}

/// The number nearest to 0, which that of a singular operator is.
void look_at_numbers(PencilPlan &plan, bool singular)
{
  double least = std::numeric_limits<double>::infinity(), most = 0, second = least;
  for (std::size_t mode = 0; mode < plan.alpha.size(); mode++) {
    for (Index s = 0; s < plan.n[plan.along]; s++) {
      const double number = std::abs(plan.alpha[mode] * value(plan, plan.along, 0, s) + plan.beta[mode] * value(plan, plan.along, 1, s));
      most                = std::isfinite(number) ? std::max(most, number) : std::numeric_limits<double>::quiet_NaN();
      if (number >= second) continue;
      second = number;
      if (number >= least) continue;
      std::swap(least, second);
      least            = number;
      plan.pinned_mode = static_cast<Index>(mode);
      plan.pinned_row  = s;
    }
  }
  plan.least_pivot = (singular ? second : least) / most;
  if (!singular) plan.pinned_mode = plan.pinned_row = -1;
}

void judge(PencilPlan &plan)
{
  plan.bad_pivot = !(plan.least_pivot > 100 * std::numeric_limits<double>::epsilon());
}

} // namespace

std::optional<std::string> pencil_refused(const PencilOperator &op)
{
  int without = 0;
  for (int d = 0; d < 3; d++) {
    const auto why = pencil_modes_refused(op.directions[d]);
    if (why && (op.directions[d].periodic() || op.singular || ++without > 1))
      return "along direction " + std::string(1, "xyz"[d]) + ": " + *why;
  }
  return std::nullopt;
}

PencilPlan plan_pencil(const PencilOperator &op)
{
  if (const auto why = pencil_refused(op)) throw std::invalid_argument(*why);
  PencilPlan plan;
  for (int d = 0; d < 3; d++) plan.n[d] = op.directions[d].n();
  const int along = op.singular ? -1 : direction_of_lines(op);
  plan.lines      = along >= 0;
  plan.along      = plan.lines ? along : 2;
  for (int d = 0; d < 3; d++) {
    if (plan.transforms(d)) find_pencil_modes(op.directions[d], plan.modes[d]);
  }
  make_lines(plan, op);
  if (plan.lines) {
    make_constant_lines(plan, op.directions[along]);
    plan.least_pivot = least_pivot_of_lines(plan, op.directions[along]);
    judge(plan);
    if (plan.least_pivot >= small_pivot || find_pencil_modes(op.directions[along], plan.modes[along])) return plan;
  }
  PencilPlan numbers = plan;
  numbers.lines      = false;
  numbers.constant.reset();
  numbers.others.clear();
  look_at_numbers(numbers, op.singular);
  judge(numbers);
  return plan.lines && !plan.bad_pivot && numbers.bad_pivot ? plan : numbers;
}

double PencilPlan::flops() const
{
  const double points = static_cast<double>(n[0] * n[1] * n[2]);
  double flops        = points * (lines ? 16 : 4);
  for (int d = 0; d < 3; d++) {
    const double rows = static_cast<double>(n[d]);
    if (transforms(d)) flops += 2 * points * (modes[d].to_modes ? 2.5 * std::log2(rows) : 2 * rows);
  }
  return flops;
}

std::string PencilPlan::description() const
{
  std::string text = lines ? "lines along " + std::string(1, "xyz"[along]) : "numbers";
  std::string fast, dense;
  for (int d = 0; d < 3; d++) {
    if (transforms(d)) (modes[d].to_modes ? fast : dense) += "xyz"[d];
  }
  if (!fast.empty()) text += ", fast transforms along " + fast;
  if (!dense.empty()) text += ", matrix products along " + dense;
  if (pinned_mode >= 0) text += ", singular";
  return text;
}

} // namespace weft::poisson
