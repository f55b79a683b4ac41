/// How the kernel of a sweep waits for what neighbours have written into the memory of this device: for compact_sweep_kernel.hpp.
#pragma once
#include <type_traits>

#include "kernels/compact_ends.hpp"
#include "kernels/compact_overlap.hpp"
#include "kernels/compact_sweep.hpp"
#if defined(KOKKOS_ENABLE_CUDA)
#include "base/cuda/peer_exchange.hpp"
#endif

namespace weft {

/// What neighbours told is there before the kernel begins, or there are none.
struct NobodyMet {
  static constexpr bool in_kernel = false;
};

#if defined(KOKKOS_ENABLE_CUDA)
namespace cuda {

/// By all threads of a team. tells: this team waits for the kernel before, and says that what neighbours need is there.
__device__ inline void meet_neighbours(bool tells, unsigned *const (&told)[2], unsigned *const (&there)[2], unsigned turn)
{
  if (tells) wait_for_previous();
  for (unsigned *const flag : told) {
    if (tells && flag) PeerWord<unsigned>(*flag).store(turn, ::cuda::memory_order_release);
  }
  for (unsigned *const flag : there) {
    if (flag) wait_for(*flag, turn, 0);
  }
}

} // namespace cuda
#endif

/// The first team says that what the kernel before has told is there, sooner than a stream would say it between them: where it is native, the kernel begins
/// while that one ends (compact_overlap.hpp). All teams that a device may begin at first wait. Others begin when one of these has ended, which had
/// seen what they need.
struct NeighboursMet {
  static constexpr bool in_kernel = true;

  unsigned *told[2], *there[2], turn; ///< flags at the neighbours before and after, and here, and their value
  Index first_teams;

  KOKKOS_INLINE_FUNCTION void wait([[maybe_unused]] Index team) const
  {
#if defined(KOKKOS_ENABLE_CUDA)
    KOKKOS_IF_ON_DEVICE((if (team < first_teams) cuda::meet_neighbours(team == 0, told, there, turn);))
#endif
  }
};

/// Whether kernels of a backend can wait for another device.
template <class Space>
inline constexpr bool meets_neighbours =
#if defined(KOKKOS_ENABLE_CUDA)
    std::is_same_v<Space, Kokkos::Cuda>;
#else
    false;
#endif

} // namespace weft
