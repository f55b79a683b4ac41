/// The places of a box for a kernel.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/backend.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// Places (i, j, k), i fastest: no index has to be divided for them, and a team of a device reads whole lines of memory.
template <class Space>
auto box_range(const Space &space, Index nx, Index ny, Index nz)
{
  using Range = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>, Kokkos::IndexType<Index>>;
  const Kokkos::Array<Index, 3> first{0, 0, 0}, end{nx, ny, nz};
  if constexpr (std::is_same_v<Space, HostBackend>)
    return Range(space, first, end);
  else
    return Range(space, first, end, ny == 1 ? Kokkos::Array<Index, 3>{256, 1, 1} : Kokkos::Array<Index, 3>{64, 4, 1});
}

} // namespace weft
