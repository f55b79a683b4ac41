#include "base/milestone.hpp"

#include <stdexcept>

#include "base/backend.hpp"

namespace weft {

#if defined(KOKKOS_ENABLE_CUDA)

Milestone::Milestone(const Execution &execution) : execution_(execution)
{
  cudaEvent_t event = nullptr;
  if (execution.memory() != Memory::device) return;
  if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) throw std::runtime_error("CUDA gives no event");
  event_ = event;
}

Milestone::~Milestone()
{
  if (event_) static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(event_)));
}

void Milestone::set()
{
  if (event_ && cudaEventRecord(static_cast<cudaEvent_t>(event_), execution_.instance().device.cuda_stream()) != cudaSuccess)
    throw std::runtime_error("CUDA could not record an event");
}

void Milestone::wait() const
{
  if (event_ && cudaEventSynchronize(static_cast<cudaEvent_t>(event_)) != cudaSuccess)
    throw std::runtime_error("a kernel failed before an event");
}

void Milestone::hold(const Execution &later) const
{
  if (event_ && cudaStreamWaitEvent(later.instance().device.cuda_stream(), static_cast<cudaEvent_t>(event_), 0) != cudaSuccess)
    throw std::runtime_error("CUDA could not wait for an event");
}

#else

Milestone::Milestone(const Execution &execution) : execution_(execution) {}
Milestone::~Milestone() = default;
void Milestone::set() {}
void Milestone::wait() const
{
  execution_.wait();
}
void Milestone::hold(const Execution &) const {} // kernels of all executions go in turn

#endif

} // namespace weft
