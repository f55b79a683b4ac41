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

/// True where a direction has come to its end and another has not: what is constant along it is left to lines along the others, however weak.
bool used_up(const Grid &grid)
{
  const auto has = [&](auto wanted) { return std::any_of(std::begin(grid.n), std::end(grid.n), wanted); };
  return has([](Index n) { return n == 2; }) && has([](Index n) { return n > 2; });
}

std::vector<int> lines_of(const Grid &grid, const double (&strength)[3], const Index (&not_strong)[3], BoxmgSmoother smoother)
{
  const auto exists = [&](int d) { return grid.n[d] > 1; };
  const int first   = strongest(strength, exists);
  if (smoother == BoxmgSmoother::points || first < 0) return {};
  if (smoother == BoxmgSmoother::lines) return {first};
  const bool all = smoother == BoxmgSmoother::alternating || used_up(grid);
  const int one  = strongest(strength, [&](int d) { return exists(d) && not_strong[d] == 0; });
  if (!all && one >= 0) return {one};
  std::vector<int> lines;
  for (int d = 0; d < 3; d++) {
    if (exists(d) && (all || strength[d] > weak * strength[first])) lines.push_back(d);
  }
  return lines;
}

} // namespace

Choice choose(const Grid &grid, const double (&strength)[3], const Index (&not_strong)[3], const BoxmgOptions &options)
{
  Choice choice;
  choice.lines    = lines_of(grid, strength, not_strong, options.smoother);
  const int along = choice.lines.size() == 1 ? choice.lines.front() : -1;
  double top      = 0; // of those that lines do not run along, or of all
  for (int d = 0; d < 3; d++) {
    if (d != along && grid.n[d] > 2) top = std::max(top, strength[d]);
  }
  for (int d = 0; d < 3; d++) {
    const bool allowed = options.coarsen == 0 || has(options.coarsen, d);
    const double from  = along >= 0 ? coarsened_from : all_coarsened_from;
    if (allowed && grid.n[d] > 2 && (d == along || options.coarsen != 0 || strength[d] >= from * top)) choice.coarsened |= 1u << d;
  }
  return choice;
}

} // namespace weft::boxmg
