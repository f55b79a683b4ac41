#include "line/ranks/solver_parts.hpp"

template class weft::DistributedLines<weft::LineProblem, double>;
template class weft::DistributedLines<weft::LineProblem, float>;
