/// Set-up of a Hierarchy: values to levels. What depends on the pattern and on what was chosen stays while it is the same. Included by
/// hierarchy.hpp.
#pragma once
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value, class Scalar>
template <class Int>
void HierarchyOn<Space, Value, Scalar>::read_part(const RowsOfPart<Value, Int> &rows, std::optional<bool> symmetric)
{
  const Array<const Index, Kokkos::HostSpace> outside(rows.outside_nodes.data(), rows.outside_nodes.size());
  if (outside_nodes_.size() != outside.size())
    outside_nodes_ = array<Space, Index>("weft boxmg outside nodes", static_cast<Index>(outside.size()));
  Kokkos::deep_copy(space_, outside_nodes_, outside);
  const PartOfGrid part(*ranks_.all, ranks_.parts);
  read_any(PartReader<Value, Int>(rows, outside_nodes_.data(), part), symmetric);
}

template <class Space, class Value, class Scalar>
template <class Matrix>
int HierarchyOn<Space, Value, Scalar>::read_any(const Matrix &matrix, std::optional<bool> symmetric, bool unless_across)
{
  using Kind = BoxmgFault::Kind;
  fault_     = std::nullopt;
  if (complete_ && read_again(matrix, symmetric)) return 0;
  complete_   = false;
  alone_from_ = most_levels;
  forget_replays();
  // The stencil of the last matrix may do for this one.
  if (levels_.empty() || !taken(matrix)) {
    const MatrixLook look = look_at(space_, grid_, matrix);
    if (look.not_finite != no_node) {
      fault_ = {Kind::not_finite, 0, look.not_finite};
      return 0;
    }
    if (look.stranger != no_node)
      throw std::invalid_argument("row " + std::to_string(look.stranger) +
                                  " couples to a node of the grid that is no neighbour of its own");
    ensure_operator(0, grid_, Stencil(boxes_.turn.neighbours(look.neighbours)), ranks_.all ? &boxes_.parts : nullptr);
    taken(matrix);
  }
  const RankPart<Space> *const part = levels_[0].part.get();
  sign_                             = part ? sign_of(space_, levels_[0].exact.a, *part) : sign_of(space_, levels_[0].exact.a);
  look(0, symmetric);
  LevelLook looked = looked_at(0);
  symmetric_       = symmetric.value_or(false) || looked.symmetric;
  dominant_        = looked.dominant;
  mirrors_         = looked.mirrors;
  mild_            = is_mild(looked);
  if (const Boxes boxes = boxes_for(looked); boxes != boxes_) {
    work_in(boxes);
    taken(matrix);
    look(0, symmetric);
    looked = looked_at(0);
  }
  may_touch_ = may_touch(looked);
  if (may_touch_) look_for_corners();
  touching_levels_    = touching_levels();
  const Choice finest = plan(0, looked).choice;
  if (unless_across && finest.lines.size() == 1 && grid_.n[0] > 1 && finest.lines[0] != 0 && looked.zero_diagonal == no_node)
    return finest.lines[0];
  shape_ = shape_of(finest, looked);
  if (looked.zero_diagonal != no_node)
    fault_ = {Kind::zero_diagonal, 0, looked.zero_diagonal};
  else
    set_up(0, looked);
  agree_on_the_end();
  coarser().wait();
  complete_ = !fault_ && !is_for_one_rank();
  if (!complete_) return 0;
  omega_ = omega_of(looked);
  for (const bool mirrored : {false, true}) make_small(mirrored);
  return 0;
}

/// Fills the finest operator, and counts what is missing. Does not wait.
template <class Space, class Value, class Scalar>
template <class Matrix>
void HierarchyOn<Space, Value, Scalar>::take(const Matrix &matrix)
{
  const LevelHere &l       = levels_[0];
  const Operator<Value> &a = l.exact.a;
  const Result<Index, Space> missing(missing_.data());
  if (l.part && boxes_ != Boxes{ranks_.parts, {}}) {
    const Grid grid   = ranks_.parts.grid_of(ranks_.all->rank());
    const Index pitch = pitch_of(grid), size = pitch * a.stencil.count;
    if (static_cast<Index>(given_values_.size()) != size) given_values_ = array<Space, Value>("weft boxmg rows", size);
    const Operator<Value> given(grid, boxes_.turn.stencil_in_place(a.stencil), given_values_.data(), pitch);
    fill(space_, given, matrix, given_values_.data(), missing);
    l.part->ranks.agree();
    l.part->bring_rows(space_, given_values_.data(), l.exact.values.data(), a.stencil.count, pitch, a.pitch);
  } else {
    fill(space_, a, matrix, l.exact.values.data(), missing);
    if (!l.part) return;
    l.part->ranks.agree();
    l.part->fill_ghosts(space_, l.exact.values.data(), a.stencil.count, a.pitch);
  }
  cut(space_, *l.part, a, l.exact.values.data());
}

/// The boxes of the finest level: those of the ranks, unless lines of one direction would go on from one to another, each with messages between colours.
/// Others cost a message with half of a vector's nodes into a cycle and one out of it. Lines along y or z are turned as on one rank (turned.hpp), on the
/// way to and from boxes that hold them whole, or where ranks meet along one direction.
template <class Space, class Value, class Scalar>
auto HierarchyOn<Space, Value, Scalar>::boxes_for(const LevelLook &finest) const -> Boxes
{
  const Boxes given{ranks_.parts, {}};
  if (!ranks_.all) return given;
  const std::vector<int> lines = plan(0, finest).choice.lines;
  if (lines.size() != 1) return given;
  const int along = boxes_.turn.direction(lines.front()); // of the matrix's grid
  const Turn turn{turns<Space>(options_, grid_) ? along : 0};
  if (ranks_.parts.crosses(along)) {
    const auto whole = ranks_.parts.whole_along(along);
    return whole ? Boxes{whole->turned(turn), turn} : given;
  }
  return ranks_.parts.cut_once() ? Boxes{ranks_.parts.turned(turn), turn} : given;
}

/// Room for the finest level in other boxes.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::work_in(const Boxes &boxes)
{
  const Turn before      = boxes_.turn;
  const Stencil &stencil = levels_[0].exact.a.stencil;
  unsigned neighbours    = 0;
  for (int k = 0; k < stencil.count; k++) neighbours |= 1u << stencil.offset[k].number();
  boxes_           = boxes;
  grid_            = boxes.turn.grid(before.grid(grid_));
  options_.coarsen = boxes.turn.set(before.set(options_.coarsen));
  levels_.clear();
  ensure_operator(0, grid_, Stencil(boxes.turn.neighbours(before.neighbours(neighbours))), &boxes_.parts);
}

/// Fills the finest operator; false if its stencil lacks something, or an entry is not finite. Waits.
template <class Space, class Value, class Scalar>
template <class Matrix>
bool HierarchyOn<Space, Value, Scalar>::taken(const Matrix &matrix)
{
  take(matrix);
  return everywhere(from_device(space_, missing_.data()) == 0);
}

/// Expects of new values that all is chosen as for the last ones, so that nothing is waited for before all levels are there; and false where it is not.
template <class Space, class Value, class Scalar>
template <class Matrix>
bool HierarchyOn<Space, Value, Scalar>::read_again(const Matrix &matrix, std::optional<bool> symmetric)
{
  const auto same = [&](std::size_t level, const LevelLook &looked) {
    const LevelHere &l  = levels_[level];
    const bool definite = std::min(looked.wrong_sign, looked.zero_diagonal) == no_node;
    if (level == 0 && (!definite || is_mild(looked) != mild_ || (symmetric.value_or(false) || looked.symmetric) != symmetric_))
      return false;
    const Plan plan = this->plan(level, looked);
    if (level == 0 && (shape_of(plan.choice, looked) != shape_ || may_touch(looked) != may_touch_)) return false;
    return (definite || !symmetric_) && plan == Plan{l.choice, l.direct, level + 1 == count_, l.convected} && !fault_of(level);
  };
  take(matrix);
  if (may_touch_) look_for_corners();
  for (std::size_t level = 0; level < levels_.size(); level++) {
    LevelHere &l = levels_[level];
    look(level, symmetric);
    if (l.direct) {
      l.inverse.make(l.space, l.exact.a);
    } else {
      round_operator(l);
      l.smoother->refactor(l.here().a);
      l.looked_for_pivots = l.smoother->look_for_bad_pivots(l.space, Result<int, Space>(l.unsound.data()));
      if (l.planes) {
        l.planes->read(l.exact.a, symmetric_);
        if (level > 0) forget_replays(); // what stands in their hierarchies may be elsewhere now
      }
    }
    if (level + 1 < count_) make_next(level);
  }
  bool expected = everywhere(from_device(space_, missing_.data()) == 0) && touching_levels() == touching_levels_;
  for (std::size_t level = 0; level < levels_.size(); level++) {
    const LevelLook looked = looked_at(level);
    // Every rank asks all: those that share a level answer together.
    const bool lines = levels_[level].direct || levels_[level].smoother->as_expected();
    expected         = same(level, looked) && lines && expected;
    if (level > 0) continue;
    dominant_ = looked.dominant;
    mirrors_  = looked.mirrors;
    omega_    = omega_of(looked);
  }
  coarser().wait();
  return everywhere(expected);
}

/// Looks at the operator of a level. Does not wait.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::look(std::size_t level, std::optional<bool> symmetric)
{
  LevelHere &l      = levels_[level];
  const bool finest = level == 0;
  const LookAtLevel<Value> kernel{l.exact.a, sign_, finest ? symmetric.value_or(false) : symmetric_, finest};
  const Result<LevelLook, Space> result(l.look.data());
  if (l.part)
    look_at(l.space, kernel, *l.part, l.looks, result);
  else
    look_at(l.space, kernel, l.looks, result);
}

/// Whether squares may touch where weights can know of it: in the plane, where nothing else is asked for.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::may_touch(const LevelLook &finest) const
{
  const bool plane = grid_.n[2] == 1 && !grid_.stack();
  return plane && symmetric_ && finest.strengths.steps == 3 && options_.levels == 0 && options_.coarsen == 0 &&
         options_.coarsest == BoxmgCoarsest::direct && options_.interpolation == BoxmgInterpolation::from_operator;
}

/// Does not wait.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::look_for_corners()
{
  const LevelHere &l = levels_[0];
  const Box here     = l.part ? l.part->parts.extended(ranks_.all->rank()) : Box();
  boxmg::look_for_corners(l.space, l.exact.a, l.whole(), here.first, Result<Index, Space>(places_.data()));
}

/// What that has seen, on all ranks. Waits. An inverse of 500 nodes is worth its price on hosts too, and a larger one on a large grid.
template <class Space, class Value, class Scalar>
std::size_t HierarchyOn<Space, Value, Scalar>::touching_levels() const
{
  if (!may_touch_) return 0;
  const LevelHere &l = levels_[0];
  l.space.fence("weft boxmg: corners");
  Index places = 0;
  for (const Index some : l.part ? l.part->gathered(places_()) : std::vector<Index>{places_()}) places |= some;
  return boxmg::touching_levels(grid_, places,
                                std::max(options_.coarsest_nodes, is_large(grid_) ? BoxmgOptions::most_inverted : Index(500)));
}

/// What the last look has seen, on all ranks that share the level. Waits.
template <class Space, class Value, class Scalar>
LevelLook HierarchyOn<Space, Value, Scalar>::looked_at(std::size_t level) const
{
  const LevelHere &l = levels_[level];
  l.space.fence("weft boxmg: a look");
  return l.part ? joined(*l.part, l.look()) : l.look();
}

/// What ranks hear of the levels that the first one has by itself.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::agree_on_the_end()
{
  count_ = levels_.size();
  if (!ranks_.all) return;
  if (fault_ && has_level(static_cast<std::size_t>(fault_->level)))
    fault_ = turned_fault(boxes_.turn, *fault_, levels_[static_cast<std::size_t>(fault_->level)].whole());
  struct End {
    std::optional<BoxmgFault> fault;
    std::size_t count;
  } end{fault_, count_};
  static_assert(std::is_trivially_copyable_v<End>);
  ranks_.all->agree();
  ranks_.all->from_first(&end, sizeof(end));
  fault_ = end.fault;
  count_ = end.count;
}

/// Room for a level's operator and vectors; what stands on another stencil goes.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::ensure_operator(std::size_t level, const Grid &whole, const Stencil &stencil, const Parts *parts)
{
  const Grid grid = parts ? parts->grid_of(ranks_.all->rank()) : whole;
  if (has_level(level)) {
    const LevelHere &l       = levels_[level];
    const Operator<Value> &a = l.exact.a;
    const bool same_part     = parts ? l.part && l.part->parts == *parts : !l.part;
    if (same_part && a.grid == grid && std::equal(a.stencil.slot, a.stencil.slot + Stencil::most, stencil.slot)) return;
    levels_.resize(level);
  }
  LevelHere &l      = levels_.emplace_back();
  l.execution       = level == 0 ? &execution_ : &coarser();
  l.space           = space_of<Space>(*l.execution);
  const Index pitch = pitch_of(grid), nodes = grid.nodes();
  l.exact.values = array<Space, Value>("weft boxmg operator", pitch * stencil.count);
  l.exact.a      = Operator<Value>(grid, stencil, l.exact.values.data(), pitch);
  l.work         = array<Space, Scalar>("weft boxmg residual", nodes);
  l.look         = Kokkos::View<LevelLook, Kokkos::SharedHostPinnedSpace>("weft boxmg look");
  l.unsound      = Kokkos::View<int, Kokkos::SharedHostPinnedSpace>("weft boxmg pivots");
  if (parts)
    l.part = std::make_unique<RankPart<Space>>(*ranks_.all, *parts, level == 0 ? ranks_.parts : *parts, level == 0 ? boxes_.turn : Turn());
  // The finest level works on the caller's vectors, unless they are of another precision or without ghosts, or it is of planes of another grid.
  if (level > 0 || !std::is_same_v<Value, Scalar> || parts || grid.stack()) {
    l.x = array<Space, Scalar>("weft boxmg solution", nodes);
    l.b = array<Space, Scalar>("weft boxmg right-hand side", nodes);
  }
}

template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::last(std::size_t level, const Choice &choice) const
{
  const Index nodes = levels_[level].whole().piece().nodes();
  return choice.coarsened == 0 || nodes <= options_.coarsest_nodes ||
         (touching_levels_ > 0 && level >= touching_levels_ && nodes <= BoxmgOptions::most_inverted) ||
         (options_.levels > 0 && static_cast<int>(level) + 1 >= options_.levels);
}

template <class Space, class Value, class Scalar>
auto HierarchyOn<Space, Value, Scalar>::plan(std::size_t level, const LevelLook &looked) const -> Plan
{
  const Grid &grid     = levels_[level].whole();
  const bool convected = !symmetric_ && convects(looked.flow);
  Strengths strengths  = looked.strengths;
  if (convected) strengths.jumps = 0; // upwind convection couples to both sides as unlike as materials do
  Plan plan{choose(grid, strengths, one_will_do(level), options_), false, false, convected};
  plan.last   = last(level, plan.choice);
  plan.direct = plan.last && options_.coarsest == BoxmgCoarsest::direct && grid.piece().nodes() <= BoxmgOptions::most_inverted;
  if (plan.direct) plan.choice = {{}, 0};
  if (plan.last) plan.choice.coarsened = 0;
  return plan;
}

/// Whether lines along one of two directions that are alike will do on a level: not where coefficients jump by more than 1e5 (a checkerboard of 1e6
/// takes 17 iterations so, and 14 with both), nor where a finer level needs both, as on stretched meshes.
template <class Space, class Value, class Scalar>
bool HierarchyOn<Space, Value, Scalar>::one_will_do(std::size_t level) const
{
  return symmetric_ && mild_ && (level == 0 || levels_[level - 1].choice.lines.size() == 1);
}

template <class Space, class Value, class Scalar>
BoxmgCycle HierarchyOn<Space, Value, Scalar>::shape_of(const Choice &finest, const LevelLook &looked) const
{
  if (options_.cycle != BoxmgCycle::automatic) return options_.cycle;
  return cycle_for(grid_, looked.strengths, looked.flow, finest, touching_levels_ > 0);
}

/// Of a symmetric operator, whose relaxation converges with any omega below 2.
template <class Space, class Value, class Scalar>
std::optional<RealOf<Scalar>> HierarchyOn<Space, Value, Scalar>::omega_of(const LevelLook &looked) const
{
  const LevelHere &l = levels_[0];
  if (!symmetric_ || options_.sweeps != 1 || l.direct || l.planes || !l.smoother->two_colours_alone()) return std::nullopt;
  return static_cast<RealOf<Scalar>>(over_relaxation(l.whole(), looked.strengths, looked.flow.nodes, l.choice));
}

/// What is wrong with what solves or relaxes a level. Waits.
template <class Space, class Value, class Scalar>
std::optional<BoxmgFault> HierarchyOn<Space, Value, Scalar>::fault_of(std::size_t level) const
{
  using Kind         = BoxmgFault::Kind;
  const LevelHere &l = levels_[level];
  const int number   = static_cast<int>(level);
  if (l.direct) {
    const auto found = from_device(l.space, l.inverse.found.data());
    if (symmetric_ && found.other_sign < l.grid().nodes()) return BoxmgFault{Kind::indefinite, number, found.other_sign};
    if (found.left_out < l.grid().nodes()) return BoxmgFault{Kind::coarsest_pivots, number, found.left_out};
  } else if (const auto fault = l.planes ? l.planes->fault() : std::nullopt) {
    return BoxmgFault{fault->kind, number, fault->node};
  } else {
    const bool sound = l.looked_for_pivots && (l.space.fence("weft boxmg: pivots"), l.unsound() == 0);
    Index bad        = sound ? no_node : l.smoother->bad_node().value_or(no_node);
    if (l.part) bad = l.part->smallest(bad);
    if (bad != no_node) return BoxmgFault{Kind::line_pivot, number, bad};
  }
  return std::nullopt;
}

/// The rest of a level whose operator is there, and all coarser levels.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::set_up(std::size_t level, const LevelLook &looked)
{
  using Kind = BoxmgFault::Kind;
  // Convection may leave such a diagonal on a coarse level of an operator that is not symmetric, where a recirculating flow stands still.
  if (symmetric_ && std::min(looked.wrong_sign, looked.zero_diagonal) != no_node) {
    fault_ = {Kind::indefinite, static_cast<int>(level), std::min(looked.wrong_sign, looked.zero_diagonal)};
    return;
  }
  Plan plan    = this->plan(level, looked);
  LevelHere &l = levels_[level];
  if (l.part && (plan.direct || !plan.choice.planes.empty())) {
    gather(level);
    return;
  }
  l.direct    = plan.direct;
  l.convected = plan.convected;
  if (plan.direct) {
    l.choice = plan.choice;
    l.smoother.reset();
    l.planes.reset();
    if (l.inverse.n == 0) l.inverse = Inverse<Space>(l.grid());
    l.inverse.make(l.space, l.exact.a);
    fault_ = fault_of(level);
    levels_.resize(level + 1);
    return;
  }
  round_operator(l);
  ensure_smoother(l, plan.choice);
  if (const auto fault = fault_of(level)) {
    // A line of a singular operator that couples to nothing else: points, where the choice is free.
    if (options_.smoother == BoxmgSmoother::automatic) {
      BoxmgOptions points = options_;
      points.smoother     = BoxmgSmoother::points;
      plan.choice         = choose(l.whole(), looked.strengths, one_will_do(level), points);
      if (plan.last) plan.choice.coarsened = 0;
      ensure_smoother(l, plan.choice);
    } else {
      fault_ = fault;
      return;
    }
  }
  if (plan.last) {
    levels_.resize(level + 1);
    return;
  }
  make_next(level);
  if (!has_level(level + 1)) return;
  look(level + 1, std::nullopt);
  set_up(level + 1, looked_at(level + 1));
}

/// The interpolation from the next level, and that level's operator.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::make_next(std::size_t level)
{
  ensure_transfer(levels_[level]);
  if (levels_[level].part) {
    make_next_of_ranks(level);
  } else {
    const Grid next       = levels_[level].exact.p.coarse;
    const Stencil stencil = Stencil::box(next);
    ensure_operator(level + 1, next, stencil, nullptr);
    const auto &fine   = levels_[level].exact;
    const auto &coarse = levels_[level + 1].exact;
    galerkin(levels_[level].space, fine.a, fine.r, fine.p, stencil, levels_[level].products, coarse.values.data(), coarse.a.pitch,
             symmetric_);
    if (is_stabilised(level + 1)) stabilise(levels_[level].space, coarse.a, sign_, coarse.values.data());
  }
  if (level > 0 || !beside_) return;
  finest_.set(); // the next level is on a stream of its own
  finest_.hold(*beside_);
}

/// A level that ranks share and that turns out to be solved directly, or to be relaxed by planes, goes to the first one.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::gather(std::size_t level)
{
  alone_from_ = level;
  if (level == 0) return;
  make_next(level - 1);
  if (!has_level(level)) return;
  look(level, std::nullopt);
  set_up(level, looked_at(level));
}

/// The same of a level that ranks share: they share the next one too, or the first one has it.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::make_next_of_ranks(std::size_t level)
{
  const Directions coarsened = levels_[level].choice.coarsened;
  const Parts shared         = levels_[level].part->parts.coarse(coarsened);
  const bool share = ranks_.share(shared) && level + 1 < alone_from_, here = share || ranks_.all->rank() == 0;
  const Parts parts     = share ? shared : shared.gathered();
  const Stencil stencil = Stencil::box(parts.whole);
  if (here)
    ensure_operator(level + 1, parts.whole, stencil, share ? &parts : nullptr);
  else
    levels_.resize(level + 1);
  LevelHere &l = levels_[level];
  if (!l.part->leads_to(parts)) {
    l.part->set_next(coarsened, parts);
    const Grid &half = l.part->half();
    l.half_values    = array<Space, Value>("weft boxmg part of an operator", pitch_of(half) * stencil.count);
    l.half_b         = array<Space, Scalar>("weft boxmg part of a right-hand side", half.nodes());
    l.half_x         = array<Space, Scalar>("weft boxmg part of a solution", half.nodes());
  }
  const Index pitch = pitch_of(l.part->half());
  galerkin(l.space, l.exact.a, l.exact.r, l.exact.p, stencil, l.products, l.half_values.data(), pitch, false);
  ranks_.all->agree();
  Coefficients<Space, Value> *const next = here ? &levels_[level + 1].exact : nullptr;
  l.part->down(l.space, l.half_values.data(), next ? next->values.data() : nullptr, stencil.count, pitch, next ? next->a.pitch : 0);
  if (next && is_stabilised(level + 1)) stabilise(l.space, next->a, sign_, next->values.data());
  if (!share) return;
  const RankPart<Space> &part = *levels_[level + 1].part;
  if (is_stabilised(level + 1)) part.fill_ghosts(l.space, next->values.data(), stencil.count, next->a.pitch); // whose neighbours lie beyond
  cut(l.space, part, next->a, next->values.data());
}

template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::ensure_smoother(LevelHere &l, const Choice &choice)
{
  if (!l.smoother || l.choice.lines != choice.lines)
    l.smoother = std::make_unique<Smoother<Scalar>>(*l.execution, l.grid(), l.exact.a.stencil, choice.lines, l.part.get());
  if (!l.planes || l.choice.planes != choice.planes) {
    const bool recorded = &l != levels_.data();
    l.planes.reset();
    if (!choice.planes.empty())
      l.planes = std::make_unique<Planes<Space, Value, Scalar>>(l.space, *l.execution, l.exact.a, choice.planes, options_, recorded);
  }
  l.choice = choice;
  if (l.part) l.part->ranks.agree();
  l.smoother->factor(l.here().a);
  l.looked_for_pivots = false;
  if (l.planes) l.planes->read(l.exact.a, symmetric_);
}

/// P from the symmetric part and R from the transpose's own interpolation (Dendy 1983): interpolation from the operator itself diverges with
/// convection, and R = P^T needs more iterations the finer the grid is.
template <class Space, class Value, class Scalar>
void HierarchyOn<Space, Value, Scalar>::ensure_transfer(LevelHere &l)
{
  const bool from_operator      = options_.interpolation == BoxmgInterpolation::from_operator;
  Coefficients<Space, Value> &c = l.exact;
  if (c.p.coarsened != l.choice.coarsened || c.weights.size() == 0) {
    c.weights = c.weights_r = {}; // an error below leaves none of other directions
    l.products              = {};
    c.p                     = Transfer<Value>(l.grid(), l.choice.coarsened);
    c.p.pitch               = c.a.pitch;
    c.weights               = array<Space, Value>("weft boxmg interpolation", c.p.slots() * c.p.pitch);
    c.p.weights             = c.weights.data();
    start_weights(l.space, c.p, c.weights.data());
  }
  c.r = c.p;
  make_weights(l.space, c.a, symmetric_ ? Part::whole : Part::symmetric, c.p, from_operator, l.convected, c.weights.data(), nullptr,
               static_cast<std::size_t>(&l - levels_.data()) < touching_levels_);
  if (!symmetric_ && from_operator) {
    if (c.weights_r.size() == 0) {
      c.weights_r = array<Space, Value>("weft boxmg restriction", c.p.slots() * c.p.pitch);
      start_weights(l.space, c.p, c.weights_r.data());
    }
    c.r.weights = c.weights_r.data();
    make_weights(l.space, c.a, Part::transpose, c.r, true, l.convected, c.weights_r.data());
  }
  if (l.part) { // those of a ghost come from rows beyond it
    l.part->ranks.agree();
    l.part->fill_ghosts(l.space, c.weights.data(), c.p.slots(), c.p.pitch);
    if (c.weights_r.size() > 0) l.part->fill_ghosts(l.space, c.weights_r.data(), c.p.slots(), c.p.pitch);
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
    if (l.exact.r.weights != l.exact.p.weights) l.rounded.r.weights = l.rounded.weights_r.data();
  }
}

} // namespace weft::boxmg
