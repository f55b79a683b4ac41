#include "tridiagonal/wide.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Wide, double>;
template struct weft::Models<weft::Wide, float>;
