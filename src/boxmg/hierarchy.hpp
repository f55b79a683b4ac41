/// The levels of a BoxMultigrid on one backend, in the precision of the cycle: set-up and cycles.
#pragma once
#include <cmath>
#include <functional>

#include "base/backend.hpp"
#include "base/milestone.hpp"
#include "boxmg/choose.hpp"
#include "boxmg/coarsest.hpp"
#include "boxmg/corrections.hpp"
#include "boxmg/galerkin.hpp"
#include "boxmg/interpolation.hpp"
#include "boxmg/planes.hpp"
#include "boxmg/ranks/read_part.hpp"
#include "boxmg/read_matrix.hpp"
#include "boxmg/replay.hpp"
#include "boxmg/small_levels.hpp"
#include "boxmg/smoother.hpp"
#include "boxmg/stabilise.hpp"
#include "boxmg/touching.hpp"

namespace weft {

template <class Value>
struct BoxMultigrid<Value>::Hierarchy {
  virtual ~Hierarchy()                                                                                        = default;
  virtual void read(const CsrMatrix<Value, std::int32_t> &matrix, std::optional<bool> symmetric)              = 0;
  virtual void read(const CsrMatrix<Value, std::int64_t> &matrix, std::optional<bool> symmetric)              = 0;
  virtual std::optional<BoxmgFault> fault() const                                                             = 0;
  virtual void apply(Value *b, Value *x, Transpose transpose, const std::function<void(int, bool, double)> *) = 0;
  virtual int iterate(Value *b, Value *x, bool zero, int steps, const std::function<bool(double)> &enough)    = 0;
  virtual std::vector<BoxmgLevel> levels() const                                                              = 0;
  virtual bool dominant() const                                                                               = 0;
  virtual BoxmgCycle cycle() const                                                                            = 0;
  virtual bool symmetric() const                                                                              = 0;
  virtual double flops() const                                                                                = 0;
  virtual Index rows_left_out() const                                                                         = 0;
  virtual Csr operator_of(int level) const                                                                    = 0;
  virtual Csr interpolation_of(int level, bool restriction) const                                             = 0;

  // Where ranks share levels.
  virtual void read(const boxmg::RowsOfPart<Value, std::int32_t> &, std::optional<bool>) { throw std::logic_error("no ranks share this"); }
  virtual void read(const boxmg::RowsOfPart<Value, std::int64_t> &, std::optional<bool>) { throw std::logic_error("no ranks share this"); }
  virtual bool is_for_one_rank() const { return false; }
};

namespace boxmg {

template <class Space, class Scalar>
OwnedArray<Scalar, Space> array(const std::string &label, Index size)
{
  return OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
}

/// An operator and its interpolation, with the arrays that they stand in.
template <class Space, class Scalar>
struct Coefficients {
  Operator<Scalar> a;
  Transfer<Scalar> p, r; ///< to and from the next level
  OwnedArray<Scalar, Space> values, weights, weights_r;

  double bytes() const { return static_cast<double>(sizeof(Scalar) * (values.size() + weights.size() + weights_r.size())); }
};

/// One level: what set-up makes of the matrix, in the matrix's precision; the same as the cycle reads it, where that is another; what relaxes it,
/// and its vectors.
template <class Space, class Value, class Scalar>
struct Level {
  const Execution *execution;
  Space space; ///< of the execution
  Coefficients<Space, Value> exact;
  Coefficients<Space, Scalar> rounded; ///< empty where the precision is the same
  Choice choice;
  bool direct    = false;
  bool convected = false; ///< convection is strong
  std::unique_ptr<Smoother<Scalar>> smoother;
  std::unique_ptr<Planes<Space, Value, Scalar>> planes; ///< if there are any, they relax, and the smoother makes residuals
  OwnedArray<Scalar, Space> x, b, work;
  Products<Space> products;                                    ///< that make the next level's operator
  Kokkos::View<LevelLook, Kokkos::SharedHostPinnedSpace> look; ///< what the last look has seen, on the host once the space is waited for
  OwnedArray<LevelLook, Space> looks;                          ///< of the teams of a device
  Kokkos::View<int, Kokkos::SharedHostPinnedSpace> unsound;    ///< 1: a line has an unusable pivot, where that was looked for
  bool looked_for_pivots = false;
  Inverse<Space> inverse;
  std::unique_ptr<RankPart<Space>> part;    ///< of a level that ranks share; null: this rank has all of it
  OwnedArray<Scalar, Space> half_x, half_b; ///< the part of the next level's vectors that the part is interpolated from, and restricted to
  OwnedArray<Value, Space> half_values;     ///< and of its operator

  /// What cycles read.
  const Coefficients<Space, Scalar> &here() const
  {
    if constexpr (std::is_same_v<Value, Scalar>)
      return exact;
    else
      return rounded;
  }
  /// What is worked on.
  const Grid &grid() const { return exact.a.grid; }
  /// What of a region is not a ghost.
  Region owned(const Region &region) const { return part ? part->owned_of(region) : region; }
  const Grid &whole() const { return part ? part->parts.whole : grid(); }
  double bytes() const
  {
    return exact.bytes() + rounded.bytes() +
           static_cast<double>(sizeof(Scalar) * (x.size() + b.size() + work.size() + half_x.size() + half_b.size())) + inverse.bytes() +
           static_cast<double>(sizeof(Value) * half_values.size()) + (smoother ? smoother->bytes() : 0) + (planes ? planes->bytes() : 0);
  }
};

/// A number or the like from the memory of a space. Waits.
template <class Space, class T>
T from_device(const Space &space, const T *there)
{
  T here;
  Kokkos::deep_copy(space, Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&here),
                    Kokkos::View<const T, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(there));
  space.fence("weft boxmg: a result");
  return here;
}

/// Diagonals and weights begin at multiples of 64 elements, so that they can be moved in pieces.
inline Index pitch_of(const Grid &grid)
{
  return (grid.nodes() + 63) / 64 * 64;
}

/// to = from, rounded.
template <class Space, class From, class To>
void convert(const Space &space, const From &from, const To &to)
{
  Kokkos::parallel_for(
      "weft boxmg precision", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(to.extent(0))),
      KOKKOS_LAMBDA(const Index i) { to(i) = static_cast<typename To::value_type>(from(i)); });
}

/// to += from, of another precision.
template <class Space, class From, class To>
void add(const Space &space, const From &from, const To &to)
{
  Kokkos::parallel_for(
      "weft boxmg correction", range(space, static_cast<Index>(to.extent(0))),
      KOKKOS_LAMBDA(const Index i) { to(i) += static_cast<typename To::value_type>(from(i)); });
}

/// The sum of squares of some nodes. Does not wait.
template <class Space, class Scalar>
void sum_of_squares(const Space &space, const Grid &grid, const Region &region, const Scalar *r, const Sum &squares)
{
  sum_over_runs(
      "weft boxmg squares", space, region,
      KOKKOS_LAMBDA(const Run &run, double &sum) {
        const Scalar *first = r + grid.n[0] * (run.y + grid.n[1] * run.z) + run.x;
        for (Index j = 0; j < run.count; j++) sum += square_of(widened(first[j * run.step]));
      },
      squares);
}

/// The Euclidean norm of n elements. Waits.
template <class Space, class Scalar>
double norm(const Space &space, Index n, const Scalar *r)
{
  double sum = 0;
  Kokkos::parallel_reduce(
      "weft boxmg norm", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, n),
      KOKKOS_LAMBDA(const Index i, double &total) { total += square_of(widened(r[i])); }, sum);
  return std::sqrt(sum);
}

/// As another grid has it.
inline BoxmgLevel turned_level(const Turn &turn, BoxmgLevel level)
{
  level.grid      = turn.grid(level.grid);
  level.coarsened = turn.set(level.coarsened);
  for (int &d : level.lines) d = turn.direction(d);
  for (int &d : level.planes) d = turn.direction(d);
  return level;
}

/// As another grid has it; `grid` is that of its level. A row of the matrix stays what it is.
inline BoxmgFault turned_fault(const Turn &turn, BoxmgFault fault, const Grid &grid)
{
  if (fault.kind != BoxmgFault::Kind::not_finite) fault.node = turn.node(fault.node, grid, turn.grid(grid));
  return fault;
}

/// Whether lines of a large grid along y or z are turned: on a device, where those along x move fewer words.
template <class Space>
bool turns(const BoxmgOptions &options, const Grid &grid)
{
  return grid.nodes() >= (options.turned_from > 0 ? options.turned_from : is_host_space<Space> ? grid.nodes() + 1 : 20000);
}

template <class Space, class Value, class Scalar>
class HierarchyOn final : public BoxMultigrid<Value>::Hierarchy {
public:
  using Csr    = typename BoxMultigrid<Value>::Csr;
  using Tell   = std::function<void(int, bool, double)>;
  using Enough = std::function<bool(double)>;

  /// ranks: null where this rank has all of the grid. beside: levels below the finest on a stream of their own, where a device's cycle is recorded.
  HierarchyOn(const Space &space, const Execution &execution, const Grid &grid, const BoxmgOptions &options,
              const BoxmgRanks *ranks = nullptr, bool beside = true)
      : space_(space), execution_(execution), beside_(beside && Replay<Space>::there ? Execution::beside(execution) : nullptr),
        finest_(execution), grid_(grid), options_(options), sent_(execution),
        ranks_(ranks ? *ranks : BoxmgRanks{}), boxes_{ranks_.parts, {}}
  {
    if (beside_) coarser_done_ = std::make_unique<Milestone>(*beside_);
  }

  void read(const CsrMatrix<Value, std::int32_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  void read(const CsrMatrix<Value, std::int64_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  /// The same of a matrix that look_at() and fill() know.
  template <class Matrix>
  void read_from(const Matrix &matrix, std::optional<bool> symmetric)
  {
    read_any(matrix, symmetric);
  }
  /// The same, but no more than the finest operator where its lines are to run along one direction that is not x: that direction. Else x, 0.
  template <class Matrix>
  int read_unless_across(const Matrix &matrix, std::optional<bool> symmetric)
  {
    return read_any(matrix, symmetric, true);
  }
  void read(const RowsOfPart<Value, std::int32_t> &rows, std::optional<bool> symmetric) override { read_part(rows, symmetric); }
  void read(const RowsOfPart<Value, std::int64_t> &rows, std::optional<bool> symmetric) override { read_part(rows, symmetric); }
  std::optional<BoxmgFault> fault() const override { return fault_; }
  bool is_for_one_rank() const override { return ranks_.all && alone_from_ == 0; }

  /// For planes of a larger grid, a stack, in the precision of the cycle.
  void read(const Operator<Value> &of, const Region &planes, bool symmetric) { read_any(InPlanes<Value>{of, planes}, symmetric); }
  Scalar *rhs() { return levels_[0].b.data(); }
  const Scalar *solution() const { return levels_[0].x.data(); }
  /// The solution of a cycle for rhs().
  void cycle(Transpose transpose) { cycle(0, levels_[0].b.data(), levels_[0].x.data(), {shape_, transpose}); }

  void apply(Value *b, Value *x, Transpose transpose, const Tell *tell) override
  {
    tell_ = tell;
    cycle_from_zero(b, x, {shape_, transpose});
    tell_ = nullptr;
  }
  int iterate(Value *b, Value *x, bool zero, int steps, const Enough &enough) override;

  std::vector<BoxmgLevel> levels() const override
  {
    std::vector<BoxmgLevel> all;
    for (const auto &l : levels_)
      all.push_back(
          turned_level(boxes_.turn, {l.whole(), l.choice.coarsened, l.smoother ? l.smoother->directions() : std::vector<int>{},
                                     l.choice.planes, l.direct, l.exact.a.stencil.count, l.bytes(), l.part ? l.part->parts.ranks() : 1}));
    if (!all.empty()) {
      all[0].moved = boxes_.parts != ranks_.parts.turned(boxes_.turn);
      all[0].bytes += static_cast<double>(sizeof(Value) * given_values_.size());
    }
    return all;
  }
  bool symmetric() const override { return symmetric_; }
  bool dominant() const override { return dominant_; }
  BoxmgCycle cycle() const override { return shape_; }
  Index rows_left_out() const override
  {
    return !levels_.empty() && levels_[0].direct ? levels_[0].inverse.rows_left_out(levels_[0].space) : 0;
  }
  double flops() const override
  {
    double sum = 0;
    for (const auto &l : levels_) {
      const double nodes = static_cast<double>(l.grid().nodes());
      if (l.direct) sum += 2 * nodes * nodes;
      const double sweep = l.planes ? l.planes->flops() : l.smoother ? l.smoother->flops() : 0;
      if (l.smoother) sum += 2 * options_.sweeps * sweep + nodes * (2.0 * l.exact.a.stencil.count + 4.0 * l.exact.p.slots());
    }
    return sum;
  }
  Csr operator_of(int level) const override;
  Csr interpolation_of(int level, bool restriction) const override;

private:
  using LevelHere = Level<Space, Value, Scalar>;

  static constexpr std::size_t most_levels = 64;

  const Execution &coarser() const { return beside_ ? *beside_ : execution_; }

  // Set-up: setup.hpp.
  /// See read_unless_across().
  template <class Matrix>
  int read_any(const Matrix &matrix, std::optional<bool> symmetric, bool unless_across = false);
  template <class Int>
  void read_part(const RowsOfPart<Value, Int> &rows, std::optional<bool> symmetric);
  /// parts: of a level that ranks share; null: this rank has all of it.
  void ensure_operator(std::size_t level, const Grid &whole, const Stencil &stencil, const Parts *parts);
  /// How ranks work on the finest level.
  struct Boxes {
    Parts parts; ///< of the turned grid
    Turn turn;   ///< of the matrix's grid

    friend bool operator==(const Boxes &, const Boxes &) = default;
  };
  Boxes boxes_for(const LevelLook &finest) const;
  void work_in(const Boxes &boxes);
  template <class Matrix>
  void take(const Matrix &matrix);
  template <class Matrix>
  bool taken(const Matrix &matrix);
  template <class Matrix>
  bool read_again(const Matrix &matrix, std::optional<bool> symmetric);
  bool everywhere(bool here) const { return levels_[0].part ? levels_[0].part->everywhere(here) : here; }
  void look(std::size_t level, std::optional<bool> symmetric);
  bool may_touch(const LevelLook &finest) const;
  void look_for_corners();
  std::size_t touching_levels() const;
  void forget_replays()
  {
    for (auto &mirrored : replays_) {
      for (auto &replay : mirrored) replay.forget();
    }
  }
  LevelLook looked_at(std::size_t level) const;
  void agree_on_the_end();
  /// What is chosen of a level.
  struct Plan {
    Choice choice;
    bool direct, last, convected;

    friend bool operator==(const Plan &, const Plan &) = default;
  };
  Plan plan(std::size_t level, const LevelLook &looked) const;
  bool one_will_do(std::size_t level) const;
  BoxmgCycle shape_of(const Choice &finest, const LevelLook &looked) const;
  std::optional<RealOf<Scalar>> omega_of(const LevelLook &looked) const;
  std::optional<BoxmgFault> fault_of(std::size_t level) const;
  void set_up(std::size_t level, const LevelLook &looked);
  void make_next(std::size_t level);
  void make_next_of_ranks(std::size_t level);
  bool is_stabilised(std::size_t level) const { return level >= stabilised_from && levels_[level - 1].convected; }
  void gather(std::size_t level);
  void ensure_smoother(LevelHere &l, const Choice &choice);
  void ensure_transfer(LevelHere &l);
  void round_operator(LevelHere &l) const;
  void round_transfer(LevelHere &l) const;
  template <class From, class To>
  void rounded_copy(const Space &space, const From &from, To &to) const;
  bool last(std::size_t level, const Choice &choice) const;

  // Cycles: cycle.hpp.
  /// How levels are gone through.
  struct Way {
    BoxmgCycle shape;
    Transpose transpose = Transpose::no;
    /// Sweeps after a correction run in the opposite order of those before it, so that the cycle of a symmetric operator is symmetric (but for F).
    bool mirrored = true;
  };
  enum class Sweeps { from_zero, from_x, after };
  /// What need not be done of a correction.
  struct Spared {
    std::optional<TwoColours> colours; ///< odd lines have no residual
    Region corrected;                  ///< the nodes that a correction is wanted on
  };
  Corrections corrections(std::size_t level, const Way &way) const
  {
    return corrections_of(level, count_, way.shape, options_.cycle == BoxmgCycle::automatic, way.transpose);
  }
  using GoesOn = std::function<bool()>;
  /// goes_on: is asked once, where it is there, while the first sweeps and their residual are at work, and ends the cycle there; then false is returned.
  bool cycle(std::size_t level, Scalar *b, Scalar *x, const Way &way, const GoesOn &goes_on = {});
  void relax(std::size_t level, Scalar *b, Scalar *x, Sweeps which, const Way &way) const;
  using Omega = std::optional<RealOf<Scalar>>;
  /// Of the first of two colours in a sweep before the correction. Steps are what is not mirrored.
  Omega omega(std::size_t level, const Way &way) const { return level == 0 && !way.mirrored ? omega_ : std::nullopt; }
  /// only: no other correction follows a sweep and comes before the next one.
  bool correct(std::size_t level, Scalar *b, Scalar *x, const Way &way, bool only, const GoesOn &goes_on = {});
  Spared spared(std::size_t level, const Way &way, bool only) const;
  void restrict_from(std::size_t level, const Scalar *b, Scalar *x, const Spared &spared, const Way &way, bool from_zero,
                     const Sum &squares);
  void solve_coarser(std::size_t level, const Way &way);
  void solve_coarser_of_ranks(std::size_t level, const Way &way);
  bool are_direct() const;
  template <class Body>
  void in_order(std::size_t level, const Body &coarser);
  void correct_by(std::size_t level, Scalar *x, const Spared &spared, const Way &way);
  /// Of the next level, those that a level is restricted to and interpolated from; of one that ranks share, a part of them.
  Scalar *next_b(std::size_t level) { return levels_[level].part ? levels_[level].half_b.data() : levels_[level + 1].b.data(); }
  Scalar *next_x(std::size_t level) { return levels_[level].part ? levels_[level].half_x.data() : levels_[level + 1].x.data(); }
  /// Leaves b - A x in the level's work space.
  void residual(const LevelHere &l, const Scalar *b, Scalar *x, Transpose transpose) const;
  void tell(std::size_t level, bool before, const Scalar *r) const;
  /// True of a level that this rank has, or a part of.
  bool has_level(std::size_t level) const { return level < levels_.size(); }

  // Small levels in one launch: small_cycle.hpp.
  bool is_small(std::size_t level) const;
  SmallLevel<Scalar> small_level(std::size_t level) const;
  void make_small(bool mirrored);
  void add_small_steps(SmallCycle<Scalar> &cycle, std::size_t level, bool mirrored) const;

  // In the matrix's precision, and iterations: iterate.hpp.
  using OnHost = Kokkos::View<double, Kokkos::SharedHostPinnedSpace>;
  void cycle_from_zero(Value *b, Value *x, const Way &way);
  int iterate_shared(Value *b, Value *x, bool zero, int steps, const Enough &enough);
  Way way_of_steps() const;
  bool looks_before_coarser() const;
  bool iterate_in_place(Value *b, Value *x, bool zero, const Enough &enough);
  bool iterate_rounded(Value *b, Value *x, bool zero, const Enough &enough);
  void measure_rhs(const Value *b) const;
  /// Where the squares of a residual go.
  Sum squares() const { return room_for_squares_.to(squares_.data()); }
  /// The root of such a sum, once `sent_` is reached.
  double norm_sent(const OnHost &sum) const;

  Space space_;
  const Execution &execution_;
  std::unique_ptr<Execution> beside_;       ///< of all levels but the finest; null: the same
  Milestone finest_;                        ///< what the coarser ones wait for
  std::unique_ptr<Milestone> coarser_done_; ///< of beside_
  Grid grid_;
  BoxmgOptions options_;
  std::vector<LevelHere> levels_;
  std::size_t count_ = 0; ///< of all levels, also those that this rank has nothing of
  RoomForSum<Space> room_for_squares_;
  OnHost squares_{"weft boxmg squares"};                               ///< of a residual on the finest level
  OnHost squares_of_rhs_{"weft boxmg squares of the right-hand side"}; ///< where an iteration begins with 0
  Milestone sent_;                                                     ///< when they are there
  std::size_t touching_levels_ = 0;                                    ///< those whose weights know corners; the next one is the last
  Kokkos::View<Index, Kokkos::SharedHostPinnedSpace> places_{"weft boxmg corners"}; ///< see look_for_corners()
  OwnedArray<Index, Space> missing_{"weft boxmg missing entries", 1};
  std::optional<BoxmgFault> fault_;
  bool complete_    = false; ///< all levels are there
  bool dominant_    = false;
  bool mirrors_     = false; ///< the matrix is symmetric to the last bit
  bool mild_        = true;  ///< the matrix' diagonals do not differ much
  bool symmetric_   = true;
  bool may_touch_   = false;         ///< the finest operator was looked at for corners, see touching.hpp
  BoxmgCycle shape_ = BoxmgCycle::v; ///< asked for, or chosen
  Omega omega_      = {};            ///< see over_relaxation(); none where it is not for what relaxes the finest level
  double sign_      = 1;
  BoxmgRanks ranks_;                       ///< none: this rank by itself
  Boxes boxes_;                            ///< the ranks' own, or others, in which lines are whole, or run along x
  OwnedArray<Value, Space> given_values_;  ///< the finest operator in their own ones, where they work on others
  std::size_t alone_from_ = most_levels;   ///< the first level that ranks do not share, however many nodes it has
  OwnedArray<Index, Space> outside_nodes_; ///< columns of the rows that ranks share
  const Tell *tell_ = nullptr;
  SmallLevels<Space, Scalar> small_[2]; ///< whether mirrored
  Replay<Space> replays_[2][4];         ///< of what the finest level asks of the others: whether mirrored, and by the shape of the cycle
};

} // namespace boxmg

} // namespace weft

#include "boxmg/cycle.hpp"
#include "boxmg/iterate.hpp"
#include "boxmg/setup.hpp"
#include "boxmg/small_cycle.hpp"
