#include "line/blocks/block_wide.hpp"

#include "line/blocks/block_method_model.hpp"

template struct weft::BlockModels<weft::BlockWide, double>;
template struct weft::BlockModels<weft::BlockWide, float>;
