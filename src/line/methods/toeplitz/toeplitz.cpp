#include "line/methods/toeplitz/toeplitz.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Toeplitz, double>;
template struct weft::Models<weft::Toeplitz, float>;
