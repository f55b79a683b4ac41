#include "line/methods/reduction/methods.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Cr, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Cr, weft::LineProblem, weft::OtherScalar>;
template struct weft::LinesBy<weft::Pcr, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Pcr, weft::LineProblem, weft::OtherScalar>;
template struct weft::LinesBy<weft::CrPcr, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::CrPcr, weft::LineProblem, weft::OtherScalar>;
template struct weft::LinesBy<weft::PcrThomas, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::PcrThomas, weft::LineProblem, weft::OtherScalar>;
template struct weft::LinesBy<weft::CrPcrThomas, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::CrPcrThomas, weft::LineProblem, weft::OtherScalar>;
