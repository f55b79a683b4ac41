#include "tridiagonal/pcr.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Pcr, double>;
template struct weft::Models<weft::Pcr, float>;
