#include "base/execution.hpp"

#include <cstdlib>
#include <stdexcept>

#include "base/backend.hpp"
#include "base/vendor.hpp"

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace weft {

namespace {

DeviceBackend device_on([[maybe_unused]] void *stream)
{
#if defined(WEFT_HAVE_VENDOR)
  if (stream) return DeviceBackend(static_cast<vendor::Stream>(stream));
#endif
  return DeviceBackend();
}

} // namespace

bool has_backend(Memory memory)
{
  return memory == Memory::host || build_has_device;
}

bool kokkos_started()
{
  return Kokkos::is_initialized();
}

bool kokkos_ended()
{
  return Kokkos::is_finalized();
}

void kokkos_start(int threads)
{
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true); // they would land in the output of a program that never asked for Kokkos
  if (threads > 0) settings.set_num_threads(threads);
#if defined(KOKKOS_ENABLE_OPENMP)
  const int threads_of_the_program = omp_get_max_threads(); // Kokkos sets its own number for the whole program; it does not need it to stay
  // Kokkos counts the threads that OpenMP would start by starting them, before it looks at its settings, and they spin for some 10 ms.
  if (threads > 0) omp_set_num_threads(threads);
  Kokkos::initialize(settings);
  omp_set_num_threads(threads_of_the_program);
#else
  Kokkos::initialize(settings);
#endif
  std::atexit([] {
    if (Kokkos::is_initialized()) Kokkos::finalize();
  });
}

Execution::Execution(Memory memory, void *stream) : memory_(memory), stream_(stream)
{
  if (!has_backend(memory)) throw std::invalid_argument("this build of Weft has no device backend");
  instance_ = std::make_unique<Instance>(Instance{HostBackend(), memory == Memory::device ? device_on(stream) : DeviceBackend()});
}

std::unique_ptr<Execution> Execution::beside(const Execution &other)
{
#if defined(WEFT_HAVE_VENDOR)
  if (other.memory() == Memory::device) {
    vendor::Stream stream = nullptr;
    vendor::check(vendor::make_stream(stream), "no stream");
    auto made          = std::make_unique<Execution>(Memory::device, stream);
    made->owns_stream_ = true;
    return made;
  }
#endif
  return std::make_unique<Execution>(other.memory(), other.stream());
}

Execution::~Execution()
{
#if defined(WEFT_HAVE_VENDOR)
  const bool ended = kokkos_ended();
#endif
  destroy_or_leave(instance_);
#if defined(WEFT_HAVE_VENDOR)
  if (owns_stream_ && !ended) static_cast<void>(vendor::destroy(static_cast<vendor::Stream>(stream_)));
#endif
}

void Execution::wait() const
{
  on_backend(*this, [](const auto &space) { space.fence("weft: wait"); });
}

std::string Execution::name() const
{
  return on_backend(*this, [](const auto &space) -> std::string {
    using Space      = std::decay_t<decltype(space)>;
    std::string name = Space::name();
    if constexpr (std::is_same_v<Space, HostBackend>) {
      const int threads = space.concurrency();
      name += ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    }
    return name;
  });
}

} // namespace weft
