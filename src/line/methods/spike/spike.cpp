#include "line/methods/spike/spike.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Spike, double>;
template struct weft::Models<weft::Spike, float>;
