#include "line/methods/toeplitz/toeplitz.hpp"

#include "line/factored_lines_impl.hpp"

template struct weft::LinesBy<weft::Toeplitz, weft::LineProblem, weft::KernelScalar>;
template struct weft::LinesBy<weft::Toeplitz, weft::LineProblem, weft::OtherScalar>;
