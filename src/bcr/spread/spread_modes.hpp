/// SpreadTransforms and SpreadLines: the kernels' half of spread_solver.cpp. TensorLines (tensor_lines.hpp) is the same for one process,
/// and for fast transforms only.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bcr/modes/mode_lines.hpp"
#include "bcr/prepare.hpp"
#include "bcr/right_hand_side.hpp"
#include "bcr/shifted/shifted_lines_device.hpp"
#include "bcr/shifted/shifted_lines_host.hpp"
#include "bcr/spread/spread_plan.hpp"
#include "bcr/transforms/transform.hpp"

namespace weft::poisson {

/// A slab's transforms along the first two directions. Plane r of the slab, all modes of a row, begins at r * pitch.
template <class Space, class Scalar>
class SpreadTransforms {
public:
  using Values = OwnedArray<Scalar, Space>;

  SpreadTransforms(const Space &space, const Prepared &p, const SpreadPlan &plan, int process)
      : space_(space), n_{plan.nodes[0], plan.nodes[1]}, rows_(plan.rows(process).size()), pitch_(plan.blocks() * plan.block)
  {
    const auto &to   = std::get<TransformStep>(p.schedule.steps.front());
    const auto &from = std::get<TransformStep>(p.schedule.steps.back());
    to_[0]           = ModeTransform<Space, Scalar>(space, to.n, to.matrix, to.fast);
    from_[0]         = ModeTransform<Space, Scalar>(space, from.n, from.matrix, from.fast);
    if (p.transforms()) {
      to_[1]   = ModeTransform<Space, Scalar>(space, plan.nodes[1], p.modes.inverse, p.modes.to_modes());
      from_[1] = ModeTransform<Space, Scalar>(space, plan.nodes[1], p.modes.vectors, p.modes.from_modes());
    }
    make_weights(p, plan.rows(process));
  }

  /// Matrix products write to another array than they read.
  int products() const
  {
    int products = 0;
    for (int d : {0, 1}) products += n_[d] > 1 && !to_[d].fast;
    return products;
  }
  std::size_t bytes() const
  {
    std::size_t bytes = (plane_weights_.size() + row_weights_.size()) * sizeof(Scalar);
    for (int d : {0, 1}) bytes += to_[d].bytes() + from_[d].bytes();
    return bytes;
  }

  /// From values[0] to modes in values[products() % 2]. Right-hand sides are divided by the weights first.
  void to_modes(Scalar *const (&values)[2]) const
  {
    if (plane_weights_.size() + row_weights_.size() > 0) {
      const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> points(space_, 0, rows_ * pitch_);
      Kokkos::parallel_for(
          "weft poisson right-hand side", points,
          ScaleRightHandSide<Space, Scalar>{{pitch_, 1, rows_}, {plane_weights_, {}, row_weights_}, 1, values[0], values[0], {}});
    }
    int at = 0;
    for (int d : {0, 1}) at = transform(to_[d], d, values, at);
  }
  /// And back.
  void from_modes(Scalar *const (&values)[2]) const
  {
    int at = products() % 2;
    for (int d : {1, 0}) at = transform(from_[d], d, values, at);
  }

private:
  /// Returns the array of the results.
  int transform(const ModeTransform<Space, Scalar> &how, int d, Scalar *const (&values)[2], int at) const
  {
    if (n_[d] == 1) return at;
    const int to               = how.fast ? at : 1 - at;
    Transform<Space, Scalar> t = how.lines;
    t.n                        = n_[d];
    t.from_stride = t.to_stride = d == 0 ? 1 : n_[0];
    t.inner                     = d == 0 ? n_[1] : n_[0];
    t.inner_stride              = d == 0 ? n_[0] : 1;
    t.outer                     = rows_;
    t.outer_stride              = pitch_;
    if (t.inner == 1) { // as native kernels have it
      std::swap(t.inner, t.outer);
      std::swap(t.inner_stride, t.outer_stride);
    }
    t.from = values[at];
    t.to   = values[to];
    how(space_, t);
    return to;
  }

  void make_weights(const Prepared &p, const Share &rows)
  {
    if (!p.scale[0].empty() || !p.scale[1].empty()) {
      std::vector<double> plane(static_cast<std::size_t>(pitch_), 0);
      for (Index k = 0; k < n_[0] * n_[1]; k++) {
        const auto x = static_cast<std::size_t>(k % n_[0]), y = static_cast<std::size_t>(k / n_[0]);
        plane[static_cast<std::size_t>(k)] = (p.scale[0].empty() ? 1 : p.scale[0][x]) * (p.scale[1].empty() ? 1 : p.scale[1][y]);
      }
      plane_weights_ = upload<Scalar, Space>("weft poisson scale", plane);
    }
    if (p.scale[2].empty()) return;
    row_weights_ =
        upload<Scalar, Space>("weft poisson scale", std::vector<double>(p.scale[2].begin() + rows.begin, p.scale[2].begin() + rows.end));
  }

  Space space_;
  Index n_[2], rows_, pitch_;
  ModeTransform<Space, Scalar> to_[2], from_[2];
  Values plane_weights_, row_weights_; ///< 1 / W, or empty
};

/// Adds up a column times weights whose sum is 1.
template <class Scalar>
struct ColumnMean {
  const double *weights;
  const Scalar *column;
  Index stride;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &sum) const { sum += weights[i] * static_cast<double>(column[i * stride]); }
};

template <class Space, class Scalar>
struct TakeFromColumn {
  Kokkos::View<const double, typename Space::memory_space> mean;
  Scalar *column;
  Index stride;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { column[i * stride] -= static_cast<Scalar>(mean()); }
};

/// The lines of a process's columns: row i of mode m is element m + i * modes().
template <class Space, class Scalar>
class SpreadLines {
public:
  SpreadLines(const Space &space, const Prepared &p, const SpreadPlan &plan, int process)
      : space_(space), rows_(plan.nodes[2]), first_(plan.columns(process).begin * plan.block),
        modes_(plan.columns(process).size() * plan.block)
  {
    check_length(p);
    make_modes(p);
    b_             = make_operator(p.schedule.line, {0.0}, p.pinned_row, store_);
    tables_        = make_tables(others_, store_);
    tables_.pinned = pinned_;
    if constexpr (is_host_space<Space>) {
      if (!others_.groups.empty())
        scratch_ = decltype(scratch_)(
            Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft poisson scratch"),
            static_cast<std::size_t>(space.concurrency() * HostLines<Space, Scalar>::scratch_of_thread(rows_, most_outputs)));
    }
    if (pinned_ < 0) return;
    std::vector<double> weights = p.left[2];
    double sum                  = 0;
    for (double w : weights) sum += w;
    for (double &w : weights) w /= sum;
    weights_ = upload<double, Space>("weft poisson null vector", weights);
    mean_    = decltype(mean_)("weft poisson mean");
  }

  Index modes() const { return modes_; }
  std::size_t bytes() const { return lines_.bytes() + store_.bytes() + scratch_.size() * sizeof(Scalar); }

  /// Solves in place. Of a singular operator: the right-hand side less its part outside the range, the solution without a constant part.
  /// Both are a matter of one mode, since all others are orthogonal to the null vectors.
  void operator()(Scalar *values) const
  {
    if (modes_ == 0) return;
    if (pinned_ >= 0) take_mean(values + pinned_column_);
    lines_(space_, values, modes_);
    if (!others_.groups.empty()) {
      const Grid grid{rows_, modes_, modes_, 1, 1, 0};
      const LineArguments<Scalar> a{tables_, b_, {grid, values, values}};
      if constexpr (is_host_space<Space>)
        run_lines_on_host(space_, a, scratch_);
      else
        run_lines_on_device(space_, a);
    }
    if (pinned_ >= 0) take_mean(values + pinned_column_);
  }

private:
  void check_length(const Prepared &p) const
  {
    if (is_host_space<Space> || rows_ <= DeviceShape::longest) return;
    // For all modes, so that all processes come to the same answer.
    ConstantModes unused;
    bool all = equal_inside(p.schedule.line);
    for (Index m = 0; all && m < p.n[0] * p.n[1]; m++) all = add_mode(p.schedule.line, shift(p, m), unused);
    if (!all)
      throw std::invalid_argument("lines of " + std::to_string(rows_) + " points do not fit a team of a device, which takes " +
                                  std::to_string(DeviceShape::longest) + ": solve on the host");
  }

  /// What mode m adds to the line.
  static long double shift(const Prepared &p, Index m)
  {
    const LineStep &all = std::get<LineStep>(p.schedule.steps[1]);
    return static_cast<long double>(p.modes.values[static_cast<std::size_t>(m / p.n[0])]) - all.pole[static_cast<std::size_t>(m % p.n[0])];
  }

  void make_modes(const Prepared &p)
  {
    const bool constant = equal_inside(p.schedule.line);
    const Index all     = p.n[0] * p.n[1];
    ConstantModes modes;
    for (Index k = 0; k < modes_; k++) {
      const Index m = first_ + k;
      if (m < all && constant && add_mode(p.schedule.line, shift(p, m), modes)) continue;
      modes.add_none();
      if (m >= all) continue;
      const Index pole = others_.add_pole(static_cast<double>(-shift(p, m)), {1}, {1});
      others_.groups.push_back({pole, 1, {{{k, 1}}}, {{k, {}}}});
      if (!p.singular || m % p.n[0] != p.pinned[1] || m / p.n[0] != p.pinned_plane) continue;
      pinned_        = pole;
      pinned_column_ = k;
    }
    lines_ = ModeLines<Space, Scalar>(modes, rows_);
  }

  void take_mean(Scalar *column) const
  {
    const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> rows(space_, 0, rows_);
    Kokkos::parallel_reduce("weft poisson mean", rows, ColumnMean<Scalar>{weights_.data(), column, modes_}, mean_);
    Kokkos::parallel_for("weft poisson mean-free", rows, TakeFromColumn<Space, Scalar>{mean_, column, modes_});
  }

  Space space_;
  Index rows_, first_, modes_, pinned_ = -1, pinned_column_ = 0;
  ModeLines<Space, Scalar> lines_;
  LineStep others_; ///< modes that do not decay along their lines, or all where rows differ inside
  TableStore<Space, Scalar> store_;
  LineOperator<Scalar> b_;
  StepTables<Scalar> tables_;
  OwnedArray<Scalar, Space> scratch_;
  OwnedArray<double, Space> weights_;
  Kokkos::View<double, typename Space::memory_space> mean_;
};

} // namespace weft::poisson
