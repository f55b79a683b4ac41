/// Memory on the devices of some ranks of one host that each of them reads and writes, so that a kernel sends and receives by itself. Free of MPI and of
/// CUDA; peers_of_ranks.hpp makes it.
#pragma once
#include <cstddef>
#include <memory>

namespace weft {

/// As many bytes on each rank's device, where they are seen from here.
struct PeerPiece {
  static constexpr int most = 8; ///< ranks

  char *of[most] = {};
};

class PeerMemory {
public:
  virtual ~PeerMemory() = default;

  /// A piece full of zeros, which goes back with its last owner; null where a rank has no memory left. Waits. Collective, with the same bytes on all ranks, and
  /// in one order with what goes back.
  virtual std::shared_ptr<const PeerPiece> take(std::size_t bytes) = 0;
};

} // namespace weft
