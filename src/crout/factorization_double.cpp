#include "crout/factorization_impl_on.hpp"

template struct weft::CroutModels<double>;
