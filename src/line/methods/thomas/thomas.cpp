#include "line/methods/thomas/thomas.hpp"

#include "line/method_model.hpp"

template struct weft::Models<weft::Thomas, double>;
template struct weft::Models<weft::Thomas, float>;
