/// The operator of a level with several unknowns a node: an Operator for each pair of unknowns that couple, A_cd for what the equations of unknown c
/// have of unknown d. So interpolation, Galerkin products and looks are those of one unknown, pair by pair; what must see all pairs at once walks over
/// them in a kernel.
///
/// Vectors are kept unknown by unknown: that of unknown c begins at c * nodes.
#pragma once
#include <algorithm>
#include <vector>

#include "boxmg/residual.hpp"

namespace weft::boxmg {

inline constexpr int most_unknowns = 8;

/// Which unknowns couple, and to which neighbours: bit `number` of each pair. Each unknown couples to itself.
struct BlockPattern {
  int unknowns                                       = 1;
  unsigned neighbours[most_unknowns * most_unknowns] = {};

  friend bool operator==(const BlockPattern &, const BlockPattern &) = default;

  unsigned &of(int row, int column) { return neighbours[row * most_unknowns + column]; }
  unsigned of(int row, int column) const { return neighbours[row * most_unknowns + column]; }
  /// The same pairs on a coarser grid, where products couple all neighbours.
  BlockPattern coarse(const Grid &grid) const
  {
    unsigned box          = 0;
    const Stencil stencil = Stencil::box(grid);
    for (int k = 0; k < stencil.count; k++) box |= 1u << stencil.offset[k].number();
    BlockPattern next = *this;
    for (unsigned &mask : next.neighbours) mask = mask != 0 ? box : 0;
    return next;
  }
};

/// Which neighbours a residual is of: not those that a line along 0, 1 or 2 is solved with, not the node itself, or all.
enum class Beside { line_x, line_y, line_z, point, none };

/// A_cd of a pair.
template <class Scalar>
struct Coupling {
  Operator<Scalar> a;
  int row = 0, column = 0;
  Index first          = 0;  ///< where its coefficients begin among those of the level
  Neighbours wanted[5] = {}; ///< by Beside

  KOKKOS_INLINE_FUNCTION Neighbours neighbours(Beside which) const { return wanted[static_cast<int>(which)]; }
};

/// All pairs, as kernels see them, in the memory of the space.
template <class Scalar>
struct Couplings {
  Grid grid;
  int unknowns                              = 1;
  const Coupling<Scalar> *by_row            = nullptr; ///< those of unknown c from row_starts[c] on
  const Coupling<Scalar> *by_column         = nullptr;
  signed char row_starts[most_unknowns + 1] = {}, column_starts[most_unknowns + 1] = {};

  /// Of an unknown's equations, or of those of the transpose.
  KOKKOS_INLINE_FUNCTION const Coupling<Scalar> *begin(int unknown, Transpose transpose) const
  {
    return transpose == Transpose::no ? by_row + row_starts[unknown] : by_column + column_starts[unknown];
  }
  KOKKOS_INLINE_FUNCTION const Coupling<Scalar> *end(int unknown, Transpose transpose) const { return begin(unknown + 1, transpose); }
  /// A_cd, or null.
  KOKKOS_INLINE_FUNCTION const Coupling<Scalar> *find(int row, int column) const
  {
    for (const Coupling<Scalar> *one = begin(row, Transpose::no); one != end(row, Transpose::no); one++) {
      if (one->column == column) return one;
    }
    return nullptr;
  }
};

/// Couplings with the memory that they stand in.
template <class Space, class Scalar>
class BlockOperator {
public:
  BlockOperator() = default;
  /// `pitch`: elements from a coefficient array to the next, as in Operator.
  BlockOperator(const Space &space, const Grid &grid, const BlockPattern &pattern, Index pitch) : pattern_(pattern)
  {
    Index size = 0;
    for (int row = 0; row < pattern.unknowns; row++) {
      for (int column = 0; column < pattern.unknowns; column++) {
        const unsigned mask = pattern.of(row, column);
        if (mask == 0 && row != column) continue;
        Coupling<Scalar> one;
        one.a      = Operator<Scalar>(grid, Stencil(mask), nullptr, pitch);
        one.row    = row;
        one.column = column;
        one.first  = size;
        size += one.a.stencil.count * pitch;
        for (const Beside which : {Beside::line_x, Beside::line_y, Beside::line_z})
          one.wanted[static_cast<int>(which)] = off_the_line(one.a.stencil, static_cast<int>(which));
        one.wanted[static_cast<int>(Beside::point)] = off_the_line(one.a.stencil, -1);
        one.wanted[static_cast<int>(Beside::none)]  = all_neighbours(one.a.stencil);
        all_.push_back(one);
      }
    }
    values_ = OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft boxmg block operator"),
                                        static_cast<std::size_t>(size));
    for (Coupling<Scalar> &one : all_) one.a.values = values_.data() + one.first;
    view_.grid                           = grid;
    view_.unknowns                       = pattern.unknowns;
    view_.by_row                         = copy(space, all_, table_[0]);
    std::vector<Coupling<Scalar>> sorted = all_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto &one, const auto &other) { return one.column < other.column; });
    view_.by_column = copy(space, sorted, table_[1]);
    for (const Coupling<Scalar> &one : all_) {
      view_.row_starts[one.row + 1]++;
      view_.column_starts[one.column + 1]++;
    }
    for (int c = 0; c < pattern.unknowns; c++) {
      view_.row_starts[c + 1] += view_.row_starts[c];
      view_.column_starts[c + 1] += view_.column_starts[c];
    }
    space.fence("weft boxmg: the tables of couplings");
  }

  const Couplings<Scalar> &view() const { return view_; }
  const BlockPattern &pattern() const { return pattern_; }
  const Grid &grid() const { return view_.grid; }
  int unknowns() const { return pattern_.unknowns; }
  /// All pairs, by row and then by column.
  const std::vector<Coupling<Scalar>> &all() const { return all_; }
  /// A_cc.
  const Coupling<Scalar> &own(int unknown) const
  {
    return *std::find_if(all_.begin(), all_.end(), [&](const auto &one) { return one.row == unknown && one.column == unknown; });
  }
  Scalar *values() const { return values_.data(); }
  Scalar *values(const Coupling<Scalar> &of) const { return values_.data() + of.first; }
  const OwnedArray<Scalar, Space> &array() const { return values_; }
  /// Of all pairs together.
  Stencil stencil() const
  {
    unsigned mask = 0;
    for (const unsigned of : pattern_.neighbours) mask |= of;
    return Stencil(mask);
  }
  double bytes() const { return static_cast<double>(sizeof(Scalar) * values_.size() + sizeof(Coupling<Scalar>) * 2 * all_.size()); }

private:
  using Table = OwnedArray<Coupling<Scalar>, Space>;

  static const Coupling<Scalar> *copy(const Space &space, const std::vector<Coupling<Scalar>> &from, Table &to)
  {
    to = Table(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft boxmg couplings"), from.size());
    Kokkos::deep_copy(space, to, Array<const Coupling<Scalar>, Kokkos::HostSpace>(from.data(), from.size()));
    space.fence("weft boxmg: a table of couplings"); // `from` may go
    return to.data();
  }

  BlockPattern pattern_;
  std::vector<Coupling<Scalar>> all_;
  OwnedArray<Scalar, Space> values_;
  Table table_[2];
  Couplings<Scalar> view_;
};

} // namespace weft::boxmg
