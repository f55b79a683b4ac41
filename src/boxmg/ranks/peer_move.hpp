/// The messages of a Move as one kernel, where the devices of ranks reach each other's memory.
#pragma once
#include "base/native.hpp"
#include "boxmg/ranks/parts.hpp"
#if defined(WEFT_NATIVE_CUDA)
#include "base/cuda/peer_exchange.hpp"
#endif

namespace weft::boxmg {

/// Other devices send as GridRanks do.
template <class Space>
struct PeerMove {
  template <class Count>
  void make(const GridRanks &, const Count &)
  {
  }
  bool there() const { return false; }
  template <class From, class To>
  bool run(const Space &, const From *, To *, int, const Index *, const Index *) const
  {
    return false;
  }
};

#if defined(WEFT_NATIVE_CUDA)
template <>
class PeerMove<Kokkos::Cuda> {
public:
  /// count(from, to): elements that a rank sends another one, as every rank knows. Messages lie in the order of the ranks. Collective.
  template <class Count>
  void make(const GridRanks &ranks, const Count &count)
  {
    PeerMemory *const peers = ranks.peers();
    if (!peers) return;
    // A rank's inbox has the messages to it, and its flags their parts, in the order of the senders.
    const auto before = [&](int from, int to, const auto &size) {
      Index sum = 0;
      for (int k = 0; k < from; k++) sum += size(count(k, to));
      return sum;
    };
    const auto elements = [](Index n) { return n; };
    const auto parts    = [](Index n) { return cuda::PeerMessage::parts_of(n); };
    Index largest = 0, flags = 0;
    for (int k = 0; k < ranks.size(); k++) {
      largest = std::max(largest, before(ranks.size(), k, elements));
      flags   = std::max(flags, before(ranks.size(), k, parts));
    }
    constexpr Index most_bytes = Index(128) << 20, most_signed = Index(256) << 10; // larger ones would take too much memory; gain nothing
    const Index plain = largest * static_cast<Index>(sizeof(KernelScalar));
    if (largest == 0 || plain > most_bytes) return;
    exchange_.is_signed = plain <= most_signed;
    const Index bytes   = ((exchange_.is_signed ? 2 : 1) * plain + 255) / 256 * 256;
    ranks.agree();
    piece_ = peers->take(cuda::PeerTurns::bytes + 2 * static_cast<std::size_t>(bytes) + static_cast<std::size_t>(flags) * sizeof(unsigned));
    if (!piece_) return;
    exchange_.piece      = *piece_;
    exchange_.own        = ranks.rank();
    exchange_.turn_bytes = static_cast<std::size_t>(bytes);
    std::vector<Index> leave, arrive; // where the messages begin
    Index leaving = 0, arriving = 0;
    for (int k = 0; k < ranks.size(); k++) {
      leave.push_back(leaving), arrive.push_back(arriving);
      leaving += count(ranks.rank(), k);
      arriving += count(k, ranks.rank());
    }
    const auto message = [&](int other, int from, int to, const std::vector<Index> &begin) {
      return cuda::PeerMessage{other, begin[static_cast<std::size_t>(other)], count(from, to), before(from, to, elements),
                               before(from, to, parts)};
    };
    // The next rank first: each is written to by one at a time.
    for (int distance = 1; distance < ranks.size(); distance++) {
      const int to = (ranks.rank() + distance) % ranks.size(), from = (ranks.rank() + ranks.size() - distance) % ranks.size();
      if (count(ranks.rank(), to) > 0) exchange_.out[exchange_.sent++] = message(to, ranks.rank(), to, leave);
      if (count(from, ranks.rank()) > 0) exchange_.in[exchange_.received++] = message(from, from, ranks.rank(), arrive);
    }
  }
  bool there() const { return piece_ != nullptr; }
  /// False where it cannot, on all ranks: a piece has room for one number of each node.
  template <class From, class To>
  bool run(const Kokkos::Cuda &space, const From *from, To *to, int words, const Index *leave, const Index *arrive) const
  {
    static_assert(sizeof(To) <= sizeof(KernelScalar));
    if (!piece_ || words != 1) return false;
    if (exchange_.sent + exchange_.received > 0) cuda::launch(exchange_, from, to, leave, arrive, space.cuda_stream());
    return true;
  }

private:
  std::shared_ptr<const PeerPiece> piece_; ///< or null
  cuda::PeerExchange exchange_;
};
#endif

} // namespace weft::boxmg
