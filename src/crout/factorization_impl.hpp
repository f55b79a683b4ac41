/// CroutFactorization on one execution space: analysis, the kernels of one attempt; which are made says the ladder (ladder.hpp).
/// Included by factorization_SCALAR.cpp, so that the precisions compile side by side.
#pragma once
#include <optional>

#include "base/backend.hpp"
#include "crout/elimination/elimination.hpp"
#include "crout/factorization.hpp"
#include "crout/ladder.hpp"
#include "crout/pattern/full_fill.hpp"
#include "crout/pattern/level_fill.hpp"
#include "crout/pattern/matching.hpp"
#include "crout/pattern/threshold_fill.hpp"
#include "crout/sweeps/pivot_sweep.hpp"
#include "crout/sweeps/product_size.hpp"
#include "crout/sweeps/sweeper.hpp"
#include "line/host_copies.hpp"

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
Index row_not_finite(const Space &space, Index rows, const CsrMatrix<KernelScalar, Int> &matrix)
{
  Index first = rows;
  Kokkos::parallel_reduce(
      "weft crout finite values", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &found) {
        bool all_finite = true;
        for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) all_finite = all_finite && finite(matrix.values[k]);
        if (!all_finite && i < found) found = i;
      },
      Kokkos::Min<Index>(first));
  space.fence("weft crout finite values");
  return first < rows ? first : -1;
}

} // namespace crout

template <class Space, class Scalar>
class CroutFactorizationImpl final : public CroutFactorization<Scalar> {
public:
  CroutFactorizationImpl(const Execution &execution, const Space &space, const CroutOptions &options)
      : CroutFactorization<Scalar>(execution, options), space_(space)
  {
  }

  void analyse(Index rows, Index columns, const AnyCsr<KernelScalar> &matrix, const FactorOrdering &ordering) override
  {
    if (rows != columns)
      throw std::invalid_argument("only square matrices have factors: this one has " + std::to_string(rows) + " rows and " +
                                  std::to_string(columns) + " columns");
    if (rows > 0x7ffffffe) throw std::length_error("the matrix has more than 2147483646 rows");
    constexpr char no_memory[] = "no memory for the fill of the factors: allow fewer levels or entries";
    try {
      std::visit([&](const auto &csr) { find_pattern(rows, csr, ordering); }, matrix);
    } catch (const std::bad_alloc &) {
      throw std::length_error(no_memory);
    } catch (const std::runtime_error &error) { // Kokkos' own failure of an allocation
      throw std::length_error(std::string(no_memory) + " (" + error.what() + ")");
    }
  }
  bool analysis_holds(const AnyCsr<KernelScalar> &matrix) override
  {
    return std::visit([&](const auto &csr) { return holds(csr); }, matrix);
  }
  bool rows_dominated() const override { return dominated_; }
  void factor(const AnyCsr<KernelScalar> &matrix, bool warm) override
  {
    std::visit([&](const auto &csr) { factor_any(csr, warm); }, matrix);
  }

  double product_size() override
  {
    if (stage_ != Stage::factored) return 1;
    for (auto &room : sizes_)
      if (!room.data()) room = crout::make_array<double>(space_, "weft sizes of factors", entries_.rows);
    return crout::product_size<Scalar>(
        space_, entries_, [this] { return matrix(); }, values_, rule_.sums, sizes_[0], sizes_[1]);
  }

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
    t.symmetric     = options_.symmetric && !options_.hermitian;
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
  using CroutFactorization<Scalar>::options_;
  using CroutFactorization<Scalar>::report_;
  using AttemptResult = crout::AttemptResult;
  using Wrong         = AttemptResult::Wrong;

  template <class Int>
  void find_pattern(Index rows, const CsrMatrix<KernelScalar, Int> &matrix, const FactorOrdering &ordering)
  {
    using namespace crout;
    forget();
    const bool sorted  = check_matrix(space_, rows, matrix);
    const Index stored = stored_entries(rows, matrix);
    if (stored > most_entries) throw std::length_error("the matrix has more than " + std::to_string(most_entries) + " entries");
    order_ = ordering;
    if (options_.symmetric) order_.columns = order_.rows;
    orders_  = orders_on(space_, rows, order_);
    entries_ = entries_of(space_, rows, matrix, orders_, symmetry(), sorted);
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
      entries_ = threshold_fill<Scalar>(space_, entries_, matrix.values, scales_, rule_, options_.drop_tolerance, quota, symmetry(), most);
    }
    values_ = make_array<Scalar>(space_, "weft factors", entries_.size());
    ladder_.emplace(options_, LadderPattern{entries_.rows, entries_.size(), !triangular::on_host<Space>});
    stage_ = Stage::analysed;
  }

  template <class Int>
  void factor_any(const CsrMatrix<KernelScalar, Int> &matrix, bool warm)
  {
    using namespace crout;
    if (stage_ == Stage::empty) throw std::logic_error("a matrix is analysed before it is factored");
    const bool usable = stage_ == Stage::factored;
    stage_            = Stage::analysed;
    report_           = {};
    report_.matched   = matched_order_.has_value();
    report_.entries   = entries_.size();
    report_.complete  = options_.pattern == FillPattern::full;
    if (entries_.rows == 0) {
      report_.exact = true;
      return;
    }
    matrix_values_ = matrix.values;
    // Other patterns have all entries of the matrix, whose values are looked at as they are read.
    const bool leaves_out  = options_.pattern == FillPattern::threshold || options_.symmetric;
    const Index not_finite = leaves_out ? row_not_finite(space_, entries_.rows, matrix) : -1;
    if (not_finite >= 0) {
      report_.failure = FactorFailure::not_finite_input;
      report_.row     = not_finite;
    } else {
      find_values();
    }
    if (report_.failure == FactorFailure::none) climb({warm && usable, regular_});
    if (report_.failure == FactorFailure::none)
      stage_ = Stage::factored;
    else
      set_identity(space_, entries_, values_);
  }

  template <class Int>
  Index stored_entries(Index rows, const CsrMatrix<KernelScalar, Int> &matrix) const
  {
    Int stored = 0;
    if (rows == 0) return 0;
    Kokkos::deep_copy(
        space_, crout::HostPointer<Int>(&stored, 1),
        Kokkos::View<const Int *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(matrix.row_starts + rows, 1));
    space_.fence("weft crout: number of entries");
    return static_cast<Index>(stored);
  }

  bool may_permute() const { return options_.match_rows && !options_.symmetric; }
  /// Where rows are not permuted, the look is for rows_dominated() alone: on a host it saves more than it costs.
  bool looks_at_values() const { return may_permute() || (triangular::on_host<Space> && options_.pattern == FillPattern::levels); }

  /// The order of the caller with rows permuted, where these values ask for that. `entries` are in the caller's order, with fill or without.
  std::optional<FactorOrdering> wanted_order(const crout::FactorEntries<Space> &entries, const KernelScalar *values, Index stored)
  {
    regular_   = true;
    dominated_ = false;
    if (entries.rows == 0 || !looks_at_values()) return std::nullopt;
    const crout::Diagonals seen = crout::look_at_diagonals(space_, entries, values);
    dominated_                  = seen.outweighed == 0 && options_.pattern != FillPattern::threshold;
    if (!may_permute() || (seen.doubtful == 0 && options_.tiny_diagonal < 1)) return std::nullopt;
    auto order = crout::matched(space_, entries, values, stored, order_, options_.tiny_diagonal, regular_);
    if (order) dominated_ = false;
    return order;
  }

  template <class Int>
  bool holds(const CsrMatrix<KernelScalar, Int> &matrix)
  {
    using namespace crout;
    const Index rows = entries_.rows;
    if (stage_ == Stage::empty || options_.pattern == FillPattern::threshold) return false;
    if (rows == 0 || !looks_at_values()) return true;
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
    ladder_.reset();
    only_pivots_.reset();
    apart_ = in_place_ = dominated_ = false;
    matrix_ = other_ = {};
    sizes_[0] = sizes_[1] = {};
    stage_                = Stage::empty;
  }

  void set_rule()
  {
    rule_.smallest =
        options_.zero_pivot >= 0 ? options_.zero_pivot : 100 * static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon());
    rule_.replaced = std::max(2 * rule_.smallest, static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon()));
    if (options_.shift == PivotShift::in_blocks) rule_.replaced = std::max(rule_.replaced, options_.shift_amount);
  }

  /// Scales and gathers the values; a value that is not finite is a failure.
  void find_values()
  {
    using namespace crout;
    set_rule();
    if (options_.scaling != FactorScaling::none) find_scales(space_, options_.scaling, entries_, matrix_values_, scales_);
    shift_in_matrix_ = 0;
    apart_           = false;
    in_place_        = eliminates_in_place();
    if (in_place_)
      gather(values_);
    else
      matrix();
    if (gathered_.bad >= 0) fail(FactorFailure::not_finite_input, gathered_.bad);
  }

  void gather(const Array<Scalar> &to)
  {
    gathered_ = crout::gather_values(space_, entries_, matrix_values_, scales_, to, rule_.sums, gather_room_);
    if (options_.scaling == FactorScaling::unit_diagonal) crout::limit_sums(space_, entries_, to, rule_.sums);
  }

  /// B, apart from its factors.
  const Array<Scalar> &matrix()
  {
    if (!matrix_.data()) matrix_ = crout::make_array<Scalar>(space_, "weft scaled matrix", entries_.size());
    if (!apart_) gather(matrix_);
    apart_ = true;
    return matrix_;
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
    return value_at<Space>(space_, orders_.rows, row);
  }

  void need_columns()
  {
    if (!columns_) columns_ = crout::upper_columns(space_, entries_);
  }
  crout::Symmetry symmetry() const { return {options_.symmetric, options_.hermitian}; }
  Array<std::uint64_t> mirror() const { return options_.symmetric && columns_ ? columns_->entries : Array<std::uint64_t>(); }

  void set_shift(double shift)
  {
    report_.shift = options_.base_shift + shift;
    if (report_.shift == shift_in_matrix_) return;
    shift_in_matrix_ = report_.shift;
    crout::shifted_diagonal(space_, entries_, matrix_values_, scales_, rule_, report_.shift,
                            options_.shift == PivotShift::positive_definite, matrix());
  }

  /// Goes up the ladder until it ends.
  void climb(const crout::LadderValues &values)
  {
    crout::Attempt attempt = ladder_->start(values);
    while (!attempt.ends()) attempt = ladder_->next(make(attempt));
    report_.attempts = ladder_->given_up();
    fail(attempt.failure, attempt.row);
  }

  AttemptResult make(const crout::Attempt &attempt)
  {
    if (attempt.kind == crout::Attempt::Kind::sweep) return sweep_once(attempt);
    if (attempt.kind == crout::Attempt::Kind::eliminate) return eliminate(attempt);
    AttemptResult looked;
    looked.few_levels = !only_pivots() && can_eliminate(attempt.most_levels);
    return looked;
  }

  /// What is wrong with the finished factors; not_finite as for check_factors, any_pivot: zeros among them were replaced.
  AttemptResult judge(const Array<Index> &not_finite = {}, bool any_pivot = false)
  {
    const crout::FactorCheck check = crout::check_factors(space_, entries_, rule_, values_, not_finite);
    report_.boosted                = check.boosted;
    report_.weak                   = check.weak;
    report_.positive               = check.positive;
    report_.negative               = check.negative;
    constexpr Index none           = std::numeric_limits<Index>::max();
    if (check.infinite != none) return {Wrong::not_finite, check.infinite};
    if (check.bad != none && options_.shift != PivotShift::in_blocks && !any_pivot) return {Wrong::zero_pivot, check.bad};
    if (check.negative > 0 && wants_definite()) return {Wrong::negative_pivot};
    return {};
  }

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
  /// One thread that eliminates first needs B once: it is gathered where its factors will be.
  bool eliminates_in_place() const { return triangular::on_host<Space> && !threads_help() && !ladder_->begins_with_sweeps(); }

  /// Finds the order of elimination, once for a pattern. False if there are more levels than `most`.
  bool can_eliminate(Index most = std::numeric_limits<std::int32_t>::max())
  {
    if (options_.symmetric) need_columns();
    if (!eliminator_) eliminator_ = crout::make_eliminator<Scalar>(space_, entries_, mirror(), symmetry(), most);
    return eliminator_ && eliminator_->levels() <= most;
  }

  AttemptResult eliminate(const crout::Attempt &attempt)
  {
    using namespace crout;
    if (attempt.most_levels > 0 && !can_eliminate(attempt.most_levels)) return {Wrong::too_many_levels};
    if (attempt.replaces_zeros) rule_.replaced = std::sqrt(static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon()));
    AttemptResult result = eliminate_once(attempt.shift, attempt.replaces_zeros);
    if (attempt.replaces_zeros) set_rule();
    if (attempt.weighs_growth && result.wrong == Wrong::nothing) {
      result.growth = written_ ? written_->largest : largest_size(space_, values_);
      if (result.growth > most_exact_growth)
        result.growth /= largest_size(space_, matrix()); // which scaling has made about 1: else it need not be read
    }
    return result;
  }

  AttemptResult eliminate_once(double shift, bool any_pivot)
  {
    using namespace crout;
    if (options_.symmetric) need_columns();
    set_shift(shift);
    written_.reset();
    if constexpr (triangular::on_host<Space>) {
      if (threads_help() && can_eliminate() && entries_.rows / eliminator_->levels() >= 256) {
        eliminator_->run(space_, rule_, matrix(), values_);
      } else {
        space_.fence("weft crout: elimination by one thread");
        const bool in_place = std::exchange(in_place_, false) && report_.shift == 0;
        written_            = eliminate_in_order(entries_, mirror(), rule_, in_place ? values_ : matrix(), values_, symmetry());
      }
    } else {
      can_eliminate();
      eliminator_->run(space_, rule_, matrix(), values_);
    }
    report_.exact     = true;
    report_.levels    = eliminator_ ? eliminator_->levels() : 0;
    report_.sections  = 1;
    report_.omega     = 1;
    report_.growth    = 1;
    report_.sweeps    = 0;
    report_.residuals = {};
    if constexpr (triangular::on_host<Space>)
      if (written_) return judge(Array<Index>(&written_->not_finite, 1), any_pivot);
    return judge(eliminator_ ? eliminator_->not_finite() : Array<Index>(), any_pivot);
  }

  AttemptResult sweep_once(const crout::Attempt &attempt)
  {
    using namespace crout;
    const SweepPlan &plan = attempt.plan;
    set_shift(attempt.shift);
    const bool pivots       = PivotSweeper<Scalar, Space>::suits(plan) && only_pivots();
    const SweepResult swept = pivots ? pivot_sweeper_->run(space_, plan, rule_, matrix(), gathered_.size, values_) : sweep_entries(plan);
    report_.exact           = false;
    report_.warm            = plan.warm;
    report_.sweeps          = swept.sweeps;
    report_.all_sweeps += static_cast<int>(std::ceil(swept.all));
    report_.residuals.assign(swept.residuals.begin(), swept.residuals.end());
    report_.growth       = swept.growth();
    report_.omega        = plan.omega;
    report_.sections     = plan.sections;
    report_.match_list   = pivots || sweeper_->has_list();
    AttemptResult result = pivots && take_counts(pivot_sweeper_->found()) ? AttemptResult{} : judge();
    if (result.wrong == Wrong::nothing && !swept.finite) result.wrong = Wrong::not_finite;
    result.sweeps   = swept.sweeps;
    result.residual = swept.residuals.back();
    result.growth   = report_.growth;
    return result;
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
    if (!only_pivots_) {
      const auto partner = crout::pivot_partners(space_, entries_);
      only_pivots_       = partner.data() || entries_.lower == 0;
      if (*only_pivots_) pivot_sweeper_.emplace(space_, entries_, partner);
    }
    return *only_pivots_;
  }

  crout::SweepResult sweep_entries(const crout::SweepPlan &plan)
  {
    using namespace crout;
    need_columns();
    if (!sweeper_) sweeper_.emplace(space_, entries_, *columns_, symmetry());
    if (!other_.data() && (!plan.asynchronous || plan.sections > 1))
      other_ = make_array<Scalar>(space_, "weft factors before", entries_.size());
    if (!plan.warm) first_guess(space_, entries_, rule_, matrix(), values_);
    SweepResult result = sweeper_->run(space_, plan, rule_, matrix(), values_, other_);
    if (options_.symmetric) lower_of_upper(space_, entries_, mirror(), values_, symmetry());
    return result;
  }

  enum class Stage {
    empty,
    analysed,
    factored, ///< and the factors are usable: sweeps may start from them
  };

  Space space_;
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
  Array<double> sizes_[2]; ///< once product_size() was asked for
  const KernelScalar *matrix_values_ = nullptr;
  double shift_in_matrix_            = 0;
  crout::Gathered gathered_;
  std::optional<crout::Written> written_; ///< where one thread has eliminated
  crout::GatherRoom<Space> gather_room_;
  bool apart_     = false; ///< matrix_ has these values
  bool in_place_  = false; ///< values_ has those of B, and no factors yet
  Stage stage_    = Stage::empty;
  bool dominated_ = false;          ///< rows_dominated()
  bool regular_   = true;           ///< no column is known to be without a pivot
  std::optional<bool> only_pivots_; ///< once looked for
  std::optional<crout::Ladder> ladder_;
};

template <class Scalar>
Owner<CroutFactorization<Scalar>> CroutFactorization<Scalar>::make(const Execution &execution, const CroutOptions &options)
{
  check_options(options);
  return on_backend(execution, [&](const auto &space) -> Owner<CroutFactorization> {
    return make_owner<CroutFactorizationImpl<std::decay_t<decltype(space)>, Scalar>>(execution, space, options);
  });
}

} // namespace weft
