#include "base/rank_messages.hpp"

#include "base/kept_with.hpp"
#ifdef WEFT_HAVE_PEERS
#include "base/device_mail.hpp"
#include "base/peers_of_ranks.hpp"
#endif

namespace weft {

namespace {

struct Duplicate {
  MPI_Comm communicator = MPI_COMM_NULL;

  explicit Duplicate(MPI_Comm of) { MPI_Comm_dup(of, &communicator); }
  ~Duplicate() { MPI_Comm_free(&communicator); }
  Duplicate(const Duplicate &)            = delete;
  Duplicate &operator=(const Duplicate &) = delete;
};

} // namespace

/// Solvers share it: they talk in the same order on all ranks, and leave no message behind.
/// One for each solver would be a collective set-up for each, and communicators come and go with solvers then, which not every MPI stands.
MPI_Comm duplicate_of(MPI_Comm communicator)
{
  return kept_with<Duplicate>(communicator, [&] { return std::make_unique<Duplicate>(communicator); }).communicator;
}

RankMessages::RankMessages(MPI_Comm communicator, bool device_messages, bool on_device)
    : communicator_(duplicate_of(communicator)), on_stream_(on_device ? StreamMessages::of(communicator_) : nullptr),
      device_messages_(device_messages || on_stream_), on_device_(on_device)
{
  if (on_device && !on_stream_) why_not_ = StreamMessages::why_not();
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  requests_.reserve(2 * static_cast<std::size_t>(size_));
}

#ifdef WEFT_HAVE_PEERS
PeerMemory *RankMessages::peers() const
{
  return on_device_ && StreamMessages::wanted() == MessageWay::automatic ? peers_of(communicator_) : nullptr;
}

std::unique_ptr<PeerMail> RankMessages::mail(int inboxes, std::size_t bytes) const
{
  PeerMemory *const memory = peers();
  if (!memory) return nullptr;
  unsigned long long here = bytes, most = 0;
  MPI_Allreduce(&here, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, communicator_);
  return make_device_mail(*memory, rank_, inboxes, static_cast<std::size_t>(most));
}
#else
PeerMemory *RankMessages::peers() const
{
  return nullptr;
}

std::unique_ptr<PeerMail> RankMessages::mail(int, std::size_t) const
{
  return nullptr;
}
#endif

RankMessages::Batch::Batch(const RankMessages &messages, void *stream)
    : messages_(messages), stream_(stream), in_order_(messages.in_order_of(stream))
{
  messages_.requests_.clear();
  if (in_order_) messages_.on_stream_->begin();
}

void RankMessages::Batch::receive(void *to, std::size_t bytes, int rank) const
{
  if (in_order_)
    messages_.on_stream_->receive(to, bytes, rank, stream_);
  else // words, since bytes are more than an int counts
    MPI_Irecv(to, static_cast<int>(bytes / sizeof(float)), MPI_FLOAT, rank, 0, messages_.communicator_,
              &messages_.requests_.emplace_back());
}

void RankMessages::Batch::send(const void *from, std::size_t bytes, int rank) const
{
  if (in_order_)
    messages_.on_stream_->send(from, bytes, rank, stream_);
  else
    MPI_Isend(from, static_cast<int>(bytes / sizeof(float)), MPI_FLOAT, rank, 0, messages_.communicator_,
              &messages_.requests_.emplace_back());
}

void RankMessages::Batch::end() const
{
  if (in_order_)
    messages_.on_stream_->end();
  else
    MPI_Waitall(static_cast<int>(messages_.requests_.size()), messages_.requests_.data(), MPI_STATUSES_IGNORE);
}

void RankMessages::exchange(const std::vector<Message> &sent, const void *from, const std::vector<Message> &received, void *to,
                            std::size_t bytes, void *stream) const
{
  const auto all = [bytes](Index count) { return bytes * static_cast<std::size_t>(count); };
  const Batch batch(*this, stream);
  for (const Message &m : received) batch.receive(static_cast<char *>(to) + all(m.first), all(m.count), m.rank);
  for (const Message &m : sent) batch.send(static_cast<const char *>(from) + all(m.first), all(m.count), m.rank);
  batch.end();
}

} // namespace weft
