#include "line/ranks/distributed_line_solver.hpp"

#include "line/ranks/solver_parts.hpp"
#include "line/relax/storage.hpp"

namespace weft {

namespace {

/// A piece by itself.
LineProblem cut_off(LineProblem piece)
{
  piece.periodic = false;
  return piece;
}

} // namespace

template <class Scalar>
DistributedLineSolver<Scalar>::DistributedLineSolver(const Execution &execution, MPI_Comm ranks, const LineProblem &piece,
                                                     const std::string &method, const MethodParameters &parameters, bool device_messages)
    : Base(execution, ranks, piece.layout, piece.periodic), piece_(piece)
{
  const LineProblem problem = cut_off(piece);
  std::optional<std::string> why;
  if (piece.layout.length < 0) why = "the layout has a negative length";
  try {
    if (!ranks_.is_empty()) local_ = LineSolver<Scalar>::make(execution, problem, method, parameters);
    if (!ranks_.is_empty() && problem.coefficients != Coefficients::general) {
      LineProblem one = problem;
      one.layout      = one_line(problem.layout.length);
      one_            = LineSolver<Scalar>::make(execution, one, method, parameters);
    }
  } catch (const std::invalid_argument &refusal) {
    why = refusal.what();
  }
  this->check(piece.layout, 1, why);
  const bool each = ranks_.smallest(ranks_.is_empty() || one_ ? 1 : 0) == 0;
  on_backend(execution, [&](const auto &space) {
    using Impl = DistributedImplOn<std::decay_t<decltype(space)>, Scalar, LineSolver<Scalar>, 1>;
    impl_      = std::make_unique<Impl>(space, ranks_, problem, each, parameters.tolerance, device_messages);
  });
}

template <class Scalar>
void DistributedLineSolver<Scalar>::read(const ConstantLines<Scalar> &lines)
{
  if (!local_) return;
  local_->read(lines);
  one_->read(lines);
  typename DistributedImpl<Scalar, LineSolver<Scalar>>::Host before("weft before", 1), after("weft after", 1);
  before(0) = ranks_.has_before() ? lines.lower.front() : Scalar(0);
  after(0)  = ranks_.has_after() ? lines.upper.back() : Scalar(0);
  impl_->use_couplings(before, after);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::take_neighbours(Scalar *rhs, const StencilMatrix<Scalar> &matrix, const Scalar *x, Colour colour) const
{
  const Diagonals<Scalar> *diagonals = matrix.storage().diagonals();
  if (!diagonals) throw std::invalid_argument("lines across ranks: the matrix is not in diagonals");
  impl_->take_neighbours(rhs, *diagonals, x, colour);
}

template <class Scalar>
void DistributedLineSolver<Scalar>::put_back(Scalar *rhs, Colour colour) const
{
  impl_->put_back(rhs, colour);
}

template class DistributedSolver<double, LineSolver<double>>;
template class DistributedSolver<float, LineSolver<float>>;
template class DistributedLineSolver<double>;
template class DistributedLineSolver<float>;
template void DistributedSolver<double, LineSolver<double>>::read(const CsrMatrix<double, std::int32_t> &, const double *, const double *);
template void DistributedSolver<double, LineSolver<double>>::read(const CsrMatrix<double, std::int64_t> &, const double *, const double *);
template void DistributedSolver<float, LineSolver<float>>::read(const CsrMatrix<float, std::int32_t> &, const float *, const float *);
template void DistributedSolver<float, LineSolver<float>>::read(const CsrMatrix<float, std::int64_t> &, const float *, const float *);

} // namespace weft
