/// Launches that are the same each time, on a device as one: a CUDA graph of them.
#pragma once
#include <stdexcept>
#include <string>

#include "base/backend.hpp"
#include "base/native.hpp"

namespace weft::boxmg {

/// On a host there is nothing to gain, and other devices launch one by one.
template <class Space>
struct Replay {
  static constexpr bool there = false;

  void forget() {}
  template <class Body>
  void run(const Space &, const Space &, bool, const Body &body)
  {
    body();
  }
};

#if defined(WEFT_NATIVE_CUDA)
template <>
class Replay<Kokkos::Cuda> {
public:
  static constexpr bool there = true;

  Replay()                          = default;
  Replay(const Replay &)            = delete;
  Replay &operator=(const Replay &) = delete;
  ~Replay() { forget(); }

  /// To be called when the launches are others, or may be.
  void forget()
  {
    if (graph_ && !kokkos_ended()) static_cast<void>(cudaGraphExecDestroy(graph_));
    graph_ = nullptr;
  }
  /// Does what body() launches on the stream of `recorded`, in order with the stream of `here`. The first time it is recorded, which runs
  /// nothing and needs a stream that is not the default one. Unless it is the same each time, body() is called and waited for.
  template <class Body>
  void run(const Kokkos::Cuda &here, const Kokkos::Cuda &recorded, bool same, const Body &body)
  {
    if (!same) {
      here.fence("weft boxmg: before the coarser levels");
      body();
      recorded.fence("weft boxmg: the coarser levels");
      return;
    }
    if (!graph_) record(recorded.cuda_stream(), body);
    check(cudaGraphLaunch(graph_, here.cuda_stream()), "launched");
  }

private:
  template <class Body>
  void record(cudaStream_t stream, const Body &body)
  {
    cudaGraph_t launches = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begun");
    try {
      body();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream, &launches));
      if (launches) static_cast<void>(cudaGraphDestroy(launches));
      throw;
    }
    check(cudaStreamEndCapture(stream, &launches), "ended");
    const cudaError_t made = cudaGraphInstantiate(&graph_, launches, 0);
    static_cast<void>(cudaGraphDestroy(launches));
    check(made, "made");
  }
  static void check(cudaError_t error, const char *what)
  {
    if (error != cudaSuccess)
      throw std::runtime_error(std::string("boxmg: a CUDA graph could not be ") + what + ": " + cudaGetErrorString(error));
  }

  cudaGraphExec_t graph_ = nullptr;
};
#endif

} // namespace weft::boxmg
