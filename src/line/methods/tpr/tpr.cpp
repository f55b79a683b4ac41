#include "line/methods/tpr/tpr.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Tpr, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Tpr, weft::LineProblem, weft::OtherScalar>;
