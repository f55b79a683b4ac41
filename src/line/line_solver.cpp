#include "line/line_solver.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/backend.hpp"
#include "line/csr.hpp"
#include "line/fastest.hpp"
#include "line/model.hpp"
#include "line/select.hpp"

namespace weft {

std::vector<const char *> tridiagonal_method_names()
{
  std::vector<const char *> names;
  for_each_tridiagonal_method([&](auto method) { names.push_back(method.name); });
  return names;
}

const char *fastest_tridiagonal_method(const LineProblem &problem, bool device, const MethodParameters &parameters)
{
  return choose_tridiagonal_method(problem, device, parameters);
}

namespace {

std::optional<std::string> shape_refused(const LineProblem &problem)
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

} // namespace

std::optional<std::string> tridiagonal_method_refuses(const std::string &method, const LineProblem &problem,
                                                      const MethodParameters &parameters)
{
  if (const auto why = shape_refused(problem)) return why;
  std::optional<std::string> why = "no tridiagonal method is called '" + method + "'";
  for_each_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (method == Method::name) why = Method::refuses(problem, parameters);
  });
  return why;
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

template <class Scalar>
std::unique_ptr<LineModel<Scalar>> LineSolver<Scalar>::make(Transpose transpose) const
{
  std::unique_ptr<LineModel<Scalar>> model;
  for_each_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (method_ == Method::name) model = Models<Method, Scalar>::make(this->execution_, problem_, parameters_, transpose);
  });
  return model;
}

template <class Scalar>
LineSolver<Scalar>::LineSolver(const Execution &execution, const LineProblem &problem, const std::string &method,
                               const MethodParameters &parameters)
    : Base(execution, method == "auto" ? choose_tridiagonal_method(problem, execution.memory() == Memory::device, parameters) : method,
           parameters),
      problem_(problem)
{
  if (const auto why = tridiagonal_method_refuses(method_, problem, parameters)) throw std::invalid_argument(*why);
  model_ = make(Transpose::no);
}

template <class Scalar>
template <class Int>
void LineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix)
{
  if (problem_.coefficients != Coefficients::general) throw std::invalid_argument("only general coefficients are read from a matrix");
  model_->read(matrix);
}

template <class Scalar>
void LineSolver<Scalar>::read(const ConstantLines<Scalar> &lines)
{
  if (problem_.coefficients != Coefficients::constant || problem_.closure != lines.closure)
    throw std::invalid_argument("the coefficients are not those of the problem");
  const auto host = [](const std::vector<Scalar> &values) {
    typename LineModel<Scalar>::Host copy("weft coefficients", values.size());
    std::copy(values.begin(), values.end(), copy.data());
    return copy;
  };
  model_->read({host(lines.lower), host(lines.diagonal), host(lines.upper)});
}

template <class Scalar>
double LineSolver<Scalar>::flops() const
{
  double flops = 0;
  for_each_tridiagonal_method([&](auto known) {
    if (method_ == known.name) flops = known.flops(problem_.layout);
  });
  return flops;
}

template class LineSolver<double>;
template class LineSolver<float>;
template void LineSolver<double>::read(const CsrMatrix<double, std::int32_t> &);
template void LineSolver<double>::read(const CsrMatrix<double, std::int64_t> &);
template void LineSolver<float>::read(const CsrMatrix<float, std::int32_t> &);
template void LineSolver<float>::read(const CsrMatrix<float, std::int64_t> &);
template CouplingStrengths coupling_strengths(const Execution &, const Index (&)[3], Index, const CsrMatrix<double, std::int32_t> &,
                                              const BoxFaces<double> &);
template CouplingStrengths coupling_strengths(const Execution &, const Index (&)[3], Index, const CsrMatrix<double, std::int64_t> &,
                                              const BoxFaces<double> &);
template std::optional<ConstantLines<double>> constant_lines(const Execution &, const LineProblem &,
                                                             const CsrMatrix<double, std::int32_t> &);
template std::optional<ConstantLines<double>> constant_lines(const Execution &, const LineProblem &,
                                                             const CsrMatrix<double, std::int64_t> &);

} // namespace weft
