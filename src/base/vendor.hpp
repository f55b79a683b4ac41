/// What the runtime of a device's vendor is asked for, by one name for CUDA and HIP: streams, events, memory. Included by kernel files only.
#pragma once
#include <Kokkos_Core.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace weft::vendor {

#if defined(KOKKOS_ENABLE_CUDA)

inline constexpr const char *name = "CUDA";
using Space                       = Kokkos::Cuda;
using Stream                      = cudaStream_t;
using Event                       = cudaEvent_t;
using Error                       = cudaError_t;
inline constexpr Error success    = cudaSuccess;

inline const char *message(Error error)
{
  return cudaGetErrorString(error);
}
inline Stream stream_of(const Space &space)
{
  return space.cuda_stream();
}
/// A stream that a device serves before others.
inline Error make_stream(Stream &stream)
{
  int last = 0, first = 0;
  const Error error = cudaDeviceGetStreamPriorityRange(&last, &first);
  return error == success ? cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, first) : error;
}
inline Error destroy(Stream stream)
{
  return cudaStreamDestroy(stream);
}
inline Error make_event(Event &event, bool timed)
{
  return cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming);
}
inline Error destroy(Event event)
{
  return cudaEventDestroy(event);
}
inline Error record(Event event, Stream stream)
{
  return cudaEventRecord(event, stream);
}
inline Error wait(Event event)
{
  return cudaEventSynchronize(event);
}
/// What is launched on `stream` from now on waits.
inline Error hold(Stream stream, Event event)
{
  return cudaStreamWaitEvent(stream, event, 0);
}
inline Error milliseconds(float &passed, Event from, Event to)
{
  return cudaEventElapsedTime(&passed, from, to);
}
inline Error copy_on_device(void *to, const void *from, std::size_t bytes, Stream stream)
{
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
inline Error memory(std::size_t &left, std::size_t &all)
{
  return cudaMemGetInfo(&left, &all);
}
inline const auto &properties(const Space &space)
{
  return space.cuda_device_prop();
}

#elif defined(KOKKOS_ENABLE_HIP)

inline constexpr const char *name = "HIP";
using Space                       = Kokkos::HIP;
using Stream                      = hipStream_t;
using Event                       = hipEvent_t;
using Error                       = hipError_t;
inline constexpr Error success    = hipSuccess;

inline const char *message(Error error)
{
  return hipGetErrorString(error);
}
inline Stream stream_of(const Space &space)
{
  return space.hip_stream();
}
inline Error make_stream(Stream &stream)
{
  int last = 0, first = 0;
  const Error error = hipDeviceGetStreamPriorityRange(&last, &first);
  return error == success ? hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, first) : error;
}
inline Error destroy(Stream stream)
{
  return hipStreamDestroy(stream);
}
inline Error make_event(Event &event, bool timed)
{
  return hipEventCreateWithFlags(&event, timed ? hipEventDefault : hipEventDisableTiming);
}
inline Error destroy(Event event)
{
  return hipEventDestroy(event);
}
inline Error record(Event event, Stream stream)
{
  return hipEventRecord(event, stream);
}
inline Error wait(Event event)
{
  return hipEventSynchronize(event);
}
inline Error hold(Stream stream, Event event)
{
  return hipStreamWaitEvent(stream, event, 0);
}
inline Error milliseconds(float &passed, Event from, Event to)
{
  return hipEventElapsedTime(&passed, from, to);
}
inline Error copy_on_device(void *to, const void *from, std::size_t bytes, Stream stream)
{
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}
inline Error memory(std::size_t &left, std::size_t &all)
{
  return hipMemGetInfo(&left, &all);
}
inline const auto &properties(const Space &space)
{
  return space.hip_device_prop();
}

#endif

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#define WEFT_HAVE_VENDOR // a device whose runtime the above knows

inline void check(Error error, const char *what)
{
  if (error != success) throw std::runtime_error(std::string(name) + ": " + what + ": " + message(error));
}
#endif

} // namespace weft::vendor
