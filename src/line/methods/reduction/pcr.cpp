#include "line/methods/reduction/pcr.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Pcr, double>;
template struct weft::Models<weft::Pcr, float>;
