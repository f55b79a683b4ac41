#include "line/blocks/block_line_solver.hpp"

#include "base/backend.hpp"
#include "line/blocks/block_csr.hpp"
#include "line/blocks/block_select.hpp"
#include "line/method_list.hpp"

namespace weft {

template <>
struct MethodList<BlockLines> {
  using Methods                          = BlockTridiagonalMethods;
  static constexpr const char *adjective = "block-tridiagonal";

  static const char *choose(const BlockLines &lines, bool device, const MethodParameters &)
  {
    return choose_block_tridiagonal_method(lines, device);
  }
  static std::optional<std::string> shape_refused(const BlockLines &lines)
  {
    const LineLayout &layout = lines.layout;
    const Index b            = layout.components;
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
};

std::vector<const char *> block_tridiagonal_method_names()
{
  return names_of_methods<BlockLines>();
}

std::optional<std::string> block_tridiagonal_method_refuses(const std::string &method, const BlockLines &lines,
                                                            const MethodParameters &parameters)
{
  return method_refuses(method, lines, parameters);
}

template <class Scalar, class Int>
bool components_couple(const Execution &execution, const BlockLines &lines, const CsrMatrix<Scalar, Int> &matrix)
{
  return on_backend(execution, [&](const auto &space) { return components_couple(space, lines, matrix); });
}

template bool components_couple(const Execution &, const BlockLines &, const CsrMatrix<KernelScalar, std::int32_t> &);
template bool components_couple(const Execution &, const BlockLines &, const CsrMatrix<KernelScalar, std::int64_t> &);
template class FactoredLines<BlockLines, KernelScalar>;
template class FactoredLines<BlockLines, OtherScalar>;

} // namespace weft
