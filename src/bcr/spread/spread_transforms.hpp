/// SpreadTransforms: the transforms of spread_solver.cpp. TensorLines (tensor_lines.hpp) is the same for one process, and for fast transforms only.
#pragma once
#include <algorithm>
#include <vector>

#include "bcr/prepare.hpp"
#include "bcr/right_hand_side.hpp"
#include "bcr/spread/spread_plan.hpp"
#include "bcr/transforms/transform.hpp"

namespace weft::poisson {

/// Where a slab lies in an array: elements from one line of the first direction to the next one, and from one plane of the slab to the next one.
template <class Number>
struct SlabAt {
  Number *first = nullptr;
  Index line = 0, plane = 0;
};

/// A slab's transforms along the first two directions. Modes lie as the plan has it, plane after plane.
template <class Space, class Scalar>
class SpreadTransforms {
public:
  using Values = OwnedArray<Scalar, Space>;

  SpreadTransforms(const Space &space, const Prepared &p, const SpreadPlan &plan, int process)
      : space_(space), n_{plan.nodes[0], plan.nodes[1]}, rows_(plan.rows(process).size()), line_(plan.line()), plane_(plan.modes())
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

  /// True where they begin with right-hand sides, or end with solutions, in the arrays of somebody else that lie so: a fast transform along lines of one
  /// distance from each other.
  bool reads(const SlabAt<const Scalar> &at) const
  {
    return at.first && goes_by_lines(at.line, at.plane) && to_[0].fast && plane_weights_.size() + row_weights_.size() == 0;
  }
  bool writes(const SlabAt<Scalar> &at) const { return at.first && goes_by_lines(at.line, at.plane) && from_[0].fast; }

  /// From values[0], or from `rhs` if it reads() that, to modes in values[products() % 2]. Right-hand sides are divided by the weights first.
  void to_modes(Scalar *const (&values)[2], const SlabAt<const Scalar> &rhs) const
  {
    if (plane_weights_.size() + row_weights_.size() > 0) {
      const Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> points(space_, 0, rows_ * plane_);
      Kokkos::parallel_for(
          "weft poisson right-hand side", points,
          ScaleRightHandSide<Space, Scalar>{{plane_, 1, rows_}, {plane_weights_, {}, row_weights_}, 1, values[0], values[0], {}});
    }
    int at = 0;
    if (reads(rhs))
      along_first(*to_[0].fast, rhs, SlabAt<Scalar>{values[0], line_, plane_});
    else
      at = transform(to_[0], 0, values, at);
    transform(to_[1], 1, values, at);
  }
  /// And back to values[0], or to `solution` if it writes() that.
  void from_modes(Scalar *const (&values)[2], const SlabAt<Scalar> &solution) const
  {
    const int at = transform(from_[1], 1, values, products() % 2);
    if (writes(solution))
      along_first(*from_[0].fast, SlabAt<const Scalar>{values[at], line_, plane_}, solution);
    else
      transform(from_[0], 0, values, at);
  }

private:
  bool goes_by_lines(Index line, Index plane) const { return n_[0] > 1 && (n_[1] == 1 || plane == line * n_[1]); }

  void along_first(const FastTransform<Space, Scalar> &fast, const SlabAt<const Scalar> &from, const SlabAt<Scalar> &to) const
  {
    const auto lines = [this](Index line, Index plane) { return LinesAt{1, rows_ * n_[1], n_[1] == 1 ? plane : line, 0}; };
    fast(space_, from.first, lines(from.line, from.plane), to.first, lines(to.line, to.plane), rows_ * n_[1]);
  }

  /// Returns the array of the results.
  int transform(const ModeTransform<Space, Scalar> &how, int d, Scalar *const (&values)[2], int at) const
  {
    if (n_[d] == 1) return at;
    const int to               = how.fast ? at : 1 - at;
    Transform<Space, Scalar> t = how.lines;
    t.n                        = n_[d];
    t.from_stride = t.to_stride = d == 0 ? 1 : line_;
    t.inner                     = d == 0 ? n_[1] * rows_ : n_[0];
    t.inner_stride              = d == 0 ? line_ : 1;
    t.outer                     = d == 0 ? 1 : rows_;
    t.outer_stride              = plane_;
    t.from                      = values[at];
    t.to                        = values[to];
    how(space_, t);
    return to;
  }

  void make_weights(const Prepared &p, const Share &rows)
  {
    if (!p.scale[0].empty() || !p.scale[1].empty()) {
      std::vector<double> plane(static_cast<std::size_t>(plane_), 0);
      for (Index k = 0; k < n_[0] * n_[1]; k++) {
        const auto x = static_cast<std::size_t>(k % n_[0]), y = static_cast<std::size_t>(k / n_[0]);
        plane[x + y * static_cast<std::size_t>(line_)] =
            (p.scale[0].empty() ? 1 : p.scale[0][x]) * (p.scale[1].empty() ? 1 : p.scale[1][y]);
      }
      plane_weights_ = upload<Scalar, Space>("weft poisson scale", plane);
    }
    if (p.scale[2].empty()) return;
    row_weights_ =
        upload<Scalar, Space>("weft poisson scale", std::vector<double>(p.scale[2].begin() + rows.begin, p.scale[2].begin() + rows.end));
  }

  Space space_;
  Index n_[2], rows_, line_, plane_;
  ModeTransform<Space, Scalar> to_[2], from_[2];
  Values plane_weights_, row_weights_; ///< 1 / W, or empty
};

} // namespace weft::poisson
