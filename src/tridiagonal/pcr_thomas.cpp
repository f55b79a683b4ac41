#include "tridiagonal/pcr_thomas.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::PcrThomas, double>;
template struct weft::Models<weft::PcrThomas, float>;
