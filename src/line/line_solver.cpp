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

namespace {

template <class Scalar>
std::unique_ptr<LineModel<Scalar>> make_model(const Execution &execution, const LineProblem &problem, const std::string &method,
                                              const MethodParameters &parameters, Transpose transpose)
{
  std::unique_ptr<LineModel<Scalar>> model;
  for_each_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (method == Method::name) model = Models<Method, Scalar>::make(execution, problem, parameters, transpose);
  });
  return model;
}

} // namespace

template <class Scalar>
LineSolver<Scalar>::LineSolver(const Execution &execution, const LineProblem &problem, const std::string &method,
                               const MethodParameters &parameters)
    : execution_(execution), problem_(problem), parameters_(parameters),
      method_(method == "auto" ? choose_tridiagonal_method(problem, execution.memory() == Memory::device, parameters) : method)
{
  if (const auto why = tridiagonal_method_refuses(method_, problem, parameters)) throw std::invalid_argument(*why);
  model_ = make_model<Scalar>(execution, problem, method_, parameters, Transpose::no);
}

template <class Scalar>
LineSolver<Scalar>::~LineSolver()
{
  destroy_or_leave(model_);
  destroy_or_leave(transposed_);
}

template <class Scalar>
template <class Int>
void LineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix)
{
  if (problem_.coefficients != Coefficients::general) throw std::invalid_argument("only general coefficients are read from a matrix");
  model_->read(matrix);
}

template <class Scalar>
void LineSolver<Scalar>::read(const LineSolver &other)
{
  model_->read(other.model_->host_coefficients());
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
void LineSolver<Scalar>::use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper)
{
  model_->use({lower, diagonal, upper});
}

template <class Scalar>
void LineSolver<Scalar>::factor()
{
  transposed_is_factored_ = false;
  model_->factor();
}

template <class Scalar>
std::optional<LineRow> LineSolver<Scalar>::bad_pivot() const
{
  return model_->bad_pivot();
}

template <class Scalar>
LineModel<Scalar> &LineSolver<Scalar>::transposed() const
{
  if (!transposed_) transposed_ = make_model<Scalar>(execution_, problem_, method_, parameters_, Transpose::yes);
  if (!transposed_is_factored_) {
    transposed_->use(model_->pointers());
    transposed_->factor();
    transposed_is_factored_ = true;
  }
  return *transposed_;
}

template <class Scalar>
void LineSolver<Scalar>::solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  // The methods write to rhs only under update.add.
  if (options.update.add) throw std::invalid_argument("solve keeps its right-hand side: call solve_add to add to the solution");
  LineModel<Scalar> &model = options.transpose == Transpose::no ? *model_ : transposed();
  model.solve(const_cast<Scalar *>(rhs), solution, options);
}

template <class Scalar>
void LineSolver<Scalar>::solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options) const
{
  options.update.add       = true;
  LineModel<Scalar> &model = options.transpose == Transpose::no ? *model_ : transposed();
  model.solve(rhs, solution, options);
}

template <class Scalar>
void LineSolver<Scalar>::solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)
{
  if (options.update.add || options.transpose == Transpose::yes)
    throw std::invalid_argument("solve_once neither adds nor transposes: call factor and solve");
  transposed_is_factored_ = false;
  model_->solve_once(const_cast<Scalar *>(rhs), solution, options);
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
