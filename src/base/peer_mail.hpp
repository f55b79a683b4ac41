/// PeerMail: kernels write what another rank needs straight into the memory of its device, and streams tell when it is there. Free of MPI and of CUDA;
/// RankMessages makes it.
#pragma once
#include <cstddef>
#include <initializer_list>

namespace weft {

/// Inboxes on the device of each rank. A turn of messages: next_turn(); kernels of a stream write to inboxes of other ranks; tell() in the same stream;
/// wait(), and kernels behind it read. No host waits. A kernel behind the one that writes may do what tell() and wait() do, by the flags of inboxes, which are
/// at least turn() when its messages are there.
///
/// Each inbox has room for two turns, and nobody says that it has been read. So the ranks of a message must send each other one in every turn, and what
/// streams read of a turn must come before what they send in the next one: who has the message of a turn then knows that the one before has been read.
class PeerMail {
public:
  virtual ~PeerMail() = default;

  virtual void next_turn()      = 0;
  virtual unsigned turn() const = 0;
  /// Where an inbox of a rank is, in this turn.
  virtual void *inbox(int rank, int number) const = 0;
  /// Behind what the stream has written to an inbox of a rank: it is there.
  virtual void tell(int rank, int number, void *stream) const = 0;
  /// Where it says so.
  virtual unsigned *flag(int rank, int number) const = 0;
  /// The stream waits until inboxes of this rank have this turn's messages.
  virtual void wait(std::initializer_list<int> numbers, void *stream) const = 0;
};

} // namespace weft
