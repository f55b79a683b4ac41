/// The ranks that share lines, and the messages between them. No kernels: the arrays may lie wherever MPI, or NCCL, can read them.
#pragma once
#include <mpi.h>

#include <array>
#include <utility>
#include <vector>

#include "base/rank_messages.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// The lines in the order in which they travel: cut into shares of nearly equal size, the even lines of each share before its odd ones, so
/// that the lines of one colour lie together in every message.
class LineOrder {
public:
  struct Range {
    Index begin, end;
    Index size() const { return end - begin; }
  };

  LineOrder(const LineLayout &layout, int shares);

  /// Places of the lines of a share.
  Range share(int number, Colour colour) const;
  /// The place of each line.
  const std::vector<Index> &places() const { return places_; }
  /// The lines of a share, in order.
  std::vector<Index> lines(int number) const;

private:
  Index cut(int colour, int share) const { return colours_[static_cast<std::size_t>(colour)] * share / shares_; }

  int shares_;
  std::array<Index, 2> colours_{}; ///< lines of either colour
  std::vector<Index> places_;
};

/// Items that every rank sends to every other one, and the way back; each of as many words as the call says.
class Items {
public:
  /// `sent` to each rank of the communicator, `received` from each. Collective, as in Ranks.
  Items(MPI_Comm communicator, const std::vector<int> &sent, const std::vector<int> &received, bool on_device = false);

  /// As in Ranks.
  bool in_order_of(void *stream) const { return messages_.in_order_of(stream); }
  bool on_stream() const { return messages_.on_stream(); }
  /// Items lie in the order of the ranks. `stream`: that of a device's arrays; null on a host.
  template <class Scalar>
  void there(const Scalar *mine, Scalar *theirs, int words, void *stream = nullptr) const
  {
    messages_.exchange(sent_, mine, received_, theirs, sizeof(Scalar) * static_cast<std::size_t>(words), stream);
  }
  template <class Scalar>
  void back(const Scalar *theirs, Scalar *mine, int words, void *stream = nullptr) const
  {
    messages_.exchange(received_, theirs, sent_, mine, sizeof(Scalar) * static_cast<std::size_t>(words), stream);
  }
  Index smallest(Index value) const;

private:
  RankMessages messages_;
  std::vector<Message> sent_, received_; ///< on the way there
};

/// The ranks of a communicator, in the order of the rows. A rank may have no rows; the others hold the pieces of the lines, counted from 0.
class Ranks {
public:
  /// Collective. A duplicate of the communicator keeps our messages apart; it is made once, and freed with the communicator. on_device: what
  /// is sent lies in the memory of devices.
  Ranks(MPI_Comm communicator, Index length, bool ring, bool on_device = false);

  int rank() const { return messages_.rank(); }
  int size() const { return messages_.size(); }
  /// Number of pieces.
  int pieces() const { return static_cast<int>(starts_.size()); }
  /// This rank's piece; empty ranks have none.
  int piece() const { return piece_of_[static_cast<std::size_t>(rank())]; }
  bool is_empty() const { return piece() < 0; }
  /// Rows of the whole line.
  Index length() const { return length_; }
  /// Row of the whole line at which each piece starts.
  const std::vector<Index> &starts() const { return starts_; }
  bool ring() const { return ring_; }
  /// True where pieces couple to one another (or the one piece to itself).
  bool coupled() const { return pieces() > 1 || (ring_ && pieces() == 1); }
  bool has_before() const { return before_ != MPI_PROC_NULL; }
  bool has_after() const { return after_ != MPI_PROC_NULL; }

  double largest(double value) const;
  Index smallest(Index value) const;

  /// Whether what follows goes in the order of a stream: then the host need not wait for what is sent, and does not for what is received.
  bool in_order_of(void *stream) const { return messages_.in_order_of(stream); }
  /// Whether messages lie in the memory of a device for that.
  bool on_stream() const { return messages_.on_stream(); }

  // `stream`: that of a device's arrays; null on a host.

  /// What neighbours tell each other: `values` to each at to_before and to_after, as many from each. One message a neighbour.
  template <class Scalar>
  void swap(const Scalar *to_before, const Scalar *to_after, Scalar *from_before, Scalar *from_after, Index values, void *stream) const;

  /// `words` of each line from the pieces to the ranks that own the lines. Piece j's arrive in block j of `owned`, a block for each piece.
  template <class Scalar>
  void to_owners(const Scalar *mine, Scalar *owned, int words, const LineOrder &order, Colour colour, void *stream) const;
  /// The way back.
  template <class Scalar>
  void to_pieces(const Scalar *owned, Scalar *mine, int words, const LineOrder &order, Colour colour, void *stream) const;
  /// Some words of every piece, for every rank: block j from piece j.
  template <class Scalar>
  void to_all(const Scalar *mine, Scalar *all, int words, void *stream) const;

private:
  void count_words(int words, const LineOrder &order, Colour colour) const;
  /// So many words to each rank and from each, where they begin.
  template <class Scalar>
  void exchange(const Scalar *from, const std::vector<int> &sent, const std::vector<int> &sent_at, Scalar *to,
                const std::vector<int> &received, const std::vector<int> &received_at, void *stream) const;

  RankMessages messages_;
  int before_ = MPI_PROC_NULL, after_ = MPI_PROC_NULL;
  bool ring_;
  Index length_ = 0;
  std::vector<int> piece_of_; ///< of each rank, -1 for none
  std::vector<Index> starts_;
  /// Of the messages under way: words and where they start, for each rank, at the pieces' end and at the owners'.
  mutable std::vector<int> piece_words_, piece_at_, owner_words_, owner_at_;
};

} // namespace weft
