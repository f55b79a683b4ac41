/// Exact, one launch a triangle. A team takes a block of neighbouring rows in the order of their levels and keeps their solution in its scratch
/// memory: most of what a row waits for comes from its own block, by way of that memory, and only what crosses blocks goes by way of the
/// device's. Blocks are handed out in the order of the solve, so that whatever a block waits for is under way or done (in_order.hpp). A row
/// adds its entries in their order: the same bits every time.
#pragma once
#include "crout/levels.hpp"

namespace weft::triangular {

template <int width, class Space, class Scalar>
struct BlocksOfRows {
  using Scratch = Kokkos::View<double *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Triangle<Scalar> triangle;
  const Scalar *scale, *before;
  Vectors in, out; ///< out.data null: only x is wanted
  double *x;       ///< unfinished() until it is known
  const std::int32_t *order;
  Ticket<Space> ticket;
  bool share; ///< rows are so long that a warp takes each

  static std::size_t scratch_bytes() { return Scratch::shmem_size(static_cast<std::size_t>(width * block_rows)); }

  /// Where the rows of a block, from `first` in the order of the solve, find each other's solution.
  struct Block {
    double *near, *x;
    Index first, rows;
    bool forward;

    /// Distance of a row from the first one of the block: negative for rows of blocks before.
    KOKKOS_INLINE_FUNCTION Index place(Index i) const { return (forward ? i : rows - 1 - i) - first; }
    KOKKOS_INLINE_FUNCTION const double *of(Index i) const { return place(i) >= 0 ? near + place(i) * width : x + i * width; }
  };

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index first = take_number<Member, Space>(team, ticket) * block_rows;
    const int count   = static_cast<int>(triangle.rows - first < block_rows ? triangle.rows - first : block_rows);
    const Scratch near(team.team_scratch(0), static_cast<std::size_t>(width * block_rows));
    const Block block{near.data(), x, first, triangle.rows, triangle.forward};
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, width * count), [&](const int k) { near(k) = unfinished(); });
    team.team_barrier();
    for (int p = team.team_rank(); p < count; p += team.team_size()) {
      if (share)
        by_warp(team, block, order[first + p]);
      else
        by_thread(block, order[first + p]);
    }
  }

private:
  static constexpr int together = width == 1 ? 4 : 2; ///< entries that a thread waits for at a time

  KOKKOS_INLINE_FUNCTION void finish(const Block &block, Index i, const double *g, double factor, const double *sums) const
  {
    for (int c = 0; c < width; c++) {
      const double value = g[c] - factor * sums[c], word = finished(value);
      publish(block.near[block.place(i) * width + c], word);
      publish(x[i * width + c], word);
      if (out.data) out.put(i, c, value);
    }
  }
  /// Threads of a warp may depend on each other: none stays in a loop of its own, and results are published inside the loop.
  KOKKOS_INLINE_FUNCTION void by_thread(const Block &block, Index i) const
  {
    double g[width], sums[width], values[together], seen[together][width];
    const double *from[together];
    std::int64_t k         = triangle.starts[i];
    const std::int64_t end = triangle.starts[i + 1];
    for (int c = 0; c < width; c++) {
      g[c]    = times(before, i, in.get(i, c));
      sums[c] = 0;
    }
    const double factor = times(scale, i, 1.0);
    const auto next     = [&] {
      for (int a = 0; a < together; a++) {
        const bool there = k + a < end;
        values[a]        = there ? static_cast<double>(triangle.values[k + a]) : 0.0;
        from[a]          = there ? block.of(triangle.columns[k + a]) : block.near;
        for (int c = 0; c < width; c++) seen[a][c] = there ? unfinished() : 0.0;
      }
    };
    next();
    for (bool done = false; !done;) {
      bool ready = true;
      for (int a = 0; a < together; a++) {
        for (int c = 0; c < width; c++) {
          if (is_unfinished(seen[a][c])) seen[a][c] = look(from[a][c]);
        }
      }
      for (int a = 0; a < together; a++) {
        for (int c = 0; c < width; c++) ready = ready && !is_unfinished(seen[a][c]);
      }
      if (!ready) continue;
      for (int a = 0; a < together; a++) {
        for (int c = 0; c < width; c++) sums[c] += values[a] * seen[a][c];
      }
      k += together;
      if (k < end) {
        next();
      } else {
        finish(block, i, g, factor, sums);
        done = true;
      }
    }
  }
  template <class Member>
  KOKKOS_INLINE_FUNCTION void by_warp(const Member &team, const Block &block, Index i) const
  {
    const std::int64_t first = triangle.starts[i];
    double g[width], sums[width];
    for (int c = 0; c < width; c++) g[c] = times(before, i, in.get(i, c));
    for (int c = 0; c < width; c++) {
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, static_cast<int>(triangle.starts[i + 1] - first)),
          [&](const int k, double &sum) {
            const double value = static_cast<double>(triangle.values[first + k]), *from = block.of(triangle.columns[first + k]) + c;
            double seen = unfinished();
            while (is_unfinished(seen)) seen = look(*from);
            sum += value * seen;
          },
          sums[c]);
    }
    Kokkos::single(Kokkos::PerThread(team), [&] { finish(block, i, g, times(scale, i, 1.0), sums); });
  }
};

/// Leaves the solution in x, and in half.out where that is given. half.in may not be x. Both x and ticket must be fresh: see refresh. levels
/// are those of find_levels with in_blocks.
template <int width, class Space, class Scalar>
void syncfree_half(const Space &space, const Half<Scalar> &half, const Levels<Space> &levels, int lanes, double *x,
                   const Ticket<Space> &ticket)
{
  const Triangle<Scalar> &t = half.triangle;
  if (t.rows == 0) return;
  using Kernel      = BlocksOfRows<width, Space, Scalar>;
  const bool share  = lanes > 1 && !on_host<Space>;
  const int threads = on_host<Space> ? 1 : 256, blocks = static_cast<int>((t.rows + block_rows - 1) / block_rows);
  Kokkos::TeamPolicy<Space> policy(space, blocks, share ? threads / 32 : threads, share ? 32 : 1);
  Kokkos::parallel_for("weft sync-free solve", policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes()))),
                       Kernel{t, half.scale, half.before, half.in, half.out, x, levels.order.data(), ticket, share});
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
