#include "line/methods/wide/wide.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Wide, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Wide, weft::LineProblem, weft::OtherScalar>;
