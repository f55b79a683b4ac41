/// Nodes that go from arrays over boxes to arrays over other boxes, within a rank by a copy and between ranks by messages: ghosts, the part of the next
/// level that a rank works on, gathered levels.
#pragma once
#include "base/messages.hpp"
#include "boxmg/box_copy.hpp"
#include "boxmg/ranks/peer_move.hpp"

namespace weft::boxmg {

/// A box of nodes in an array that is laid out over another one.
struct Placed {
  Box nodes, array;
  Index step[3]; ///< elements between neighbours along each direction

  Placed(const Box &of, const Box &in) : nodes(of), array(in), step{1, in.size(0), in.size(0) * in.size(1)} {}
  Index place(const Index (&at)[3]) const
  {
    Index sum = 0;
    for (int d = 0; d < 3; d++) sum += (at[d] - array.first[d]) * step[d];
    return sum;
  }
  /// The same nodes in the same array, as a turned grid has them.
  Placed turned(const Turn &turn) const
  {
    Placed to(nodes.turned(turn), array.turned(turn));
    for (int d = 0; d < 3; d++) to.step[d] = step[turn.direction(d)];
    return to;
  }
};

template <class Space>
class Move {
public:
  Move() = default;
  /// For each rank, what it has to give, of which each node of the grid is in one, and what it wants, also beyond the ends of a periodic
  /// direction. in_place: both are in one array, and a rank has what it owns.
  /// direct: a kernel may send by itself what is one number a node.
  Move(const GridRanks &ranks, const Grid &whole, const std::vector<Placed> &from, const std::vector<Placed> &to, bool in_place,
       bool direct = true)
      : ranks_(&ranks)
  {
    const auto own = static_cast<std::size_t>(ranks.rank());
    std::vector<Index> leave, arrive;
    for (int k = 0; k < ranks.size(); k++) {
      const auto r     = static_cast<std::size_t>(k);
      const Index sent = static_cast<Index>(leave.size()), received = static_cast<Index>(arrive.size());
      over_images(whole, [&](const Index(&by)[3], bool itself) {
        if (r == own) {
          if (!in_place || !itself) add_copy(from[own], to[own], by);
          return;
        }
        add_places(common(from[own].nodes.moved(by), to[r].nodes), from[own], to[r], from[own], by, leave);
        add_places(common(from[r].nodes.moved(by), to[own].nodes), from[r], to[own], to[own], {0, 0, 0}, arrive);
      });
      if (static_cast<Index>(leave.size()) > sent) sent_.push_back({k, sent, static_cast<Index>(leave.size()) - sent});
      if (static_cast<Index>(arrive.size()) > received) received_.push_back({k, received, static_cast<Index>(arrive.size()) - received});
    }
    leave_  = on_space(leave);
    arrive_ = on_space(arrive);
    if (!direct) return;
    peers_.make(ranks, [&](int sender, int receiver) {
      Index count = 0;
      if (sender == receiver) return count;
      over_images(whole, [&](const Index(&by)[3], bool) {
        count += common(from[static_cast<std::size_t>(sender)].nodes.moved(by), to[static_cast<std::size_t>(receiver)].nodes).nodes();
      });
      return count;
    });
  }
  /// Whether messages of one number a node are a kernel that can be recorded.
  bool is_direct() const { return peers_.there() || (sent_.empty() && received_.empty()); }

  /// `words` arrays each, so many elements apart. The first time with more words it allocates.
  template <class From, class To>
  void run(const Space &space, const From *from, To *to, int words = 1, Index from_pitch = 0, Index to_pitch = 0) const
  {
    for (const BoxCopy &copy : copies_) copy_box(space, copy, from, to, words, from_pitch, to_pitch);
    if (peers_.run(space, from, to, words, leave_.data(), arrive_.data())) return;
    if (sent_.empty() && received_.empty()) return;
    To *const out = room(out_, leave_, words, to), *const in = room(in_, arrive_, words, to);
    const auto leave = leave_, arrive = arrive_;
    Kokkos::parallel_for(
        "weft boxmg pack", range(space, static_cast<Index>(leave.size())), KOKKOS_LAMBDA(const Index i) {
          for (int w = 0; w < words; w++) out[i * words + w] = static_cast<To>(from[w * from_pitch + leave(i)]);
        });
    void *const stream = stream_of_messages(space);
    wait_to_send(space, *ranks_, "weft boxmg: before messages");
    ranks_->exchange(sent_, out, received_, in, words, stream);
    Kokkos::parallel_for(
        "weft boxmg unpack", range(space, static_cast<Index>(arrive.size())), KOKKOS_LAMBDA(const Index i) {
          for (int w = 0; w < words; w++) to[w * to_pitch + arrive(i)] = in[i * words + w];
        });
  }

private:
  /// The grid itself, and what is seen of it beyond the ends of periodic directions.
  template <class Visit>
  static void over_images(const Grid &whole, const Visit &visit)
  {
    for (int number = 0; number < 27; number++) {
      const Offset image = offset_of(number);
      Index by[3];
      bool there = true;
      for (int d = 0; d < 3; d++) {
        by[d] = image.d[d] * whole.n[d];
        there = there && (image.d[d] == 0 || whole.periodic[d]);
      }
      if (there) visit(by, number == 13);
    }
  }
  /// The places in one of two arrays of the nodes of a box, in an order that both ranks have: rows or, where the arrays have neighbours along different
  /// directions side by side, squares, of which a warp reads and writes whole memory sectors.
  static void add_places(const Box &box, const Placed &from, const Placed &to, const Placed &placed, const Index (&by)[3],
                         std::vector<Index> &places)
  {
    constexpr Index side = 8; // two sectors of double precision, one of single
    const Index count[3] = {box.size(0), box.size(1), box.size(2)};
    const int read = side_by_side(from.step, count), written = side_by_side(to.step, count);
    const int second = read != written ? written : read == 0 ? 1 : 0, third = 3 - read - second;
    const Index most[2] = {read == written ? count[read] : side, read == written ? 1 : side};
    Index at[3];
    const auto rows = [&](int d, Index begin, Index size, const auto &visit) {
      const Index end = std::min(begin + size, box.end[d]);
      for (at[d] = begin; at[d] < end; at[d]++) visit();
    };
    rows(third, box.first[third], count[third], [&] {
      for (Index j = box.first[second]; j < box.end[second]; j += most[1]) {
        for (Index i = box.first[read]; i < box.end[read]; i += most[0])
          rows(second, j, most[1], [&] {
            rows(read, i, most[0], [&] { places.push_back(placed.place({at[0] - by[0], at[1] - by[1], at[2] - by[2]})); });
          });
      }
    });
  }
  void add_copy(const Placed &from, const Placed &to, const Index (&by)[3])
  {
    const Box box = common(from.nodes.moved(by), to.nodes);
    if (box.nodes() == 0) return;
    BoxCopy copy;
    copy.from = from.place({box.first[0] - by[0], box.first[1] - by[1], box.first[2] - by[2]});
    copy.to   = to.place(box.first);
    for (int d = 0; d < 3; d++) {
      copy.count[d]     = box.size(d);
      copy.from_step[d] = from.step[d];
      copy.to_step[d]   = to.step[d];
    }
    copy.join();
    copies_.push_back(copy);
  }
  static OwnedArray<Index, Space> on_space(const std::vector<Index> &places)
  {
    OwnedArray<Index, Space> there("weft boxmg places", places.size());
    Kokkos::deep_copy(there, Array<const Index, Kokkos::HostSpace>(places.data(), places.size()));
    return there;
  }
  struct Buffer {
    Messages<Space, double> words;
    Index size = 0;
  };
  template <class To>
  To *room(Buffer &buffer, const OwnedArray<Index, Space> &places, int words, const To *) const
  {
    constexpr Index doubles = (sizeof(To) + sizeof(double) - 1) / sizeof(double); // of a number
    const Index size        = std::max<Index>(static_cast<Index>(places.size()) * words * doubles, 1);
    if (buffer.size < size) {
      buffer.words.allocate(size, ranks_->device_messages());
      buffer.size = size;
    }
    return reinterpret_cast<To *>(buffer.words.data());
  }

  const GridRanks *ranks_ = nullptr;
  std::vector<BoxCopy> copies_;
  std::vector<Message> sent_, received_;
  OwnedArray<Index, Space> leave_, arrive_; ///< places in the arrays, in the order of the messages
  PeerMove<Space> peers_;
  mutable Buffer out_, in_;
};

} // namespace weft::boxmg
