/// What belongs to a communicator.
#pragma once
#include <mpi.h>

#include <memory>

namespace weft {

/// Made once for a communicator, by make() as a std::unique_ptr<Value>, and freed with it. One for each type of value.
template <class Value, class Make>
Value &kept_with(MPI_Comm communicator, const Make &make)
{
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID) {
    const auto free = [](MPI_Comm, int, void *value, void *) -> int {
      delete static_cast<Value *>(value);
      return MPI_SUCCESS;
    };
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free, &key, nullptr);
  }
  void *value = nullptr;
  int found   = 0;
  MPI_Comm_get_attr(communicator, key, &value, &found);
  if (!found) {
    std::unique_ptr<Value> made = make();
    value                       = made.get();
    MPI_Comm_set_attr(communicator, key, made.release());
  }
  return *static_cast<Value *>(value);
}

} // namespace weft
