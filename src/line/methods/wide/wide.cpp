#include "line/methods/wide/wide.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Wide, double>;
template struct weft::Models<weft::Wide, float>;
