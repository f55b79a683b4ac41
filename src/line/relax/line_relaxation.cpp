#include "line/relax/line_relaxation.hpp"

#include "line/relax/relaxation_plan.hpp"

namespace weft {

template <class Scalar>
LineRelaxation<Scalar>::LineRelaxation(const StencilMatrix<Scalar> &matrix, const LineProblem &problem, const std::string &method,
                                       const MethodParameters &parameters, bool by_colour)
    : matrix_(matrix), solver_(LineSolver<Scalar>::make(matrix.execution(), problem, method, parameters))
{
  if (problem.layout.span() > matrix.rows()) throw std::invalid_argument("the lines have more rows than the matrix");
  plan_ = on_backend(matrix.execution(), [&](const auto &space) -> std::unique_ptr<Plan> {
    return std::make_unique<RelaxationPlan<std::decay_t<decltype(space)>, Scalar>>(space, matrix, *solver_, parameters, by_colour);
  });
}

template <class Scalar>
LineRelaxation<Scalar>::~LineRelaxation()
{
  destroy_or_leave(plan_);
}

template class LineRelaxation<KernelScalar>;
template class LineRelaxation<OtherScalar>;

} // namespace weft
