/// The inverse on the coarsest grid, also of a singular operator.
#pragma once
#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// A^-1 of a small operator as a dense matrix, row after row, by in-place elimination with the largest diagonal as the pivot (the sweep operator:
/// Goodnight, The American Statistician 33 (1979)). A pivot that is nothing beside its own diagonal is left out, with its row and column: so
/// the operator of a singular problem has an inverse on what the other unknowns span, symmetric where it is, and each part of a grid that
/// falls to pieces leaves out one of its own.
template <class Space>
struct Inverse {
  OwnedArray<double, Space> values, diagonal; ///< n * n; the diagonal as it was
  OwnedArray<double, Space> column;           ///< of the pivot: work space
  OwnedArray<int, Space> state;               ///< by row: 1 once it was a pivot, else 0
  OwnedArray<Index, Space> negative;          ///< the first pivot of the other sign than its diagonal, or n
  Index n = 0;

  Inverse() = default;
  explicit Inverse(Index nodes)
      : values("weft boxmg inverse", static_cast<std::size_t>(nodes * nodes)),
        diagonal("weft boxmg coarsest diagonal", static_cast<std::size_t>(nodes)),
        column("weft boxmg coarsest column", static_cast<std::size_t>(nodes)),
        state("weft boxmg coarsest pivots", static_cast<std::size_t>(nodes)), negative("weft boxmg coarsest sign", 1), n(nodes)
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
    const auto v = values, d = diagonal, factors = column;
    const auto s    = state;
    const auto sign = negative;
    Kokkos::deep_copy(space, values, 0.0);
    over_nodes(
        "weft boxmg coarsest", space, a.grid, KOKKOS_LAMBDA(const Index node, const Index(&at)[3]) {
          for (int k = 0; k < a.stencil.count; k++) {
            Index there[3] = {at[0], at[1], at[2]};
            if (a.grid.move(there, a.stencil.offset[k])) v(node * size + a.grid.node(there)) += static_cast<double>(a.entry(k, node));
          }
          d(node) = v(node * size + node);
          s(node) = 0;
          if (node == 0) sign(0) = size;
        });
    using Policy = Kokkos::TeamPolicy<Space>;
    Kokkos::parallel_for(
        "weft boxmg inverse", Policy(space, 1, is_host_space<Space> ? 1 : 512), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          using Best = Kokkos::MaxLoc<double, Index>;
          for (Index step = 0; step < size; step++) {
            typename Best::value_type best;
            Kokkos::parallel_reduce(
                Kokkos::TeamThreadRange(team, size),
                [&](const Index i, typename Best::value_type &most) {
                  const double share = d(i) != 0 ? Kokkos::abs(v(i * size + i) / d(i)) : 0;
                  if (s(i) == 0 && share > most.val) most = {share, i};
                },
                Best(best));
            if (!(best.val > nothing)) break;
            const Index p      = best.loc;
            const double pivot = v(p * size + p);
            if (pivot * d(p) < 0 && best.val < doubtful) break;
            team.team_barrier();
            Kokkos::single(Kokkos::PerTeam(team), [&]() {
              s(p) = 1;
              if (pivot * d(p) < 0 && sign(0) == size) sign(0) = p;
              v(p * size + p) = 1;
            });
            team.team_barrier();
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](const Index j) {
              v(p * size + j) /= pivot;
              factors(j) = j == p ? 0 : v(j * size + p);
            });
            team.team_barrier();
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size * size), [&](const Index k) {
              const Index i = k / size, j = k - i * size;
              const double factor = factors(i);
              if (i != p) v(k) = (j == p ? 0 : v(k)) - (factor == 0 ? 0 : factor * v(p * size + j));
            });
            team.team_barrier();
          }
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](const Index i) {
            for (Index j = 0; j < size; j++) {
              if (s(i) != 1 || s(j) != 1) v(i * size + j) = 0;
            }
          });
        });
  }

  /// x = A^-1 b, or its transpose.
  template <class Scalar>
  void apply(const Space &space, const Scalar *b, Scalar *x, Transpose transpose) const
  {
    const Index size = n, row = transpose == Transpose::no ? n : 1, along = transpose == Transpose::no ? 1 : n;
    const auto v = values;
    using Policy = Kokkos::TeamPolicy<Space>;
    Kokkos::parallel_for(
        "weft boxmg coarsest solve", Policy(space, static_cast<int>(n), 1, is_host_space<Space> ? 1 : 32),
        KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          const Index i = team.league_rank();
          double sum    = 0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, size),
              [&](const Index j, double &part) { part += v(i * row + j * along) * static_cast<double>(b[j]); }, sum);
          Kokkos::single(Kokkos::PerTeam(team), [&]() { x[i] = static_cast<Scalar>(sum); });
        });
  }
};

} // namespace weft::boxmg
