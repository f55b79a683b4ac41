/// The operator of a level as kernels see it, and how kernels walk over nodes.
#pragma once
#include "boxmg/grid.hpp"
#include "line/tridiagonal.hpp"

namespace weft::boxmg {

/// A coefficient array for each neighbour of the stencil, `pitch` elements apart, in the order of the nodes. Coefficients that would leave the
/// grid are 0.
template <class Scalar>
struct Operator {
  Grid grid;
  Stencil stencil;
  const Scalar *values = nullptr;
  Index pitch          = 0;

  KOKKOS_INLINE_FUNCTION Scalar entry(int k, Index node) const { return values[k * pitch + node]; }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(Index node) const { return entry(stencil.centre(), node); }
  /// Entry (node, neighbour) of the transpose, where the neighbour is k away.
  KOKKOS_INLINE_FUNCTION Scalar transposed(int k, Index neighbour) const { return entry(stencil.mirrored(k), neighbour); }
};

/// Which matrix interpolation is made from.
enum class Part { whole, transpose, symmetric };

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar entry_of(const Operator<Scalar> &a, Part part, int k, Index node, Index neighbour)
{
  if (part == Part::whole) return a.entry(k, node);
  const Scalar mirrored = a.transposed(k, neighbour);
  return part == Part::transpose ? mirrored : (a.entry(k, node) + mirrored) / 2;
}

/// Nodes first[d] + step[d] * k, k = 0 .. count[d] - 1, along each direction.
struct Region {
  Index first[3] = {0, 0, 0}, step[3] = {1, 1, 1}, count[3] = {1, 1, 1};

  static Region all(const Grid &grid)
  {
    Region r;
    for (int d = 0; d < 3; d++) r.count[d] = grid.n[d];
    return r;
  }
  Index nodes() const { return count[0] * count[1] * count[2]; }
};

/// Nodes of a row that a host's thread has in work at a time: as many as stay in its nearest cache, neighbour by neighbour. A device's thread has one.
template <class Space>
inline constexpr int run_nodes = is_host_space<Space> ? 256 : 1;

/// A few nodes of a row along x: x, x + step, ...
struct Run {
  Index x, step, count, y, z;
};

WEFT_INLINE Index quotient(Index number, Index divisor, bool small)
{
  return small ? static_cast<Index>(static_cast<std::uint32_t>(number) / static_cast<std::uint32_t>(divisor)) : number / divisor;
}

/// Calls body(run) for the nodes of a region.
template <class Space, class Body>
void over_runs(const char *label, const Space &space, const Region &region, const Body &body)
{
  constexpr Index width = run_nodes<Space>;
  const Index runs = (region.count[0] + width - 1) / width, rows = region.count[1], all = runs * rows * region.count[2];
  if (region.nodes() <= 0) return;
  const bool flat = region.count[2] == 1, small = all < Index(1) << 31; // a device divides 64-bit numbers slowly
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, all), KOKKOS_LAMBDA(const Index number) {
        const Index row = quotient(number, runs, small), plane = flat ? 0 : quotient(row, rows, small);
        const Index first = (number - row * runs) * width;
        body(Run{region.first[0] + first * region.step[0], region.step[0], Kokkos::min(width, region.count[0] - first),
                 region.first[1] + (row - plane * rows) * region.step[1], region.first[2] + plane * region.step[2]});
      });
}

/// Calls body(node, at) for each node of a grid.
template <class Space, class Body>
void over_nodes(const char *label, const Space &space, const Grid &grid, const Body &body)
{
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, grid.nodes()), KOKKOS_LAMBDA(const Index node) {
        Index at[3];
        grid.position(node, at);
        body(node, at);
      });
}

} // namespace weft::boxmg
