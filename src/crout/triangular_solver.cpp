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
Owner<TriangularSolver<Scalar>> TriangularSolver<Scalar>::make(const Execution &execution, const std::string &method,
                                                               const TriangularOptions &options)
{
  if (const auto why = triangular_method_refuses(method, options)) throw std::invalid_argument(*why);
  TriangularMethod asked = TriangularMethod::automatic;
  for (const Named &n : named) {
    if (method == n.name) asked = n.method;
  }
  return on_backend(execution, [&](const auto &space) -> Owner<TriangularSolver> {
    return make_owner<triangular::TriangularSolverImpl<std::decay_t<decltype(space)>, Scalar>>(space, asked, options);
  });
}

template <class Scalar>
const char *TriangularSolver<Scalar>::method_in_use() const
{
  for (const Named &n : named) {
    if (n.method == facts_.in_use) return n.name;
  }
  return "";
}

template <class Scalar>
std::string TriangularSolver<Scalar>::description() const
{
  using Method     = TriangularMethod;
  std::string text = method_in_use();
  if (asked_ == Method::automatic) text += " (chosen)";
  if (facts_.in_use == Method::jacobi)
    text += ", " + std::to_string(facts_.steps) + (facts_.steps == 1 ? " step" : " steps") + " a triangle";
  if (facts_.in_use == Method::levels || facts_.in_use == Method::syncfree) text += ", " + std::to_string(facts_.levels) + " levels";
  if (facts_.probe) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, ", probe %s%.2g (tolerance %g)", facts_.bounded ? "<= " : "", *facts_.probe, facts_.tolerance);
    text += numbers;
  }
  return text;
}

template class triangular::TriangularSolverImpl<HostBackend, KernelScalar>;
template class triangular::TriangularSolverImpl<HostBackend, OtherScalar>;
template class TriangularSolver<KernelScalar>;
template class TriangularSolver<OtherScalar>;

} // namespace weft
