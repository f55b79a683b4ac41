/// Where kernels run, for callers that include no Kokkos header: a backend (host or device) and its stream.
#pragma once
#include <memory>
#include <string>

namespace weft {

enum class Memory { host, device };

/// True if this build has kernels for arrays in `memory`.
bool has_backend(Memory memory);

/// Kokkos must run before any kernel does. started: initialized and not yet finalized. ended: finalized, which is for good.
bool kokkos_started();
bool kokkos_ended();
/// Starts Kokkos in a process where nobody else does; threads <= 0 leaves the number to OMP_NUM_THREADS. It ends when the process exits,
/// since Kokkos cannot be started twice but PETSc can.
void kokkos_start(int threads);

/// An execution-space instance: kernels launched on it run in order, with everything else on the same stream.
class Execution {
public:
  /// Host kernels, or device kernels on `stream` (a cudaStream_t or hipStream_t; null is the default stream).
  explicit Execution(Memory memory, void *stream = nullptr);
  /// Kernels beside those of `other`: on a stream of its own, which a device serves first; on a host those of `other`, in turn. A Milestone of
  /// the one can hold up the other.
  static std::unique_ptr<Execution> beside(const Execution &other);
  ~Execution();
  Execution(const Execution &)            = delete;
  Execution &operator=(const Execution &) = delete;

  Memory memory() const { return memory_; }
  void *stream() const { return stream_; }
  /// Waits for all kernels launched so far.
  void wait() const;
  /// "OpenMP, 1 thread", "Cuda", ...
  std::string name() const;

  struct Instance; ///< holds the Kokkos object; defined in backend.hpp
  const Instance &instance() const { return *instance_; }

private:
  Memory memory_;
  void *stream_;
  bool owns_stream_ = false;
  std::unique_ptr<Instance> instance_;
};

/// Kokkos objects cannot be destroyed once Kokkos has ended (an object may outlive PetscFinalize): then they are left to the process's end.
template <class T>
void destroy_or_leave(std::unique_ptr<T> &object)
{
  if (kokkos_ended()) static_cast<void>(object.release());
  object.reset();
}

} // namespace weft
