/// Where the ranks of a communicator have their devices.
#pragma once
#include <mpi.h>

namespace weft {

struct DevicePlaces {
  bool apart    = false; ///< each rank has a device, and no two the same
  bool one_host = false;
};

/// The same on all ranks. Collective.
DevicePlaces device_places(MPI_Comm communicator);

} // namespace weft
