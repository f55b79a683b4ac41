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

/// The direction of lines in space where none is strong everywhere and two are alike everywhere: the third, which they take as strong or as weak as
/// it is at each node, while the two are coarsened. -1: there is none.
int beside_alike(const Grid &grid, const Strengths &strengths)
{
  if (std::any_of(std::begin(grid.n), std::end(grid.n), [](Index n) { return n == 1; })) return -1;
  return strongest(strengths.along, [&](int d) { return !has(strengths.unlike, d) && grid.n[(d + 1) % 3] > 2 && grid.n[(d + 2) % 3] > 2; });
}

std::vector<int> lines_of(const Grid &grid, const Strengths &strengths, bool one_will_do, BoxmgSmoother smoother)
{
  const auto exists = [&](int d) { return grid.n[d] > 1; };
  const int first   = strongest(strengths.along, exists);
  if (smoother == BoxmgSmoother::points || first < 0) return {};
  if (smoother == BoxmgSmoother::lines) return {first};
  const bool all = smoother == BoxmgSmoother::alternating || used_up(grid);
  const int one  = strongest(strengths.along, [&](int d) { return exists(d) && !has(strengths.not_strong[one_will_do], d); });
  if (!all && one >= 0) return {one};
  std::vector<int> lines; // last along x, whose lines are closest in memory: after them every other one is all that is read
  for (int d = 2; d >= 0; d--) {
    if (exists(d) && (all || strengths.along[d] > weak * strengths.along[first])) lines.push_back(d);
  }
  return lines;
}

} // namespace

Choice choose(const Grid &grid, const Strengths &strengths, bool one_will_do, const BoxmgOptions &options)
{
  Choice choice;
  choice.lines = lines_of(grid, strengths, one_will_do, options.smoother);
  if (const int third = beside_alike(grid, strengths);
      options.smoother == BoxmgSmoother::automatic && options.coarsen == 0 && choice.lines.size() > 1 && third >= 0)
    return {{third}, 7u & ~(1u << third)};
  const int along = choice.lines.size() == 1 ? choice.lines.front() : -1;
  double top      = 0; // of those that lines do not run along, or of all
  for (int d = 0; d < 3; d++) {
    if (d != along && grid.n[d] > 2) top = std::max(top, strengths.along[d]);
  }
  for (int d = 0; d < 3; d++) {
    const bool allowed = options.coarsen == 0 || has(options.coarsen, d);
    const double from  = along >= 0 ? coarsened_from : all_coarsened_from;
    if (allowed && grid.n[d] > 2 && (d == along || options.coarsen != 0 || strengths.along[d] >= from * top)) choice.coarsened |= 1u << d;
  }
  return choice;
}

} // namespace weft::boxmg
