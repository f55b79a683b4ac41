#include "tridiagonal/cr.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Cr, double>;
template struct weft::Models<weft::Cr, float>;
