// The ladder of attempts without a matrix: what it tries where attempts end so or so.
#include "crout/ladder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace {

using namespace weft;
using namespace weft::crout;
using Kind  = Attempt::Kind;
using Wrong = AttemptResult::Wrong;
using Names = std::vector<std::string>;

constexpr LadderPattern device{1600, 10000, true}, host{1600, 10000, false};
constexpr double much = std::numeric_limits<double>::infinity();

AttemptResult wrong(Wrong what, Index row = -1)
{
  AttemptResult result;
  result.wrong = what;
  result.row   = row;
  return result;
}
AttemptResult swept(double residual, int sweeps, double growth = 1)
{
  AttemptResult result;
  result.residual = residual;
  result.sweeps   = sweeps;
  result.growth   = growth;
  return result;
}
AttemptResult grown(double growth)
{
  return swept(0, 0, growth);
}
AttemptResult levels(bool few)
{
  AttemptResult result;
  result.few_levels = few;
  return result;
}

/// What attempts of each kind come to.
struct Outcome {
  std::function<AttemptResult(const Attempt &)> sweep;
  std::function<AttemptResult(const Attempt &)> eliminate;
  bool few_levels = false;
};
auto always(const AttemptResult &result)
{
  return [result](const Attempt &) { return result; };
}

/// All attempts for some values, and how they end.
Names play(Ladder &ladder, const Outcome &outcome, const LadderValues &values = {})
{
  Names names;
  Attempt attempt = ladder.start(values);
  while (!attempt.ends() && names.size() < 50) {
    if (attempt.kind == Kind::look_for_levels) {
      names.push_back("levels?");
      attempt = ladder.next(levels(outcome.few_levels));
    } else {
      names.push_back(attempt.replaces_zeros ? attempt.name + ", zeros replaced" : attempt.name);
      attempt = ladder.next(attempt.kind == Kind::sweep ? outcome.sweep(attempt) : outcome.eliminate(attempt));
    }
  }
  const std::string row = attempt.row >= 0 ? ", row " + std::to_string(attempt.row) : "";
  const char *const how = attempt.failure == FactorFailure::none         ? "kept"
                          : attempt.failure == FactorFailure::zero_pivot ? "failed: zero pivot"
                                                                         : "failed: not finite";
  names.push_back(how + row);
  return names;
}

TEST(CroutLadder, GoesAllTheWayUpOnADevice)
{
  Ladder ladder({}, device);
  const Outcome bad{always(swept(0.5, 32)), always(wrong(Wrong::zero_pivot, 7))};
  EXPECT_EQ(play(ladder, bad), (Names{"levels?", "omega 1", "exact", "omega 0.5", "100 sections", "shift 0.1", "shift 0.3",
                                      "exact, shift 0.1", "exact, shift 0.3", "exact, shift 1", "failed: zero pivot, row 7"}));
  EXPECT_EQ(ladder.given_up(), "omega 1: residual 0.5; exact: zero pivot; omega 0.5: residual 0.5; 100 sections: residual 0.5; shift 0.1: "
                               "residual 0.5; shift 0.3: residual 0.5; exact, shift 0.1: zero pivot; exact, shift 0.3: zero pivot");
  // New values: exact elimination was bad, and comes last.
  EXPECT_EQ(play(ladder, bad), (Names{"omega 1", "omega 0.5", "100 sections", "shift 0.1", "shift 0.3", "exact", "exact, shift 0.1",
                                      "exact, shift 0.3", "exact, shift 1", "failed: zero pivot, row 7"}));
  // Sweeps that diverge say nothing for exact factors of the incomplete pattern.
  Ladder other({}, device);
  const Outcome infinite{always(wrong(Wrong::not_finite)), always(wrong(Wrong::not_finite, 3))};
  EXPECT_EQ(play(other, infinite), (Names{"levels?", "omega 1", "omega 0.5", "100 sections", "shift 0.1", "shift 0.3", "exact",
                                          "exact, shift 0.1", "exact, shift 0.3", "exact, shift 1", "failed: not finite, row 3"}));
}

TEST(CroutLadder, PlansOfSweepsOnADevice)
{
  Ladder ladder({}, device);
  std::vector<Attempt> sweeps;
  const auto residual = [&](const Attempt &attempt) {
    sweeps.push_back(attempt);
    return swept(0.2, 8);
  };
  play(ladder, {residual, always(wrong(Wrong::not_finite))});
  ASSERT_EQ(sweeps.size(), 5u);
  const double omegas[] = {1, 0.5, 1, 0.5, 0.5}, shifts[] = {0, 0, 0, 0.1, 0.3};
  const int sections[] = {1, 1, 100, 1, 1}, few[] = {5, 8, 5, 8, 8};
  for (std::size_t i = 0; i < 5; i++) {
    EXPECT_EQ(sweeps[i].plan.omega, omegas[i]);
    EXPECT_EQ(sweeps[i].shift, shifts[i]);
    EXPECT_EQ(sweeps[i].plan.sections, sections[i]);
    EXPECT_EQ(sweeps[i].plan.few, few[i]);
    EXPECT_EQ(sweeps[i].plan.sweeps, 32);
    EXPECT_TRUE(sweeps[i].plan.watch);
    EXPECT_FALSE(sweeps[i].plan.warm);
  }
}

TEST(CroutLadder, SmallerResidualsAreAskedOfDampedSweeps)
{
  Ladder ladder({}, device);
  const auto less = [](const Attempt &attempt) { return swept(attempt.plan.omega == 1 && attempt.plan.sections == 1 ? 0.2 : 0.06, 8); };
  EXPECT_EQ(play(ladder, {less, always(wrong(Wrong::zero_pivot, 1))}),
            (Names{"levels?", "omega 1", "exact", "omega 0.5", "100 sections", "kept"}));
  Ladder other({}, device);
  const auto grows = [](const Attempt &attempt) { return swept(0.01, 8, attempt.plan.omega == 1 ? 20 : 2); };
  EXPECT_EQ(play(other, {grows, always(wrong(Wrong::zero_pivot, 1))}), (Names{"levels?", "omega 1", "exact", "omega 0.5", "kept"}));
  EXPECT_EQ(other.given_up(), "omega 1: residual grew 20 times; exact: zero pivot");
}

TEST(CroutLadder, EliminatesFirstWhereLevelsAreFew)
{
  Ladder ladder({}, device);
  const Outcome good{always(swept(1e-3, 5)), always(grown(2)), true};
  EXPECT_EQ(play(ladder, good), (Names{"levels?", "exact", "kept"}));
  EXPECT_EQ(play(ladder, good), (Names{"exact", "kept"}));
  EXPECT_EQ(play(ladder, good, {true, true}), (Names{"exact", "kept"})); // not from the factors before
  // Where that is good no more, sweeps come at once, and from then on.
  const Outcome worse{always(swept(1e-3, 5)), always(grown(50)), true};
  EXPECT_EQ(play(ladder, worse, {true, true}), (Names{"exact", "omega 1", "exact", "kept"}));
  EXPECT_EQ(ladder.given_up(), "exact: values grew 50 times; omega 1: comes to the same");
  EXPECT_EQ(play(ladder, good, {true, true}), (Names{"warm start", "kept"}));
}

TEST(CroutLadder, AWarmStartEndsWhereAColdOneDidAndIsFollowedByOne)
{
  Ladder ladder({}, device);
  EXPECT_EQ(play(ladder, {always(swept(0.004, 5)), nullptr}), (Names{"levels?", "omega 1", "kept"}));
  const auto warm_fails = [](const Attempt &attempt) {
    EXPECT_EQ(attempt.plan.enough, attempt.plan.warm ? 0.004 : 0);
    return swept(attempt.plan.warm ? 0.3 : 0.02, 5);
  };
  EXPECT_EQ(play(ladder, {warm_fails, nullptr}, {true, true}), (Names{"warm start", "omega 1", "kept"}));
  EXPECT_EQ(ladder.given_up(), "warm start: residual 0.3");
  const auto enough = [](const Attempt &attempt) {
    EXPECT_EQ(attempt.plan.enough, 0.02);
    return swept(0.05, 2);
  };
  EXPECT_EQ(play(ladder, {enough, nullptr}, {true, true}), (Names{"warm start", "kept"}));
  EXPECT_EQ(ladder.given_up(), "");
  // That residual was of a warm start, and is no measure.
  EXPECT_EQ(play(ladder, {enough, nullptr}, {true, true}), (Names{"warm start", "kept"}));
}

TEST(CroutLadder, AfterSlowSweepsExactFactorsAreTried)
{
  const auto slow = always(swept(0.05, 32));
  Ladder good({}, device);
  EXPECT_EQ(play(good, {slow, always(grown(9))}), (Names{"levels?", "omega 1", "exact", "kept"}));
  EXPECT_EQ(good.given_up(), "omega 1: slow");
  Ladder large({}, device); // what slow sweeps would come to
  EXPECT_EQ(play(large, {slow, always(grown(1e4))}), (Names{"levels?", "omega 1", "exact", "exact", "kept"}));
  Ladder no_number({}, device);
  EXPECT_EQ(play(no_number, {slow, always(grown(std::nan("")))}), (Names{"levels?", "omega 1", "exact", "exact", "kept"}));
  Ladder bad({}, device); // sweeps again, which it overwrote
  const auto zero = always(wrong(Wrong::zero_pivot, 2));
  EXPECT_EQ(play(bad, {slow, zero}), (Names{"levels?", "omega 1", "exact", "omega 1", "kept"}));
  EXPECT_EQ(bad.given_up(), "omega 1: slow; exact: zero pivot");
  EXPECT_EQ(play(bad, {slow, zero}), (Names{"omega 1", "kept"}));
  EXPECT_EQ(bad.given_up(), "omega 1: slow");
}

TEST(CroutLadder, LimitsLevelsOnADeviceOnly)
{
  Index before = 0, between = 0;
  Ladder ladder({}, device);
  Attempt attempt = ladder.start({});
  before          = attempt.most_levels;
  ladder.next(levels(false));
  attempt = ladder.next(swept(0.5, 8));
  between = attempt.most_levels;
  EXPECT_EQ(before, 151);
  EXPECT_EQ(between, 16384);
  EXPECT_EQ(ladder.next(wrong(Wrong::too_many_levels)).name, "omega 0.5");
  EXPECT_EQ(ladder.given_up(), "omega 1: residual 0.5; exact: too many levels");
  Ladder on_host({}, host);
  EXPECT_EQ(on_host.start({}).most_levels, 0);
}

TEST(CroutLadder, OnAHostExactFactorsComeFirst)
{
  Ladder ladder({}, host);
  EXPECT_EQ(play(ladder, {nullptr, always(grown(2))}), (Names{"exact", "kept"}));
  // Large factors are those to keep where sweeps come to the same or nothing else does.
  EXPECT_EQ(play(ladder, {always(swept(1e-3, 5)), always(grown(1200))}), (Names{"exact", "omega 1", "exact", "kept"}));
  EXPECT_EQ(ladder.given_up(), "exact: values grew 1.2e+03 times; omega 1: comes to the same");
  EXPECT_EQ(play(ladder, {always(swept(much, 5)), always(grown(1200))}),
            (Names{"exact", "omega 1", "omega 0.5", "100 sections", "shift 0.1", "shift 0.3", "exact", "kept"}));
  // Each new values are eliminated first.
  EXPECT_EQ(play(ladder, {nullptr, always(grown(2))}), (Names{"exact", "kept"}));

  CroutOptions exact;
  exact.method = FactorMethod::exact;
  Ladder asked(exact, host);
  EXPECT_EQ(play(asked, {nullptr, always(grown(1200))}), (Names{"exact", "kept"}));
  EXPECT_EQ(play(asked, {nullptr, always(wrong(Wrong::not_finite, 4))}),
            (Names{"exact", "exact, shift 0.1", "exact, shift 0.3", "exact, shift 1", "failed: not finite, row 4"}));
  EXPECT_EQ(asked.given_up(), "exact: not finite; exact, shift 0.1: not finite; exact, shift 0.3: not finite");
}

TEST(CroutLadder, ZeroPivotsOfCompleteFactorsAreReplacedWhereAsked)
{
  CroutOptions options;
  options.pattern        = FillPattern::full;
  options.replace_pivots = true;
  const auto zero        = [](const Attempt &attempt) { return attempt.replaces_zeros ? grown(1) : wrong(Wrong::zero_pivot, 11); };
  const Names shifts{"exact", "exact, shift 0.1", "exact, shift 0.3", "exact, shift 1", "failed: zero pivot, row 11"};
  for (const LadderPattern &pattern : {host, device}) {
    Ladder ladder(options, pattern);
    EXPECT_EQ(play(ladder, {nullptr, zero}), (Names{"exact", "exact, zeros replaced", "kept, row 11"}));
    EXPECT_EQ(ladder.given_up(), "exact: zero pivot");
    EXPECT_EQ(play(ladder, {nullptr, zero}, {false, false}), shifts); // a column has no pivot
    EXPECT_EQ(
        play(ladder, {nullptr, always(wrong(Wrong::zero_pivot, 5))}),
        (Names{"exact", "exact, zeros replaced", "exact, shift 0.1", "exact, shift 0.3", "exact, shift 1", "failed: zero pivot, row 5"}));
    EXPECT_EQ(ladder.given_up(), "exact: zero pivot; exact, shift 0.1: zero pivot; exact, shift 0.3: zero pivot");
    EXPECT_EQ(play(ladder, {nullptr, always(wrong(Wrong::not_finite, 5))}).size(), 5u);
  }
  options.replace_pivots = false;
  Ladder not_asked(options, host);
  EXPECT_EQ(play(not_asked, {nullptr, zero}), shifts);
  options.replace_pivots = options.symmetric = true;
  Ladder symmetric(options, host);
  EXPECT_EQ(play(symmetric, {nullptr, zero}),
            (Names{"exact", "exact, shift 0.001", "exact, shift 0.003", "exact, shift 0.01", "exact, shift 0.03", "exact, shift 0.1",
                   "exact, shift 0.3", "exact, shift 1", "failed: zero pivot, row 11"}));
}

TEST(CroutLadder, ANegativePivotOfASymmetricMatrixAsksForShiftsOfExactFactors)
{
  CroutOptions options;
  options.symmetric     = true;
  const auto negative   = always(wrong(Wrong::negative_pivot));
  const auto to_a_tenth = [](const Attempt &attempt) { return attempt.shift < 0.02 ? wrong(Wrong::negative_pivot) : grown(1); };
  const Names shifts{"exact, shift 0.001", "exact, shift 0.003", "exact, shift 0.01", "exact, shift 0.03", "kept"};
  const auto after = [&](Names names) {
    names.insert(names.end(), shifts.begin(), shifts.end());
    return names;
  };
  Ladder on_host(options, host), few(options, device), many(options, device), warm(options, device);
  EXPECT_EQ(play(on_host, {nullptr, to_a_tenth}), after({"exact"}));
  EXPECT_EQ(on_host.given_up(),
            "exact: negative pivot; exact, shift 0.001: negative pivot; exact, shift 0.003: negative pivot; exact, shift "
            "0.01: negative pivot");
  EXPECT_EQ(play(few, {nullptr, to_a_tenth, true}), after({"levels?", "exact"}));
  EXPECT_EQ(play(many, {negative, to_a_tenth}), after({"levels?", "omega 1", "exact"}));
  EXPECT_EQ(play(warm, {always(swept(0, 5)), nullptr}), (Names{"levels?", "omega 1", "kept"}));
  EXPECT_EQ(play(warm, {negative, to_a_tenth}, {true, true}), after({"warm start", "exact"}));
  // Between sweeps it is one attempt of many.
  Ladder between(options, device);
  const auto first = [](const Attempt &attempt) { return swept(attempt.plan.omega == 1 ? 0.2 : 0.01, 8); };
  EXPECT_EQ(play(between, {first, negative}), (Names{"levels?", "omega 1", "exact", "omega 0.5", "kept"}));
}

TEST(CroutLadder, SwitchedOffTheFirstAttemptCounts)
{
  CroutOptions options;
  options.ladder = false;
  Ladder sweeps(options, device), exact(options, host);
  const Outcome bad{always(wrong(Wrong::zero_pivot, 9)), always(wrong(Wrong::zero_pivot, 8))};
  EXPECT_EQ(play(sweeps, bad), (Names{"omega 1", "failed: zero pivot, row 9"}));
  EXPECT_EQ(play(sweeps, bad, {true, true}), (Names{"warm start", "failed: zero pivot, row 9"}));
  EXPECT_EQ(sweeps.given_up(), "");
  EXPECT_EQ(play(sweeps, {always(swept(0.9, 32, 1e3)), nullptr}), (Names{"omega 1", "kept"})); // whatever is left
  EXPECT_EQ(play(exact, bad), (Names{"exact", "failed: zero pivot, row 8"}));
  EXPECT_EQ(play(exact, {nullptr, always(grown(1e9))}), (Names{"exact", "kept"}));
  options.shift        = PivotShift::nonzero;
  options.shift_amount = 2;
  Ladder shifted(options, device);
  EXPECT_EQ(play(shifted, bad), (Names{"omega 1", "exact", "exact, shift 2", "exact, shift 20", "failed: zero pivot, row 8"}));
  EXPECT_EQ(shifted.given_up(), "omega 1: zero pivot; exact: zero pivot; exact, shift 2: zero pivot");
}

TEST(CroutLadder, KeepsToWhatTheUserAsksOfSweeps)
{
  const Outcome bad{always(swept(0.5, 5)), always(wrong(Wrong::zero_pivot, 1))};
  const Names last{"exact", "exact, shift 0.1", "exact, shift 0.3", "exact, shift 1", "failed: zero pivot, row 1"};
  const auto then = [&](Names names) {
    names.insert(names.end(), last.begin(), last.end());
    return names;
  };
  CroutOptions omega, sections, shift, scaling;
  omega.omega = 0.8;
  Ladder damped(omega, device);
  EXPECT_EQ(play(damped, bad), then({"omega 0.8", "100 sections", "shift 0.1", "shift 0.3"}));
  sections.sections = 4;
  Ladder in_sections(sections, host);
  EXPECT_EQ(play(in_sections, bad), then({"omega 1", "omega 0.5", "shift 0.1", "shift 0.3"}));
  scaling.scaling = FactorScaling::none; // growth says nothing
  Ladder unscaled(scaling, device);
  EXPECT_EQ(play(unscaled, bad), then({"omega 1", "omega 0.5", "100 sections", "shift 0.1", "shift 0.3"}));
  shift.shift        = PivotShift::positive_definite;
  shift.shift_amount = 10;
  Ladder on_host(shift, host);
  EXPECT_EQ(play(on_host, bad), (Names{"exact", "exact, shift 10", "failed: zero pivot, row 1"}));
  // A number of sweeps is a number of sweeps, whatever they leave.
  CroutOptions counted;
  counted.sweeps = 3;
  Ladder three(counted, host);
  EXPECT_EQ(play(three, bad), (Names{"omega 1", "kept"}));
  EXPECT_EQ(three.start({}).plan.sweeps, 3);
  EXPECT_EQ(three.start({}).plan.stop, SweepStop::sweeps);
}

} // namespace
