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
  const Scalar *values           = nullptr;
  Index pitch                    = 0;
  bool ends                      = false; ///< the grid has ends along all directions: `distances` tell the neighbours, but beyond these
  Index distances[Stencil::most] = {};

  Operator() = default;
  Operator(const Grid &box, const Stencil &neighbours, const Scalar *coefficients, Index apart)
      : grid(box), stencil(neighbours), values(coefficients), pitch(apart), ends(!box.periodic[0] && !box.periodic[1] && !box.periodic[2])
  {
    for (int k = 0; k < stencil.count; k++) distances[k] = distance(grid, stencil.offset[k]);
  }

  KOKKOS_INLINE_FUNCTION Scalar entry(int k, Index node) const { return values[k * pitch + node]; }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(Index node) const { return entry(stencil.centre(), node); }
  /// The neighbour k of a node, or none, -1; or, beyond the ends of the grid, another node: the coefficient is 0 then.
  KOKKOS_INLINE_FUNCTION Index neighbour(int k, Index node, const Index (&at)[3]) const
  {
    if (ends) {
      const Index there = node + distances[k];
      return there < grid.nodes() ? there : -1;
    }
    Index there[3] = {at[0], at[1], at[2]};
    return grid.move(there, stencil.offset[k]) ? grid.node(there) : -1;
  }
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

  WEFT_INLINE static Region all(const Grid &grid)
  {
    Region r;
    for (int d = 0; d < 3; d++) r.count[d] = grid.n[d];
    return r;
  }
  /// Those at even places along a direction, or at odd ones; all for -1.
  WEFT_INLINE static Region every_other(const Grid &grid, int direction, int parity = 0)
  {
    Region r = all(grid);
    if (direction >= 0) {
      r.first[direction] = parity;
      r.step[direction]  = 2;
      r.count[direction] = (grid.n[direction] + 1 - parity) / 2;
    }
    return r;
  }
  WEFT_INLINE Index nodes() const { return count[0] * count[1] * count[2]; }
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

/// The same policy, by which on a device arguments of up to 4 KiB go with the launch, which then waits for no other.
template <class Policy>
auto light(const Policy &policy)
{
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}
template <class Space>
auto range(const Space &space, Index count)
{
  return light(Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count));
}

/// A number or the like that a kernel leaves in the memory of a space.
template <class T, class Space>
using Result = Kokkos::View<T, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The runs of a region, by number: body(run) is called with them.
template <class Space>
struct Runs {
  Region region;
  Index runs, rows, all; ///< of a row, of a plane; of the region
  bool flat, small;      ///< a device divides 64-bit numbers slowly

  explicit Runs(const Region &nodes)
      : region(nodes), runs((nodes.count[0] + run_nodes<Space> - 1) / run_nodes<Space>), rows(nodes.count[1]),
        all(runs * rows * nodes.count[2]), flat(nodes.count[2] == 1), small(all < Index(1) << 31)
  {
  }
  KOKKOS_INLINE_FUNCTION Run run(Index number) const
  {
    const Index row = quotient(number, runs, small);
    return run(number - row * runs, row);
  }
  /// The one of that number in a row, of all rows.
  KOKKOS_INLINE_FUNCTION Run run(Index number, Index row) const
  {
    constexpr Index width = run_nodes<Space>;
    const Index plane = flat ? 0 : quotient(row, rows, small), first = number * width;
    return {region.first[0] + first * region.step[0], region.step[0], Kokkos::min(width, region.count[0] - first),
            region.first[1] + (row - plane * rows) * region.step[1], region.first[2] + plane * region.step[2]};
  }
};

/// Calls body(run) for the nodes of a region.
template <class Space, class Body>
void over_runs(const char *label, const Space &space, const Region &region, const Body &body)
{
  if (region.nodes() <= 0) return;
  const Runs<Space> all(region);
  Kokkos::parallel_for(
      label, range(space, all.all), KOKKOS_LAMBDA(const Index number) { body(all.run(number)); });
}

/// Calls body(node, at) for each node of a grid.
template <class Space, class Body>
void over_nodes(const char *label, const Space &space, const Grid &grid, const Body &body)
{
  Kokkos::parallel_for(
      label, range(space, grid.nodes()), KOKKOS_LAMBDA(const Index node) {
        Index at[3];
        grid.position(node, at);
        body(node, at);
      });
}

} // namespace weft::boxmg
