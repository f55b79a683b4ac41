/// Sums over nodes that nobody waits for.
///
/// On a device many teams take a part each, and the one that ends last adds up what they have, in their order: so a sum is the same each time. The
/// reductions of Kokkos have as many teams as a team has threads, which leaves most of a large device idle: the residual of 2049² nodes 133 us, and
/// 90 so. A team has some columns of some rows, one after the other, so that what rows share with their neighbours comes from the nearest cache.
#pragma once
#include <algorithm>
#include <string>

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

/// Adds up what the threads of so many teams have, in the order of the teams: the one that ends last does.
template <class Team>
KOKKOS_INLINE_FUNCTION void add_up(const Team &team, int teams, double mine, const Sum &to)
{
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
  for (int k = team.team_rank(); k < teams; k += team.team_size()) total += Kokkos::atomic_load(to.of_teams + k);
  team.team_reduce(Kokkos::Sum<double>(total));
  Kokkos::single(Kokkos::PerTeam(team), [&] {
    *to.value = total;
    *to.ended = 0;
  });
}

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
    const auto parts      = [](Index whole, Index part) { return (whole + part - 1) / part; };
    const Index columns = all.runs, rows = columns > 0 ? all.all / columns : 0, strips = std::max<Index>(parts(columns, threads), 1);
    const int width = static_cast<int>(std::max<Index>(parts(columns, strips), 1)), at_once = threads / width; // columns; rows
    const Index groups = std::clamp<Index>(Sum::most_teams / strips, 1, std::max<Index>(parts(rows, at_once), 1));
    const Index height = parts(parts(rows, groups), at_once) * at_once, pieces = strips * std::max<Index>(parts(rows, height), 1);
    const int teams = static_cast<int>(std::min<Index>(pieces, Sum::most_teams));
    Kokkos::parallel_for(
        label, light(Policy(space, teams, threads)), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          double mine     = 0;
          const int below = team.team_rank() / width, right = team.team_rank() - below * width;
          for (Index piece = team.league_rank(); piece < pieces; piece += teams) {
            const Index group = quotient(piece, strips, true), column = (piece - group * strips) * width + right;
            const Index end = Kokkos::min(rows, (group + 1) * height);
            if (below >= at_once || column >= columns) continue;
            for (Index row = group * height + below; row < end; row += at_once) body(all.run(column, row), mine);
          }
          add_up(team, teams, mine, to);
        });
  }
}

/// A reducer of Kokkos for values that join() others, and are nothing at first.
template <class Value>
struct Joining {
  using reducer          = Joining;
  using value_type       = Value;
  using result_view_type = Kokkos::View<Value, Kokkos::AnonymousSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Value &value;

  KOKKOS_INLINE_FUNCTION void init(Value &one) const { one = {}; }
  KOKKOS_INLINE_FUNCTION void join(Value &one, const Value &other) const { one.join(other); }
  KOKKOS_INLINE_FUNCTION Value &reference() const { return value; }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return result_view_type(&value); }
};

/// Of a team of join_over(), and how many teams a multiprocessor has at once: threads have room for a value of 60 words and what makes it.
inline constexpr int joining_threads = 256, joining_at_once = 2;

/// body(number, value) for all numbers, some of them a team's, of which each thread has a value in its registers. to: a team's value.
template <class Space, class Value, class Body>
void join_by_teams(const char *label, const Space &space, Index count, int teams, const Body &body, Value *to)
{
  constexpr int threads = joining_threads;
  using Policy          = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<threads, joining_at_once>>;
  Kokkos::parallel_for(
      label, light(Policy(space, teams, threads)), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
        Value mine;
        for (Index number = Index(team.league_rank()) * threads + team.team_rank(); number < count; number += Index(teams) * threads)
          body(number, mine);
        team.team_reduce(Joining<Value>{mine});
        Kokkos::single(Kokkos::PerTeam(team), [&] { to[team.league_rank()] = mine; });
      });
}

template <class Value>
struct JoinParts {
  const Value *parts;

  KOKKOS_INLINE_FUNCTION void operator()(Index number, Value &value) const { value.join(parts[number]); }
};

/// Joins what body(number, value) makes of all numbers. On a device a reduction of Kokkos keeps the values in shared memory, which few threads have room
/// for: 744 us for the look at 129³ nodes on an H200. Teams take some 10 us to join their threads' values, so that there are no more of them than run
/// at once. room: a value of each team, which stays. Does not wait.
template <class Space, class Value, class Body>
void join_over(const char *label, const Space &space, Index count, const Body &body, OwnedArray<Value, Space> &room,
               const Result<Value, Space> &to)
{
  if constexpr (is_host_space<Space>) {
    Kokkos::parallel_reduce(label, range(space, count), body, to);
  } else {
    constexpr Index least = 4 * joining_threads; // numbers of a team
    const Index at_once   = std::max(space.concurrency() / (2048 / joining_at_once), 1);
    const auto teams      = static_cast<int>(std::clamp<Index>(count / least, 1, at_once));
    if (teams == 1) return join_by_teams(label, space, count, 1, body, to.data());
    if (static_cast<int>(room.size()) != teams)
      room = OwnedArray<Value, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label) + " of teams"), teams);
    join_by_teams(label, space, count, teams, body, room.data());
    join_by_teams(label, space, teams, 1, JoinParts<Value>{room.data()}, to.data());
  }
}

} // namespace weft::boxmg
