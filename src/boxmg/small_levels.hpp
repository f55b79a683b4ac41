/// The small levels of a cycle as one launch, where a device has such a form. A level of few nodes takes six launches else, in space twenty, each of which
/// waits for memory a few times and moves next to nothing.
#pragma once
#include <vector>

#include "base/native.hpp"
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// Rows of a line that can be relaxed so, and coefficients of a level, which one cluster of multiprocessors has to read.
inline constexpr Index longest_small_line = 288, most_small_coefficients = Index(1) << 18;

/// A level as such a launch sees it. The directions that a grid lacks come last, so that a plane has the first two.
template <class Scalar>
struct SmallLevel {
  int n[3] = {1, 1, 1}, stride[3] = {0, 0, 0}, coarse[3] = {1, 1, 1};
  int bit[3]          = {0, 0, 0}; ///< of a direction in a slot of the weights, as Transfer has it
  const Scalar *a[27] = {};        ///< coefficients of neighbours by number, or null
  const Scalar *p = nullptr, *r = nullptr;
  Index pitch = 0; ///< of the weights
  Scalar *b = nullptr, *x = nullptr, *work = nullptr;
  const KernelScalar *inverse = nullptr; ///< of the coarsest level, by rows
};

/// The place of a direction among those of a grid, of which the ones that it lacks come last.
inline int small_direction(const Grid &grid, int direction)
{
  int before = 0; // it
  for (int d = 0; d < 3; d++) {
    const bool here = grid.n[d] > 1, wanted = grid.n[direction] > 1;
    if (d != direction && (here == wanted ? d < direction : here)) before++;
  }
  return before;
}

/// An operator on a grid without periodic directions.
template <class Scalar>
SmallLevel<Scalar> small_operator(const Operator<Scalar> &a)
{
  SmallLevel<Scalar> small;
  Index stride = 1;
  for (int d = 0; d < 3; d++) {
    const int k     = small_direction(a.grid, d);
    small.n[k]      = static_cast<int>(a.grid.n[d]);
    small.stride[k] = static_cast<int>(stride);
    stride *= a.grid.n[d];
  }
  for (int k = 0; k < a.stencil.count; k++) {
    Offset o;
    for (int d = 0; d < 3; d++) o.d[small_direction(a.grid, d)] = a.stencil.offset[k].d[d];
    small.a[o.number()] = a.values + k * a.pitch;
  }
  return small;
}

/// What a cycle does between two barriers.
struct SmallStep {
  enum Kind : signed char {
    sweep,       ///< of the lines of a colour
    residual,    ///< to the work space
    restriction, ///< of that
    of_even,     ///< in the plane, of the residual of even lines as it is made
    interpolation,
    direct,
  };
  enum Nodes : signed char { even, odd, all };

  Kind kind;
  signed char level;
  signed char along     = 0;      ///< the direction of the lines
  signed char parity[2] = {0, 0}; ///< a sweep's colour: of the places along the two other directions
  bool from_zero        = false;  ///< of a sweep: all other lines become 0. Of a restriction: even lines have b - T x = (1 - omega) b
  Nodes corrected       = all;    ///< an interpolation's, by the place across the lines
  bool overrelaxed      = false;  ///< a sweep by omega, or a restriction after such a one
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

  /// Whether relax() takes lines along a direction.
  static bool relaxes(const Grid &, int) { return false; }
  /// Lines along a direction of one colour, by the parities of their places along the two others, in one pass. from_zero: x of all others is 0.
  static void relax(const Space &, const Operator<Scalar> &, int, const Region &, bool, RealOf<Scalar>, Scalar *, Scalar *) {}

  void forget() {}
  void take(const Space &, const SmallCycle<Scalar> &) {}
  bool takes(int) const { return false; }
  void cycle(const Space &, int, const Scalar *, Scalar *, RealOf<Scalar>) const {}
};

} // namespace weft::boxmg

#if defined(WEFT_NATIVE_HOPPER)
#include "boxmg/small_levels_cuda.hpp"
#endif
