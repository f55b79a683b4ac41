/// Steps of the levels that one launch can go through. Included by hierarchy.hpp.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

/// Lines along every direction of a sweep that are short, in V cycles (or those that an F cycle has) of one sweep on a grid with ends; and the coarsest level.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::is_small(std::size_t level) const
{
  const LevelHere &l = levels_[level];
  if (l.part) return false;
  if (l.direct) return level > 0;
  const bool last  = level + 1 == levels_.size();
  const Grid &grid = l.grid();
  if (last || grid.stack() || options_.cycle == BoxmgCycle::w || options_.sweeps != 1 || grid.periodic[0] || grid.periodic[1] ||
      grid.periodic[2])
    return false;
  if (grid.nodes() * l.exact.a.stencil.count > most_small_coefficients) return false;
  const auto directions = l.smoother->directions();
  for (const int d : directions) {
    if (grid.n[d] > longest_small_line) return false;
  }
  // In space the two colours of a star's lines are a chessboard's.
  const bool chessboard = !plane(grid) && (l.smoother->in_one_pass() || (level == 0 && l.smoother->two_colours_alone()));
  return !directions.empty() && !chessboard;
}

template <class Space, class Value, class Scalar>
SmallLevel<Scalar> HierarchyOn<Space, Value, Scalar>::small_level(std::size_t level) const
{
  const LevelHere &l = levels_[level];
  const auto &here   = l.here();
  SmallLevel<Scalar> small;
  if (l.direct) {
    small.n[0] = static_cast<int>(l.grid().nodes());
    if constexpr (SmallLevels<Space, Scalar>::there) small.inverse = l.inverse.values.data();
  } else {
    small = small_operator(here.a);
    for (int d = 0; d < 3; d++) {
      const int k     = small_direction(l.grid(), d);
      small.coarse[k] = static_cast<int>(here.p.coarse.n[d]);
      small.bit[k]    = here.p.bit[d];
    }
    small.p     = here.p.weights;
    small.r     = here.r.weights;
    small.pitch = here.p.pitch;
  }
  small.b    = l.b.data();
  small.x    = l.x.data();
  small.work = l.work.data();
  return small;
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::make_small(bool mirrored)
{
  SmallLevels<Space, Scalar> &small = small_[mirrored];
  small.forget();
  if (!SmallLevels<Space, Scalar>::there || grid_.stack() || levels_.size() < 2 || !levels_.back().direct) return;
  SmallCycle<Scalar> cycle;
  std::size_t first = levels_.size() - 1;
  while (first > 0 && is_small(first - 1)) first--;
  if (first + 1 == levels_.size()) return;
  cycle.first = static_cast<int>(first);
  cycle.begin.resize(levels_.size() - first);
  cycle.end = cycle.begin;
  for (std::size_t level = first; level < levels_.size(); level++) cycle.levels.push_back(small_level(level));
  add_small_steps(cycle, first, mirrored);
  small.take(levels_[first].space, cycle);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::add_small_steps(SmallCycle<Scalar> &cycle, std::size_t level, bool mirrored) const
{
  const LevelHere &l  = levels_[level];
  const Grid &grid    = l.grid();
  const std::size_t k = level - static_cast<std::size_t>(cycle.first);
  const auto number   = static_cast<signed char>(k);
  const auto add      = [&](SmallStep::Kind kind, int along) -> SmallStep      &{
    return cycle.steps.emplace_back(SmallStep{kind, number, static_cast<signed char>(small_direction(grid, along))});
  };
  const bool over  = level == 0 && !mirrored && !l.direct && l.smoother->two_colours_alone();
  const auto sweep = [&](bool backward, bool from_zero) {
    auto directions = l.smoother->directions();
    if (backward) std::reverse(directions.begin(), directions.end());
    for (const int d : directions) {
      const Index lines[2] = {grid.n[d == 0 ? 1 : 0], grid.n[d == 2 ? 1 : 2]};
      for (int colour = 0; colour < 4; colour++) {
        const int turned = backward ? 3 - colour : colour, first = turned & 1, second = turned >> 1;
        // A plane's lines lie along one direction across, which comes first for the launch.
        if (first >= lines[0] || second >= lines[1]) continue;
        SmallStep &step  = add(SmallStep::sweep, d);
        step.parity[0]   = static_cast<signed char>(lines[0] > 1 ? first : second);
        step.parity[1]   = static_cast<signed char>(lines[0] > 1 ? second : 0);
        step.overrelaxed = from_zero && over;
        step.from_zero   = from_zero;
        from_zero        = false;
      }
    }
  };
  cycle.begin[k] = static_cast<int>(cycle.steps.size());
  if (l.direct) {
    add(SmallStep::direct, 0);
  } else {
    const Spared spared = this->spared(level, {BoxmgCycle::v, Transpose::no, mirrored}, true);
    sweep(false, true);
    if (spared.colours) {
      SmallStep &restriction  = add(SmallStep::of_even, spared.colours->along);
      restriction.from_zero   = spared.colours->alone;
      restriction.overrelaxed = over;
    } else {
      add(SmallStep::residual, 0);
      add(SmallStep::restriction, 0);
    }
    add_small_steps(cycle, level + 1, mirrored);
    SmallStep &correction = add(SmallStep::interpolation, spared.colours ? spared.colours->along : 0);
    if (spared.colours && spared.corrected.step[spared.colours->across] == 2)
      correction.corrected = spared.corrected.first[spared.colours->across] == 0 ? SmallStep::even : SmallStep::odd;
    sweep(mirrored, false);
  }
  cycle.end[k] = static_cast<int>(cycle.steps.size());
}

} // namespace weft::boxmg
