/// Operators and interpolations of levels as CSR matrices on the host, for tests and the curious.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

/// Collects a matrix row by row; entries of one place are added.
template <class Csr>
class CsrRows {
public:
  CsrRows(Index rows, Index columns)
  {
    csr_.rows    = rows;
    csr_.columns = columns;
    csr_.row_starts.assign(1, 0);
  }
  template <class Number>
  void add(Index column, Number value)
  {
    for (auto k = static_cast<std::size_t>(csr_.row_starts.back()); k < csr_.column.size(); k++) {
      if (csr_.column[k] != column) continue;
      csr_.values[k] += value;
      return;
    }
    csr_.column.push_back(column);
    csr_.values.push_back(value);
  }
  void end_row() { csr_.row_starts.push_back(static_cast<Index>(csr_.column.size())); }
  const Csr &csr() const { return csr_; }

private:
  Csr csr_;
};

/// body(coarse node, weight) for the weights of a fine node that are not 0, which stand on the host.
template <class Value, class Body>
void over_weights(const Transfer<Value> &p, Index node, const Body &body)
{
  Index at[3];
  p.fine.position(node, at);
  for (int slot = 0; slot < p.slots(); slot++) {
    Index to[3];
    bool there = true;
    for (int d = 0; d < 3; d++) there = (to[d] = p.on_grid(d, at[d], slot)) >= 0 && there;
    if (there && p.weight(slot, node) != 0) body(p.coarse.node(to), p.weight(slot, node));
  }
}

template <class Space, class Value, class Scalar>
typename BoxMultigrid<Value>::Csr HierarchyOn<Space, Value, Scalar>::operator_of(int level) const
{
  const LevelHere &l = levels_.at(static_cast<std::size_t>(level));
  const auto values  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), l.exact.values);
  CsrRows<Csr> rows(l.exact.a.grid.nodes(), l.exact.a.grid.nodes());
  for (Index node = 0; node < l.exact.a.grid.nodes(); node++) {
    for (int k = 0; k < l.exact.a.stencil.count; k++) {
      Index at[3];
      l.exact.a.grid.position(node, at);
      if (l.exact.a.grid.move(at, l.exact.a.stencil.offset[k]))
        rows.add(l.exact.a.grid.node(at), values(static_cast<std::size_t>(k * l.exact.a.pitch + node)));
    }
    rows.end_row();
  }
  return rows.csr();
}

template <class Space, class Value, class Scalar>
typename BoxMultigrid<Value>::Csr HierarchyOn<Space, Value, Scalar>::interpolation_of(int level, bool restriction) const
{
  const LevelHere &l = levels_.at(static_cast<std::size_t>(level));
  Transfer<Value> p  = restriction ? l.exact.r : l.exact.p;
  const auto weights =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.weights == l.exact.weights.data() ? l.exact.weights : l.exact.weights_r);
  p.weights = weights.data();
  CsrRows<Csr> rows(p.fine.nodes(), p.coarse.nodes());
  for (Index node = 0; node < p.fine.nodes(); node++) {
    over_weights(p, node, [&](Index coarse, Value w) { rows.add(coarse, w); });
    rows.end_row();
  }
  return rows.csr();
}

} // namespace weft::boxmg
