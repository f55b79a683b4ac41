/// A kernel that begins while the one before it in its stream ends, natively on CUDA, sm_90 (CUDA's programmatic dependent launch): for a sweep behind the
/// kernel that tells its neighbours. The last teams of that kernel leave most of a device idle, and only the sweep's first team waits for it.
#pragma once
#include "base/backend.hpp"
#include "base/native.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "base/cuda/launch.hpp"
#endif

namespace weft {

/// By threads of a kernel: once all its teams have begun, and say so or end, the next kernel may begin on what they leave, if it is launched by
/// launch_overlapping().
KOKKOS_FORCEINLINE_FUNCTION void let_next_begin()
{
#if defined(WEFT_NATIVE_HOPPER)
  KOKKOS_IF_ON_DEVICE((asm volatile("griddepcontrol.launch_dependents;" ::: "memory");))
#endif
}

/// By threads of the next one: waits until the kernel before has ended and what it has written is there. Before that, what was there when that kernel began
/// is, so that it must be launched as usual.
KOKKOS_FORCEINLINE_FUNCTION void wait_for_previous()
{
#if defined(WEFT_NATIVE_HOPPER)
  KOKKOS_IF_ON_DEVICE((asm volatile("griddepcontrol.wait;" ::: "memory");))
#endif
}

#if defined(WEFT_NATIVE_HOPPER)
namespace cuda {

/// What a body asks of its team, as Kokkos's: a team is a warp, and a block.
class WarpTeam {
public:
  static constexpr int threads = 32;
  struct Scratch {
    void *memory;
    __device__ void *get_shmem(std::size_t) const { return memory; }
  };
  __device__ explicit WarpTeam(void *scratch) : scratch_{scratch} {}
  __device__ int league_rank() const { return static_cast<int>(blockIdx.x); }
  __device__ int team_rank() const { return static_cast<int>(threadIdx.x); }
  __device__ void team_barrier() const { __syncwarp(); }
  __device__ Scratch team_scratch(int) const { return scratch_; }

private:
  Scratch scratch_;
};

template <class Body, unsigned teams_at_once>
__global__ void __launch_bounds__(WarpTeam::threads, teams_at_once) overlapping(const __grid_constant__ Body body)
{
  extern __shared__ __align__(16) char scratch[];
  body(WarpTeam(scratch));
}

/// body(team) of so many warps, with so many bytes of scratch each, of which a multiprocessor has at least `teams_at_once` at once.
template <unsigned teams_at_once, class Body>
void launch_overlapping(const Kokkos::Cuda &space, int teams, std::size_t scratch_bytes, const Body &body)
{
  cudaLaunchAttribute overlap{};
  overlap.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim          = dim3(static_cast<unsigned>(teams));
  config.blockDim         = dim3(WarpTeam::threads);
  config.dynamicSmemBytes = scratch_bytes;
  config.stream           = space.cuda_stream();
  config.attrs            = &overlap;
  config.numAttrs         = 1;
  check_launch(cudaLaunchKernelEx(&config, overlapping<Body, teams_at_once>, body), "launch");
}

} // namespace cuda
#endif

} // namespace weft
