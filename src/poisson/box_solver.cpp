#include "poisson/box_solver.hpp"

#include <type_traits>

#include "backend.hpp"
#include "poisson/boundary_rows.hpp"

namespace weft {

struct BoxSolver::Model {
  explicit Model(const Execution &where) : execution(where) {}
  virtual ~Model()                                                                                    = default;
  virtual void solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) = 0;
  virtual bool singular() const                                                                       = 0;
  virtual bool bad_pivot() const                                                                      = 0;
  virtual const char *method() const                                                                  = 0;
  virtual std::string description() const                                                             = 0;
  virtual std::size_t work_bytes() const                                                              = 0;
  virtual double flops() const                                                                        = 0;

  const Execution &execution;
};

namespace {

template <class Space, class Scalar>
class BoxModel : public BoxSolver::Model {
public:
  BoxModel(const Execution &where, const Space &space, const Separation &separation, const DirectOptions &options)
      : Model(where), options_(options), boundary_(space, separation)
  {
    const Index size = separation.size();
    if (size > 0) {
      solver_ = std::make_unique<DirectSolver<Scalar>>(execution, separation.separable, options);
      if (!separation.symmetric) operator_ = separation.separable;
    }
    if (direct()) return;
    rhs_ = decltype(rhs_)(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft inner rhs"), static_cast<std::size_t>(size));
    solution_ =
        decltype(solution_)(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft inner solution"), static_cast<std::size_t>(size));
  }

  void solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) override
  {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (direct()) {
        solver(transpose).solve(rhs, solution, many, apart);
        return;
      }
    }
    for (int k = 0; k < many; k++) solve_one(rhs + k * apart, solution + k * apart, transpose);
  }

  bool singular() const override { return solver_ && solver_->singular(); }
  bool bad_pivot() const override { return solver_ && solver_->bad_pivot(); }
  const char *method() const override { return solver_ ? solver_->method() : "diagonal"; }
  std::string description() const override { return solver_ ? solver_->description() : ""; }
  std::size_t work_bytes() const override
  {
    return (solver_ ? solver_->work_bytes() : 0) + sizeof(Scalar) * (rhs_.size() + solution_.size()) + boundary_.factor_bytes();
  }
  double flops() const override { return (solver_ ? solver_->flops() : 0) + boundary_.flops(); }

private:
  /// True where nothing stands between the caller's arrays and DirectSolver.
  bool direct() const { return std::is_same_v<Scalar, double> && boundary_.none(); }

  void solve_one(const double *rhs, double *solution, Transpose transpose)
  {
    boundary_.reduce(rhs, solution, rhs_.data(), transpose);
    if (rhs_.size() > 0) solver(transpose).solve(rhs_.data(), solution_.data());
    boundary_.fill(solution_.data(), rhs, solution, transpose);
  }

  const DirectSolver<Scalar> &solver(Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_) return *solver_;
    if (!transposed_) transposed_ = std::make_unique<DirectSolver<Scalar>>(execution, transposed(*operator_), options_);
    return *transposed_;
  }

  DirectOptions options_;
  BoundaryRows<Space, Scalar> boundary_;
  OwnedArray<Scalar, Space> rhs_, solution_;
  std::unique_ptr<DirectSolver<Scalar>> solver_, transposed_;
  std::optional<SeparableOperator> operator_; ///< of an operator that is not symmetric
};

} // namespace

BoxSolver::BoxSolver(const Execution &execution, const Separation &separation, const DirectOptions &options, Precision precision)
{
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    if (precision == Precision::both_double)
      model_ = std::make_unique<BoxModel<Space, double>>(execution, space, separation, options);
    else
      model_ = std::make_unique<BoxModel<Space, float>>(execution, space, separation, options);
  });
}

BoxSolver::~BoxSolver()
{
  destroy_or_leave(model_);
}

void BoxSolver::solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) const
{
  model_->solve(rhs, solution, transpose, many, apart);
}

const Execution &BoxSolver::execution() const
{
  return model_->execution;
}

bool BoxSolver::singular() const
{
  return model_->singular();
}

bool BoxSolver::bad_pivot() const
{
  return model_->bad_pivot();
}

const char *BoxSolver::method() const
{
  return model_->method();
}

std::string BoxSolver::description() const
{
  return model_->description();
}

std::size_t BoxSolver::work_bytes() const
{
  return model_->work_bytes();
}

double BoxSolver::flops() const
{
  return model_->flops();
}

} // namespace weft
