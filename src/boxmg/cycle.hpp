/// Cycles of a Hierarchy: V, W and F. The sweeps after a correction run in the opposite order, so that the cycle of a symmetric operator is
/// symmetric (but for F). Included by hierarchy.hpp.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::cycle(std::size_t level, Scalar *b, Scalar *x, Transpose transpose, BoxmgCycle shape)
{
  LevelHere &l = levels_[level];
  if (l.direct) {
    l.inverse.apply(l.space, b, x, transpose);
    return;
  }
  relax(l, b, x, false, transpose);
  if (level + 1 < levels_.size()) {
    // The adjoint of an F cycle takes its corrections in the opposite order.
    const bool twice = level + 2 < levels_.size() && shape != BoxmgCycle::v, f = shape == BoxmgCycle::f;
    correct(level, b, x, transpose, twice && f && transpose == Transpose::yes ? BoxmgCycle::v : shape, !twice);
    if (twice) correct(level, b, x, transpose, f && transpose == Transpose::no ? BoxmgCycle::v : shape, false);
  }
  relax(l, b, x, true, transpose);
  if (tell_) {
    residual(l, b, x, transpose);
    tell(level, false, l.work.data());
  }
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::relax(const LevelHere &l, Scalar *b, Scalar *x, bool after, Transpose transpose) const
{
  // Sweeps mirror each other: forward before the correction, from zero, and backward after it.
  for (int s = 0; s < options_.sweeps; s++) l.smoother->sweep(l.space, l.here().a, b, x, l.work.data(), after, !after && s == 0, transpose);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::correct(std::size_t level, Scalar *b, Scalar *x, Transpose transpose, BoxmgCycle shape, bool only)
{
  LevelHere &l = levels_[level], &next = levels_[level + 1];
  const bool swapped = transpose == Transpose::yes;
  const auto colours = only && !tell_ && !swapped ? l.smoother->two_colours() : std::nullopt;
  const int even     = colours && has(l.choice.coarsened, colours->across) ? colours->across : -1;
  // From zero, along one direction: only what odd lines leave on even ones.
  const bool beside = even >= 0 && colours->alone && options_.sweeps == 1;
  const auto &a     = l.here().a;
  const auto &r     = swapped ? l.here().p : l.here().r;
  if (beside && !is_host_space<Space>) {
    restrict_residual(l.space, a, *colours, r, x, next.b.data());
  } else {
    if (even >= 0)
      subtract(l.space, a, Region::even(l.grid(), even), beside ? colours->beside : all_neighbours(a.stencil), beside ? nullptr : b, x,
               l.work.data(), transpose);
    else
      residual(l, b, x, transpose);
    if (tell_) tell(level, true, l.work.data());
    restrict_to(l.space, r, l.work.data(), next.b.data(), even);
  }
  const auto coarser = [&] { cycle(level + 1, next.b.data(), next.x.data(), transpose, shape); };
  if (level == 0) // a first transposed solve of lines allocates
    replays_[static_cast<int>(shape)].run(l.space, next.space, !tell_ && !swapped, coarser);
  else
    coarser();
  interpolate(l.space, swapped ? l.here().r : l.here().p, next.x.data(), x, even);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::residual(const LevelHere &l, const Scalar *b, const Scalar *x, Transpose transpose) const
{
  l.smoother->residual(l.space, l.here().a, b, x, l.work.data(), transpose);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::tell(std::size_t level, bool before, const Scalar *r) const
{
  (*tell_)(static_cast<int>(level), before, norm(levels_[level].space, levels_[level].grid().nodes(), r));
}

} // namespace weft::boxmg
