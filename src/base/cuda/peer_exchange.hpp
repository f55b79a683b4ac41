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

  unsigned taken[PeerPiece::most];                           ///< written by the others: messages that they have read
  unsigned sent[PeerPiece::most], received[PeerPiece::most]; ///< before this exchange
  unsigned blocks_done;                                      ///< of the kernel
};
static_assert(sizeof(PeerTurns) <= PeerTurns::bytes);

/// So many elements from or for a rank, from `first` on of all that leave or arrive; on the receiving rank they begin at `inbox` of a turn's elements, and at
/// number `flag` of the flags of parts.
struct PeerMessage {
  static constexpr Index part = 2048; ///< elements

  int rank;
  Index first, count, inbox, flag;

  static constexpr Index parts_of(Index elements) { return (elements + part - 1) / part; }
};

/// A piece has room for two turns, so that a rank writes a message while the one before is read, and behind them a flag for each part of a message: the
/// turn whose elements are there. Messages stand in an order in which ranks do not all write to the same one at once.
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

/// The flag of a part.
__device__ inline unsigned &flag_of(const PeerExchange &e, int rank, Index part)
{
  return reinterpret_cast<unsigned *>(e.piece.of[rank] + PeerTurns::bytes + 2 * e.turn_bytes)[part];
}

/// Waits until a flag is at most so many turns behind `turn`.
__device__ inline void wait_for(unsigned &flag, unsigned turn, int behind)
{
  PeerWord<unsigned> there(flag);
  while (static_cast<int>(turn - there.load(::cuda::memory_order_acquire)) > behind) {
  }
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

/// The turns of a kernel's messages, in shared memory.
struct TurnsNow {
  unsigned out[PeerPiece::most], in[PeerPiece::most];

  /// By all threads of every block. What goes to a rank has room there.
  __device__ void begin(const PeerExchange &e)
  {
    PeerTurns &mine = turns_of(e.piece.of[e.own]);
    const int t     = static_cast<int>(threadIdx.x);
    if (t < e.sent) {
      out[t] = mine.sent[e.out[t].rank] + 1;
      wait_for(mine.taken[e.out[t].rank], out[t], 2);
    }
    if (t < e.received) in[t] = mine.received[e.in[t].rank] + 1;
    __syncthreads();
  }
  /// The last block says that all has been read.
  __device__ void end(const PeerExchange &e) const
  {
    PeerTurns &mine = turns_of(e.piece.of[e.own]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&mine.blocks_done, 1u) < gridDim.x - 1) return;
    mine.blocks_done = 0;
    for (int k = 0; k < e.sent; k++) mine.sent[e.out[k].rank] = out[k];
    for (int k = 0; k < e.received; k++) {
      mine.received[e.in[k].rank] = in[k];
      PeerWord<unsigned>(turns_of(e.piece.of[e.in[k].rank]).taken[e.own]).store(in[k], ::cuda::memory_order_release);
    }
  }
};

/// leave, arrive: places of the elements in `from` and `to`. Blocks wait, so all must be resident at once. Signed elements: for few of them, which take
/// twice the room and half the time.
template <int threads, class From, class To>
__global__ void __launch_bounds__(threads)
    exchange_signed(const PeerExchange e, const From *from, To *to, const Index *leave, const Index *arrive)
{
  __shared__ TurnsNow turns;
  const Index first = static_cast<Index>(blockIdx.x) * threads + threadIdx.x, step = static_cast<Index>(gridDim.x) * threads;
  turns.begin(e);
  for (int k = 0; k < e.sent; k++) {
    const PeerMessage &m = e.out[k];
    char *const inbox    = inbox_of(e, m.rank, turns.out[k], m.inbox, Signed<To>::bytes);
    for (Index i = first; i < m.count; i += step) Signed<To>::write(inbox, i, static_cast<To>(from[leave[m.first + i]]), turns.out[k]);
  }
  for (int k = 0; k < e.received; k++) {
    const PeerMessage &m = e.in[k];
    char *const inbox    = inbox_of(e, e.own, turns.in[k], m.inbox, Signed<To>::bytes);
    for (Index i = first; i < m.count; i += step) to[arrive[m.first + i]] = Signed<To>::read(inbox, i, turns.in[k]);
  }
  turns.end(e);
}

/// Elements of a part that a thread moves, of which many are under way at once. get(i), put(i, x): element i of the part.
template <int threads, class To, class Get, class Put>
__device__ void move_part(Index count, const Get &get, const Put &put)
{
  constexpr int each = static_cast<int>(PeerMessage::part / threads);
  To x[each];
#pragma unroll
  for (int j = 0; j < each; j++) {
    const Index i = static_cast<Index>(j) * threads + threadIdx.x;
    if (i < count) x[j] = get(i);
  }
#pragma unroll
  for (int j = 0; j < each; j++) {
    const Index i = static_cast<Index>(j) * threads + threadIdx.x;
    if (i < count) put(i, x[j]);
  }
}

/// The same by parts: half of the blocks write theirs, each with a flag behind it, and the other half reads what is there, so that the way between devices
/// and the one through memory overlap.
template <int threads, class From, class To>
__global__ void __launch_bounds__(threads)
    exchange_parts(const PeerExchange e, const From *from, To *to, const Index *leave, const Index *arrive)
{
  __shared__ TurnsNow turns;
  turns.begin(e);
  const auto over_parts = [block = Index(blockIdx.x) / 2, blocks = Index(gridDim.x) / 2](const PeerMessage &m, const auto &visit) {
    for (Index p = block; p < PeerMessage::parts_of(m.count); p += blocks) {
      const Index begin = p * PeerMessage::part, left = m.count - begin;
      visit(m.flag + p, begin, left < PeerMessage::part ? left : PeerMessage::part);
    }
  };
  if (blockIdx.x % 2 == 0) {
    for (int k = 0; k < e.sent; k++) {
      const PeerMessage &m = e.out[k];
      To *const inbox      = reinterpret_cast<To *>(inbox_of(e, m.rank, turns.out[k], m.inbox, sizeof(To)));
      over_parts(m, [&](Index flag, Index begin, Index count) {
        const Index *const places = leave + m.first + begin;
        move_part<threads, To>(
            count, [&](Index i) { return static_cast<To>(from[places[i]]); }, [&](Index i, To x) { inbox[begin + i] = x; });
        __syncthreads();
        if (threadIdx.x > 0) return;
        __threadfence_system(); // what this block has written is there
        PeerWord<unsigned>(flag_of(e, m.rank, flag)).store(turns.out[k], ::cuda::memory_order_release);
      });
    }
  } else {
    for (int k = 0; k < e.received; k++) {
      const PeerMessage &m  = e.in[k];
      const To *const inbox = reinterpret_cast<const To *>(inbox_of(e, e.own, turns.in[k], m.inbox, sizeof(To)));
      over_parts(m, [&](Index flag, Index begin, Index count) {
        const Index *const places = arrive + m.first + begin;
        if (threadIdx.x == 0) wait_for(flag_of(e, e.own, flag), turns.in[k], 0);
        __syncthreads();
        move_part<threads, To>(
            count, [&](Index i) { return inbox[begin + i]; }, [&](Index i, To x) { to[places[i]] = x; });
        __syncthreads();
      });
    }
  }
  turns.end(e);
}

template <class From, class To>
void launch(const PeerExchange &e, const From *from, To *to, const Index *leave, const Index *arrive, cudaStream_t stream)
{
  constexpr int threads    = 256;
  const auto kernel        = e.is_signed ? exchange_signed<threads, From, To> : exchange_parts<threads, From, To>;
  static const int most[2] = {launch_of<To>(exchange_parts<threads, From, To>, threads, 0).resident,
                              launch_of<To>(exchange_signed<threads, From, To>, threads, 0).resident};
  Index elements           = 1;
  for (int k = 0; k < e.sent; k++) elements = std::max(elements, e.out[k].count);
  for (int k = 0; k < e.received; k++) elements = std::max(elements, e.in[k].count);
  const Index blocks = e.is_signed ? std::min<Index>((elements + threads - 1) / threads, most[1])
                                   : 2 * std::min<Index>(PeerMessage::parts_of(elements), most[0] / 2);
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(e, from, to, leave, arrive);
  check_launch(cudaGetLastError(), "messages between devices");
}

} // namespace weft::cuda
