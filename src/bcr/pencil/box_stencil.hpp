/// Rows of a matrix on a grid as boxes of 27 entries, and what separate_boxes() asks of them: the device half of separate_boxes.cpp.
#pragma once
#include <cstdint>
#include <limits>

#include "bcr/detect/star.hpp"
#include "bcr/pencil/pencil_operator.hpp"

namespace weft::pencils {

/// A row: its entry for the node (p, q, r) away is at number 13 + p + 3 q + 9 r.
struct BoxStencil {
  static constexpr int centre = 13;

  double entry[27] = {};
  bool wraps[3]    = {};
  int foreign      = 0; ///< entries for nodes farther away
  int not_finite   = 0;

  KOKKOS_INLINE_FUNCTION double size() const
  {
    double total = 0;
    for (double e : entry) total += Kokkos::abs(e);
    return total;
  }
};

/// Steps along direction d of entry number n of a box.
WEFT_INLINE int step_of(int n, int d)
{
  return (d == 0 ? n : d == 1 ? n / 3 : n / 9) % 3 - 1;
}

/// An index of a ring of n, or of a line.
WEFT_INLINE Index around(Index i, Index n)
{
  return i < 0 ? i + n : i < n ? i : i - n;
}

template <class Space, class Int>
struct BoxReader {
  StarReader<Space, Int> rows; ///< where they lie

  KOKKOS_INLINE_FUNCTION void add(BoxStencil &box, const Index (&at)[3], const Index (&to)[3], double value) const
  {
    if (value == 0) return;
    if (!Kokkos::isfinite(value)) {
      box.not_finite++;
      return;
    }
    int number = BoxStencil::centre, scale = 1;
    for (int d = 0; d < 3; d++, scale *= 3) {
      const Index step = to[d] - at[d], last = rows.grid[d] - 1;
      if (step == 0) continue;
      const bool near = step == 1 || step == -1;
      if (!near && step != last && step != -last) {
        box.foreign++;
        return;
      }
      if (!near) box.wraps[d] = true;
      number += (near ? step > 0 : step < 0) ? scale : -scale;
    }
    box.entry[number] += value * rows.per_unit;
  }

  /// The same for the neighbours in a part of three nodes or more along x and y, without a division: the steps are those of the distance in
  /// the part's numbers. False for others.
  KOKKOS_INLINE_FUNCTION bool add_near(BoxStencil &box, const Index (&at)[3], Index distance, Index nx, Index ny, Index nz,
                                       double value) const
  {
    if (nx < 3 || ny < 3 || !Kokkos::isfinite(value)) return false;
    const Index plane = nx * ny;
    Index step[3]     = {distance, 0, 0};
    if (nz > 1) step[2] = 2 * step[0] > plane ? 1 : 2 * step[0] < -plane ? -1 : 0;
    step[0] -= plane * step[2];
    step[1] = 2 * step[0] > nx ? 1 : 2 * step[0] < -nx ? -1 : 0;
    step[0] -= nx * step[1];
    if (step[0] < -1 || step[0] > 1) return false;
    for (int d = 0; d < 3; d++) {
      if (at[d] + step[d] < rows.part.lo[d] || at[d] + step[d] >= rows.part.hi[d]) return false;
    }
    box.entry[BoxStencil::centre + step[0] + 3 * step[1] + 9 * step[2]] += value * rows.per_unit;
    return true;
  }

  KOKKOS_INLINE_FUNCTION BoxStencil operator()(const Index (&at)[3]) const
  {
    const auto &part = rows.part;
    const Index nx = part.hi[0] - part.lo[0], ny = part.hi[1] - part.lo[1], nz = part.hi[2] - part.lo[2];
    const Index row = at[0] - part.lo[0] + nx * (at[1] - part.lo[1] + ny * (at[2] - part.lo[2]));
    BoxStencil box;
    for (Int k = rows.inside.row_starts[row]; k < rows.inside.row_starts[row + 1]; k++) {
      const Index node = rows.inside.columns[k];
      if (add_near(box, at, node - row, nx, ny, nz, rows.inside.values[k])) continue;
      Index to[3];
      part.place(node, to);
      add(box, at, to, rows.inside.values[k]);
    }
    if (!rows.outside.row_starts) return box;
    for (Int k = rows.outside.row_starts[row]; k < rows.outside.row_starts[row + 1]; k++) {
      const Index node  = rows.outside_nodes(rows.outside.columns[k]);
      const Index to[3] = {node % rows.grid[0], node / rows.grid[0] % rows.grid[1], node / rows.grid[0] / rows.grid[1]};
      add(box, at, to, rows.outside.values[k]);
    }
    return box;
  }
};

/// What the rows look like, the largest of each.
enum Look { foreign, not_finite, wraps, largest = wraps + 3, coupled_faces, looks = coupled_faces + 6 };

template <class Space, class Int>
struct LookAtRows {
  BoxReader<Space, Int> read;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *values) const
  {
    const BoxStencil box = read(at);
    if (box.foreign > 0) values[foreign] = 1;
    if (box.not_finite > 0) values[not_finite] = 1;
    bool coupled = false;
    for (int n = 0; n < 27; n++) {
      values[largest] = Kokkos::max(values[largest], Kokkos::abs(box.entry[n]));
      coupled         = coupled || (n != BoxStencil::centre && box.entry[n] != 0);
    }
    for (int d = 0; d < 3; d++) {
      if (box.wraps[d]) values[wraps + d] = 1;
      for (int side = 0; side < 2; side++) {
        if (coupled && at[d] == (side == 0 ? 0 : read.rows.grid[d] - 1)) values[coupled_faces + 2 * d + side] = 1;
      }
    }
  }
};

/// A number between -1 and 1 for a node that looks random (Fibonacci hashing: D. Knuth, The Art of Computer Programming 3, 6.4).
KOKKOS_INLINE_FUNCTION double noise(Index node, std::uint64_t which)
{
  const std::uint64_t mixed = (static_cast<std::uint64_t>(node) + which) * 0x9E3779B97F4A7C15ull;
  return static_cast<double>((mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9ull >> 11) * 0x1p-52 - 1;
}

/// Sums r^T A s - s^T A r, r and s noise, and the magnitudes of that: nothing of a symmetric matrix is left but rounding.
template <class Space, class Int>
struct Asymmetry {
  BoxReader<Space, Int> read;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *sums) const
  {
    const auto &grid     = read.rows.grid;
    const BoxStencil box = read(at);
    const Index here     = at[0] + grid[0] * (at[1] + grid[1] * at[2]);
    for (int n = 0; n < 27; n++) {
      if (n == BoxStencil::centre || box.entry[n] == 0) continue;
      Index to[3];
      for (int d = 0; d < 3; d++) to[d] = around(at[d] + step_of(n, d), grid[d]);
      const Index there = to[0] + grid[0] * (to[1] + grid[1] * to[2]);
      sums[0] += box.entry[n] * (noise(here, 1) * noise(there, 1ull << 40) - noise(here, 1ull << 40) * noise(there, 1));
      sums[1] += Kokkos::abs(box.entry[n]);
    }
  }
};

/// The entries of one row.
template <class Space, class Int>
struct TakeRow {
  BoxReader<Space, Int> read;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *values) const
  {
    const BoxStencil box = read(at);
    for (int n = 0; n < 27; n++) values[n] = box.entry[n];
  }
};

/// The rows of a face that couple to nothing, and the couplings to them of the rows within (see DirichletRows): ten numbers a node of
/// the face, its diagonal, and of the row within the nine to the face's node there and its neighbours.
template <class Space, class Int>
struct CollectDirichlet {
  BoxReader<Space, Int> read;
  Box inner;
  int d, side;
  Kokkos::View<double *[10], Kokkos::LayoutRight, typename Space::memory_space> rows;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *unusable) const
  {
    const int a = across(d, 0), b = across(d, 1);
    const Index node     = at[a] + read.rows.grid[a] * at[b];
    const BoxStencil box = read(at);
    if (at[d] == (side == 0 ? 0 : read.rows.grid[d] - 1)) {
      rows(node, 0) = box.entry[BoxStencil::centre];
      if (rows(node, 0) == 0) unusable[0] += 1;
      return;
    }
    for (int c = 0; c < 3; c++) {
      if (at[c] < inner.lo[c] || at[c] >= inner.hi[c]) return;
    }
    for (int n = 0; n < 27; n++) {
      if (step_of(n, d) != 2 * side - 1) continue;
      bool mine = true; // a node on several faces belongs to the first one
      for (int c = 0; c < d; c++) {
        const Index to = around(at[c] + step_of(n, c), read.rows.grid[c]);
        mine           = mine && to >= inner.lo[c] && to < inner.hi[c];
      }
      if (mine) rows(node, 5 + step_of(n, a) + 3 * step_of(n, b)) = box.entry[n];
    }
  }
};

/// A PencilOperator on the box of inner nodes, on the device.
template <class Space>
struct PencilFit {
  Box inner;
  Index start[3];
  double core[8];
  Kokkos::View<double *, typename Space::memory_space> table; ///< of each direction and row: lower, diagonal, upper of M and T

  KOKKOS_INLINE_FUNCTION double at(int d, int which, int step, Index i) const
  {
    return table(start[d] + 6 * (i - inner.lo[d]) + 3 * which + 1 + step);
  }
  /// All entries of a row, summed up one direction after the other.
  KOKKOS_INLINE_FUNCTION void entries(const Index (&node)[3], double (&row)[27]) const
  {
    for (int r = -1; r <= 1; r++) {
      double planes[4]; // of M and T along x and y
      for (int c = 0; c < 4; c++) planes[c] = core[c] * this->at(2, 0, r, node[2]) + core[c + 4] * this->at(2, 1, r, node[2]);
      for (int q = -1; q <= 1; q++) {
        double lines[2];
        for (int c = 0; c < 2; c++) lines[c] = planes[c] * this->at(1, 0, q, node[1]) + planes[c + 2] * this->at(1, 1, q, node[1]);
        for (int p = -1; p <= 1; p++)
          row[BoxStencil::centre + p + 3 * q + 9 * r] = lines[0] * this->at(0, 0, p, node[0]) + lines[1] * this->at(0, 1, p, node[0]);
      }
    }
  }
};

/// Rows beside a fit, within the inner box.
template <class Space, class Int>
struct BesideFit {
  BoxReader<Space, Int> read;
  PencilFit<Space> fit;

  /// What the row, times `scale`, has more than the fit.
  struct Difference {
    double more[27];
    double apart = 0, size = 0; ///< sums of magnitudes of what the row itself has more, and of the row
    double scale     = 1;       ///< of the row that `more` is of: a power of 2, by which one in other units is as large as the fit's
    double imbalance = 0;       ///< the sum of the row or of the fit's, whichever is smaller, over that of magnitudes

    KOKKOS_INLINE_FUNCTION double deviation() const { return apart == 0 ? 0 : size > 0 ? apart / size : 1; }
  };
  KOKKOS_INLINE_FUNCTION Difference operator()(const Index (&at)[3]) const
  {
    const BoxStencil box = read(at);
    Difference row;
    double expected[27], sum = 0, of_fit = 0, size_of_fit = 0, couplings_apart = 0;
    fit.entries(at, expected);
    bool outward[3][3]; // whether a step leads to a face that is solved apart, or nowhere
    for (int d = 0; d < 3; d++) {
      for (int step = -1; step <= 1; step++)
        outward[d][step + 1] = !box.wraps[d] && (at[d] + step < fit.inner.lo[d] || at[d] + step >= fit.inner.hi[d]);
    }
    const auto inside = [&](int n) { return !outward[0][n % 3] && !outward[1][n / 3 % 3] && !outward[2][n / 9]; };
    for (int n = 0; n < 27; n++) {
      row.more[n] = 0;
      if (!inside(n)) continue;
      row.more[n] = box.entry[n] - expected[n];
      row.apart += Kokkos::abs(row.more[n]);
      if (n != BoxStencil::centre) couplings_apart += Kokkos::abs(row.more[n]);
      row.size += Kokkos::abs(box.entry[n]);
      sum += box.entry[n];
      of_fit += expected[n];
      size_of_fit += Kokkos::abs(expected[n]);
    }
    const double ratio = row.size > 0 && size_of_fit > 0 ? size_of_fit / row.size : 1;
    if (couplings_apart > 0 && (ratio > 16 || ratio < 1. / 16)) {
      row.scale = Kokkos::exp2(Kokkos::round(Kokkos::log2(ratio)));
      for (int n = 0; n < 27; n++) row.more[n] = inside(n) ? row.scale * box.entry[n] - expected[n] : 0;
    }
    if (row.size > 0 && size_of_fit > 0) row.imbalance = Kokkos::min(Kokkos::abs(sum) / row.size, Kokkos::abs(of_fit) / size_of_fit);
    return row;
  }
};

/// Largest deviation of a row that lies at ends of at most one direction, and of the others, over the row's sum of magnitudes; largest
/// imbalance. Rows that deviate by more than `most_counted` do not count.
template <class Space, class Int>
struct PencilDeviation {
  BesideFit<Space, Int> beside;
  double most_counted;

  KOKKOS_INLINE_FUNCTION void operator()(const Index (&at)[3], double *most) const
  {
    const auto row = beside(at);
    const Box &box = beside.fit.inner;
    int ends       = 0;
    for (int d = 0; d < 3; d++) ends += box.size(d) > 1 && (at[d] == box.lo[d] || at[d] + 1 == box.hi[d]);
    if (!(row.deviation() > most_counted)) most[ends > 1] = Kokkos::max(most[ends > 1], row.deviation());
    if (!(row.apart >= 0)) most[0] = 1; // not finite
    most[2] = Kokkos::max(most[2], row.imbalance);
  }
};

/// Collects the rows that deviate: nodes of the grid, scales, and what they have more; their number, which may be larger than there is room for.
template <class Space, class Int>
struct CollectChanged {
  BesideFit<Space, Int> beside;
  double bound;
  Box box; ///< whose rows are looked at, by numbers k
  Kokkos::View<double *[29], Kokkos::LayoutRight, typename Space::memory_space> rows;
  Kokkos::View<int, typename Space::memory_space> count;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    Index at[3];
    box.place(k, at);
    const auto row = beside(at);
    if (row.deviation() <= bound) return;
    const auto &grid = beside.read.rows.grid;
    const int to     = Kokkos::atomic_fetch_add(&count(), 1);
    if (to >= static_cast<int>(rows.extent(0))) return;
    rows(to, 0) = static_cast<double>(at[0] + grid[0] * (at[1] + grid[1] * at[2]));
    rows(to, 1) = row.scale;
    for (int n = 0; n < 27; n++) rows(to, 2 + n) = row.more[n];
  }
};

} // namespace weft::pencils
