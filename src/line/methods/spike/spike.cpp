#include "line/methods/spike/spike.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Spike, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Spike, weft::LineProblem, weft::OtherScalar>;
