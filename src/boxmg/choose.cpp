#include "boxmg/choose.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

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

/// The direction of lines in the plane where coefficients jump along one direction alone, and with them perhaps the strong one: that direction, while the
/// other one is coarsened. Interpolation across such jumps is too stiff for what varies along them; along them it is as good as anywhere, and lines take
/// their own direction as strong or as weak as it is at each node. -1: there is none.
int across_jumps(const Grid &grid, const Strengths &strengths)
{
  for (int d : {0, 1}) {
    if (grid.n[2] == 1 && strengths.jumps == 1u << d && grid.n[d] > 1 && grid.n[1 - d] > 2) return d;
  }
  return -1;
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

/// The fewest directions of which, at each node but a few, planes across one will do; of as few those that are weakest.
std::vector<int> planes_of(const Grid &grid, const Strengths &strengths)
{
  const auto serve = [&](Directions some) {
    for (Directions set = 1; set < 8; set++) {
      if ((set & some) == 0 && strengths.across[set] > few * static_cast<double>(grid.nodes())) return false;
    }
    return true;
  };
  const auto weight = [&](Directions some) {
    double sum = 0;
    for (int d = 0; d < 3; d++) sum += has(some, d) ? strengths.along[d] : 0;
    return sum;
  };
  Directions best = 7;
  for (const Directions some : {4u, 2u, 1u, 6u, 5u, 3u}) {
    const int more = std::popcount(some) - std::popcount(best);
    if (serve(some) && (more < 0 || (more == 0 && weight(some) < 0.99 * weight(best)))) best = some;
  }
  std::vector<int> planes;
  for (int d = 0; d < 3; d++) {
    if (has(best, d)) planes.push_back(d);
  }
  return planes;
}

/// Whether lines cannot do: two directions are strong beside a third, at many nodes, and the third is coarsened.
bool lines_fail(const Grid &grid, const Strengths &strengths, Directions coarsened)
{
  for (int d = 0; d < 3; d++) {
    if (has(coarsened, d) && strengths.outdone[d] > many * static_cast<double>(grid.nodes())) return true;
  }
  return false;
}

Directions all_of(const Grid &grid, Directions allowed)
{
  Directions all = 0;
  for (int d = 0; d < 3; d++) {
    if (grid.n[d] > 2 && (allowed == 0 || has(allowed, d))) all |= 1u << d;
  }
  return all;
}

Choice choose_lines(const Grid &grid, const Strengths &strengths, bool one_will_do, const BoxmgOptions &options)
{
  Choice choice;
  choice.lines = lines_of(grid, strengths, one_will_do, options.smoother);
  if (const int third = beside_alike(grid, strengths);
      options.smoother == BoxmgSmoother::automatic && options.coarsen == 0 && choice.lines.size() > 1 && third >= 0)
    return {{third}, 7u & ~(1u << third)};
  if (const int jumped = across_jumps(grid, strengths);
      options.smoother == BoxmgSmoother::automatic && options.coarsen == 0 && choice.lines.size() > 1 && jumped >= 0)
    return {{jumped}, 3u & ~(1u << jumped)};
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

} // namespace

Choice choose(const Grid &whole, const Strengths &strengths, bool one_will_do, const BoxmgOptions &options)
{
  const Grid grid  = whole.piece();
  const bool space = std::none_of(std::begin(grid.n), std::end(grid.n), [](Index n) { return n == 1; });
  Choice choice    = choose_lines(grid, strengths, one_will_do, options);
  if (space && (options.smoother == BoxmgSmoother::planes ||
                (options.smoother == BoxmgSmoother::automatic && lines_fail(grid, strengths, choice.coarsened))))
    return {{}, all_of(grid, options.coarsen), planes_of(grid, strengths)};
  return choice;
}

double over_relaxation(const Grid &whole, const Strengths &strengths, double coupled, const Choice &choice)
{
  if (choice.lines.size() != 1) return 1;
  const Grid grid = whole.piece();
  const int along = choice.lines.front();
  double across = 0, ends = 0; // what rows at Dirichlet ends have beyond their couplings
  for (int d = 0; d < 3; d++) {
    if (grid.n[d] == 1) continue;
    if (d != along) across += strengths.along[d];
    if (!grid.periodic[d]) ends += strengths.along[d] / static_cast<double>(grid.n[d]);
  }
  if (across == 0) return 1;
  // The smoothest mode along the lines vanishes at their ends, if they have any: strong lines on a small grid solve for all.
  const double n = static_cast<double>(grid.n[along]), s = strengths.along[along];
  const double smoothest = grid.periodic[along] ? 0 : s * (1 - std::cos(std::numbers::pi / (n + 1)));
  const double rest      = std::max(coupled - across - s - ends, 0.0); // of the diagonals, beyond the couplings
  double rough           = 0;
  for (int d = 0; d < 3; d++) {
    if (!has(choice.coarsened, d)) continue;
    const double others = d == along ? across : across - strengths.along[d];
    rough               = std::max(rough, others / (across + (d == along ? s : smoothest) + rest));
  }
  const auto best = [](double mu) {
    constexpr double most = 4.0 / 9;
    return 1 / (1 - 0.75 * std::min(mu * mu, most));
  };
  const double smooth = across / (across + smoothest + rest);
  return std::max(best(rough), std::min(best(smooth), 1.5 - 0.6 * std::min(rough, 0.5)));
}

BoxmgOptions options_in_planes(const BoxmgOptions &options)
{
  BoxmgOptions within;
  within.cycle          = BoxmgCycle::v;
  within.interpolation  = options.interpolation;
  within.coarsest_nodes = 25;
  return within;
}

bool convects(const Flow &flow)
{
  return flow.nodes > 0 && flow.share >= 0.5 * flow.nodes;
}

BoxmgCycle cycle_for(const Grid &grid, const Strengths &strengths, const Flow &flow, const Choice &finest, bool known_corners)
{
  constexpr double steady = 0.9;
  const bool large        = is_large(grid);
  if (!convects(flow)) {
    if (known_corners) return BoxmgCycle::v;
    const bool touch = std::popcount(strengths.jumps) > 1 && !strengths.corners;
    return large && strengths.jumps != 0 && (finest.lines.size() > 1 || touch) ? BoxmgCycle::w : BoxmgCycle::v;
  }
  double through = 0;
  for (const double along : flow.through) through += std::abs(along);
  const bool turns = through < steady * flow.share;
  return turns || large ? BoxmgCycle::f : BoxmgCycle::v;
}

} // namespace weft::boxmg
