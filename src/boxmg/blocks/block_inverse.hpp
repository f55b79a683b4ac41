/// The matrix of all unknowns of a small grid, for its inverse (coarsest.hpp).
#pragma once
#include "boxmg/blocks/block_operator.hpp"
#include "boxmg/coarsest.hpp"

namespace weft::boxmg {

/// inverse: of grid.nodes() * unknowns rows, unknown by unknown. Does not wait.
template <class Space, class Scalar>
void fill_inverse(const Space &space, const Couplings<Scalar> &a, const Inverse<Space> &inverse)
{
  const auto v = inverse.matrix(), d = inverse.diagonal;
  const auto s      = inverse.state;
  const auto found  = inverse.found;
  const Index nodes = a.grid.nodes(), size = inverse.n;
  Kokkos::deep_copy(space, v, 0.0);
  Kokkos::parallel_for(
      "weft boxmg coarsest", range(space, size), KOKKOS_LAMBDA(const Index row) {
        const Index c = row / nodes, node = row - c * nodes;
        Index at[3];
        a.grid.position(node, at);
        for (const Coupling<Scalar> *one = a.begin(static_cast<int>(c), Transpose::no); one != a.end(static_cast<int>(c), Transpose::no);
             one++) {
          for (int k = 0; k < one->a.stencil.count; k++) {
            Index there[3] = {at[0], at[1], at[2]};
            if (a.grid.move(there, one->a.stencil.offset[k]))
              v(row * size + one->column * nodes + a.grid.node(there)) += static_cast<double>(one->a.entry(k, node));
          }
        }
        d(row) = v(row * size + row);
        s(row) = 0;
        if (row == 0) found() = {size, size};
      });
}

} // namespace weft::boxmg
