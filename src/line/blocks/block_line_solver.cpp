#include "line/blocks/block_line_solver.hpp"

#include <stdexcept>

#include "base/backend.hpp"
#include "line/blocks/block_csr.hpp"
#include "line/blocks/block_model.hpp"
#include "line/blocks/block_select.hpp"

namespace weft {

std::vector<const char *> block_tridiagonal_method_names()
{
  std::vector<const char *> names;
  for_each_block_tridiagonal_method([&](auto method) { names.push_back(method.name); });
  return names;
}

namespace {

std::optional<std::string> shape_refused(const LineLayout &layout)
{
  const Index b = layout.components;
  if (b < 1 || b > BlockLines::largest_block)
    return "blocks of " + std::to_string(b) + " unknowns: 1 to " + std::to_string(BlockLines::largest_block) + " are possible";
  if (layout.length < 0 || layout.across[0] < 0 || layout.across[1] < 0) return "the layout has a negative length or number of lines";
  if (layout.rows() == 0) return std::nullopt;
  if (layout.length > 1 && layout.stride <= 0) return "the stride along a line must be positive";
  const auto apart = [b](Index n, Index stride) { return n < 2 || stride % b == 0; };
  if (!apart(layout.length, layout.stride) || !apart(layout.across[0], layout.across_stride[0]) ||
      !apart(layout.across[1], layout.across_stride[1]))
    return "nodes of " + std::to_string(b) + " unknowns must be whole multiples of that apart";
  return std::nullopt;
}

template <class Scalar>
std::unique_ptr<LineModel<Scalar>> make_model(const Execution &execution, const BlockLines &lines, const std::string &method,
                                              const MethodParameters &parameters, Transpose transpose)
{
  std::unique_ptr<LineModel<Scalar>> model;
  for_each_block_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (method == Method::name) model = BlockModels<Method, Scalar>::make(execution, lines, parameters, transpose);
  });
  return model;
}

} // namespace

std::optional<std::string> block_tridiagonal_method_refuses(const std::string &method, const BlockLines &lines,
                                                            const MethodParameters &parameters)
{
  if (const auto why = shape_refused(lines.layout)) return why;
  std::optional<std::string> why = "no block-tridiagonal method is called '" + method + "'";
  for_each_block_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (method == Method::name) why = Method::refuses(lines, parameters);
  });
  return why;
}

template <class Scalar>
BlockLineSolver<Scalar>::BlockLineSolver(const Execution &execution, const BlockLines &lines, const std::string &method,
                                         const MethodParameters &parameters)
    : execution_(execution), lines_(lines), parameters_(parameters),
      method_(method == "auto" ? choose_block_tridiagonal_method(lines, execution.memory() == Memory::device) : method)
{
  if (const auto why = block_tridiagonal_method_refuses(method_, lines, parameters)) throw std::invalid_argument(*why);
  model_ = make_model<Scalar>(execution, lines, method_, parameters, Transpose::no);
}

template <class Scalar>
BlockLineSolver<Scalar>::~BlockLineSolver()
{
  destroy_or_leave(model_);
  destroy_or_leave(transposed_);
}

template <class Scalar>
template <class Int>
void BlockLineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix)
{
  model_->read(matrix);
}

template <class Scalar>
void BlockLineSolver<Scalar>::read(const BlockLineSolver &other)
{
  model_->read(other.model_->host_coefficients());
}

template <class Scalar>
void BlockLineSolver<Scalar>::use(const Scalar *lower, const Scalar *diagonal, const Scalar *upper)
{
  model_->use({lower, diagonal, upper});
}

template <class Scalar>
void BlockLineSolver<Scalar>::factor()
{
  transposed_is_factored_ = false;
  model_->factor();
}

template <class Scalar>
std::optional<LineRow> BlockLineSolver<Scalar>::bad_pivot() const
{
  return model_->bad_pivot();
}

template <class Scalar>
LineModel<Scalar> &BlockLineSolver<Scalar>::transposed() const
{
  if (!transposed_) transposed_ = make_model<Scalar>(execution_, lines_, method_, parameters_, Transpose::yes);
  if (!transposed_is_factored_) {
    transposed_->use(model_->pointers());
    transposed_->factor();
    transposed_is_factored_ = true;
  }
  return *transposed_;
}

template <class Scalar>
void BlockLineSolver<Scalar>::solve(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options) const
{
  // The methods write to rhs only under update.add.
  if (options.update.add) throw std::invalid_argument("solve keeps its right-hand side: call solve_add to add to the solution");
  LineModel<Scalar> &model = options.transpose == Transpose::no ? *model_ : transposed();
  model.solve(const_cast<Scalar *>(rhs), solution, options);
}

template <class Scalar>
void BlockLineSolver<Scalar>::solve_add(Scalar *rhs, Scalar *solution, SolveOptions<Scalar> options) const
{
  options.update.add       = true;
  LineModel<Scalar> &model = options.transpose == Transpose::no ? *model_ : transposed();
  model.solve(rhs, solution, options);
}

template <class Scalar>
void BlockLineSolver<Scalar>::solve_once(const Scalar *rhs, Scalar *solution, const SolveOptions<Scalar> &options)
{
  if (options.update.add || options.transpose == Transpose::yes)
    throw std::invalid_argument("solve_once neither adds nor transposes: call factor and solve");
  transposed_is_factored_ = false;
  model_->solve_once(const_cast<Scalar *>(rhs), solution, options);
}

template <class Scalar, class Int>
bool components_couple(const Execution &execution, const BlockLines &lines, const CsrMatrix<Scalar, Int> &matrix)
{
  return on_backend(execution, [&](const auto &space) { return components_couple(space, lines, matrix); });
}

template bool components_couple(const Execution &, const BlockLines &, const CsrMatrix<double, std::int32_t> &);
template bool components_couple(const Execution &, const BlockLines &, const CsrMatrix<double, std::int64_t> &);
template class BlockLineSolver<double>;
template class BlockLineSolver<float>;
template void BlockLineSolver<double>::read(const CsrMatrix<double, std::int32_t> &);
template void BlockLineSolver<double>::read(const CsrMatrix<double, std::int64_t> &);
template void BlockLineSolver<float>::read(const CsrMatrix<float, std::int32_t> &);
template void BlockLineSolver<float>::read(const CsrMatrix<float, std::int64_t> &);

} // namespace weft
