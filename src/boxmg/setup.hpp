/// Set-up of a Hierarchy: values to levels. What depends on the pattern and on what was chosen stays while it is the same. Included by
/// hierarchy.hpp.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value, class Scalar>
template <class Int>
void HierarchyOn<Space, Value, Scalar>::read_any(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric)
{
  using Kind = BoxmgFault::Kind;
  fault_     = std::nullopt;
  for (auto &replay : replays_) replay.forget();
  // The stencil of the last matrix may do for this one.
  if (levels_.empty() || !fill(space_, levels_[0].exact.a, matrix, levels_[0].exact.values.data())) {
    const MatrixLook look = look_at(space_, grid_, matrix);
    if (look.not_finite != no_node) {
      fault_ = {Kind::not_finite, 0, look.not_finite};
      return;
    }
    if (look.stranger != no_node)
      throw std::invalid_argument("row " + std::to_string(look.stranger) +
                                  " couples to a node of the grid that is no neighbour of its own");
    ensure_operator(0, grid_, Stencil(look.neighbours));
    fill(space_, levels_[0].exact.a, matrix, levels_[0].exact.values.data());
  }
  const Operator<Value> &a = levels_[0].exact.a;
  sign_                    = sign_of(space_, a);
  const LevelLook looked   = boxmg::look_at(space_, a, sign_, dominance(grid_), symmetric.value_or(false));
  symmetric_               = symmetric.value_or(false) || looked.symmetric;
  dominant_                = looked.dominant;
  if (looked.zero_diagonal != no_node)
    fault_ = {Kind::zero_diagonal, 0, looked.zero_diagonal};
  else
    set_up(0, looked);
  beside_->wait();
}

/// Room for a level's operator and vectors; what stands on another stencil goes.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::ensure_operator(std::size_t level, const Grid &grid, const Stencil &stencil)
{
  if (level < levels_.size()) {
    const Operator<Value> &a = levels_[level].exact.a;
    if (a.grid == grid && std::equal(a.stencil.slot, a.stencil.slot + Stencil::most, stencil.slot)) return;
    levels_.resize(level);
  }
  LevelHere &l      = levels_.emplace_back();
  l.execution       = level == 0 ? &execution_ : beside_.get();
  l.space           = space_of<Space>(*l.execution);
  const Index pitch = pitch_of(grid), nodes = grid.nodes();
  l.exact.values = array<Space, Value>("weft boxmg operator", pitch * stencil.count);
  l.exact.a      = Operator<Value>(grid, stencil, l.exact.values.data(), pitch);
  l.work         = array<Space, Scalar>("weft boxmg residual", nodes);
  // The finest level works on the caller's vectors, unless they are of another precision.
  if (level > 0 || !std::is_same_v<Value, Scalar>) {
    l.x = array<Space, Scalar>("weft boxmg solution", nodes);
    l.b = array<Space, Scalar>("weft boxmg right-hand side", nodes);
  }
}

template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::last(std::size_t level, const Choice &choice) const
{
  const Index nodes = levels_[level].grid().nodes();
  return choice.coarsened == 0 || nodes <= options_.coarsest_nodes ||
         (options_.levels > 0 && static_cast<int>(level) + 1 >= options_.levels);
}

/// The rest of a level whose operator is there, and all coarser levels.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::set_up(std::size_t level, const LevelLook &looked)
{
  using Kind      = BoxmgFault::Kind;
  const Grid grid = levels_[level].grid();
  // Convection may leave such a diagonal on a coarse level of an operator that is not symmetric, where a recirculating flow stands still.
  if (symmetric_ && std::min(looked.wrong_sign, looked.zero_diagonal) != no_node) {
    fault_ = {Kind::indefinite, static_cast<int>(level), std::min(looked.wrong_sign, looked.zero_diagonal)};
    return;
  }
  Choice choice     = choose(grid, looked.strengths, options_);
  const bool ends   = last(level, choice);
  const bool direct = ends && options_.coarsest == BoxmgCoarsest::direct && grid.nodes() <= BoxmgOptions::most_inverted;
  if (ends) choice.coarsened = 0;
  LevelHere &l = levels_[level];
  l.direct     = direct;
  if (direct) {
    l.choice = {{}, 0};
    l.smoother.reset();
    if (l.inverse.n != grid.nodes()) l.inverse = Inverse<Space>(grid.nodes());
    l.inverse.make(l.space, l.exact.a);
    Index negative = grid.nodes();
    Kokkos::deep_copy(negative, Kokkos::subview(l.inverse.negative, 0));
    if (symmetric_ && negative < grid.nodes()) fault_ = {Kind::indefinite, static_cast<int>(level), negative};
    levels_.resize(level + 1);
    return;
  }
  round_operator(l);
  ensure_smoother(l, choice);
  if (const auto bad = l.smoother->bad_node()) {
    // A line of a singular operator that couples to nothing else: points, where the choice is free.
    if (options_.smoother == BoxmgSmoother::automatic) {
      BoxmgOptions points = options_;
      points.smoother     = BoxmgSmoother::points;
      choice              = choose(grid, looked.strengths, points);
      if (ends) choice.coarsened = 0;
      ensure_smoother(l, choice);
    } else {
      fault_ = {Kind::line_pivot, static_cast<int>(level), *bad};
      return;
    }
  }
  if (ends) {
    levels_.resize(level + 1);
    return;
  }
  ensure_transfer(l);
  const Grid next       = l.exact.p.coarse;
  const Stencil stencil = Stencil::box(next);
  ensure_operator(level + 1, next, stencil);
  const auto &fine  = levels_[level].exact;
  auto &coarse      = levels_[level + 1].exact;
  const Space &here = levels_[level].space, &there = levels_[level + 1].space;
  galerkin(here, fine.a, fine.r, fine.p, stencil, levels_[level].products, coarse.values.data(), coarse.a.pitch);
  if (level == 0) here.fence("weft boxmg: the next level"); // which is on a stream of its own
  set_up(level + 1, boxmg::look_at(there, coarse.a, sign_, dominance(next), true));
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::ensure_smoother(LevelHere &l, const Choice &choice)
{
  if (!l.smoother || l.choice.lines != choice.lines)
    l.smoother = std::make_unique<Smoother<Scalar>>(*l.execution, l.grid(), l.exact.a.stencil, choice.lines);
  l.choice = choice;
  l.smoother->factor(l.here().a);
}

/// P from the symmetric part and R from the transpose's own interpolation (Dendy 1983): interpolation from the operator itself diverges with
/// convection, and R = P^T needs more iterations the finer the grid is.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::ensure_transfer(LevelHere &l)
{
  const bool from_operator      = options_.interpolation == BoxmgInterpolation::from_operator;
  Coefficients<Space, Value> &c = l.exact;
  if (c.p.coarsened != l.choice.coarsened || c.weights.size() == 0) {
    c.p         = Transfer<Value>(l.grid(), l.choice.coarsened);
    c.p.pitch   = c.a.pitch;
    c.weights   = array<Space, Value>("weft boxmg interpolation", c.p.slots() * c.p.pitch);
    c.weights_r = {};
    l.products  = {};
    c.p.weights = c.weights.data();
  }
  c.r = c.p;
  make_weights(l.space, c.a, symmetric_ ? Part::whole : Part::symmetric, c.p, from_operator, c.weights.data());
  if (!symmetric_ && from_operator) {
    if (c.weights_r.size() == 0) c.weights_r = array<Space, Value>("weft boxmg restriction", c.p.slots() * c.p.pitch);
    c.r.weights = c.weights_r.data();
    make_weights(l.space, c.a, Part::transpose, c.r, true, c.weights_r.data());
  }
  round_transfer(l);
}

/// What cycles read, where their precision is another.
template <class Space, class Value, class Scalar>
template <class From, class To>
void HierarchyOn<Space, Value, Scalar>::rounded_copy(const Space &space, const From &from, To &to) const
{
  if (to.size() != from.size()) to = array<Space, Scalar>(from.label() + ", rounded", static_cast<Index>(from.size()));
  if (from.size() > 0) convert(space, from, to);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::round_operator(LevelHere &l) const
{
  if constexpr (!std::is_same_v<Value, Scalar>) {
    rounded_copy(l.space, l.exact.values, l.rounded.values);
    l.rounded.a = Operator<Scalar>(l.grid(), l.exact.a.stencil, l.rounded.values.data(), l.exact.a.pitch);
  }
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::round_transfer(LevelHere &l) const
{
  if constexpr (!std::is_same_v<Value, Scalar>) {
    rounded_copy(l.space, l.exact.weights, l.rounded.weights);
    rounded_copy(l.space, l.exact.weights_r, l.rounded.weights_r);
    l.rounded.p         = Transfer<Scalar>(l.grid(), l.choice.coarsened);
    l.rounded.p.pitch   = l.exact.p.pitch;
    l.rounded.p.weights = l.rounded.weights.data();
    l.rounded.r         = l.rounded.p;
    if (l.rounded.weights_r.size() > 0) l.rounded.r.weights = l.rounded.weights_r.data();
  }
}

} // namespace weft::boxmg
