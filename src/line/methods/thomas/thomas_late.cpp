#include "line/methods/thomas/thomas_late.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::ThomasLate, double>;
template struct weft::Models<weft::ThomasLate, float>;
