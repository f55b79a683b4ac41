/// From a CSR matrix with several unknowns a node to couplings, and what is looked at of all unknowns together: symmetry, dominance. Row
/// node * unknowns + c is the equation of unknown c of a node.
#pragma once
#include "boxmg/blocks/block_operator.hpp"
#include "boxmg/read_matrix.hpp"

namespace weft::boxmg {

/// What a matrix has.
struct BlockMatrixLook {
  BlockPattern pattern;
  Index stranger   = no_node; ///< the first row that couples to a node that is no neighbour of its own
  Index not_finite = no_node; ///< the first row with such an entry
};

/// Walks over the entries of a row that are not 0: body(value, unknown of the column, number of the neighbour or -1). The unknowns of a node mostly
/// follow each other.
template <class Value, class Int, class Body>
KOKKOS_INLINE_FUNCTION void over_block_row(const Grid &grid, int unknowns, const CsrMatrix<Value, Int> &matrix, Index row, const Body &body)
{
  const Index node = row / unknowns;
  Index at[3], last = node;
  int number = 13;
  grid.position(node, at);
  for (Int k = matrix.begin(row); k < matrix.end(row); k++) {
    if (matrix.values[k] == 0) continue;
    const Index column = matrix.column(k), there = column / unknowns;
    if (there != last) number = neighbour_number(grid, at, there);
    last = there;
    body(matrix.values[k], static_cast<int>(column - there * unknowns), number);
  }
}

/// Waits.
template <class Space, class Value, class Int>
BlockMatrixLook look_at(const Space &space, const Grid &grid, int unknowns, const CsrMatrix<Value, Int> &matrix)
{
  BlockMatrixLook look;
  look.pattern.unknowns = unknowns;
  const OwnedArray<unsigned, Space> masks("weft boxmg couplings", most_unknowns * most_unknowns);
  Kokkos::parallel_reduce(
      "weft boxmg look", range(space, grid.nodes() * unknowns),
      KOKKOS_LAMBDA(const Index row, Index &stranger, Index &not_finite) {
        const int c = static_cast<int>(row % unknowns);
        over_block_row(grid, unknowns, matrix, row, [&](Value value, int d, int number) {
          if (!finite(value)) not_finite = Kokkos::min(not_finite, row);
          if (number < 0) {
            stranger = Kokkos::min(stranger, row);
            return;
          }
          unsigned *const mask = &masks(c * most_unknowns + d);
          if (!(*mask >> number & 1)) Kokkos::atomic_or(mask, 1u << number);
        });
      },
      Kokkos::Min<Index>(look.stranger), Kokkos::Min<Index>(look.not_finite));
  const auto here = Kokkos::create_mirror_view(masks);
  Kokkos::deep_copy(space, here, masks);
  space.fence("weft boxmg: which unknowns couple");
  std::copy(here.data(), here.data() + here.size(), look.pattern.neighbours);
  for (int c = 0; c < unknowns; c++) look.pattern.of(c, c) |= 1u << 13;
  return look;
}

/// Fills the coefficients of all pairs. missing: in the memory of the space, how many entries there is no place for, or are not finite, of which
/// look_at() says more. Does not wait.
template <class Space, class Value, class Int>
void fill(const Space &space, const Couplings<Value> &a, const CsrMatrix<Value, Int> &matrix, Value *values,
          const Result<Index, Space> &missing)
{
  const Grid grid    = a.grid;
  const int unknowns = a.unknowns;
  Kokkos::parallel_reduce(
      "weft boxmg read", range(space, grid.nodes() * unknowns),
      KOKKOS_LAMBDA(const Index row, Index &count) {
        const Index node = row / unknowns;
        const int c      = static_cast<int>(row - node * unknowns);
        for (const Coupling<Value> *one = a.begin(c, Transpose::no); one != a.end(c, Transpose::no); one++) {
          for (int k = 0; k < one->a.stencil.count; k++) values[one->first + k * one->a.pitch + node] = 0;
        }
        over_block_row(grid, unknowns, matrix, row, [&](Value value, int d, int number) {
          const Coupling<Value> *const one = a.find(c, d);
          const int slot                   = !one || number < 0 ? -1 : one->a.stencil.slot[number];
          if (slot < 0 || !finite(value))
            count++;
          else
            values[one->first + slot * one->a.pitch + node] += value;
        });
      },
      missing);
}

/// How many rows are not as they should be, all unknowns seen together.
struct BlockRows {
  Index not_symmetric = 0; ///< a coupling differs from the one back
  Index not_dominant  = 0; ///< the diagonal is less than the sum of the magnitudes beside it, but for rounding
};

template <class Scalar>
struct LookAtBlocks {
  Couplings<Scalar> a;

  KOKKOS_INLINE_FUNCTION void operator()(Index row, Index &not_symmetric, Index &not_dominant) const
  {
    const Index node = row / a.unknowns;
    const int c      = static_cast<int>(row - node * a.unknowns);
    const Scalar own = modulus(a.find(c, c)->a.diagonal(node));
    Index at[3];
    a.grid.position(node, at);
    bool symmetric = true;
    double beside  = 0;
    for (const Coupling<Scalar> *one = a.begin(c, Transpose::no); one != a.end(c, Transpose::no); one++) {
      const Coupling<Scalar> *const back = a.find(one->column, c);
      for (int k = 0; k < one->a.stencil.count; k++) {
        Index there[3] = {at[0], at[1], at[2]};
        if (!a.grid.move(there, one->a.stencil.offset[k])) continue;
        const Index neighbour = a.grid.node(there);
        const Scalar entry    = one->a.entry(k, node);
        if (one->column == c && k == one->a.stencil.centre()) continue;
        beside += static_cast<double>(modulus(entry));
        const int slot       = back ? back->a.stencil.slot[26 - one->a.stencil.offset[k].number()] : -1;
        const Scalar mirror  = slot < 0 ? Scalar(0) : back->a.entry(slot, neighbour);
        const Scalar there_d = modulus(a.find(one->column, one->column)->a.diagonal(neighbour));
        const Scalar scale   = Kokkos::max(Kokkos::min(own, there_d), modulus(entry));
        symmetric            = symmetric && modulus(entry - mirror) <= symmetry_tolerance<Scalar> * scale;
      }
    }
    not_symmetric += !symmetric;
    not_dominant += !(beside <= (1 + 1e-10) * static_cast<double>(own));
  }
};

/// Waits.
template <class Space, class Scalar>
BlockRows look_at(const Space &space, const Couplings<Scalar> &a)
{
  BlockRows rows;
  Kokkos::parallel_reduce("weft boxmg rows of blocks", range(space, a.grid.nodes() * a.unknowns), LookAtBlocks<Scalar>{a},
                          rows.not_symmetric, rows.not_dominant);
  return rows;
}

} // namespace weft::boxmg
