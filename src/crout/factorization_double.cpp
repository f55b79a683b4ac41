#include "crout/model_on.hpp"

template struct weft::CroutModels<double>;
