#include "line/methods/thomas/thomas.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Thomas, weft::LineProblem, double>;
template struct weft::LinesBy<weft::Thomas, weft::LineProblem, float>;
