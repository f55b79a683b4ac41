/// A hierarchy for a device whose lines run along x, although those of the matrix run along y or z: its grid has the two directions exchanged. Where lines
/// stand side by side in memory, a memory sector holds lines of two colours, and each half-sweep, residual and transfer moves what the other colour has
/// too; along x it moves what it needs. Vectors are turned on the way in and out: 4 words a node and cycle, or and iteration's solve.
#pragma once
#include "boxmg/box_copy.hpp"
#include "boxmg/hierarchy.hpp"

namespace weft::boxmg {

/// A matrix that is read into a turned grid. Its coefficients are filled as it has them, side by side, and turned then, see
/// copy_turned().
template <class Space, class Value, class Int>
struct TurnedMatrix {
  CsrMatrix<Value, Int> matrix;
  Turn turn;
  OwnedArray<Value, Space> *original; ///< coefficients as the matrix has them; made as large as they are
};

template <class Space, class Value, class Int>
MatrixLook look_at(const Space &space, const Grid &turned, const TurnedMatrix<Space, Value, Int> &from)
{
  MatrixLook look = look_at(space, from.turn.grid(turned), from.matrix);
  look.neighbours = from.turn.neighbours(look.neighbours);
  return look;
}

/// to = from, on a grid whose directions are exchanged.
template <class Space, class From, class To>
void turn(const Space &space, const Turn &turn, const Grid &grid, const From *from, To *to)
{
  const Grid turned      = turn.grid(grid);
  const Index strides[3] = {1, grid.n[0], grid.n[0] * grid.n[1]}, there[3] = {1, turned.n[0], turned.n[0] * turned.n[1]};
  BoxCopy copy = {};
  for (int d = 0; d < 3; d++) {
    copy.count[d]     = grid.n[d];
    copy.from_step[d] = strides[d];
    copy.to_step[d]   = there[turn.direction(d)];
  }
  copy_turned(space, copy, 0, turn.with, from, to);
}

template <class Space, class Value, class Int>
void fill(const Space &space, const Operator<Value> &turned, const TurnedMatrix<Space, Value, Int> &from, Value *values,
          const Result<Index, Space> &missing)
{
  const Grid grid       = from.turn.grid(turned.grid);
  const Stencil stencil = from.turn.stencil_in_place(turned.stencil);
  const Index size      = turned.pitch * stencil.count;
  if (static_cast<Index>(from.original->extent(0)) != size)
    *from.original = array<Space, Value>("weft boxmg operator before its turn", size);
  Value *const original = from.original->data();
  fill(space, Operator<Value>(grid, stencil, original, turned.pitch), from.matrix, original, missing);
  for (int k = 0; k < stencil.count; k++) turn(space, from.turn, grid, original + k * turned.pitch, values + k * turned.pitch);
}

/// Turns where lines of the finest level run along one direction that is not x, while they do.
template <class Space, class Value, class Scalar>
class Turnable final : public BoxMultigrid<Value>::Hierarchy {
public:
  using Csr    = typename BoxMultigrid<Value>::Csr;
  using Tell   = std::function<void(int, bool, double)>;
  using Enough = std::function<bool(double)>;
  using Inner  = HierarchyOn<Space, Value, Scalar>;

  Turnable(const Space &space, const Execution &execution, const Grid &grid, const BoxmgOptions &options)
      : space_(space), execution_(execution), grid_(grid), options_(options)
  {
    inner_ = made(Turn{});
  }

  using BoxMultigrid<Value>::Hierarchy::read; // ranks that share levels do not turn
  void read(const CsrMatrix<Value, std::int32_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  void read(const CsrMatrix<Value, std::int64_t> &matrix, std::optional<bool> symmetric) override { read_any(matrix, symmetric); }
  std::optional<BoxmgFault> fault() const override
  {
    const auto fault = inner_->fault();
    if (!fault || !turned()) return fault;
    return turned_fault(turn_, *fault, inner_->levels().at(static_cast<std::size_t>(fault->level)).grid);
  }

  void apply(Value *b, Value *x, Transpose transpose, const Tell *tell) override
  {
    if (!turned()) {
      inner_->apply(b, x, transpose, tell);
      return;
    }
    turn(space_, turn_, grid_, b, b_.data());
    inner_->apply(b_.data(), x_.data(), transpose, tell);
    turn(space_, turn_, turn_.grid(grid_), x_.data(), x);
  }
  int iterate(Value *b, Value *x, bool zero, int steps, const Enough &enough) override
  {
    if (!turned()) return inner_->iterate(b, x, zero, steps, enough);
    turn(space_, turn_, grid_, b, b_.data());
    if (!zero) turn(space_, turn_, grid_, x, x_.data());
    const int done = inner_->iterate(b_.data(), x_.data(), zero, steps, enough);
    turn(space_, turn_, turn_.grid(grid_), x_.data(), x);
    return done;
  }

  std::vector<BoxmgLevel> levels() const override
  {
    auto all = inner_->levels();
    for (BoxmgLevel &l : all) l = turned_level(turn_, l);
    if (!all.empty()) all.front().bytes += static_cast<double>(sizeof(Value) * (b_.size() + x_.size() + original_.size()));
    return all;
  }
  bool dominant() const override { return inner_->dominant(); }
  BoxmgCycle cycle() const override { return inner_->cycle(); }
  bool symmetric() const override { return inner_->symmetric(); }
  Index rows_left_out() const override { return inner_->rows_left_out(); }
  double flops() const override { return inner_->flops(); }
  Csr operator_of(int level) const override
  {
    const Grid grid = turn_.grid(inner_->levels().at(static_cast<std::size_t>(level)).grid);
    return turned_back(inner_->operator_of(level), grid, grid);
  }
  Csr interpolation_of(int level, bool restriction) const override
  {
    const auto all = inner_->levels();
    return turned_back(inner_->interpolation_of(level, restriction), turn_.grid(all.at(static_cast<std::size_t>(level)).grid),
                       turn_.grid(all.at(static_cast<std::size_t>(level) + 1).grid));
  }

private:
  bool turned() const { return turn_.with != 0; }
  std::unique_ptr<Inner> made(const Turn &turn) const
  {
    BoxmgOptions options = options_;
    options.coarsen      = turn.set(options.coarsen);
    return std::make_unique<Inner>(space_, execution_, turn.grid(grid_), options);
  }
  template <class Int>
  void read_any(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric)
  {
    if (turned()) {
      if (read_turned(matrix, symmetric)) return;
      begin(Turn{});
    }
    if (!turns<Space>(options_, grid_)) {
      inner_->read(matrix, symmetric);
      return;
    }
    const int along = inner_->read_unless_across(matrix, symmetric);
    if (along == 0) return;
    begin(Turn{along});
    if (read_turned(matrix, symmetric)) return;
    begin(Turn{});
    inner_->read(matrix, symmetric);
  }
  /// Whether lines of the finest level run along x then.
  template <class Int>
  bool read_turned(const CsrMatrix<Value, Int> &matrix, std::optional<bool> symmetric)
  {
    inner_->read_from(TurnedMatrix<Space, Value, Int>{matrix, turn_, &original_}, symmetric);
    return !inner_->fault() && inner_->levels().front().lines == std::vector<int>{0};
  }
  /// With nothing read. What was there is freed, so that levels of both grids never have memory together.
  void begin(const Turn &turn)
  {
    const Index nodes = turn == Turn{} ? 0 : grid_.nodes();
    auto b = array<Space, Value>("weft boxmg turned right-hand side", nodes), x = array<Space, Value>("weft boxmg turned solution", nodes);
    inner_    = made(turn);
    turn_     = turn;
    original_ = {};
    b_        = std::move(b);
    x_        = std::move(x);
  }
  Csr turned_back(Csr from, const Grid &row_grid, const Grid &column_grid) const
  {
    if (!turned()) return from;
    Csr to;
    to.rows    = from.rows;
    to.columns = from.columns;
    to.row_starts.assign(1, 0);
    for (Index row = 0; row < to.rows; row++) {
      const auto there = static_cast<std::size_t>(turn_.node(row, row_grid, turn_.grid(row_grid)));
      for (auto k = static_cast<std::size_t>(from.row_starts[there]); k < static_cast<std::size_t>(from.row_starts[there + 1]); k++) {
        to.column.push_back(turn_.node(from.column[k], turn_.grid(column_grid), column_grid));
        to.values.push_back(from.values[k]);
      }
      to.row_starts.push_back(static_cast<Index>(to.column.size()));
    }
    return to;
  }

  Space space_;
  const Execution &execution_;
  Grid grid_;
  BoxmgOptions options_;
  Turn turn_;
  std::unique_ptr<Inner> inner_;
  OwnedArray<Value, Space> b_, x_;    ///< turned, of the finest level
  OwnedArray<Value, Space> original_; ///< see TurnedMatrix
};

} // namespace weft::boxmg
