/// SpreadTransforms: the transforms of spread_solver.cpp. TensorLines (tensor_lines.hpp) is the same for one process, and for fast transforms only.
#pragma once
#include <algorithm>
#include <vector>

#include "bcr/prepare.hpp"
#include "bcr/right_hand_side.hpp"
#include "bcr/spread/spread_plan.hpp"
#include "bcr/transforms/transform.hpp"

namespace weft::poisson {

/// A slab's transforms along the first two directions. Plane r of the slab, all modes of a row, begins at r * pitch.
template <class Space, class Scalar>
class SpreadTransforms {
public:
  using Values = OwnedArray<Scalar, Space>;

  SpreadTransforms(const Space &space, const Prepared &p, const SpreadPlan &plan, int process)
      : space_(space), n_{plan.nodes[0], plan.nodes[1]}, rows_(plan.rows(process).size()), pitch_(plan.pitch())
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

} // namespace weft::poisson
