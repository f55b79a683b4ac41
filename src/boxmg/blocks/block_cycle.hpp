/// Cycles of a BlockHierarchy. Included by block_hierarchy.hpp.
#pragma once
#include "boxmg/blocks/block_hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value>
void BlockHierarchy<Space, Value>::cycle(std::size_t level, const Value *b, Value *x, const Way &way)
{
  const LevelHere &l = levels_[level];
  if (l.direct) {
    l.inverse.apply(space_, b, x, way.transpose);
    return;
  }
  relax(l, b, x, true, false, way.transpose);
  if (level + 1 < levels_.size()) {
    const Corrections corrections =
        corrections_of(level, levels_.size(), way.shape, options_.cycle == BoxmgCycle::automatic, way.transpose);
    for (const int k : {0, 1}) {
      if (k == 0 || corrections.twice) correct(level, b, x, {corrections.shape[k], way.transpose, way.mirrored});
    }
  }
  relax(l, b, x, false, way.mirrored, way.transpose);
  if (!tell_) return;
  residual(l, b, x, way.transpose);
  tell(level, false);
}

template <class Space, class Value>
void BlockHierarchy<Space, Value>::relax(const LevelHere &l, const Value *b, Value *x, bool from_zero, bool backward,
                                         Transpose transpose) const
{
  for (int s = 0; s < options_.sweeps; s++)
    l.smoother->sweep(space_, l.a.view(), b, x, l.work.data(), backward, from_zero && s == 0, transpose);
}

template <class Space, class Value>
void BlockHierarchy<Space, Value>::correct(std::size_t level, const Value *b, Value *x, const Way &way)
{
  const LevelHere &l = levels_[level], &next = levels_[level + 1];
  const Index nodes = l.grid().nodes(), fewer = next.grid().nodes();
  const bool own = way.transpose == Transpose::no;
  const int none = -1; // no direction along which the residual is 0 at odd places
  residual(l, b, x, way.transpose);
  if (tell_) tell(level, true);
  for (int c = 0; c < l.a.unknowns(); c++) {
    const auto unknown = static_cast<std::size_t>(c);
    restrict_to(space_, own ? l.r[unknown] : l.p[unknown], l.work.data() + c * nodes, next.b.data() + c * fewer, none);
  }
  cycle(level + 1, next.b.data(), next.x.data(), way);
  for (int c = 0; c < l.a.unknowns(); c++) {
    const auto unknown = static_cast<std::size_t>(c);
    interpolate(space_, own ? l.p[unknown] : l.r[unknown], next.x.data() + c * fewer, x + c * nodes, Region::all(l.grid()));
  }
}

/// Leaves b - A x in the level's work space.
template <class Space, class Value>
void BlockHierarchy<Space, Value>::residual(const LevelHere &l, const Value *b, const Value *x, Transpose transpose) const
{
  block_residual(space_, l.a.view(), Region::all(l.grid()), Beside::none, b, x, Fields<Value>{l.work.data(), l.grid().nodes()}, transpose);
}

/// x += B (b - A x). Sweeps of a step run in the same order before the correction and after it, but where convection is strong (iterate.hpp).
template <class Space, class Value>
int BlockHierarchy<Space, Value>::iterate(Value *b, Value *x, bool zero, int steps, const Enough &enough)
{
  LevelHere &l      = levels_[0];
  const Index nodes = grid_.nodes();
  const int count   = options_.unknowns;
  const Way way{shape_, Transpose::no, l.convects != 0};
  for (int made = 0; made < steps; made++, zero = false) {
    separate_unknowns(space_, nodes, count, b, l.b.data());
    if (zero && enough && enough(norm(space_, l.size(), l.b.data()))) {
      Kokkos::deep_copy(space_, Array<Value, Space>(x, l.x.extent(0)), Value(0));
      return made;
    }
    if (!zero) {
      separate_unknowns(space_, nodes, count, x, l.x.data());
      residual(l, l.b.data(), l.x.data(), Transpose::no);
      if (enough && enough(norm(space_, l.size(), l.work.data()))) return made;
      Kokkos::deep_copy(space_, l.b, l.work);
    }
    cycle(0, l.b.data(), l.x.data(), way);
    join_unknowns(space_, nodes, count, l.x.data(), x, !zero);
  }
  return steps;
}

} // namespace weft::boxmg
