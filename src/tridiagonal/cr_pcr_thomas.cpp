#include "tridiagonal/cr_pcr_thomas.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::CrPcrThomas, double>;
template struct weft::Models<weft::CrPcrThomas, float>;
