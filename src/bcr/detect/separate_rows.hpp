/// What separate() asks of the rows of a matrix: the bodies of its walks.
#pragma once
#include <limits>

#include "bcr/detect/faces.hpp"
#include "bcr/detect/walk.hpp"

namespace weft::separation {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// What the rows look like.
enum Count {
  foreign,
  not_finite,
  wraps,
  couplings       = wraps + 3,
  along_faces     = couplings + 3,   ///< of rows that are no penalty
  along_penalties = along_faces + 6, ///< of those that are
  coupled         = along_penalties + 6,
  penalties,   ///< of `coupled` rows
  size_of_row, ///< sum of the couplings' magnitudes, of diagonals in rows without couplings
  vanishing,   ///< rows whose couplings are nothing beside the unit
  diagonals,   ///< sum of their magnitudes in `coupled` rows that are no penalty
  counts
};

/// Adds what a row looks like to `values`.
KOKKOS_FORCEINLINE_FUNCTION void count_row(const Star &star, const Index (&at)[3], const Index (&grid)[3], double *values)
{
  const bool penalty = star.penalty();
  const double size  = star.couplings();
  if (star.foreign + star.not_finite > 0) {
    values[foreign] += star.foreign;
    values[not_finite] += star.not_finite;
  }
  if (size > 0) {
    values[coupled] += 1;
    values[size_of_row] += size;
    if (penalty)
      values[penalties] += 1;
    else
      values[diagonals] += Kokkos::abs(star.centre);
    if (size < 1e-30) values[vanishing] += 1;
  } else {
    values[size_of_row] += Kokkos::abs(star.centre);
  }
  bool at_end[3], any_end = false;
  for (int d = 0; d < 3; d++) {
    at_end[d] = grid[d] > 2 && (at[d] == 0 || at[d] == grid[d] - 1); // no face of two nodes or less across is apart
    any_end   = any_end || at_end[d];
  }
  for (int d = 0; d < 3; d++) {
    if (star.wraps[d]) values[wraps + d] += 1;
    if (star.side[d][0] == 0 && star.side[d][1] == 0) continue;
    values[couplings + d] += 1;
    for (int f = 0; any_end && f < 3; f++) {
      const bool rim = (at_end[0] && f != 0) || (at_end[1] && f != 1) || (at_end[2] && f != 2); // there other faces have a say
      if (f != d && at_end[f] && !rim) values[(penalty ? along_penalties : along_faces) + 2 * f + (at[f] == 0 ? 0 : 1)] += 1;
    }
  }
}

template <class Space, class Int>
struct CountRows {
  StarReader<Space, Int> read;
  static constexpr int slabs = 0, sums = counts, maxima = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *sum, double *) const
  {
    count_row(read(at), at, read.grid, sum);
  }
};

/// Largest coupling and largest diagonal.
template <class Space, class Int>
struct LargestEntries {
  StarReader<Space, Int> read;
  static constexpr int slabs = 0, sums = 0, maxima = 2;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *, double *largest) const
  {
    const Star star = read(at);
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) largest[0] = Kokkos::max(largest[0], Kokkos::abs(star.side[d][side]));
    }
    largest[1] = Kokkos::max(largest[1], Kokkos::abs(star.centre));
  }
};

/// For either end of direction d: whether a row there lacks a diagonal, is coupled to its neighbour, and its neighbour to it.
template <class Space, class Int>
struct LineEnds {
  StarReader<Space, Int> read;
  int d;
  static constexpr int slabs = 0, sums = 0, maxima = 6;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *, double *flags) const
  {
    for (int side = 0; side < 2; side++) {
      const Index end = side == 0 ? 0 : read.grid[d] - 1;
      if (at[d] == end) {
        const Star star = read(at);
        if (star.centre == 0) flags[3 * side] = 1;
        if (star.side[d][1 - side] != 0) flags[3 * side + 1] = 1;
      }
      if (at[d] == end + (side == 0 ? 1 : -1) && read(at).side[d][side] != 0) flags[3 * side + 2] = 1;
    }
  }
};

/// Flags the faces whose elimination is not exact: a row of theirs couples to a row that is not solved before it.
template <class Space>
KOKKOS_INLINE_FUNCTION void check_faces(const Faces<Space> &faces, bool penalties, const Star &star, const Index (&at)[3], double *drop)
{
  const int mine = faces.count(at);
  if (mine == 0) return;
  if (penalties && star.penalty()) return; // what it would couple to along its faces does not matter
  bool solvable = true;
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      if (star.side[d][side] == 0) continue;
      Index to[3] = {at[0], at[1], at[2]};
      to[d] += 2 * side - 1;
      if (faces.count(to) >= mine) solvable = false;
    }
  }
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      if (!solvable && faces.holds(d, side, at)) drop[2 * d + side] = 1;
    }
  }
}

template <class Space, class Int>
struct CheckFaces {
  StarReader<Space, Int> read;
  Faces<Space> faces;
  static constexpr int slabs = 0, sums = 0, maxima = 6;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *, double *drop) const
  {
    if (faces.count(at) > 0) check_faces(faces, read.penalties, read(at), at, drop);
  }
};

/// The rows of a face that this process holds, and for the couplings inward those of the layer within; the others are left as they are.
template <class Space, class Int>
struct CollectFace {
  StarReader<Space, Int> read;
  typename Faces<Space>::Rows rows;
  int d, side;

  KOKKOS_INLINE_FUNCTION void operator()(const Index node) const
  {
    const int a = across(d, 0), b = across(d, 1);
    Index at[3];
    at[d] = side == 0 ? 0 : read.grid[d] - 1;
    at[a] = node % read.grid[a];
    at[b] = node / read.grid[a];
    if (read.part.holds(at)) {
      const Star star = read(at);
      rows(node, 0)   = star.centre;
      rows(node, 1)   = star.side[d][1 - side];
    }
    at[d] += side == 0 ? 1 : -1;
    if (read.part.holds(at)) rows(node, 2) = read(at).side[d][side];
  }
};

/// The fit (1), (2): for each direction the couplings to the neighbours below and above, the weights, the row sums over weight.
enum Kind { below, above, weight, excess, kinds };

template <class Space>
struct Fit {
  Index grid[3], start[3];
  double shift = 0;
  Kokkos::View<double *, typename Space::memory_space> table;

  KOKKOS_FORCEINLINE_FUNCTION double at(int d, int kind, Index i) const { return table(start[d] + kind * grid[d] + i); }
  KOKKOS_FORCEINLINE_FUNCTION double weights(const Index (&at)[3]) const
  {
    return this->at(0, weight, at[0]) * this->at(1, weight, at[1]) * this->at(2, weight, at[2]);
  }
  KOKKOS_FORCEINLINE_FUNCTION double coupling(const Index (&at)[3], int d, int side) const
  {
    return this->at(d, side == 0 ? below : above, at[d]) * this->at(across(d, 0), weight, at[across(d, 0)]) *
           this->at(across(d, 1), weight, at[across(d, 1)]);
  }
  KOKKOS_FORCEINLINE_FUNCTION double row_sum(const Index (&at)[3]) const
  {
    return (this->at(0, excess, at[0]) + this->at(1, excess, at[1]) + this->at(2, excess, at[2]) + shift) * weights(at);
  }
};

/// Rows without the eliminated faces: what is left of the matrix after they are moved to the right-hand side. With `scaled` each is divided
/// by factor(): the ratio of its couplings along `scaled` to those of the line through the middle, which lie in `line`; of a diagonal
/// matrix the diagonal.
template <class Space, class Int>
struct InnerRows {
  StarReader<Space, Int> read;
  Faces<Space> faces;
  int scaled         = -1;
  bool one_direction = false; ///< of more than one node
  double diagonal    = 1;     ///< what the diagonals of penalties become, their couplings being 0: factors of their rows have the rest
  Kokkos::View<double *[2], Kokkos::LayoutRight, typename Space::memory_space> line;
  Box calm = {{0, 0, 0}, {0, 0, 0}}; ///< nodes that lie neither on faces nor beside them

  static constexpr int by_diagonal = 3; ///< value of `scaled`

  KOKKOS_INLINE_FUNCTION bool is_penalty(const Star &star) const { return read.penalties && star.penalty(); }
  KOKKOS_INLINE_FUNCTION double factor(const Star &star, const Index (&at)[3]) const
  {
    if (is_penalty(star)) return star.centre / diagonal;
    if (scaled < 0) return 1;
    if (scaled == by_diagonal) return star.centre != 0 ? star.centre : 1;
    double ratio[2];
    for (int side = 0; side < 2; side++) {
      const double value = star.side[scaled][side], expected = line(at[scaled], side);
      ratio[side] = value * expected > 0 ? value / expected : 0; // 0: no coupling there, or one of the other sign
    }
    if (ratio[0] == 0 || ratio[1] == 0) return ratio[0] + ratio[1] > 0 ? ratio[0] + ratio[1] : 1;
    return ratio[0] == ratio[1] ? ratio[0] : Kokkos::sqrt(ratio[0] * ratio[1]);
  }

  KOKKOS_INLINE_FUNCTION void leave_faces(Star &star, const Index (&at)[3]) const
  {
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        if (!faces.next_to(d, side, at)) continue;
        const auto &rows = faces.rows[d][side];
        const Index node = faces.number(d, at);
        star.centre -= rows(node, 2) * rows(node, 1) / rows(node, 0);
        star.side[d][side] = 0;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION Star unscaled(const Index (&at)[3]) const
  {
    Star star = read(at);
    if (!calm.holds(at)) leave_faces(star, at);
    return star;
  }
  KOKKOS_INLINE_FUNCTION void divide(Star &star, const Index (&at)[3]) const
  {
    if (scaled < 0 && !read.penalties) return;
    const double by  = factor(star, at);
    const bool alone = is_penalty(star) && !one_direction;
    star.centre /= by;
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) star.side[d][side] = alone ? 0 : star.side[d][side] / by;
    }
  }
  KOKKOS_INLINE_FUNCTION Star operator()(const Index (&at)[3]) const
  {
    Star star = unscaled(at);
    divide(star, at);
    return star;
  }
};

/// The rows of the lines through a node, those along x first: of each its centre, its couplings, what no row of the inner box has, and whether it
/// wraps, in an array of `values` each; nodes of others are left out.
template <class Rows, class Space>
struct GatherLines {
  Rows rows;
  Box part; ///< of the nodes that can be read
  Index through[3], grid[3];
  Kokkos::View<double **, Kokkos::LayoutRight, typename Space::memory_space> stars;

  enum Value { centre, sides, odd = sides + 6, wrap, values = wrap + 3 };

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    Index at[3] = {through[0], through[1], through[2]}, i = k;
    int d = 0;
    for (; d < 2 && i >= grid[d]; d++) i -= grid[d];
    at[d]            = i;
    const bool here  = part.holds(at);
    const Star star  = here ? rows(at) : Star{};
    stars(k, centre) = star.centre;
    for (int c = 0; c < 6; c++) stars(k, sides + c) = star.side[c / 2][c % 2];
    stars(k, odd) = star.foreign + star.not_finite + star.penalty();
    for (int c = 0; c < 3; c++) stars(k, wrap + c) = star.wraps[c];
  }
};

/// The factors of the rows, in an array over the nodes of `box`; with `known` the diagonals of penalties, and 1 for others.
template <class Space, class Int>
struct RowFactors {
  InnerRows<Space, Int> read;
  Box box;
  bool known;
  Kokkos::View<double *, typename Space::memory_space> factors;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    Index at[3];
    box.place(k, at);
    const Star star = read.unscaled(at);
    factors(k)      = known && read.is_penalty(star) ? (star.centre == 1 ? 1 + epsilon : star.centre) : read.factor(star, at);
  }
};

/// Whether there is a penalty.
template <class Space, class Int>
struct AnyPenalty {
  InnerRows<Space, Int> read;
  static constexpr int slabs = 0, sums = 0, maxima = 1;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *, double *any) const
  {
    if (read.is_penalty(read.unscaled(at))) any[0] = 1;
  }
};

/// Sum and number of the couplings along d on that side, in slab[4 d + 2 side] and behind it.
template <class Space, class Int>
struct SumCouplings {
  InnerRows<Space, Int> read;
  static constexpr int slabs = 12, sums = 0, maxima = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *slab, double *, double *) const
  {
    const Star star = read(at);
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        slab[4 * d + 2 * side] += star.side[d][side];
        slab[4 * d + 2 * side + 1] += star.side[d][side] != 0;
      }
    }
  }
};

/// Sums of log(coupling / fit) and their numbers, as those of SumCouplings; and the number of couplings that the fit has not, or with the other
/// sign.
template <class Space>
KOKKOS_FORCEINLINE_FUNCTION void add_logarithms(const Star &star, const Fit<Space> &fit, const Index (&at)[3], double *slab,
                                                double *unmatched)
{
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      const double expected = fit.coupling(at, d, side), value = star.side[d][side];
      if (!(value * expected > 0)) {
        if (value != 0 || expected != 0) unmatched[0] += 1;
        continue;
      }
      const double ratio = value / expected;
      if (ratio != 1) slab[4 * d + 2 * side] += Kokkos::log(ratio);
      slab[4 * d + 2 * side + 1] += 1;
    }
  }
}

template <class Space, class Int>
struct SumLogarithms {
  InnerRows<Space, Int> read;
  Fit<Space> fit;
  static constexpr int slabs = 12, sums = 1, maxima = 0;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *slab, double *sum, double *) const
  {
    add_logarithms(read(at), fit, at, slab, sum);
  }
};

/// Largest sum of magnitudes over weight, largest negative and largest positive row sum over weight (of those beyond rounding), in largest[1] to
/// largest[3].
KOKKOS_FORCEINLINE_FUNCTION void add_sizes(double size, double sum, double weights, double *largest)
{
  if (size > largest[1] * weights) largest[1] = size / weights;
  if (sum < -16 * epsilon * size) largest[2] = Kokkos::max(largest[2], -sum / weights);
  if (sum > 16 * epsilon * size) largest[3] = Kokkos::max(largest[3], sum / weights);
}

/// Takes `apart`, the sum of the magnitudes of a row less the fit's, over `size` into largest[0]. A NaN is far from everything.
KOKKOS_FORCEINLINE_FUNCTION void add_apart(double apart, double size, double *largest)
{
  if (apart <= largest[0] * size) return;
  const double ratio = size > 0 ? apart / size : 1.0;
  largest[0]         = ratio < 1e300 ? Kokkos::max(largest[0], ratio) : 1e300;
}

/// The same, and the largest deviation of a row in largest[0].
template <class Space>
KOKKOS_FORCEINLINE_FUNCTION void add_deviation(const Star &star, const Fit<Space> &fit, const Index (&at)[3], double *largest)
{
  const double weights = fit.weights(at);
  double apart = star.moved, centre = fit.row_sum(at);
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      const double coupling = fit.coupling(at, d, side);
      apart += Kokkos::abs(star.side[d][side] - coupling);
      centre -= coupling;
    }
  }
  apart += Kokkos::abs(star.centre - centre);
  const double size = star.size();
  add_apart(apart, size, largest);
  add_sizes(size, star.sum(), weights, largest);
}

/// Row sums over the weights, less the fit's; with their number: of direction d in slab[2 d]. And what `Deviation` says of the rows alone.
template <class Space, class Int>
struct SumExcess {
  InnerRows<Space, Int> read;
  Fit<Space> fit;
  Box box; ///< of the rows that count; for a direction, to the ends of its own
  static constexpr int slabs = 6, sums = 0, maxima = 4;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *slab, double *, double *largest) const
  {
    const Star star      = read(at);
    const double weights = fit.weights(at), left = (star.sum() - fit.row_sum(at)) / weights;
    bool within[3];
    for (int d = 0; d < 3; d++) within[d] = at[d] >= box.lo[d] && at[d] < box.hi[d];
    for (int d = 0; d < 3; d++) {
      if (!within[across(d, 0)] || !within[across(d, 1)]) continue;
      slab[2 * d] += left;
      slab[2 * d + 1] += 1;
    }
    add_sizes(star.size(), star.sum(), weights, largest);
  }
};

template <class Space, class Int>
struct Deviation {
  InnerRows<Space, Int> read;
  Fit<Space> fit;
  static constexpr int slabs = 0, sums = 0, maxima = 4;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *, double *largest) const
  {
    add_deviation(read(at), fit, at, largest);
  }
};

/// A body on some lines of a box along direction d: the nodes (row of the line, line, 0).
template <class Body>
struct OnLines {
  Body body;
  Box box;
  int d;
  static constexpr int slabs = 0, sums = 0, maxima = Body::maxima;
  static constexpr Index lines = 8;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&node)[3], double *slab, double *sum, double *most) const
  {
    const int a = across(d, 0), b = across(d, 1);
    Index at[3];
    at[d] = box.lo[d] + node[0];
    at[a] = box.lo[a] + (2 * node[1] + 1) * box.size(a) / (2 * lines);
    at[b] = box.lo[b] + (2 * (3 * node[1] % lines) + 1) * box.size(b) / (2 * lines);
    body(at, slab, sum, most);
  }
};

/// Adds a row away from the ends of the grid, with couplings along the first `dims` directions, of which the others have one node, to the counts and to
/// what Deviation says: the same as count_row() and add_deviation(). False where it is no ordinary row; these then have to.
template <int dims, class Space>
KOKKOS_FORCEINLINE_FUNCTION bool add_ordinary(const Star &star, const Fit<Space> &fit, const Index (&at)[3], double *sum, double *largest)
{
  const double centre = Kokkos::abs(star.centre);
  double size = 0, least = Kokkos::abs(star.side[0][0]), row_sum = star.centre;
  for (int d = 0; d < dims; d++) {
    const double below = Kokkos::abs(star.side[d][0]), above = Kokkos::abs(star.side[d][1]);
    size += below + above;
    row_sum += star.side[d][0] + star.side[d][1];
    least = Kokkos::min(least, Kokkos::min(below, above));
  }
  if (!(least > 0) || size < 1e-30 || centre > 1e8 * size) return false;
  sum[coupled] += 1;
  sum[size_of_row] += size;
  sum[diagonals] += centre;
  for (int d = 0; d < dims; d++) sum[couplings + d] += 1;

  const double w[3]      = {fit.at(0, weight, at[0]), fit.at(1, weight, at[1]), dims == 2 ? 1 : fit.at(2, weight, at[2])};
  const double others[3] = {w[1] * w[2], w[0] * w[2], w[0] * w[1]}, weights = others[2] * w[2];
  double of_fit = fit.shift, apart = 0, couplings = 0;
  for (int d = 0; d < dims; d++) {
    const double lower = fit.at(d, below, at[d]) * others[d], upper = fit.at(d, above, at[d]) * others[d];
    of_fit += fit.at(d, excess, at[d]);
    couplings += lower + upper;
    apart += Kokkos::abs(star.side[d][0] - lower) + Kokkos::abs(star.side[d][1] - upper);
  }
  apart += Kokkos::abs(star.centre - (of_fit * weights - couplings));
  size += centre;
  add_apart(apart, size, largest);
  add_sizes(size, row_sum, weights, largest);
  return true;
}

/// The first walk where something is expected of the matrix: what the rows look like, whether the faces are such, and, of the inner ones, the
/// deviation from the fit; most[0 .. 5] as CheckFaces has them, then those of Deviation.
template <class Space, class Int>
struct Verify {
  InnerRows<Space, Int> rows;
  Fit<Space> fit;
  static constexpr int slabs = 0, sums = counts, maxima = 6 + 4;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *, double *sum, double *most) const
  {
    Star star;
    const bool calm = rows.calm.holds(at);
    if (calm && rows.read.read_full(star, at)) {
      if (rows.read.grid[2] == 1 ? add_ordinary<2>(star, fit, at, sum, most + 6) : add_ordinary<3>(star, fit, at, sum, most + 6)) return;
    } else {
      star = rows.read(at);
    }
    count_row(star, at, rows.read.grid, sum);
    if (!calm) {
      check_faces(rows.faces, false, star, at, most);
      if (rows.faces.count(at) > 0) return;
      rows.leave_faces(star, at);
    }
    add_deviation(star, fit, at, most + 6);
  }
};

/// The same where the fit is known to be far: instead of the deviation the sums of SumLogarithms, the last of them behind the counts.
template <class Space, class Int>
struct VerifyFar {
  InnerRows<Space, Int> rows;
  Fit<Space> fit;
  static constexpr int slabs = 12, sums = counts + 1, maxima = 6;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *slab, double *sum, double *most) const
  {
    Star star = rows.read(at);
    count_row(star, at, rows.read.grid, sum);
    if (!rows.calm.holds(at)) {
      check_faces(rows.faces, false, star, at, most);
      if (rows.faces.count(at) > 0) return;
      rows.leave_faces(star, at);
    }
    add_logarithms(star, fit, at, slab, sum + counts);
  }
};

} // namespace weft::separation
