#include "boxmg/ranks/mpi_ranks.hpp"

#include <limits>
#include <utility>

#include "line/ranks/distributed_line_solver.hpp"
#include "line/ranks/mpi_type.hpp"

namespace weft::boxmg {

namespace {

template <class Scalar>
void exchange_on(const StreamMessages &messages, void *stream, const std::vector<Message> &sent, const Scalar *from,
                 const std::vector<Message> &received, Scalar *to, int words)
{
  const auto bytes = [words](const Message &m) { return sizeof(Scalar) * static_cast<std::size_t>(words * m.count); };
  messages.begin();
  for (const Message &m : received) messages.receive(to + words * m.first, bytes(m), m.rank, stream);
  for (const Message &m : sent) messages.send(from + words * m.first, bytes(m), m.rank, stream);
  messages.end();
}

template <class Scalar>
void exchange_any(MPI_Comm communicator, std::vector<MPI_Request> &requests, const std::vector<Message> &sent, const Scalar *from,
                  const std::vector<Message> &received, Scalar *to, int words)
{
  const MPI_Datatype type = mpi_type<Scalar>();
  requests.clear();
  for (const Message &m : received)
    MPI_Irecv(to + words * m.first, static_cast<int>(words * m.count), type, m.rank, 0, communicator, &requests.emplace_back());
  for (const Message &m : sent)
    MPI_Isend(from + words * m.first, static_cast<int>(words * m.count), type, m.rank, 0, communicator, &requests.emplace_back());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

template <class Scalar>
std::unique_ptr<AnyLines<Scalar>> lines_of(const Execution &execution, MPI_Comm communicator, const LineProblem &piece,
                                           bool device_messages)
{
  MethodParameters parameters;
  parameters.tolerance =
      std::numeric_limits<RealOf<Scalar>>::epsilon() / 16; // what is lost in rounding: then messages go to neighbours only
  return std::make_unique<DistributedLineSolver<Scalar>>(execution, communicator, piece, "auto", parameters, device_messages);
}

} // namespace

MpiRanks::MpiRanks(MPI_Comm communicator, const Parts &parts, bool device_messages, bool on_device, std::function<void()> agree)
    : communicator_(duplicate_of(communicator)), on_stream_(on_device ? StreamMessages::of(communicator_) : nullptr),
      device_messages_(device_messages || on_stream_), agree_(std::move(agree))
{
  if (on_device && !on_stream_) why_not_ = StreamMessages::why_not();
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &size_);
  requests_.reserve(2 * static_cast<std::size_t>(size_));
  for (int d = 0, step = 1; d < 3; step *= parts.boxes(d), d++) {
    lines_[d]      = MPI_COMM_NULL;
    const int here = rank_ / step % parts.boxes(d);
    if (parts.crosses(d)) MPI_Comm_split(communicator_, rank_ - here * step, here, &lines_[d]);
  }
}

MpiRanks::~MpiRanks()
{
  int ended = 0;
  MPI_Finalized(&ended);
  for (MPI_Comm &line : lines_) {
    if (line != MPI_COMM_NULL && !ended) MPI_Comm_free(&line);
  }
}

void MpiRanks::exchange(const std::vector<Message> &sent, const KernelScalar *from, const std::vector<Message> &received, KernelScalar *to,
                        int words, void *stream) const
{
  if (in_order_of(stream))
    exchange_on(*on_stream_, stream, sent, from, received, to, words);
  else
    exchange_any(communicator_, requests_, sent, from, received, to, words);
}

void MpiRanks::exchange(const std::vector<Message> &sent, const SingleScalar *from, const std::vector<Message> &received, SingleScalar *to,
                        int words, void *stream) const
{
  if (in_order_of(stream))
    exchange_on(*on_stream_, stream, sent, from, received, to, words);
  else
    exchange_any(communicator_, requests_, sent, from, received, to, words);
}

void MpiRanks::gather(const void *mine, void *all, std::size_t bytes) const
{
  MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, communicator_);
}

void MpiRanks::from_first(void *bytes, std::size_t count) const
{
  MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, communicator_);
}

void MpiRanks::make_lines(const Execution &execution, int direction, const LineProblem &piece,
                          std::unique_ptr<AnyLines<KernelScalar>> &lines) const
{
  lines = lines_of<KernelScalar>(execution, lines_[direction], piece, device_messages_);
}

void MpiRanks::make_lines(const Execution &execution, int direction, const LineProblem &piece,
                          std::unique_ptr<AnyLines<SingleScalar>> &lines) const
{
  lines = lines_of<SingleScalar>(execution, lines_[direction], piece, device_messages_);
}

} // namespace weft::boxmg
