/// PieceLines: the pieces of all modes' lines that a process has, solved as if each were alone, and put right by what stands beside them.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "bcr/modes/mode_lines.hpp"
#include "bcr/prepare.hpp"
#include "bcr/shifted/shifted_lines_device.hpp"
#include "bcr/shifted/shifted_lines_host.hpp"
#include "bcr/spread/fringe.hpp"
#include "bcr/spread/respond.hpp"
#include "bcr/spread/slow_ends.hpp"
#include "bcr/spread/spread_plan.hpp"

namespace weft::poisson {

/// Adds up a column times weights.
template <class Scalar>
struct ColumnSum {
  const double *weights;
  const Scalar *column;
  Index stride;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &sum) const { sum += weights[i] * static_cast<double>(column[i * stride]); }
};

/// Takes the sum of `count` numbers from a column.
template <class Scalar>
struct TakeFromColumn {
  const double *parts;
  int count;
  Scalar *column;
  Index stride;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += parts[k];
    column[i * stride] -= static_cast<Scalar>(sum);
  }
};

/// Sets `width` numbers of each line of modes.
template <class Scalar>
struct SetModes {
  Scalar *to, value;
  Index width, line;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { to[i] = i % line < width ? value : Scalar(0); }
};

template <class Scalar>
struct CopyNumbers {
  const Scalar *from;
  Scalar *to;
  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { to[i] = from[i]; }
};

/// Between the ends of a process's pieces, row by row, and the shares of processes that join them: of each share its modes' first rows, then their last ones.
template <class Scalar>
struct EndsOfShares {
  Index modes;
  int processes;
  Scalar *first, *last, *shares;
  bool back; ///< from the shares
  KnownEnds known_first = {}, known_last = {};

  KOKKOS_INLINE_FUNCTION void operator()(const Index mode) const
  {
    Index p = mode * processes / modes; // the share that has it, or one before that
    while (modes * (p + 1) / processes <= mode) p++;
    const Index begin = modes * p / processes, size = modes * (p + 1) / processes - begin;
    Scalar *const to = shares + 2 * begin + (mode - begin);
    if (back) {
      first[mode] = to[0];
      last[mode]  = to[size];
    } else {
      to[0]    = known_first.end(mode, first[mode]);
      to[size] = known_last.end(mode, last[mode]);
    }
  }
};

/// Row i of mode m is element m + i * plan.modes() of the caller's array.
template <class Space, class Scalar>
class PieceLines {
public:
  PieceLines(const Space &space, const Prepared &p, const SpreadPlan &plan, int process)
      : space_(space), plan_(plan), rows_(plan.rows(process)), line_(piece_of(p.schedule.line, rows_)), modes_(plan.modes())
  {
    if (rows_.empty()) return;
    pinned_here_ = p.singular && p.pinned_row >= rows_.begin && p.pinned_row < rows_.end;
    if (pinned_here_) pinned_row_ = p.pinned_row - rows_.begin;
    make_modes(p);
    check_length();
    b_             = make_operator(line_, {0.0}, pinned_here_ ? p.pinned_row - rows_.begin : 0, store_);
    tables_        = make_tables(others_, store_);
    tables_.pinned = pinned_;
    if constexpr (is_host_space<Space>) {
      scratch_ = decltype(scratch_)(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft poisson scratch"),
          static_cast<std::size_t>(space.concurrency() * HostLines<Space, Scalar>::scratch_of_thread(rows_.size(), most_outputs)));
    }
    if (p.singular) make_weights(p);
    const LineMatrix &whole = p.schedule.line;
    before_                 = whole.lower[static_cast<std::size_t>(rows_.begin)];
    after_                  = whole.upper[static_cast<std::size_t>(rows_.end - 1)];
    if (rows_.begin == 0 && !whole.periodic) before_ = 0;
    if (rows_.end == whole.n && !whole.periodic) after_ = 0;
    make_sums(p);
  }

  std::size_t bytes() const
  {
    return lines_.bytes() + store_.bytes() + scratch_.size() * sizeof(Scalar) + fringes_[0].bytes() + fringes_[1].bytes() +
           slow_[0].bytes() + slow_[1].bytes() + sums_.size() * sizeof(double);
  }
  /// The smallest pivot of a piece by itself, relative to its row.
  double least_pivot() const { return least_pivot_; }

  /// Solves the pieces in place, each as if it were alone.
  void solve(Scalar *values) const
  {
    if (rows_.empty()) return;
    for (const auto &slow : slow_) slow.find(values);
    lines_(space_, values, modes_);
    eliminate(tables_, values);
  }

  /// All modes by elimination, in `store`. Two recurrences with one constant would lose digits where all that is given is at an end: of a mode that decays
  /// slowly they add up what the other end takes away again, and each step's rounding is that of these sums.
  StepTables<Scalar> by_elimination(TableStore<Space, Scalar> &store) const
  {
    if (sums_.size() > 0 || static_cast<Index>(others_.groups.size()) == plan_.nodes[0] * plan_.nodes[1]) return tables_;
    LineStep step;
    Index pinned = -1;
    for (Index m = 0; m < modes_; m++) {
      if (!plan_.is_mode(m)) continue;
      const Index pole = step.add_pole(poles_[static_cast<std::size_t>(m)], {1}, {1});
      step.groups.push_back({pole, 1, {{{m, 1}}}, {{m, {}}}});
      if (pinned_here_ && m == column_) pinned = pole;
    }
    StepTables<Scalar> tables = make_tables(step, store);
    tables.pinned             = pinned;
    return tables;
  }
  /// The solutions where the unknown before all pieces (side 0), or behind them, is 1 and all else 0. False, and nothing is done, where nothing stands there.
  bool respond(const StepTables<Scalar> &eliminated, int side, Scalar *values) const
  {
    const double coupling = side == 0 ? before_ : after_;
    if (coupling == 0) return false;
    if constexpr (std::is_same_v<Scalar, double>) {
      if (sums_.size() > 0) {
        const Index size = rows_.size();
        using Respond    = RespondToEnd<Space>;
        const Respond all{sums_.data(),
                          sums_.data() + size,
                          sums_.data() + 2 * size,
                          sums_.data() + 3 * size,
                          modes_,
                          size,
                          pinned_here_ ? column_ : -1,
                          pinned_row_,
                          side,
                          values};
        Kokkos::parallel_for("weft poisson responses", range((modes_ + Respond::together - 1) / Respond::together), all);
        return true;
      }
    }
    Kokkos::deep_copy(space_, Kokkos::View<Scalar *, typename Space::memory_space>(values, static_cast<std::size_t>(rows_.size() * modes_)),
                      Scalar(0));
    set(values + (side == 0 ? 0 : rows_.size() - 1) * modes_, static_cast<Scalar>(-coupling));
    if (is_host_space<Space> || rows_.size() <= DeviceShape::longest)
      eliminate(eliminated, values);
    else
      solve(values);
    return true;
  }

  /// Finds what unknowns beside the pieces make of them, by `exact`, the same pieces in double precision, with `values` as room, and writes how their ends
  /// hang on those: pF, pL, qF, qL of JoinedPieces, each of all modes. Returns the largest of all these numbers. Waits.
  double make_fringes(const PieceLines<Space, double> &exact, double *values, double *hanging)
  {
    if (rows_.empty()) { // what is before is what is behind
      for (int k = 0; k < 4; k++) set(hanging + k * modes_, k == 1 || k == 2 ? 1.0 : 0.0);
      return 0;
    }
    TableStore<Space, double> store;
    const StepTables<double> all = exact.by_elimination(store);
    for (int side : {0, 1}) {
      double *const ends[2] = {hanging + 2 * side * modes_, hanging + (2 * side + 1) * modes_};
      if (!exact.respond(all, side, values)) {
        for (double *end : ends) set(end, 0.0);
        continue;
      }
      fringes_[side] = Fringe<Space, Scalar>(space_, {modes_, rows_.size(), side == 1}, values);
      for (int k : {0, 1}) copy(values + (k == 0 ? 0 : rows_.size() - 1) * modes_, ends[k], modes_);
    }
    for (int side : {0, 1})
      slow_[side] = SlowEnds<Space, Scalar>(space_, line_, side, side == 0 ? before_ : after_, fringes_[side], modes_);
    return std::max(fringes_[0].largest(), fringes_[1].largest());
  }

  /// What make_fringes() has written, one kind after the other, to those of each share together.
  void give_hanging(const double *hanging, double *shares) const
  {
    for (int p = 0; p < plan_.processes; p++) {
      const Share theirs = plan_.joins(p);
      for (Index k = 0; k < 4; k++) copy(hanging + k * modes_ + theirs.begin, shares + 4 * theirs.begin + k * theirs.size(), theirs.size());
    }
  }

  /// Ends of the pieces to the shares of processes, as EndsOfShares has them.
  void give_ends(Scalar *values, Scalar *shares) const
  {
    if (rows_.empty()) {
      for (int k : {0, 1}) set(shares + k * modes_, Scalar(0));
      return;
    }
    ends(values, values + (rows_.size() - 1) * modes_, shares, false);
  }
  /// Puts the pieces right by what stands before and behind them; `beside`: room for two rows.
  void take_neighbours(Scalar *shares, Scalar *beside, Scalar *values) const
  {
    if (rows_.empty()) return;
    ends(beside, beside + modes_, shares, true);
    for (int side : {0, 1}) fringes_[side].add(beside + side * modes_, values);
  }

  /// Of a singular operator: this piece's part of the weighted mean of the one mode that has one, of which all others are free, since they are orthogonal
  /// to the null vectors.
  void give_mean(const Scalar *values, double *part) const
  {
    using Unmanaged = Kokkos::View<double, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    Kokkos::parallel_reduce("weft poisson mean", rows(), ColumnSum<Scalar>{weights_.data(), values + column_, modes_}, Unmanaged(part));
  }
  /// Takes the mean whose parts these are from that mode.
  void take_mean(const double *parts, Scalar *values) const
  {
    Kokkos::parallel_for("weft poisson mean-free", rows(), TakeFromColumn<Scalar>{parts, plan_.processes, values + column_, modes_});
  }

private:
  static LineMatrix piece_of(const LineMatrix &line, const Share &rows)
  {
    LineMatrix piece;
    if (rows.empty()) return piece;
    const auto part     = [&](const std::vector<double> &v) { return std::vector<double>(v.begin() + rows.begin, v.begin() + rows.end); };
    piece.n             = rows.size();
    piece.lower         = part(line.lower);
    piece.diagonal      = part(line.diagonal);
    piece.upper         = part(line.upper);
    piece.lower.front() = piece.upper.back() = 0;
    return piece;
  }

  /// What mode m adds to the line.
  long double shift(const Prepared &p, Index m) const
  {
    const LineStep &all = std::get<LineStep>(p.schedule.steps[1]);
    return static_cast<long double>(p.modes.values[static_cast<std::size_t>(m / plan_.line())]) -
           all.pole[static_cast<std::size_t>(m % plan_.line())];
  }

  void make_modes(const Prepared &p)
  {
    const bool constant = equal_inside(line_);
    ConstantModes modes;
    for (Index m = 0; m < modes_; m++) {
      if (!plan_.is_mode(m)) {
        poles_.push_back(0);
        modes.add_none();
        continue;
      }
      const bool mean   = p.singular && m % plan_.line() == p.pinned[1] && m / plan_.line() == p.pinned_plane;
      const bool pinned = mean && pinned_here_;
      if (mean) column_ = m;
      poles_.push_back(static_cast<double>(-shift(p, m)));
      if (!pinned && constant && add_mode(line_, shift(p, m), modes)) continue;
      modes.add_none();
      if (!p.dominant) // else they do so in pieces too
        least_pivot_ = std::min(least_pivot_, poisson::least_pivot(line_, 0, poles_.back(), pinned ? p.pinned_row - rows_.begin : -1));
      const Index pole = others_.add_pole(poles_.back(), {1}, {1});
      others_.groups.push_back({pole, 1, {{{m, 1}}}, {{m, {}}}});
      if (pinned) pinned_ = pole;
    }
    lines_ = ModeLines<Space, Scalar>(modes, rows_.size());
  }

  void eliminate(const StepTables<Scalar> &step, Scalar *values) const
  {
    if (step.groups == 0) return;
    const Grid grid{rows_.size(), modes_, modes_, 1, 1, 0};
    const LineArguments<Scalar> a{step, b_, {grid, values, values}};
    if constexpr (is_host_space<Space>)
      run_lines_on_host(space_, a, scratch_);
    else
      run_lines_on_device(space_, a);
  }

  void check_length() const
  {
    if (is_host_space<Space> || rows_.size() <= DeviceShape::longest || others_.groups.empty()) return;
    throw std::invalid_argument("lines of " + std::to_string(rows_.size()) + " points do not fit a team of a device, which takes " +
                                std::to_string(DeviceShape::longest) + ": solve on the host");
  }

  /// The couplings and the sums of the rows, and what modes add, for RespondToEnd; nothing where diagonals do not dominate, or couplings are of their sign.
  void make_sums(const Prepared &p)
  {
    if (!std::is_same_v<Scalar, double> || !p.dominant) return;
    const LineMatrix &whole = p.schedule.line;
    const double sign       = line_.diagonal.front() < 0 ? -1 : 1;
    std::vector<double> lower, upper, sums, shifts;
    long double least = std::numeric_limits<long double>::infinity();
    for (Index i = rows_.begin; i < rows_.end; i++) {
      const auto at     = static_cast<std::size_t>(i);
      const bool starts = i == 0 && !whole.periodic, ends = i + 1 == whole.n && !whole.periodic;
      const double before = starts ? 0 : -sign * whole.lower[at], after = ends ? 0 : -sign * whole.upper[at];
      const long double sum = static_cast<long double>(sign * whole.diagonal[at]) - before - after;
      if (before < 0 || after < 0) return;
      lower.push_back(before);
      upper.push_back(after);
      sums.push_back(static_cast<double>(sum));
      least = std::min(least, sum);
    }
    for (Index m = 0; m < modes_; m++) {
      const bool is_mode = plan_.is_mode(m), mean = p.singular && m == column_;
      const long double shift = is_mode ? (mean ? 0 : sign * this->shift(p, m)) : -1;
      if (is_mode && (shift < 0 || least + shift < 0)) return;
      shifts.push_back(static_cast<double>(shift));
    }
    std::vector<double> all;
    for (const std::vector<double> &some : {lower, upper, sums, shifts}) all.insert(all.end(), some.begin(), some.end());
    sums_ = upload<double, Space>("weft poisson row sums", all);
  }

  void make_weights(const Prepared &p)
  {
    std::vector<double> weights = p.left[2];
    double sum                  = 0;
    for (double w : weights) sum += w;
    for (double &w : weights) w /= sum;
    weights_ = upload<double, Space>("weft null vector", std::vector<double>(weights.begin() + rows_.begin, weights.begin() + rows_.end));
  }

  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> range(Index count) const { return {space_, 0, count}; }
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> rows() const { return range(rows_.size()); }
  /// Of all modes.
  template <class Number>
  void set(Number *to, Number value) const
  {
    Kokkos::parallel_for("weft poisson set", range(modes_), SetModes<Number>{to, value, plan_.nodes[0], plan_.line()});
  }
  void copy(const double *from, double *to, Index count) const
  {
    Kokkos::parallel_for("weft poisson copy", range(count), CopyNumbers<double>{from, to});
  }
  void ends(Scalar *first, Scalar *last, Scalar *shares, bool back) const
  {
    Kokkos::parallel_for("weft poisson ends", range(modes_),
                         EndsOfShares<Scalar>{modes_, plan_.processes, first, last, shares, back, slow_[0].found(), slow_[1].found()});
  }

  Space space_;
  SpreadPlan plan_;
  Share rows_;
  LineMatrix line_; ///< this process's piece
  Index modes_, pinned_ = -1, column_ = 0, pinned_row_ = -1;
  bool pinned_here_ = false;
  double before_ = 0, after_ = 0, least_pivot_ = 1; ///< couplings to the rows beside the piece
  ModeLines<Space, Scalar> lines_;
  std::vector<double> poles_; ///< of all modes
  LineStep others_;           ///< modes that do not decay along their pieces, or all where rows differ inside
  TableStore<Space, Scalar> store_;
  LineOperator<Scalar> b_;
  StepTables<Scalar> tables_;
  OwnedArray<Scalar, Space> scratch_;
  OwnedArray<double, Space> weights_;
  OwnedArray<double, Space> sums_;   ///< of make_sums(), empty where it has none
  Fringe<Space, Scalar> fringes_[2]; ///< of what stands before and behind
  SlowEnds<Space, Scalar> slow_[2];
};

} // namespace weft::poisson
