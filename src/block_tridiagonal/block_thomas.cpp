#include "block_tridiagonal/block_thomas.hpp"

#include "block_tridiagonal/block_method_model.hpp"

template struct weft::BlockModels<weft::BlockThomas, double>;
template struct weft::BlockModels<weft::BlockThomas, float>;
