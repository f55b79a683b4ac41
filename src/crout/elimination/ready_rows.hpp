/// An order of rows in which each comes after all that it waits for, and early: nearly that of their levels. Found in one launch: a row that is
/// taken makes ready those that waited for nothing but it any more (A. B. Kahn, "Topological sorting of large networks", Comm. ACM 5, 1962).
#pragma once
#include <optional>

#include "crout/elimination/in_order.hpp"
#include "crout/pattern/entries.hpp"

namespace weft::crout {

/// Rows in such an order. Which of those that are ready at a time comes first depends on threads' luck.
template <class Space>
struct ReadyRows {
  Array<std::int32_t, Space> rows;
  Index number  = 0; ///< of levels
  Index longest = 0; ///< entries of the longest row

  Index levels() const { return number; }
};

/// The queue holds level << 32 | row of the rows that are ready; positions not yet filled hold `empty`.
template <class Space>
struct TakeReady {
  Array<Index, Space> starts;           ///< of the rows that wait for each row
  Array<std::int32_t, Space> followers; ///< these
  Array<std::int32_t, Space> waits, level;
  Array<std::uint64_t, Space> queue;
  Kokkos::View<Index, typename Space::memory_space> tail;
  triangular::Ticket<Space> ticket, stop; ///< stop: 1 once a level has been seen that is too high
  Index rows, most;

  static constexpr std::uint64_t empty = ~std::uint64_t(0);

  KOKKOS_INLINE_FUNCTION void append(std::int32_t level_of_row, Index row) const
  {
    const Index at = Kokkos::atomic_fetch_add(&tail(), Index(1));
    triangular::publish(queue(at), (static_cast<std::uint64_t>(level_of_row) << 32) | static_cast<std::uint64_t>(row));
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index position = triangular::take_number<Member, Space>(team, ticket) * team.team_size() + team.team_rank();
    if (position >= rows) return;
    std::uint64_t word = triangular::look(queue(position));
    while (word == empty) {
      if (triangular::look(stop()) != 0) return;
      word = triangular::look(queue(position));
    }
    const Index row          = static_cast<Index>(word & 0xffffffffu);
    const std::int32_t above = static_cast<std::int32_t>(word >> 32) + 1;
    const Index begin        = starts(row);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, static_cast<int>(starts(row + 1) - begin)), [&](const int k) {
      const std::int32_t follower = followers(begin + k);
      Kokkos::atomic_max(&level(follower), above);
      Kokkos::memory_fence(); // whoever takes the last wait away reads the highest level
      if (Kokkos::atomic_fetch_sub(&waits(follower), 1) > 1) return;
      Kokkos::memory_fence();
      const std::int32_t highest = Kokkos::atomic_load(&level(follower));
      if (highest >= most) triangular::publish(stop(), 1);
      append(highest, follower);
    });
  }
};

/// Nothing if there are more than `most` levels. Waits.
template <class Space>
std::optional<ReadyRows<Space>> ready_rows(const Space &space, const FactorEntries<Space> &entries,
                                           Index most = std::numeric_limits<std::int32_t>::max())
{
  const Index rows = entries.rows;
  ReadyRows<Space> result;
  result.rows = make_array<std::int32_t>(space, "weft rows by levels", rows);
  if (rows == 0) return result;
  const auto zeros = [&](const std::string &label, auto kind, Index size) {
    return Array<decltype(kind), Space>(Kokkos::view_alloc(space, label), static_cast<std::size_t>(size));
  };
  const auto starts = zeros("weft starts of followers", Index(), rows + 1);
  const auto waits  = make_array<std::int32_t>(space, "weft waits", rows);
  const auto level  = zeros("weft row levels", std::int32_t(), rows);
  const auto places = make_array<std::int32_t>(space, "weft places of followers", entries.lower);
  Kokkos::parallel_for(
      "weft count followers", Range<Space>(space, 0, entries.lower), KOKKOS_LAMBDA(const Index e) {
        places(e) = static_cast<std::int32_t>(Kokkos::atomic_fetch_add(&starts(entries.columns(e)), Index(1)));
      });
  starts_of_sizes(space, starts);
  const auto followers = make_array<std::int32_t>(space, "weft followers", entries.lower);
  Kokkos::parallel_for(
      "weft followers", Range<Space>(space, 0, entries.lower),
      KOKKOS_LAMBDA(const Index e) { followers(starts(entries.columns(e)) + places(e)) = entries.row_of(e); });

  using Number = Kokkos::View<Index, typename Space::memory_space>;
  const TakeReady<Space> take{starts,
                              followers,
                              waits,
                              level,
                              make_array<std::uint64_t>(space, "weft ready rows", rows),
                              Number(Kokkos::view_alloc(space, "weft ready rows")),
                              triangular::Ticket<Space>(Kokkos::view_alloc(space, "weft ticket")),
                              triangular::Ticket<Space>(Kokkos::view_alloc(space, "weft stop")),
                              rows,
                              most};
  Kokkos::deep_copy(space, take.queue, TakeReady<Space>::empty);
  Kokkos::parallel_reduce(
      "weft rows that wait for none", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index i, Index &longest) {
        const Index below = entries.lower_starts(i + 1) - entries.lower_starts(i);
        const Index size  = below + entries.upper_starts(i + 1) - entries.upper_starts(i) + 1;
        longest           = size > longest ? size : longest;
        waits(i)          = static_cast<std::int32_t>(below);
        if (below == 0) take.append(0, i);
      },
      Kokkos::Max<Index>(result.longest));
  const int threads = triangular::on_host<Space> ? 1 : 4;
  Kokkos::parallel_for("weft take ready rows",
                       Kokkos::TeamPolicy<Space>(space, static_cast<int>((rows + threads - 1) / threads), threads, warp_threads<Space>),
                       take);
  std::int32_t highest = 0;
  const auto order     = result.rows;
  const auto queue     = take.queue;
  Kokkos::parallel_reduce(
      "weft rows by levels", Range<Space>(space, 0, rows),
      KOKKOS_LAMBDA(const Index p, std::int32_t &largest) {
        const std::uint64_t word = queue(p);
        order(p)                 = static_cast<std::int32_t>(word & 0xffffffffu);
        const std::int32_t above = word == TakeReady<Space>::empty ? 0 : static_cast<std::int32_t>(word >> 32);
        largest                  = above > largest ? above : largest;
      },
      Kokkos::Max<std::int32_t>(highest));
  space.fence("weft rows by levels");
  if (highest >= most) return std::nullopt;
  result.number = highest + 1;
  return result;
}

} // namespace weft::crout
