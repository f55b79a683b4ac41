/// Whether all that a matrix holds is finite: lines read only what lies on them.
#pragma once
#include <optional>

#include "tridiagonal/line_solver.hpp"

namespace weft {

/// The first of `rows` rows that has an entry which is not finite, on a line or beside it. Reads the values once; waits for the result.
template <class Scalar, class Int>
std::optional<Index> first_row_not_finite(const Execution &execution, Index rows, const CsrMatrix<Scalar, Int> &matrix);

} // namespace weft
