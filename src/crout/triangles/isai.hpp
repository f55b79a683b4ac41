/// Incomplete sparse approximate inverse of a unit triangle I + N on its own pattern S (Anzt, Huckle, Braeckle, Dongarra, "Incomplete
/// sparse approximate inverses for parallel preconditioning", Parallel Comput. 71, 2018): M (I + N) = I at the positions of S. Row i needs
/// N among the columns of row i only, and that small system is triangular itself: with Q = I - M,
///
///     q_ij = n_ij - sum_k q_ik n_kj    over k in the pattern of row i between j and the diagonal,
///
/// nearest to the diagonal first. A triangle with a diagonal is D (I + N), and M D^{-1} is its inverse on the pattern. Applied, x = g - Q g
/// is the first Jacobi step (jacobi_steps.hpp) with q for n. Entries are summed in Scalar.
#pragma once
#include "crout/arrays.hpp"
#include "crout/triangles/triangle.hpp"

namespace weft::triangular {

template <class Scalar>
struct IsaiRow {
  Triangle<Scalar> triangle;
  const Scalar *scale; ///< n_ij = scale_i value_ij; null: 1
  Scalar *q;

  KOKKOS_INLINE_FUNCTION Scalar n(Index row, std::int64_t entry) const
  {
    return scale ? scale[row] * triangle.values[entry] : triangle.values[entry];
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index i = Index(team.league_rank()) * team.team_size() + team.team_rank();
    if (i >= triangle.rows) return;
    const std::int64_t first = triangle.starts[i], last = triangle.starts[i + 1];
    const int own = static_cast<int>(last - first);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, own), [&](const int k) { q[first + k] = n(i, first + k); });
    for (int step = 0; step < own; step++) {
      const std::int64_t at    = triangle.forward ? last - 1 - step : first + step; // its q is final
      const Index k            = triangle.columns[at];
      const Scalar factor      = q[at];
      const std::int64_t other = triangle.starts[k];
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<int>(triangle.starts[k + 1] - other)), [&](const int e) {
        const Index to = crout::find_column(triangle.columns, first, last, triangle.columns[other + e]);
        if (to < last) q[to] -= factor * n(k, other + e);
      });
    }
  }
};

/// Fills q, as many values as the triangle has entries, in its order.
template <class Space, class Scalar>
void find_isai(const Space &space, const Triangle<Scalar> &triangle, const Scalar *scale, Scalar *q)
{
  if (triangle.rows == 0) return;
  const int lanes = lanes_of<Space>(triangle.rows, triangle.entries), team = rows_of_team<Space>(128, lanes);
  Kokkos::parallel_for("weft isai", Kokkos::TeamPolicy<Space>(space, static_cast<int>((triangle.rows + team - 1) / team), team, lanes),
                       IsaiRow<Scalar>{triangle, scale, q});
}

} // namespace weft::triangular
