#include "line/methods/thomas/thomas_late.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::ThomasLate, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::ThomasLate, weft::LineProblem, weft::OtherScalar>;
