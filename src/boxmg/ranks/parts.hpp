/// Grids that several ranks share: which box of nodes each owns, and the larger one, with ghosts, that it works on. Free of Kokkos and of MPI.
///
/// A rank works on its extended box as on a grid of its own: where that ends and the whole grid goes on, kernels take it for an end, and what they make
/// beside it is wrong; messages put right what is read. So there are two ghost nodes on such a side, or three: extended boxes begin and end at
/// even places of the whole grid, so that colours and coarse nodes are those of the whole grid.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "base/kernel_scalar.hpp"
#include "base/message.hpp"
#include "base/peer_memory.hpp"
#include "boxmg/turn.hpp"
#include "line/any_lines.hpp"

namespace weft::boxmg {

/// Nodes first[d] <= place < end[d] of a grid, or of one that goes on beyond the ends of a periodic one.
struct Box {
  Index first[3] = {0, 0, 0}, end[3] = {0, 0, 0};

  Index size(int d) const { return std::max<Index>(end[d] - first[d], 0); }
  Index nodes() const { return size(0) * size(1) * size(2); }
  Box moved(const Index (&by)[3]) const
  {
    Box box = *this;
    for (int d = 0; d < 3; d++) box.first[d] += by[d], box.end[d] += by[d];
    return box;
  }
  Box turned(const Turn &turn) const
  {
    Box box;
    for (int d = 0; d < 3; d++) box.first[d] = first[turn.direction(d)], box.end[d] = end[turn.direction(d)];
    return box;
  }
  friend Box common(const Box &a, const Box &b)
  {
    Box box;
    for (int d = 0; d < 3; d++) box.first[d] = std::max(a.first[d], b.first[d]), box.end[d] = std::min(a.end[d], b.end[d]);
    return box;
  }
};

/// A grid in boxes. Ranks are numbered along x first, then along y, then along z.
struct Parts {
  static constexpr Index ghosts = 2; ///< at least so many on a side where the whole grid goes on

  Grid whole;
  std::vector<Index> starts[3]; ///< where the boxes begin along each direction, and where the last one ends
  bool on_first = false;        ///< the first rank has all of it, whatever `starts` say

  friend bool operator==(const Parts &, const Parts &) = default;

  int boxes(int d) const { return on_first ? 1 : static_cast<int>(starts[d].size()) - 1; }
  bool crosses(int d) const { return boxes(d) > 1; }
  bool cut_once() const { return crosses(0) + crosses(1) + crosses(2) == 1; }
  int ranks() const { return boxes(0) * boxes(1) * boxes(2); }
  Box owned(int rank) const
  {
    Box box;
    if (on_first) {
      for (int d = 0; d < 3; d++) box.end[d] = rank == 0 ? whole.n[d] : 0;
      return box;
    }
    for (int d = 0; d < 3; rank /= boxes(d), d++) {
      const auto at = static_cast<std::size_t>(rank % boxes(d));
      box.first[d]  = starts[d][at];
      box.end[d]    = starts[d][at + 1];
    }
    return box;
  }
  Box extended(int rank) const
  {
    Box box = owned(rank);
    for (int d = 0; d < 3; d++) {
      if (!crosses(d)) continue;
      box.first[d] = (box.first[d] - ghosts) & ~Index(1);
      box.end[d]   = (box.end[d] + ghosts) | Index(1);
      if (whole.periodic[d]) continue;
      box.first[d] = std::max<Index>(box.first[d], 0);
      box.end[d]   = std::min(box.end[d], whole.n[d]);
    }
    return box;
  }
  /// A rank's extended box as a grid.
  Grid grid_of(int rank) const
  {
    const Box box = extended(rank);
    Grid grid;
    for (int d = 0; d < 3; d++) {
      grid.n[d]        = box.size(d);
      grid.periodic[d] = whole.periodic[d] && !crosses(d);
    }
    return grid;
  }
  /// The even nodes, each on the rank that has it.
  Parts coarse(Directions coarsened) const
  {
    Parts parts = *this;
    parts.whole = boxmg::coarse(whole, coarsened);
    for (int d = 0; d < 3; d++) {
      if (!has(coarsened, d)) continue;
      for (Index &start : parts.starts[d]) start = (start + 1) / 2;
    }
    return parts;
  }
  Parts gathered() const
  {
    Parts parts    = *this;
    parts.on_first = true;
    return parts;
  }
  /// The same boxes of a turned grid. At most one direction is cut, so that ranks keep their numbers.
  Parts turned(const Turn &turn) const
  {
    Parts parts = *this;
    parts.whole = turn.grid(whole);
    for (int d = 0; d < 3; d++) parts.starts[d] = starts[turn.direction(d)];
    return parts;
  }
  /// The same grid in boxes of whole lines along a direction, side by side along the longest of the others; nothing where that has fewer than eight nodes
  /// for each of the ranks.
  std::optional<Parts> whole_along(int direction) const
  {
    const Index count = ranks();
    int across        = -1;
    for (int d = 0; d < 3; d++) {
      if (d != direction && (across < 0 || whole.n[d] > whole.n[across])) across = d;
    }
    if (whole.n[across] < 8 * count) return std::nullopt;
    Parts parts;
    parts.whole = whole;
    for (int d = 0; d < 3; d++) parts.starts[d] = {0, whole.n[d]};
    parts.starts[across].clear();
    for (Index k = 0; k <= count; k++) parts.starts[across].push_back(whole.n[across] * k / count);
    return parts.can_be_shared() ? std::optional(parts) : std::nullopt;
  }
  /// Whether ranks can work on it side by side: each has nodes, and even places are even ones all around a ring.
  bool can_be_shared() const
  {
    for (int d = 0; d < 3; d++) {
      if (!crosses(d)) continue;
      if (whole.periodic[d] && (whole.n[d] % 2 != 0 || whole.n[d] < 8)) return false;
      for (std::size_t k = 1; k < starts[d].size(); k++) {
        if (starts[d][k] <= starts[d][k - 1]) return false;
      }
    }
    return true;
  }
};

/// The ranks that share a grid, and what they tell each other. Each function is collective, but agree(), of which each is told by itself.
class GridRanks {
public:
  virtual ~GridRanks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether messages can lie in the memory of a device.
  virtual bool device_messages() const = 0;
  /// What carries messages between devices, for people.
  virtual std::string way() const = 0;
  /// Memory that the devices of all ranks reach, or null.
  virtual PeerMemory *peers() const { return nullptr; }
  /// To be called before collective work in a set-up, where one rank may have failed on its way: throws then, on all.
  virtual void agree() const = 0;

  /// Whether exchange() on a stream sends in its order: then the host need not wait for what is sent, and does not for what is received.
  virtual bool in_order_of(void *stream) const = 0;
  /// Sends and receives, `words` of each node, in the order in which nodes are sent or received, on a stream; null on a host.
  virtual void exchange(const std::vector<Message> &sent, const KernelScalar *from, const std::vector<Message> &received, KernelScalar *to,
                        int words, void *stream) const = 0;
  virtual void exchange(const std::vector<Message> &sent, const OtherScalar *from, const std::vector<Message> &received, OtherScalar *to,
                        int words, void *stream) const = 0;
  /// Some bytes of each rank, for each: in the order of the ranks.
  virtual void gather(const void *mine, void *all, std::size_t bytes) const = 0;
  /// What the first rank has.
  virtual void from_first(void *bytes, std::size_t count) const = 0;

  /// Lines along a direction through all ranks, of which this one has `piece`. parts: those that the ranks are for, or boxes along one direction.
  virtual void make_lines(const Execution &execution, const Parts &parts, int direction, const LineProblem &piece,
                          std::unique_ptr<AnyLines<KernelScalar>> &lines) const = 0;
  virtual void make_lines(const Execution &execution, const Parts &parts, int direction, const LineProblem &piece,
                          std::unique_ptr<AnyLines<OtherScalar>> &lines) const  = 0;
};

} // namespace weft::boxmg
