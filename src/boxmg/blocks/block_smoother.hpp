/// What relaxes a level with several unknowns a node: lines of blocks, or points, colour by colour, all unknowns of a node together. The colours are
/// those of one unknown.
///
///   x_L = T_L^-1 (b - what the lines of the colour couple to beside them)
#pragma once
#include "boxmg/blocks/block_residual.hpp"
#include "boxmg/blocks/block_ring.hpp"
#include "boxmg/smoother.hpp"
#include "line/blocks/block_line_solver.hpp"

namespace weft::boxmg {

inline Offset step_along(int direction)
{
  Offset o;
  o.d[direction] = 1;
  return o;
}

/// The blocks that couple each node of a region to the one before it along a direction, to itself and to the one after it, as block_lines.hpp has them;
/// direction -1: to itself, and the others are 0. In a ring of two nodes the other one is met on both sides. A thread fills a row of the three.
template <class Space, class Scalar>
void fill_line_blocks(const Space &space, const Couplings<Scalar> &a, const Region &region, int direction, Scalar *before, Scalar *own,
                      Scalar *after)
{
  const int unknowns = a.unknowns, ahead = direction < 0 ? 13 : step_along(direction).number(), back = 26 - ahead;
  const bool pair = direction >= 0 && a.grid.periodic[direction] && a.grid.n[direction] == 2;
  Kokkos::parallel_for(
      "weft boxmg blocks of lines", range(space, region.nodes() * unknowns), KOKKOS_LAMBDA(const Index number) {
        const Index packed = number / unknowns;
        const int row      = static_cast<int>(number - packed * unknowns);
        Index at[3];
        packed_position(region, packed, at);
        const Index node = a.grid.node(at), first = (packed * unknowns + row) * unknowns;
        for (int q = 0; q < unknowns; q++) before[first + q] = own[first + q] = after[first + q] = 0;
        for (const Coupling<Scalar> *one = a.begin(row, Transpose::no); one != a.end(row, Transpose::no); one++) {
          const Stencil &stencil   = one->a.stencil;
          own[first + one->column] = one->a.diagonal(node);
          if (back != ahead && stencil.slot[back] >= 0) before[first + one->column] = one->a.entry(stencil.slot[back], node);
          if (back != ahead && stencil.slot[ahead] >= 0) after[first + one->column] = one->a.entry(stencil.slot[ahead], node);
        }
        for (int q = 0; pair && q < unknowns; q++) before[first + q] = after[first + q] = before[first + q] + after[first + q];
      });
}

/// x = the blocks of a region.
template <class Space, class Scalar>
void put_blocks(const Space &space, const Grid &grid, const Region &region, int unknowns, const Scalar *from, Scalar *x)
{
  const Index nodes = grid.nodes(), some = region.nodes();
  Kokkos::parallel_for(
      "weft boxmg blocks", range(space, some * unknowns), KOKKOS_LAMBDA(const Index number) {
        const Index c = number / some, packed = number - c * some;
        Index at[3];
        packed_position(region, packed, at);
        x[c * nodes + grid.node(at)] = from[packed * unknowns + c];
      });
}

template <class Space, class Scalar>
class BlockSmoother {
public:
  /// Lines along the directions, in the order of a sweep, but those along which nothing couples; none: points.
  BlockSmoother(const Execution &execution, const BlockOperator<Space, Scalar> &a, const std::vector<int> &directions)
      : execution_(execution), unknowns_(a.unknowns())
  {
    const Stencil stencil = a.stencil();
    for (const int d : directions) {
      if (stencil.slot[step_along(d).number()] >= 0) add_lines(a.grid(), d);
    }
    if (colours_.empty()) add_points(a.grid());
  }

  /// New values of the operator. Does not wait.
  void factor(const Space &space, const Couplings<Scalar> &a)
  {
    for (Nodes &colour : colours_) {
      fill_line_blocks(space, a, colour.region, colour.direction, colour.blocks[0].data(), colour.blocks[1].data(),
                       colour.blocks[2].data());
      if (colour.rings) {
        colour.rings->factor(space, colour.blocks[0].data(), colour.blocks[1].data(), colour.blocks[2].data());
        continue;
      }
      colour.solver->use(colour.blocks[0].data(), colour.blocks[1].data(), colour.blocks[2].data());
      colour.solver->factor();
    }
  }
  /// The first node with a block that cannot be inverted. Waits.
  std::optional<Index> bad_node(const Grid &grid) const
  {
    for (const Nodes &colour : colours_) {
      const auto bad = colour.rings ? colour.rings->bad_pivot() : colour.solver->bad_pivot();
      if (!bad) continue;
      Index at[3];
      packed_position(colour.region, (colour.lines.start(bad->line) + bad->row * colour.lines.layout.stride) / unknowns_, at);
      return grid.node(at);
    }
    return std::nullopt;
  }

  /// One sweep over all colours, in their order or the opposite one. zero: as if x were 0 everywhere before it. r: work space.
  void sweep(const Space &space, const Couplings<Scalar> &a, const Scalar *b, Scalar *x, Scalar *r, bool backward, bool zero,
             Transpose transpose) const
  {
    const Index nodes = a.grid.nodes();
    if (zero) Kokkos::deep_copy(space, Array<Scalar, Space>(x, static_cast<std::size_t>(nodes * unknowns_)), Scalar(0));
    for (std::size_t k = 0; k < colours_.size(); k++) {
      const Nodes &colour = colours_[backward ? colours_.size() - 1 - k : k];
      block_residual(space, a, colour.region, colour.beside, b, zero && k == 0 ? nullptr : x, Packed<Scalar>{r, unknowns_}, transpose);
      if (colour.rings)
        colour.rings->solve(space, r, transpose);
      else
        colour.solver->solve(r, r, {{}, Colour::all, transpose});
      put_blocks(space, a.grid, colour.region, unknowns_, r, x);
    }
  }

  /// Of the lines, in the order of a sweep; none: points.
  std::vector<int> directions() const
  {
    std::vector<int> all;
    for (const Nodes &colour : colours_) {
      if (colour.direction >= 0 && (all.empty() || all.back() != colour.direction)) all.push_back(colour.direction);
    }
    return all;
  }
  /// The blocks that lines are solved with and, as methods keep three blocks a node, their factors.
  double bytes() const
  {
    double sum = 0;
    for (const Nodes &colour : colours_)
      sum += 2 * 3.0 * sizeof(Scalar) * static_cast<double>(colour.blocks[1].size()) + (colour.rings ? colour.rings->bytes() : 0);
    return sum;
  }
  double flops() const
  {
    double sum = 0;
    for (const Nodes &colour : colours_) sum += colour.rings ? colour.rings->flops() : colour.solver->flops();
    return sum;
  }

private:
  /// Lines of one colour, or points, one after another in arrays of their own.
  struct Nodes {
    int direction; ///< -1: points
    Beside beside;
    Region region;
    BlockLines lines;
    std::unique_ptr<BlockLineSolver<Scalar>> solver;
    std::unique_ptr<BlockRings<Space, Scalar>> rings; ///< instead of it
    OwnedArray<Scalar, Space> blocks[3];              ///< to the node before, of the node, to the node after: block_lines.hpp
  };

  void add_lines(const Grid &grid, int direction)
  {
    const int across[2]  = {direction == 0 ? 1 : 0, direction == 2 ? 1 : 2};
    const Index first[3] = {0, 0, 0};
    for (const Region &lines : classes(grid, across[1], classes(grid, across[0], {Region::all(grid)})))
      add(direction, static_cast<Beside>(direction), lines, grid.periodic[direction] && grid.n[direction] > 2,
          lines_of_box(direction, lines.count, unknowns_, first));
  }
  void add_points(const Grid &grid)
  {
    for (const Region &points : classes(grid, 2, classes(grid, 1, classes(grid, 0, {Region::all(grid)})))) {
      LineLayout each;
      each.length           = 1;
      each.stride           = unknowns_;
      each.components       = unknowns_;
      each.across[0]        = points.nodes();
      each.across_stride[0] = unknowns_;
      add(-1, Beside::point, points, false, each);
    }
  }
  void add(int direction, Beside beside, const Region &region, bool ring, const LineLayout &layout)
  {
    Nodes nodes{direction, beside, region, layout, nullptr, nullptr, {}};
    if (ring)
      nodes.rings = std::make_unique<BlockRings<Space, Scalar>>(execution_, nodes.lines);
    else
      nodes.solver = BlockLineSolver<Scalar>::make(execution_, layout, "auto");
    for (auto &blocks : nodes.blocks)
      blocks = OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft boxmg blocks of lines"),
                                         static_cast<std::size_t>(nodes.lines.coefficient_size()));
    colours_.push_back(std::move(nodes));
  }

  const Execution &execution_;
  int unknowns_;
  std::vector<Nodes> colours_;
};

} // namespace weft::boxmg
