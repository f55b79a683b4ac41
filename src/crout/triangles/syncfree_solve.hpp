/// Exact, one launch a triangle; rows wait for the values they need (in_order.hpp) and add their entries in their order: the same bits every time.
///
/// Short rows: a team takes a block of neighbouring rows in the order of their levels, a thread a row, and keeps their solution in its scratch
/// memory. Most of what a row waits for comes from its own block, by way of that memory, and only what crosses blocks goes by way of the
/// device's. Blocks are handed out in the order of the solve, so that whatever a block waits for is under way or done. Long rows: a warp a row,
/// all rows in the order of their levels.
#pragma once
#include "crout/triangles/levels.hpp"

namespace weft::triangular {

/// Whether the rows of a triangle are solved in blocks: what find_levels must know.
template <class Space, class Scalar>
bool solved_in_blocks(const Triangle<Scalar> &t)
{
  return lanes_of<Space>(t.rows, t.entries) == 1;
}

template <int width, class Space, class Scalar>
struct WaitingRows {
  using Scratch               = Kokkos::View<KernelScalar *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool keeps = width == 1;          ///< what more right-hand sides need would leave room for few teams
  static constexpr int at_once = width == 1 ? 4 : 2; ///< entries that a thread waits for at a time

  Triangle<Scalar> triangle;
  const Scalar *scale, *before;
  Vectors in, out; ///< out.data null: only x is wanted
  KernelScalar *x; ///< unfinished() until it is known
  const std::int32_t *order;
  Ticket<Space> ticket;
  Index rows_of_team;
  bool share; ///< a warp a row

  static std::size_t scratch_bytes(Index rows) { return keeps ? Scratch::shmem_size(static_cast<std::size_t>(rows)) : 0; }

  /// Rows from `first` on in the order of the solve, and where they find each other's solution.
  struct Block {
    KernelScalar *near, *x; ///< near null: nowhere but in x
    Index first, rows;
    bool forward;

    /// Distance of a row from the first one of the block: negative for rows of blocks before.
    KOKKOS_INLINE_FUNCTION Index place(Index i) const { return (forward ? i : rows - 1 - i) - first; }
    KOKKOS_INLINE_FUNCTION const KernelScalar *of(Index i) const { return near && place(i) >= 0 ? near + place(i) * width : x + i * width; }
  };

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index first = take_number<Member, Space>(team, ticket) * rows_of_team;
    const int count   = static_cast<int>(triangle.rows - first < rows_of_team ? triangle.rows - first : rows_of_team);
    Block block{nullptr, x, first, triangle.rows, triangle.forward};
    if (keeps && !share) {
      block.near = Scratch(team.team_scratch(0), static_cast<std::size_t>(rows_of_team)).data();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), [&](const int k) { block.near[k] = unfinished<KernelScalar>(); });
      team.team_barrier();
    }
    for (int p = team.team_rank(); p < count; p += team.team_size()) {
      if (share)
        by_warp(team, block, order[first + p]);
      else
        by_thread(block, order[first + p]);
    }
  }

  /// Reads at once what is used only when all entries are known. A compiler would read it there, and all who wait for the row would wait for
  /// that too.
  template <class T>
  KOKKOS_INLINE_FUNCTION static Working<T> now(const T *array, Index i)
  {
    return array ? Working<T>(look_now(array[i])) : Working<T>(1);
  }
  KOKKOS_INLINE_FUNCTION void start(Index i, KernelScalar *g) const
  {
    for (int c = 0; c < width; c++) {
      const KernelScalar r = now(in.data, in.at(i, c));
      g[c]                 = now(before, i) * (in.scale ? RealOf<KernelScalar>(look_now(in.scale[i])) * r : r);
    }
  }
  KOKKOS_INLINE_FUNCTION void finish(const Block &block, Index i, const KernelScalar *g, KernelScalar factor,
                                     const KernelScalar *sums) const
  {
    for (int c = 0; c < width; c++) {
      const KernelScalar value = g[c] - factor * sums[c], word = finished(value);
      if (block.near) publish(block.near[block.place(i) * width + c], word);
      publish(x[i * width + c], word);
      if (out.data) out.put(i, c, value);
    }
  }
  /// Threads of a warp may depend on each other: none stays in a loop of its own, and results are published inside the loop.
  KOKKOS_INLINE_FUNCTION void by_thread(const Block &block, Index i) const
  {
    KernelScalar g[width], sums[width] = {}, values[at_once], seen[at_once][width];
    const KernelScalar *from[at_once];
    std::int64_t k         = triangle.starts[i];
    const std::int64_t end = triangle.starts[i + 1];
    start(i, g);
    const KernelScalar factor = now(scale, i);
    const auto next           = [&] {
      for (int a = 0; a < at_once; a++) {
        const bool there = k + a < end;
        values[a]        = there ? KernelScalar(triangle.values[k + a]) : KernelScalar(0);
        from[a]          = there ? block.of(triangle.columns[k + a]) : x;
        for (int c = 0; c < width; c++) seen[a][c] = there ? unfinished<KernelScalar>() : KernelScalar(0);
      }
    };
    next();
    for (bool done = false; !done;) {
      bool ready = true;
      for (int a = 0; a < at_once; a++) {
        for (int c = 0; c < width; c++) {
          if (is_unfinished(seen[a][c])) seen[a][c] = look(from[a][c]);
        }
      }
      for (int a = 0; a < at_once; a++) {
        for (int c = 0; c < width; c++) ready = ready && !is_unfinished(seen[a][c]);
      }
      if (!ready) continue;
      for (int a = 0; a < at_once; a++) {
        for (int c = 0; c < width; c++) sums[c] += values[a] * seen[a][c];
      }
      k += at_once;
      if (k < end) {
        next();
      } else {
        finish(block, i, g, factor, sums);
        done = unseen(true);
      }
    }
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void by_warp(const Member &team, const Block &block, Index i) const
  {
    const std::int64_t first = triangle.starts[i];
    KernelScalar g[width], sums[width];
    start(i, g);
    for (int c = 0; c < width; c++) {
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, static_cast<int>(triangle.starts[i + 1] - first)),
          [&](const int k, KernelScalar &sum) {
            const KernelScalar value(triangle.values[first + k]), *from = block.of(triangle.columns[first + k]) + c;
            KernelScalar seen = unfinished<KernelScalar>();
            while (is_unfinished(seen)) seen = look(*from);
            sum += value * seen;
          },
          sums[c]);
    }
    Kokkos::single(Kokkos::PerThread(team), [&] { finish(block, i, g, times(scale, i, 1.0), sums); });
  }
};

/// Leaves the solution in x, and in half.out where that is given. half.in may not be x. Both x and ticket must be fresh: see refresh. levels
/// are those of find_levels, in blocks where lanes is 1.
template <int width, class Space, class Scalar>
void syncfree_half(const Space &space, const Half<Scalar> &half, const Levels<Space> &levels, int lanes, KernelScalar *x,
                   const Ticket<Space> &ticket)
{
  const Triangle<Scalar> &t = half.triangle;
  if (t.rows == 0) return;
  using Kernel      = WaitingRows<width, Space, Scalar>;
  const bool share  = lanes > 1 && !on_host<Space>;
  const Index block = block_rows(t.rows);
  const int threads = on_host<Space> ? 1 : share ? 4 : block < most_block_rows ? 256 : 128;
  const Index rows  = share ? threads : block;
  Kokkos::TeamPolicy<Space> policy(space, static_cast<int>((t.rows + rows - 1) / rows), threads, share ? warp_threads<Space> : 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(share ? 0 : static_cast<int>(Kernel::scratch_bytes(block))));
  Kokkos::parallel_for("weft sync-free solve", policy,
                       Kernel{t, half.scale, half.before, half.in, half.out, x, levels.order.data(), ticket, rows, share});
}

/// Makes x of both halves and their tickets ready in one launch.
template <class Space>
struct Refresh {
  KernelScalar *first, *second;
  Ticket<Space> tickets[2];

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    first[k]  = unfinished<KernelScalar>();
    second[k] = unfinished<KernelScalar>();
    if (k == 0) tickets[0]() = tickets[1]() = 0;
  }
};

template <class Space>
void refresh(const Space &space, KernelScalar *first, KernelScalar *second, const Ticket<Space> &one, const Ticket<Space> &two, Index size)
{
  Kokkos::parallel_for("weft sync-free refresh", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, size),
                       Refresh<Space>{first, second, {one, two}});
}

} // namespace weft::triangular
