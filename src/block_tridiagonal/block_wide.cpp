#include "block_tridiagonal/block_wide.hpp"

#include "block_tridiagonal/block_method_model.hpp"

template struct weft::BlockModels<weft::BlockWide, double>;
template struct weft::BlockModels<weft::BlockWide, float>;
