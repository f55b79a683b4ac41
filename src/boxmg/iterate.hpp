/// A Hierarchy as others use it: applications in the matrix's precision, and the stationary iteration. Included by hierarchy.hpp.
///
/// An iteration is a cycle whose sweeps run in the same order before the correction and after it. It begins with x, and in place: no residual is made
/// but what is restricted, no correction added but what is interpolated. K = 1 with lines along one direction: 7 iterations to 1e-8, where the mirrored
/// cycle takes 12, since of two sweeps that meet between two of its cycles the same lines are relaxed twice, and 8 under CG. On the finest level the
/// first colour before the correction is over-relaxed (over_relaxation()): 6 iterations, and in space 7 in place of 10.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::cycle_from_zero(Value *b, Value *x, const Way &way)
{
  if (const auto *part = levels_[0].part.get()) {
    part->bring_in(space_, b, levels_[0].b.data());
    cycle(0, levels_[0].b.data(), levels_[0].x.data(), way);
    part->bring_out(space_, levels_[0].x.data(), x);
  } else if constexpr (std::is_same_v<Value, Scalar>) {
    cycle(0, b, x, way);
  } else {
    const Array<const Value, Space> given(b, levels_[0].x.extent(0));
    const Array<Value, Space> wanted(x, levels_[0].x.extent(0));
    convert(space_, given, levels_[0].b);
    cycle(0, levels_[0].b.data(), levels_[0].x.data(), way);
    convert(space_, levels_[0].x, wanted);
  }
}

/// Where convection is strong sweeps are mirrored: those of one order follow the flow one way only (v = (1e6, 3e5), 513²: 29 steps in place of 14).
template <class Space, class Value, class Scalar>
auto HierarchyOn<Space, Value, Scalar>::way_of_steps() const -> Way
{
  return {shape_, Transpose::no, levels_.front().convected};
}

template <class Space, class Value, class Scalar>
int HierarchyOn<Space, Value, Scalar>::iterate(Value *b, Value *x, bool zero, int steps, const Enough &enough)
{
  if (levels_[0].part) return iterate_shared(b, x, zero, steps, enough);
  for (int k = 0; k < steps; k++, zero = false) {
    if constexpr (std::is_same_v<Value, Scalar>) {
      if (iterate_in_place(b, x, zero, enough)) return k + 1;
    } else {
      if (iterate_rounded(b, x, zero, enough)) return zero ? k + 1 : k;
    }
  }
  return steps;
}

/// The same in arrays with ghosts.
template <class Space, class Value, class Scalar>
int HierarchyOn<Space, Value, Scalar>::iterate_shared(Value *b, Value *x, bool zero, int steps, const Enough &enough)
{
  if constexpr (!std::is_same_v<Value, Scalar>) {
    cycle_from_zero(b, x, way_of_steps());
    return 1;
  } else {
    const LevelHere &l = levels_[0];
    int made           = 0;
    bool ended         = false;
    l.part->bring_in(space_, b, l.b.data());
    if (!zero) l.part->bring_in(space_, x, l.x.data());
    l.part->all_right();
    for (; made < steps && !ended; made++, zero = false) ended = iterate_in_place(l.b.data(), l.x.data(), zero, enough);
    if (steps > 0) l.part->bring_out(space_, l.x.data(), x);
    return made;
  }
}

/// Of a device's small grid the coarser levels take less time than a host's look at a norm: they are at work while it looks. Those of a large one would be
/// for nothing in the last step.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::looks_before_coarser() const
{
  constexpr Index large = Index(1) << 17;
  return is_host_space<Space> || levels_[0].grid().nodes() >= large;
}

/// The norm is the one of what is restricted.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::iterate_in_place(Value *b, Value *x, bool zero, const Enough &enough)
{
  LevelHere &l                  = levels_[0];
  const Way way                 = way_of_steps();
  const bool deeper             = count_ > 1;
  const Corrections corrections = this->corrections(0, way);
  Way next                      = way;
  next.shape                    = corrections.shape[0];
  if (zero && enough) measure_rhs(b);
  if (l.direct)
    l.inverse.apply(space_, b, x, Transpose::no);
  else
    relax(0, b, x, zero ? Sweeps::from_zero : Sweeps::from_x, way);
  const Spared spared = deeper ? this->spared(0, way, !corrections.twice) : Spared{};
  if (deeper) {
    restrict_from(0, b, x, spared, way, zero, enough ? squares() : Sum{});
  } else if (enough) {
    if (l.part) l.part->need(space_, x, 1);
    subtract(space_, l.here().a, Region::all(l.grid()), all_neighbours(l.here().a.stencil), b, x, l.work.data(), Transpose::no);
    sum_of_squares(space_, l.grid(), l.owned(Region::all(l.grid())), l.work.data(), squares());
  }
  if (enough) sent_.set();
  const auto ends   = [&] { return enough && ((zero && enough(norm_sent(squares_of_rhs_))) || enough(norm_sent(squares_))); };
  const bool before = looks_before_coarser();
  if (before && ends()) return true;
  if (deeper) solve_coarser(0, next);
  if (!before && ends()) return true;
  if (l.direct) return false;
  if (deeper) correct_by(0, x, spared, way);
  next.shape = corrections.shape[1];
  if (corrections.twice) correct(0, b, x, next, false);
  relax(0, b, x, Sweeps::after, way);
  return false;
}

/// x += B (b - A x), the residual in the matrix's precision.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::iterate_rounded(Value *b, Value *x, bool zero, const Enough &enough)
{
  const Way way = way_of_steps();
  LevelHere &l  = levels_[0];
  if (zero) {
    if (enough) measure_rhs(b);
    if (enough) sent_.set();
    cycle_from_zero(b, x, way);
    return enough && enough(norm_sent(squares_of_rhs_));
  }
  rounded_residual(space_, l.exact.a, mirrors_, b, x, l.b.data(), squares());
  if (enough) sent_.set();
  const auto goes_on = [&] { return !(enough && enough(norm_sent(squares_))); };
  if (is_host_space<Space> && !goes_on()) return true;
  if (!cycle(0, l.b.data(), l.x.data(), way, is_host_space<Space> ? GoesOn() : goes_on)) return true;
  add(space_, l.x, Array<Value, Space>(x, l.x.extent(0)));
  return false;
}

/// Before the host asks for it: with the residual of the first step, or while a cycle is at work.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::measure_rhs(const Value *b) const
{
  const LevelHere &l = levels_[0];
  sum_of_squares(space_, l.grid(), l.owned(Region::all(l.grid())), b, room_for_squares_.to(squares_of_rhs_.data()));
}

template <class Space, class Value, class Scalar>
double HierarchyOn<Space, Value, Scalar>::norm_sent(const OnHost &squares) const
{
  sent_.wait();
  double sum = squares();
  if (levels_[0].part) sum = levels_[0].part->sum(sum);
  return std::sqrt(sum);
}

} // namespace weft::boxmg
