/// Exact: level after level (Saltz, "Aggregation methods for solving sparse triangular systems on multiprocessors", SIAM J. Sci. Stat.
/// Comput. 11, 1990). A launch for each wide level; runs of narrow ones share a launch of one team, with barriers between them.
#pragma once
#include "crout/triangles/levels.hpp"

namespace weft::triangular {

/// x_i = before_i in_i - scale_i sum_k value_k x_{column_k} for rows in an order; x may be in.
template <int width, class Scalar>
struct ExactRow {
  Triangle<Scalar> triangle;
  const Scalar *scale, *before;
  Vectors in, out; ///< out.data null: only x is wanted
  KernelScalar *x;
  const std::int32_t *order;

  KOKKOS_INLINE_FUNCTION Index row(Index position) const { return order[position]; }
  KOKKOS_INLINE_FUNCTION KernelScalar neighbour(Index j, int c) const { return x[j * width + c]; }
  KOKKOS_INLINE_FUNCTION void finish(Index i, const KernelScalar *sums) const
  {
    for (int c = 0; c < width; c++) {
      const KernelScalar value = times(before, i, in.get(i, c)) - times(scale, i, sums[c]);
      x[i * width + c]         = value;
      if (out.data) out.put(i, c, value);
    }
  }
};

/// Levels first .. last - 1 by one team.
template <int width, class Kernel>
struct NarrowLevels {
  Kernel kernel;
  const Index *starts;
  Index first, last;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    for (Index l = first; l < last; l++) {
      const Index begin = starts[l];
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(starts[l + 1] - begin)),
                           [&](const int r) { RowByThread<width, Kernel>{kernel}(begin + r); });
      team.team_barrier();
    }
  }
};

/// Rows up to which a level is narrow: none on a host, where a launch that is not worth it is none.
template <class Space>
inline constexpr Index narrow_level = on_host<Space> ? 0 : 1024;

template <int width, class Space, class Scalar>
void level_half(const Space &space, const Half<Scalar> &half, const Levels<Space> &levels, int lanes, KernelScalar *x,
                Index narrow = narrow_level<Space>)
{
  using Kernel = ExactRow<width, Scalar>;
  const Kernel kernel{half.triangle, half.scale, half.before, half.in, half.out, x, levels.order.data()};
  const Index count = levels.count();
  const auto size   = [&](Index l) { return levels.host_starts[l + 1] - levels.host_starts[l]; };
  for (Index l = 0; l < count;) {
    Index last = l;
    while (last < count && size(last) <= narrow) last++;
    if (last > l) {
      const NarrowLevels<width, Kernel> narrow_levels{kernel, levels.starts.data(), l, last};
      Kokkos::parallel_for("weft narrow levels", one_team(space, narrow_levels), narrow_levels);
      l = last;
    } else {
      for_rows<width>("weft wide level", space, kernel, lanes, levels.host_starts[l], levels.host_starts[l + 1]);
      l++;
    }
  }
}

} // namespace weft::triangular
