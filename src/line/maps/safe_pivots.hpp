/// Cuts a factor's edges so that elimination without pivoting along what is left cannot break down, and so that the lines are worth more
/// than the diagonal.
///
/// Pivots of a line, relative to their diagonals, are p_i = 1 - q_i / p_{i-1} with q_i = a_{i,i-1} a_{i-1,i} / (a_ii a_{i-1,i-1}). They
/// stay positive, from whichever end, if W = (sqrt(max(q, 0))) along the line has a spectral radius below 1. By Collatz and Wielandt (R. S.
/// Varga, Matrix Iterative Analysis, 1962, theorem 2.2) that radius is at most max_i R_i, R_i = (W v)_i / v_i, for any positive v. What is
/// stored of v is the share W_ij v_j / v_i of each place: any two shares of an edge whose product is q belong to some v, since lines have
/// no cycles. The first shares are |a_ij| / |a_ii| (or |a_ji| / |a_ii|, whichever leaves fewer rows in doubt), which say yes to diagonally
/// dominant rows at once; elsewhere steps v <- (v + W v) / 2, which never raise the bound, bring v closer to the eigenvector.
///
/// R_i <= 1 is enough for the pivots, and for lines that are all that couples their rows: then each line's T is a block of the diagonal of
/// A. Where the matrix couples rows of a line that are no neighbours on it, T is that block without some of its entries, and may be near
/// singular though the block is not. With r_i = sum |a_ij| / |a_ii| over the entries left out, T^-1 times them is bounded by r_i / (1 -
/// R_i) along the row, what Jacobi iteration leaves of the block by R_i + r_i. The former may be `pivot_loss` times the latter at most:
/// always so for diagonally dominant rows, and a limit to R_i for others. Only entries that span 2 or 3 rows of a line are looked for.
#pragma once
#include "line/maps/two_factor.hpp"

namespace weft {

inline constexpr int pivot_smoothings = 16;
inline constexpr int pivot_rounds     = 6;
inline constexpr double pivot_loss    = 2; ///< not less than 2, or diagonally dominant rows would be doubted

/// Relative excess over a bound that is rounding.
template <class Scalar>
inline constexpr double pivot_rounding = 64.0 * std::numeric_limits<RealOf<Scalar>>::epsilon();

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
        const double ii = value_in_graph(graph.entry(i, i));
        for (int s = 0; s < 2; s++) {
          const RowNumber j      = bound.factor.partner(2 * i + s);
          bound.share(2 * i + s) = 0;
          if (j == no_row) continue;
          const auto a = graph.coupling(i, j);
          // Only a positive product takes from a pivot. Rows without a diagonal have no pivot but through their partners: those edges stay.
          const bool takes = ii != 0 && a.jj != 0 && a.ij != 0 && a.ji != 0 && ((a.ij > 0) == (a.ji > 0)) == ((ii > 0) == (a.jj > 0));
          if (takes) bound.share(2 * i + s) = modulus((by_rows ? a.ij : a.ji) / ii);
        }
      });
}

/// The numbers of the partners, ghosts' partners too.
template <class Space>
OwnedArray<RowNumber, Space> partner_numbers(const Space &space, const Ghosts<Space> &ghosts, const Factor<Space> &factor)
{
  if (!ghosts.ranks) return factor.partner;
  const auto numbers = table<RowNumber, Space>("weft partner numbers", factor.places());
  Kokkos::parallel_for(
      "weft partner numbers", Kokkos::RangePolicy<Space>(space, 0, 2 * factor.rows), KOKKOS_LAMBDA(const RowNumber port) {
        const RowNumber j = factor.partner(port);
        numbers(port)     = j == no_row ? no_row : factor.numbering.number(j);
      });
  bring(space, ghosts, numbers, 2);
  return numbers;
}

/// The rests, for the lines as they are now.
template <class Space, class Scalar, class Int>
void find_rests(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph, const PivotBound<Space> &bound)
{
  const auto next   = partner_numbers(space, graph.ghosts, bound.factor); // a row away, through each place
  const auto second = table<RowNumber, Space>("weft rows two away", bound.factor.places());
  Kokkos::parallel_for(
      "weft rows two away", Kokkos::RangePolicy<Space>(space, 0, graph.rows), KOKKOS_LAMBDA(const RowNumber i) {
        for (int s = 0; s < 2; s++) {
          const RowNumber j = bound.factor.partner(2 * i + s);
          second(2 * i + s) = j == no_row ? no_row : next(2 * j + 1 - bound.factor.place_at(j, i));
        }
      });
  bring(space, graph.ghosts, second, 2);
  Kokkos::parallel_for(
      "weft rests of rows", Kokkos::RangePolicy<Space>(space, 0, graph.rows), KOKKOS_LAMBDA(const RowNumber i) {
        RowNumber near[4] = {no_row, no_row, no_row, no_row}; // two and three rows away
        for (int s = 0; s < 2; s++) {
          const RowNumber j = bound.factor.partner(2 * i + s);
          if (j == no_row) continue;
          const RowNumber on = 2 * j + 1 - bound.factor.place_at(j, i);
          near[2 * s]        = next(on);
          near[2 * s + 1]    = second(on);
        }
        double rest = 0, diagonal = 0;
        const auto add = [&](RowNumber j, double size) {
          const RowNumber number = bound.factor.numbering.number(j);
          bool is_near           = false;
          for (const RowNumber other : near) is_near = is_near || other == number;
          if (is_near && bound.factor.partner(2 * i) != j && bound.factor.partner(2 * i + 1) != j) rest += size;
        };
        for (Int k = graph.matrix.row_starts[i]; k < graph.matrix.row_starts[i + 1]; k++) {
          const Int column  = graph.matrix.columns[k];
          const double size = static_cast<double>(modulus(graph.matrix.values[k]));
          if (column == static_cast<Int>(i)) diagonal = size;
          if (graph.couples(i, column)) add(static_cast<RowNumber>(column), size);
        }
        graph.ghosts.visit(i, [&](RowNumber j, double mine, double) { add(j, modulus(mine)); });
        bound.rest(i) = diagonal > 0 ? rest / diagonal : 0;
      });
}

/// Sums the shares, marks the rows in doubt and counts them. Waits.
template <class Space>
Index mark_unsafe(const Space &space, const Ghosts<Space> &ghosts, const PivotBound<Space> &bound,
                  const OwnedArray<std::uint8_t, Space> &is_unsafe)
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
  return ghosts.sum(unsafe);
}

/// A step v <- (v + W v) / 2: the share W_ij v_j / v_i becomes (1 + R_j) / (1 + R_i) times as much.
template <class Space>
void smooth_shares(const Space &space, const Ghosts<Space> &ghosts, const PivotBound<Space> &bound)
{
  const auto rows = Kokkos::RangePolicy<Space>(space, 0, bound.factor.rows);
  Kokkos::parallel_for(
      "weft sum pivot shares", rows, KOKKOS_LAMBDA(const RowNumber i) { bound.sum(i) = bound.shares(i); });
  bring(space, ghosts, bound.sum, 1);
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
void cut_unsafe(const Space &space, const Ghosts<Space> &ghosts, const Factor<Space> &factor,
                const OwnedArray<std::uint8_t, Space> &is_unsafe, bool last)
{
  const OwnedArray<std::uint8_t, Space> named("weft edges to cut", factor.places()), cut("weft cuts", factor.places());
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
  bring(space, ghosts, is_unsafe, 1);
  bring(space, ghosts, named, 2);
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
  bring_rows(space, ghosts, factor.partner, 2);
}

template <class Space, class Scalar, class Int>
void make_pivots_safe(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph, const Factor<Space> &factor)
{
  const auto &ghosts = graph.ghosts;
  const auto n = static_cast<std::size_t>(graph.rows), all = static_cast<std::size_t>(ghosts.numbering.all());
  const PivotBound<Space> bound{factor, OwnedArray<double, Space>("weft pivot shares", 2 * n),
                                OwnedArray<double, Space>("weft pivot sums", all), OwnedArray<double, Space>("weft rests of rows", n),
                                pivot_rounding<Scalar>};
  const OwnedArray<std::uint8_t, Space> is_unsafe("weft unsafe rows", all);
  find_rests(space, graph, bound);
  start_shares(space, graph, bound, true);
  const Index by_rows = mark_unsafe(space, ghosts, bound, is_unsafe);
  if (by_rows == 0) return;
  start_shares(space, graph, bound, false);
  if (mark_unsafe(space, ghosts, bound, is_unsafe) >= by_rows) start_shares(space, graph, bound, true);
  for (int round = 1; round <= pivot_rounds; round++) {
    for (int k = 0; k < pivot_smoothings; k++) smooth_shares(space, ghosts, bound);
    if (mark_unsafe(space, ghosts, bound, is_unsafe) == 0) return;
    cut_unsafe(space, ghosts, factor, is_unsafe, round == pivot_rounds);
    find_rests(space, graph, bound);
  }
}

} // namespace weft
