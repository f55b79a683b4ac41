/// The small levels of a cycle in the plane as one launch, where a device has such a form. A level of few nodes takes six launches else, each of which
/// waits for memory a few times and moves next to nothing.
#pragma once
#include <vector>

#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// Rows of a line that can be relaxed so.
inline constexpr Index longest_small_line = 288;

/// A level as such a launch sees it. Its directions are the two that the plane has, the one that is closest in memory first.
template <class Scalar>
struct SmallLevel {
  int n[2] = {1, 1}, coarse[2] = {1, 1};
  int bit[2]         = {0, 0}; ///< of a direction in a slot of the weights, as Transfer has it
  const Scalar *a[9] = {};     ///< coefficients of the neighbour 3 (o1 + 1) + o0 + 1, or null
  const Scalar *p = nullptr, *r = nullptr;
  Index pitch = 0; ///< of the weights
  Scalar *b = nullptr, *x = nullptr;
  const double *inverse = nullptr; ///< of the coarsest level, by rows
};

/// What a cycle does between two barriers.
struct SmallStep {
  enum Kind : signed char { sweep, restriction, interpolation, direct };
  enum Nodes : signed char { even, odd, all };

  Kind kind;
  signed char level;
  signed char along = 0;    ///< the direction of the lines
  Nodes nodes       = even; ///< the lines that are relaxed, or those that are corrected
  bool from_zero = false; ///< of a sweep: the other lines are 0. Of a restriction: even lines have b - T x = 0, so that b is not asked for
};

/// A cycle of the levels from `first` on, as steps; a level's own and those below it are [begin, end) of them.
template <class Scalar>
struct SmallCycle {
  int first = 0;
  std::vector<SmallLevel<Scalar>> levels; ///< from `first` on
  std::vector<SmallStep> steps;
  std::vector<int> begin, end; ///< by level from `first` on
};

/// On backends without such a form levels are gone through as the others are.
template <class Space, class Scalar>
class SmallLevels {
public:
  static constexpr bool there = false;

  void forget() {}
  void take(const Space &, const SmallCycle<Scalar> &) {}
  bool takes(int) const { return false; }
  void cycle(const Space &, int, const Scalar *, Scalar *) const {}
};

} // namespace weft::boxmg

#if defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL) // the first chips with clusters
#include "boxmg/small_levels_cuda.hpp"
#endif
