/// The stencil B of compact differences as kernels have it, and its rows near the ends of a line.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/real_of.hpp"
#include "kernels/compact_stencil.hpp"

namespace weft {

/// B with its sizes, as a kernel gets it: by value. Its weights are real, those of complex fields too.
template <class Real>
struct StencilWeights {
  int width = 0, heads = 0, tails = 0, head_reach = 0, tail_reach = 0;
  Real inner[2 * most_stencil_width + 1]              = {};
  Real head[most_stencil_width + 1][most_end_weights] = {};
  Real tail[most_stencil_width + 1][most_end_weights] = {};
};

inline void check_stencil(bool holds, const std::string &message)
{
  if (!holds) throw std::invalid_argument(message);
}

/// Rows that the rows near an end make use of.
inline int reach(const std::vector<std::vector<double>> &ends)
{
  std::size_t most = ends.size();
  for (const auto &row : ends) most = std::max(most, row.size());
  return static_cast<int>(most);
}

template <class Real>
StencilWeights<Real> weights_of(const CompactRows &rows)
{
  StencilWeights<Real> weights;
  weights.width      = rows.width();
  weights.heads      = static_cast<int>(rows.head.size());
  weights.tails      = static_cast<int>(rows.tail.size());
  weights.head_reach = reach(rows.head);
  weights.tail_reach = reach(rows.tail);
  check_stencil(rows.inner.size() % 2 == 1 && weights.width <= most_stencil_width && weights.heads <= most_stencil_width + 1 &&
                    weights.tails <= most_stencil_width + 1 && weights.head_reach <= most_end_weights &&
                    weights.tail_reach <= most_end_weights,
                "a stencil has an odd number of weights, up to 7, and at most 4 rows of their own at an end, with up to 6");
  for (std::size_t j = 0; j < rows.inner.size(); j++) weights.inner[j] = static_cast<Real>(rows.inner[j]);
  const auto take = [](const std::vector<std::vector<double>> &from, Real(&to)[most_stencil_width + 1][most_end_weights]) {
    for (std::size_t i = 0; i < from.size(); i++) {
      for (std::size_t j = 0; j < from[i].size(); j++) to[i][j] = static_cast<Real>(from[i][j]);
    }
  };
  take(rows.head, weights.head);
  take(rows.tail, weights.tail);
  return weights;
}

/// Row `whole` of an open line, at f, where it has weights of its own. step: elements from row to row.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar near_end(const StencilWeights<RealOf<Scalar>> &weights, const Scalar *f, Index whole, Index left, Index step)
{
  Scalar sum = 0;
  if (whole < weights.heads) {
    for (int j = 0; j < weights.head_reach; j++) sum += weights.head[whole][j] * f[(j - whole) * step];
  } else {
    for (int j = 0; j < weights.tail_reach; j++) sum += weights.tail[left][j] * f[(left - j) * step];
  }
  return sum;
}
/// A row of a ring that is all here, from which the stencil reaches around.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar around(const StencilWeights<RealOf<Scalar>> &weights, const Scalar *f, Index whole, Index length, Index step)
{
  Scalar sum = 0;
  for (int j = -weights.width; j <= weights.width; j++) {
    const Index k = whole + j, wrapped = k < 0 ? k + length : k >= length ? k - length : k;
    sum += weights.inner[weights.width + j] * f[(wrapped - whole) * step];
  }
  return sum;
}

/// Rows with weights of their own, and those of a ring that is all here from which the stencil reaches around.
template <class Real>
KOKKOS_INLINE_FUNCTION bool is_special(const StencilWeights<Real> &weights, int width, Index whole, Index left, bool ring)
{
  return ring ? whole < width || left < width : whole < weights.heads || left < weights.tails;
}
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar special(const StencilWeights<RealOf<Scalar>> &weights, const Scalar *f, Index whole, Index length, bool ring,
                                      Index step)
{
  return ring ? around(weights, f, whole, length, step) : near_end(weights, f, whole, length - 1 - whole, step);
}

} // namespace weft
