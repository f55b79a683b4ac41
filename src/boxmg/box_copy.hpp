/// Copies of boxes of nodes between arrays over other boxes or over grids whose directions are exchanged.
#pragma once
#include "boxmg/operator.hpp"

namespace weft::boxmg {

/// The direction of more than one node along which neighbours are closest; 0 for one node.
inline int side_by_side(const Index (&step)[3], const Index (&count)[3])
{
  int found = 0;
  for (int d = 1; d < 3; d++) {
    if (count[d] > 1 && (count[found] == 1 || step[d] < step[found])) found = d;
  }
  return found;
}

/// count[d] nodes along each direction, from and to elements `step` apart.
struct BoxCopy {
  Index from, to, count[3], from_step[3], to_step[3];

  /// Rows that follow each other in both arrays become one.
  void join()
  {
    for (int d = 2; d > 0; d--) {
      if (from_step[d] != count[d - 1] * from_step[d - 1] || to_step[d] != count[d - 1] * to_step[d - 1]) continue;
      count[d - 1] *= count[d];
      count[d] = 1;
    }
  }
  bool in_a_row() const { return count[1] == 1 && count[2] == 1 && from_step[0] == 1 && to_step[0] == 1; }
};

/// A copy whose arrays have neighbours along different directions side by side, `read` in `from` and `written` in `to`. Tiles of 32 x 32 nodes go through
/// a team's memory, so that both are moved in whole sectors: written to where they belong at once, each would go to a sector of its own, which takes seven
/// times as long at 2049².
template <class Space, class From, class To>
void copy_turned(const Space &space, const BoxCopy &copy, int read, int written, const From *from, To *to)
{
  constexpr int side   = 32;
  using Policy         = Kokkos::TeamPolicy<Space, Kokkos::IndexType<int>>;
  const int other      = 3 - read - written;
  const Index n[2]     = {copy.count[read], copy.count[written]};
  const Index apart[3] = {copy.from_step[read], copy.from_step[written], copy.from_step[other]};
  const Index there[3] = {copy.to_step[read], copy.to_step[written], copy.to_step[other]};
  const int columns = static_cast<int>((n[0] + side - 1) / side), rows = static_cast<int>((n[1] + side - 1) / side);
  const int words = side * (side + 1) * static_cast<int>(sizeof(To));
  from += copy.from;
  to += copy.to;
  Policy policy(space, columns * rows * static_cast<int>(copy.count[other]), is_host_space<Space> ? 1 : 256);
  Kokkos::parallel_for(
      "weft boxmg turn", policy.set_scratch_size(0, Kokkos::PerTeam(words)), KOKKOS_LAMBDA(const typename Policy::member_type &team) {
        To *const tile    = static_cast<To *>(team.team_shmem().get_shmem(words));
        const int number  = team.league_rank();
        const Index first = Index(number % columns) * side, second = Index(number / columns % rows) * side, third = number / columns / rows;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, side * side), [&](const int k) {
          const int i = k % side, j = k / side;
          if (first + i < n[0] && second + j < n[1])
            tile[j * (side + 1) + i] = static_cast<To>(from[(first + i) * apart[0] + (second + j) * apart[1] + third * apart[2]]);
        });
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, side * side), [&](const int k) {
          const int i = k / side, j = k % side;
          if (first + i < n[0] && second + j < n[1])
            to[(first + i) * there[0] + (second + j) * there[1] + third * there[2]] = tile[j * (side + 1) + i];
        });
      });
}

template <class Space, class From, class To>
void copy_box(const Space &space, const BoxCopy &copy, const From *from, To *to, int words, Index from_pitch, Index to_pitch)
{
  const int read = side_by_side(copy.from_step, copy.count), written = side_by_side(copy.to_step, copy.count);
  if (read != written) {
    for (int w = 0; w < words; w++) copy_turned(space, copy, read, written, from + w * from_pitch, to + w * to_pitch);
    return;
  }
  if constexpr (std::is_same_v<From, To>) {
    if (copy.in_a_row()) { // faster than a kernel
      const auto size = static_cast<std::size_t>(copy.count[0]);
      for (int w = 0; w < words; w++)
        Kokkos::deep_copy(space, Array<To, Space>(to + copy.to + w * to_pitch, size),
                          Array<const To, Space>(from + copy.from + w * from_pitch, size));
      return;
    }
  }
  Region region;
  std::copy(std::begin(copy.count), std::end(copy.count), region.count);
  over_runs(
      "weft boxmg box", space, region, KOKKOS_LAMBDA(const Run &run) {
        const From *const a = from + copy.from + run.x * copy.from_step[0] + run.y * copy.from_step[1] + run.z * copy.from_step[2];
        To *const b         = to + copy.to + run.x * copy.to_step[0] + run.y * copy.to_step[1] + run.z * copy.to_step[2];
        for (int w = 0; w < words; w++) {
          if (copy.from_step[0] == 1 && copy.to_step[0] == 1) { // a compiler vectorizes it
            for (Index j = 0; j < run.count; j++) b[w * to_pitch + j] = static_cast<To>(a[w * from_pitch + j]);
          } else {
            for (Index j = 0; j < run.count; j++)
              b[w * to_pitch + j * copy.to_step[0]] = static_cast<To>(a[w * from_pitch + j * copy.from_step[0]]);
          }
        }
      });
}

} // namespace weft::boxmg
