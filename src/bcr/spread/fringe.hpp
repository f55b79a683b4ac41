/// Fringe: what an unknown just beyond one end of many lines makes of their solutions, as deep as that reaches.
///
/// Most modes decay fast along their lines, and neighbouring ones alike: numbers are kept by tiles of modes, down to the row where the slowest one is
/// within rounding.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <vector>

#include "bcr/box_range.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson {

/// Row i of mode m, counted from the end where the fringe is, is element m + row(i) * modes.
struct FringeRows {
  Index modes = 0, rows = 0;
  bool from_last = false;

  KOKKOS_INLINE_FUNCTION Index place(Index mode, Index i) const { return mode + (from_last ? rows - 1 - i : i) * modes; }
};

/// The rows down to which a mode's numbers matter in `Scalar` beside the largest one; and that one, over all modes.
template <class Scalar>
struct FringeDepth {
  FringeRows at;
  const double *values;
  Index *depth;

  KOKKOS_INLINE_FUNCTION void operator()(const Index mode, double &most) const
  {
    constexpr double infinite = Kokkos::Experimental::infinity_v<double>;
    constexpr double nothing  = 1e-3 * static_cast<double>(Kokkos::Experimental::epsilon_v<Scalar>);
    double largest            = 0;
    bool finite               = true;
    for (Index i = 0; i < at.rows; i++) {
      const double size = Kokkos::abs(values[at.place(mode, i)]);
      finite            = finite && size <= static_cast<double>(Kokkos::Experimental::finite_max_v<Scalar>);
      largest           = Kokkos::max(largest, size);
    }
    Index deep = at.rows;
    while (deep > 0 && Kokkos::abs(values[at.place(mode, deep - 1)]) <= nothing * largest) deep--;
    depth[mode] = deep;
    most        = Kokkos::max(most, finite ? largest : double(infinite));
  }
};

template <class Scalar>
struct FringeNumbers {
  static constexpr Index tile = 32; ///< modes

  FringeRows at;
  const Index *first = nullptr; ///< of each tile, and the end of the last one
  Scalar *numbers    = nullptr;

  KOKKOS_INLINE_FUNCTION Index depth(Index mode) const { return (first[mode / tile + 1] - first[mode / tile]) / tile; }
  KOKKOS_INLINE_FUNCTION Scalar &number(Index mode, Index i) const { return numbers[first[mode / tile] + i * tile + mode % tile]; }
};

template <class Scalar>
struct KeepFringe {
  FringeNumbers<Scalar> fringe;
  const double *values;

  KOKKOS_INLINE_FUNCTION void operator()(const Index mode) const
  {
    for (Index i = 0; i < fringe.depth(mode); i++) fringe.number(mode, i) = static_cast<Scalar>(values[fringe.at.place(mode, i)]);
  }
};

/// Adds `by` times the fringe to a part of the rows of a mode.
template <class Scalar>
struct AddFringe {
  static constexpr Index chunk = 16; ///< rows

  FringeNumbers<Scalar> fringe;
  const Scalar *by;
  Scalar *values;

  KOKKOS_INLINE_FUNCTION void operator()(const Index mode, const Index part, const Index) const
  {
    const Index end  = Kokkos::min((part + 1) * chunk, fringe.depth(mode));
    const Scalar own = by[mode];
    for (Index i = part * chunk; i < end; i++) values[fringe.at.place(mode, i)] += own * fringe.number(mode, i);
  }
};

template <class Space, class Scalar>
class Fringe {
public:
  Fringe() = default;
  /// values: the solutions for an unknown of 1 beyond that end of each line, row by row. Waits.
  Fringe(const Space &space, const FringeRows &at, const double *values) : space_(space), at_(at)
  {
    constexpr Index tile = FringeNumbers<Scalar>::tile;
    OwnedArray<Index, Space> depth(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft poisson fringe depth"),
                                   static_cast<std::size_t>(at.modes));
    Kokkos::parallel_reduce("weft poisson fringe depth", range(), FringeDepth<Scalar>{at, values, depth.data()},
                            Kokkos::Max<double>(largest_));
    const auto of_modes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), depth);
    std::vector<Index> first{0};
    for (Index m = 0; m < at.modes; m += tile) {
      Index deep = 0;
      for (Index k = m; k < std::min(m + tile, at.modes); k++) deep = std::max(deep, of_modes(static_cast<std::size_t>(k)));
      deepest_ = std::max(deepest_, deep);
      whole_.push_back(deep == at.rows);
      first.push_back(first.back() + deep * tile);
    }
    first_   = upload<Index, Space>("weft poisson fringe", first);
    numbers_ = OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft poisson fringe"),
                                         static_cast<std::size_t>(first.back()));
    Kokkos::parallel_for("weft poisson fringe", range(), KeepFringe<Scalar>{numbers(), values});
    space_.fence("weft: fringe");
  }

  /// The largest number of it: of definite operators at most 1.
  double largest() const { return largest_; }
  /// Whether it matters down to the last row, for some mode of a tile.
  bool is_whole(Index mode) const { return !whole_.empty() && whole_[static_cast<std::size_t>(mode / FringeNumbers<Scalar>::tile)]; }
  FringeNumbers<Scalar> numbers() const { return {at_, first_.data(), numbers_.data()}; }
  std::size_t bytes() const { return first_.size() * sizeof(Index) + numbers_.size() * sizeof(Scalar); }

  /// Adds by[mode] times it to solutions that lie as those did which it is made of.
  void add(const Scalar *by, Scalar *values) const
  {
    constexpr Index chunk = AddFringe<Scalar>::chunk;
    if (deepest_ > 0)
      Kokkos::parallel_for("weft poisson add fringe", box_range(space_, at_.modes, (deepest_ + chunk - 1) / chunk, 1),
                           AddFringe<Scalar>{numbers(), by, values});
  }

private:
  Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> range() const { return {space_, 0, at_.modes}; }
  Space space_;
  FringeRows at_;
  double largest_ = 0;
  Index deepest_  = 0;
  std::vector<bool> whole_; ///< of each tile
  OwnedArray<Index, Space> first_;
  OwnedArray<Scalar, Space> numbers_;
};

} // namespace weft::poisson
