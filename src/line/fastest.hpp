/// The choice of `auto`, for callers that see no kernel.
#pragma once
#include "line/line_problem.hpp"

namespace weft {

/// The name of the method that LineSolver takes for `auto`: the fastest one of the measured cases of select.hpp.
const char *fastest_tridiagonal_method(const LineProblem &problem, bool device, const MethodParameters &parameters = {});

} // namespace weft
