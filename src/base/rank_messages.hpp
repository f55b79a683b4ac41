/// Messages between the ranks of a communicator: by MPI, and between devices by NCCL where that is there.
#pragma once
#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "base/peer_mail.hpp"
#include "base/peer_memory.hpp"
#include "base/stream_messages.hpp"

namespace weft {

/// The duplicate that is attached to a communicator, for our messages alone. Collective the first time; freed with the communicator.
MPI_Comm duplicate_of(MPI_Comm communicator);

class RankMessages {
public:
  /// device_messages: MPI reads and writes the memory of devices. on_device: what is sent lies there, or where a device's kernels can write. Collective.
  RankMessages(MPI_Comm communicator, bool device_messages, bool on_device);

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// For these messages alone; freed with the one that it was made of.
  MPI_Comm communicator() const { return communicator_; }
  /// Whether messages can lie in the memory of a device.
  bool device_messages() const { return device_messages_; }
  /// Whether they can go in the order of a stream.
  bool on_stream() const { return on_stream_ != nullptr; }
  /// Memory of the ranks' devices that they all reach, where these lie there and users leave the way of messages to us; else null. Collective the first
  /// time.
  PeerMemory *peers() const;
  /// So many inboxes on each rank, of the most bytes that one asks for, in such memory, where there is some; else null.
  /// Collective.
  std::unique_ptr<PeerMail> mail(int inboxes, std::size_t bytes) const;
  /// What carries them, for people.
  std::string way() const { return on_stream_ ? "by NCCL" : "by MPI" + (why_not_.empty() ? "" : ", as " + why_not_); }
  /// Whether exchange() on a stream sends in its order: then the host need not wait for what is sent, and does not for what is received.
  bool in_order_of(void *stream) const { return stream && on_stream_; }

  /// Messages that are under way together, on a stream; null on a host. Those between two ranks meet in the order in which either names them.
  class Batch {
  public:
    Batch(const RankMessages &messages, void *stream);
    /// So many bytes, a multiple of four.
    void receive(void *to, std::size_t bytes, int rank) const;
    void send(const void *from, std::size_t bytes, int rank) const;
    /// Waits for them, unless they go in the order of the stream.
    void end() const;

  private:
    const RankMessages &messages_;
    void *stream_;
    bool in_order_;
  };

  /// Sends and receives elements of so many bytes, a multiple of four, on a stream; null on a host. Collective.
  void exchange(const std::vector<Message> &sent, const void *from, const std::vector<Message> &received, void *to, std::size_t bytes,
                void *stream) const;

private:
  MPI_Comm communicator_;
  const StreamMessages *on_stream_; ///< or null
  std::string why_not_;
  int rank_ = 0, size_ = 1;
  bool device_messages_;
  [[maybe_unused]] bool on_device_; ///< where devices reach each other alone
  mutable std::vector<MPI_Request> requests_; ///< of messages under way
};

} // namespace weft
