#include "crout/triangular_solver.hpp"

#include <cstdio>
#include <stdexcept>

#include "base/backend.hpp"
#include "crout/triangles/triangular_solver_impl.hpp"

namespace weft {

namespace {

struct Named {
  TriangularMethod method;
  const char *name;
};
constexpr Named named[] = {{TriangularMethod::jacobi, "jacobi"},  {TriangularMethod::isai, "isai"},
                           {TriangularMethod::levels, "levels"},  {TriangularMethod::syncfree, "syncfree"},
                           {TriangularMethod::automatic, "auto"}, {TriangularMethod::sequential, "sequential"}};

const char *name_of(TriangularMethod method)
{
  for (const Named &n : named) {
    if (n.method == method) return n.name;
  }
  return "";
}

} // namespace

std::vector<const char *> triangular_method_names()
{
  std::vector<const char *> names;
  for (const Named &n : named) {
    if (n.method != TriangularMethod::sequential) names.push_back(n.name);
  }
  return names;
}

std::optional<std::string> triangular_method_refuses(const std::string &method, const TriangularOptions &options)
{
  bool known = false;
  for (const char *name : triangular_method_names()) known = known || method == name;
  if (!known) return "no triangular solve is called '" + method + "'";
  if (options.steps < 1 || options.fewest_steps < 1) return "a triangle needs at least 1 Jacobi step";
  if (!(options.tolerance >= 0) || !(options.small_tolerance >= 0) || !(options.certain >= 0))
    return "the tolerance of the probe must not be negative";
  return std::nullopt;
}

template <class Scalar>
TriangularSolver<Scalar>::TriangularSolver(const Execution &execution, const std::string &method, const TriangularOptions &options)
    : execution_(execution), method_(method), options_(options)
{
  if (const auto why = triangular_method_refuses(method, options)) throw std::invalid_argument(*why);
  TriangularMethod asked = TriangularMethod::automatic;
  for (const Named &n : named) {
    if (method == n.name) asked = n.method;
  }
  model_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<TriangularModel<Scalar>> {
    return std::make_unique<triangular::Model<std::decay_t<decltype(space)>, Scalar>>(space, asked, options);
  });
}

template <class Scalar>
TriangularSolver<Scalar>::~TriangularSolver()
{
  destroy_or_leave(model_);
}

template <class Scalar>
void TriangularSolver<Scalar>::analyse(const SparseTriangles<Scalar> &triangles, const FactorTransform &transform)
{
  model_->analyse(triangles, transform);
}

template <class Scalar>
void TriangularSolver<Scalar>::update(const SparseTriangles<Scalar> &triangles)
{
  model_->update(triangles);
}

template <class Scalar>
void TriangularSolver<Scalar>::analyse_transpose() const
{
  model_->analyse_transpose();
}

template <class Scalar>
void TriangularSolver<Scalar>::solve(const double *rhs, double *x) const
{
  model_->solve(TriangularPart::both, rhs, x, 1, 0);
}

template <class Scalar>
void TriangularSolver<Scalar>::solve_transpose(const double *rhs, double *x) const
{
  model_->solve(TriangularPart::transposed, rhs, x, 1, 0);
}

template <class Scalar>
void TriangularSolver<Scalar>::solve_forward(const double *rhs, double *y) const
{
  model_->solve(TriangularPart::forward, rhs, y, 1, 0);
}

template <class Scalar>
void TriangularSolver<Scalar>::solve_backward(const double *y, double *x) const
{
  model_->solve(TriangularPart::backward, y, x, 1, 0);
}

template <class Scalar>
void TriangularSolver<Scalar>::solve_many(const double *rhs, double *x, int count, Index apart, Transpose transpose) const
{
  model_->solve(transpose == Transpose::yes ? TriangularPart::transposed : TriangularPart::both, rhs, x, count, apart);
}

template <class Scalar>
const char *TriangularSolver<Scalar>::method_in_use() const
{
  return name_of(model_->in_use);
}

template <class Scalar>
int TriangularSolver<Scalar>::steps() const
{
  return model_->in_use == TriangularMethod::jacobi ? model_->steps : 0;
}

template <class Scalar>
std::optional<double> TriangularSolver<Scalar>::probe() const
{
  return model_->probe;
}

template <class Scalar>
Index TriangularSolver<Scalar>::levels() const
{
  return model_->levels;
}

template <class Scalar>
std::string TriangularSolver<Scalar>::description() const
{
  std::string text = method_in_use();
  if (method_ == "auto") text += " (chosen)";
  if (steps()) text += ", " + std::to_string(steps()) + (steps() == 1 ? " step" : " steps") + " a triangle";
  const bool by_levels = model_->in_use == TriangularMethod::levels || model_->in_use == TriangularMethod::syncfree;
  if (by_levels) text += ", " + std::to_string(levels()) + " levels";
  if (probe()) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, ", probe %s%.2g (tolerance %g)", model_->bounded ? "<= " : "", *probe(), model_->tolerance);
    text += numbers;
  }
  return text;
}

template class triangular::Model<HostBackend, double>;
template class triangular::Model<HostBackend, float>;
template class TriangularSolver<double>;
template class TriangularSolver<float>;

} // namespace weft
