#include "line/methods/reduction/cr_pcr_thomas.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::CrPcrThomas, double>;
template struct weft::Models<weft::CrPcrThomas, float>;
