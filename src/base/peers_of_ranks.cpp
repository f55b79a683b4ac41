#include "base/peers_of_ranks.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/device_places.hpp"
#include "base/kept_with.hpp"

namespace weft {

namespace {

/// Memory that CUDA maps between processes, in blocks that pieces are cut from.
class CudaPeers final : public PeerMemory, public std::enable_shared_from_this<CudaPeers> {
public:
  explicit CudaPeers(MPI_Comm communicator) : communicator_(communicator)
  {
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &size_);
  }
  ~CudaPeers() override
  {
    for (const Block &block : blocks_) close(block);
    MPI_Barrier(communicator_); // what is mapped elsewhere must not go
    for (const Block &block : blocks_) static_cast<void>(cudaFree(block.whole.of[rank_]));
  }
  CudaPeers(const CudaPeers &)            = delete;
  CudaPeers &operator=(const CudaPeers &) = delete;

  std::shared_ptr<const PeerPiece> take(std::size_t bytes) override
  {
    constexpr std::size_t whole_lines = 256;
    bytes                             = (bytes + whole_lines - 1) / whole_lines * whole_lines;
    std::vector<PeerPiece> &back      = back_[bytes];
    auto piece                        = std::make_unique<PeerPiece>();
    if (!back.empty()) {
      *piece = back.back();
      back.pop_back();
      if (!everywhere(cudaDeviceSynchronize() == cudaSuccess)) return nullptr; // what was under way is there, or read
      const bool empty = cudaMemset(piece->of[rank_], 0, bytes) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
      if (!everywhere(empty)) return nullptr;
    } else {
      if ((blocks_.empty() || blocks_.back().used + bytes > blocks_.back().bytes) && !add_block(bytes)) return nullptr;
      Block &block = blocks_.back();
      for (int r = 0; r < size_; r++) piece->of[r] = block.whole.of[r] + block.used;
      block.used += bytes;
    }
    const auto goes_back = [peers = weak_from_this(), bytes](const PeerPiece *its) {
      if (const auto there = peers.lock()) there->back_[bytes].push_back(*its);
      delete its;
    };
    return std::shared_ptr<const PeerPiece>(piece.release(), goes_back);
  }

private:
  struct Block {
    PeerPiece whole;
    std::size_t bytes = 0, used = 0;
  };

  bool everywhere(bool here) const
  {
    int mine = here, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, communicator_);
    return all != 0;
  }
  void close(const Block &block) const
  {
    for (int r = 0; r < size_; r++) {
      if (r != rank_ && block.whole.of[r]) static_cast<void>(cudaIpcCloseMemHandle(block.whole.of[r]));
    }
  }
  bool add_block(std::size_t bytes)
  {
    constexpr std::size_t least = std::size_t(8) << 20;
    Block block;
    block.bytes    = std::max(bytes, least);
    void *own      = nullptr;
    bool all_right = cudaMalloc(&own, block.bytes) == cudaSuccess && cudaMemset(own, 0, block.bytes) == cudaSuccess &&
                     cudaDeviceSynchronize() == cudaSuccess;
    block.whole.of[rank_] = static_cast<char *>(own);
    cudaIpcMemHandle_t mine{};
    all_right = all_right && cudaIpcGetMemHandle(&mine, own) == cudaSuccess;
    std::vector<cudaIpcMemHandle_t> all(static_cast<std::size_t>(size_));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, communicator_);
    if (everywhere(all_right)) {
      for (int r = 0; r < size_ && all_right; r++) {
        void *theirs = nullptr;
        if (r == rank_) continue;
        all_right = cudaIpcOpenMemHandle(&theirs, all[static_cast<std::size_t>(r)], cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
        if (all_right) block.whole.of[r] = static_cast<char *>(theirs);
      }
      if (everywhere(all_right)) {
        blocks_.push_back(block);
        return true;
      }
    }
    static_cast<void>(cudaGetLastError());
    close(block);
    MPI_Barrier(communicator_);
    if (own) static_cast<void>(cudaFree(own));
    return false;
  }

  MPI_Comm communicator_;
  int rank_ = 0, size_ = 1;
  std::vector<Block> blocks_;
  std::map<std::size_t, std::vector<PeerPiece>> back_; ///< pieces that came back, by their bytes
};

} // namespace

PeerMemory *peers_of(MPI_Comm communicator)
{
  using Peers = std::shared_ptr<CudaPeers>; // or null
  int size    = 1;
  MPI_Comm_size(communicator, &size);
  if (size == 1 || size > PeerPiece::most) return nullptr;
  const auto start = [&] {
    Peers peers;
    const DevicePlaces places = device_places(communicator);
    if (places.apart && places.one_host) peers = std::make_shared<CudaPeers>(communicator);
    if (peers && !peers->take(1)) peers.reset(); // no memory is mapped
    return std::make_unique<Peers>(peers);
  };
  return kept_with<Peers>(communicator, start).get();
}

} // namespace weft
