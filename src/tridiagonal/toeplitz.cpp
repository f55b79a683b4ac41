#include "tridiagonal/toeplitz.hpp"

#include "tridiagonal/method_model.hpp"

template struct weft::Models<weft::Toeplitz, double>;
template struct weft::Models<weft::Toeplitz, float>;
