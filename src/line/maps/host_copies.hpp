/// Arrays to and from the host, in set-up. All wait.
#pragma once
#include <string>
#include <vector>

#include "line/tridiagonal.hpp"

namespace weft {

template <class Space, class T>
OwnedArray<T, Space> from_host(const Space &space, const std::string &label, const std::vector<T> &values)
{
  const OwnedArray<T, Space> array(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), values.size());
  Kokkos::deep_copy(space, array,
                    Kokkos::View<const T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(), values.size()));
  space.fence("weft: an array from the host");
  return array;
}

/// The array itself where it is on the host.
template <class View>
auto host_copy(const View &array)
{
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
}

} // namespace weft
