#include "line/methods/pivoted/pivoted.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Pivoted, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Pivoted, weft::LineProblem, weft::OtherScalar>;
