/// Rows of a matrix on a grid as stars, and sums over the slabs of a grid: the device half of separate.cpp.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "bcr/detect/separate.hpp"
#include "line/host_copies.hpp"

namespace weft {

/// Nodes from lo to hi - 1 of a grid.
struct Box {
  Index lo[3], hi[3];

  WEFT_INLINE Index size(int d) const { return hi[d] > lo[d] ? hi[d] - lo[d] : 0; }
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
  CsrMatrix<double, Int> inside, outside;
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

  KOKKOS_INLINE_FUNCTION Star operator()(const Index (&at)[3]) const
  {
    const Index nx = part.hi[0] - part.lo[0], ny = part.hi[1] - part.lo[1];
    const Index row = at[0] - part.lo[0] + nx * (at[1] - part.lo[1] + ny * (at[2] - part.lo[2]));
    Star star;
    for (Int k = inside.row_starts[row]; k < inside.row_starts[row + 1]; k++) {
      const Index node = inside.columns[k];
      if (add_near(star, at, node - row, nx, ny, inside.values[k])) continue;
      const Index to[3] = {part.lo[0] + node % nx, part.lo[1] + node / nx % ny, part.lo[2] + node / nx / ny};
      add(star, at, to, inside.values[k]);
    }
    if (!outside.row_starts) return star;
    for (Int k = outside.row_starts[row]; k < outside.row_starts[row + 1]; k++) {
      const Index node  = outside_nodes(outside.columns[k]);
      const Index to[3] = {node % grid[0], node / grid[0] % grid[1], node / grid[0] / grid[1]};
      add(star, at, to, outside.values[k]);
    }
    return star;
  }
};

/// For each index of `box` along direction d: body(at, values) over the nodes of its slab adds to N values (0 at first), of which each thread
/// has its own; these are then added, or their largest is taken. Always in the same order. Waits.
template <std::size_t N, class Space, class Body>
std::vector<std::array<double, N>> over_slabs(const Space &space, const Box &box, int d, Combine how, const Body &body)
{
  const int a = across(d, 0), b = across(d, 1);
  const Index slabs = box.size(d), width = box.size(a), area = width * box.size(b);
  std::vector<std::array<double, N>> result(static_cast<std::size_t>(slabs), std::array<double, N>{});
  if (slabs == 0 || area == 0) return result;
  // Host threads walk through memory and meet all slabs; threads of a device share a slab and walk side by side.
  constexpr bool on_host = is_host_space<Space>;
  const Index pieces     = on_host ? space.concurrency() : std::clamp<Index>(65536 / slabs, 1, std::max<Index>(1, area / 32));
  const Kokkos::View<double **[N], Kokkos::LayoutRight, typename Space::memory_space> partial(
      Kokkos::view_alloc(space, "weft slab sums"), static_cast<std::size_t>(pieces), static_cast<std::size_t>(slabs));
  const Box nodes = box;
  const Index nx = box.size(0), ny = box.size(1), all = slabs * area;
  Kokkos::parallel_for(
      "weft sums over slabs", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, on_host ? pieces : pieces * slabs),
      KOKKOS_LAMBDA(const Index number) {
        Index at[3];
        if (on_host) {
          const Index begin = number * all / pieces, end = (number + 1) * all / pieces;
          at[0] = nodes.lo[0] + begin % nx, at[1] = nodes.lo[1] + begin / nx % ny, at[2] = nodes.lo[2] + begin / nx / ny;
          for (Index k = begin; k < end; k++) {
            body(at, &partial(number, at[d] - nodes.lo[d], 0));
            if (++at[0] < nodes.hi[0]) continue;
            at[0] = nodes.lo[0];
            if (++at[1] < nodes.hi[1]) continue;
            at[1] = nodes.lo[1];
            at[2]++;
          }
        } else {
          const Index slab = number / pieces, piece = number % pieces;
          double values[N] = {};
          at[d]            = nodes.lo[d] + slab;
          for (Index k = piece; k < area; k += pieces) {
            at[a] = nodes.lo[a] + k % width;
            at[b] = nodes.lo[b] + k / width;
            body(at, values);
          }
          for (std::size_t n = 0; n < N; n++) partial(piece, slab, n) = values[n];
        }
      });
  const auto host = Kokkos::create_mirror_view(partial);
  Kokkos::deep_copy(space, host, partial);
  space.fence("weft sums over slabs");
  for (Index piece = 0; piece < pieces; piece++) {
    for (Index slab = 0; slab < slabs; slab++) {
      auto &values = result[static_cast<std::size_t>(slab)];
      for (std::size_t n = 0; n < N; n++)
        values[n] = how == Combine::sum ? values[n] + host(piece, slab, n) : std::max(values[n], host(piece, slab, n));
    }
  }
  return result;
}

} // namespace weft
