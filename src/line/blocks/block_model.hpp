/// BlockModels: the LineModel of a method for block-tridiagonal lines, made for the block size of the lines. block_method_model.hpp defines
/// it, and METHOD.cpp instantiates it, one file per method.
#pragma once
#include "line/blocks/block_lines.hpp"
#include "line/model.hpp"

namespace weft {

template <class Method, class Scalar>
struct BlockModels {
  static std::unique_ptr<LineModel<Scalar>> make(const Execution &execution, const BlockLines &lines, const MethodParameters &parameters,
                                                 Transpose transpose);
};

} // namespace weft
