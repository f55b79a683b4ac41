/// Rows of a matrix on a grid as stars.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <vector>

#include "bcr/detect/separate.hpp"
#include "line/host_copies.hpp"

namespace weft {

/// Nodes from lo to hi - 1 of a grid.
struct Box {
  Index lo[3], hi[3];

  WEFT_INLINE Index size(int d) const { return hi[d] > lo[d] ? hi[d] - lo[d] : 0; }
  /// The node of that number, x fastest.
  WEFT_INLINE void place(Index number, Index (&at)[3]) const
  {
    const Index nx = size(0), ny = size(1);
    at[0] = lo[0] + number % nx;
    at[1] = lo[1] + number / nx % ny;
    at[2] = lo[2] + number / nx / ny;
  }
  WEFT_INLINE bool holds(const Index (&at)[3]) const
  {
    return at[0] >= lo[0] && at[0] < hi[0] && at[1] >= lo[1] && at[1] < hi[1] && at[2] >= lo[2] && at[2] < hi[2];
  }
  Box operator&(const Box &other) const
  {
    Box both;
    for (int d = 0; d < 3; d++) both.lo[d] = std::max(lo[d], other.lo[d]), both.hi[d] = std::min(hi[d], other.hi[d]);
    return both;
  }
};

/// The directions of a slab across direction d, the lower one first.
WEFT_INLINE int across(int d, int which)
{
  return which == 0 ? (d == 0 ? 1 : 0) : (d == 2 ? 1 : 2);
}

/// A row of a matrix on a grid: its diagonal, its couplings to the neighbours below (0) and above (1) along each direction.
struct Star {
  double centre     = 0;
  double side[3][2] = {};
  double moved      = 0;  ///< |the row - its star|, summed, of a matrix that is read `as_stars`
  bool wraps[3]     = {}; ///< a coupling across the ends of a direction of more than two nodes
  int foreign       = 0;  ///< entries that couple to no neighbour
  int not_finite    = 0;

  /// Sum of the row.
  KOKKOS_INLINE_FUNCTION double sum() const
  {
    return centre + (side[0][0] + side[0][1]) + (side[1][0] + side[1][1]) + (side[2][0] + side[2][1]);
  }
  /// Sum of the magnitudes of the couplings.
  KOKKOS_INLINE_FUNCTION double couplings() const
  {
    double total = 0;
    for (int d = 0; d < 3; d++) total += Kokkos::abs(side[d][0]) + Kokkos::abs(side[d][1]);
    return total;
  }
  /// Sum of the magnitudes of the row.
  KOKKOS_INLINE_FUNCTION double size() const { return Kokkos::abs(centre) + couplings(); }
  /// True where the diagonal says what the unknown is, as in a Dirichlet condition by penalty: its couplings lose half of
  /// their digits beside it.
  KOKKOS_INLINE_FUNCTION bool penalty() const
  {
    const double coupled = couplings();
    return coupled > 0 && Kokkos::abs(centre) > 1e8 * coupled;
  }
};

/// Reads the rows of a GridMatrix.
template <class Space, class Int>
struct StarReader {
  Box part;
  Index grid[3];
  double per_unit = 1;     ///< times each entry
  bool as_stars   = false; ///< as GridMatrix::as_stars
  bool penalties  = false; ///< some rows are Star::penalty(), and some are not
  CsrMatrix<KernelReal, Int> inside, outside;
  Kokkos::View<Index *, typename Space::memory_space> outside_nodes;

  StarReader(const Space &space, const GridMatrix<Int> &matrix) : as_stars(matrix.as_stars), inside(matrix.inside), outside(matrix.outside)
  {
    for (int d = 0; d < 3; d++) {
      grid[d]    = matrix.grid[d];
      part.lo[d] = matrix.first[d];
      part.hi[d] = matrix.first[d] + matrix.nodes[d];
    }
    outside_nodes = from_host(space, "weft outside nodes", matrix.outside_nodes);
  }

  KOKKOS_INLINE_FUNCTION void add(Star &star, const Index (&at)[3], const Index (&to)[3], double value) const
  {
    if (value == 0) return; // room that was left for nothing
    if (!Kokkos::isfinite(value)) {
      star.not_finite++;
      return;
    }
    value *= per_unit;
    int direction = -1, apart = 0;
    for (int d = 0; d < 3; d++) {
      if (to[d] != at[d]) direction = d, apart++;
    }
    if (apart == 0) {
      star.centre += value;
      return;
    }
    if (apart > 1 && as_stars) {
      add_as_star(star, at, to, value, apart);
      return;
    }
    const Index step = to[direction] - at[direction], last = grid[direction] - 1;
    if (apart > 1 || (step != 1 && step != -1 && step != last && step != -last)) {
      star.foreign++;
      return;
    }
    const bool wraps = step != 1 && step != -1;
    star.wraps[direction] |= wraps;
    star.side[direction][wraps ? step < 0 : step > 0] += value;
  }

  /// A coupling to a neighbour along several directions as one to each of those between, which keeps row sums and second differences.
  KOKKOS_INLINE_FUNCTION void add_as_star(Star &star, const Index (&at)[3], const Index (&to)[3], double value, int apart) const
  {
    for (int d = 0; d < 3; d++) {
      const Index step = to[d] - at[d], last = grid[d] - 1;
      if (step == 0) continue;
      const bool near = step == 1 || step == -1;
      if (!near && step != last && step != -last) {
        star.foreign++;
        return;
      }
      if (!near) star.wraps[d] = true;
      star.side[d][(near ? step > 0 : step < 0) ? 1 : 0] += value;
    }
    star.centre -= (apart - 1) * value;
    star.moved += 2 * apart * Kokkos::abs(value);
  }

  /// The same for the node itself and its neighbours, without a division; false for other nodes and numbers that are not finite.
  KOKKOS_INLINE_FUNCTION bool add_near(Star &star, const Index (&at)[3], Index offset, Index nx, Index ny, double value) const
  {
    if (!Kokkos::isfinite(value)) return false;
    value *= per_unit;
    if (offset == 0)
      star.centre += value;
    else if (offset == -1 && at[0] > part.lo[0])
      star.side[0][0] += value;
    else if (offset == 1 && at[0] + 1 < part.hi[0])
      star.side[0][1] += value;
    else if (offset == -nx && at[1] > part.lo[1])
      star.side[1][0] += value;
    else if (offset == nx && at[1] + 1 < part.hi[1])
      star.side[1][1] += value;
    else if (offset == -nx * ny && at[2] > part.lo[2])
      star.side[2][0] += value;
    else if (offset == nx * ny && at[2] + 1 < part.hi[2])
      star.side[2][1] += value;
    else
      return false;
    return true;
  }

  /// A row of the node and all its neighbours in rising order, as most are, without a look at each entry. False for other rows.
  KOKKOS_FORCEINLINE_FUNCTION bool read_full(Star &star, const Index (&at)[3], Index row, Index nx, Index ny) const
  {
    const bool flat = part.hi[2] - part.lo[2] == 1;
    const Int begin = inside.row_starts[row], half = flat ? 2 : 3;
    if (inside.row_starts[row + 1] - begin != 2 * half + 1) return false;
    if (at[0] == part.lo[0] || at[0] + 1 == part.hi[0] || at[1] == part.lo[1] || at[1] + 1 == part.hi[1]) return false;
    const Int *const column = inside.columns + begin + half;
    if (column[0] != row || column[-1] != row - 1 || column[1] != row + 1 || column[-2] != row - nx || column[2] != row + nx) return false;
    if (!flat && (at[2] == part.lo[2] || at[2] + 1 == part.hi[2] || column[-3] != row - nx * ny || column[3] != row + nx * ny))
      return false;
    const KernelReal *const value = inside.values + begin + half;
    star.centre                   = per_unit * value[0];
    for (int d = 0; d < 3; d++) {
      if (d == 2 && flat) break;
      star.side[d][0] = per_unit * value[-1 - d];
      star.side[d][1] = per_unit * value[1 + d];
    }
    return Kokkos::isfinite(star.size());
  }

  /// False where it is another one: read(at) then has it.
  KOKKOS_FORCEINLINE_FUNCTION bool read_full(Star &star, const Index (&at)[3]) const
  {
    const Index nx = part.hi[0] - part.lo[0], ny = part.hi[1] - part.lo[1], row = row_of(at, nx, ny);
    return read_full(star, at, row, nx, ny) && !(outside.row_starts && outside.row_starts[row] != outside.row_starts[row + 1]);
  }

  KOKKOS_FORCEINLINE_FUNCTION Star operator()(const Index (&at)[3]) const
  {
    const Index nx = part.hi[0] - part.lo[0], ny = part.hi[1] - part.lo[1], row = row_of(at, nx, ny);
    Star star;
    if (!read_full(star, at, row, nx, ny)) {
      star = {};
      read_each(star, at, row, nx, ny);
    }
    if (outside.row_starts) read_outside(star, at, row);
    return star;
  }

private:
  KOKKOS_FORCEINLINE_FUNCTION Index row_of(const Index (&at)[3], Index nx, Index ny) const
  {
    return at[0] - part.lo[0] + nx * (at[1] - part.lo[1] + ny * (at[2] - part.lo[2]));
  }
  KOKKOS_FUNCTION void read_each(Star &star, const Index (&at)[3], Index row, Index nx, Index ny) const
  {
    for (Int k = inside.row_starts[row]; k < inside.row_starts[row + 1]; k++) {
      const Index node = inside.columns[k];
      if (add_near(star, at, node - row, nx, ny, inside.values[k])) continue;
      Index to[3];
      part.place(node, to);
      add(star, at, to, inside.values[k]);
    }
  }
  KOKKOS_FUNCTION void read_outside(Star &star, const Index (&at)[3], Index row) const
  {
    for (Int k = outside.row_starts[row]; k < outside.row_starts[row + 1]; k++) {
      const Index node  = outside_nodes(outside.columns[k]);
      const Index to[3] = {node % grid[0], node / grid[0] % grid[1], node / grid[0] / grid[1]};
      add(star, at, to, outside.values[k]);
    }
  }
};

} // namespace weft
