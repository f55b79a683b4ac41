#include "tridiagonal/tpr.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Tpr, double>;
template struct weft::Models<weft::Tpr, float>;
