#include "boxmg/choose.hpp"

#include <algorithm>

namespace weft::boxmg {

namespace {

/// The direction with the largest strength, x before y before z where they are alike, of those that `wanted` accepts; -1: none.
template <class Wanted>
int strongest(const double (&strength)[3], const Wanted &wanted)
{
  int best = -1;
  for (int d = 0; d < 3; d++) {
    if (wanted(d) && (best < 0 || strength[d] > 1.01 * strength[best])) best = d;
  }
  return best;
}

} // namespace

Choice choose(const Grid &grid, const double (&strength)[3], const Index (&not_strong)[3], const BoxmgOptions &options)
{
  Choice choice;
  const auto exists = [&](int d) { return grid.n[d] > 1; };
  const int first   = strongest(strength, exists);
  const int strong  = strongest(strength, [&](int d) { return exists(d) && not_strong[d] == 0; });
  switch (options.smoother) {
  case BoxmgSmoother::points:
    break;
  case BoxmgSmoother::lines:
    if (first >= 0) choice.lines = {first};
    break;
  case BoxmgSmoother::automatic:
    if (strong >= 0) choice.lines = {strong};
    if (strong >= 0 || first < 0) break;
    [[fallthrough]];
  case BoxmgSmoother::alternating:
    for (int d = 0; d < 3; d++) {
      if (exists(d)) choice.lines.push_back(d);
    }
  }

  const bool one = choice.lines.size() == 1;
  double top     = 0; // of those that lines do not run along, or of all
  for (int d = 0; d < 3; d++) {
    if (!one || d != choice.lines.front()) top = std::max(top, strength[d]);
  }
  for (int d = 0; d < 3; d++) {
    const bool allowed = options.coarsen == 0 || has(options.coarsen, d);
    const bool along   = one ? d == choice.lines.front() : !choice.lines.empty();
    const double from  = choice.lines.empty() ? points_coarsened_from : coarsened_from;
    if (allowed && grid.n[d] > 2 && (along || options.coarsen != 0 || strength[d] >= from * top)) choice.coarsened |= 1u << d;
  }
  return choice;
}

} // namespace weft::boxmg
