#include "base/milestone.hpp"

#include "base/backend.hpp"
#include "base/vendor.hpp"

namespace weft {

#if defined(WEFT_HAVE_VENDOR)

namespace {

vendor::Event event_of(void *event)
{
  return static_cast<vendor::Event>(event);
}
vendor::Stream stream_of(const Execution &execution)
{
  return vendor::stream_of(execution.instance().device);
}

} // namespace

Milestone::Milestone(const Execution &execution) : execution_(execution)
{
  vendor::Event event = nullptr;
  if (execution.memory() != Memory::device) return;
  vendor::check(vendor::make_event(event, false), "no event");
  event_ = event;
}

Milestone::~Milestone()
{
  if (event_) static_cast<void>(vendor::destroy(event_of(event_)));
}

void Milestone::set()
{
  if (event_) vendor::check(vendor::record(event_of(event_), stream_of(execution_)), "an event could not be recorded");
}

void Milestone::wait() const
{
  if (event_) vendor::check(vendor::wait(event_of(event_)), "a kernel failed before an event");
}

void Milestone::hold(const Execution &later) const
{
  if (event_) vendor::check(vendor::hold(stream_of(later), event_of(event_)), "an event could not be waited for");
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
