#include "line/methods/reduction/cr.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Cr, double>;
template struct weft::Models<weft::Cr, float>;
