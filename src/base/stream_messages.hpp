/// Messages between ranks in the order of a device's stream, by NCCL: no host waits for them.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <string>

namespace weft {

/// Which way messages of device memory go; automatic: by NCCL where it is there.
enum class MessageWay { automatic, mpi, nccl };

/// The ranks of a communicator, each with a device of its own. Between begin() and end() messages are under way together; those between two ranks
/// meet in the order in which either names them. Each throws std::runtime_error where NCCL fails.
class StreamMessages {
public:
  virtual ~StreamMessages() = default;

  /// Of a communicator, made once and freed with it; null where messages go by MPI: without NCCL at build time, on a host, where wanted() says so, or
  /// where not every rank has a device of its own that NCCL starts on. The same on all ranks. Collective the first time.
  static const StreamMessages *of(MPI_Comm communicator);
  /// What users ask for, before the first of(): that throws std::runtime_error, on all ranks, where they ask for NCCL and it does not start.
  static MessageWay &wanted();
  /// Whether this library has NCCL.
  static bool built();
  /// Why of() was null the last time that it looked, or empty.
  static const std::string &why_not();

  virtual void begin() const                                                           = 0;
  virtual void send(const void *from, std::size_t bytes, int rank, void *stream) const = 0;
  virtual void receive(void *to, std::size_t bytes, int rank, void *stream) const      = 0;
  virtual void end() const                                                             = 0;
};

} // namespace weft
