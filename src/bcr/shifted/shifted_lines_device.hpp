/// shifted_lines.hpp on a device: a team per group, plane and part of the poles. A thread keeps R consecutive unknowns of the row in
/// registers, loops over the poles and adds the solutions up there, so that a row is read from cache for every pole and written once.
///
/// Elimination as in line/methods/wide/wide_kernel.hpp: a thread hangs its rows on its last unknown and on the last one before them, the threads'
/// last unknowns are a tridiagonal line again, which parallel cyclic reduction solves in team scratch. A ring keeps its last unknown out:
/// it hangs on every row as a second right-hand side.
#pragma once
#include "bcr/shifted/shifted_lines.hpp"
#include "line/join.hpp"

namespace weft::poisson {

/// x = value - before x_left - after x_right - hang x_last
template <class Scalar>
struct HangingRow : Hanging<Scalar> {
  Scalar hang = 0;
};

template <class Space, class Scalar, int R, int most, bool ring>
struct DeviceLines {
  using Member               = typename Kokkos::TeamPolicy<Space>::member_type;
  static constexpr int words = ring ? 4 : 3;

  LineArguments<Scalar> a;

  KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int threads)
  {
    return static_cast<std::size_t>(2 * words * threads + 4) * sizeof(Scalar);
  }

  /// Team scratch through which threads see each other's rows: two sets, and some words for all.
  struct Board {
    Scalar *numbers;
    int threads;

    KOKKOS_INLINE_FUNCTION Scalar *set(int number) const { return numbers + number * words * threads; }
    KOKKOS_INLINE_FUNCTION Scalar &common(int k) const { return numbers[2 * words * threads + k]; }
    KOKKOS_INLINE_FUNCTION void show(int number, int rank, const HangingRow<Scalar> &h) const
    {
      Scalar *at      = set(number) + rank;
      at[0]           = h.value;
      at[threads]     = h.before;
      at[2 * threads] = h.after;
      if constexpr (ring) at[3 * threads] = h.hang;
    }
    KOKKOS_INLINE_FUNCTION HangingRow<Scalar> see(int number, int rank) const
    {
      const Scalar *at = set(number) + rank;
      HangingRow<Scalar> h{{at[0], at[threads], at[2 * threads]}, 0};
      if constexpr (ring) h.hang = at[3 * threads];
      return h;
    }
  };

  /// The rows of a thread.
  struct Mine {
    Index first;
    int rank, rows;
  };

  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const auto &step   = a.step;
    const Index league = team.league_rank(), n = a.rows.grid.length;
    const int split   = static_cast<int>(league % step.splits);
    const Index plane = league / step.splits % a.rows.grid.planes, group = league / step.splits / a.rows.grid.planes;
    const Index left = n - Index(team.team_rank()) * R;
    const Mine mine{Index(team.team_rank()) * R, team.team_rank(), left < 0 ? 0 : left < R ? static_cast<int>(left) : R};
    const Board board{static_cast<Scalar *>(team.team_scratch(0).get_shmem(scratch_bytes(team.team_size()))), team.team_size()};

    Scalar sums[most][R], x[R];
    for (int d = 0; d < most; d++) {
      for (int j = 0; j < R; j++) sums[d][j] = 0;
    }
    const int poles = step.poles(group), begin = static_cast<int>(Index(poles) * split / step.splits),
              end          = static_cast<int>(Index(poles) * (split + 1) / step.splits);
    const Index first_pole = step.first_pole(group);
    const bool chain       = step.kind != Lines::fractions;
    for (int p = begin; p < end; p++) {
      const Index pole = first_pole + p;
      if (!chain || p == begin) right_hand_side(group, plane, pole, mine, x);
      const Scalar shift = a.b.plane_shift(plane) - step.pole(pole);
      if (step.kind == Lines::products)
        multiply(team, board, mine, shift, x);
      else
        solve(team, board, mine, shift, a.pins(pole, plane), x);
      if (chain && p + 1 < end) continue;
      for (int d = 0; d < most; d++) {
        if (d < step.outputs) {
          const Scalar weight = step.out((chain ? first_pole : pole) * step.outputs + d);
          for (int j = 0; j < R; j++) sums[d][j] += weight * x[j];
        }
      }
    }
    for (int j = 0; j < R; j++) {
      if (j < mine.rows) {
        const Index i = mine.first + j;
        if (step.splits > 1) {
          for (int d = 0; d < most; d++) {
            if (d < step.outputs) a.part(group, plane, split, d)[i] = sums[d][j];
          }
        } else {
          Scalar own[most_outputs];
          for (int d = 0; d < most; d++) own[d] = sums[d][j];
          step.finish(a.rows, group, plane, i, own);
        }
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void right_hand_side(Index group, Index plane, Index pole, const Mine &mine, Scalar (&x)[R]) const
  {
    for (int j = 0; j < R; j++) x[j] = 0;
    for (int s = 0; s < a.step.sources; s++) {
      const Scalar weight = a.step.in(pole * a.step.sources + s);
      const Index l       = a.step.list_of(group, s);
      for (int t = a.step.list(l); t < a.step.list(l + 1); t++) {
        const Scalar factor     = weight * a.step.term_factor(t);
        const Scalar *const row = a.rows.row(a.step.term_row(t), plane) + mine.first * a.rows.grid.line_stride;
        for (int j = 0; j < R; j++) {
          if (j < mine.rows) x[j] += factor * row[j * a.rows.grid.line_stride];
        }
      }
    }
  }

  /// x <- (B + shift I)^-1 x; the unknown of the pinned row is 0 where `pinned`.
  KOKKOS_INLINE_FUNCTION void solve(const Member &team, const Board &board, const Mine &mine, Scalar shift, bool pinned,
                                    Scalar (&x)[R]) const
  {
    const Index n = a.rows.grid.length, in_chain = ring ? n - 1 : n;
    const int chunks = static_cast<int>((in_chain + R - 1) / R), rank = mine.rank;
    const Index left = in_chain - mine.first;
    const int rows   = left < 0 ? 0 : left < R ? static_cast<int>(left) : R;
    Scalar before[R], after[R], hang[ring ? R : 1];
    HangingRow<Scalar> above;
    for (int j = 0; j < R; j++) {
      if (j < rows) {
        const Index i         = mine.first + j;
        const bool pin        = !ring && pinned && i == a.b.pinned_row;
        const Scalar lower    = pin || (ring && i == 0) ? Scalar(0) : a.b.lower(i);
        const Scalar upper    = pin || (ring && i == in_chain - 1) ? Scalar(0) : a.b.upper(i);
        const Scalar diagonal = pin ? Scalar(1) : a.b.diagonal(i) + shift;
        const Scalar inverse  = 1 / (diagonal - lower * above.after);
        above.value           = ((pin ? Scalar(0) : x[j]) - lower * above.value) * inverse;
        above.before          = (j == 0 ? lower : -lower * above.before) * inverse;
        above.after           = upper * inverse;
        if constexpr (ring) {
          const Scalar to_last = (i == 0 ? a.b.lower(i) : Scalar(0)) + (i == in_chain - 1 ? a.b.upper(i) : Scalar(0));
          above.hang           = (to_last - lower * above.hang) * inverse;
          hang[j]              = above.hang;
        }
        x[j]      = above.value;
        before[j] = above.before;
        after[j]  = above.after;
      }
    }
    // The first unknown in terms of the last one.
    HangingRow<Scalar> head{{0, 0, -1}, 0};
    for (int j = R - 2; j >= 0; j--) {
      if (j + 1 < rows) {
        head = {{x[j] - after[j] * head.value, before[j] - after[j] * head.before, -after[j] * head.after},
                ring ? hang[ring ? j : 0] - after[j] * head.hang : Scalar(0)};
      }
    }
    team.team_barrier(); // what was read from the board before has been read
    board.show(1, rank, head);
    if constexpr (ring) {
      for (int j = 0; j < R; j++) {
        if (mine.first + j == n - 1) board.common(0) = x[j];
      }
    }
    team.team_barrier();
    HangingRow<Scalar> last = above;
    if (rows > 0 && rank + 1 < chunks) {
      const HangingRow<Scalar> next = board.see(1, rank + 1);
      Join<Scalar> join(last);
      join.right(next);
      const Scalar inverse = 1 / join.pivot();
      last                 = {join.row(inverse), (last.hang - last.after * next.hang) * inverse};
    }
    board.show(0, rank, last);
    team.team_barrier();
    int set = 0;
    for (int distance = 1; distance < chunks; distance *= 2) {
      if (rank < chunks) {
        Join<Scalar> join(last);
        Scalar hang = last.hang;
        if (rank >= distance) {
          const HangingRow<Scalar> l = board.see(set, rank - distance);
          join.left(l);
          if constexpr (ring) hang -= last.before * l.hang;
        }
        if (rank + distance < chunks) {
          const HangingRow<Scalar> r = board.see(set, rank + distance);
          join.right(r);
          if constexpr (ring) hang -= last.after * r.hang;
        }
        const Scalar inverse = 1 / join.pivot();
        last                 = {join.row(inverse), hang * inverse};
        board.show(1 - set, rank, last);
      }
      set = 1 - set;
      team.team_barrier();
    }
    Scalar x_last = 0;
    if constexpr (ring) {
      if (rank == 0) {
        board.common(1) = head.value - head.after * last.value;
        board.common(2) = head.hang - head.after * last.hang;
      }
      team.team_barrier();
      const HangingRow<Scalar> end = board.see(set, chunks - 1); // row n - 2
      const Scalar lower = a.b.lower(n - 1), upper = a.b.upper(n - 1);
      x_last = pinned ? Scalar(0)
                      : (board.common(0) - lower * end.value - upper * board.common(1)) /
                            (a.b.diagonal(n - 1) + shift - lower * end.hang - upper * board.common(2));
    }
    Scalar x_before = 0, below = last.value - last.hang * x_last;
    if (rank > 0 && rows > 0) {
      const HangingRow<Scalar> previous = board.see(set, rank - 1);
      x_before                          = previous.value - previous.hang * x_last;
    }
    for (int j = R - 1; j >= 0; j--) {
      if (j < rows) {
        if (j + 1 < rows) {
          below = x[j] - before[j] * x_before - after[j] * below;
          if constexpr (ring) below -= hang[j] * x_last;
        }
        x[j] = below;
      }
      if constexpr (ring) {
        if (mine.first + j == n - 1) x[j] = x_last;
      }
    }
  }

  /// x <- (B + shift I) x
  KOKKOS_INLINE_FUNCTION void multiply(const Member &team, const Board &board, const Mine &mine, Scalar shift, Scalar (&x)[R]) const
  {
    const Index n    = a.rows.grid.length;
    const int chunks = static_cast<int>((n + R - 1) / R), rank = mine.rank;
    HangingRow<Scalar> ends;
    for (int j = 0; j < R; j++) {
      if (j == 0 && mine.rows > 0) ends.before = x[j];
      if (j + 1 == mine.rows) ends.after = x[j];
    }
    team.team_barrier();
    board.show(0, rank, ends);
    team.team_barrier();
    if (mine.rows == 0) return;
    Scalar above       = rank > 0 ? board.see(0, rank - 1).after : ring ? board.see(0, chunks - 1).after : Scalar(0);
    const Scalar after = rank + 1 < chunks ? board.see(0, rank + 1).before : ring ? board.see(0, 0).before : Scalar(0);
    for (int j = 0; j < R; j++) {
      if (j < mine.rows) {
        const Index i    = mine.first + j;
        const Scalar own = x[j];
        Scalar below     = after;
        if (j + 1 < R && j + 1 < mine.rows) below = x[j + 1 < R ? j + 1 : j];
        x[j]  = a.b.lower(i) * above + (a.b.diagonal(i) + shift) * own + a.b.upper(i) * below;
        above = own;
      }
    }
  }
};

/// Threads and unknowns of a thread for rows of that length.
struct DeviceShape {
  int rows = 4, threads = 32;

  static constexpr int most_threads = 512, most_rows = 64;
  static constexpr Index longest = Index(most_threads) * most_rows;

  explicit DeviceShape(Index length)
  {
    rows = length <= 128 ? 4 : length <= 8 * most_threads ? 8 : length <= 16 * most_threads ? 16 : most_rows;
    while (Index(threads) * rows < length) threads *= 2;
  }
};

/// How many parts the poles of a step are split into on a device: enough teams to fill it.
template <class Space, class Scalar>
int device_splits(const Space &space, const StepTables<Scalar> &step, const Grid &grid)
{
  if (step.kind != Lines::fractions || step.groups == 0) return 1;
  const Index teams = space.concurrency() / DeviceShape(grid.length).threads / 2, there = step.groups * grid.planes;
  return static_cast<int>(std::clamp<Index>(teams / there, 1, std::max(1, step.most_poles)));
}

template <int R, int most, bool ring, class Space, class Scalar>
void launch_lines(const Space &space, const LineArguments<Scalar> &a, int threads)
{
  using Kernel = DeviceLines<Space, Scalar, R, most, ring>;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<512, 1>>;
  Policy policy(space, static_cast<int>(a.step.groups * a.rows.grid.planes * a.step.splits), threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes(threads))));
  Kokkos::parallel_for("weft poisson lines", policy, Kernel{a});
}

template <int R, class Space, class Scalar>
void launch_lines(const Space &space, const LineArguments<Scalar> &a, int threads)
{
  if (a.step.outputs == 1)
    a.b.ring ? launch_lines<R, 1, true>(space, a, threads) : launch_lines<R, 1, false>(space, a, threads);
  else
    a.b.ring ? launch_lines<R, most_outputs, true>(space, a, threads) : launch_lines<R, most_outputs, false>(space, a, threads);
}

template <class Space, class Scalar>
void run_lines_on_device(const Space &space, const LineArguments<Scalar> &a)
{
  if (a.step.groups == 0) return;
  const DeviceShape shape(a.rows.grid.length);
  if (shape.rows == 4) launch_lines<4>(space, a, shape.threads);
  if (shape.rows == 8) launch_lines<8>(space, a, shape.threads);
  if (shape.rows == 16) launch_lines<16>(space, a, shape.threads);
  if (shape.rows == 64) launch_lines<64>(space, a, shape.threads);
  if (a.step.splits > 1) add_parts(space, a);
}

} // namespace weft::poisson
