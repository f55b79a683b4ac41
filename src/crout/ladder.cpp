#include "crout/ladder.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace weft::crout {

namespace {

using Kind  = Attempt::Kind;
using Wrong = AttemptResult::Wrong;

/// Larger last residuals are no approximation of B.
constexpr double most_residual = 0.1;
/// The same of damped sweeps: what they have not reached yet is far from L and U, and not only from B (bcsstk06: 0.094, and no convergence).
constexpr double most_damped_residual = 0.05;
/// A device eliminates exactly between sweeps where rows wait for each other in no more levels than this.
constexpr Index most_levels_between_sweeps = 16384;

/// Where elimination comes before sweeps: a level takes 2 microseconds or so, sweeps some 200 and 0.2 ns an entry.
Index most_levels_before_sweeps(Index entries)
{
  return 150 + entries / 10000;
}

std::string short_number(double value)
{
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

FactorFailure failure_of(const AttemptResult &result)
{
  switch (result.wrong) {
  case Wrong::not_finite:
    return FactorFailure::not_finite;
  case Wrong::zero_pivot:
  case Wrong::negative_pivot:
    return FactorFailure::zero_pivot;
  case Wrong::nothing:
  case Wrong::too_many_levels:
    break;
  }
  return FactorFailure::none;
}

Attempt kept(Index row = -1)
{
  Attempt end;
  end.row = row;
  return end;
}

Attempt failed(const AttemptResult &result)
{
  Attempt end = kept(result.row);
  end.failure = failure_of(result);
  return end;
}

Attempt sweeps(std::string name, const SweepPlan &plan, double shift = 0)
{
  Attempt attempt;
  attempt.kind  = Kind::sweep;
  attempt.name  = std::move(name);
  attempt.shift = shift;
  attempt.plan  = plan;
  return attempt;
}

Attempt exact(double shift = 0)
{
  Attempt attempt;
  attempt.kind  = Kind::eliminate;
  attempt.name  = shift > 0 ? "exact, shift " + short_number(shift) : "exact";
  attempt.shift = shift;
  return attempt;
}

/// Exact factors that are kept if they do not grow; a host does not mind levels.
Attempt exact_if_good(bool on_device)
{
  Attempt attempt       = exact();
  attempt.most_levels   = on_device ? most_levels_between_sweeps : 0;
  attempt.weighs_growth = true;
  return attempt;
}

} // namespace

/// True if sweeps are asked for, or something that only they have.
bool Ladder::sweeps_asked() const
{
  return options_.method == FactorMethod::sweeps || options_.sweeps > 0 || options_.omega > 0 || options_.sections > 0 ||
         options_.asynchronous || options_.stop != SweepStop::automatic;
}

bool Ladder::begins_with_sweeps() const
{
  if (options_.method == FactorMethod::exact) return false;
  return sweeps_asked() || (options_.pattern != FillPattern::full && pattern_.on_device);
}

/// True if exact factors that are not good lead up the ladder of sweeps on a host too, as they do on a device.
bool Ladder::climbs_from_exact() const
{
  return options_.method == FactorMethod::automatic && options_.pattern != FillPattern::full && options_.ladder &&
         options_.shift == PivotShift::none;
}

/// Whether exact elimination may come before all sweeps were tried.
bool Ladder::may_eliminate() const
{
  return options_.ladder && !sweeps_asked() && options_.scaling != FactorScaling::none;
}

/// Whether the options have shifts of their own.
bool Ladder::shifts_asked() const
{
  return options_.shift == PivotShift::nonzero || options_.shift == PivotShift::positive_definite;
}

SweepPlan Ladder::plan() const
{
  SweepPlan plan;
  const bool limit_only = options_.stop == SweepStop::change || options_.stop == SweepStop::residual;
  plan.omega            = options_.omega > 0 ? options_.omega : 1;
  plan.sections         = std::max(options_.sections, 1);
  plan.stop             = options_.sweeps > 0 && options_.stop == SweepStop::automatic ? SweepStop::sweeps : options_.stop;
  plan.sweeps           = options_.sweeps > 0 ? options_.sweeps : limit_only ? 1000 : plan.stop == SweepStop::automatic ? 32 : 5;
  plan.tolerance        = options_.tolerance;
  plan.asynchronous     = options_.asynchronous;
  plan.watch            = options_.ladder;
  return plan;
}

Attempt Ladder::start(const LadderValues &values)
{
  values_       = values;
  plain_        = Plain::untried;
  cold_         = Cold::no_good;
  plain_result_ = {};
  given_up_.clear();
  pending_.clear();
  rungs_.clear();
  const bool at_once = begins_with_sweeps() ? before_ == Before::good : climbs_from_exact();
  if (at_once)
    add(Role::exact_at_once, exact_if_good(pattern_.on_device));
  else if (begins_with_sweeps() && may_eliminate() && before_ == Before::unknown)
    add_exact_before_sweeps();
  if (at_once || begins_with_sweeps()) add_sweeps(values.warm && !at_once);
  last_ = rungs_.size();
  add_last();
  at_ = 0;
  return climb();
}

void Ladder::add_exact_before_sweeps()
{
  Attempt look;
  look.kind        = Kind::look_for_levels;
  look.most_levels = most_levels_before_sweeps(pattern_.entries);
  add(Role::levels, look);
  add(Role::exact_for_few_levels, exact_if_good(pattern_.on_device));
}

/// Sweeps, with exact elimination after those that are slow. Without a ladder the first attempt counts.
void Ladder::add_sweeps(bool warm)
{
  const SweepPlan base = plan();
  if (warm) {
    SweepPlan again = base;
    again.warm      = true;
    again.enough    = settled_;
    add(Role::sweep, sweeps("warm start", again));
  }
  if (warm && !options_.ladder) return;
  const Attempt cold = sweeps("omega " + short_number(base.omega), base);
  add(may_eliminate() ? Role::cold : Role::sweep, cold);
  if (!options_.ladder) return;
  if (may_eliminate()) {
    add(Role::exact_for_slow, exact_if_good(pattern_.on_device));
    add(Role::exact_after_all, exact());
    add(Role::cold_again, cold);
  }
  SweepPlan damped = base;
  damped.omega     = 0.5;
  damped.sweeps    = std::max(base.sweeps, most_few);
  damped.few       = most_few;
  if (options_.omega <= 0) add(Role::sweep, sweeps("omega 0.5", damped));
  SweepPlan sections = base;
  sections.sections  = static_cast<int>(std::clamp<Index>(pattern_.rows / 16, 2, 128));
  if (options_.sections <= 0) add(Role::sweep, sweeps(std::to_string(sections.sections) + " sections", sections));
  for (const double shift : {0.1, 0.3}) add(Role::sweep, sweeps("shift " + short_number(shift), options_.omega > 0 ? base : damped, shift));
}

/// Exact elimination; where a pivot fails, with the shifts that the options ask for or the ladder has.
void Ladder::add_last()
{
  add(Role::last_exact, exact());
  Attempt replaced        = exact();
  replaced.replaces_zeros = true;
  add(Role::last_replaced, replaced);
  std::vector<double> shifts;
  if (shifts_asked()) {
    for (double shift = options_.shift_amount > 0 ? options_.shift_amount : 1e-10; shift < 100; shift *= 10) shifts.push_back(shift);
  } else if (options_.ladder && options_.symmetric) {
    shifts = {1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1}; // the smallest that does is the best preconditioner
  } else if (options_.ladder) {
    shifts = {0.1, 0.3, 1};
  }
  for (const double shift : shifts) add(Role::last_shifted, exact(shift));
}

bool Ladder::due(Role role) const
{
  switch (role) {
  case Role::levels:
    return !few_levels_;
  case Role::exact_for_few_levels:
    return *few_levels_;
  case Role::exact_for_slow:
    return cold_ != Cold::no_good && before_ != Before::bad;
  case Role::exact_after_all:
    return cold_ == Cold::slow_but_usable && plain_ == Plain::grew;
  case Role::cold_again:
    return cold_ == Cold::slow_but_usable;
  case Role::last_exact:
    return plain_ != Plain::failed;
  case Role::last_replaced:
    return failure_of(plain_result_) == FactorFailure::zero_pivot && options_.replace_pivots && values_.regular &&
           options_.pattern == FillPattern::full && !options_.symmetric && options_.shift == PivotShift::none;
  case Role::exact_at_once:
  case Role::sweep:
  case Role::cold:
  case Role::last_shifted:
    return true;
  }
  return true;
}

/// The next attempt whose turn it is.
Attempt Ladder::climb()
{
  while (at_ < rungs_.size() && !due(rungs_[at_].role)) at_++;
  if (at_ == rungs_.size()) return failed(plain_result_);
  if (!pending_.empty()) give_up(std::exchange(pending_, ""));
  return rungs_[at_].attempt;
}

Attempt Ladder::next(const AttemptResult &result)
{
  const Rung &rung = rungs_[at_++];
  switch (rung.attempt.kind) {
  case Kind::look_for_levels:
    few_levels_ = result.few_levels;
    return climb();
  case Kind::sweep:
    return take_sweeps(rung, result);
  case Kind::eliminate:
    return take_exact(rung, result);
  case Kind::end:
    break;
  }
  return {};
}

Attempt Ladder::take_sweeps(const Rung &rung, const AttemptResult &result)
{
  const Attempt &attempt  = rung.attempt;
  const std::string wrong = wrong_of(attempt, result);
  const bool usable       = wrong.empty();
  if (usable && !attempt.plan.warm && attempt.plan.stop == SweepStop::automatic) settled_ = result.residual;
  if (rung.role == Role::cold_again) return usable ? kept() : climb();
  if (rung.role == Role::cold && usable) {
    const bool known = plain_ == Plain::grew; // what sweeps come to
    if (!known && result.sweeps < attempt.plan.sweeps) return kept();
    give_up(attempt.name + ": " + (known ? "comes to the same" : "slow"));
    if (!known && before_ == Before::bad) return kept();
    cold_ = Cold::slow_but_usable;
    return climb();
  }
  if (usable) return kept();
  if (!options_.ladder && !shifts_asked()) return failed(result);
  give_up(attempt.name + ": " + wrong);
  if (result.wrong == Wrong::negative_pivot && may_eliminate())
    at_ = last_;
  else if (rung.role == Role::cold && result.wrong == Wrong::nothing)
    cold_ = Cold::slow;
  return climb();
}

Attempt Ladder::take_exact(const Rung &rung, const AttemptResult &result)
{
  const std::string wrong   = wrong_of(rung.attempt, result);
  const bool usable         = wrong.empty();
  const auto failed_plainly = [&] {
    plain_        = Plain::failed;
    plain_result_ = result;
  };
  switch (rung.role) {
  case Role::exact_after_all:
    return kept();
  case Role::last_exact:
    if (usable) return kept();
    failed_plainly();
    pending_ = rung.attempt.name + ": " + wrong;
    return climb();
  case Role::last_replaced:
    return usable ? kept(plain_result_.row) : climb();
  case Role::last_shifted:
    if (usable) return kept();
    pending_ = rung.attempt.name + ": " + wrong;
    return climb();
  default: // before the last rungs
    before_ = usable ? Before::good : Before::bad;
    if (usable) return kept();
    give_up(rung.attempt.name + ": " + wrong);
    if (result.wrong == Wrong::nothing)
      plain_ = Plain::grew;
    else if (result.wrong != Wrong::too_many_levels)
      failed_plainly();
    // Sweeps would end at a negative pivot too, and want larger shifts.
    if (result.wrong == Wrong::negative_pivot && rung.role != Role::exact_for_slow) at_ = last_;
    return climb();
  }
}

/// What is wrong with the factors of an attempt, or "".
std::string Ladder::wrong_of(const Attempt &attempt, const AttemptResult &result) const
{
  switch (result.wrong) {
  case Wrong::not_finite:
    return "not finite";
  case Wrong::zero_pivot:
    return "zero pivot";
  case Wrong::negative_pivot:
    return "negative pivot";
  case Wrong::too_many_levels:
    return "too many levels";
  case Wrong::nothing:
    break;
  }
  if (attempt.kind == Kind::eliminate) {
    const bool good = !attempt.weighs_growth || result.growth <= most_exact_growth;
    return good ? "" : "values grew " + short_number(result.growth) + " times";
  }
  if (!options_.ladder) return "";
  const double most = attempt.plan.omega < 1 ? most_damped_residual : most_residual;
  if (attempt.plan.stop == SweepStop::automatic && result.residual > most) return "residual " + short_number(result.residual);
  if (result.growth > most_growth) return "residual grew " + short_number(result.growth) + " times";
  return "";
}

void Ladder::give_up(const std::string &what)
{
  given_up_ += (given_up_.empty() ? "" : "; ") + what;
}

} // namespace weft::crout
