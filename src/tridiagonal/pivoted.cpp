#include "tridiagonal/pivoted.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Pivoted, double>;
template struct weft::Models<weft::Pivoted, float>;
