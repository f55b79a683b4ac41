#include "crout/factorization.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace weft {

namespace {

std::string number(double value)
{
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string counted(Index count, const char *what)
{
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

} // namespace

void check_options(const CroutOptions &options)
{
  const auto refuse = [](bool wrong, const char *why) {
    if (wrong) throw std::invalid_argument(why);
  };
  refuse(options.levels < 0 || options.levels > most_levels_of_fill, "levels of fill must be between 0 and 60000");
  refuse(!(options.drop_tolerance >= 0), "the drop tolerance must not be negative");
  refuse(options.row_quota < 0, "the number of entries a row must not be negative");
  refuse(options.sweeps < 0 || options.sections < 0, "the numbers of sweeps and of sections must not be negative");
  refuse(!(options.omega >= 0 && options.omega < 2), "omega must lie between 0 and 2");
  refuse(!(options.tolerance >= 0), "the tolerance of sweeps must not be negative");
  refuse(!(options.shift_amount >= 0) || !(options.base_shift >= 0), "a shift must not be negative");
  refuse(std::max(options.shift_amount, options.base_shift) * std::numeric_limits<double>::epsilon() > 1,
         "a shift must not be larger than 4.5e15 diagonals, beside which rounding leaves nothing of the matrix");
  refuse(options.hermitian && !options.symmetric,
         "a Hermitian factorization is a symmetric one by conjugates: options.symmetric must be set too");
  refuse(options.asynchronous && options.sections > 1, "sections and asynchronous sweeps do not go together");
  refuse(options.method == FactorMethod::exact && (options.sweeps > 0 || options.sections > 0 || options.asynchronous),
         "exact elimination has no sweeps");
}

std::string CroutReport::text() const
{
  if (failure != FactorFailure::none) return explain(*this);
  std::string line =
      exact ? "exact elimination" : counted(sweeps, "sweep") + (warm ? " from the factors before" : "") + ", omega " + number(omega);
  if (exact && levels > 0) line += " in " + counted(levels, "level");
  if (!exact && sections > 1) line += ", " + counted(sections, "section");
  if (!residuals.empty()) line += ", residual " + number(residuals.back());
  if (shift > 0) line += ", diagonal shifted by " + number(shift);
  if (boosted > 0) line += ", " + counted(boosted, "pivot") + " replaced";
  if (matched) line += ", rows permuted to the diagonal";
  if (!attempts.empty()) line += " (given up: " + attempts + ")";
  return line;
}

std::string explain(const CroutReport &report)
{
  const std::string where         = report.row >= 0 ? " in row " + std::to_string(report.row) : "";
  constexpr char preconditioner[] = "shift or incomplete factors and a Krylov method";
  switch (report.failure) {
  case FactorFailure::none:
    return "";
  case FactorFailure::not_finite_input:
    return "the matrix has a value that is not finite" + where;
  case FactorFailure::zero_pivot:
    if (report.complete)
      return "zero pivot" + where + ": the matrix is singular to rounding, or its pivots come in a bad order; try another ordering, or a " +
             preconditioner;
    return "zero pivot" + where + ": the matrix may be singular; try another ordering, more fill or a shift";
  case FactorFailure::not_finite:
    if (report.complete) return "the factors grew without bound" + where + ": try another ordering or scaling, or a " + preconditioner;
    return "the factors grew without bound" + where + ": try a shift, more fill, scaling or another ordering";
  }
  return "";
}

} // namespace weft
