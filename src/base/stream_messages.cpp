#include "base/stream_messages.hpp"

#ifdef WEFT_HAVE_NCCL
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "base/device_places.hpp"
#include "base/kept_with.hpp"
#endif

namespace weft {

namespace {

std::string &reason()
{
  static std::string why;
  return why;
}

} // namespace

MessageWay &StreamMessages::wanted()
{
  static MessageWay way = MessageWay::automatic;
  return way;
}

const std::string &StreamMessages::why_not()
{
  return reason();
}

#ifndef WEFT_HAVE_NCCL

bool StreamMessages::built()
{
  return false;
}

const StreamMessages *StreamMessages::of(MPI_Comm)
{
  reason() = "this libweft was built without NCCL";
  return nullptr;
}

#else

namespace {

class Nccl final : public StreamMessages {
public:
  explicit Nccl(ncclComm_t ranks) : ranks_(ranks) {}
  ~Nccl() override { ncclCommDestroy(ranks_); }
  Nccl(const Nccl &)            = delete;
  Nccl &operator=(const Nccl &) = delete;

  void begin() const override { check(ncclGroupStart()); }
  void send(const void *from, std::size_t bytes, int rank, void *stream) const override
  {
    check(ncclSend(from, bytes, ncclChar, rank, ranks_, static_cast<cudaStream_t>(stream)));
  }
  void receive(void *to, std::size_t bytes, int rank, void *stream) const override
  {
    check(ncclRecv(to, bytes, ncclChar, rank, ranks_, static_cast<cudaStream_t>(stream)));
  }
  void end() const override { check(ncclGroupEnd()); }

private:
  static void check(ncclResult_t result)
  {
    if (result != ncclSuccess) throw std::runtime_error(std::string("messages by NCCL: ") + ncclGetErrorString(result));
  }
  ncclComm_t ranks_;
};

std::unique_ptr<Nccl> start(MPI_Comm communicator)
{
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  if (!device_places(communicator).apart) {
    reason() = "ranks share a device";
    return nullptr;
  }
  setenv("NCCL_NVLS_ENABLE", "0", 0); // multicast serves sums over many ranks, of which there are none here
  ncclUniqueId id;
  int here = rank > 0 || ncclGetUniqueId(&id) == ncclSuccess, all = 0;
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, communicator);
  MPI_Bcast(&here, 1, MPI_INT, 0, communicator);
  ncclComm_t ranks = nullptr;
  if (here) here = ncclCommInitRank(&ranks, size, id, rank) == ncclSuccess;
  MPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, communicator);
  if (all) return std::make_unique<Nccl>(ranks);
  if (here && ranks) ncclCommAbort(ranks);
  reason() = "NCCL did not start on all ranks";
  return nullptr;
}

} // namespace

bool StreamMessages::built()
{
  return true;
}

const StreamMessages *StreamMessages::of(MPI_Comm communicator)
{
  struct Started {
    std::unique_ptr<Nccl> messages;
  };
  int size = 1;
  if (wanted() == MessageWay::mpi) {
    reason() = "-weft_messages mpi";
    return nullptr;
  }
  MPI_Comm_size(communicator, &size);
  if (size == 1) return nullptr;
  bool first                 = false;
  const StreamMessages *kept = kept_with<Started>(communicator, [&] {
                                 first = true;
                                 return std::make_unique<Started>(Started{start(communicator)});
                               }).messages.get();
  if (first && !kept && wanted() == MessageWay::nccl) throw std::runtime_error("-weft_messages nccl: " + reason());
  return kept;
}

#endif

} // namespace weft
