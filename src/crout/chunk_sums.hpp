/// Sums over many items, a chunk of items by a team: sums do not depend on the number of threads. (Kokkos's own reductions of a range use so
/// few blocks on a device that they take twice the time where each item is a chain of loads.)
#pragma once
#include "crout/arrays.hpp"

namespace weft::crout {

/// Entries of a chunk are summed by one team, chunks by one team after that.
inline constexpr Index chunk_items = 1024;

template <class Space>
inline constexpr int chunk_team = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace> ? 1 : 256;

inline Index chunks_of(Index items)
{
  return (items + chunk_items - 1) / chunk_items;
}

/// Calls body(item) for each item; result(slot) gets the sum of what it returns. `partial` has chunks_of(count) elements.
template <class Sums, class Space, class Body>
void sum_by_chunks(const char *label, const Space &space, Index count, const Body &body,
                   const Kokkos::View<Sums *, typename Space::memory_space> &partial,
                   const Kokkos::View<Sums *, typename Space::memory_space> &result, int slot)
{
  using Policy       = Kokkos::TeamPolicy<Space>;
  using Team         = typename Policy::member_type;
  const Index chunks = chunks_of(count);
  if (count == 0) return;
  Kokkos::parallel_for(
      label, Policy(space, static_cast<int>(chunks), chunk_team<Space>), KOKKOS_LAMBDA(const Team &team) {
        const Index begin = static_cast<Index>(team.league_rank()) * chunk_items;
        const Index end   = begin + chunk_items < count ? begin + chunk_items : count;
        Sums sums;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, begin, end), [&](const Index item, Sums &sum) { sum += body(item); }, Kokkos::Sum<Sums>(sums));
        Kokkos::single(Kokkos::PerTeam(team), [&] { partial(team.league_rank()) = sums; });
      });
  Kokkos::parallel_for(
      "weft sums of chunks", Policy(space, 1, chunk_team<Space>), KOKKOS_LAMBDA(const Team &team) {
        Sums sums;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, chunks), [&](const Index chunk, Sums &sum) { sum += partial(chunk); }, Kokkos::Sum<Sums>(sums));
        Kokkos::single(Kokkos::PerTeam(team), [&] { result(slot) = sums; });
      });
}

} // namespace weft::crout
