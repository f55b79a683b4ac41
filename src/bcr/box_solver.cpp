#include "bcr/box_solver.hpp"

#include <algorithm>
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
  BoxSolverImpl(const Execution &execution, const Separation &separation, const DirectOptions &options, const KnownBases &known)
      : BoxSolver(execution), space_(space_of<Space>(execution)), size_(separation.size()), options_(options), boundary_(space_, separation)
  {
    facts_.method = "diagonal";
    if (size_ > 0) {
      solver_ = DirectSolver<Scalar>::make(execution, separation.separable, options, known);
      facts_  = solver_->facts();
      if (!separation.symmetric) operator_ = separation.separable;
    }
    facts_.flops += boundary_.flops();
    if (!direct()) make_room(1);
  }

  void solve(const KernelReal *rhs, KernelReal *solution, Transpose transpose, int nrhs, Index ld) override
  {
    if constexpr (std::is_same_v<Scalar, KernelReal>) {
      if (direct() && !mirrors(transpose)) {
        solver(transpose).solve(rhs, solution, nrhs, ld);
        for (int k = 0; k < nrhs; k++) boundary_.divide_by_factor(solution + k * ld);
        return;
      }
    }
    const Index together = size_ > 0 && !mirrors(transpose) ? solver(transpose).side_by_side(nrhs) : 1;
    for (Index k = 0; k < nrhs; k += together)
      solve_some(rhs + k * ld, solution + k * ld, transpose, std::min<Index>(together, nrhs - k), ld);
  }

  bool renew(const Separation &separation) override
  {
    return solver_ && !operator_ && separation.symmetric && solver_->renew(separation.separable, options_);
  }
  void set_factor(double factor) override { boundary_.set_factor(factor); }
  void set_faces(const Separation &separation) override
  {
    const double factor = boundary_.factor();
    boundary_           = BoundaryRows<Space, Scalar>(space_, separation);
    boundary_.set_factor(factor);
  }

  KnownBases bases() const override { return solver_ ? solver_->bases() : KnownBases(); }
  std::size_t work_bytes() const override
  {
    return (solver_ ? solver_->work_bytes() : 0) + sizeof(Scalar) * (rhs_.size() + solution_.size()) + boundary_.factor_bytes();
  }

private:
  /// True where nothing stands between the caller's arrays and DirectSolver.
  bool direct() const { return std::is_same_v<Scalar, KernelReal> && boundary_.none(); }

  /// `columns` right-hand sides, one where a mirror is needed.
  void solve_some(const KernelReal *rhs, KernelReal *solution, Transpose transpose, Index columns, Index ld)
  {
    const bool mirror = mirrors(transpose);
    make_room(columns);
    if (mirror && !mirror_) mirror_.emplace(*operator_);
    for (Index k = 0; k < columns; k++) boundary_.reduce(rhs + k * ld, solution + k * ld, rhs_.data() + k * size_, transpose);
    if (mirror) mirror_->into(space_, rhs_.data());
    if (size_ > 0) solver(transpose).solve(rhs_.data(), solution_.data(), static_cast<int>(columns), size_);
    if (mirror) mirror_->back(space_, solution_.data());
    for (Index k = 0; k < columns; k++) boundary_.fill(solution_.data() + k * size_, rhs + k * ld, solution + k * ld, transpose);
  }

  /// True where the operator's own solver solves for its transpose.
  bool mirrors(Transpose transpose) const { return transpose == Transpose::yes && operator_ && facts_.singular; }

  /// For inner values of so many right-hand sides, unless it is there.
  void make_room(Index columns)
  {
    const auto size = static_cast<std::size_t>(columns * size_);
    if (rhs_.size() >= size) return;
    rhs_      = decltype(rhs_)(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft inner rhs"), size);
    solution_ = decltype(solution_)(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft inner solution"), size);
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

std::optional<std::string> BoxSolver::refuses(const Separation &separation, const DirectOptions &options, Precision)
{
  return separation.pencil ? pencil_method_refuses(options) : poisson_method_refuses(options.method, separation.separable, options);
}

Owner<BoxSolver> BoxSolver::make(const Execution &execution, const Separation &separation, const DirectOptions &options,
                                 Precision precision, const KnownBases &known)
{
  if (separation.pencil) return make_pencil_box(execution, separation, precision);
  return make_on_backend<BoxSolver, BoxSolverImpl>(execution, precision, separation, options, known);
}

} // namespace weft
