/// The inverse on the coarsest grid, also of a singular operator; of a stack of planes that of each.
#pragma once
#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// The pieces of a stack, and the nodes of each in their order.
struct Pieces {
  Grid grid, piece;
  Index count = 1, size = 0;

  Pieces() = default;
  explicit Pieces(const Grid &whole) : grid(whole), piece(whole.piece()), count(whole.nodes() / piece.nodes()), size(piece.nodes()) {}
  WEFT_INLINE Index node(Index of, Index row) const
  {
    if (count == 1) return row;
    Index at[3];
    piece.position(row, at);
    for (int d = 0; d < 3; d++) {
      if (grid.apart[d]) at[d] = of % grid.n[d];
      if (grid.apart[d]) of /= grid.n[d];
    }
    return grid.node(at);
  }
  WEFT_INLINE void find(const Index (&at)[3], Index *of, Index *row) const
  {
    Index within[3], times = 1;
    *of = 0;
    for (int d = 0; d < 3; d++) {
      within[d] = grid.apart[d] ? 0 : at[d];
      if (grid.apart[d]) *of += times * at[d];
      if (grid.apart[d]) times *= grid.n[d];
    }
    *row = piece.node(within);
  }
};

/// A^-1 of a small operator as a dense matrix, row after row, by in-place elimination with the largest diagonal as the pivot (the sweep operator:
/// Goodnight, The American Statistician 33 (1979)). A pivot that is nothing beside its own diagonal is left out, with its row and column: so
/// the operator of a singular problem has an inverse on what the other unknowns span, symmetric where it is, and each part of a grid that
/// falls to pieces leaves out one of its own.
template <class Space>
struct Inverse {
  OwnedArray<double, Space> values, diagonal; ///< n * n for each piece; the diagonal as it was
  OwnedArray<double, Space> column;           ///< of the pivot: work space
  OwnedArray<double, Space> state;            ///< by row: 1 once it was a pivot, else 0
  OwnedArray<Index, Space> negative; ///< the first node whose pivot has the other sign than its diagonal, or how many nodes there are
  Pieces pieces;
  Index n = 0; ///< nodes of a piece

  Inverse() = default;
  explicit Inverse(const Grid &grid)
      : values("weft boxmg inverse", static_cast<std::size_t>(grid.piece().nodes() * grid.nodes())),
        diagonal("weft boxmg coarsest diagonal", static_cast<std::size_t>(grid.nodes())),
        column("weft boxmg coarsest column", static_cast<std::size_t>(grid.nodes())),
        state("weft boxmg coarsest pivots", static_cast<std::size_t>(grid.nodes())), negative("weft boxmg coarsest sign", 1), pieces(grid),
        n(grid.piece().nodes())
  {
  }

  template <class Scalar>
  void make(const Space &space, const Operator<Scalar> &a)
  {
    // What rounding leaves of a pivot that should be 0; contrasts of coefficients make small ones that are not.
    constexpr double nothing = 1e-12;
    // One of the other sign may be the rounding of the sums that all nodes of the finest grid have gone into.
    const double doubtful = Kokkos::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
    const Index size      = n;
    const int rows        = static_cast<int>(n); // a device divides 64-bit numbers slowly
    const auto v = values, d = diagonal, factors = column;
    const auto s        = state;
    const auto sign     = negative;
    const Pieces stack  = pieces;
    const Index nowhere = a.grid.nodes();
    Kokkos::deep_copy(space, values, 0.0);
    over_nodes(
        "weft boxmg coarsest", space, a.grid, KOKKOS_LAMBDA(const Index node, const Index(&at)[3]) {
          Index piece, row, column;
          stack.find(at, &piece, &row);
          const Index here = piece * size + row;
          for (int k = 0; k < a.stencil.count; k++) {
            Index there[3] = {at[0], at[1], at[2]};
            if (!a.grid.move(there, a.stencil.offset[k])) continue;
            stack.find(there, &piece, &column);
            v(here * size + column) += static_cast<double>(a.entry(k, node));
          }
          d(here) = v(here * size + row);
          s(here) = 0;
          if (node == 0) sign(0) = nowhere;
        });
    // One team eliminates a piece, each step after the other: on a device near to it where there is room.
    constexpr Index near_rows = 70; // 41 of 48 KiB
    const bool near           = !is_host_space<Space> && n <= near_rows;
    const int words = near ? static_cast<int>((n * n + 3 * n) * static_cast<Index>(sizeof(double))) : 0, threads = near ? 256 : 512;
    using Policy = Kokkos::TeamPolicy<Space>;
    Policy policy(space, static_cast<int>(stack.count), is_host_space<Space> ? 1 : threads);
    Kokkos::parallel_for(
        "weft boxmg inverse", policy.set_scratch_size(0, Kokkos::PerTeam(words)), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          using Best                 = Kokkos::MaxLoc<double, Index>;
          const Index first          = team.league_rank() * size;
          double *const kept         = v.data() + first * size;
          double *const m            = near ? static_cast<double *>(team.team_shmem().get_shmem(words)) : kept;
          double *const own          = near ? m + size * size : d.data() + first; // the diagonal as it was
          double *const pivot_column = near ? own + size : factors.data() + first;
          double *const done         = near ? pivot_column + size : s.data() + first;
          if (near) {
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * rows), [&](const int k) { m[k] = kept[k]; });
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](const Index i) {
              own[i]  = d(first + i);
              done[i] = 0;
            });
            team.team_barrier();
          }
          for (Index step = 0; step < size; step++) {
            typename Best::value_type best;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, size),
                [&](const Index i, typename Best::value_type &most) {
                  const double share = own[i] != 0 ? Kokkos::abs(m[i * size + i] / own[i]) : 0;
                  if (done[i] == 0 && share > most.val) most = {share, i};
                },
                Best(best));
            if (!(best.val > nothing)) break;
            const Index p      = best.loc;
            const double pivot = m[p * size + p];
            if (pivot * own[p] < 0 && best.val < doubtful) break;
            team.team_barrier();
            Kokkos::single(Kokkos::PerTeam(team), [&]() {
              done[p] = 1;
              if (pivot * own[p] < 0) Kokkos::atomic_min(&sign(0), stack.node(team.league_rank(), p));
              m[p * size + p] = 1;
            });
            team.team_barrier();
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](const Index j) {
              m[p * size + j] /= pivot;
              pivot_column[j] = j == p ? 0 : m[j * size + p];
            });
            team.team_barrier();
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * rows), [&](const int k) {
              const int i = k / rows, j = k - i * rows;
              const double factor = pivot_column[i];
              if (i != p) m[k] = (j == p ? 0 : m[k]) - (factor == 0 ? 0 : factor * m[p * size + j]);
            });
            team.team_barrier();
          }
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * rows), [&](const int k) {
            const int i = k / rows, j = k - i * rows;
            kept[k] = done[i] != 1 || done[j] != 1 ? 0 : m[k];
          });
        });
  }

  /// x = A^-1 b, or its transpose.
  template <class Scalar>
  void apply(const Space &space, const Scalar *b, Scalar *x, Transpose transpose) const
  {
    const Index size = n, row = transpose == Transpose::no ? n : 1, along = transpose == Transpose::no ? 1 : n;
    const auto v       = values;
    const Pieces stack = pieces;
    using Policy       = Kokkos::TeamPolicy<Space>;
    Kokkos::parallel_for(
        "weft boxmg coarsest solve", Policy(space, static_cast<int>(stack.grid.nodes()), 1, is_host_space<Space> ? 1 : 32),
        KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          const Index piece = team.league_rank() / size, i = team.league_rank() - piece * size;
          const double *const inverse = v.data() + piece * size * size;
          double sum                  = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, size),
              [&](const Index j, double &part) { part += inverse[i * row + j * along] * static_cast<double>(b[stack.node(piece, j)]); },
              sum);
          Kokkos::single(Kokkos::PerTeam(team), [&]() { x[stack.node(piece, i)] = static_cast<Scalar>(sum); });
        });
  }
};

} // namespace weft::boxmg
