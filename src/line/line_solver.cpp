#include "line/line_solver.hpp"

#include "base/backend.hpp"
#include "line/csr.hpp"
#include "line/method_list.hpp"
#include "line/select.hpp"

namespace weft {

template <>
struct MethodList<LineProblem> {
  using Methods                          = TridiagonalMethods;
  static constexpr const char *adjective = "tridiagonal";

  static const char *choose(const LineProblem &problem, bool device, const MethodParameters &parameters)
  {
    return choose_tridiagonal_method(problem, device, parameters);
  }
  static std::optional<std::string> shape_refused(const LineProblem &problem)
  {
    const LineLayout &layout = problem.layout;
    if (layout.length < 0 || layout.components < 0 || layout.across[0] < 0 || layout.across[1] < 0)
      return "the layout has a negative length or number of lines";
    if (layout.rows() > 1 && layout.length > 1 && layout.stride <= 0) return "the stride along a line must be positive";
    if (problem.coefficients == Coefficients::constant && (problem.closure < 0 || 2 * problem.closure > layout.length))
      return "lines of " + std::to_string(layout.length) + " rows cannot have " + std::to_string(problem.closure) +
             " rows of their own at either end";
    return std::nullopt;
  }
};

std::vector<const char *> tridiagonal_method_names()
{
  return names_of_methods<LineProblem>();
}

std::optional<std::string> tridiagonal_method_refuses(const std::string &method, const LineProblem &problem,
                                                      const MethodParameters &parameters)
{
  return method_refuses(method, problem, parameters);
}

const char *fastest_tridiagonal_method(const LineProblem &problem, bool device, const MethodParameters &parameters)
{
  return choose_tridiagonal_method(problem, device, parameters);
}

template <class Scalar, class Int>
CouplingStrengths coupling_strengths(const Execution &execution, const Index (&n)[3], Index components,
                                     const CsrMatrix<Scalar, Int> &matrix, const BoxFaces<Scalar> &faces)
{
  return on_backend(execution, [&](const auto &space) { return coupling_strengths(space, n, components, matrix, faces); });
}

template <class Scalar, class Int>
std::optional<ConstantLines<Scalar>> constant_lines(const Execution &execution, const LineProblem &problem,
                                                    const CsrMatrix<Scalar, Int> &matrix)
{
  return on_backend(execution, [&](const auto &space) { return constant_lines(space, problem, matrix); });
}

template class FactoredLines<LineProblem, KernelScalar>;
template class FactoredLines<LineProblem, OtherScalar>;
template CouplingStrengths coupling_strengths(const Execution &, const Index (&)[3], Index, const CsrMatrix<KernelScalar, std::int32_t> &,
                                              const BoxFaces<KernelScalar> &);
template CouplingStrengths coupling_strengths(const Execution &, const Index (&)[3], Index, const CsrMatrix<KernelScalar, std::int64_t> &,
                                              const BoxFaces<KernelScalar> &);
template std::optional<ConstantLines<KernelScalar>> constant_lines(const Execution &, const LineProblem &,
                                                                   const CsrMatrix<KernelScalar, std::int32_t> &);
template std::optional<ConstantLines<KernelScalar>> constant_lines(const Execution &, const LineProblem &,
                                                                   const CsrMatrix<KernelScalar, std::int64_t> &);

} // namespace weft
