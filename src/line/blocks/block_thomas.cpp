#include "line/blocks/block_thomas.hpp"

#include "line/blocks/block_lines_impl.hpp"

template struct weft::LinesBy<weft::BlockThomas, weft::BlockLines, weft::KernelScalar>;
template struct weft::LinesBy<weft::BlockThomas, weft::BlockLines, weft::OtherScalar>;
