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
std::unique_ptr<LineModel<Scalar>> BlockLineSolver<Scalar>::make(Transpose transpose) const
{
  std::unique_ptr<LineModel<Scalar>> model;
  for_each_block_tridiagonal_method([&](auto known) {
    using Method = decltype(known);
    if (method_ == Method::name) model = BlockModels<Method, Scalar>::make(this->execution_, lines_, parameters_, transpose);
  });
  return model;
}

template <class Scalar>
BlockLineSolver<Scalar>::BlockLineSolver(const Execution &execution, const BlockLines &lines, const std::string &method,
                                         const MethodParameters &parameters)
    : Base(execution, method == "auto" ? choose_block_tridiagonal_method(lines, execution.memory() == Memory::device) : method, parameters),
      lines_(lines)
{
  if (const auto why = block_tridiagonal_method_refuses(method_, lines, parameters)) throw std::invalid_argument(*why);
  model_ = make(Transpose::no);
}

template <class Scalar>
template <class Int>
void BlockLineSolver<Scalar>::read(const CsrMatrix<Scalar, Int> &matrix)
{
  model_->read(matrix);
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
