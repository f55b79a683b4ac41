/// Owner: the pointer to a solver behind an abstract class, whose Kokkos objects may outlive Kokkos.
#pragma once
#include <any>
#include <utility>

#include "base/execution.hpp"

namespace weft {

struct DestroyOrLeave {
  DestroyOrLeave() = default;
  template <class T>
  DestroyOrLeave(const std::default_delete<T> &) ///< so that an Owner takes over a std::unique_ptr
  {
  }
  template <class T>
  void operator()(T *object) const
  {
    std::unique_ptr<T> owner(object);
    destroy_or_leave(owner);
  }
};

template <class T>
using Owner = std::unique_ptr<T, DestroyOrLeave>;

/// What a class keeps in the memory of an execution, of a type that its callers do not see.
using OwnerOfAny = Owner<std::any>;

template <class T, class... Arguments>
Owner<T> make_owner(Arguments &&...arguments)
{
  return Owner<T>(new T(std::forward<Arguments>(arguments)...));
}

} // namespace weft
