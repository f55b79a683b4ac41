/// Steps of the levels that one launch can go through. Included by hierarchy.hpp.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

/// Lines along every direction of a sweep that are short, of two colours and relaxed in one pass, in V cycles of one sweep; and the coarsest level.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::is_small(std::size_t level) const
{
  const LevelHere &l = levels_[level];
  if (l.direct) return level > 0;
  const bool last = level + 1 == levels_.size();
  if (last || options_.cycle != BoxmgCycle::v || options_.sweeps != 1 || !l.smoother->in_one_pass()) return false;
  for (const int d : l.smoother->directions()) {
    if (l.grid().n[d] > longest_small_line) return false;
  }
  return spared(level, {BoxmgCycle::v}, true).colours.has_value();
}

template <class Space, class Value, class Scalar>
SmallLevel<Scalar> HierarchyOn<Space, Value, Scalar>::small_level(std::size_t level) const
{
  const LevelHere &l = levels_[level];
  const auto &here   = l.here();
  const Grid &grid   = l.grid();
  SmallLevel<Scalar> small;
  small.b = l.b.data();
  small.x = l.x.data();
  if constexpr (SmallLevels<Space, Scalar>::there) small.inverse = l.inverse.values.data();
  int count = 0, number[3] = {}; // of the plane's directions
  for (int d = 0; d < 3; d++) {
    number[d] = -1;
    if (grid.n[d] == 1) continue;
    number[d] = count < 2 ? count : -1;
    if (number[d] < 0) continue;
    small.n[count]      = static_cast<int>(grid.n[d]);
    small.coarse[count] = l.direct ? 1 : static_cast<int>(here.p.coarse.n[d]);
    small.bit[count++]  = l.direct ? 0 : here.p.bit[d];
  }
  if (l.direct) {
    small.n[0] = static_cast<int>(grid.nodes());
    small.n[1] = 1;
    return small;
  }
  for (int k = 0; k < here.a.stencil.count; k++) {
    int place = 4;
    for (int d = 0; d < 3; d++) {
      if (number[d] >= 0) place += (number[d] == 0 ? 1 : 3) * here.a.stencil.offset[k].d[d];
    }
    small.a[place] = here.a.values + k * here.a.pitch;
  }
  small.p     = here.p.weights;
  small.r     = here.r.weights;
  small.pitch = here.p.pitch;
  return small;
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::make_small(bool mirrored)
{
  SmallLevels<Space, Scalar> &small = small_[mirrored];
  small.forget();
  if (!SmallLevels<Space, Scalar>::there || levels_.size() < 2 || !levels_.back().direct) return;
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
  const std::size_t k = level - static_cast<std::size_t>(cycle.first);
  const auto number   = static_cast<signed char>(k);
  // Of the two directions that the plane has.
  const auto in_plane = [&](int d) { return static_cast<signed char>(d > 0 && (l.grid().n[0] > 1 || (d == 2 && l.grid().n[1] > 1))); };
  const auto sweep    = [&](bool backward, bool from_zero) {
    auto directions = l.smoother->directions();
    if (backward) std::reverse(directions.begin(), directions.end());
    for (std::size_t m = 0; m < directions.size(); m++) {
      const signed char along = in_plane(directions[m]);
      const auto one = backward ? SmallStep::odd : SmallStep::even, other = backward ? SmallStep::even : SmallStep::odd;
      cycle.steps.push_back({SmallStep::sweep, number, along, one, from_zero && m == 0});
      cycle.steps.push_back({SmallStep::sweep, number, along, other});
    }
  };
  cycle.begin[k] = static_cast<int>(cycle.steps.size());
  if (l.direct) {
    cycle.steps.push_back({SmallStep::direct, number});
  } else {
    const Spared spared     = this->spared(level, {BoxmgCycle::v, Transpose::no, mirrored}, true);
    const signed char along = in_plane(spared.colours->along);
    const int across        = spared.colours->across;
    const auto corrected    = spared.corrected.step[across] == 1    ? SmallStep::all
                              : spared.corrected.first[across] == 0 ? SmallStep::even
                                                                    : SmallStep::odd;
    sweep(false, true);
    cycle.steps.push_back({SmallStep::restriction, number, along, SmallStep::even, spared.colours->alone});
    add_small_steps(cycle, level + 1, mirrored);
    cycle.steps.push_back({SmallStep::interpolation, number, along, corrected});
    sweep(mirrored, false);
  }
  cycle.end[k] = static_cast<int>(cycle.steps.size());
}

} // namespace weft::boxmg
