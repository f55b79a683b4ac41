/// The factorization on one execution space: analysis, attempts in the order of the ladder, what is kept of them.
#pragma once
#include <optional>

#include "base/backend.hpp"
#include "crout/elimination/elimination.hpp"
#include "crout/model.hpp"
#include "crout/pattern/full_fill.hpp"
#include "crout/pattern/level_fill.hpp"
#include "crout/pattern/matching.hpp"
#include "crout/pattern/threshold_fill.hpp"
#include "crout/sweeps/pivot_sweep.hpp"
#include "crout/sweeps/sweeper.hpp"

namespace weft {

namespace crout {

/// Sets the factors to those of the identity, which no solve can trip over.
template <class Scalar, class Space>
void set_identity(const Space &space, const FactorEntries<Space> &entries, const Array<Scalar, Space> &values)
{
  Kokkos::parallel_for(
      "weft crout identity", Range<Space>(space, 0, entries.size()),
      KOKKOS_LAMBDA(const Index e) { values(e) = static_cast<Scalar>(e >= entries.lower + entries.upper ? 1 : 0); });
  space.fence("weft crout identity");
}

/// The first row with a value that is not finite, or -1. Waits.
template <class Space, class Int>
Index row_not_finite(const Space &space, Index rows, const CsrMatrix<double, Int> &matrix)
{
  Index first = rows;
  Kokkos::parallel_reduce(
      "weft crout finite values", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &found) {
        bool finite = true;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) finite = finite && Kokkos::isfinite(matrix.values[k]);
        if (!finite && i < found) found = i;
      },
      Kokkos::Min<Index>(first));
  space.fence("weft crout finite values");
  return first < rows ? first : -1;
}

} // namespace crout

template <class Scalar, class Space>
class CroutModelOn final : public CroutModel<Scalar> {
public:
  CroutModelOn(const Space &space, const CroutOptions &options) : space_(space), options_(options) {}

  void analyse(Index rows, const CsrMatrix<double, std::int32_t> &matrix, const FactorOrdering &ordering) override
  {
    analyse_any(rows, matrix, ordering);
  }
  void analyse(Index rows, const CsrMatrix<double, std::int64_t> &matrix, const FactorOrdering &ordering) override
  {
    analyse_any(rows, matrix, ordering);
  }

  bool analysis_holds(const CsrMatrix<double, std::int32_t> &matrix) override { return holds(matrix); }
  bool analysis_holds(const CsrMatrix<double, std::int64_t> &matrix) override { return holds(matrix); }

  Index row_not_finite(const CsrMatrix<double, std::int32_t> &matrix) const override
  {
    return crout::row_not_finite(space_, entries_.rows, matrix);
  }
  Index row_not_finite(const CsrMatrix<double, std::int64_t> &matrix) const override
  {
    return crout::row_not_finite(space_, entries_.rows, matrix);
  }

  void factor(const double *values, bool warm, Index not_finite) override
  {
    using namespace crout;
    if (!analysed_) throw std::logic_error("a matrix is analysed before it is factored");
    const bool was_usable = usable_;
    usable_               = false;
    report_               = {};
    exact_wrong_          = "";
    exact_grew_           = false;
    report_.matched       = matched_order_.has_value();
    report_.entries       = entries_.size();
    report_.complete      = options_.pattern == FillPattern::full;
    if (entries_.rows == 0) {
      report_.exact = true;
      return;
    }
    matrix_values_ = values;
    if (not_finite >= 0) {
      report_.failure = FactorFailure::not_finite_input;
      report_.row     = not_finite;
    } else {
      find_values();
    }
    if (report_.failure == FactorFailure::none) {
      if (!sweeps_first() && !climbs())
        eliminate_safely();
      else if (sweeps_first() && !eliminates_)
        climb(warm && was_usable);
      else if (!take_exact(eliminate_if_good()))
        climb(false);
    }
    usable_ = report_.failure == FactorFailure::none;
    if (!usable_) set_identity(space_, entries_, values_);
  }

  const CroutReport &report() const override { return report_; }

  SparseTriangles<Scalar> triangles() const override
  {
    SparseTriangles<Scalar> t;
    t.rows          = entries_.rows;
    t.lower_starts  = entries_.lower_starts.data();
    t.lower_columns = entries_.columns.data();
    t.lower_values  = values_.data();
    t.upper_starts  = entries_.upper_starts.data();
    t.upper_columns = entries_.columns.data() + entries_.lower;
    t.upper_values  = values_.data() + entries_.lower;
    t.diagonal      = values_.data() + entries_.lower + entries_.upper;
    t.lower_entries = entries_.lower;
    t.upper_entries = entries_.upper;
    t.symmetric     = options_.symmetric;
    t.checked       = true;
    return t;
  }
  FactorTransform transform() const override
  {
    return {orders_.rows.data(), orders_.columns.data(), scales_.row.data(), scales_.column.data()};
  }

private:
  template <class T>
  using Array = crout::Array<T, Space>;

  template <class Int>
  void analyse_any(Index rows, const CsrMatrix<double, Int> &matrix, const FactorOrdering &ordering)
  {
    using namespace crout;
    forget();
    const bool sorted  = check_matrix(space_, rows, matrix);
    const Index stored = stored_entries(rows, matrix);
    if (stored > most_entries) throw std::length_error("the matrix has more than " + std::to_string(most_entries) + " entries");
    order_ = ordering;
    if (options_.symmetric) order_.columns = order_.rows;
    orders_  = orders_on(space_, rows, order_);
    entries_ = entries_of(space_, rows, matrix, orders_, options_.symmetric, sorted);
    if (matrix.values) {
      matched_order_ = wanted_order(entries_, matrix.values, stored);
      if (matched_order_) {
        orders_  = orders_on(space_, rows, *matched_order_);
        entries_ = entries_of(space_, rows, matrix, orders_, false, sorted);
      }
    }
    const double allowed = options_.most_fill > 0 ? options_.most_fill * static_cast<double>(stored) : static_cast<double>(most_entries);
    const Index most     = allowed < static_cast<double>(most_entries) ? static_cast<Index>(allowed) : most_entries;
    Room<Space> vectors(space_, "weft scales and sums",
                        3 * Room<Space>::template bytes<double>(rows) + Room<Space>::template bytes<detail::RowSums>(chunks_of(rows) + 64));
    vectors_     = vectors.memory;
    gather_room_ = {vectors.template take<detail::RowSums>(chunks_of(rows)), vectors.template take<detail::RowSums>(1)};
    rule_.sums   = vectors.template take<double>(rows);
    if (options_.scaling != FactorScaling::none) {
      scales_.row = vectors.template take<double>(rows);
      scales_.column =
          options_.symmetric || options_.scaling == FactorScaling::unit_diagonal ? scales_.row : vectors.template take<double>(rows);
    }
    if (options_.pattern == FillPattern::levels && options_.levels > 0) entries_ = level_fill(space_, entries_, options_.levels, most);
    if (options_.pattern == FillPattern::full) entries_ = full_fill(space_, entries_, most, sizeof(Scalar), options_);
    if (options_.pattern == FillPattern::threshold) {
      matrix_values_ = matrix.values;
      set_rule();
      if (options_.scaling != FactorScaling::none) find_scales(space_, options_.scaling, entries_, matrix_values_, scales_);
      const double mean = static_cast<double>(entries_.lower + entries_.upper) / (2 * std::max(1.0, static_cast<double>(rows)));
      const Index quota = options_.row_quota > 0 ? options_.row_quota : static_cast<Index>(2 * mean) + 2;
      entries_ =
          threshold_fill<Scalar>(space_, entries_, matrix.values, scales_, rule_, options_.drop_tolerance, quota, options_.symmetric, most);
    }
    matrix_   = make_array<Scalar>(space_, "weft scaled matrix", entries_.size());
    values_   = make_array<Scalar>(space_, "weft factors", entries_.size());
    analysed_ = true;
  }

  template <class Int>
  Index stored_entries(Index rows, const CsrMatrix<double, Int> &matrix) const
  {
    Int stored = 0;
    if (rows == 0) return 0;
    Kokkos::deep_copy(
        space_, crout::HostPointer<Int>(&stored, 1),
        Kokkos::View<const Int *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(matrix.row_starts + rows, 1));
    space_.fence("weft crout: number of entries");
    return static_cast<Index>(stored);
  }

  /// The order of the caller with rows permuted, where these values ask for that. `entries` are in the caller's order, with fill or without.
  std::optional<FactorOrdering> wanted_order(const crout::FactorEntries<Space> &entries, const double *values, Index stored)
  {
    regular_ = true;
    if (!options_.match_rows || options_.symmetric || entries.rows == 0) return std::nullopt;
    const bool any = options_.tiny_diagonal >= 1;
    if (!any && crout::doubtful_diagonals(space_, entries, values) == 0) return std::nullopt;
    return crout::matched(space_, entries, values, stored, order_, options_.tiny_diagonal, regular_);
  }

  template <class Int>
  bool holds(const CsrMatrix<double, Int> &matrix)
  {
    using namespace crout;
    const Index rows = entries_.rows;
    if (!analysed_ || options_.pattern == FillPattern::threshold) return false;
    if (!options_.match_rows || options_.symmetric || rows == 0) return true;
    const Index stored = stored_entries(rows, matrix);
    if (!matched_order_) return !wanted_order(entries_, matrix.values, stored);
    const auto entries = entries_of(space_, rows, matrix, orders_on(space_, rows, order_), false, check_matrix(space_, rows, matrix));
    const auto wanted  = wanted_order(entries, matrix.values, stored);
    return wanted && wanted->rows == matched_order_->rows;
  }

  void forget()
  {
    entries_ = {};
    orders_  = {};
    scales_  = {};
    order_   = {};
    matched_order_.reset();
    columns_.reset();
    sweeper_.reset();
    pivot_sweeper_.reset();
    eliminator_.reset();
    other_   = {};
    settled_ = 0;
    usable_ = analysed_ = looked_for_pivots_ = looked_for_order_ = few_levels_ = eliminates_ = exact_was_bad_ = false;
  }

  void set_rule()
  {
    rule_.smallest = options_.zero_pivot >= 0 ? options_.zero_pivot : 100 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    rule_.replaced = std::max(2 * rule_.smallest, static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
    if (options_.shift == PivotShift::in_blocks) rule_.replaced = std::max(rule_.replaced, options_.shift_amount);
  }

  /// Scales and gathers the values; a value that is not finite is a failure.
  void find_values()
  {
    using namespace crout;
    set_rule();
    if (options_.scaling != FactorScaling::none) find_scales(space_, options_.scaling, entries_, matrix_values_, scales_);
    gathered_ = gather_values(space_, entries_, matrix_values_, scales_, matrix_, rule_.sums, gather_room_);
    if (options_.scaling == FactorScaling::unit_diagonal) limit_sums(space_, entries_, matrix_, rule_.sums);
    shift_in_matrix_ = 0;
    if (gathered_.bad >= 0) fail(FactorFailure::not_finite_input, gathered_.bad);
  }

  void fail(FactorFailure failure, Index row)
  {
    report_.failure = failure;
    report_.row     = row_of_matrix(row);
  }

  /// The caller's number of a row of the factors.
  Index row_of_matrix(Index row) const
  {
    if (!orders_.rows.data() || row < 0) return row;
    std::int32_t old = 0;
    Kokkos::deep_copy(space_, crout::HostPointer<std::int32_t>(&old, 1),
                      Kokkos::subview(orders_.rows, std::pair<std::size_t, std::size_t>(static_cast<std::size_t>(row),
                                                                                        static_cast<std::size_t>(row) + 1)));
    space_.fence("weft crout: row of a failure");
    return old;
  }

  /// True if sweeps are asked for, or something that only they have.
  bool sweeps_asked() const
  {
    return options_.method == FactorMethod::sweeps || options_.sweeps > 0 || options_.omega > 0 || options_.sections > 0 ||
           options_.asynchronous || options_.stop != SweepStop::automatic;
  }
  bool sweeps_first() const
  {
    if (options_.method == FactorMethod::exact) return false;
    if (sweeps_asked()) return true;
    return options_.pattern != FillPattern::full && !std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;
  }

  /// True if factors that are not good lead up the ladder of sweeps on a host too, as they do on a device.
  bool climbs() const
  {
    return options_.method == FactorMethod::automatic && options_.pattern != FillPattern::full && options_.ladder &&
           options_.shift == PivotShift::none;
  }

  void need_columns()
  {
    if (!columns_) columns_ = crout::upper_columns(space_, entries_);
  }
  Array<std::uint64_t> mirror() const { return options_.symmetric && columns_ ? columns_->entries : Array<std::uint64_t>(); }

  void set_shift(double shift)
  {
    report_.shift = options_.base_shift + shift;
    if (report_.shift == shift_in_matrix_) return;
    shift_in_matrix_ = report_.shift;
    crout::shifted_diagonal(space_, entries_, matrix_values_, scales_, rule_, report_.shift,
                            options_.shift == PivotShift::positive_definite, matrix_);
  }

  /// Looks at the finished factors; not_finite as for check_factors. Returns what is wrong with them, or "".
  std::string judge(const Array<Index> &not_finite = {})
  {
    const crout::FactorCheck check = crout::check_factors(space_, entries_, rule_, values_, not_finite);
    report_.boosted                = check.boosted;
    report_.positive               = check.positive;
    report_.negative               = check.negative;
    constexpr Index none           = std::numeric_limits<Index>::max();
    found_                         = {FactorFailure::none, -1};
    if (check.infinite != none) {
      found_ = {FactorFailure::not_finite, check.infinite};
      return "not finite";
    }
    if (check.bad != none && options_.shift != PivotShift::in_blocks && !replacing_) {
      found_ = {FactorFailure::zero_pivot, check.bad};
      return "zero pivot";
    }
    if (check.negative > 0 && wants_definite()) {
      found_ = {FactorFailure::zero_pivot, -1};
      return negative_pivot;
    }
    return "";
  }

  static constexpr const char *negative_pivot = "negative pivot";

  /// Whether factors with negative pivots are no good: where that is asked for, and where the ladder is free to shift the incomplete factors
  /// of a symmetric matrix whose diagonal is positive, as PETSc's ICC does: an indefinite one would end conjugate gradients.
  bool wants_definite() const
  {
    if (options_.shift == PivotShift::positive_definite) return true;
    return options_.symmetric && options_.pattern != FillPattern::full && options_.ladder && options_.shift == PivotShift::none &&
           crout::diagonal_is_positive(space_, entries_, matrix_values_);
  }

  /// A few threads that search for columns are slower than one that does not: two took three times as long.
  bool threads_help() const { return space_.concurrency() >= 8 && entries_.rows >= 20000; }

  /// Finds the order of elimination, once for a pattern. False if there are more levels than `most`.
  bool can_eliminate(Index most = std::numeric_limits<std::int32_t>::max())
  {
    if (options_.symmetric) need_columns();
    if (!eliminator_) eliminator_ = crout::make_eliminator<Scalar>(space_, entries_, mirror(), options_.symmetric, most);
    return eliminator_ && eliminator_->levels() <= most;
  }

  std::string eliminate_once(double shift)
  {
    using namespace crout;
    if (options_.symmetric) need_columns();
    set_shift(shift);
    if constexpr (triangular::on_host<Space>) {
      if (threads_help() && can_eliminate() && entries_.rows / eliminator_->levels() >= 256) {
        eliminator_->run(space_, rule_, matrix_, values_);
      } else {
        space_.fence("weft crout: elimination by one thread");
        eliminate_in_order(entries_, mirror(), rule_, matrix_, values_, options_.symmetric);
      }
    } else {
      can_eliminate();
      eliminator_->run(space_, rule_, matrix_, values_);
    }
    report_.exact     = true;
    report_.levels    = eliminator_ ? eliminator_->levels() : 0;
    report_.sections  = 1;
    report_.omega     = 1;
    report_.growth    = 1;
    report_.sweeps    = 0;
    report_.residuals = {};
    return judge(eliminator_ ? eliminator_->not_finite() : Array<Index>());
  }

  /// Exact elimination without a shift, once for values that it fails on. Returns what is wrong with it, or "".
  std::string eliminate_plainly()
  {
    if (exact_wrong_.empty()) {
      exact_wrong_ = eliminate_once(0);
      exact_found_ = found_;
    }
    return exact_wrong_;
  }
  /// What became of exact elimination, for new values.
  bool take_exact(const std::string &wrong)
  {
    eliminates_    = wrong.empty();
    exact_was_bad_ = !eliminates_;
    if (!eliminates_) note("exact", wrong);
    return eliminates_;
  }

  void note(const std::string &attempt, const std::string &wrong)
  {
    report_.attempts += (report_.attempts.empty() ? "" : "; ") + attempt + ": " + wrong;
  }

  /// Whether the ladder may eliminate exactly before it gives up.
  bool may_eliminate() const { return options_.ladder && !sweeps_asked() && options_.scaling != FactorScaling::none; }

  /// Whether exact elimination takes no longer than sweeps: where these go through lists of products and rows wait in few levels. Finds the
  /// order of elimination, once for a pattern.
  bool eliminates_first()
  {
    using namespace crout;
    if (!may_eliminate() || only_pivots()) return false;
    const Index most = most_levels_before_sweeps(entries_.size());
    if (!looked_for_order_) few_levels_ = can_eliminate(most);
    looked_for_order_ = true;
    return few_levels_;
  }

  /// Exact elimination, if factors do not grow. Returns what is wrong with it, or "".
  std::string eliminate_if_good()
  {
    using namespace crout;
    constexpr bool waits = !triangular::on_host<Space>; // one host thread does not mind levels
    if (waits && !can_eliminate(most_levels_between_sweeps)) return "too many levels";
    const std::string wrong = eliminate_plainly();
    if (!wrong.empty()) return wrong;
    double grown = largest_size(space_, values_);
    if (grown > most_exact_growth) grown /= largest_size(space_, matrix_); // which scaling has made about 1: else it need not be read
    exact_grew_ = !(grown <= most_exact_growth);
    return exact_grew_ ? "values grew " + short_number(grown) + " times" : "";
  }

  /// Exact elimination; where a pivot fails, with the shifts that the options ask for or the ladder has.
  void eliminate_safely()
  {
    bool noted        = !exact_wrong_.empty();
    std::string wrong = eliminate_plainly();
    if (wrong.empty()) return;
    if (exact_found_.failure == FactorFailure::zero_pivot && options_.replace_pivots && regular_ && options_.pattern == FillPattern::full &&
        !options_.symmetric && options_.shift == PivotShift::none) {
      note("exact", wrong);
      noted          = true;
      replacing_     = true;
      rule_.replaced = std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
      wrong          = eliminate_once(0);
      replacing_     = false;
      set_rule();
      if (wrong.empty()) {
        report_.row = row_of_matrix(exact_found_.row);
        return;
      }
    }
    std::vector<double> shifts;
    if (options_.shift == PivotShift::nonzero || options_.shift == PivotShift::positive_definite) {
      for (double shift = options_.shift_amount > 0 ? options_.shift_amount : 1e-10; shift < 100; shift *= 10) shifts.push_back(shift);
    } else if (options_.ladder && options_.symmetric) {
      shifts = {1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1}; // the smallest that does is the best preconditioner
    } else if (options_.ladder) {
      shifts = {0.1, 0.3, 1};
    }
    double before = 0;
    for (const double shift : shifts) {
      if (!noted) note(before > 0 ? "exact, shift " + short_number(before) : "exact", wrong);
      noted  = false;
      wrong  = eliminate_once(shift);
      before = shift;
      if (wrong.empty()) return;
    }
    fail(exact_found_.failure, exact_found_.row);
  }

  static std::string short_number(double value)
  {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
  }

  crout::SweepPlan plan() const
  {
    crout::SweepPlan plan;
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

  /// The ladder: attempts until one is good. Without it the first one counts.
  void climb(bool warm)
  {
    using crout::SweepPlan;
    struct Attempt {
      std::string name;
      SweepPlan plan;
      double shift;
      bool warm;
    };
    const SweepPlan base = plan();
    std::vector<Attempt> attempts;
    if (warm) {
      attempts.push_back({"warm start", base, 0, true});
      attempts.back().plan.warm   = true;
      attempts.back().plan.enough = settled_;
    }
    if (!warm || options_.ladder) attempts.push_back({"omega " + short_number(base.omega), base, 0, false});
    if (options_.ladder) {
      SweepPlan damped = base;
      damped.omega     = 0.5;
      damped.sweeps    = std::max(base.sweeps, crout::most_few);
      damped.few       = crout::most_few;
      if (options_.omega <= 0) attempts.push_back({"omega 0.5", damped, 0, false});
      SweepPlan sections = base;
      sections.sections  = static_cast<int>(std::clamp<Index>(entries_.rows / 16, 2, 128));
      if (options_.sections <= 0) attempts.push_back({std::to_string(sections.sections) + " sections", sections, 0, false});
      for (const double shift : {0.1, 0.3})
        attempts.push_back({"shift " + short_number(shift), options_.omega > 0 ? base : damped, shift, false});
    }
    bool eliminated = false;
    const auto good = [&] { // of the exact factors
      eliminated = true;
      return take_exact(eliminate_if_good());
    };
    if (!exact_was_bad_ && eliminates_first() && good()) return;
    if (exact_wrong_ == negative_pivot) return eliminate_safely(); // sweeps end there too, and want larger shifts
    for (const Attempt &attempt : attempts) {
      const auto sweep  = [&] { return sweep_once(attempt.plan, attempt.shift, attempt.warm); };
      std::string wrong = sweep();
      const bool usable = wrong.empty(), first = may_eliminate() && !attempt.warm && attempt.plan.omega == 1 && attempt.plan.sections == 1;
      if (usable && first && exact_grew_) { // what sweeps come to is known
        note(attempt.name, "comes to the same");
        eliminate_once(0);
        return;
      }
      if (usable && (!first || report_.sweeps < attempt.plan.sweeps)) return;
      if (!options_.ladder && options_.shift != PivotShift::nonzero && options_.shift != PivotShift::positive_definite) {
        fail(found_.failure, found_.row);
        return;
      }
      const bool slow = usable || wrong.starts_with("residual");
      note(attempt.name, usable ? "slow" : wrong);
      if (wrong == negative_pivot && may_eliminate()) break;
      if (!first || !slow) continue;
      const bool tries_exact = !eliminated && !exact_was_bad_;
      if (tries_exact && good()) return;
      if (usable && exact_grew_) {
        eliminate_once(0);
        return;
      }
      if (usable && (!tries_exact || sweep().empty())) return;
    }
    eliminate_safely();
  }

  /// One attempt. Returns what is wrong with it, or "".
  std::string sweep_once(const crout::SweepPlan &plan, double shift, bool warm)
  {
    using namespace crout;
    set_shift(shift);
    const bool pivots = PivotSweeper<Scalar, Space>::suits(plan) && only_pivots();
    const SweepResult result =
        pivots ? pivot_sweeper_->run(space_, plan, rule_, matrix_, gathered_.size, values_) : sweep_entries(plan, warm);
    report_.exact  = false;
    report_.warm   = warm;
    report_.sweeps = result.sweeps;
    report_.all_sweeps += static_cast<int>(std::ceil(result.all));
    report_.residuals       = result.residuals;
    report_.growth          = result.growth();
    report_.omega           = plan.omega;
    report_.sections        = plan.sections;
    report_.match_list      = pivots || sweeper_->has_list();
    const std::string wrong = pivots && take_counts(pivot_sweeper_->found()) ? "" : judge();
    if (!wrong.empty()) return wrong;
    if (!result.finite) {
      found_ = {FactorFailure::not_finite, -1};
      return "not finite";
    }
    const double most = plan.omega < 1 ? most_damped_residual : most_residual;
    if (options_.ladder && plan.stop == SweepStop::automatic && report_.residuals.back() > most)
      return "residual " + short_number(report_.residuals.back());
    if (options_.ladder && report_.growth > most_growth) return "residual grew " + short_number(report_.growth) + " times";
    if (!warm && plan.stop == SweepStop::automatic) settled_ = report_.residuals.back();
    return "";
  }

  /// Takes what was counted when the factors were written, if all is well with them.
  bool take_counts(const crout::FactorCounts &found)
  {
    report_.boosted  = found.boosted;
    report_.positive = found.positive;
    report_.negative = found.negative;
    return found.infinite + found.boosted == 0 && (found.negative == 0 || !wants_definite());
  }

  /// Whether sweeps over the pivots are all that the pattern asks for. Looks once for a pattern.
  bool only_pivots()
  {
    if (!looked_for_pivots_) {
      const auto partner = crout::pivot_partners(space_, entries_);
      if (partner.data() || entries_.lower == 0) pivot_sweeper_.emplace(space_, entries_, partner);
      looked_for_pivots_ = true;
    }
    return pivot_sweeper_.has_value();
  }

  crout::SweepResult sweep_entries(const crout::SweepPlan &plan, bool warm)
  {
    using namespace crout;
    need_columns();
    if (!sweeper_) sweeper_.emplace(space_, entries_, *columns_, options_.symmetric);
    if (!other_.data() && (!plan.asynchronous || plan.sections > 1))
      other_ = make_array<Scalar>(space_, "weft factors before", entries_.size());
    if (!warm) first_guess(space_, entries_, rule_, matrix_, values_);
    SweepResult result = sweeper_->run(space_, plan, rule_, matrix_, values_, other_);
    if (options_.symmetric) lower_of_upper(space_, entries_, mirror(), values_);
    return result;
  }

  struct Found {
    FactorFailure failure;
    Index row;
  };

  Space space_;
  CroutOptions options_;
  CroutReport report_;
  FactorOrdering order_;                        ///< the caller's
  std::optional<FactorOrdering> matched_order_; ///< where rows are permuted
  crout::Orders<Space> orders_;
  crout::Scales<Space> scales_;
  crout::FactorEntries<Space> entries_;
  std::optional<crout::UpperColumns<Space>> columns_;
  std::optional<crout::Sweeper<Scalar, Space>> sweeper_;
  std::optional<crout::PivotSweeper<Scalar, Space>> pivot_sweeper_;
  std::optional<crout::Eliminator<Scalar, Space>> eliminator_;
  crout::PivotRule<Space> rule_;
  Array<char> vectors_; ///< where scales_, rule_ and gather_room_ have theirs
  Array<Scalar> matrix_, values_, other_;
  const double *matrix_values_ = nullptr;
  double shift_in_matrix_      = 0;
  crout::Gathered gathered_;
  crout::GatherRoom<Space> gather_room_;
  double settled_ = 0; ///< the last residual of a cold start
  bool usable_ = false, analysed_ = false, looked_for_pivots_ = false, looked_for_order_ = false, few_levels_ = false;
  bool eliminates_    = false; ///< new values too are eliminated exactly at once: others on the pattern were
  bool regular_       = true;  ///< no column is known to be without a pivot
  bool replacing_     = false; ///< CroutOptions::replace_pivots
  bool exact_was_bad_ = false; ///< and this is not tried first again
  bool exact_grew_    = false; ///< plain exact factors of these values are finite, but large
  std::string exact_wrong_;    ///< what is wrong with plain exact factors of these values
  Found found_{FactorFailure::none, -1}, exact_found_{FactorFailure::none, -1};
};

template <class Scalar>
std::unique_ptr<CroutModel<Scalar>> CroutModels<Scalar>::make(const Execution &execution, const CroutOptions &options)
{
  return on_backend(execution, [&](const auto &space) -> std::unique_ptr<CroutModel<Scalar>> {
    return std::make_unique<CroutModelOn<Scalar, std::decay_t<decltype(space)>>>(space, options);
  });
}

} // namespace weft
