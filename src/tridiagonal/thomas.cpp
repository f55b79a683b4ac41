#include "tridiagonal/thomas.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Thomas, double>;
template struct weft::Models<weft::Thomas, float>;
