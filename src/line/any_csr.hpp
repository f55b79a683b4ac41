/// AnyCsr: a CSR matrix whose columns are numbers of either size, for interfaces that are virtual.
#pragma once
#include <variant>

#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
using AnyCsr = std::variant<CsrMatrix<Scalar, std::int32_t>, CsrMatrix<Scalar, std::int64_t>>;

} // namespace weft
