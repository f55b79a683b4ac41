/// r = b - A x, or without some neighbours: what lines or points of a colour are given as their right-hand side.
///
/// Words moved per node, five points: 8 for the residual, 5 for what lines are given (two coefficients, b, x of the other lines, r), and 4 for the
/// residual of lines of one colour after those of the other were relaxed from zero.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "boxmg/sums.hpp"
#include "line/relax/matrix_rows.hpp"

namespace weft::boxmg {

/// Neighbours as a set of bits, by their place in the stencil.
using Neighbours = unsigned;

WEFT_INLINE Neighbours all_neighbours(const Stencil &stencil)
{
  return (1u << stencil.count) - 1;
}
/// Those that are not on a node's line along `direction`; -1: all but the node itself.
inline Neighbours off_the_line(const Stencil &stencil, int direction)
{
  Neighbours set = all_neighbours(stencil);
  for (int k = 0; k < stencil.count; k++) {
    const Offset &o = stencil.offset[k];
    bool on         = true;
    for (int d = 0; d < 3; d++) on = on && (d == direction || o.d[d] == 0);
    if (on) set &= ~(1u << k);
  }
  return set;
}

/// together: how many neighbours a device's thread loads at a time.
template <class Space, class Scalar, int together>
struct Subtract {
  Operator<Scalar> a;
  Neighbours neighbours;
  const Scalar *b; ///< null: as if it were 0
  const Scalar *x;
  Scalar *r;
  Transpose transpose;
  RealOf<Scalar> of_b; ///< b counts so many times

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run) const
  {
    Scalar sum[run_nodes<Space>];
    make(run, sum);
    const Index first = a.grid.n[0] * (run.y + a.grid.n[1] * run.z) + run.x;
    for (Index j = 0; j < run.count; j++) r[first + j * run.step] = sum[j];
  }

  /// The residual of the nodes of a run.
  KOKKOS_INLINE_FUNCTION void make(const Run &run, Scalar (&sum)[run_nodes<Space>]) const
  {
    const Grid &grid = a.grid;
    const Index row  = grid.n[0] * (run.y + grid.n[1] * run.z);
    if constexpr (!is_host_space<Space>) {
      sum[0] = at_node(row + run.x, {run.x, run.y, run.z});
    } else {
      for (Index j = 0; j < run.count; j++) sum[j] = b ? of_b * b[row + run.x + j * run.step] : Scalar(0);
      for (int k = 0; k < a.stencil.count; k++) {
        if (!(neighbours >> k & 1)) continue;
        const Offset o = a.stencil.offset[k];
        Index there[3] = {0, run.y, run.z};
        if (!grid.move(there, 1, o.d[1]) || !grid.move(there, 2, o.d[2])) continue;
        subtract(run, k, row, grid.n[0] * (there[1] + grid.n[1] * there[2]), o.d[0], sum);
      }
    }
  }

  /// For a device: the loads of some neighbours are on their way together.
  KOKKOS_INLINE_FUNCTION Scalar at_node(Index node, const Index (&at)[3]) const
  {
    const bool own = transpose == Transpose::no;
    Scalar sum     = b ? of_b * b[node] : Scalar(0);
    for (Neighbours left = neighbours; left != 0;) {
      Scalar c[together], v[together];
      for (int m = 0; m < together; m++) {
        const int k       = Kokkos::countr_zero(left | 1u << 31);
        const Index there = left != 0 ? a.neighbour(k, node, at) : -1;
        left &= left - 1; // without its lowest bit
        c[m] = there < 0 ? Scalar(0) : own ? a.entry(k, node) : a.transposed(k, there);
        v[m] = there < 0 ? Scalar(0) : x[there];
      }
      for (int m = 0; m < together; m++) sum -= times(c[m], v[m]);
    }
    return sum;
  }

private:
  KOKKOS_INLINE_FUNCTION void subtract(const Run &run, int k, Index row, Index there, int dx, Scalar *sum) const
  {
    const bool own    = transpose == Transpose::no;
    const int slot    = own ? k : a.stencil.mirrored(k);
    const Scalar *c   = a.values + slot * a.pitch + (own ? row : there + dx);
    const Scalar *v   = x + there + dx;
    const Index n     = a.grid.n[0];
    const Index last  = run.x + (run.count - 1) * run.step;
    const Index first = run.x + dx < 0 ? 1 : 0, end = last + dx >= n ? run.count - 1 : run.count;
    if (run.step == 1)
      for (Index j = first; j < end; j++) sum[j] -= c[run.x + j] * v[run.x + j];
    else
      for (Index j = first; j < end; j++) sum[j] -= c[run.x + j * run.step] * v[run.x + j * run.step];
    if (!a.grid.periodic[0]) return;
    // Around the ends: n nodes on, or back.
    if (first > 0) sum[0] -= c[run.x + (own ? 0 : n)] * v[run.x + n];
    if (end < run.count) sum[run.count - 1] -= c[last - (own ? 0 : n)] * v[last - n];
  }
};

template <class Space, class Scalar>
void subtract(const Space &space, const Operator<Scalar> &a, const Region &region, Neighbours neighbours, const Scalar *b, const Scalar *x,
              Scalar *r, Transpose transpose, RealOf<Scalar> of_b = 1)
{
  const auto launch = [&](const auto &body) { over_runs("weft boxmg residual", space, region, body); };
  const int count   = std::popcount(neighbours);
  if (count <= 2)
    launch(Subtract<Space, Scalar, 2>{a, neighbours, b, x, r, transpose, of_b});
  else if (count <= 5)
    launch(Subtract<Space, Scalar, 5>{a, neighbours, b, x, r, transpose, of_b});
  else
    launch(Subtract<Space, Scalar, 9>{a, neighbours, b, x, r, transpose, of_b});
}

/// r = b - A x at a node of a grid with ends, for a device: all loads are on their way together. Neighbours are told by distance alone; those beyond the
/// ends have coefficients of 0. Where couplings mirror each other, those to nodes before are read from those, which have been read for them.
template <class Scalar, int count>
struct NearRow {
  const Scalar *c[count];
  Index distance[count], row, plane, nodes; ///< row, plane: nodes of a row, rows of a plane
  const Scalar *b;                          ///< null: as if it were 0
  const Scalar *x;
  RealOf<Scalar> of_b; ///< b counts so many times

  NearRow(const Operator<Scalar> &a, Neighbours taken, const Scalar *rhs, const Scalar *solution, bool mirrors, RealOf<Scalar> of_rhs)
      : row(a.grid.n[0]), plane(a.grid.n[1]), nodes(a.grid.nodes()), b(rhs), x(solution), of_b(of_rhs)
  {
    for (int m = 0; m < count; m++, taken &= taken - 1) {
      const int k = std::countr_zero(taken), back = a.stencil.mirrored(k);
      distance[m] = a.distances[k];
      c[m]        = mirrors && distance[m] < 0 && back >= 0 ? a.values + back * a.pitch + distance[m] : a.values + k * a.pitch;
    }
  }
  KOKKOS_INLINE_FUNCTION Scalar at_node(Index node, const Index (&)[3]) const
  {
    Scalar sum = b ? of_b * b[node] : Scalar(0), own[count], from[count];
    for (int m = 0; m < count; m++) {
      const Index there = node + distance[m];
      const bool inside = static_cast<std::uint64_t>(there) < static_cast<std::uint64_t>(nodes);
      own[m]            = inside ? c[m][node] : Scalar(0);
      from[m]           = inside ? x[there] : Scalar(0);
    }
    for (int m = 0; m < count; m++) sum -= times(own[m], from[m]);
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void make(const Run &run, Scalar (&sum)[1]) const
  {
    sum[0] = at_node(run.x + row * (run.y + plane * run.z), {run.x, run.y, run.z});
  }
};

/// launch(residual at nodes), by the number of neighbours, which a device's kernel had better know. mirrors: couplings do, to the last bit.
template <class Space, class Scalar, class Launch>
void by_neighbours(const Operator<Scalar> &a, Neighbours taken, const Scalar *b, const Scalar *x, const Launch &launch,
                   bool mirrors = false, RealOf<Scalar> of_b = 1)
{
  const int count = std::popcount(taken);
  if constexpr (!is_host_space<Space>) {
    if (a.ends && count == 2) return launch(NearRow<Scalar, 2>(a, taken, b, x, mirrors, of_b));
    if (a.ends && count == 5) return launch(NearRow<Scalar, 5>(a, taken, b, x, mirrors, of_b));
    if (a.ends && count == 7) return launch(NearRow<Scalar, 7>(a, taken, b, x, mirrors, of_b));
    if (a.ends && count == 6) return launch(NearRow<Scalar, 6>(a, taken, b, x, mirrors, of_b));
    if (a.ends && count == 9) return launch(NearRow<Scalar, 9>(a, taken, b, x, mirrors, of_b));
  }
  if (count <= 5)
    launch(Subtract<Space, Scalar, 5>{a, taken, b, x, nullptr, Transpose::no, of_b});
  else
    launch(Subtract<Space, Scalar, 9>{a, taken, b, x, nullptr, Transpose::no, of_b});
}

/// The residual in the precision that cycles work in, and the sum of its squares before it is rounded.
template <class Space, class Value, class Scalar, class Residual>
struct RoundedResidual {
  Residual residual; ///< of a run's nodes
  Grid grid;
  Scalar *rounded;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run, double &squares) const
  {
    Value sum[run_nodes<Space>];
    residual.make(run, sum);
    Scalar *const to = rounded + grid.n[0] * (run.y + grid.n[1] * run.z) + run.x;
    for (Index j = 0; j < run.count; j++) {
      to[j * run.step] = static_cast<Scalar>(sum[j]);
      squares += square_of(widened(sum[j]));
    }
  }
};

/// squares: where their sum goes. mirrors: couplings do, to the last bit. Does not wait.
template <class Space, class Value, class Scalar>
void rounded_residual(const Space &space, const Operator<Value> &a, bool mirrors, const Value *b, const Value *x, Scalar *rounded,
                      const Sum &squares)
{
  const auto launch = [&](const auto &residual) {
    sum_over_runs("weft boxmg rounded residual", space, Region::all(a.grid),
                  RoundedResidual<Space, Value, Scalar, std::decay_t<decltype(residual)>>{residual, a.grid, rounded}, squares);
  };
  by_neighbours<Space>(a, all_neighbours(a.stencil), b, x, launch, mirrors);
}

} // namespace weft::boxmg
