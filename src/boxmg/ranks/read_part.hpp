/// From a rank's rows of a matrix to its part of the finest level's diagonals.
#pragma once
#include "boxmg/ranks/part.hpp"
#include "boxmg/ranks/rows_of_part.hpp"

namespace weft::boxmg {

/// The rows as kernels see them.
template <class Value, class Int>
struct PartReader {
  CsrMatrix<Value, Int> inside, outside;
  const PartOfGrid *part;     ///< on the host
  const Index *outside_nodes; ///< in the memory of the kernel
  Grid whole, own;            ///< own: the owned box
  Index first[3];             ///< its first node
  OwnedNodes nodes;           ///< where its nodes are in the extended box

  PartReader(const RowsOfPart<Value, Int> &rows, const Index *nodes_outside, const PartOfGrid &of)
      : inside(rows.inside), outside(rows.outside), part(&of), outside_nodes(nodes_outside), whole(of.parts.whole), nodes(of)
  {
    for (int d = 0; d < 3; d++) {
      own.n[d] = of.box.size(d);
      first[d] = of.box.first[d];
    }
  }
  /// True of a node that has all its neighbours in the owned box.
  KOKKOS_INLINE_FUNCTION bool surrounded(const Index (&at)[3]) const
  {
    bool all = true;
    for (int d = 0; d < 3; d++) all = all && (whole.n[d] == 1 || (at[d] > 0 && at[d] + 1 < own.n[d]));
    return all;
  }
  /// Calls body(value, number of the neighbour or -1) for each entry of a row that is not 0.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void over_row(Index row, const Index (&at)[3], const Body &body) const
  {
    const Index from[3] = {first[0] + at[0], first[1] + at[1], first[2] + at[2]};
    for (Int k = inside.begin(row); k < inside.end(row); k++) {
      if (inside.values[k] == 0) continue;
      Index to[3];
      own.position(inside.column(k), to);
      for (int d = 0; d < 3; d++) to[d] += first[d];
      body(inside.values[k], neighbour_number(whole, from, whole.node(to)));
    }
    if (!outside.row_starts) return;
    for (Int k = outside.begin(row); k < outside.end(row); k++) {
      if (outside.values[k] != 0) body(outside.values[k], neighbour_number(whole, from, outside_nodes[outside.column(k)]));
    }
  }
};

/// What the rows of all ranks have.
template <class Space, class Value, class Int>
MatrixLook look_at(const Space &space, const Grid &, const PartReader<Value, Int> &rows)
{
  const PartOfGrid &part = *rows.part;
  MatrixLook here, all;
  Kokkos::parallel_reduce(
      "weft boxmg look", range(space, rows.own.nodes()),
      KOKKOS_LAMBDA(const Index row, unsigned &mask, Index &stranger, Index &not_finite) {
        Index at[3];
        rows.nodes.place(row, at);
        rows.over_row(row, at, [&](Value value, int number) {
          if (!finite(value)) not_finite = Kokkos::min(not_finite, row);
          if (number < 0)
            stranger = Kokkos::min(stranger, row);
          else
            mask |= 1u << number;
        });
      },
      Kokkos::BOr<unsigned>(here.neighbours), Kokkos::Min<Index>(here.stranger), Kokkos::Min<Index>(here.not_finite));
  for (Index *row : {&here.stranger, &here.not_finite}) *row = *row == no_node ? no_node : part.whole_node(rows.nodes(*row));
  for (const MatrixLook &look : part.gathered(here)) {
    all.neighbours |= look.neighbours;
    all.stranger   = std::min(all.stranger, look.stranger);
    all.not_finite = std::min(all.not_finite, look.not_finite);
  }
  return all;
}

/// As of a whole matrix; ghosts come from their owners.
template <class Space, class Value, class Int>
void fill(const Space &space, const Operator<Value> &a, const PartReader<Value, Int> &rows, Value *values,
          const Result<Index, Space> &missing)
{
  const Operator<Value> own(rows.own, a.stencil, nullptr, 0); // for its distances
  Kokkos::deep_copy(space, missing, Index(0));
  Kokkos::parallel_for(
      "weft boxmg read", range(space, rows.own.nodes()), KOKKOS_LAMBDA(const Index row) {
        Index at[3];
        rows.nodes.place(row, at);
        const Index node = rows.nodes.node(at);
        for (int k = 0; k < a.stencil.count; k++) values[k * a.pitch + node] = 0;
        if (!rows.surrounded(at)) {
          rows.over_row(row, at, [&](Value value, int number) {
            const int slot = number < 0 ? -1 : a.stencil.slot[number];
            if (slot < 0 || !finite(value))
              Kokkos::atomic_add(missing.data(), Index(1)); // seldom
            else
              values[slot * a.pitch + node] += value;
          });
          return;
        }
        for (Int k = rows.outside.row_starts ? rows.outside.begin(row) : 0; rows.outside.row_starts && k < rows.outside.end(row); k++) {
          if (rows.outside.values[k] != 0) Kokkos::atomic_add(missing.data(), Index(1)); // no neighbour of this node
        }
        int next = 0; // columns mostly come in the stencil's order
        for (Int entry = rows.inside.begin(row); entry < rows.inside.end(row); entry++) {
          const Value value = rows.inside.values[entry];
          if (value == 0) continue;
          int slot = -1;
          for (int tried = 0; slot < 0 && tried < a.stencil.count; tried++) {
            if (own.distances[next] == rows.inside.column(entry) - row) slot = next;
            next = next + 1 == a.stencil.count ? 0 : next + 1;
          }
          if (slot < 0 || !finite(value))
            Kokkos::atomic_add(missing.data(), Index(1));
          else
            values[slot * a.pitch + node] += value;
        }
      });
}

} // namespace weft::boxmg
