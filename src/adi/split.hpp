/// From a CSR matrix on a box to its parts along the directions: A = H_x + H_y + H_z + rest.
///
/// Each part has the couplings along its direction and a share of the diagonal. With o_k the sum of |couplings| of a row along direction k
/// and e = d - sum_k o_k its excess, the share is
///     o_k + e_min / directions + (e - e_min) w_k / sum w,      e_min the least excess of all rows,
/// w_k the strength of the couplings that the row lacks along direction k (the other side's strength; the mean strength of all rows where
/// both are lacking), and 1 where it lacks none. So the excess of a row next to an eliminated boundary goes to the direction in which the
/// boundary lies, and separable operators split into parts that commute.
#pragma once
#include "tridiagonal/tridiagonal.hpp"

#include "adi/adi_solver.hpp"

namespace weft {

/// The parts, all arrays of rows() elements in the layout of the box. lower of a line's first row and upper of its last one couple to the
/// neighbouring piece or around the ring; 0 where there is nothing.
template <class Scalar>
struct AdiParts {
  Scalar *lower[3], *share[3], *upper[3];
  Scalar *diagonal;    ///< of the matrix
  std::uint8_t *fixed; ///< 1: the row is solved by itself
};

/// Where nodes are in a box.
struct AdiGrid {
  Index n[3], stride[3];
  Index rows, components;
  bool has[3], closed[3]; ///< closed: in this box

  explicit AdiGrid(const AdiBox &box) : rows(box.rows()), components(box.components)
  {
    Index step = box.components;
    for (int k = 0; k < 3; k++) {
      n[k]      = box.n[k];
      stride[k] = step;
      has[k]    = box.has(k);
      closed[k] = box.closed(k) && !box.crosses[k];
      step *= n[k];
    }
  }
  KOKKOS_INLINE_FUNCTION Index at(Index i, int k) const { return i / stride[k] % n[k]; }
};

/// Where an entry with this column offset belongs: direction + 1 for lower, -(direction + 1) for upper, 0 for none.
KOKKOS_INLINE_FUNCTION int place_on_line(const AdiGrid &grid, const Index (&at)[3], Index offset)
{
  for (int k = 0; k < 3; k++) {
    if (!grid.has[k]) continue;
    const Index around = (grid.n[k] - 1) * grid.stride[k];
    if ((offset == -grid.stride[k] && at[k] > 0) || (grid.closed[k] && offset == around && at[k] == 0)) return k + 1;
    if ((offset == grid.stride[k] && at[k] + 1 < grid.n[k]) || (grid.closed[k] && offset == -around && at[k] + 1 == grid.n[k]))
      return -(k + 1);
  }
  return 0;
}

/// Couplings on lines, the diagonal, and for each row how many entries are left over (rest_starts[i + 1]).
template <class Space, class Scalar, class Int>
void split_couplings(const Space &space, const AdiGrid &grid, const CsrMatrix<Scalar, Int> &matrix, const std::uint8_t *inner,
                     const AdiParts<Scalar> &parts, Index *rest_starts)
{
  Kokkos::parallel_for(
      "weft adi split", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Index at[3] = {grid.at(i, 0), grid.at(i, 1), grid.at(i, 2)};
        Scalar lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0}, diagonal = 0;
        Index left      = 0;
        const bool mine = !inner || inner[i / grid.components];
        for (Int e = matrix.row_starts[i]; e < matrix.row_starts[i + 1]; e++) {
          const Index j = matrix.columns[e], offset = j - i;
          const int place = mine && (!inner || inner[j / grid.components]) ? place_on_line(grid, at, offset) : 0;
          for (int k = 0; k < 3; k++) {
            if (place == k + 1) lower[k] = matrix.values[e];
            if (place == -(k + 1)) upper[k] = matrix.values[e];
          }
          if (offset == 0) diagonal = matrix.values[e];
          if (offset != 0 && place == 0 && matrix.values[e] != 0) left++;
        }
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          parts.lower[k][i] = lower[k];
          parts.upper[k][i] = upper[k];
        }
        parts.diagonal[i]  = diagonal;
        rest_starts[i + 1] = left;
      });
}

/// From counts in starts[i + 1] to starts.
template <class Space, class View>
void count_rest(const Space &space, const View &starts)
{
  Kokkos::parallel_scan(
      "weft adi rest starts", Kokkos::RangePolicy<Space>(space, 0, static_cast<Index>(starts.extent(0))),
      KOKKOS_LAMBDA(const Index i, Index &sum, const bool last) {
        sum += starts(i);
        if (last) starts(i) = sum;
      });
}

/// The entries that are left over, in CSR form.
template <class Space, class Scalar, class Int>
void split_rest(const Space &space, const AdiGrid &grid, const CsrMatrix<Scalar, Int> &matrix, const std::uint8_t *inner,
                const Index *rest_starts, Index *rest_columns, Scalar *rest_values)
{
  Kokkos::parallel_for(
      "weft adi rest", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Index at[3] = {grid.at(i, 0), grid.at(i, 1), grid.at(i, 2)};
        Index to          = rest_starts[i];
        const bool mine   = !inner || inner[i / grid.components];
        for (Int e = matrix.row_starts[i]; e < matrix.row_starts[i + 1]; e++) {
          const Index j = matrix.columns[e], offset = j - i;
          const int place = mine && (!inner || inner[j / grid.components]) ? place_on_line(grid, at, offset) : 0;
          if (offset == 0 || place != 0 || matrix.values[e] == 0) continue;
          rest_columns[to] = j;
          rest_values[to]  = matrix.values[e];
          to++;
        }
      });
}

/// Couplings of a direction to the pieces before and after, a value for each line; null where there is none.
template <class Space, class Scalar>
void put_ends(const Space &space, const LineLayout &layout, const Scalar *before, const Scalar *after, Scalar *lower, Scalar *upper)
{
  const Index last = (layout.length - 1) * layout.stride;
  Kokkos::parallel_for(
      "weft adi ends", Kokkos::RangePolicy<Space>(space, 0, layout.count()), KOKKOS_LAMBDA(const Index line) {
        const Index start = layout.start(line);
        if (before) lower[start] = before[line];
        if (after) upper[start + last] = after[line];
      });
}

/// Sums over the rows.
struct AdiSums {
  enum { sign, strength, count = strength + 3, on = count + 3, rest, fixed, empty, rows, bad, size };
  double value[size] = {};

  KOKKOS_INLINE_FUNCTION AdiSums &operator+=(const AdiSums &other)
  {
    for (int k = 0; k < size; k++) value[k] += other.value[k];
    return *this;
  }
};

} // namespace weft

template <>
struct Kokkos::reduction_identity<weft::AdiSums> {
  KOKKOS_FORCEINLINE_FUNCTION static weft::AdiSums sum() { return {}; }
};

namespace weft {

/// Marks the fixed rows and adds up what is needed to share the diagonal. Waits.
template <class Space, class Scalar>
AdiSums sum_couplings(const Space &space, const AdiGrid &grid, const std::uint8_t *inner, const AdiParts<Scalar> &parts,
                      const Index *rest_starts, const Scalar *rest_values)
{
  AdiSums total;
  Kokkos::parallel_reduce(
      "weft adi sums", Kokkos::RangePolicy<Space>(space, 0, grid.rows),
      KOKKOS_LAMBDA(const Index i, AdiSums &sums) {
        double on = 0, rest = 0;
        const double d = static_cast<double>(parts.diagonal[i]);
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          const double l = Kokkos::abs(static_cast<double>(parts.lower[k][i])), u = Kokkos::abs(static_cast<double>(parts.upper[k][i]));
          on += l + u;
          sums.value[AdiSums::strength + k] += l + u;
          sums.value[AdiSums::count + k] += (l != 0) + (u != 0);
        }
        for (Index e = rest_starts[i]; e < rest_starts[i + 1]; e++) rest += Kokkos::abs(static_cast<double>(rest_values[e]));
        const bool fixed = (on == 0 && rest == 0) || (inner && !inner[i / grid.components]);
        parts.fixed[i]   = fixed;
        sums.value[AdiSums::on] += on;
        sums.value[AdiSums::rest] += rest;
        sums.value[AdiSums::fixed] += fixed;
        sums.value[AdiSums::empty] += fixed && d == 0;
        sums.value[AdiSums::rows] += 1;
        sums.value[AdiSums::bad] += !(Kokkos::abs(d) + on + rest <= Kokkos::Experimental::finite_max_v<double>);
        if (!fixed) sums.value[AdiSums::sign] += (d > 0) - (d < 0);
      },
      Kokkos::Sum<AdiSums>(total));
  return total;
}

/// |couplings| of a row on lines.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar on_lines(const AdiGrid &grid, const AdiParts<Scalar> &parts, Index i)
{
  Scalar sum = 0;
  for (int k = 0; k < 3; k++) {
    if (grid.has[k]) sum += Kokkos::abs(parts.lower[k][i]) + Kokkos::abs(parts.upper[k][i]);
  }
  return sum;
}

/// The least excess of the rows that are not fixed. Waits.
template <class Space, class Scalar>
double least_excess(const Space &space, const AdiGrid &grid, const AdiParts<Scalar> &parts, Scalar sign)
{
  double least = 0;
  Kokkos::parallel_reduce(
      "weft adi excess", Kokkos::RangePolicy<Space>(space, 0, grid.rows),
      KOKKOS_LAMBDA(const Index i, double &so_far) {
        const double excess = static_cast<double>(sign * parts.diagonal[i] - on_lines(grid, parts, i));
        if (!parts.fixed[i] && excess < so_far) so_far = excess;
      },
      Kokkos::Min<double>(least));
  return least;
}

/// Shares the diagonal out. `mean`: the mean strength of a coupling along each direction.
template <class Space, class Scalar>
void share_diagonal(const Space &space, const AdiGrid &grid, const AdiParts<Scalar> &parts, Scalar sign, Scalar least,
                    const std::array<Scalar, 3> &mean_strength)
{
  const Scalar mean[3] = {mean_strength[0], mean_strength[1], mean_strength[2]};
  const int directions = grid.has[0] + grid.has[1] + grid.has[2];
  Kokkos::parallel_for(
      "weft adi share", Kokkos::RangePolicy<Space>(space, 0, grid.rows), KOKKOS_LAMBDA(const Index i) {
        const Scalar excess = sign * parts.diagonal[i] - on_lines(grid, parts, i) - least;
        Scalar weight[3] = {0, 0, 0}, sum = 0;
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          const Scalar l = Kokkos::abs(parts.lower[k][i]), u = Kokkos::abs(parts.upper[k][i]);
          weight[k] = (l == 0 && u == 0) ? 2 * mean[k] : l == 0 ? u : u == 0 ? l : Scalar(0);
          sum += weight[k];
        }
        for (int k = 0; k < 3; k++) {
          if (!grid.has[k]) continue;
          const Scalar own  = Kokkos::abs(parts.lower[k][i]) + Kokkos::abs(parts.upper[k][i]);
          const Scalar more = sum > 0 ? excess * (weight[k] / sum) : excess / directions;
          parts.share[k][i] = parts.fixed[i] ? parts.diagonal[i] : sign * (own + least / directions + more);
        }
      });
}

} // namespace weft
