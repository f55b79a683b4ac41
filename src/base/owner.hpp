/// Owner: the pointer to a solver behind an abstract class, whose Kokkos objects may outlive Kokkos.
#pragma once
#include <utility>

#include "base/execution.hpp"

namespace weft {

struct DestroyOrLeave {
  template <class T>
  void operator()(T *object) const
  {
    std::unique_ptr<T> owner(object);
    destroy_or_leave(owner);
  }
};

template <class T>
using Owner = std::unique_ptr<T, DestroyOrLeave>;

template <class T, class... Arguments>
Owner<T> make_owner(Arguments &&...arguments)
{
  return Owner<T>(new T(std::forward<Arguments>(arguments)...));
}

} // namespace weft
