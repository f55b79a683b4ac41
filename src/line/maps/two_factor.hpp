/// A strong [0,2]-factor of a matrix graph: a set of edges of which at most two meet at a row, found by rounds of proposals.
///
/// Source: C. Klein and R. Strzodka, "Highly Parallel Linear Forest Extraction from a Weighted Graph on GPUs", ICPP 2022. A round: each row
/// with free places proposes to its strongest partners that have free places too; mutual proposals are kept. The edges are those that a
/// greedy pass over all edges, strongest first, takes: an edge that is the strongest left at both its rows is proposed by both.
#pragma once
#include "line/maps/matrix_graph.hpp"

namespace weft {

inline constexpr RowNumber nothing = -2; ///< a proposal of a row that has no partners left to propose to

/// Up to two partners of each row; place s of row i is element 2 i + s. Ghosts have their partners too, as far as those are known here, and
/// `elsewhere` for others.
template <class Space>
struct Factor {
  RowNumber rows;
  Numbering<Space> numbering;
  OwnedArray<RowNumber, Space> partner; ///< no_row where the place is free
  OwnedArray<Weight, Space> weight;     ///< of the edge to the partner

  explicit Factor(const Numbering<Space> &names)
      : rows(names.rows), numbering(names), partner(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft partners"), places()),
        weight("weft partner weights", places())
  {
  }
  std::size_t places() const { return 2 * static_cast<std::size_t>(numbering.all()); }
  KOKKOS_FUNCTION Edge edge(RowNumber i, int place) const
  {
    return {weight(2 * i + place), numbering.number(i), numbering.number(partner(2 * i + place))};
  }
  /// The place of row i's partner `j` at which i stands.
  KOKKOS_FUNCTION int place_at(RowNumber j, RowNumber i) const { return partner(2 * j) == i ? 0 : 1; }
};

/// The two strongest edges seen so far, strongest first. An edge seen again with a greater weight takes that weight.
struct StrongestTwo {
  Edge edges[2];
  RowNumber partners[2] = {no_row, no_row};

  KOKKOS_INLINE_FUNCTION void see(const Edge &edge, RowNumber partner)
  {
    const auto same = [&](const Edge &e) { return e.low == edge.low && e.high == edge.high; };
    if (same(edges[0])) {
      edges[0].weight = Kokkos::max(edges[0].weight, edge.weight);
    } else if (stronger(edge, edges[0])) {
      edges[1]    = edges[0];
      partners[1] = partners[0];
      edges[0]    = edge;
      partners[0] = partner;
    } else if (same(edges[1])) {
      edges[1].weight = Kokkos::max(edges[1].weight, edge.weight);
    } else if (stronger(edge, edges[1])) {
      edges[1]    = edge;
      partners[1] = partner;
    }
  }
};

/// Each row with free places proposes to as many partners as it has places.
template <class Space, class Scalar, class Int>
void propose(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph, const Factor<Space> &factor,
             const OwnedArray<RowNumber, Space> &proposal, const OwnedArray<Weight, Space> &weight)
{
  Kokkos::parallel_for(
      "weft propose", Kokkos::RangePolicy<Space>(space, 0, graph.rows), KOKKOS_LAMBDA(const RowNumber i) {
        const RowNumber first = factor.partner(2 * i);
        if (factor.partner(2 * i + 1) != no_row || proposal(2 * i) == nothing) {
          proposal(2 * i) = proposal(2 * i + 1) = nothing;
          return;
        }
        StrongestTwo best;
        graph.visit(i, [&](RowNumber j, Weight w) {
          if (j != first && factor.partner(2 * j + 1) == no_row) best.see(graph.edge(w, i, j), j);
        });
        const int places = first == no_row ? 2 : 1;
        for (int k = 0; k < 2; k++) {
          const bool wanted   = k < places && best.edges[k].weight != no_weight;
          proposal(2 * i + k) = wanted ? best.partners[k] : nothing;
          weight(2 * i + k)   = best.edges[k].weight;
        }
      });
  bring_rows(space, graph.ghosts, proposal, 2);
}

/// Keeps mutual proposals and counts them, twice each. Waits.
template <class Space>
Index accept(const Space &space, const Ghosts<Space> &ghosts, const Factor<Space> &factor, const OwnedArray<RowNumber, Space> &proposal,
             const OwnedArray<Weight, Space> &weight)
{
  Index kept = 0;
  Kokkos::parallel_reduce(
      "weft accept", Kokkos::RangePolicy<Space>(space, 0, factor.rows),
      KOKKOS_LAMBDA(const RowNumber i, Index &count) {
        for (int k = 0; k < 2; k++) {
          const RowNumber j = proposal(2 * i + k);
          if (j < 0 || (proposal(2 * j) != i && proposal(2 * j + 1) != i)) continue;
          const int place               = factor.partner(2 * i) == no_row ? 0 : 1;
          factor.partner(2 * i + place) = j;
          factor.weight(2 * i + place)  = weight(2 * i + k);
          count++;
        }
      },
      kept);
  bring_rows(space, ghosts, factor.partner, 2);
  return ghosts.sum(kept);
}

template <class Space, class Scalar, class Int>
Factor<Space> find_factor(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph)
{
  const Factor<Space> factor(graph.ghosts.numbering);
  Kokkos::deep_copy(space, factor.partner, no_row);
  const OwnedArray<RowNumber, Space> proposal("weft proposals", factor.places());
  const auto weight = table<Weight, Space>("weft proposal weights", factor.places());
  for (int round = 0; round < graph.options.rounds; round++) {
    propose(space, graph, factor, proposal, weight);
    if (accept(space, graph.ghosts, factor, proposal, weight) == 0) break;
  }
  return factor;
}

} // namespace weft
