/// Sums over many items, a chunk of items by a team: sums do not depend on the number of threads. (Kokkos's own reductions of a range use so
/// few blocks on a device that they take twice the time where each item is a chain of loads.)
#pragma once
#include "base/sums.hpp"
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

/// A team for each chunk, `lanes` threads an item. So many teams that share a multiprocessor hide each other's waiting: a compiler would
/// rather unroll loops.
template <class Space>
auto chunk_policy(const Space &space, Index count, int lanes = 1)
{
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<256, 4>>;
  return Policy(space, static_cast<int>(chunks_of(count)), chunk_team<Space> / lanes, lanes);
}

/// A chunk of items by a team. As small as can be: above 512 bytes a launch is slow.
template <class Sums, class Body>
struct SumChunk {
  Body body;
  Sums *partial;
  Index count;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Index begin = static_cast<Index>(team.league_rank()) * chunk_items;
    const Index end   = begin + chunk_items < count ? begin + chunk_items : count;
    Sums sums;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, begin, end), [&](const Index item, Sums &sum) { sum += body(item); }, Kokkos::Sum<Sums>(sums));
    Kokkos::single(Kokkos::PerTeam(team), [&] { partial[team.league_rank()] = sums; });
  }
};

/// Calls body for each item; partial(first_partial + c) gets the sum of what it returns in chunk c.
template <class Sums, class Space, class Body>
void sum_chunks(const char *label, const Space &space, Index count, const Body &body,
                const Kokkos::View<Sums *, typename Space::memory_space> &partial, Index first_partial = 0)
{
  if (count == 0) return;
  Kokkos::parallel_for(label, chunk_policy(space, count), SumChunk<Sums, Body>{body, partial.data() + first_partial, count});
}

/// result(slot + k) = the sum of partial(k * chunks ... (k + 1) * chunks) for k < slots.
template <class Sums, class Space>
void sum_of_chunks(const Space &space, Index chunks, int slots, const Kokkos::View<Sums *, typename Space::memory_space> &partial,
                   const Kokkos::View<Sums *, typename Space::memory_space> &result, int slot)
{
  using Policy = Kokkos::TeamPolicy<Space>;
  using Team   = typename Policy::member_type;
  Kokkos::parallel_for(
      "weft sums of chunks", Policy(space, slots, chunk_team<Space>), KOKKOS_LAMBDA(const Team &team) {
        Sums sums;
        const Index first = static_cast<Index>(team.league_rank()) * chunks;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, chunks), [&](const Index chunk, Sums &sum) { sum += partial(first + chunk); },
            Kokkos::Sum<Sums>(sums));
        Kokkos::single(Kokkos::PerTeam(team), [&] { result(slot + team.league_rank()) = sums; });
      });
}

/// Calls body(item) for each item; result(slot) gets the sum of what it returns. `partial` has chunks_of(count) elements.
template <class Sums, class Space, class Body>
void sum_by_chunks(const char *label, const Space &space, Index count, const Body &body,
                   const Kokkos::View<Sums *, typename Space::memory_space> &partial,
                   const Kokkos::View<Sums *, typename Space::memory_space> &result, int slot)
{
  if (count == 0) return;
  sum_chunks(label, space, count, body, partial);
  sum_of_chunks(space, chunks_of(count), 1, partial, result, slot);
}

} // namespace weft::crout
