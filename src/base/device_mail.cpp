#include "base/device_mail.hpp"

#include <cuda.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "base/cuda/peer_exchange.hpp"

namespace weft {

namespace {

struct WaitedFor {
  unsigned *last[PeerPiece::most]; ///< messages' numbers
  int count = 0;
};

__global__ void wait_for_all(const WaitedFor all, unsigned turn)
{
  if (static_cast<int>(threadIdx.x) < all.count) cuda::wait_for(*all.last[threadIdx.x], turn, 0);
}

/// A piece has the turns of the inboxes' last messages at its beginning, each in a line of memory of its own, and behind them the inboxes, of two turns.
class CudaMail final : public PeerMail {
public:
  static constexpr std::size_t line = 256;

  CudaMail(std::shared_ptr<const PeerPiece> piece, int own, int inboxes, std::size_t bytes)
      : piece_(std::move(piece)), own_(own), inboxes_(static_cast<std::size_t>(inboxes)), begin_(inboxes_ * line), bytes_(bytes)
  {
  }

  void next_turn() override { turn_++; }
  unsigned turn() const override { return turn_; }
  void *inbox(int rank, int number) const override
  {
    return piece_->of[rank] + begin_ + ((turn_ & 1) * inboxes_ + static_cast<std::size_t>(number)) * bytes_;
  }
  void tell(int rank, int number, void *stream) const override
  {
    check(cuStreamWriteValue32(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(flag(rank, number)), turn_,
                               CU_STREAM_WRITE_VALUE_DEFAULT));
  }
  unsigned *flag(int rank, int number) const override
  {
    return reinterpret_cast<unsigned *>(piece_->of[rank] + static_cast<std::size_t>(number) * line);
  }
  // By a kernel, which sees a number sooner than the stream would.
  void wait(std::initializer_list<int> numbers, void *stream) const override
  {
    WaitedFor all;
    for (const int number : numbers) all.last[all.count++] = flag(own_, number);
    if (all.count == 0) return;
    wait_for_all<<<1, PeerPiece::most, 0, static_cast<cudaStream_t>(stream)>>>(all, turn_);
    cuda::check_launch(cudaGetLastError(), "messages between devices");
  }

private:
  static void check(CUresult result)
  {
    if (result == CUDA_SUCCESS) return;
    const char *words = nullptr;
    cuGetErrorString(result, &words);
    throw std::runtime_error(std::string("messages between devices: ") + (words ? words : "unknown error"));
  }

  std::shared_ptr<const PeerPiece> piece_;
  int own_;
  std::size_t inboxes_, begin_, bytes_; ///< where the inboxes begin
  unsigned turn_ = 0;
};

} // namespace

std::unique_ptr<PeerMail> make_device_mail(PeerMemory &memory, int own, int inboxes, std::size_t bytes)
{
  const std::size_t whole = (bytes + CudaMail::line - 1) / CudaMail::line * CudaMail::line, count = static_cast<std::size_t>(inboxes);

  std::shared_ptr<const PeerPiece> piece = memory.take(count * (CudaMail::line + 2 * whole));
  return piece ? std::make_unique<CudaMail>(std::move(piece), own, inboxes, whole) : nullptr;
}

} // namespace weft
