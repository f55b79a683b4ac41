/// ModeTransform: a transform of all lines of one direction, by a matrix product or by a fast transform in its place.
#pragma once
#include <optional>
#include <vector>

#include "bcr/transforms/fast_transform.hpp"
#include "bcr/transforms/transform.hpp"

namespace weft::poisson {

template <class Space, class Scalar>
struct ModeTransform {
  Transform<Space, Scalar> lines; ///< where they lie, and the matrix
  std::optional<FastTransform<Space, Scalar>> fast;

  ModeTransform() = default;
  /// `matrix` is empty where there is a fast transform.
  ModeTransform(const Space &space, const std::vector<double> &matrix, const std::optional<TransformShape> &shape)
  {
    lines.matrix = upload<Scalar, Space>("weft poisson transform", matrix);
    if (shape) fast.emplace(space, *shape);
  }

  std::size_t bytes() const { return lines.matrix.size() * sizeof(Scalar) + (fast ? fast->bytes() : 0); }

  /// Transforms lines.from to lines.to, which may be one array where `fast` and both lie alike.
  void operator()(const Space &space, const Transform<Space, Scalar> &t) const
  {
    if (!fast) {
      run_transform(space, t);
      return;
    }
    const LinesAt from{t.from_stride, t.inner, t.inner_stride, t.outer_stride}, to{t.to_stride, t.inner, t.inner_stride, t.outer_stride};
    (*fast)(space, t.from, from, t.to, to, t.inner * t.outer);
  }
};

} // namespace weft::poisson
