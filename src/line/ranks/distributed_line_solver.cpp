#include "line/ranks/solver_parts.hpp"

template class weft::DistributedLines<weft::LineProblem, weft::KernelScalar>;
template class weft::DistributedLines<weft::LineProblem, weft::OtherScalar>;
