#include "tridiagonal/thomas_late.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::ThomasLate, double>;
template struct weft::Models<weft::ThomasLate, float>;
