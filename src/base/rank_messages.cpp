#include "base/rank_messages.hpp"

#include "line/ranks/ranks.hpp"

namespace weft {

namespace {

void exchange_on(const StreamMessages &messages, void *stream, const std::vector<Message> &sent, const char *from,
                 const std::vector<Message> &received, char *to, std::size_t bytes)
{
  const auto all = [bytes](Index count) { return bytes * static_cast<std::size_t>(count); };
  messages.begin();
  for (const Message &m : received) messages.receive(to + all(m.first), all(m.count), m.rank, stream);
  for (const Message &m : sent) messages.send(from + all(m.first), all(m.count), m.rank, stream);
  messages.end();
}

} // namespace

RankMessages::RankMessages(MPI_Comm communicator, bool device_messages, bool on_device)
    : communicator_(duplicate_of(communicator)), on_stream_(on_device ? StreamMessages::of(communicator_) : nullptr),
      device_messages_(device_messages || on_stream_)
{
  if (on_device && !on_stream_) why_not_ = StreamMessages::why_not();
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  requests_.reserve(2 * static_cast<std::size_t>(size_));
}

void RankMessages::exchange(const std::vector<Message> &sent, const void *from, const std::vector<Message> &received, void *to,
                            std::size_t bytes, void *stream) const
{
  const char *const out = static_cast<const char *>(from);
  char *const in        = static_cast<char *>(to);
  if (in_order_of(stream)) {
    exchange_on(*on_stream_, stream, sent, out, received, in, bytes);
    return;
  }
  const auto words = [bytes](Index count) { return static_cast<int>(bytes / sizeof(float) * static_cast<std::size_t>(count)); };
  const auto at    = [bytes](Index first) { return bytes * static_cast<std::size_t>(first); };
  requests_.clear();
  for (const Message &m : received)
    MPI_Irecv(in + at(m.first), words(m.count), MPI_FLOAT, m.rank, 0, communicator_, &requests_.emplace_back());
  for (const Message &m : sent)
    MPI_Isend(out + at(m.first), words(m.count), MPI_FLOAT, m.rank, 0, communicator_, &requests_.emplace_back());
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

} // namespace weft
