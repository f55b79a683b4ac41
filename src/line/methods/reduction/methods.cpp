#include "line/methods/reduction/methods.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Cr, weft::LineProblem, double>;
template struct weft::LinesBy<weft::Cr, weft::LineProblem, float>;
template struct weft::LinesBy<weft::Pcr, weft::LineProblem, double>;
template struct weft::LinesBy<weft::Pcr, weft::LineProblem, float>;
template struct weft::LinesBy<weft::CrPcr, weft::LineProblem, double>;
template struct weft::LinesBy<weft::CrPcr, weft::LineProblem, float>;
template struct weft::LinesBy<weft::PcrThomas, weft::LineProblem, double>;
template struct weft::LinesBy<weft::PcrThomas, weft::LineProblem, float>;
template struct weft::LinesBy<weft::CrPcrThomas, weft::LineProblem, double>;
template struct weft::LinesBy<weft::CrPcrThomas, weft::LineProblem, float>;
