#include "bcr/direct_solver.hpp"

#include "bcr/direct_solver_impl.hpp"

namespace weft {

template <class Scalar>
Owner<DirectSolver<Scalar>> DirectSolver<Scalar>::make(const Execution &execution, const SeparableOperator &problem,
                                                       const DirectOptions &options)
{
  poisson::Prepared prepared = poisson::prepare(problem, options, execution.memory() == Memory::host);
  return on_backend(execution, [&](const auto &space) -> Owner<DirectSolver> {
    return make_owner<poisson::DirectSolverImpl<std::decay_t<decltype(space)>, Scalar>>(execution, std::move(prepared));
  });
}

template class DirectSolver<double>;
template class DirectSolver<float>;

} // namespace weft
