/// MethodLines of blocks: what factored_lines_impl.hpp asks of them. Included by METHOD.cpp only.
#pragma once
#include "line/blocks/block_csr.hpp"
#include "line/blocks/block_line_solver.hpp"
#include "line/blocks/block_tridiagonal.hpp"
#include "line/factored_lines_impl.hpp"

namespace weft {

template <class Form, class Space, class Scalar, int b>
auto plan_for(const BlockTridiagonal<Scalar, Space, b> &matrix, const MethodParameters &parameters)
{
  return Form::template plan<Space, Scalar, b>(matrix.problem, parameters);
}

/// Goes down from the largest block to that of the lines.
template <class Method, class Scalar, class Space, int b = BlockLines::largest_block>
std::unique_ptr<BlockLineSolver<Scalar>> lines_on(const Execution &execution, const Space &space, const BlockLines &lines,
                                                  const MethodParameters &parameters)
{
  if (lines.layout.components == b)
    return std::make_unique<MethodLines<Method, Space, Scalar, BlockTridiagonal<Scalar, Space, b>>>(execution, space, lines, parameters);
  if constexpr (b > 1)
    return lines_on<Method, Scalar, Space, b - 1>(execution, space, lines, parameters);
  else
    return nullptr;
}

} // namespace weft
