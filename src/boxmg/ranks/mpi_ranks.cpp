#include "boxmg/ranks/mpi_ranks.hpp"

#include <limits>
#include <utility>

#include "line/ranks/distributed_line_solver.hpp"

namespace weft::boxmg {

namespace {

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
    : messages_(communicator, device_messages, on_device), peers_(messages_.peers()), agree_(std::move(agree))
{
  for (int d = 0, step = 1; d < 3; step *= parts.boxes(d), d++) {
    lines_[d]      = MPI_COMM_NULL;
    const int here = rank() / step % parts.boxes(d);
    if (parts.crosses(d)) MPI_Comm_split(messages_.communicator(), rank() - here * step, here, &lines_[d]);
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
  messages_.exchange(sent, from, received, to, sizeof(KernelScalar) * static_cast<std::size_t>(words), stream);
}

void MpiRanks::exchange(const std::vector<Message> &sent, const OtherScalar *from, const std::vector<Message> &received, OtherScalar *to,
                        int words, void *stream) const
{
  messages_.exchange(sent, from, received, to, sizeof(OtherScalar) * static_cast<std::size_t>(words), stream);
}

void MpiRanks::gather(const void *mine, void *all, std::size_t bytes) const
{
  MPI_Allgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE, messages_.communicator());
}

void MpiRanks::from_first(void *bytes, std::size_t count) const
{
  MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, 0, messages_.communicator());
}

void MpiRanks::make_lines(const Execution &execution, const Parts &parts, int direction, const LineProblem &piece,
                          std::unique_ptr<AnyLines<KernelScalar>> &lines) const
{
  lines = lines_of<KernelScalar>(execution, this->lines(parts, direction), piece, messages_.device_messages());
}

void MpiRanks::make_lines(const Execution &execution, const Parts &parts, int direction, const LineProblem &piece,
                          std::unique_ptr<AnyLines<OtherScalar>> &lines) const
{
  lines = lines_of<OtherScalar>(execution, this->lines(parts, direction), piece, messages_.device_messages());
}

} // namespace weft::boxmg
