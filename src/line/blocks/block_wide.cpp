#include "line/blocks/block_wide.hpp"

#include "line/blocks/block_lines_impl.hpp"

template struct weft::LinesBy<weft::BlockWide, weft::BlockLines, weft::KernelScalar>;
template struct weft::LinesBy<weft::BlockWide, weft::BlockLines, weft::OtherScalar>;
