/// MapLines: lines through the rows of any matrix, or through its nodes of several rows, a user's or those that follow its strongest couplings, as
/// a LineSet.
#pragma once
#include "line/line_set.hpp"
#include "line/maps/mapped_solver.hpp"
#if defined(WEFT_DISTRIBUTED)
#include "line/ranks/joined_line_solver.hpp"
#endif

namespace weft {

class MapLines final : public LineSet {
public:
  using Solver = MappedSolver<KernelScalar>;
  using Make   = std::function<Owner<Solver>(const LineMap &map, const std::string &kernel)>;

  /// `map`: of rows, or, where `block` is larger than 1, of nodes of so many rows. `colours` of all ranks: this one's may be fewer.
  MapLines(std::unique_ptr<LineMap> map, Index block, int colours, std::string kind, const std::string &kernel, Make make)
      : LineSet(map->execution(), colours), map_(std::move(map)), block_(block), kind_(std::move(kind)), make_(std::move(make)),
        solver_(make_(*map_, kernel))
  {
  }

  void read(const LocalMatrix &matrix) override
  {
    solver_->read(matrix.inside);
    solver_->factor();
  }
  std::optional<Index> bad_row() const override
  {
    return map_->not_finite() ? std::optional(*map_->not_finite() * block_) : solver_->bad_pivot();
  }
  std::unique_ptr<LineSet> twin(const Execution &execution) const override
  {
    auto other = std::make_unique<MapLines>(std::make_unique<LineMap>(execution, *map_), block_, colours(), kind_, method(), make_);
    other->solver_->read(*solver_);
    other->solver_->factor();
    return other;
  }

  void solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const override
  {
    if (has(options.colour)) solver_->solve(b, x, options);
  }

  double flops(Colour colour) const override { return has(colour) ? solver_->flops(colour) : 0; }
  std::optional<CarriedCouplings> carried(const LocalMatrix &matrix) const override
  {
    if (block_ == 1) return carried_couplings(*map_, matrix.inside, GraphOptions());
    return carried_couplings(*map_, node_couplings(execution(), map_->rows(), block_, matrix.inside)->matrix(), GraphOptions());
  }
  const char *method() const override { return solver_->method(); }
  PetscInt64 count() const override { return map_->lines(); }
  PetscInt64 longest() const override { return map_->longest(); }
  std::string kind() const override { return kind_; }

private:
  bool has(Colour colour) const { return static_cast<int>(colour) < map_->colours(); }

  std::unique_ptr<LineMap> map_;
  Index block_;
  std::string kind_;
  Make make_;
  Owner<Solver> solver_;
};

#if defined(WEFT_DISTRIBUTED)
/// Lines of a map some of which go on on other ranks, solved exactly.
class JoinedMapLines final : public LineSet {
public:
  using Parts = std::shared_ptr<const std::vector<JoinedPieces>>;

  /// `parts`: of `pieces`, the lines of each colour.
  JoinedMapLines(std::unique_ptr<LineMap> map, MPI_Comm ranks, std::shared_ptr<const JoinedPieces> pieces, Parts parts,
                 const std::string &kernel, const MethodParameters &parameters)
      : LineSet(map->execution(), static_cast<int>(parts->size())), map_(std::move(map)), ranks_(ranks), pieces_(std::move(pieces)),
        parts_(std::move(parts)), solver_(Solver::make(*map_, ranks, parts_, kernel, parameters, DeviceMessages())), parameters_(parameters)
  {
  }

  void read(const LocalMatrix &matrix) override
  {
    solver_->read(matrix.inside, matrix.outside,
                  std::vector<std::int64_t>(matrix.outside_columns, matrix.outside_columns + matrix.outside_size));
    solver_->factor();
  }
  std::optional<Index> bad_row() const override
  {
    const auto pivot = solver_->bad_pivot(); // all ranks ask
    return map_->not_finite() ? map_->not_finite() : pivot;
  }
  std::unique_ptr<LineSet> twin(const Execution &execution) const override
  {
    auto other =
        std::make_unique<JoinedMapLines>(std::make_unique<LineMap>(execution, *map_), ranks_, pieces_, parts_, method(), parameters_);
    other->solver_->read(*solver_);
    other->solver_->factor();
    return other;
  }

  void solve(KernelScalar *b, KernelScalar *x, const LineSolveOptions &options) const override
  {
    LineSolveOptions how = options;
    if (colours() == 1) how.colour = Colour::all; // a rank without rows has no colour
    solver_->solve(b, x, how);
  }

  double flops(Colour colour) const override { return map_->colours() > 0 ? solver_->local().flops(colour) : 0; }
  std::optional<CarriedCouplings> carried(const LocalMatrix &matrix) const override
  {
    return carried_couplings(*map_, matrix.inside, GraphOptions());
  }
  Index carried_across() const override
  {
    Index all = 0;
    for (std::size_t colour = 0; colour < parts_->size(); colour++) {
      for (const KernelScalar coupling : solver_->host_couplings(colour)) all += modulus(coupling) > 0;
    }
    return all;
  }
  const char *method() const override { return solver_->local().method(); }
  PetscInt64 count() const override { return map_->lines() - pieces_->begin_elsewhere; }
  PetscInt64 longest() const override { return std::max(map_->longest(), pieces_->longest); }
  std::string kind() const override { return ", " + std::to_string(pieces_->count()) + " of them across ranks"; }

private:
  using Solver = JoinedLineSolver<KernelScalar>;

  std::unique_ptr<LineMap> map_;
  MPI_Comm ranks_;
  std::shared_ptr<const JoinedPieces> pieces_;
  Parts parts_;
  Owner<Solver> solver_;
  MethodParameters parameters_;
};
#endif

} // namespace weft
