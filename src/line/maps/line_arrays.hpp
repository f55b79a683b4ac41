/// The arrays of a LineMap. Included by kernel files only.
#pragma once
#include "base/backend.hpp"
#include "line/maps/edge.hpp"
#include "line/maps/line_map.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

template <class Space>
struct LineArrays {
  OwnedArray<RowNumber, Space> order;     ///< rows in the order of the lines
  OwnedArray<RowNumber, Space> starts;    ///< of the lines in `order`, one more than lines
  OwnedArray<std::uint8_t, Space> begins; ///< 1 at each position of `order` where a line starts
};

struct LineMap::Arrays {
  LineArrays<HostBackend> host;
  LineArrays<DeviceBackend> device;
};

/// The arrays that kernels of `Space` work on, of a LineMap::Arrays.
template <class Space, class Arrays>
auto &arrays_of(Arrays &arrays)
{
  if constexpr (is_host_space<Space>)
    return arrays.host;
  else
    return arrays.device;
}

} // namespace weft
