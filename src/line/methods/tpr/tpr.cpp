#include "line/methods/tpr/tpr.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Tpr, double>;
template struct weft::Models<weft::Tpr, float>;
