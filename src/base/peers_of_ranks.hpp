/// PeerMemory of the ranks of a communicator.
#pragma once
#include <mpi.h>

#include "base/peer_memory.hpp"

namespace weft {

/// Made once for a communicator, and freed with it; null unless all ranks are on one host, each with a CUDA device of its own, and these map each other's
/// memory. The same on all ranks. Collective.
PeerMemory *peers_of(MPI_Comm communicator);

} // namespace weft
