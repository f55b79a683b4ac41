/// Ladder: which attempts are made to factor some values, in which order, and which of their factors will do. It knows no matrix and no Kokkos:
/// it says what to try next and is told what came of it.
///
///     for (Attempt attempt = ladder.start(values); !attempt.ends(); attempt = ladder.next(result)) result = ...;
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "crout/sweeps/plan.hpp"

namespace weft::crout {

/// Exact factors that have no larger values than so many times the scaled matrix's precondition better than damped or shifted sweeps; others
/// do worse (docs/results/crout.md).
inline constexpr double most_exact_growth = 10;

/// What to do next.
struct Attempt {
  enum class Kind {
    look_for_levels, ///< no attempt: AttemptResult::few_levels is asked for
    sweep,
    eliminate, ///< exactly
    end,
  };
  Kind kind = Kind::end;
  std::string name;            ///< as CroutReport::attempts calls it
  double shift = 0;            ///< of the diagonal
  SweepPlan plan;              ///< of sweeps
  Index most_levels   = 0;     ///< elimination, if > 0: it does not begin where rows wait for each other in more levels
  bool weighs_growth  = false; ///< elimination: AttemptResult::growth is asked for
  bool replaces_zeros = false; ///< elimination: CroutOptions::replace_pivots

  /// At the end: none if the factors of the last attempt are those to keep.
  FactorFailure failure = FactorFailure::none;
  Index row             = -1; ///< at the end: of the factors, where it failed or the first pivot was replaced

  bool ends() const { return kind == Kind::end; }
};

/// What came of an attempt.
struct AttemptResult {
  enum class Wrong { nothing, not_finite, zero_pivot, negative_pivot, too_many_levels };
  Wrong wrong     = Wrong::nothing;
  Index row       = -1; ///< of the factors, with what is wrong
  int sweeps      = 0;
  double residual = 0; ///< before the last sweep
  /// Sweeps: of their largest residual over the first; elimination: of the factors' largest value over the matrix's.
  double growth   = 1;
  bool few_levels = false; ///< rows wait in no more than Attempt::most_levels, and sweeps are not over the pivots alone
};

/// Of a pattern.
struct LadderPattern {
  Index rows     = 0;
  Index entries  = 0; ///< of the factors
  bool on_device = false;
};

/// Of values.
struct LadderValues {
  bool warm    = false; ///< sweeps may start from the factors before
  bool regular = true;  ///< no column is known to be without a pivot
};

/// One for each pattern: it remembers what did for the values before.
class Ladder {
public:
  Ladder(const CroutOptions &options, const LadderPattern &pattern) : options_(options), pattern_(pattern) {}

  /// Whether the first attempt for any values is one of sweeps; else it eliminates.
  bool begins_with_sweeps() const;
  /// The first attempt for new values.
  Attempt start(const LadderValues &values);
  /// The one after that of which the result is told.
  Attempt next(const AttemptResult &result);
  /// The attempts that were given up, as words.
  const std::string &given_up() const { return given_up_; }

private:
  /// What an attempt is for, and so whether its turn comes.
  enum class Role {
    exact_at_once,        ///< before all others: it did for the values before, or is what a host begins with
    levels,               ///< whether the next one comes before sweeps
    exact_for_few_levels, ///< before sweeps, where it takes no longer
    sweep,                ///< all that exact elimination is not compared with: a warm start, or sweeps changed until they converge
    cold,                 ///< sweeps as they are; where these are slow, exact elimination may do better
    exact_for_slow,       ///< after these
    exact_after_all,      ///< it grew, but is what these come to
    cold_again,           ///< it was no good, and overwrote usable factors of these
    last_exact,           ///< whether its values grow or not
    last_replaced,        ///< with zero pivots replaced
    last_shifted,         ///< with a shift
  };
  struct Rung {
    Role role;
    Attempt attempt;
  };
  /// What exact elimination did for the values before.
  enum class Before { unknown, good, bad };
  /// What plain exact elimination did for these values: nothing yet, failed, or made factors that are finite, but large.
  enum class Plain { untried, failed, grew };
  /// What cold sweeps did for these values: no good or not made yet, too little for an approximation, or slowly what they should.
  enum class Cold { no_good, slow, slow_but_usable };

  bool sweeps_asked() const;
  bool climbs_from_exact() const;
  bool may_eliminate() const;
  bool shifts_asked() const;
  SweepPlan plan() const;
  void add(Role role, Attempt attempt) { rungs_.push_back({role, std::move(attempt)}); }
  void add_exact_before_sweeps();
  void add_sweeps(bool warm);
  void add_last();
  bool due(Role role) const;
  std::string wrong_of(const Attempt &attempt, const AttemptResult &result) const;
  Attempt climb();
  Attempt take_sweeps(const Rung &rung, const AttemptResult &result);
  Attempt take_exact(const Rung &rung, const AttemptResult &result);
  void give_up(const std::string &what);

  CroutOptions options_;
  LadderPattern pattern_;

  // Of the pattern and of values before.
  std::optional<bool> few_levels_; ///< once looked for
  Before before_  = Before::unknown;
  double settled_ = 0; ///< the last residual of a cold start

  // Of these values.
  LadderValues values_;
  std::vector<Rung> rungs_;
  std::size_t at_ = 0, last_ = 0; ///< the rung that is tried; the first of those with a role last_...
  Plain plain_ = Plain::untried;
  AttemptResult plain_result_; ///< Plain::failed: how
  Cold cold_ = Cold::no_good;
  std::string given_up_;
  std::string pending_; ///< given up if another attempt follows
};

} // namespace weft::crout
