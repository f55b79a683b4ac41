/// Exact, one launch a triangle: rows in the order of their levels wait for the values they need (in_order.hpp). In that order neighbouring
/// threads are independent and become ready together, and what a row waits for was handed out long before.
#pragma once
#include "crout/levels.hpp"

namespace weft::triangular {

template <int width, class Scalar>
struct WaitingRow {
  static constexpr bool can_share_rows = true;

  Triangle<Scalar> triangle;
  const Scalar *scale, *before;
  Vectors in, out; ///< out.data null: only x is wanted
  double *x;       ///< unfinished() until it is known
  const std::int32_t *order;

  struct Sums {
    double of[width], g[width], scale;
  };

  KOKKOS_INLINE_FUNCTION Index row(Index position) const { return order[position]; }
  /// What needs no other row is read before the wait.
  KOKKOS_INLINE_FUNCTION Sums start(Index i) const
  {
    Sums sums{};
    for (int c = 0; c < width; c++) sums.g[c] = times(before, i, in.get(i, c));
    sums.scale = times(scale, i, 1.0);
    return sums;
  }
  /// Takes what is known of the entries from k on, in their order, and says how many that were. Several are looked at together: one look
  /// takes as long as some hundred operations, and neighbours of one level become known together.
  KOKKOS_INLINE_FUNCTION int take(std::int64_t k, std::int64_t end, Sums &sums) const
  {
    constexpr int ahead = width == 1 ? 4 : 1;
    double seen[ahead][width];
    for (int a = 0; a < ahead; a++) {
      for (int c = 0; c < width; c++) seen[a][c] = k + a < end ? look(x[Index(triangle.columns[k + a]) * width + c]) : unfinished();
    }
    int taken = 0;
    for (int a = 0; a < ahead; a++) {
      bool known = taken == a;
      for (int c = 0; c < width; c++) known = known && !is_unfinished(seen[a][c]);
      if (!known) continue;
      const double value = triangle.values[k + a];
      for (int c = 0; c < width; c++) sums.of[c] += value * seen[a][c];
      taken++;
    }
    return taken;
  }
  KOKKOS_INLINE_FUNCTION void finish(Index i, const Sums &sums) const
  {
    for (int c = 0; c < width; c++) {
      const double value = sums.g[c] - sums.scale * sums.of[c];
      publish(x[i * width + c], finished(value));
      if (out.data) out.put(i, c, value);
    }
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void finish_together(const Member &team, Index i, std::int64_t first, int entries) const
  {
    Sums sums = start(i);
    for (int c = 0; c < width; c++) {
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, entries),
          [&](const int k, double &sum) {
            double seen = unfinished();
            while (is_unfinished(seen)) seen = look(x[Index(triangle.columns[first + k]) * width + c]);
            sum += static_cast<double>(triangle.values[first + k]) * seen;
          },
          sums.of[c]);
    }
    Kokkos::single(Kokkos::PerThread(team), [&] { finish(i, sums); });
  }
};

/// Leaves the solution in x, and in half.out where that is given. half.in may not be x. Both x and ticket must be fresh: see refresh.
template <int width, class Space, class Scalar>
void syncfree_half(const Space &space, const Half<Scalar> &half, const Levels<Space> &levels, int lanes, double *x,
                   const Ticket<Space> &ticket)
{
  const WaitingRow<width, Scalar> row{half.triangle, half.scale, half.before, half.in, half.out, x, levels.order.data()};
  // Where levels are narrow it is the wait for a value that takes the time, and a warp asks for all values of a row at once.
  const bool narrow = half.triangle.rows < 32768 * levels.count();
  in_order("weft sync-free solve", space, row, ticket, !on_host<Space> && (lanes > 1 || narrow) ? 32 : 1);
}

/// Makes x of both halves and their tickets ready in one launch.
template <class Space>
struct Refresh {
  double *first, *second;
  Ticket<Space> tickets[2];

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    first[k]  = unfinished();
    second[k] = unfinished();
    if (k == 0) tickets[0]() = tickets[1]() = 0;
  }
};

template <class Space>
void refresh(const Space &space, double *first, double *second, const Ticket<Space> &one, const Ticket<Space> &two, Index size)
{
  Kokkos::parallel_for("weft sync-free refresh", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, size),
                       Refresh<Space>{first, second, {one, two}});
}

} // namespace weft::triangular
