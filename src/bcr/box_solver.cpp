#include "bcr/box_solver.hpp"

#include <type_traits>

#include "base/backend.hpp"
#include "bcr/detect/boundary_rows.hpp"
#include "bcr/mirror.hpp"

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
      : Model(where), space_(space), size_(separation.size()), options_(options), boundary_(space, separation)
  {
    if (size_ > 0) {
      solver_ = std::make_unique<DirectSolver<Scalar>>(execution, separation.separable, options);
      if (!separation.symmetric) operator_ = separation.separable;
    }
    if (!direct()) make_room();
  }

  void solve(const double *rhs, double *solution, Transpose transpose, int many, Index apart) override
  {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (direct() && !mirrors(transpose)) {
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
    const bool mirror = mirrors(transpose);
    if (mirror) make_mirror();
    boundary_.reduce(rhs, solution, rhs_.data(), transpose);
    if (mirror) mirror_->into(space_, rhs_.data());
    if (size_ > 0) solver(transpose).solve(rhs_.data(), solution_.data());
    if (mirror) mirror_->back(space_, solution_.data());
    boundary_.fill(solution_.data(), rhs, solution, transpose);
  }

  /// True where the operator's own solver solves for its transpose.
  bool mirrors(Transpose transpose) const { return transpose == Transpose::yes && operator_ && solver_->singular(); }

  void make_room()
  {
    const auto size = static_cast<std::size_t>(size_);
    rhs_            = decltype(rhs_)(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft inner rhs"), size);
    solution_       = decltype(solution_)(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft inner solution"), size);
  }

  void make_mirror()
  {
    if (mirror_) return;
    if (rhs_.size() == 0) make_room();
    Index n[3] = {1, 1, 1};
    std::vector<double> factors[3];
    for (int k = 0; k < operator_->dimension; k++) {
      n[k]       = operator_->directions[k].n;
      factors[k] = poisson::mirror_factors(operator_->directions[k]);
    }
    mirror_.emplace(n, factors);
  }

  const DirectSolver<Scalar> &solver(Transpose transpose)
  {
    if (transpose == Transpose::no || !operator_ || mirrors(transpose)) return *solver_;
    if (!transposed_) {
      const SeparableOperator other = transposed(*operator_);
      DirectOptions options         = options_;
      // Neumann ends of nodes are no such ends of the transpose.
      if (poisson_method_refuses(options.method, other, options)) options = {};
      transposed_ = std::make_unique<DirectSolver<Scalar>>(execution, other, options);
    }
    return *transposed_;
  }

  Space space_;
  Index size_;
  DirectOptions options_;
  BoundaryRows<Space, Scalar> boundary_;
  OwnedArray<Scalar, Space> rhs_, solution_;
  std::unique_ptr<DirectSolver<Scalar>> solver_, transposed_;
  std::optional<SeparableOperator> operator_; ///< of an operator that is not symmetric
  std::optional<poisson::Mirror<Space, Scalar>> mirror_;
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
