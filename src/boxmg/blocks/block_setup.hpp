/// Set-up of a BlockHierarchy: values to levels, level by level. What depends on the pattern and on what was chosen stays while it is the same. Included by
/// block_hierarchy.hpp.
#pragma once
#include "boxmg/blocks/block_hierarchy.hpp"
#include "boxmg/csr_of_level.hpp"

namespace weft::boxmg {

template <class Space, class Value>
template <class Int>
void BlockHierarchy<Space, Value>::read_any(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric)
{
  const int unknowns = options_.unknowns;
  fault_             = std::nullopt;
  // The pattern of the last matrix may do for this one.
  if (levels_.empty() || !taken(matrix)) {
    const BlockMatrixLook look = look_at(space_, grid_, unknowns, matrix);
    if (look.not_finite != no_node) {
      fault_ = {BoxmgFault::Kind::not_finite, 0, look.not_finite / unknowns, static_cast<int>(look.not_finite % unknowns)};
      return;
    }
    if (look.stranger != no_node)
      throw std::invalid_argument("row " + std::to_string(look.stranger) +
                                  " couples to a node of the grid that is no neighbour of its own");
    ensure_level(0, grid_, look.pattern);
    taken(matrix);
  }
  const BlockOperator<Space, Value> &a = levels_[0].a;
  signs_.clear();
  for (int c = 0; c < unknowns; c++) signs_.push_back(sign_of(space_, a.own(c).a));
  const BlockRows rows = look_at(space_, a.view());
  symmetric_           = symmetric.value_or(false) || rows.not_symmetric == 0;
  dominant_            = rows.not_dominant == 0;
  set_up();
}

/// Fills the finest operator; false if its pattern lacks something, or an entry is not finite. Waits.
template <class Space, class Value>
template <class Int>
bool BlockHierarchy<Space, Value>::taken(const CsrMatrix<Value, Int> &matrix)
{
  fill(space_, levels_[0].a.view(), matrix, levels_[0].a.values(), Result<Index, Space>(missing_.data()));
  return from_device(space_, missing_.data()) == 0;
}

/// Room for a level's operator and vectors; what stands on another pattern goes.
template <class Space, class Value>
void BlockHierarchy<Space, Value>::ensure_level(std::size_t level, const Grid &grid, const BlockPattern &pattern)
{
  if (level < levels_.size()) {
    if (levels_[level].grid() == grid && levels_[level].a.pattern() == pattern) return;
    levels_.resize(level);
  }
  LevelHere &l = levels_.emplace_back();
  l.a          = BlockOperator<Space, Value>(space_, grid, pattern, pitch_of(grid));
  l.x          = array<Space, Value>("weft boxmg solution", l.size());
  l.b          = array<Space, Value>("weft boxmg right-hand side", l.size());
  l.work       = array<Space, Value>("weft boxmg residual", l.size());
  l.look       = array<Space, LevelLook>("weft boxmg look", pattern.unknowns);
}

/// What each unknown's own couplings look like. Waits.
template <class Space, class Value>
std::vector<LevelLook> BlockHierarchy<Space, Value>::look(std::size_t level, bool known_symmetric)
{
  LevelHere &l = levels_[level];
  std::vector<LevelLook> looks(signs_.size());
  for (int c = 0; c < l.a.unknowns(); c++)
    boxmg::look_at(space_, LookAtLevel<Value>{l.a.own(c).a, signs_[static_cast<std::size_t>(c)], known_symmetric, level == 0}, l.looks,
                   Result<LevelLook, Space>(l.look.data() + c));
  Kokkos::deep_copy(space_, Array<LevelLook, Kokkos::HostSpace>(looks.data(), looks.size()), l.look);
  space_.fence("weft boxmg: looks");
  return looks;
}

/// Of all unknowns. Lines of blocks have no planes to fall back on.
template <class Space, class Value>
LevelLook BlockHierarchy<Space, Value>::together(const std::vector<LevelLook> &looks)
{
  LevelLook all;
  for (const LevelLook &look : looks) all.join(look);
  std::fill(std::begin(all.strengths.outdone), std::end(all.strengths.outdone), 0);
  return all;
}

template <class Space, class Value>
void BlockHierarchy<Space, Value>::set_up()
{
  for (std::size_t level = 0;; level++) {
    const std::vector<LevelLook> looks = look(level, symmetric_);
    if (level == 0) {
      if (find_fault(level, BoxmgFault::Kind::zero_diagonal, looks, &LevelLook::zero_diagonal)) return;
      mild_                  = std::all_of(looks.begin(), looks.end(), is_mild);
      const LevelLook finest = together(looks);
      const Choice choice    = choose(grid_, finest.strengths, one_will_do(level), options_);
      const bool chosen      = options_.cycle == BoxmgCycle::automatic;
      shape_                 = chosen ? cycle_for(grid_, finest.strengths, finest.flow, choice) : options_.cycle;
    }
    if (!set_up(level, looks)) return;
  }
}

/// A level whose operator is there, and the operator of the next one. False where there is none, or a fault.
template <class Space, class Value>
bool BlockHierarchy<Space, Value>::set_up(std::size_t level, const std::vector<LevelLook> &looks)
{
  if (symmetric_ && (find_fault(level, BoxmgFault::Kind::indefinite, looks, &LevelLook::wrong_sign) ||
                     find_fault(level, BoxmgFault::Kind::indefinite, looks, &LevelLook::zero_diagonal)))
    return false;
  LevelHere &l              = levels_[level];
  const Strengths strengths = together(looks).strengths;
  const Choice choice       = choose(l.grid(), strengths, one_will_do(level), options_);
  const bool last           = choice.coarsened == 0 || l.grid().nodes() <= options_.coarsest_nodes ||
                    (options_.levels > 0 && static_cast<int>(level) + 1 >= options_.levels);
  l.direct   = last && options_.coarsest == BoxmgCoarsest::direct && l.size() <= BoxmgOptions::most_inverted;
  l.convects = 0;
  for (std::size_t c = 0; c < looks.size(); c++) l.convects |= !symmetric_ && convects(looks[c].flow) ? 1u << c : 0u;
  if (last) levels_.resize(level + 1);
  if (l.direct) {
    ensure_inverse(level);
    return false;
  }
  if (!ensure_smoother(level, choice, strengths, last) || last) return false;
  make_next(level, looks);
  return true;
}

/// The first unknown with a node of the kind, as a fault.
template <class Space, class Value>
bool BlockHierarchy<Space, Value>::find_fault(std::size_t level, BoxmgFault::Kind kind, const std::vector<LevelLook> &looks,
                                              Index LevelLook::*which)
{
  for (std::size_t c = 0; c < looks.size() && !fault_; c++) {
    if (looks[c].*which != no_node) fault_ = {kind, static_cast<int>(level), looks[c].*which, static_cast<int>(c)};
  }
  return fault_.has_value();
}

/// False where there is a fault.
template <class Space, class Value>
bool BlockHierarchy<Space, Value>::ensure_inverse(std::size_t level)
{
  LevelHere &l = levels_[level];
  l.choice     = {};
  l.smoother.reset();
  Grid all;
  all.n[0] = l.size();
  if (l.inverse.n != all.n[0]) l.inverse = Inverse<Space>(all);
  fill_inverse(space_, l.a.view(), l.inverse);
  l.inverse.eliminate(space_, std::sqrt(static_cast<double>(std::numeric_limits<RealOf<Value>>::epsilon())));
  const auto found    = from_device(space_, l.inverse.found.data());
  const auto fault_at = [&](BoxmgFault::Kind kind, Index row) {
    const Index nodes = l.grid().nodes();
    if (!fault_ && row < l.size()) fault_ = {kind, static_cast<int>(level), row % nodes, static_cast<int>(row / nodes)};
  };
  if (symmetric_) fault_at(BoxmgFault::Kind::indefinite, found.other_sign);
  fault_at(BoxmgFault::Kind::coarsest_pivots, found.left_out);
  return !fault_;
}

/// False where there is a fault: lines, and where the choice is free points, have blocks that cannot be inverted.
template <class Space, class Value>
bool BlockHierarchy<Space, Value>::ensure_smoother(std::size_t level, Choice choice, const Strengths &strengths, bool last)
{
  LevelHere &l        = levels_[level];
  const auto factored = [&](const Choice &wanted) {
    if (!l.smoother || l.choice.lines != wanted.lines)
      l.smoother = std::make_unique<BlockSmoother<Space, Value>>(execution_, l.a, wanted.lines);
    l.choice = wanted;
    if (last) l.choice.coarsened = 0;
    l.smoother->factor(space_, l.a.view());
    return l.smoother->bad_node(l.grid());
  };
  std::optional<Index> bad = factored(choice);
  if (bad && options_.smoother == BoxmgSmoother::automatic) {
    BoxmgOptions points = options_;
    points.smoother     = BoxmgSmoother::points;
    bad                 = factored(choose(l.grid(), strengths, one_will_do(level), points));
  }
  if (bad) fault_ = {BoxmgFault::Kind::line_pivot, static_cast<int>(level), *bad};
  return !bad;
}

/// P from the symmetric part and R from the transpose's own interpolation, as of one unknown.
template <class Space, class Value>
void BlockHierarchy<Space, Value>::ensure_transfer(LevelHere &l, const std::vector<LevelLook> &looks)
{
  const bool two      = !symmetric_ && options_.interpolation == BoxmgInterpolation::from_operator;
  const auto unknowns = static_cast<std::size_t>(l.a.unknowns());
  Transfer<Value> any(l.grid(), l.choice.coarsened);
  any.pitch          = pitch_of(l.grid());
  const Index of_one = any.slots() * any.pitch, size = of_one * l.a.unknowns();
  const auto started = [&](const std::string &label) {
    const auto weights = array<Space, Value>(label, size);
    for (Index c = 0; c < l.a.unknowns(); c++) start_weights(space_, any, weights.data() + c * of_one);
    return weights;
  };
  if (l.p.empty() || l.p.front().coarsened != any.coarsened) {
    l.p.clear(); // an error below leaves none of other directions
    l.products.clear();
    l.weights_r = {};
    l.weights   = started("weft boxmg interpolation");
  }
  if (two && l.weights_r.size() == 0) l.weights_r = started("weft boxmg restriction");
  if (l.diagonals.size() == 0) {
    l.diagonals = array<Space, Value>("weft boxmg diagonals", l.size());
    l.followers = array<Space, unsigned char>("weft boxmg followers", l.size());
  }
  const auto transfers = [&](const Value *weights) {
    std::vector<Transfer<Value>> all(unknowns, any);
    for (std::size_t c = 0; c < unknowns; c++) all[c].weights = weights + static_cast<Index>(c) * of_one;
    return all;
  };
  l.p = transfers(l.weights.data());
  l.r = two ? transfers(l.weights_r.data()) : l.p;
  make_weights_of_all(l, symmetric_ ? Part::whole : Part::symmetric, looks, l.p, l.weights.data());
  if (two) make_weights_of_all(l, Part::transpose, looks, l.r, l.weights_r.data());
}

/// An unknown without couplings to neighbours of its own kind follows the one that has the strongest.
template <class Space, class Value>
void BlockHierarchy<Space, Value>::make_weights_of_all(const LevelHere &l, Part part, const std::vector<LevelLook> &looks,
                                                       const std::vector<Transfer<Value>> &to, Value *weights)
{
  const auto strength = [](const LevelLook &look) { return look.strengths.along[0] + look.strengths.along[1] + look.strengths.along[2]; };
  const auto strongest =
      std::max_element(looks.begin(), looks.end(), [&](const auto &one, const auto &other) { return strength(one) < strength(other); });
  const bool from_operator = options_.interpolation == BoxmgInterpolation::from_operator;
  const Index of_one       = to.front().slots() * to.front().pitch;
  const auto &a            = l.a.view();
  if (from_operator)
    balance_diagonals(space_, a, part == Part::transpose ? Transpose::yes : Transpose::no, signs_, l.a.values(), l.diagonals.data(),
                      l.followers.data());
  for (std::size_t c = 0; c < to.size(); c++) {
    const std::size_t from = strength(looks[c]) > 0 ? c : static_cast<std::size_t>(strongest - looks.begin());
    const bool convects    = (l.convects >> from & 1) != 0;
    make_weights(space_, l.a.own(static_cast<int>(from)).a, part, to[c], from_operator, convects, weights + static_cast<Index>(c) * of_one,
                 from == c ? l.followers.data() + static_cast<Index>(c) * l.grid().nodes() : nullptr);
  }
  if (from_operator) restore_diagonals(space_, a, l.a.values(), l.diagonals.data());
}

/// The interpolation from the next level, and that level's operator.
template <class Space, class Value>
void BlockHierarchy<Space, Value>::make_next(std::size_t level, const std::vector<LevelLook> &looks)
{
  ensure_transfer(levels_[level], looks);
  const Grid next = levels_[level].p.front().coarse;
  ensure_level(level + 1, next, levels_[level].a.pattern().coarse(next));
  LevelHere &l                              = levels_[level];
  const BlockOperator<Space, Value> &coarse = levels_[level + 1].a;
  for (std::size_t k = 0; k < l.a.all().size(); k++) {
    const Coupling<Value> &one = l.a.all()[k], &to = coarse.all()[k];
    const auto row = static_cast<std::size_t>(one.row), column = static_cast<std::size_t>(one.column);
    galerkin(space_, one.a, l.r[row], l.p[column], to.a.stencil, products_for(l, one.a.stencil), coarse.values(to), to.a.pitch, false);
    if (one.row == one.column && level + 1 >= stabilised_from && (l.convects >> row & 1) != 0)
      stabilise(space_, to.a, signs_[row], coarse.values(to));
  }
}

/// The list of products is the same for all pairs of a stencil.
template <class Space, class Value>
Products<Space> &BlockHierarchy<Space, Value>::products_for(LevelHere &l, const Stencil &stencil) const
{
  for (auto &[of, products] : l.products) {
    if (std::equal(of.slot, of.slot + Stencil::most, stencil.slot)) return products;
  }
  return l.products.emplace_back(stencil, Products<Space>{}).second;
}

// ------------------------------------------------------------------------------------------------------------ for tests and the curious

template <class Space, class Value>
typename BoxMultigrid<Value>::Csr BlockHierarchy<Space, Value>::operator_of(int level) const
{
  const LevelHere &l   = levels_.at(static_cast<std::size_t>(level));
  const auto values    = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), l.a.array());
  const Index unknowns = l.a.unknowns();
  CsrRows<Csr> rows(l.size(), l.size());
  for (Index row = 0; row < l.size(); row++) {
    const Index node = row / unknowns;
    for (const Coupling<Value> &one : l.a.all()) {
      if (one.row != row % unknowns) continue;
      for (int k = 0; k < one.a.stencil.count; k++) {
        Index at[3];
        l.grid().position(node, at);
        if (l.grid().move(at, one.a.stencil.offset[k]))
          rows.add(l.grid().node(at) * unknowns + one.column, values(static_cast<std::size_t>(one.first + k * one.a.pitch + node)));
      }
    }
    rows.end_row();
  }
  return rows.csr();
}

template <class Space, class Value>
typename BoxMultigrid<Value>::Csr BlockHierarchy<Space, Value>::interpolation_of(int level, bool restriction) const
{
  const LevelHere &l   = levels_.at(static_cast<std::size_t>(level));
  const auto &all      = restriction ? l.r : l.p;
  const auto &array    = all.front().weights == l.weights.data() ? l.weights : l.weights_r;
  const auto weights   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  const Index unknowns = l.a.unknowns();
  CsrRows<Csr> rows(l.size(), all.front().coarse.nodes() * unknowns);
  for (Index row = 0; row < l.size(); row++) {
    const Index node = row / unknowns, c = row % unknowns;
    Transfer<Value> p = all[static_cast<std::size_t>(c)];
    p.weights         = weights.data() + c * p.slots() * p.pitch;
    over_weights(p, node, [&](Index coarse, Value w) { rows.add(coarse * unknowns + c, w); });
    rows.end_row();
  }
  return rows.csr();
}

} // namespace weft::boxmg
