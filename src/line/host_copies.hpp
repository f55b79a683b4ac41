/// Arrays to and from the host, in set-up. All wait.
#pragma once
#include <string>
#include <vector>

#include "line/tridiagonal.hpp"

namespace weft {

template <class Space, class T>
void copy_from_host(const Space &space, const OwnedArray<T, Space> &array, const std::vector<T> &values)
{
  Kokkos::deep_copy(space, array, Array<const T, Kokkos::HostSpace>(values.data(), values.size()));
  space.fence("weft: an array from the host");
}

template <class Space, class T>
OwnedArray<T, Space> from_host(const Space &space, const std::string &label, const std::vector<T> &values)
{
  const auto array = table<T, Space>(label, values.size());
  copy_from_host(space, array, values);
  return array;
}

/// The elements from `from` on, in the memory of the space.
template <class Space, class T>
std::vector<T> to_host(const Space &space, const T *from, Index count)
{
  std::vector<T> values(static_cast<std::size_t>(count));
  Kokkos::deep_copy(space, Array<T, Kokkos::HostSpace>(values.data(), values.size()), Array<const T, Space>(from, values.size()));
  space.fence("weft: elements to the host");
  return values;
}

template <class Space, class T>
std::vector<T> to_host(const Space &space, const OwnedArray<T, Space> &array)
{
  return to_host(space, array.data(), static_cast<Index>(array.extent(0)));
}

template <class Space, class T>
T value_at(const Space &space, const OwnedArray<T, Space> &array, Index i)
{
  T value{};
  Kokkos::deep_copy(space, Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&value), Kokkos::subview(array, i));
  space.fence("weft: a value to the host");
  return value;
}

/// The array itself where it is on the host.
template <class View>
auto host_copy(const View &array)
{
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
}

} // namespace weft
