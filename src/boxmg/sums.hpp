/// Sums over nodes that nobody waits for.
///
/// On a device many teams take a part each, and the one that ends last adds up what they have, in their order: so a sum is the same each time. The
/// reductions of Kokkos have as many teams as a team has threads, which leaves most of a large device idle: the residual of 2049² nodes 133 us, and
/// 90 so.
#pragma once
#include <algorithm>

#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// Where a sum goes, and room for what teams have. For one launch at a time.
struct Sum {
  static constexpr int most_teams = 1056; ///< eight a multiprocessor of the largest devices of today

  double *value    = nullptr; ///< null: none is wanted
  double *of_teams = nullptr;
  unsigned *ended  = nullptr; ///< of the teams; 0 between launches

  KOKKOS_INLINE_FUNCTION explicit operator bool() const { return value != nullptr; }
};

/// Room for sums that a space makes. The value itself is elsewhere.
template <class Space>
class RoomForSum {
public:
  Sum to(double *value) const { return {value, of_teams_.data(), ended_.data()}; }

private:
  OwnedArray<double, Space> of_teams_{"weft boxmg sums of teams", is_host_space<Space> ? 0 : Sum::most_teams};
  OwnedArray<unsigned, Space> ended_{"weft boxmg ended teams", 1};
};

/// Calls body(run, sum) for the nodes of a region. Does not wait.
template <class Space, class Body>
void sum_over_runs(const char *label, const Space &space, const Region &region, const Body &body, const Sum &to)
{
  const Runs<Space> all(region);
  if constexpr (is_host_space<Space>) {
    Kokkos::parallel_reduce(
        label, range(space, all.all), KOKKOS_LAMBDA(const Index number, double &sum) { body(all.run(number), sum); },
        Kokkos::View<double, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(to.value));
  } else {
    constexpr int threads = 256;
    using Policy          = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<threads>>;
    const int teams       = static_cast<int>(std::clamp<Index>((all.all + threads - 1) / threads, 1, Sum::most_teams));
    const auto light      = Kokkos::Experimental::WorkItemProperty::HintLightWeight; // as range() has it
    Kokkos::parallel_for(
        label, Kokkos::Experimental::require(Policy(space, teams, threads), light),
        KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          double mine = 0;
          for (Index k = Index(team.league_rank()) * threads + team.team_rank(); k < all.all; k += Index(teams) * threads)
            body(all.run(k), mine);
          team.team_reduce(Kokkos::Sum<double>(mine));
          int last = 0;
          Kokkos::single(
              Kokkos::PerTeam(team),
              [&](int &of_all) {
                to.of_teams[team.league_rank()] = mine;
                Kokkos::memory_fence();
                of_all = Kokkos::atomic_fetch_add(to.ended, 1u) + 1 == static_cast<unsigned>(teams);
              },
              last);
          if (!last) return;
          double total = 0;
          for (int k = team.team_rank(); k < teams; k += threads) total += Kokkos::atomic_load(to.of_teams + k);
          team.team_reduce(Kokkos::Sum<double>(total));
          Kokkos::single(Kokkos::PerTeam(team), [&] {
            *to.value = total;
            *to.ended = 0;
          });
        });
  }
}

} // namespace weft::boxmg
