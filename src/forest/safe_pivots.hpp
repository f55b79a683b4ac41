/// Cuts a factor's edges so that elimination without pivoting along what is left cannot break down, and so that the lines are worth more than
/// the diagonal.
///
/// Pivots of a line, relative to their diagonals, are p_i = 1 - q_i / p_{i-1} with q_i = a_{i,i-1} a_{i-1,i} / (a_ii a_{i-1,i-1}). They stay
/// positive, from whichever end, if W = (sqrt(max(q, 0))) along the line has a spectral radius below 1. By Collatz and Wielandt (R. S. Varga,
/// Matrix Iterative Analysis, 1962, theorem 2.2) that radius is at most max_i R_i, R_i = (W v)_i / v_i, for any positive v. What is stored of v
/// is the share W_ij v_j / v_i of each place: any two shares of an edge whose product is q belong to some v, since lines have no cycles. The
/// first shares are |a_ij| / |a_ii| (or |a_ji| / |a_ii|, whichever leaves fewer rows in doubt), which say yes to diagonally dominant rows at
/// once; elsewhere steps v <- (v + W v) / 2, which never raise the bound, bring v closer to the eigenvector.
///
/// R_i <= 1 is enough for the pivots, and for lines that are all that couples their rows: then each line's T is a block of the diagonal of A.
/// Where the matrix couples rows of a line that are no neighbours on it, T is that block without some of its entries, and may be near singular
/// though the block is not. With r_i = sum |a_ij| / |a_ii| over the entries left out, T^-1 times them is bounded by r_i / (1 - R_i) along the row,
/// what Jacobi iteration leaves of the block by R_i + r_i. The former may be `pivot_loss` times the latter at most: always so for diagonally
/// dominant rows, and a limit to R_i for others. Only entries that span 2 .. `pivot_reach` rows of a line are looked for.
#pragma once
#include "forest/two_factor.hpp"

namespace weft {

inline constexpr int pivot_smoothings = 16;
inline constexpr int pivot_rounds     = 6;
inline constexpr int pivot_reach      = 3;
inline constexpr double pivot_loss    = 2; ///< not less than 2, or diagonally dominant rows would be doubted

/// Relative excess over a bound that is rounding.
template <class Scalar>
inline constexpr double pivot_rounding = 64.0 * std::numeric_limits<Scalar>::epsilon();

template <class Space>
struct PivotBound {
  Factor<Space> factor;
  OwnedArray<double, Space> share; ///< of each place
  OwnedArray<double, Space> sum;   ///< R of each row
  OwnedArray<double, Space> rest;  ///< r of each row
  double rounding;

  KOKKOS_FUNCTION double shares(RowNumber i) const
  {
    double sum = 0;
    for (int s = 0; s < 2; s++)
      if (factor.partner(2 * i + s) != no_row) sum += share(2 * i + s);
    return sum;
  }
  KOKKOS_FUNCTION bool is_safe(RowNumber i, double in) const
  {
    if (!(in <= 1 + rounding)) return false;
    const double out = rest(i);
    return out <= pivot_loss * (in + out) * (1 - in + rounding) + rounding;
  }
};

/// The shares. `by_rows` takes |a_ij| of row i for the share of place (i, j), else |a_ji|.
template <class Space, class Scalar, class Int>
void start_shares(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph, const PivotBound<Space> &bound, bool by_rows)
{
  Kokkos::parallel_for(
      "weft pivot shares", Kokkos::RangePolicy<Space>(space, 0, graph.rows), KOKKOS_LAMBDA(const RowNumber i) {
        const double ii = static_cast<double>(graph.entry(i, i));
        for (int s = 0; s < 2; s++) {
          const RowNumber j      = bound.factor.partner(2 * i + s);
          bound.share(2 * i + s) = 0;
          if (j == no_row) continue;
          const double jj = static_cast<double>(graph.entry(j, j));
          const double ij = static_cast<double>(graph.entry(i, j)), ji = static_cast<double>(graph.entry(j, i));
          // Only a positive product takes from a pivot. Rows without a diagonal have no pivot but through their partners: those edges stay.
          const bool takes = ii != 0 && jj != 0 && ij != 0 && ji != 0 && ((ij > 0) == (ji > 0)) == ((ii > 0) == (jj > 0));
          if (takes) bound.share(2 * i + s) = Kokkos::abs((by_rows ? ij : ji) / ii);
        }
      });
}

/// The rests, for the lines as they are now.
template <class Space, class Scalar, class Int>
void find_rests(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph, const PivotBound<Space> &bound)
{
  Kokkos::parallel_for(
      "weft rests of rows", Kokkos::RangePolicy<Space>(space, 0, graph.rows), KOKKOS_LAMBDA(const RowNumber i) {
        RowNumber near[2 * (pivot_reach - 1)];
        for (int s = 0; s < 2; s++) {
          RowNumber before = i, here = bound.factor.partner(2 * i + s);
          for (int k = 1; k < pivot_reach; k++) { // the partner itself is on the line
            const RowNumber next = here == no_row ? no_row : bound.factor.partner(2 * here + 1 - bound.factor.place_at(here, before));
            near[s * (pivot_reach - 1) + k - 1] = next;
            before                              = here;
            here                                = next;
          }
        }
        double rest = 0, diagonal = 0;
        for (Int k = graph.matrix.row_starts[i]; k < graph.matrix.row_starts[i + 1]; k++) {
          const Int column  = graph.matrix.columns[k];
          const double size = Kokkos::abs(static_cast<double>(graph.matrix.values[k]));
          if (column == static_cast<Int>(i)) diagonal = size;
          if (!graph.couples(i, column)) continue;
          bool is_near = false;
          for (const RowNumber j : near) is_near = is_near || static_cast<Int>(j) == column;
          if (is_near && bound.factor.partner(2 * i) != column && bound.factor.partner(2 * i + 1) != column) rest += size;
        }
        bound.rest(i) = diagonal > 0 ? rest / diagonal : 0;
      });
}

/// Sums the shares, marks the rows in doubt and counts them. Waits.
template <class Space>
Index mark_unsafe(const Space &space, const PivotBound<Space> &bound, const OwnedArray<std::uint8_t, Space> &is_unsafe)
{
  Index unsafe = 0;
  Kokkos::parallel_reduce(
      "weft unsafe pivots", Kokkos::RangePolicy<Space>(space, 0, bound.factor.rows),
      KOKKOS_LAMBDA(const RowNumber i, Index &count) {
        bound.sum(i) = bound.shares(i);
        is_unsafe(i) = !bound.is_safe(i, bound.sum(i));
        count += is_unsafe(i);
      },
      unsafe);
  return unsafe;
}

/// A step v <- (v + W v) / 2: the share W_ij v_j / v_i becomes (1 + R_j) / (1 + R_i) times as much.
template <class Space>
void smooth_shares(const Space &space, const PivotBound<Space> &bound)
{
  const auto rows = Kokkos::RangePolicy<Space>(space, 0, bound.factor.rows);
  Kokkos::parallel_for(
      "weft sum pivot shares", rows, KOKKOS_LAMBDA(const RowNumber i) { bound.sum(i) = bound.shares(i); });
  Kokkos::parallel_for(
      "weft smooth pivot shares", rows, KOKKOS_LAMBDA(const RowNumber i) {
        for (int s = 0; s < 2; s++) {
          const RowNumber j = bound.factor.partner(2 * i + s);
          if (j != no_row) bound.share(2 * i + s) *= (1 + bound.sum(j)) / (1 + bound.sum(i));
        }
      });
}

/// Each unsafe row names its weakest edge. It is cut where the partner names it too or is safe; in the last round in any case.
template <class Space>
void cut_unsafe(const Space &space, const Factor<Space> &factor, const OwnedArray<std::uint8_t, Space> &is_unsafe, bool last)
{
  const auto places = 2 * static_cast<std::size_t>(factor.rows);
  const OwnedArray<std::uint8_t, Space> named("weft edges to cut", places), cut("weft cuts", places);
  const auto rows = Kokkos::RangePolicy<Space>(space, 0, factor.rows);
  Kokkos::parallel_for(
      "weft name edges", rows, KOKKOS_LAMBDA(const RowNumber i) {
        if (!is_unsafe(i)) return;
        const bool has[2] = {factor.partner(2 * i) != no_row, factor.partner(2 * i + 1) != no_row};
        if (last) { // both: a row alone is safe
          for (int s = 0; s < 2; s++) named(2 * i + s) = has[s];
          return;
        }
        const int weakest      = has[0] && (!has[1] || stronger(factor.edge(i, 1), factor.edge(i, 0))) ? 0 : 1;
        named(2 * i + weakest) = has[weakest];
      });
  Kokkos::parallel_for(
      "weft agree on cuts", rows, KOKKOS_LAMBDA(const RowNumber i) {
        for (int s = 0; s < 2; s++) {
          const RowNumber j = factor.partner(2 * i + s);
          if (j == no_row) continue;
          const bool mine = named(2 * i + s), theirs = named(2 * j + factor.place_at(j, i));
          cut(2 * i + s) = last ? mine || theirs : (mine && theirs) || (mine && !is_unsafe(j)) || (theirs && !is_unsafe(i));
        }
      });
  Kokkos::parallel_for(
      "weft cut", rows, KOKKOS_LAMBDA(const RowNumber i) {
        for (int s = 0; s < 2; s++)
          if (cut(2 * i + s)) factor.partner(2 * i + s) = no_row;
      });
}

template <class Space, class Scalar, class Int>
void make_pivots_safe(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph, const Factor<Space> &factor)
{
  const auto n = static_cast<std::size_t>(graph.rows);
  const PivotBound<Space> bound{factor, OwnedArray<double, Space>("weft pivot shares", 2 * n),
                                OwnedArray<double, Space>("weft pivot sums", n), OwnedArray<double, Space>("weft rests of rows", n),
                                pivot_rounding<Scalar>};
  const OwnedArray<std::uint8_t, Space> is_unsafe("weft unsafe rows", n);
  find_rests(space, graph, bound);
  start_shares(space, graph, bound, true);
  const Index by_rows = mark_unsafe(space, bound, is_unsafe);
  if (by_rows == 0) return;
  start_shares(space, graph, bound, false);
  if (mark_unsafe(space, bound, is_unsafe) >= by_rows) start_shares(space, graph, bound, true);
  for (int round = 1; round <= pivot_rounds; round++) {
    for (int k = 0; k < pivot_smoothings; k++) smooth_shares(space, bound);
    if (mark_unsafe(space, bound, is_unsafe) == 0) return;
    cut_unsafe(space, factor, is_unsafe, round == pivot_rounds);
    find_rests(space, graph, bound);
  }
}

} // namespace weft
