/// Cycles of a Hierarchy: V, W and F. Included by hierarchy.hpp.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::cycle(std::size_t level, Scalar *b, Scalar *x, const Way &way, const GoesOn &goes_on)
{
  LevelHere &l = levels_[level];
  if (!tell_ && way.transpose == Transpose::no && (l.direct || way.shape == BoxmgCycle::v) &&
      small_[way.mirrored].takes(static_cast<int>(level))) {
    small_[way.mirrored].cycle(l.space, static_cast<int>(level), b, x, omega(level, way).value_or(1));
    return !goes_on || goes_on();
  }
  if (l.direct) {
    l.inverse.apply(l.space, b, x, way.transpose);
    return !goes_on || goes_on();
  }
  relax(level, b, x, Sweeps::from_zero, way);
  if (level + 1 < count_) {
    const Corrections corrections = this->corrections(level, way);
    Way next                      = way;
    next.shape                    = corrections.shape[0];
    if (!correct(level, b, x, next, !corrections.twice, goes_on)) return false;
    next.shape = corrections.shape[1];
    if (corrections.twice) correct(level, b, x, next, false);
  } else if (goes_on && !goes_on()) {
    return false;
  }
  relax(level, b, x, Sweeps::after, way);
  if (tell_) {
    residual(l, b, x, way.transpose);
    tell(level, false, l.work.data());
  }
  return true;
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::relax(std::size_t level, Scalar *b, Scalar *x, Sweeps which, const Way &way) const
{
  const LevelHere &l  = levels_[level];
  const bool backward = which == Sweeps::after && way.mirrored;
  auto omega          = this->omega(level, way);
  if (omega && which == Sweeps::after) omega = 1;
  for (int s = 0; s < options_.sweeps; s++) {
    const bool zero = which == Sweeps::from_zero && s == 0;
    if (l.planes)
      l.planes->sweep(l.space, l.here().a, b, x, l.work.data(), backward, zero, way.transpose);
    else
      l.smoother->sweep(l.space, l.here().a, b, x, l.work.data(), backward, zero, way.transpose, omega);
  }
}

template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::correct(std::size_t level, Scalar *b, Scalar *x, const Way &way, bool only, const GoesOn &goes_on)
{
  const Spared spared = this->spared(level, way, only);
  restrict_from(level, b, x, spared, way, true, {});
  if (goes_on && !goes_on()) return false;
  solve_coarser(level, way);
  correct_by(level, x, spared, way);
  return true;
}

/// Lines of two colours leave no residual on odd lines, so that only the one of even lines is restricted. And where sweeps after the correction begin
/// with such lines, those of their first colour need no correction, as they are solved for whatever they are.
template <class Space, class Value, class Scalar>
auto HierarchyOn<Space, Value, Scalar>::spared(std::size_t level, const Way &way, bool only) const -> Spared
{
  const LevelHere &l = levels_[level];
  Spared spared{std::nullopt, Region::all(l.grid())};
  if (!only || tell_ || way.transpose == Transpose::yes) return spared;
  const auto colours = l.smoother->two_colours();
  if (!colours || !has(l.choice.coarsened, colours->across)) return spared;
  spared.colours = colours;
  if (way.mirrored)
    spared.corrected = Region::every_other(l.grid(), colours->across, 0);
  else if (colours->alone)
    spared.corrected = Region::every_other(l.grid(), colours->across, 1);
  return spared;
}

/// b of the next level is the restricted residual. from_zero: x is what sweeps have made from zero. squares: where the
/// sum of the residual's goes, if it is wanted.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::restrict_from(std::size_t level, const Scalar *b, Scalar *x, const Spared &spared, const Way &way,
                                                      bool from_zero, const Sum &squares)
{
  LevelHere &l                = levels_[level];
  Scalar *const to            = next_b(level);
  const auto &a               = l.here().a;
  const auto &r               = way.transpose == Transpose::yes ? l.here().p : l.here().r;
  const bool beside           = from_zero && spared.colours && spared.colours->alone && options_.sweeps == 1;
  const Neighbours neighbours = beside ? spared.colours->beside : all_neighbours(a.stencil);
  const RealOf<Scalar> of_b   = beside ? 1 - omega(level, way).value_or(1) : 1;
  const int even              = spared.colours ? spared.colours->across : -1;
  if (l.part && spared.colours) l.part->need(l.space, x, l.part->crosses_but(even) ? 2 : 1); // lines that go on have residuals in ghosts
  if (spared.colours && !is_host_space<Space> && !(l.part && squares)) {
    restrict_residual(l.space, a, *spared.colours, r, neighbours, level == 0 && !l.part && mirrors_, of_b, b, x, to, squares);
    return;
  }
  const bool measured = squares && !spared.colours && !l.part && way.transpose == Transpose::no; // as it is made
  if (measured)
    rounded_residual(l.space, a, mirrors_, b, x, l.work.data(), squares);
  else if (spared.colours)
    subtract(l.space, a, Region::every_other(l.grid(), even), neighbours, of_b != 0 ? b : nullptr, x, l.work.data(), way.transpose, of_b);
  else
    residual(l, b, x, way.transpose);
  if (squares && !measured) sum_of_squares(l.space, l.grid(), l.owned(Region::every_other(l.grid(), even)), l.work.data(), squares);
  if (tell_) tell(level, true, l.work.data());
  restrict_to(l.space, r, l.work.data(), to, even);
}

/// x of the next level.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::solve_coarser(std::size_t level, const Way &way)
{
  LevelHere &l = levels_[level];
  if (l.part) {
    solve_coarser_of_ranks(level, way);
    return;
  }
  LevelHere &next    = levels_[level + 1];
  const auto coarser = [&] { cycle(level + 1, next.b.data(), next.x.data(), way); };
  if (level == 0 && beside_) // a first transposed solve of lines allocates
    replays_[way.mirrored][static_cast<int>(way.shape)].run(l.space, next.space, !tell_ && way.transpose == Transpose::no, coarser);
  else
    coarser();
}

/// The same of a level that ranks share.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::solve_coarser_of_ranks(std::size_t level, const Way &way)
{
  LevelHere &l          = levels_[level];
  LevelHere *const next = has_level(level + 1) ? &levels_[level + 1] : nullptr; // null: the first rank has it
  l.part->down(l.space, l.half_b.data(), next ? next->b.data() : nullptr);
  const auto coarser = [&] { cycle(level + 1, next->b.data(), next->x.data(), way); };
  const bool same    = beside_ && !tell_ && way.transpose == Transpose::no;
  auto &replay       = replays_[way.mirrored][static_cast<int>(way.shape)];
  if (same && are_direct()) { // all coarser levels at once
    if (next && level == 0)
      replay.run(l.space, next->space, true, coarser);
    else if (next)
      coarser();
  } else if (next && next->part) {
    in_order(level, coarser);
  } else if (next) { // the rest is here
    replay.run(l.space, next->space, same, coarser);
  }
  l.part->up(l.space, next ? next->x.data() : nullptr, l.half_x.data());
}

/// Whether no host takes part in the messages of the levels below the finest one.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::are_direct() const
{
  for (std::size_t level = 1; level < levels_.size(); level++) {
    const LevelHere &l = levels_[level];
    if (l.part && !(l.part->is_direct() && l.smoother && !l.smoother->crosses())) return false;
  }
  return true;
}

/// Kernels and messages of the coarser levels between those of this one: the next level of the finest one is on a stream of its own.
template <class Space, class Value, class Scalar>
template <class Body>
void HierarchyOn<Space, Value, Scalar>::in_order(std::size_t level, const Body &coarser)
{
  const bool crosses = level == 0 && beside_;
  if (crosses) {
    finest_.set();
    finest_.hold(*beside_);
  }
  coarser();
  if (!crosses) return;
  coarser_done_->set();
  coarser_done_->hold(execution_);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::correct_by(std::size_t level, Scalar *x, const Spared &spared, const Way &way)
{
  const LevelHere &l = levels_[level];
  interpolate(l.space, way.transpose == Transpose::yes ? l.here().r : l.here().p, next_x(level), x, spared.corrected);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::residual(const LevelHere &l, const Scalar *b, Scalar *x, Transpose transpose) const
{
  if (l.part) l.part->need(l.space, x, 2); // that of a ghost is restricted too
  l.smoother->residual(l.space, l.here().a, b, x, l.work.data(), transpose);
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::tell(std::size_t level, bool before, const Scalar *r) const
{
  const LevelHere &l = levels_[level];
  (*tell_)(static_cast<int>(level), before, l.part ? norm(l.space, *l.part, r) : norm(l.space, l.grid().nodes(), r));
}

} // namespace weft::boxmg
