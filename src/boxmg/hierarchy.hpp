/// The levels of a BoxMultigrid on one backend, in the precision of the cycle: set-up and cycles.
#pragma once
#include <cmath>
#include <functional>

#include "base/backend.hpp"
#include "base/milestone.hpp"
#include "boxmg/choose.hpp"
#include "boxmg/coarsest.hpp"
#include "boxmg/galerkin.hpp"
#include "boxmg/interpolation.hpp"
#include "boxmg/read_matrix.hpp"
#include "boxmg/replay.hpp"
#include "boxmg/smoother.hpp"

namespace weft {

template <class Value>
struct BoxMultigrid<Value>::Hierarchy {
  virtual ~Hierarchy()                                                                                        = default;
  virtual void read(const CsrMatrix<Value, std::int32_t> &matrix, std::optional<bool> symmetric)              = 0;
  virtual void read(const CsrMatrix<Value, std::int64_t> &matrix, std::optional<bool> symmetric)              = 0;
  virtual std::optional<BoxmgFault> fault() const                                                             = 0;
  virtual void apply(Value *b, Value *x, Transpose transpose, const std::function<void(int, bool, double)> *) = 0;
  virtual void residual(const Value *b, const Value *x, Value *r, double *norm) const                         = 0;
  virtual std::vector<BoxmgLevel> levels() const                                                              = 0;
  virtual bool dominant() const                                                                               = 0;
  virtual bool symmetric() const                                                                              = 0;
  virtual double flops() const                                                                                = 0;
  virtual Csr operator_of(int level) const                                                                    = 0;
  virtual Csr interpolation_of(int level, bool restriction) const                                             = 0;
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
  bool direct = false;
  std::unique_ptr<Smoother<Scalar>> smoother;
  OwnedArray<Scalar, Space> x, b, work;
  Products<Space> products;          ///< that make the next level's operator
  OwnedArray<LevelLook, Space> look; ///< one
  Inverse<Space> inverse;

  /// What cycles read.
  const Coefficients<Space, Scalar> &here() const
  {
    if constexpr (std::is_same_v<Value, Scalar>)
      return exact;
    else
      return rounded;
  }
  const Grid &grid() const { return exact.a.grid; }
  double bytes() const
  {
    return exact.bytes() + rounded.bytes() + static_cast<double>(sizeof(Scalar) * (x.size() + b.size() + work.size())) +
           static_cast<double>(sizeof(double) * inverse.values.size()) + (smoother ? smoother->bytes() : 0);
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

/// The Euclidean norm of n elements. Waits.
template <class Space, class Scalar>
double norm(const Space &space, Index n, const Scalar *r)
{
  double sum = 0;
  Kokkos::parallel_reduce(
      "weft boxmg norm", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, n),
      KOKKOS_LAMBDA(const Index i, double &total) { total += static_cast<double>(r[i]) * static_cast<double>(r[i]); }, sum);
  return std::sqrt(sum);
}

template <class Space, class Value, class Scalar>
class HierarchyOn final : public BoxMultigrid<Value>::Hierarchy {
public:
  using Csr  = typename BoxMultigrid<Value>::Csr;
  using Tell = std::function<void(int, bool, double)>;

  HierarchyOn(const Space &space, const Execution &execution, const Grid &grid, const BoxmgOptions &options)
      : space_(space), execution_(execution), beside_(Execution::beside(execution)), finest_(execution), grid_(grid), options_(options),
        norm_(execution, NormType::two)
  {
  }

  void read(const CsrMatrix<Value, std::int32_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  void read(const CsrMatrix<Value, std::int64_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  std::optional<BoxmgFault> fault() const override { return fault_; }

  void apply(Value *b, Value *x, Transpose transpose, const Tell *tell) override
  {
    tell_ = tell;
    if constexpr (std::is_same_v<Value, Scalar>) {
      cycle(0, b, x, transpose, options_.cycle);
    } else {
      const Array<const Value, Space> given(b, levels_[0].x.extent(0));
      const Array<Value, Space> wanted(x, levels_[0].x.extent(0));
      convert(space_, given, levels_[0].b);
      cycle(0, levels_[0].b.data(), levels_[0].x.data(), transpose, options_.cycle);
      convert(space_, levels_[0].x, wanted);
    }
    tell_ = nullptr;
  }

  void residual(const Value *b, const Value *x, Value *r, double *norm) const override
  {
    const Operator<Value> &a = levels_[0].exact.a;
    if constexpr (std::is_same_v<Value, Scalar>) {
      if (const auto *matrix = levels_[0].smoother ? levels_[0].smoother->matrix() : nullptr) {
        norm_.clear();
        matrix->residual(b, x, r, norm ? &norm_ : nullptr);
        if (norm) *norm = norm_.value();
        return;
      }
    }
    subtract(space_, a, Region::all(grid_), all_neighbours(a.stencil), b, x, r, Transpose::no);
    if (norm) *norm = boxmg::norm(space_, grid_.nodes(), r);
  }

  std::vector<BoxmgLevel> levels() const override
  {
    std::vector<BoxmgLevel> all;
    for (const auto &l : levels_)
      all.push_back({l.grid(), l.choice.coarsened, l.smoother ? l.smoother->directions() : std::vector<int>{}, l.direct,
                     l.exact.a.stencil.count, l.bytes()});
    return all;
  }
  bool symmetric() const override { return symmetric_; }
  bool dominant() const override { return dominant_; }
  double flops() const override
  {
    double sum = 0;
    for (const auto &l : levels_) {
      const double nodes = static_cast<double>(l.grid().nodes());
      if (l.direct) sum += 2 * nodes * nodes;
      if (l.smoother) sum += 2 * options_.sweeps * l.smoother->flops() + nodes * (2.0 * l.exact.a.stencil.count + 4.0 * l.exact.p.slots());
    }
    return sum;
  }
  Csr operator_of(int level) const override;
  Csr interpolation_of(int level, bool restriction) const override;

private:
  using LevelHere = Level<Space, Value, Scalar>;

  // Set-up: setup.hpp.
  template <class Int>
  void read_any(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric);
  void ensure_operator(std::size_t level, const Grid &grid, const Stencil &stencil);
  template <class Int>
  void take(const CsrMatrix<Value, Int> &matrix);
  template <class Int>
  bool taken(const CsrMatrix<Value, Int> &matrix);
  template <class Int>
  bool read_again(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric);
  void look(std::size_t level, std::optional<bool> symmetric);
  /// What is chosen of a level.
  struct Plan {
    Choice choice;
    bool direct, last;

    friend bool operator==(const Plan &, const Plan &) = default;
  };
  Plan plan(std::size_t level, const LevelLook &looked) const;
  bool one_will_do(std::size_t level) const;
  static bool is_mild(const LevelLook &finest) { return finest.most <= 1e5 * finest.least; }
  std::optional<BoxmgFault> fault_of(std::size_t level) const;
  void set_up(std::size_t level, const LevelLook &looked);
  void make_next(std::size_t level);
  void ensure_smoother(LevelHere &l, const Choice &choice);
  void ensure_transfer(LevelHere &l);
  void round_operator(LevelHere &l) const;
  void round_transfer(LevelHere &l) const;
  template <class From, class To>
  void rounded_copy(const Space &space, const From &from, To &to) const;
  bool last(std::size_t level, const Choice &choice) const;

  // Cycles.
  void cycle(std::size_t level, Scalar *b, Scalar *x, Transpose transpose, BoxmgCycle shape);
  void relax(const LevelHere &l, Scalar *b, Scalar *x, bool after, Transpose transpose) const;
  /// only: no other correction follows a sweep and comes before the next one.
  void correct(std::size_t level, Scalar *b, Scalar *x, Transpose transpose, BoxmgCycle shape, bool only);
  /// Leaves b - A x in the level's work space.
  void residual(const LevelHere &l, const Scalar *b, const Scalar *x, Transpose transpose) const;
  void tell(std::size_t level, bool before, const Scalar *r) const;

  Space space_;
  const Execution &execution_;
  std::unique_ptr<Execution> beside_; ///< of all levels but the finest
  Milestone finest_;                  ///< set-up of the finest level
  Grid grid_;
  BoxmgOptions options_;
  std::vector<LevelHere> levels_;
  mutable Norm norm_; ///< of a residual on the finest level
  OwnedArray<Index, Space> missing_{"weft boxmg missing entries", 1};
  std::optional<BoxmgFault> fault_;
  bool complete_    = false; ///< all levels are there
  bool dominant_    = false;
  bool mild_        = true; ///< the matrix' diagonals do not differ much
  bool symmetric_   = true;
  double sign_      = 1;
  const Tell *tell_ = nullptr;
  Replay<Space> replays_[3]; ///< of what the finest level asks of the others, by the shape of the cycle
};

} // namespace boxmg

} // namespace weft

#include "boxmg/cycle.hpp"
#include "boxmg/setup.hpp"
