#include "line/methods/reduction/methods.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Cr, double>;
template struct weft::Models<weft::Cr, float>;
template struct weft::Models<weft::Pcr, double>;
template struct weft::Models<weft::Pcr, float>;
template struct weft::Models<weft::CrPcr, double>;
template struct weft::Models<weft::CrPcr, float>;
template struct weft::Models<weft::PcrThomas, double>;
template struct weft::Models<weft::PcrThomas, float>;
template struct weft::Models<weft::CrPcrThomas, double>;
template struct weft::Models<weft::CrPcrThomas, float>;
