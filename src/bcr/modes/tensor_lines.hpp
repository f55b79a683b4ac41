/// TensorLines: transforms to modes along all directions but the last one, lines of all modes side by side, transforms back. Three passes over
/// the grid in two directions, five in three.
///
/// Modes lie in an array of their own, whose rows begin at multiples of 128 bytes.
#pragma once
#include "bcr/modes/mode_lines.hpp"
#include "bcr/prepare.hpp"
#include "bcr/transforms/fast_transform.hpp"

namespace weft::poisson {

template <class Space, class Scalar>
class TensorLines {
public:
  using Values = OwnedArray<Scalar, Space>;

  /// What `prepare` makes for `facr` where its directions are those of this class.
  static bool fits(const Prepared &p)
  {
    return p.schedule.tensor && p.block == 0 && (p.line == 2 ? p.batch == 1 : p.line == 1 && p.n[2] == 1) &&
           std::get<TransformStep>(p.schedule.steps.front()).fast && (!p.transforms() || p.modes.fast) && equal_inside(p.schedule.line);
  }

  TensorLines(const Space &space, const Prepared &p)
      : space_(space), columns_(p.n[0]), planes_(p.n[p.batch]), rows_(p.n[p.line]),
        to_modes_(space, *std::get<TransformStep>(p.schedule.steps.front()).fast),
        from_modes_(space, *std::get<TransformStep>(p.schedule.steps.back()).fast)
  {
    // Mode q of sines is result q + 1 of their transform: there it is at a multiple of the pitch plus q + 1.
    lead_                   = std::get<TransformStep>(p.schedule.steps.front()).fast->kind == Trigonometric::dst1 ? 1 : 0;
    constexpr Index aligned = 128 / sizeof(Scalar);
    pitch_                  = (columns_ + lead_ + aligned - 1) / aligned * aligned;
    if (planes_ > 1) {
      to_planes_   = FastTransform<Space, Scalar>(space, p.modes.fast->to_modes);
      from_planes_ = FastTransform<Space, Scalar>(space, p.modes.fast->from_modes);
    }
    make_room(1);
    ConstantModes modes;
    find_modes(p, modes, others_, pinned_);
    lines_ = ModeLines<Space, Scalar>(modes, rows_);
  }

  /// Takes the modes of a problem of the same directions and transforms. False, and nothing is changed, where some do not decay.
  bool renew(const Prepared &p)
  {
    ConstantModes modes;
    LineStep others;
    Index pinned;
    if (!fits(p) || !others_.groups.empty()) return false;
    find_modes(p, modes, others, pinned);
    if (!others.groups.empty()) return false;
    lines_ = ModeLines<Space, Scalar>(modes, rows_);
    return true;
  }

  /// Modes that are solved as other lines are, since they do not decay along their lines.
  const LineStep &others() const { return others_; }
  /// Pole of others() whose line is singular, or -1.
  Index pinned() const { return pinned_; }
  /// The rows of others(), of one right-hand side of several.
  RowArrays<Scalar> rows(Index column = 0) const
  {
    const Grid grid{rows_, pitch_ * planes_, columns_, 1, planes_, pitch_};
    Scalar *const first = work_.data() + column * work_apart() + lead_;
    return {grid, first, first};
  }
  /// Elements of work space for a right-hand side.
  Index work_apart() const { return rows_ * planes_ * pitch_; }
  /// Right-hand sides that there is room for.
  Index room() const { return static_cast<Index>(work_.size()) / work_apart(); }
  void make_room(Index columns) { work_ = Values("weft poisson modes", static_cast<std::size_t>(columns * work_apart())); }
  std::size_t bytes() const
  {
    return work_.size() * sizeof(Scalar) + to_modes_.bytes() + from_modes_.bytes() + to_planes_.bytes() + from_planes_.bytes() +
           lines_.bytes();
  }

  /// Solves for `columns` right-hand sides `ld` elements from each other, as many as there is room for; each launch is one for all of them.
  /// solve_others(column) solves the modes of others() in rows(column).
  template <class SolveOthers>
  void operator()(const Scalar *rhs, Scalar *solution, const SolveOthers &solve_others, Index columns = 1, Index ld = 0) const
  {
    const Index apart = work_apart();
    const Index lines = rows_ * planes_;
    const LinesAt grid{1, lines, columns_, 0}, modes{1, lines, pitch_, 0}, across{pitch_, columns_, 1, pitch_ * planes_};
    Scalar *const work = work_.data() + lead_;
    to_modes_(space_, rhs, grid, work, modes, lines, {columns, ld, apart});
    if (planes_ > 1) to_planes_(space_, work, across, work, across, rows_ * columns_, {columns, apart, apart});
    lines_(space_, work_.data(), pitch_ * planes_, columns, apart);
    if (!others_.groups.empty()) {
      for (Index column = 0; column < columns; column++) solve_others(column);
    }
    if (planes_ > 1) from_planes_(space_, work, across, work, across, rows_ * columns_, {columns, apart, apart});
    from_modes_(space_, work, modes, solution, grid, lines, {columns, apart, ld});
  }

private:
  /// Where a mode of the first direction is among those of the table, which only has those that decay.
  static constexpr Index not_there = -1;

  /// The modes that decay along their lines, those of a plane one after the other, into `modes`; the others into `others`.
  void find_modes(const Prepared &p, ConstantModes &modes, LineStep &others, Index &pinned) const
  {
    const LineStep &all = std::get<LineStep>(p.schedule.steps[1]);
    pinned              = -1;
    ConstantModes found;
    std::vector<Index> place(static_cast<std::size_t>(columns_)); // of the first plane's, the others behind it
    for (Index q = 0; q < columns_; q++) {
      place[static_cast<std::size_t>(q)] = static_cast<Index>(found.root.size());
      for (double plane : p.modes.values) {
        // B - pole + plane
        const long double shift = static_cast<long double>(plane) - all.pole[static_cast<std::size_t>(q)];
        if (!add_mode(p.schedule.line, shift, found)) place[static_cast<std::size_t>(q)] = not_there;
      }
      if (place[static_cast<std::size_t>(q)] != not_there) continue;
      if (p.pinned[1] == q) pinned = static_cast<Index>(others.pole.size());
      const Index pole = others.add_pole(all.pole[static_cast<std::size_t>(q)], {1}, {1});
      others.groups.push_back({pole, 1, {{{columns_ + q, 1}}}, {{columns_ + q, {}}}});
    }
    for (Index plane = 0; plane < planes_; plane++) {
      for (Index column = 0; column < pitch_; column++) {
        const Index q = column - lead_;
        if (q >= 0 && q < columns_ && place[static_cast<std::size_t>(q)] != not_there)
          modes.add(found, place[static_cast<std::size_t>(q)] + plane);
        else
          modes.add_none();
      }
    }
  }

  Space space_;
  Index columns_, planes_, rows_, lead_ = 0, pitch_ = 0, pinned_ = -1;
  FastTransform<Space, Scalar> to_modes_, from_modes_, to_planes_, from_planes_;
  ModeLines<Space, Scalar> lines_;
  LineStep others_;
  Values work_;
};

} // namespace weft::poisson
