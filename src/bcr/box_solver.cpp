#include "bcr/box_solver.hpp"

#include <type_traits>

#include "bcr/detect/boundary_rows.hpp"
#include "bcr/make_on_backend.hpp"
#include "bcr/mirror.hpp"
#include "bcr/pencil/pencil_box.hpp"

namespace weft {

namespace {

template <class Space, class Scalar>
class BoxSolverImpl final : public BoxSolver {
public:
  BoxSolverImpl(const Execution &execution, const Separation &separation, const DirectOptions &options)
      : BoxSolver(execution), space_(space_of<Space>(execution)), size_(separation.size()), options_(options), boundary_(space_, separation)
  {
    facts_.method = "diagonal";
    if (size_ > 0) {
      solver_ = DirectSolver<Scalar>::make(execution, separation.separable, options);
      facts_  = solver_->facts();
      if (!separation.symmetric) operator_ = separation.separable;
    }
    facts_.flops += boundary_.flops();
    if (!direct()) make_room();
  }

  void solve(const double *rhs, double *solution, Transpose transpose, int nrhs, Index ld) override
  {
    if constexpr (std::is_same_v<Scalar, double>) {
      if (direct() && !mirrors(transpose)) {
        solver(transpose).solve(rhs, solution, nrhs, ld);
        return;
      }
    }
    for (int k = 0; k < nrhs; k++) solve_one(rhs + k * ld, solution + k * ld, transpose);
  }

  std::size_t work_bytes() const override
  {
    return (solver_ ? solver_->work_bytes() : 0) + sizeof(Scalar) * (rhs_.size() + solution_.size()) + boundary_.factor_bytes();
  }

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
  bool mirrors(Transpose transpose) const { return transpose == Transpose::yes && operator_ && facts_.singular; }

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
      transposed_ = DirectSolver<Scalar>::make(execution(), other, options);
    }
    return *transposed_;
  }

  Space space_;
  Index size_;
  DirectOptions options_;
  BoundaryRows<Space, Scalar> boundary_;
  OwnedArray<Scalar, Space> rhs_, solution_;
  Owner<DirectSolver<Scalar>> solver_, transposed_;
  std::optional<SeparableOperator> operator_; ///< of an operator that is not symmetric
  std::optional<poisson::Mirror<Space, Scalar>> mirror_;
};

} // namespace

Owner<BoxSolver> BoxSolver::make(const Execution &execution, const Separation &separation, const DirectOptions &options,
                                 Precision precision)
{
  if (separation.pencil) return make_pencil_box(execution, separation, precision);
  return make_on_backend<BoxSolver, BoxSolverImpl>(execution, precision, separation, options);
}

} // namespace weft
