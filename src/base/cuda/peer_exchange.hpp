/// Messages in one kernel: elements are written into the memory of the ranks that they are for, and what these have written here is waited for and read.
#pragma once
#include <algorithm>
#include <cstring>
#include <cuda/atomic>

#include "base/cuda/launch.hpp"
#include "base/peer_memory.hpp"
#include "line/line_layout.hpp"

namespace weft::cuda {

/// At the beginning of a piece: how many messages have gone from here to each rank and come from it. Numbers go around.
struct PeerTurns {
  static constexpr std::size_t bytes = 256;

  unsigned arrived[PeerPiece::most], taken[PeerPiece::most]; ///< written by the others: messages that are here, and that they have read
  unsigned sent[PeerPiece::most], received[PeerPiece::most]; ///< before this exchange
  unsigned blocks_sent, blocks_done;                         ///< of the kernel
};
static_assert(sizeof(PeerTurns) <= PeerTurns::bytes);

/// So many elements from or for a rank, from `first` on of all that leave or arrive; on the receiving rank they begin at `inbox` of a turn's elements.
struct PeerMessage {
  int rank;
  Index first, count, inbox;
};

/// A piece has room for two turns, so that a rank writes a message while the one before is read.
struct PeerExchange {
  PeerPiece piece;
  int own = 0, sent = 0, received = 0;
  PeerMessage out[PeerPiece::most], in[PeerPiece::most];
  std::size_t turn_bytes = 0;
  bool is_signed         = false; ///< see Signed
};

template <class Word>
using PeerWord = ::cuda::atomic_ref<Word, ::cuda::thread_scope_system>;

__device__ inline PeerTurns &turns_of(char *piece)
{
  return *reinterpret_cast<PeerTurns *>(piece);
}

/// Where the elements of a message begin.
__device__ inline char *inbox_of(const PeerExchange &e, int rank, unsigned turn, Index first, std::size_t bytes)
{
  return e.piece.of[rank] + PeerTurns::bytes + (turn & 1) * e.turn_bytes + static_cast<std::size_t>(first) * bytes;
}

/// Waits until a flag is at most so many turns behind `turn`.
__device__ inline void wait_for(unsigned &flag, unsigned turn, int behind)
{
  PeerWord<unsigned> there(flag);
  while (static_cast<int>(turn - there.load(::cuda::memory_order_acquire)) > behind) {
  }
}

/// True in the last block to come.
__device__ inline bool is_last(unsigned &count)
{
  return atomicAdd(&count, 1u) == gridDim.x - 1;
}

/// Elements in halves of 8 bytes, each a word of theirs and the turn, which are written and read at once: who reads the turn has the word, and nobody waits
/// for a flag behind all of them.
template <class Scalar>
struct Signed {
  static constexpr int words         = sizeof(Scalar) / sizeof(unsigned);
  static constexpr std::size_t bytes = 2 * sizeof(Scalar);
  using Half                         = unsigned long long;

  static __device__ void write(char *inbox, Index i, Scalar value, unsigned turn)
  {
    unsigned word[words];
    memcpy(word, &value, sizeof value);
    Half *const to = reinterpret_cast<Half *>(inbox) + words * i;
    for (int w = 0; w < words; w++) PeerWord<Half>(to[w]).store(static_cast<Half>(turn) << 32 | word[w], ::cuda::memory_order_relaxed);
  }
  static __device__ Scalar read(char *inbox, Index i, unsigned turn)
  {
    unsigned word[words];
    Half *const from = reinterpret_cast<Half *>(inbox) + words * i;
    for (int w = 0; w < words; w++) {
      Half half = 0;
      do {
        half = PeerWord<Half>(from[w]).load(::cuda::memory_order_relaxed);
      } while (static_cast<unsigned>(half >> 32) != turn);
      word[w] = static_cast<unsigned>(half);
    }
    Scalar value;
    memcpy(&value, word, sizeof value);
    return value;
  }
};

/// leave, arrive: places of the elements in `from` and `to`. Blocks wait, so all must be resident at once. is_signed: elements are Signed, which takes twice
/// the room and half the time where they are few.
template <int threads, bool is_signed, class From, class To>
__global__ void __launch_bounds__(threads)
    peer_exchange(const PeerExchange e, const From *from, To *to, const Index *leave, const Index *arrive)
{
  constexpr std::size_t bytes = is_signed ? Signed<To>::bytes : sizeof(To);
  __shared__ unsigned turn_out[PeerPiece::most], turn_in[PeerPiece::most];
  PeerTurns &mine   = turns_of(e.piece.of[e.own]);
  const int t       = static_cast<int>(threadIdx.x);
  const Index first = static_cast<Index>(blockIdx.x) * threads + t, step = static_cast<Index>(gridDim.x) * threads;
  if (t < e.sent) {
    turn_out[t] = mine.sent[e.out[t].rank] + 1;
    wait_for(mine.taken[e.out[t].rank], turn_out[t], 2);
  }
  if (t < e.received) turn_in[t] = mine.received[e.in[t].rank] + 1;
  __syncthreads();
  for (int k = 0; k < e.sent; k++) {
    const PeerMessage &m = e.out[k];
    char *const inbox    = inbox_of(e, m.rank, turn_out[k], m.inbox, bytes);
    for (Index i = first; i < m.count; i += step) {
      const To value = static_cast<To>(from[leave[m.first + i]]);
      if constexpr (is_signed)
        Signed<To>::write(inbox, i, value, turn_out[k]);
      else
        reinterpret_cast<To *>(inbox)[i] = value;
    }
  }
  if constexpr (!is_signed) {
    __syncthreads();
    if (t == 0) {
      __threadfence_system(); // what this block has written is there
      if (is_last(mine.blocks_sent)) {
        mine.blocks_sent = 0;
        for (int k = 0; k < e.sent; k++)
          PeerWord<unsigned>(turns_of(e.piece.of[e.out[k].rank]).arrived[e.own]).store(turn_out[k], ::cuda::memory_order_release);
      }
    }
    if (t < e.received) wait_for(mine.arrived[e.in[t].rank], turn_in[t], 0);
    __syncthreads();
  }
  for (int k = 0; k < e.received; k++) {
    const PeerMessage &m = e.in[k];
    char *const inbox    = inbox_of(e, e.own, turn_in[k], m.inbox, bytes);
    for (Index i = first; i < m.count; i += step) {
      if constexpr (is_signed)
        to[arrive[m.first + i]] = Signed<To>::read(inbox, i, turn_in[k]);
      else
        to[arrive[m.first + i]] = reinterpret_cast<const To *>(inbox)[i];
    }
  }
  __syncthreads();
  if (t > 0) return;
  __threadfence();
  if (!is_last(mine.blocks_done)) return;
  mine.blocks_done = 0;
  for (int k = 0; k < e.sent; k++) mine.sent[e.out[k].rank] = turn_out[k];
  for (int k = 0; k < e.received; k++) {
    mine.received[e.in[k].rank] = turn_in[k];
    PeerWord<unsigned>(turns_of(e.piece.of[e.in[k].rank]).taken[e.own]).store(turn_in[k], ::cuda::memory_order_release);
  }
}

template <bool is_signed, class From, class To>
void launch_as(const PeerExchange &e, const From *from, To *to, const Index *leave, const Index *arrive, cudaStream_t stream)
{
  constexpr int threads        = 256;
  const auto kernel            = peer_exchange<threads, is_signed, From, To>;
  static const int most_blocks = launch_of<To>(kernel, threads, 0).resident;
  Index elements               = 1;
  for (int k = 0; k < e.sent; k++) elements = std::max(elements, e.out[k].count);
  for (int k = 0; k < e.received; k++) elements = std::max(elements, e.in[k].count);
  const auto blocks = static_cast<unsigned>(std::min<Index>((elements + threads - 1) / threads, most_blocks));
  kernel<<<blocks, threads, 0, stream>>>(e, from, to, leave, arrive);
  check_launch(cudaGetLastError(), "messages between devices");
}

template <class From, class To>
void launch(const PeerExchange &e, const From *from, To *to, const Index *leave, const Index *arrive, cudaStream_t stream)
{
  if (e.is_signed)
    launch_as<true>(e, from, to, leave, arrive, stream);
  else
    launch_as<false>(e, from, to, leave, arrive, stream);
}

} // namespace weft::cuda
