#include "line/blocks/block_thomas.hpp"

#include "line/blocks/block_method_model.hpp"

template struct weft::BlockModels<weft::BlockThomas, double>;
template struct weft::BlockModels<weft::BlockThomas, float>;
