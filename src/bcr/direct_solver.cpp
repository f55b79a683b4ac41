#include "bcr/direct_solver.hpp"

#include "bcr/direct_model.hpp"

namespace weft {

template <class Scalar>
DirectSolver<Scalar>::DirectSolver(const Execution &execution, const SeparableOperator &problem, const DirectOptions &options)
    : execution_(execution)
{
  poisson::Prepared prepared = poisson::prepare(problem, options, execution.memory() == Memory::host);
  model_                     = on_backend(execution, [&](const auto &space) -> std::unique_ptr<DirectModel<Scalar>> {
    return std::make_unique<poisson::DirectModelOn<std::decay_t<decltype(space)>, Scalar>>(space, std::move(prepared));
  });
}

template <class Scalar>
DirectSolver<Scalar>::~DirectSolver()
{
  destroy_or_leave(model_);
}

template <class Scalar>
void DirectSolver<Scalar>::solve(const Scalar *rhs, Scalar *solution, int many, Index apart) const
{
  model_->solve(rhs, solution, many, apart);
}

template <class Scalar>
const char *DirectSolver<Scalar>::method() const
{
  return model_->prepared().method.c_str();
}

template <class Scalar>
bool DirectSolver<Scalar>::singular() const
{
  return model_->prepared().singular;
}

template <class Scalar>
double DirectSolver<Scalar>::perturbation() const
{
  return model_->perturbation();
}

template <class Scalar>
bool DirectSolver<Scalar>::bad_pivot() const
{
  return model_->prepared().bad_pivot;
}

template <class Scalar>
std::size_t DirectSolver<Scalar>::work_bytes() const
{
  return model_->bytes();
}

template <class Scalar>
double DirectSolver<Scalar>::flops() const
{
  return model_->prepared().flops();
}

template <class Scalar>
std::string DirectSolver<Scalar>::description() const
{
  return model_->description();
}

template class DirectSolver<double>;
template class DirectSolver<float>;

} // namespace weft
