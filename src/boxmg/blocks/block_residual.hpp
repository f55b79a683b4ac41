/// r = b - A x with several unknowns a node, or without some neighbours: what lines or points of a colour are given as their right-hand side.
#pragma once
#include "boxmg/blocks/block_operator.hpp"

namespace weft::boxmg {

/// Nodes of a region, one after another, x fastest: as blocks are given to their solvers.
WEFT_INLINE Index packed_number(const Region &region, Index x, Index y, Index z)
{
  const Index at[3] = {(x - region.first[0]) / region.step[0], (y - region.first[1]) / region.step[1],
                       (z - region.first[2]) / region.step[2]};
  return at[0] + region.count[0] * (at[1] + region.count[1] * at[2]);
}
WEFT_INLINE void packed_position(const Region &region, Index number, Index (&at)[3])
{
  const Index row = number / region.count[0], plane = row / region.count[1];
  at[0] = region.first[0] + region.step[0] * (number - row * region.count[0]);
  at[1] = region.first[1] + region.step[1] * (row - plane * region.count[1]);
  at[2] = region.first[2] + region.step[2] * plane;
}

/// Where values of unknown c at a node go: to the unknown's vector, or to the node's block among those of a region.
template <class Scalar>
struct Fields {
  Scalar *to;
  Index nodes;

  KOKKOS_INLINE_FUNCTION Scalar &at(int c, Index node, Index) const { return to[c * nodes + node]; }
};
template <class Scalar>
struct Packed {
  Scalar *to;
  int unknowns;

  KOKKOS_INLINE_FUNCTION Scalar &at(int c, Index, Index number) const { return to[number * unknowns + c]; }
};

/// A thread makes the residual of one unknown on a run of nodes.
template <class Space, class Scalar, class To>
struct BlockResidual {
  Couplings<Scalar> a;
  Region region;
  Beside beside;
  const Scalar *b;
  const Scalar *x; ///< null: as if it were 0
  To to;
  Transpose transpose;

  KOKKOS_INLINE_FUNCTION void operator()(const Run &run, int c) const
  {
    const Index nodes = a.grid.nodes(), first = a.grid.n[0] * (run.y + a.grid.n[1] * run.z) + run.x;
    Scalar sum[run_nodes<Space>];
    sum[0] = b[c * nodes + first];
    for (Index j = 1; j < run.count; j++) sum[j] = b[c * nodes + first + j * run.step];
    if (x) {
      for (const Coupling<Scalar> *one = a.begin(c, transpose); one != a.end(c, transpose); one++) {
        const Scalar *const other = x + (transpose == Transpose::no ? one->column : one->row) * nodes;
        if constexpr (is_host_space<Space>)
          subtract(run, *one, other, sum);
        else
          sum[0] -= product(*one, first, {run.x, run.y, run.z}, other);
      }
    }
    const Index number = packed_number(region, run.x, run.y, run.z);
    for (Index j = 0; j < run.count; j++) to.at(c, first + j * run.step, number + j) = sum[j];
  }

private:
  KOKKOS_INLINE_FUNCTION void subtract(const Run &run, const Coupling<Scalar> &one, const Scalar *other, Scalar *sum) const
  {
    Scalar part[run_nodes<Space>];
    Subtract<Space, Scalar, 1>{one.a, one.neighbours(beside), nullptr, other, nullptr, transpose, 1}.make(run, part);
    for (Index j = 0; j < run.count; j++) sum[j] += part[j];
  }
  /// For a device, where coefficients are read from the table as it stands.
  KOKKOS_INLINE_FUNCTION Scalar product(const Coupling<Scalar> &one, Index node, const Index (&at)[3], const Scalar *other) const
  {
    const Neighbours wanted = one.neighbours(beside);
    Scalar sum              = 0;
    for (int k = 0; k < one.a.stencil.count; k++) {
      if (!(wanted >> k & 1)) continue;
      const Index there = one.a.neighbour(k, node, at);
      if (there >= 0) sum += times(transpose == Transpose::no ? one.a.entry(k, node) : one.a.transposed(k, there), other[there]);
    }
    return sum;
  }
};

template <class Space, class Scalar, class To>
void block_residual(const Space &space, const Couplings<Scalar> &a, const Region &region, Beside beside, const Scalar *b, const Scalar *x,
                    const To &to, Transpose transpose)
{
  if (region.nodes() <= 0) return;
  const Runs<Space> runs(region);
  const BlockResidual<Space, Scalar, To> body{a, region, beside, b, x, to, transpose};
  Kokkos::parallel_for(
      "weft boxmg block residual", range(space, runs.all * a.unknowns), KOKKOS_LAMBDA(const Index number) {
        const Index c = number / runs.all;
        body(runs.run(number - c * runs.all), static_cast<int>(c));
      });
}

/// Vectors of the matrix, whose unknowns of a node are neighbours, to those of each unknown; and back.
template <class Space, class Scalar>
void separate_unknowns(const Space &space, Index nodes, int unknowns, const Scalar *together, Scalar *apart)
{
  Kokkos::parallel_for(
      "weft boxmg unknowns apart", range(space, nodes * unknowns), KOKKOS_LAMBDA(const Index i) {
        const Index node                            = i / unknowns;
        apart[(i - node * unknowns) * nodes + node] = together[i];
      });
}
template <class Space, class Scalar>
void join_unknowns(const Space &space, Index nodes, int unknowns, const Scalar *apart, Scalar *together, bool add)
{
  Kokkos::parallel_for(
      "weft boxmg unknowns together", range(space, nodes * unknowns), KOKKOS_LAMBDA(const Index i) {
        const Index node   = i / unknowns;
        const Scalar value = apart[(i - node * unknowns) * nodes + node];
        together[i]        = add ? together[i] + value : value;
      });
}

} // namespace weft::boxmg
