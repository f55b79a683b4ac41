#include "line/methods/thomas/thomas.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Thomas, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Thomas, weft::LineProblem, weft::OtherScalar>;
