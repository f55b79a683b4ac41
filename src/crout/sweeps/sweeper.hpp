/// Sweeper: the arrays that sweeps of one pattern need, and the loops over sweeps: all rows at once, or sections of rows in order.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "crout/sweeps/plan.hpp"
#include "crout/sweeps/sweep.hpp"

namespace weft::crout {

/// Sweeps before the first look that start from the factors of values much alike.
inline constexpr int few_warm = 2;
/// Residuals up to this are rounding.
template <class Scalar>
inline constexpr double sweep_noise = std::is_same_v<RealOf<Scalar>, float> ? 1e-5 : 1e-10;

inline double relative(double part, double whole)
{
  return whole > 0 ? std::sqrt(part / whole) : std::sqrt(part);
}

/// What an attempt did.
struct SweepResult {
  int sweeps = 0;
  double all = 0;                ///< the same in whole sweeps where sections are swept
  std::vector<double> residuals; ///< |B - L U| / |B| before each sweep
  double noise = 1e-10;          ///< residuals up to this are rounding
  bool finite  = true;

  double growth() const
  {
    if (residuals.empty()) return 1;
    const double most = *std::max_element(residuals.begin(), residuals.end());
    return most <= noise ? 1 : most / std::max(residuals.front(), noise);
  }
  /// Adds a sweep. residual, size: sums of the squares of B - L U and B.
  void take(double residual, double size)
  {
    residuals.push_back(relative(residual, size));
    finite = finite && std::isfinite(residual);
  }
  void take(const std::vector<SweepSums> &sums, double size)
  {
    for (const SweepSums &sum : sums) {
      take(sum.residual, size);
      finite = finite && std::isfinite(sum.change) && std::isfinite(sum.size);
    }
  }
  /// SweepStop::automatic: whether the last residual is small. Where few sweeps do not do, convergence is slow and the factors need more of it.
  bool enough(const SweepPlan &plan) const
  {
    const double last = residuals.back(), first = residuals.front();
    return last <= plan.enough || last <= (sweeps <= most_few ? 1e-2 : 1e-3) * first;
  }
};

/// The sums of the first `count` sweeps of a history. Waits.
template <class Space>
std::vector<SweepSums> sweep_sums(const Space &space, const Array<SweepSums, Space> &history, int count)
{
  std::vector<SweepSums> sums(static_cast<std::size_t>(count));
  Kokkos::deep_copy(space, HostPointer<SweepSums>(sums.data(), sums.size()),
                    Kokkos::subview(history, std::pair<std::size_t, std::size_t>(0, sums.size())));
  space.fence("weft crout: sums of sweeps");
  return sums;
}

template <class Scalar, class Space>
class Sweeper {
public:
  Sweeper(const Space &space, const FactorEntries<Space> &entries, const UpperColumns<Space> &columns, Symmetry symmetric)
      : entries_(entries), mirror_(columns.entries), symmetric_(symmetric),
        products_(products_of(space, entries, columns, symmetric.symmetric, most_listed)),
        partial_(make_array<SweepSums>(space, "weft sums of chunks",
                                       sweep_chunks(items_of_rows(0, entries.rows, 0, entries.lower, 0, entries.upper)) + 1)),
        history_(make_array<SweepSums>(space, "weft sums of sweeps", most_unread))
  {
    if (symmetric.symmetric || !has_list()) return;
    const auto list = upper_with_products(space, products_);
    skip_           = static_cast<Index>(list.extent(0)) <= entries.upper - entries.upper / 4;
    if (skip_) changing_ = list;
  }

  bool has_list() const { return products_.starts.data() != nullptr; }

  /// Sweeps from values to values; `other` is work space of the same size, and which of the two is which may change. Waits.
  SweepResult run(const Space &space, const SweepPlan &plan, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix,
                  Array<Scalar, Space> &values, Array<Scalar, Space> &other)
  {
    result_       = {};
    result_.noise = sweep_noise<Scalar>;
    if (plan.sections > 1)
      run_sections(space, plan, rule, matrix, values, other);
    else
      run_whole(space, plan, rule, matrix, values, other);
    return std::move(result_);
  }

private:
  static constexpr double most_listed = 4;  ///< products an entry
  static constexpr int most_unread    = 32; ///< sweeps between two looks at their sums

  SweepItems items_of_rows(Index row, Index row_end, Index lower, Index lower_end, Index upper, Index upper_end) const
  {
    return {lower, lower_end - lower, entries_.lower + upper, symmetric_ ? 0 : upper_end - upper, entries_.diagonal(row), row_end - row};
  }

  void sweep(const Space &space, const SweepPlan &plan, const PivotRule<Space> &rule, const SweepItems &items,
             const Array<Scalar, Space> &matrix, const Array<Scalar, Space> &from, const Array<Scalar, Space> &to, int slot)
  {
    const auto launch = [&](auto is_symmetric, auto in_place) {
      const Sweep<Scalar, Space, decltype(is_symmetric)::value, decltype(in_place)::value> functor{
          products_, mirror_, rule, matrix.data(), from.data(), to.data(), plan.omega, symmetric_};
      run_sweep(space, functor, items, partial_, history_, slot);
    };
    if (symmetric_.symmetric && plan.asynchronous)
      launch(std::true_type{}, std::true_type{});
    else if (symmetric_)
      launch(std::true_type{}, std::false_type{});
    else if (plan.asynchronous)
      launch(std::false_type{}, std::true_type{});
    else
      launch(std::false_type{}, std::false_type{});
  }

  /// One sweep, and its values in `values`.
  void advance(const Space &space, const SweepPlan &plan, const PivotRule<Space> &rule, const SweepItems &items,
               const Array<Scalar, Space> &matrix, Array<Scalar, Space> &values, Array<Scalar, Space> &other, int slot = 0)
  {
    sweep(space, plan, rule, items, matrix, values, plan.asynchronous ? values : other, slot);
    if (!plan.asynchronous) std::swap(values, other);
  }

  static bool finite(const SweepSums &sums)
  {
    return std::isfinite(sums.residual) && std::isfinite(sums.change) && std::isfinite(sums.size);
  }

  void run_whole(const Space &space, const SweepPlan &plan, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix,
                 Array<Scalar, Space> &values, Array<Scalar, Space> &other)
  {
    const SweepItems all = items_of_rows(0, entries_.rows, 0, entries_.lower, 0, entries_.upper);
    SweepItems later     = all; // once both arrays hold what never changes
    if (skip_ && plan.stop != SweepStop::change) {
      later.upper_list  = changing_.data();
      later.upper_count = static_cast<Index>(changing_.extent(0));
    }
    const int whole    = plan.warm ? 2 : 1;
    double size        = 0; // of B
    const bool counted = plan.stop == SweepStop::sweeps, automatic = plan.stop == SweepStop::automatic;
    for (int done = 0; done < plan.sweeps;) {
      const int first_few = plan.warm && plan.enough > 0 ? few_warm : plan.few;
      const int wanted    = counted ? most_unread : !automatic ? 1 : done == 0 ? first_few : done < most_few ? most_few - done : 4;
      const int batch     = std::min(plan.sweeps - done, wanted);
      const double before = result_.residuals.empty() ? INFINITY : result_.residuals.back();
      for (int s = 0; s < batch; s++) advance(space, plan, rule, done + s < whole ? all : later, matrix, values, other, s);
      const std::vector<SweepSums> sums = sweep_sums(space, history_, batch);
      if (done == 0) size = sums.front().matrix;
      done += batch;
      result_.sweeps = done;
      result_.take(sums, size);
      bool stop         = false;
      const double last = result_.residuals.back();
      if (plan.stop == SweepStop::change) stop = relative(sums.back().change, sums.back().size) <= plan.tolerance;
      if (plan.stop == SweepStop::residual) stop = last <= plan.tolerance;
      if (automatic) stop = result_.enough(plan) || (done > most_few && last > before);
      if (stop || !result_.finite || (plan.watch && result_.growth() > most_growth)) break;
    }
    result_.all = result_.sweeps;
  }

  /// Sections of rows, each until it changes no more: what it depends on is final by then.
  void run_sections(const Space &space, const SweepPlan &plan, const PivotRule<Space> &rule, const Array<Scalar, Space> &matrix,
                    Array<Scalar, Space> &values, Array<Scalar, Space> &other)
  {
    const SweepItems all = items_of_rows(0, entries_.rows, 0, entries_.lower, 0, entries_.upper);
    sweep(space, plan, rule, all, matrix, values, other, 0); // for its residual only
    const SweepSums guess = sweep_sums(space, history_, 1)[0];
    result_.residuals.push_back(relative(guess.residual, guess.matrix));
    Kokkos::deep_copy(space, other, values);
    const auto lower = to_vector<Index>(space, entries_.lower_starts), upper = to_vector<Index>(space, entries_.upper_starts);
    const Index rows = entries_.rows, sections = std::min<Index>(plan.sections, rows);
    double items_swept = 0;
    for (Index section = 0; section < sections && result_.finite; section++) {
      const Index begin = rows * section / sections, end = rows * (section + 1) / sections;
      const auto b = static_cast<std::size_t>(begin), e = static_cast<std::size_t>(end);
      const SweepItems items = items_of_rows(begin, end, lower[b], lower[e], upper[b], upper[e]);
      double first           = 0;
      for (int s = 0; s < most_in_section; s++) {
        advance(space, plan, rule, items, matrix, values, other);
        items_swept += static_cast<double>(items.count());
        const SweepSums sums = sweep_sums(space, history_, 1)[0];
        const double left    = relative(sums.residual, sums.matrix);
        if (s == 0) first = left;
        result_.finite = finite(sums) && left <= 1e6 * std::max(first, result_.noise);
        result_.sweeps = std::max(result_.sweeps, s + 1);
        if (!result_.finite || relative(sums.change, sums.size) <= section_change) break;
      }
      copy_items(space, items, values, other);
    }
    result_.all = items_swept / static_cast<double>(std::max<Index>(all.count(), 1));
    if (!result_.finite) return;
    advance(space, plan, rule, all, matrix, values, other);
    const SweepSums sums = sweep_sums(space, history_, 1)[0];
    result_.finite       = finite(sums);
    result_.residuals.push_back(relative(sums.residual, sums.matrix));
    result_.all += 1;
  }
  static constexpr int most_in_section   = 40;
  static constexpr double section_change = 1e-3;

public: // its kernel must be
  /// The items' values in both arrays, with the upper triangle where that is not an item.
  void copy_items(const Space &space, SweepItems items, const Array<Scalar, Space> &from, const Array<Scalar, Space> &to) const
  {
    const bool symmetric = symmetric_.symmetric;
    const auto mirror    = mirror_;
    Kokkos::parallel_for(
        "weft crout section done", Range<Space>(space, 0, items.count()), KOKKOS_LAMBDA(const Index item) {
          const Index e = items.entry(item);
          to(e)         = from(e);
          if (symmetric && item < items.lower_count) {
            const Index upper = static_cast<Index>(mirror(e) & 0xffffffffu);
            to(upper)         = from(upper);
          }
        });
  }

private:
  FactorEntries<Space> entries_;
  Array<std::uint64_t, Space> mirror_;
  Symmetry symmetric_;
  Products<Space> products_;
  Array<Position, Space> changing_; ///< of the upper triangle
  bool skip_ = false;               ///< sweep only these after the first sweeps
  Array<SweepSums, Space> partial_, history_;
  SweepResult result_;
};

} // namespace weft::crout
