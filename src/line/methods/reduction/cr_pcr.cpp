#include "line/methods/reduction/cr_pcr.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::CrPcr, double>;
template struct weft::Models<weft::CrPcr, float>;
