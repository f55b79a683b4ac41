/// Planes of a box as what relaxes it: for all planes of a colour, which do not couple, one cycle of a hierarchy over their stack, in which nothing
/// couples across the planes. C. A. Thole and U. Trottenberg, Basic smoothing procedures for the multigrid treatment of elliptic 3D operators, Appl.
/// Math. Comput. 19 (1986) 333-345, for two strong directions; Dendy, Two multigrid methods for three-dimensional problems with discontinuous and
/// anisotropic coefficients, SIAM J. Sci. Stat. Comput. 8 (1987) 673-685, for planes with one cycle each.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "boxmg/read_matrix.hpp"
#include "boxmg/smoother.hpp"

namespace weft::boxmg {

template <class Space, class Value, class Scalar>
class HierarchyOn;

/// What a hierarchy over a stack of planes reads: the operator of the whole box, of which the planes are a part.
template <class Value>
struct InPlanes {
  Operator<Value> whole;
  Region planes;
};

/// The neighbours that stay in the planes.
template <class Space, class Value>
MatrixLook look_at(const Space &, const Grid &stack, const InPlanes<Value> &from)
{
  MatrixLook look;
  for (int k = 0; k < from.whole.stencil.count; k++) {
    const Offset &o = from.whole.stencil.offset[k];
    bool inside     = true;
    for (int d = 0; d < 3; d++) inside = inside && (o.d[d] == 0 || !stack.apart[d]);
    if (inside) look.neighbours |= 1u << o.number();
  }
  return look;
}

/// Calls body(here, there) for the nodes of a stack: their numbers in it, and in the box whose `planes` it holds.
template <class Space, class Body>
void over_planes(const char *label, const Space &space, const Grid &stack, const Grid &box, const Region &planes, const Body &body)
{
  over_runs(
      label, space, Region::all(stack), KOKKOS_LAMBDA(const Run &run) {
        const Index first[3] = {planes.first[0] + run.x * planes.step[0], planes.first[1] + run.y * planes.step[1],
                                planes.first[2] + run.z * planes.step[2]};
        const Index here = stack.node({run.x, run.y, run.z}), there = box.node(first);
        for (Index j = 0; j < run.count; j++) body(here + j, there + j * planes.step[0]);
      });
}

/// As of a matrix; nothing is missing.
template <class Space, class Value>
void fill(const Space &space, const Operator<Value> &stack, const InPlanes<Value> &from, Value *values, const Result<Index, Space> &missing)
{
  Kokkos::deep_copy(space, missing, Index(0));
  over_planes(
      "weft boxmg planes", space, stack.grid, from.whole.grid, from.planes, KOKKOS_LAMBDA(const Index here, const Index there) {
        for (int k = 0; k < stack.stencil.count; k++)
          values[k * stack.pitch + here] = from.whole.entry(from.whole.stencil.slot[stack.stencil.offset[k].number()], there);
      });
}

template <class Space, class Value, class Scalar>
class Planes {
public:
  /// For operators such as `a`; of planes across each of the directions, in the order of a sweep. recorded: sweeps may be while a device's stream is
  /// recorded, and so launch on that alone.
  Planes(const Space &space, const Execution &execution, const Operator<Value> &a, const std::vector<int> &across,
         const BoxmgOptions &options, bool recorded)
      : grid_(a.grid)
  {
    for (const int direction : across) {
      for (const Region &planes : classes(grid_, direction, {Region::all(grid_)})) {
        Grid stack             = grid_;
        stack.n[direction]     = planes.count[direction];
        stack.apart[direction] = true;
        colours_.push_back(
            {direction, beside(a.stencil, direction), planes, stack,
             std::make_unique<HierarchyOn<Space, Value, Scalar>>(space, execution, stack, options_in_planes(options), nullptr, !recorded)});
      }
    }
  }

  /// New values; waits. Allocates where what is chosen in the planes is new.
  void read(const Operator<Value> &a, bool symmetric)
  {
    for (auto &colour : colours_) colour.hierarchy->read(a, colour.planes, symmetric);
  }
  /// Of one of the hierarchies, with a node of the box.
  std::optional<BoxmgFault> fault() const
  {
    for (const auto &colour : colours_) {
      if (auto fault = colour.hierarchy->fault()) {
        fault->node = node_of(colour, *fault);
        return fault;
      }
    }
    return std::nullopt;
  }

  /// One sweep over all colours, as Smoother::sweep(): x += B (b - A x) in the planes of each, where B is a cycle from zero.
  void sweep(const Space &space, const Operator<Scalar> &a, const Scalar *b, Scalar *x, Scalar *r, bool backward, bool zero,
             Transpose transpose) const
  {
    const std::size_t count = colours_.size();
    if (zero) Kokkos::deep_copy(space, Array<Scalar, Space>(x, static_cast<std::size_t>(grid_.nodes())), Scalar(0));
    for (std::size_t k = 0; k < count; k++) {
      const Colour &colour = colours_[backward ? count - 1 - k : k];
      const bool untouched = zero && colour.across == colours_[backward ? count - 1 : 0].across; // x is 0 in its planes
      if (!zero || k > 0) subtract(space, a, colour.planes, untouched ? colour.beside : all_neighbours(a.stencil), b, x, r, transpose);
      const Scalar *const residual = zero && k == 0 ? b : r;
      Scalar *const rhs            = colour.hierarchy->rhs();
      over_planes(
          "weft boxmg to planes", space, colour.stack, grid_, colour.planes,
          KOKKOS_LAMBDA(const Index here, const Index there) { rhs[here] = residual[there]; });
      colour.hierarchy->cycle(transpose);
      const Scalar *const found = colour.hierarchy->solution();
      over_planes(
          "weft boxmg from planes", space, colour.stack, grid_, colour.planes,
          KOKKOS_LAMBDA(const Index here, const Index there) { x[there] += found[here]; });
    }
  }

  double bytes() const
  {
    double sum = 0;
    for (const auto &colour : colours_)
      for (const auto &level : colour.hierarchy->levels()) sum += level.bytes;
    return sum;
  }
  double flops() const
  {
    double sum = 0;
    for (const auto &colour : colours_) sum += colour.hierarchy->flops() + 2.0 * std::popcount(colour.beside) * colour.stack.nodes();
    return sum;
  }

private:
  struct Colour {
    int across;
    Neighbours beside; ///< those in other planes
    Region planes;
    Grid stack;
    std::unique_ptr<HierarchyOn<Space, Value, Scalar>> hierarchy;
  };
  static Neighbours beside(const Stencil &stencil, int across)
  {
    Neighbours set = 0;
    for (int k = 0; k < stencil.count; k++) {
      if (stencil.offset[k].d[across] != 0) set |= 1u << k;
    }
    return set;
  }
  /// Coarse nodes are the even ones.
  Index node_of(const Colour &colour, const BoxmgFault &fault) const
  {
    const auto levels = colour.hierarchy->levels();
    Index at[3];
    const auto level = static_cast<std::size_t>(fault.level);
    levels.at(level).grid.position(fault.node, at);
    for (int d = 0; d < 3; d++) {
      for (std::size_t finer = 0; finer < level; finer++) at[d] *= has(levels[finer].coarsened, d) ? 2 : 1;
      at[d] = colour.planes.first[d] + colour.planes.step[d] * at[d];
    }
    return grid_.node(at);
  }

  Grid grid_;
  std::vector<Colour> colours_;
};

} // namespace weft::boxmg
