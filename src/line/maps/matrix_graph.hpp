/// The graph of a CSR matrix: its rows, and for each pair of rows that couple the weight max(|a_ij|, |a_ji|) / sqrt(|a_ii a_jj|).
#pragma once
#include <Kokkos_Core.hpp>

#include "line/maps/edge.hpp"
#include "line/maps/ghosts.hpp"
#include "line/maps/line_map.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// Which entries count: those of the square block of columns 0 .. rows-1, and the couplings to ghosts, if there are any. Whatever else a
/// parallel matrix stores is not looked at.
template <class Space, class Scalar, class Int>
struct MatrixGraph {
  RowNumber rows;
  CsrMatrix<Scalar, Int> matrix;
  ForestOptions options;
  Ghosts<Space> ghosts;
  OwnedArray<double, Space> scale; ///< 1 / sqrt(|a_ii|); where the diagonal is zero or missing the largest entry of the row stands for it
  OwnedArray<double, Space> diagonal; ///< of rows and ghosts, for the ghosts; empty on one rank

  /// Where the matrix is not symmetric: what the entries of other rows say of row i (a CSR of the transposed matrix's weights), else empty.
  OwnedArray<Int, Space> from_starts;
  OwnedArray<RowNumber, Space> from_rows;
  OwnedArray<Weight, Space> from_weights;
  bool symmetric = true;

  /// The greatest weight of each row; empty where the options do not ask for it.
  OwnedArray<Weight, Space> strongest;

  KOKKOS_FUNCTION bool couples(RowNumber i, Int column) const { return column >= 0 && column < rows && column != static_cast<Int>(i); }
  /// Equal, to the bit, for a_ij and a_ji of a symmetric matrix.
  KOKKOS_FUNCTION Weight weight(RowNumber i, RowNumber j, Scalar entry) const
  {
    return weight_of(static_cast<double>(modulus(entry)) * (scale(i) * scale(j)));
  }
  /// Calls visit(j, weight) for each entry that couples rows i and j of this rank, of either row: a partner may come twice, with two
  /// weights, the greater one being the edge's.
  template <class Visit>
  KOKKOS_FUNCTION void visit_own(RowNumber i, const Visit &visit) const
  {
    for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++) {
      const Int column = matrix.columns[k];
      if (!couples(i, column)) continue;
      const auto j   = static_cast<RowNumber>(column);
      const Weight w = weight(i, j, matrix.values[k]);
      if (w != no_weight) visit(j, w);
    }
    if (symmetric) return;
    for (Int k = from_starts(i); k < from_starts(i + 1); k++) visit(from_rows(k), from_weights(k));
  }
  /// The same for ghosts too.
  template <class Visit>
  KOKKOS_FUNCTION void visit_all(RowNumber i, const Visit &visit) const
  {
    visit_own(i, visit);
    ghosts.visit(i, [&](RowNumber j, double mine, double theirs) {
      const Weight w = weight_of(Kokkos::max(modulus(mine), modulus(theirs)) * (scale(i) * scale(j)));
      if (w != no_weight) visit(j, w);
    });
  }
  /// The same for the edges that are strong enough for the options.
  template <class Visit>
  KOKKOS_FUNCTION void visit(RowNumber i, const Visit &visit) const
  {
    const bool relative = strongest.extent(0) > 0;
    visit_all(i, [&](RowNumber j, Weight w) {
      if (size_of(w) < options.least_weight) return;
      if (relative && size_of(w) < options.least_relative * size_of(Kokkos::max(strongest(i), strongest(j)))) return;
      visit(j, w);
    });
  }
  KOKKOS_FUNCTION Edge edge(Weight w, RowNumber i, RowNumber j) const
  {
    return {w, ghosts.numbering.number(i), ghosts.numbering.number(j)};
  }
  KOKKOS_FUNCTION Scalar entry(RowNumber i, RowNumber j) const
  {
    for (Int k = matrix.row_starts[i]; k < matrix.row_starts[i + 1]; k++)
      if (matrix.columns[k] == static_cast<Int>(j)) return matrix.values[k];
    return 0;
  }
  /// a_ij, a_ji and a_jj, for a row of this rank and a row or ghost that it couples to.
  struct Coupling {
    double ij = 0, ji = 0, jj = 0;
  };
  KOKKOS_FUNCTION Coupling coupling(RowNumber i, RowNumber j) const
  {
    if (j < rows) return {value_in_graph(entry(i, j)), value_in_graph(entry(j, i)), value_in_graph(entry(j, j))};
    Coupling found{0, 0, diagonal(j)};
    ghosts.visit(i, [&](RowNumber ghost, double mine, double theirs) {
      if (ghost == j) found.ij = mine, found.ji = theirs;
    });
    return found;
  }
};

/// Fills graph.scale. Returns the first row with an entry that is not finite, or graph.rows. Waits for it.
template <class Space, class Scalar, class Int>
RowNumber scale_rows(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph)
{
  RowNumber first = graph.rows;
  Kokkos::parallel_reduce(
      "weft row scales", Kokkos::RangePolicy<Space>(space, 0, graph.rows),
      KOKKOS_LAMBDA(const RowNumber i, RowNumber &bad) {
        double diagonal = 0, largest = 0;
        bool finite = true;
        for (Int k = graph.matrix.row_starts[i]; k < graph.matrix.row_starts[i + 1]; k++) {
          const Int column = graph.matrix.columns[k];
          if (column < 0 || column >= graph.rows) continue;
          const double size = static_cast<double>(modulus(graph.matrix.values[k]));
          finite            = finite && size <= std::numeric_limits<RealOf<Scalar>>::max();
          if (column == static_cast<Int>(i)) diagonal = size;
          largest = Kokkos::max(largest, size);
        }
        graph.ghosts.visit(i, [&](RowNumber, double mine, double) {
          finite  = finite && modulus(mine) <= std::numeric_limits<RealOf<Scalar>>::max();
          largest = Kokkos::max(largest, modulus(mine));
        });
        const double size = diagonal > 0 ? diagonal : largest;
        graph.scale(i)    = finite && size > 0 ? 1 / Kokkos::sqrt(size) : 1;
        if (!finite && i < bad) bad = i;
      },
      Kokkos::Min<RowNumber>(first));
  return Kokkos::min(first, graph.rows);
}

/// Whether the weights of a_ij and a_ji are equal for all pairs of rows of this rank: whether {(i, j, w)} and {(j, i, w)} are the same set,
/// told by sums of scrambled numbers over both. Two different sets with equal sums (one case in 2^64) would cost edges, not correctness.
/// Waits.
template <class Space, class Scalar, class Int>
bool weights_are_symmetric(const Space &space, const MatrixGraph<Space, Scalar, Int> &graph)
{
  std::uint64_t difference = 0;
  Kokkos::parallel_reduce(
      "weft symmetric weights", Kokkos::RangePolicy<Space>(space, 0, graph.rows),
      KOKKOS_LAMBDA(const RowNumber i, std::uint64_t &sum) {
        graph.visit_own(i, [&](RowNumber j, Weight w) {
          sum += scramble(scramble(pair_number(i, j)) + w) - scramble(scramble(pair_number(j, i)) + w);
        });
      },
      difference);
  return difference == 0;
}

/// Gives each row what the entries of other rows say of it. The order within a row is that of the threads: nothing may depend on it.
template <class Space, class Scalar, class Int>
void transpose_weights(const Space &space, MatrixGraph<Space, Scalar, Int> &graph)
{
  const auto n      = static_cast<std::size_t>(graph.rows);
  const auto direct = graph; // its own entries only
  const OwnedArray<Int, Space> starts("weft transposed starts", n + 1), filled("weft transposed fill", n);
  const auto rows = Kokkos::RangePolicy<Space>(space, 0, graph.rows);
  Kokkos::parallel_for(
      "weft count columns", rows,
      KOKKOS_LAMBDA(const RowNumber i) { direct.visit_own(i, [&](RowNumber j, Weight) { Kokkos::atomic_inc(&starts(j + 1)); }); });
  Int entries = 0;
  Kokkos::parallel_scan(
      "weft transposed starts", Kokkos::RangePolicy<Space>(space, 0, graph.rows + 1),
      KOKKOS_LAMBDA(const RowNumber i, Int &sum, const bool last) {
        sum += starts(i);
        if (last) starts(i) = sum;
      },
      entries);
  const auto from    = table<RowNumber, Space>("weft transposed rows", entries);
  const auto weights = table<Weight, Space>("weft transposed weights", entries);
  Kokkos::parallel_for(
      "weft transpose weights", rows, KOKKOS_LAMBDA(const RowNumber i) {
        direct.visit_own(i, [&](RowNumber j, Weight w) {
          const Int k = starts(j) + Kokkos::atomic_fetch_inc(&filled(j));
          from(k)     = i;
          weights(k)  = w;
        });
      });
  graph.from_starts  = starts;
  graph.from_rows    = from;
  graph.from_weights = weights;
  graph.symmetric    = false;
}

template <class Space, class Scalar, class Int>
void find_strongest(const Space &space, MatrixGraph<Space, Scalar, Int> &graph)
{
  const auto all = graph; // without `strongest`
  const OwnedArray<Weight, Space> strongest("weft strongest edge", static_cast<std::size_t>(graph.ghosts.numbering.all()));
  Kokkos::parallel_for(
      "weft strongest edge", Kokkos::RangePolicy<Space>(space, 0, graph.rows), KOKKOS_LAMBDA(const RowNumber i) {
        Weight most = no_weight;
        all.visit_all(i, [&](RowNumber, Weight w) { most = Kokkos::max(most, w); });
        strongest(i) = most;
      });
  bring(space, graph.ghosts, strongest, 1);
  graph.strongest = strongest;
}

template <class Space, class Scalar, class Int>
void bring_diagonal(const Space &space, MatrixGraph<Space, Scalar, Int> &graph)
{
  const OwnedArray<double, Space> diagonal("weft diagonal", static_cast<std::size_t>(graph.ghosts.numbering.all()));
  const auto all = graph;
  Kokkos::parallel_for(
      "weft diagonal", Kokkos::RangePolicy<Space>(space, 0, graph.rows),
      KOKKOS_LAMBDA(const RowNumber i) { diagonal(i) = value_in_graph(all.entry(i, i)); });
  bring(space, graph.ghosts, diagonal, 1);
  graph.diagonal = diagonal;
}

/// The graph of a matrix, and through `not_finite` the first row with an entry that is not finite, if there is one.
template <class Space, class Scalar, class Int>
MatrixGraph<Space, Scalar, Int> graph_of(const Space &space, const Ghosts<Space> &ghosts, const CsrMatrix<Scalar, Int> &matrix,
                                         const ForestOptions &options, std::optional<Index> &not_finite)
{
  const RowNumber rows = ghosts.numbering.rows;
  MatrixGraph<Space, Scalar, Int> graph;
  graph.rows            = rows;
  graph.matrix          = matrix;
  graph.options         = options;
  graph.ghosts          = ghosts;
  graph.scale           = OwnedArray<double, Space>("weft row scales", static_cast<std::size_t>(ghosts.numbering.all()));
  const RowNumber first = scale_rows(space, graph);
  not_finite            = first < rows ? std::optional<Index>(first) : std::nullopt;
  bring(space, ghosts, graph.scale, 1);
  if (!weights_are_symmetric(space, graph)) transpose_weights(space, graph);
  if (options.least_relative > 0) find_strongest(space, graph);
  if (ghosts.ranks) bring_diagonal(space, graph);
  return graph;
}

} // namespace weft
