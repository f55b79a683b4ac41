#include "line/methods/pivoted/pivoted.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Pivoted, double>;
template struct weft::Models<weft::Pivoted, float>;
