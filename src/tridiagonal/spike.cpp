#include "tridiagonal/spike.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Spike, double>;
template struct weft::Models<weft::Spike, float>;
