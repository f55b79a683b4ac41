#include "line/ranks/solver_parts.hpp"

template class weft::DistributedLines<weft::BlockLines, weft::OtherScalar>;
