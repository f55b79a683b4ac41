#include "bcr/spread/spread_solver.hpp"

#include <algorithm>
#include <optional>

#include "bcr/detect/boundary_rows.hpp"
#include "bcr/make_on_backend.hpp"
#include "bcr/mirror.hpp"
#include "bcr/spread/spread_modes.hpp"

namespace weft {

namespace {

/// A process's slab, as slab_of has it, and columns.
template <class Space, class Scalar>
class SpreadSolverImpl final : public SpreadSolver {
public:
  SpreadSolverImpl(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process)
      : SpreadSolver(execution), space_(space_of<Space>(execution)), plan_(plan), process_(process), boundary_(space_, slab)
  {
    const poisson::Prepared prepared = poisson::prepare_tensor(slab.separable);
    const double share               = static_cast<double>(slab.nodes[2]) / static_cast<double>(plan.nodes[2]);
    facts_                           = {"facr", describe(prepared), prepared.singular, prepared.least_pivot < poisson::small_pivot,
                                        prepared.flops() * share + boundary_.flops()};
    if (!slab.symmetric) operator_ = slab.separable;
    slab_ = Array<double>("weft slab", static_cast<std::size_t>(slab.grid[0] * slab.grid[1] * slab.grid[2]));
    make(tables_[0], prepared);
    columns_ = Array<Scalar>("weft columns of modes", static_cast<std::size_t>(plan.nodes[2] * tables_[0]->lines.modes()));
    space_.fence("weft: tables of a spread solve");
  }

  double *slab() const override { return slab_.data(); }
  void *slab_modes(Transpose transpose) override { return modes_[tables(transpose).transforms.products() % 2].data(); }
  void *column_modes() const override { return columns_.data(); }
  std::size_t block_bytes() const override { return static_cast<std::size_t>(plan_.block) * sizeof(Scalar); }

  void set_factor(double factor) override { boundary_.set_factor(factor); }

  void to_modes(Transpose transpose) override
  {
    const auto &transforms = tables(transpose).transforms;
    boundary_.reduce(slab_.data(), slab_.data(), modes_[0].data(), transpose, padding());
    if (mirrors(transpose)) mirror().into(space_, modes_[0].data());
    transforms.to_modes({modes_[0].data(), modes_[1].data()});
  }
  void solve_lines(Transpose transpose) override { tables(transpose).lines(columns_.data()); }
  void from_modes(Transpose transpose) override
  {
    tables(transpose).transforms.from_modes({modes_[0].data(), modes_[1].data()});
    if (mirrors(transpose)) mirror().back(space_, modes_[0].data());
    boundary_.fill(modes_[0].data(), slab_.data(), slab_.data(), transpose, padding());
  }

  std::size_t work_bytes() const override
  {
    std::size_t bytes = slab_.size() * sizeof(double) + (columns_.size() + modes_[0].size() + modes_[1].size()) * sizeof(Scalar);
    for (const auto &tables : tables_) {
      if (tables) bytes += tables->transforms.bytes() + tables->lines.bytes();
    }
    return bytes + boundary_.factor_bytes();
  }

private:
  /// Those of an operator.
  struct Tables {
    Tables(const Space &space, const poisson::Prepared &p, const SpreadPlan &plan, int process)
        : transforms(space, p, plan, process), lines(space, p, plan, process)
    {
    }
    poisson::SpreadTransforms<Space, Scalar> transforms;
    poisson::SpreadLines<Space, Scalar> lines;
  };
  template <class Number>
  using Array = OwnedArray<Number, Space>;

  Index padding() const { return plan_.blocks() * plan_.block - plan_.modes(); }

  void make(std::unique_ptr<Tables> &tables, const poisson::Prepared &prepared)
  {
    tables = std::make_unique<Tables>(space_, prepared, plan_, process_);
    for (int k = 0; k <= std::min(1, tables->transforms.products()); k++) {
      const Index size = plan_.rows(process_).size() * plan_.blocks() * plan_.block;
      if (modes_[k].size() == 0) modes_[k] = Array<Scalar>("weft slab of modes", static_cast<std::size_t>(size));
    }
  }

  const Tables &tables(Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_ || mirrors(transpose)) return *tables_[0];
    if (!tables_[1]) make(tables_[1], poisson::prepare_tensor(transposed(*operator_)));
    return *tables_[1];
  }

  /// True where the operator's own tables serve its transpose.
  bool mirrors(Transpose transpose) const { return transpose == Transpose::yes && operator_ && facts_.singular; }

  const poisson::Mirror<Space, Scalar> &mirror()
  {
    if (mirror_) return *mirror_;
    const Share rows  = plan_.rows(process_);
    const Index pitch = plan_.blocks() * plan_.block, n[3] = {pitch, 1, rows.size()};
    std::vector<double> along[3], factors[3];
    for (int k = 0; k < 3; k++) along[k] = poisson::mirror_factors(operator_->directions[k]);
    factors[0].assign(static_cast<std::size_t>(pitch), 0);
    for (Index k = 0; k < plan_.nodes[0] * plan_.nodes[1]; k++)
      factors[0][static_cast<std::size_t>(k)] =
          along[0][static_cast<std::size_t>(k % plan_.nodes[0])] * along[1][static_cast<std::size_t>(k / plan_.nodes[0])];
    factors[2].assign(along[2].begin() + rows.begin, along[2].begin() + rows.end);
    mirror_.emplace(n, factors);
    return *mirror_;
  }

  std::string describe(const poisson::Prepared &p) const
  {
    static constexpr char names[] = "xyz";
    const bool fast[2]            = {std::get<poisson::TransformStep>(p.schedule.steps.front()).fast.has_value(), p.modes.fast.has_value()};
    std::string text              = "facr: ";
    for (int k : {0, 1}) {
      if (plan_.nodes[k] == 1) continue;
      text += std::string(fast[k] ? "fast transforms" : "matrix products") + " along " + names[plan_.order[k]] + ", ";
    }
    return text + "lines along " + names[plan_.order[2]] + (p.singular ? ", singular" : "");
  }

  Space space_;
  SpreadPlan plan_;
  int process_;
  BoundaryRows<Space, Scalar> boundary_;
  std::unique_ptr<Tables> tables_[2]; ///< of the operator; of its transpose, where that is another one
  std::optional<SeparableOperator> operator_;
  std::optional<poisson::Mirror<Space, Scalar>> mirror_;
  Array<double> slab_;
  Array<Scalar> modes_[2], columns_; ///< the second one for matrix products
};

} // namespace

Owner<SpreadSolver> SpreadSolver::make(const Execution &execution, const Separation &slab, const SpreadPlan &plan, int process,
                                       Precision precision)
{
  return make_on_backend<SpreadSolver, SpreadSolverImpl>(execution, precision, slab, plan, process);
}

} // namespace weft
