/// The levels of a BoxMultigrid of several unknowns a node on one backend. The method is that of one unknown (hierarchy.hpp), with
///   interpolation      of each unknown from its own stencil (block_weights.hpp), the same coarse grid for all
///   coarse operators   R_c A_cd P_d, pair by pair
///   relaxation         lines of blocks, or points, all unknowns of a node together
///   coarsest grid      the inverse of all unknowns
/// What is chosen, is chosen for all unknowns: from the sums of their strengths, and where a direction must be strong everywhere, in each.
#pragma once
#include "boxmg/blocks/block_inverse.hpp"
#include "boxmg/blocks/block_smoother.hpp"
#include "boxmg/blocks/block_weights.hpp"
#include "boxmg/blocks/read_blocks.hpp"
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

template <class Space, class Value>
struct BlockLevel {
  BlockOperator<Space, Value> a;
  Choice choice;
  bool direct            = false;
  std::uint32_t convects = 0;                                ///< the unknowns whose convection is strong, as bits
  std::vector<Transfer<Value>> p, r;                         ///< of each unknown, from and to the next level
  OwnedArray<Value, Space> weights, weights_r, diagonals;    ///< r has those of p where the matrix is symmetric
  OwnedArray<unsigned char, Space> followers;                ///< see block_weights.hpp
  std::vector<std::pair<Stencil, Products<Space>>> products; ///< for each stencil that pairs have
  std::unique_ptr<BlockSmoother<Space, Value>> smoother;
  OwnedArray<Value, Space> x, b, work;
  OwnedArray<LevelLook, Space> look;  ///< of each unknown
  OwnedArray<LevelLook, Space> looks; ///< of the teams of a device
  Inverse<Space> inverse;             ///< of all unknowns of a node 0 .. n - 1, unknown by unknown

  const Grid &grid() const { return a.grid(); }
  Index size() const { return a.grid().nodes() * a.unknowns(); }
  double bytes() const
  {
    return a.bytes() +
           static_cast<double>(sizeof(Value) * (weights.size() + weights_r.size() + diagonals.size() + x.size() + b.size() + work.size())) +
           inverse.bytes() + (smoother ? smoother->bytes() : 0);
  }
};

template <class Space, class Value>
class BlockHierarchy final : public BoxMultigrid<Value>::Hierarchy {
public:
  using Csr    = typename BoxMultigrid<Value>::Csr;
  using Tell   = std::function<void(int, bool, double)>;
  using Enough = std::function<bool(double)>;
  using BoxMultigrid<Value>::Hierarchy::read;

  BlockHierarchy(const Space &space, const Execution &execution, const Grid &grid, const BoxmgOptions &options)
      : space_(space), execution_(execution), grid_(grid), options_(options)
  {
  }

  void read(const CsrMatrix<Value, std::int32_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  void read(const CsrMatrix<Value, std::int64_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  std::optional<BoxmgFault> fault() const override { return fault_; }

  void apply(Value *b, Value *x, Transpose transpose, const Tell *tell) override
  {
    BlockLevel<Space, Value> &l = levels_[0];
    tell_                       = tell;
    separate_unknowns(space_, grid_.nodes(), options_.unknowns, b, l.b.data());
    cycle(0, l.b.data(), l.x.data(), {shape_, transpose, true});
    join_unknowns(space_, grid_.nodes(), options_.unknowns, l.x.data(), x, false);
    tell_ = nullptr;
  }
  int iterate(Value *b, Value *x, bool zero, int steps, const Enough &enough) override;

  std::vector<BoxmgLevel> levels() const override
  {
    std::vector<BoxmgLevel> all;
    for (const auto &l : levels_)
      all.push_back({l.grid(),
                     l.choice.coarsened,
                     l.smoother ? l.smoother->directions() : std::vector<int>{},
                     {},
                     l.direct,
                     l.a.stencil().count,
                     l.bytes(),
                     1});
    return all;
  }
  bool symmetric() const override { return symmetric_; }
  bool dominant() const override { return dominant_; }
  BoxmgCycle cycle() const override { return shape_; }
  Index rows_left_out() const override { return !levels_.empty() && levels_[0].direct ? levels_[0].inverse.rows_left_out(space_) : 0; }
  double flops() const override
  {
    double sum = 0;
    for (const auto &l : levels_) {
      const double nodes = static_cast<double>(l.grid().nodes()), all = static_cast<double>(l.size());
      if (l.direct) sum += 2 * all * all;
      if (!l.smoother) continue;
      double products = 0;
      for (const auto &one : l.a.all()) products += 2 * nodes * one.a.stencil.count;
      sum += 2 * options_.sweeps * (l.smoother->flops() + products) + products;
      for (const auto &p : l.p) sum += 4 * nodes * p.slots();
    }
    return sum;
  }
  Csr operator_of(int level) const override;
  Csr interpolation_of(int level, bool restriction) const override;

private:
  using LevelHere = BlockLevel<Space, Value>;

  // Set-up: block_setup.hpp.
  template <class Int>
  void read_any(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric);
  template <class Int>
  bool taken(const CsrMatrix<Value, Int> &matrix);
  void ensure_level(std::size_t level, const Grid &grid, const BlockPattern &pattern);
  std::vector<LevelLook> look(std::size_t level, bool known_symmetric);
  static LevelLook together(const std::vector<LevelLook> &looks);
  void set_up();
  bool set_up(std::size_t level, const std::vector<LevelLook> &looks);
  bool find_fault(std::size_t level, BoxmgFault::Kind kind, const std::vector<LevelLook> &looks, Index LevelLook::*which);
  bool ensure_inverse(std::size_t level);
  bool ensure_smoother(std::size_t level, Choice choice, const Strengths &strengths, bool last);
  void ensure_transfer(LevelHere &l, const std::vector<LevelLook> &looks);
  void make_weights_of_all(const LevelHere &l, Part part, const std::vector<LevelLook> &looks, const std::vector<Transfer<Value>> &to,
                           Value *weights);
  void make_next(std::size_t level, const std::vector<LevelLook> &looks);
  Products<Space> &products_for(LevelHere &l, const Stencil &stencil) const;
  bool one_will_do(std::size_t level) const { return symmetric_ && mild_ && (level == 0 || levels_[level - 1].choice.lines.size() == 1); }

  // Cycles: block_cycle.hpp.
  struct Way {
    BoxmgCycle shape;
    Transpose transpose;
    bool mirrored; ///< sweeps after a correction run in the opposite order of those before it
  };
  void cycle(std::size_t level, const Value *b, Value *x, const Way &way);
  void relax(const LevelHere &l, const Value *b, Value *x, bool from_zero, bool backward, Transpose transpose) const;
  void correct(std::size_t level, const Value *b, Value *x, const Way &way);
  void residual(const LevelHere &l, const Value *b, const Value *x, Transpose transpose) const;
  void tell(std::size_t level, bool before) const
  {
    (*tell_)(static_cast<int>(level), before, norm(space_, levels_[level].size(), levels_[level].work.data()));
  }

  Space space_;
  const Execution &execution_;
  Grid grid_;
  BoxmgOptions options_;
  std::vector<LevelHere> levels_;
  OwnedArray<Index, Space> missing_{"weft boxmg missing entries", 1};
  std::vector<double> signs_; ///< of the diagonals of each unknown
  std::optional<BoxmgFault> fault_;
  bool symmetric_ = true, dominant_ = false, mild_ = true;
  BoxmgCycle shape_ = BoxmgCycle::v; ///< asked for, or chosen
  const Tell *tell_ = nullptr;
};

} // namespace weft::boxmg

#include "boxmg/blocks/block_cycle.hpp"
#include "boxmg/blocks/block_setup.hpp"
