/// What a level does, chosen from what its operator looks like. Plain C++, tested without a matrix.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "boxmg/box_multigrid.hpp"

namespace weft::boxmg {

/// A direction is strong where it couples this many times as strongly as any other. In the plane, lines along one of two that are alike take 8
/// iterations and lines along both in turn 5, at nearly twice the price; where the matrix is not symmetric 14 and 9, and those of FGMRES cost
/// more. (A node beside an end couples half as strongly along the direction that ends.) In space one direction is enough there, and three would
/// cost too much.
WEFT_INLINE double dominance(const Grid &grid, bool symmetric)
{
  int directions = 0;
  for (const Index n : grid.piece().n) directions += n > 1;
  return directions == 3 ? 0.3 : symmetric ? 0.4 : 3;
}

/// The part of the strongest of the others from which a direction that lines do not run along is coarsened.
inline constexpr double coarsened_from = 0.4;
/// The same of the strongest of all, where lines run along several directions, or points are relaxed.
inline constexpr double all_coarsened_from = 0.25;
/// Lines do not run along a direction that is weaker than that everywhere.
inline constexpr double weak = 0.05;

/// Directions of which neither is that much weaker than the other at any node are coarsened together.
inline constexpr double alike = 0.25;

/// How an operator couples along each direction, and where that varies.
struct Strengths {
  double along[3]          = {};     ///< couplings over the diagonal, summed over the nodes
  Directions not_strong[2] = {0, 0}; ///< those that are not strong at some node; the second ones where one of two that are alike will do
  Directions unlike        = 0;      ///< those of which the two others are not alike at some node
  std::uint32_t across[8]  = {};     ///< by a set of directions: the nodes at which planes across any of these will do, and no others
  std::uint32_t outdone[3] = {};     ///< the nodes at which both other directions couple much more strongly
  Directions steps         = 0;      ///< those along which at some node the couplings to both sides differ by more than 8
  Directions jumps         = 0;      ///< the same by more than 100
  bool corners = false; ///< at some node they do along two: of islands, not where squares touch, whose couplings are alike there
};

/// What convection makes of an operator: how couplings to a neighbour and back differ, over twice the diagonal, summed over the nodes.
struct Flow {
  double share      = 0;  ///< 1 a node where there is nothing but upwind convection
  double through[3] = {}; ///< the same along each direction, with the sign of the flow: nothing where as much comes back
  double nodes      = 0;  ///< that couple to others

  WEFT_INLINE void join(const Flow &other)
  {
    share += other.share;
    nodes += other.nodes;
    for (int d = 0; d < 3; d++) through[d] += other.through[d];
  }
};

/// Planes across a direction will do where that couples at most so many times as strongly as the weakest of the others.
inline constexpr double weakest_within = 3;
/// Lines in turn do where the second of three directions couples less than so many times as strongly as the third.
inline constexpr double outdone_by = 15;
/// Nodes at which they do not are a matter of the whole level from this part of all on: between two materials there are some, and at random.
inline constexpr double many = 0.1;
/// The same of nodes at which the planes that are taken do not.
inline constexpr double few = 0.01;

struct Choice {
  std::vector<int> lines; ///< directions of the lines, in the order of a sweep; none: planes, or points
  Directions coarsened    = 0;
  std::vector<int> planes = {}; ///< the directions across the planes, in the order of a sweep; none: lines or points

  friend bool operator==(const Choice &, const Choice &) = default;
};

/// one_will_do: see Strengths.
Choice choose(const Grid &grid, const Strengths &strengths, bool one_will_do, const BoxmgOptions &options);

/// By how much the lines of the first colour are relaxed before a correction in the stationary iteration; 1 where others than lines along one direction
/// relax. Two sweeps over two colours, the first one with omega, are two steps of Richardson's iteration for the lines of the second colour, and multiply
/// an error by
///
///   mu^2 (1 - omega (1 - mu^2)),   mu = (couplings across the lines) / (diagonal - couplings along them), each times its cosine
///
/// Of what a coarser grid does not see the largest mu is that of a mode whose cosine is 0 along one coarsened direction, and 1 along the others (along the
/// lines, where these end, nearly so). omega = 1 leaves mu^4; the least is near omega = 1 / (1 - 3/4 mu^2) (K = 1 in space: mu = 2/3, 1.5; in the plane:
/// 1/2, 1.23). I. Yavneh, On red-black SOR smoothing in multigrid, SIAM J. Sci. Comput. 17 (1996) 180-192, has the same omega for both sweeps. At most 1.5.
/// Modes that a coarser grid does see, and that are smooth along strong lines, are left by its correction: weights of the interpolation are those of a
/// mode that is constant along the lines. The same omega for the largest mu of these, whose cosines are 1 across the lines, takes an iteration of five
/// to seven; it is limited where modes of the first kind have a mu for which it would be too much. coupled: how many nodes couple to others.
double over_relaxation(const Grid &grid, const Strengths &strengths, double coupled, const Choice &choice);

/// Of the hierarchy over a stack of planes that relaxes them. A plane of so few nodes is solved by its inverse: less would leave the constants of planes
/// that hardly couple.
BoxmgOptions options_in_planes(const BoxmgOptions &options);

/// Whether convection is strong: on half of what couples, or more.
bool convects(const Flow &flow);

inline bool is_large(const Grid &grid)
{
  return std::max({grid.n[0], grid.n[1], grid.n[2]}) >= 700;
}

/// V; or F where convection is strong, and either turns, so that iterations of V cycles grow with the grid (recirculating flow at 257² takes 21 to 26,
/// and 10 to 13 of F cycles), or the grid is so large that F cycles take less time with a steady flow too.
/// W on a large grid where coefficients jump along two directions and squares of them touch (islands take as many V cycles), or along one beside lines
/// along several. V where weights know the corners at which squares touch (touching.hpp).
BoxmgCycle cycle_for(const Grid &grid, const Strengths &strengths, const Flow &flow, const Choice &finest, bool known_corners = false);

/// The levels that a W cycle of cycle_for() corrects twice. Where coefficients jump at the corners of squares, interpolation is too stiff there, a little
/// more on each level, which coarser ones make up for (CG, a checkerboard of 1e4 at 2049²: 18 iterations, 12 with levels 1 and 2 corrected twice, 11 so,
/// at a smaller price: 5 % of a cycle's work).
struct TwiceOn {
  std::size_t first = 2, end = 5;
};

} // namespace weft::boxmg
