/// What separate() asks of the rows of a matrix: the functors of its sums over slabs.
#pragma once
#include <limits>

#include "bcr/detect/faces.hpp"
#include "bcr/detect/star.hpp"

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

template <class Space, class Int>
struct CountRows {
  StarReader<Space, Int> read;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *values) const
  {
    const Star star = read(at);
    values[foreign] += star.foreign;
    values[not_finite] += star.not_finite;
    const bool penalty = star.penalty();
    const double size  = star.couplings();
    values[coupled] += size > 0;
    values[penalties] += penalty;
    values[vanishing] += size > 0 && size < 1e-30;
    values[size_of_row] += size > 0 ? size : Kokkos::abs(star.centre);
    values[diagonals] += size > 0 && !penalty ? Kokkos::abs(star.centre) : 0;
    for (int d = 0; d < 3; d++) {
      values[wraps + d] += star.wraps[d];
      const bool coupled = star.side[d][0] != 0 || star.side[d][1] != 0;
      if (!coupled) continue;
      values[couplings + d] += 1;
      for (int f = 0; f < 3; f++) {
        if (f == d || !inside_face(f, at)) continue;
        for (int side = 0; side < 2; side++) {
          if (at[f] == (side == 0 ? 0 : read.grid[f] - 1)) values[(penalty ? along_penalties : along_faces) + 2 * f + side] += 1;
        }
      }
    }
  }
  /// False on the rim of a face, where other faces have a say. A face of two nodes or less across has no other nodes.
  KOKKOS_INLINE_FUNCTION bool inside_face(int f, const Index (&at)[3]) const
  {
    for (int d = 0; d < 3; d++) {
      if (d != f && read.grid[d] > 2 && (at[d] == 0 || at[d] == read.grid[d] - 1)) return false;
    }
    return true;
  }
};

/// Largest coupling and largest diagonal.
template <class Space, class Int>
struct LargestEntries {
  StarReader<Space, Int> read;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *largest) const
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

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *flags) const
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
template <class Space, class Int>
struct CheckFaces {
  StarReader<Space, Int> read;
  Faces<Space> faces;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *drop) const
  {
    const int mine = faces.count(at);
    if (mine == 0) return;
    const Star star = read(at);
    if (read.penalties && star.penalty()) return; // what it would couple to along its faces does not matter
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
};

/// Collects the rows of a face: from the nodes of its layer, and from the layer within for the couplings inward.
template <class Space, class Int>
struct CollectFace {
  StarReader<Space, Int> read;
  Faces<Space> faces;
  int d, side;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *unusable) const
  {
    const Index node = faces.number(d, at);
    const auto &rows = faces.rows[d][side];
    const Star star  = read(at);
    if (faces.holds(d, side, at)) {
      rows(node, 0) = star.centre;
      rows(node, 1) = star.side[d][1 - side];
      if (star.centre == 0) unusable[0] += 1;
    } else {
      rows(node, 2) = star.side[d][side];
    }
  }
};

/// The fit (1), (2): for each direction the couplings to the neighbours below and above, the weights, the row sums over weight.
enum Kind { below, above, weight, excess, kinds };

template <class Space>
struct Fit {
  Index grid[3], start[3];
  double shift = 0;
  Kokkos::View<double *, typename Space::memory_space> table;

  KOKKOS_INLINE_FUNCTION double at(int d, int kind, Index i) const { return table(start[d] + kind * grid[d] + i); }
  KOKKOS_INLINE_FUNCTION double weights(const Index (&at)[3]) const
  {
    return this->at(0, weight, at[0]) * this->at(1, weight, at[1]) * this->at(2, weight, at[2]);
  }
  KOKKOS_INLINE_FUNCTION double coupling(const Index (&at)[3], int d, int side) const
  {
    return this->at(d, side == 0 ? below : above, at[d]) * this->at(across(d, 0), weight, at[across(d, 0)]) *
           this->at(across(d, 1), weight, at[across(d, 1)]);
  }
  KOKKOS_INLINE_FUNCTION double row_sum(const Index (&at)[3]) const
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

  KOKKOS_INLINE_FUNCTION Star unscaled(const Index (&at)[3]) const
  {
    Star star = read(at);
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        if (!faces.next_to(d, side, at)) continue;
        const auto &rows = faces.rows[d][side];
        const Index node = faces.number(d, at);
        star.centre -= rows(node, 2) * rows(node, 1) / rows(node, 0);
        star.side[d][side] = 0;
      }
    }
    return star;
  }
  KOKKOS_INLINE_FUNCTION Star operator()(const Index (&at)[3]) const
  {
    Star star = unscaled(at);
    if (scaled < 0 && !read.penalties) return star;
    const double by  = factor(star, at);
    const bool alone = is_penalty(star) && !one_direction;
    star.centre /= by;
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) star.side[d][side] = alone ? 0 : star.side[d][side] / by;
    }
    return star;
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
    const Index nx = box.size(0), ny = box.size(1);
    const Index at[3] = {box.lo[0] + k % nx, box.lo[1] + k / nx % ny, box.lo[2] + k / nx / ny};
    const Star star   = read.unscaled(at);
    factors(k)        = known && read.is_penalty(star) ? (star.centre == 1 ? 1 + epsilon : star.centre) : read.factor(star, at);
  }
};

/// Whether there is a penalty.
template <class Space, class Int>
struct AnyPenalty {
  InnerRows<Space, Int> read;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *any) const
  {
    if (read.is_penalty(read.unscaled(at))) any[0] = 1;
  }
};

/// Sum, number and the value at a reference node of the couplings along d.
template <class Space, class Int>
struct SumCouplings {
  InnerRows<Space, Int> read;
  int d;
  Index reference[2];

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *sums) const
  {
    const Star star           = read(at);
    const bool is_a_reference = at[across(d, 0)] == reference[0] && at[across(d, 1)] == reference[1];
    for (int side = 0; side < 2; side++) {
      const double value = star.side[d][side];
      sums[3 * side] += value;
      sums[3 * side + 1] += value != 0;
      if (is_a_reference) sums[3 * side + 2] += value;
    }
  }
};

/// Sums of log(coupling / fit) and their numbers.
template <class Space, class Int>
struct SumLogarithms {
  InnerRows<Space, Int> read;
  Fit<Space> fit;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *sums) const
  {
    const Star star = read(at);
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        const double expected = fit.coupling(at, d, side);
        if (!(star.side[d][side] * expected > 0)) continue; // no such coupling, or one of the other sign
        const double ratio = star.side[d][side] / expected;
        if (ratio != 1) sums[4 * d + 2 * side] += Kokkos::log(ratio);
        sums[4 * d + 2 * side + 1] += 1;
      }
    }
  }
};

/// Row sums over the weights, less the fit's; with their number.
template <class Space, class Int>
struct SumExcess {
  InnerRows<Space, Int> read;
  Fit<Space> fit;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *sums) const
  {
    sums[0] += (read(at).sum() - fit.row_sum(at)) / fit.weights(at);
    sums[1] += 1;
  }
};

/// Largest deviation of a row, largest sum of magnitudes over weight, largest negative and largest positive row sum over weight (of those
/// beyond rounding).
template <class Space, class Int>
struct Deviation {
  InnerRows<Space, Int> read;
  Fit<Space> fit;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *largest) const
  {
    const Star star = read(at);
    double apart = star.moved, centre = fit.row_sum(at);
    for (int d = 0; d < 3; d++) {
      for (int side = 0; side < 2; side++) {
        const double coupling = fit.coupling(at, d, side);
        apart += Kokkos::abs(star.side[d][side] - coupling);
        centre -= coupling;
      }
    }
    apart += Kokkos::abs(star.centre - centre);
    const double size = star.size(), sum = star.sum();
    if (apart > 0) largest[0] = Kokkos::max(largest[0], size > 0 ? apart / size : 1.0);
    largest[1] = Kokkos::max(largest[1], size / fit.weights(at));
    if (sum < -16 * epsilon * size) largest[2] = Kokkos::max(largest[2], -sum / fit.weights(at));
    if (sum > 16 * epsilon * size) largest[3] = Kokkos::max(largest[3], sum / fit.weights(at));
  }
};

} // namespace weft::separation
