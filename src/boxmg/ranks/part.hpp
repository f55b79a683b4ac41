/// What a rank has of a level that ranks share: its part of the grid, the ghosts around it, and the ways to the next level and back.
#pragma once
#include <cmath>
#include <numeric>

#include "boxmg/ranks/move.hpp"
#include "boxmg/read_matrix.hpp"
#include "boxmg/transfer.hpp"

namespace weft::boxmg {

/// A rank's part of a grid, without what moves.
struct PartOfGrid {
  const GridRanks &ranks;
  Parts parts;
  Box box, extended; ///< owned, and worked on
  Grid grid;         ///< the extended box
  Region owned;      ///< in it

  PartOfGrid(const GridRanks &all, const Parts &of)
      : ranks(all), parts(of), box(of.owned(all.rank())), extended(of.extended(all.rank())), grid(of.grid_of(all.rank())),
        summands_(static_cast<std::size_t>(all.size()))
  {
    for (int d = 0; d < 3; d++) {
      owned.first[d] = box.first[d] - extended.first[d];
      owned.count[d] = box.size(d);
    }
  }
  bool crosses(int direction) const { return direction >= 0 && parts.crosses(direction); }
  /// Whether ranks meet along another direction.
  bool crosses_but(int direction) const
  {
    bool some = false;
    for (int d = 0; d < 3; d++) some = some || (d != direction && crosses(d));
    return some;
  }
  /// The number in the whole grid of a node of the extended box; no_node of no_node.
  Index whole_node(Index node) const
  {
    if (node == no_node) return node;
    Index at[3];
    grid.position(node, at);
    for (int d = 0; d < 3; d++) at[d] = (at[d] + extended.first[d] + parts.whole.n[d]) % parts.whole.n[d];
    return parts.whole.node(at);
  }
  /// What of a region is owned.
  Region owned_of(Region region) const
  {
    for (int d = 0; d < 3; d++) {
      const Index begin = owned.first[d], end = begin + owned.count[d], step = region.step[d];
      const Index last = region.first[d] + step * (region.count[d] - 1);
      if (region.first[d] < begin) region.first[d] += (begin - region.first[d] + step - 1) / step * step;
      region.count[d] = std::max<Index>((std::min(last, end - 1) - region.first[d]) / step + 1, 0);
      if (region.first[d] > std::min(last, end - 1)) region.count[d] = 0;
    }
    return region;
  }
  bool everywhere(bool here) const
  {
    bool all = true;
    for (const char said : gathered(static_cast<char>(here))) all = all && said != 0;
    return all;
  }
  Index smallest(Index here) const
  {
    const std::vector<Index> all = gathered(here);
    return *std::min_element(all.begin(), all.end());
  }
  /// In the order of the ranks, the same on each. For applications too, as nobody agrees.
  double sum(double here) const
  {
    ranks.gather(&here, summands_.data(), sizeof(double));
    return std::accumulate(summands_.begin(), summands_.end(), 0.0);
  }
  /// A value of each rank.
  template <class T>
  std::vector<T> gathered(const T &here) const
  {
    std::vector<T> all(static_cast<std::size_t>(ranks.size()));
    ranks.agree();
    ranks.gather(&here, all.data(), sizeof(T));
    return all;
  }

private:
  mutable std::vector<double> summands_;
};

template <class Space>
class RankPart : public PartOfGrid {
public:
  /// theirs: of the arrays outside, which bring_in() and bring_out() take, and of which this grid is turned.
  RankPart(const GridRanks &all, const Parts &of, const Parts &theirs, const Turn &turn) : PartOfGrid(all, of)
  {
    const auto own  = [&](int rank) { return Placed(theirs.owned(rank), theirs.owned(rank)).turned(turn); };
    const auto read = [&](int rank) { return Placed(theirs.owned(rank), theirs.extended(rank)).turned(turn); };
    const auto mine = [&](int rank) { return Placed(of.owned(rank), of.extended(rank)); };
    const auto work = [&](int rank) { return Placed(of.extended(rank), of.extended(rank)); };
    in_             = move(own, work);
    out_            = move(mine, own);
    ghosts_         = move(mine, work, true);
    if (turn != Turn() || theirs != of) rows_ = move(read, work, false, nullptr, false);
  }
  explicit RankPart(const GridRanks &all, const Parts &of) : RankPart(all, of, of, Turn()) {}

  /// From an array of the owned nodes, with ghosts, and to one.
  template <class From, class To>
  void bring_in(const Space &space, const From *from, To *to) const
  {
    in_.run(space, from, to);
  }
  template <class From, class To>
  void bring_out(const Space &space, const From *from, To *to) const
  {
    out_.run(space, from, to);
  }
  /// Coefficients of the rows that others have, in arrays over their extended boxes, where theirs are other parts.
  template <class Scalar>
  void bring_rows(const Space &space, const Scalar *from, Scalar *to, int words, Index from_pitch, Index pitch) const
  {
    rows_.run(space, from, to, words, from_pitch, pitch);
  }
  /// Ghosts get what their owners have, in so many arrays.
  template <class Scalar>
  void fill_ghosts(const Space &space, Scalar *values, int words = 1, Index pitch = 0) const
  {
    ghosts_.run(space, values, values, words, pitch, pitch);
  }

  // How many layers of ghosts of the level's solution are right.

  /// Messages, unless `layers` are right.
  template <class Scalar>
  void need(const Space &space, Scalar *x, int layers) const
  {
    if (right_ >= layers) return;
    fill_ghosts(space, x);
    right_ = static_cast<int>(Parts::ghosts);
  }
  /// The solution is 0, or has come with its ghosts.
  void all_right() const { right_ = static_cast<int>(Parts::ghosts); }
  /// Some nodes were relaxed: alone, or with their neighbours; owned ones only, or all.
  void relaxed(bool alone, bool owned_only) const { right_ = owned_only ? 0 : alone ? right_ : right_ - 1; }

  // The next level.

  /// The way to it. Its nodes come from an array over half() of this level's extended box.
  void set_next(Directions coarsened, const Parts &next)
  {
    half_            = Transfer<double>(grid, coarsened).coarse;
    const Parts even = parts.coarse(coarsened);
    const auto half  = [&](int rank) {
      Box half_box = parts.extended(rank);
      for (int d = 0; d < 3; d++) {
        if (!has(coarsened, d)) continue;
        half_box.first[d] /= 2;
        half_box.end[d] = half_box.first[d] + (parts.extended(rank).size(d) + 1) / 2;
      }
      return half_box;
    };
    down_ = move([&](int rank) { return Placed(even.owned(rank), half(rank)); },
                 [&](int rank) { return Placed(next.extended(rank), next.extended(rank)); }, false, &next.whole);
    up_   = move([&](int rank) { return Placed(next.owned(rank), next.extended(rank)); },
               [&](int rank) { return Placed(half(rank), half(rank)); }, false, &next.whole);
    next_ = next;
  }
  bool leads_to(const Parts &next) const { return next_ == next; }
  /// Whether ghosts, and vectors between this level and the next, move by kernels that can be recorded.
  bool is_direct() const { return ghosts_.is_direct() && down_.is_direct() && up_.is_direct(); }
  const Grid &half() const { return half_; }
  template <class Scalar>
  void down(const Space &space, const Scalar *half, Scalar *next, int words = 1, Index pitch = 0, Index next_pitch = 0) const
  {
    down_.run(space, half, next, words, pitch, next_pitch);
  }
  template <class Scalar>
  void up(const Space &space, const Scalar *next, Scalar *half) const
  {
    up_.run(space, next, half);
  }

private:
  template <class From, class To>
  Move<Space> move(const From &from, const To &to, bool in_place = false, const Grid *whole = nullptr, bool direct = true) const
  {
    std::vector<Placed> all_from, all_to;
    for (int rank = 0; rank < ranks.size(); rank++) {
      all_from.push_back(from(rank));
      all_to.push_back(to(rank));
    }
    return Move<Space>(ranks, whole ? *whole : parts.whole, all_from, all_to, in_place, direct);
  }

  Move<Space> in_, out_, rows_, ghosts_, down_, up_;
  Grid half_;
  Parts next_;
  mutable int right_ = 0;
};

/// Couplings that leave the extended box become 0, as kernels have it of those that leave a grid.
template <class Space, class Scalar>
void cut(const Space &space, const PartOfGrid &part, const Operator<Scalar> &a, Scalar *values)
{
  const Grid grid = part.grid;
  for (int d = 0; d < 3; d++) {
    if (!part.crosses(d)) continue;
    for (const int side : {-1, 1}) {
      Region face   = Region::all(grid);
      face.first[d] = side < 0 ? 0 : grid.n[d] - 1;
      face.count[d] = 1;
      unsigned out  = 0;
      for (int k = 0; k < a.stencil.count; k++) {
        if (a.stencil.offset[k].d[d] == side) out |= 1u << k;
      }
      over_runs(
          "weft boxmg cut", space, face, KOKKOS_LAMBDA(const Run &run) {
            const Index first = run.x + grid.n[0] * (run.y + grid.n[1] * run.z);
            for (int k = 0; k < a.stencil.count; k++) {
              if (!(out >> k & 1)) continue;
              for (Index j = 0; j < run.count; j++) values[k * a.pitch + first + j] = 0;
            }
          });
    }
  }
}

/// Nodes of the extended box by their number among those that are owned.
struct OwnedNodes {
  Grid grid;
  Region owned;
  bool flat, small; ///< a division is saved; numbers of 32 bits are divided faster

  OwnedNodes(const PartOfGrid &part) : grid(part.grid), owned(part.owned), flat(owned.count[2] == 1), small(owned.nodes() < Index(1) << 31)
  {
  }
  /// The place in the owned box.
  KOKKOS_INLINE_FUNCTION void place(Index number, Index (&at)[3]) const
  {
    const Index row = quotient(number, owned.count[0], small);
    at[0]           = number - row * owned.count[0];
    at[2]           = flat ? 0 : quotient(row, owned.count[1], small);
    at[1]           = row - at[2] * owned.count[1];
  }
  KOKKOS_INLINE_FUNCTION Index node(const Index (&at)[3]) const
  {
    return owned.first[0] + at[0] + grid.n[0] * (owned.first[1] + at[1] + grid.n[1] * (owned.first[2] + at[2]));
  }
  KOKKOS_INLINE_FUNCTION Index operator()(Index number) const
  {
    Index at[3];
    place(number, at);
    return node(at);
  }
};

template <class Kernel>
struct LookAtOwned {
  using value_type = LevelLook;

  Kernel level;
  OwnedNodes nodes;

  KOKKOS_INLINE_FUNCTION void init(LevelLook &look) const { level.init(look); }
  KOKKOS_INLINE_FUNCTION void join(LevelLook &look, const LevelLook &other) const { level.join(look, other); }
  KOKKOS_INLINE_FUNCTION void operator()(Index number, LevelLook &look) const { level(nodes(number), look); }
};

/// Of the nodes that a rank owns. Does not wait.
template <class Space, class Scalar>
void look_at(const Space &space, const LookAtLevel<Scalar> &level, const PartOfGrid &part, OwnedArray<LevelLook, Space> &room,
             const Result<LevelLook, Space> &look)
{
  with_points<Space>(level, [&]<class Kernel>(const Kernel &kernel) {
    join_over("weft boxmg level", space, part.owned.nodes(), LookAtOwned<Kernel>{kernel, OwnedNodes(part)}, room, look);
  });
}

/// What all ranks have seen, with numbers of nodes in the whole grid. The same on each, to the last bit.
inline LevelLook joined(const PartOfGrid &part, LevelLook here)
{
  here.zero_diagonal = part.whole_node(here.zero_diagonal);
  here.wrong_sign    = part.whole_node(here.wrong_sign);
  LevelLook all;
  for (const LevelLook &look : part.gathered(here)) all.join(look);
  return all;
}

/// The sign of most of the diagonal.
template <class Space, class Scalar>
double sign_of(const Space &space, const Operator<Scalar> &a, const PartOfGrid &part)
{
  const OwnedNodes nodes(part);
  Index here = 0, below = 0;
  Kokkos::parallel_reduce(
      "weft boxmg sign", range(space, part.owned.nodes()),
      KOKKOS_LAMBDA(const Index number, Index &count) { count += !is_complex<Scalar> && real_part(a.diagonal(nodes(number))) < 0; }, here);
  for (const Index count : part.gathered(here)) below += count;
  return 2 * below > part.parts.whole.nodes() ? -1 : 1;
}

/// The Euclidean norm over all ranks. Waits.
template <class Space, class Scalar>
double norm(const Space &space, const PartOfGrid &part, const Scalar *r)
{
  const OwnedNodes nodes(part);
  double here = 0;
  Kokkos::parallel_reduce(
      "weft boxmg norm", range(space, part.owned.nodes()),
      KOKKOS_LAMBDA(const Index number, double &total) {
        const auto value = widened(r[nodes(number)]);
        total += square_of(value);
      },
      here);
  return std::sqrt(part.sum(here));
}

} // namespace weft::boxmg
