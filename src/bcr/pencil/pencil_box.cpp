#include "bcr/pencil/pencil_box.hpp"

#include <optional>
#include <type_traits>

#include "bcr/make_on_backend.hpp"
#include "bcr/pencil/changed_rows.hpp"
#include "bcr/pencil/dirichlet_rows.hpp"
#include "bcr/pencil/pencil_solver.hpp"
#include "bcr/reduction/facr.hpp"

namespace weft {

namespace {

template <class Space, class Scalar>
class PencilBox final : public BoxSolver {
public:
  PencilBox(const Execution &execution, const Separation &separation)
      : BoxSolver(execution), space_(space_of<Space>(execution)), boundary_(space_, separation),
        solver_(space_, *separation.pencil, Transpose::no)
  {
    const poisson::PencilPlan &plan = solver_.plan();
    facts_                          = {poisson::Facr::name, solver_.description(), separation.pencil->singular, solver_.bad_pivot(),
                                       plan.flops() + boundary_.flops()};
    if (!separation.symmetric) operator_ = separation.pencil;
    if (direct()) return;
    rhs_      = room(separation.size());
    solution_ = room(separation.size());
  }

  void solve(const KernelReal *rhs, KernelReal *solution, Transpose transpose, int nrhs, Index ld) override
  {
    const auto &solver = solver_of(transpose);
    for (int k = 0; k < nrhs; k++) {
      const KernelReal *const b = rhs + k * ld;
      KernelReal *const x       = solution + k * ld;
      if constexpr (std::is_same_v<Scalar, KernelReal>) {
        if (direct()) {
          solver(b, x);
          continue;
        }
      }
      boundary_.reduce(b, rhs_.data(), transpose);
      solver(rhs_.data(), solution_.data());
      boundary_.fill(solution_.data(), b, x, transpose);
    }
  }

  std::size_t work_bytes() const override
  {
    return solver_.bytes() + (transposed_ ? transposed_->bytes() : 0) + sizeof(Scalar) * (rhs_.size() + solution_.size()) +
           boundary_.bytes();
  }

private:
  using Values = OwnedArray<Scalar, Space>;

  /// The products, and rows that are others.
  class Solver {
  public:
    Solver(const Space &space, const PencilOperator &op, Transpose transpose)
        : products_(space, transpose == Transpose::no ? op : transposed(op))
    {
      if (!op.changed.empty()) changed_ = {space, op, transpose, products_};
    }
    void operator()(const Scalar *rhs, Scalar *solution) const
    {
      products_(changed_.scaled(rhs), solution);
      changed_(solution);
    }
    const poisson::PencilPlan &plan() const { return products_.plan(); }
    bool bad_pivot() const { return plan().bad_pivot || !changed_.regular(); }
    std::string description() const
    {
      return plan().description() + (changed_.any() ? ", rows that are no products: " + std::to_string(changed_.count()) : "");
    }
    std::size_t bytes() const { return products_.bytes() + changed_.bytes(); }

  private:
    poisson::PencilSolver<Space, Scalar> products_;
    poisson::ChangedRows<Space, Scalar> changed_;
  };

  /// True where nothing stands between the caller's arrays and the solver.
  bool direct() const { return std::is_same_v<Scalar, KernelReal> && boundary_.none(); }

  Values room(Index size) const
  {
    return Values(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft inner values"), static_cast<std::size_t>(size));
  }

  const Solver &solver_of(Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_) return solver_;
    if (!transposed_) transposed_.emplace(space_, *operator_, Transpose::yes);
    return *transposed_;
  }

  Space space_;
  DirichletRows<Space, Scalar> boundary_;
  Solver solver_;
  std::optional<Solver> transposed_;
  std::optional<PencilOperator> operator_; ///< of one that is not symmetric
  Values rhs_, solution_;
};

} // namespace

std::optional<std::string> pencil_method_refuses(const DirectOptions &options)
{
  if (options.method == "auto" || (options.method == poisson::Facr::name && options.levels <= 0)) return std::nullopt;
  return "it solves stars (3, 5 or 7 points), and rows of this matrix couple to other neighbours too: take auto, or facr without levels";
}

Owner<BoxSolver> make_pencil_box(const Execution &execution, const Separation &separation, Precision precision)
{
  return make_on_backend<BoxSolver, PencilBox>(execution, precision, separation);
}

} // namespace weft
