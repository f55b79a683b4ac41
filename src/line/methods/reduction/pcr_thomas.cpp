#include "line/methods/reduction/pcr_thomas.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::PcrThomas, double>;
template struct weft::Models<weft::PcrThomas, float>;
