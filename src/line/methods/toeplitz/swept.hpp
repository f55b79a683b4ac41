/// Which lines toeplitz solves by sweeps on a host, which drop no coupling; for callers that see no kernel.
#pragma once
#include "line/line_problem.hpp"

namespace weft {

inline bool swept_by_toeplitz(Index length, const MethodParameters &parameters)
{
  return parameters.slice == 0 && parameters.partitions == 0 && length <= 16384;
}

} // namespace weft
