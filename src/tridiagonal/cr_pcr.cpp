#include "tridiagonal/cr_pcr.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::CrPcr, double>;
template struct weft::Models<weft::CrPcr, float>;
