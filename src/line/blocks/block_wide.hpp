/// Block wide: the factors of block_factors.hpp, a team per line. The two recurrences of a solve
///   z_i = inverse_i rhs_i - left_i z_{i-1},   x_i = z_i - right_i x_{i+1}
/// are affine maps of their predecessor, and maps can be composed in any order (Blelloch, Prefix sums and their applications, section 1.4,
/// with b * b blocks for the scalars).
///
/// The team walks along the line in tiles. Each thread owns some consecutive rows of a tile: it composes their maps, a prefix scan over the
/// threads (Kogge and Stone; maps in scratch memory) gives the value before its first row, and the recurrence runs again from there, with
/// the blocks still in registers or cache. What the team carries from tile to tile is one vector, so that any length will do.
///
/// Words moved per block row of a solve: 3 b^2 + 4 b, as with block-thomas, z mostly from cache. Each tile's factors stand so that
/// neighbouring threads read neighbouring words, whichever way the lines lie.
/// Parameters: `partitions` is the threads of a team (fewer where the line, scratch memory or the backend does not have so many); `slice`
/// the rows of a chunk of the factorization.
/// A one-shot solve of blocks of 4 on a Hopper device has a native form that reads every block once (cuda/block_wide_cuda.hpp).
/// Limits: as block-thomas; 2 b^3 (1 + log2(threads) / rows of a thread) operations a row more, hence no gain where lines fill the device.
#pragma once
#include <algorithm>
#include <type_traits>

#include "base/backend.hpp"
#include "base/native.hpp"
#include "line/blocks/block_factors.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "line/blocks/block_wide_cuda.hpp"
#endif

namespace weft {

/// A native form of the one-shot solve for a backend that has one.
template <class Space, class Scalar, int b>
struct NativeBlockWide {
  static bool takes(const BlockLines &) { return false; }
  /// False where it could not. `redo` says which lines it has not solved (of those of options.colour); `flag` is cleared.
  static bool launch(const Space &, const BlockTridiagonal<Scalar, Space, b> &, const Array<Scalar, Space> &, const Array<Scalar, Space> &,
                     const SolveOptions<Scalar> &, const OwnedArray<int, Space> &, const PivotFlag<typename Space::memory_space> &)
  {
    return false;
  }
};

#if defined(WEFT_NATIVE_HOPPER)
template <class Scalar>
requires std::is_floating_point_v<Scalar>
struct NativeBlockWide<Kokkos::Cuda, Scalar, 4> {
  using Space = Kokkos::Cuda;

  static bool takes(const BlockLines &lines) { return cuda::block_wide_lines(lines.layout); }
  static bool launch(const Space &space, const BlockTridiagonal<Scalar, Space, 4> &matrix, const Array<Scalar, Space> &rhs,
                     const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options, const OwnedArray<int, Space> &redo,
                     const PivotFlag<typename Space::memory_space> &flag)
  {
    const auto aligned = [](const Scalar *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    if (matrix.transposed || !takes(matrix.problem) || !aligned(matrix.lower.data()) || !aligned(matrix.diagonal.data()) ||
        !aligned(matrix.upper.data()) || !aligned(rhs.data()) || !aligned(solution.data()))
      return false;
    cuda::launch_block_wide<Scalar>(space, {matrix.lower.data(), matrix.diagonal.data(), matrix.upper.data(), rhs.data(), solution.data(),
                                            matrix.problem, options.update.scale, options.colour, redo.data(), flag});
    return true;
  }
};
#endif

struct BlockWide {
  static constexpr const char *name = "block-wide";

  /// Rows that a thread owns: as many as keep their blocks in its registers.
  template <int b>
  static constexpr int rows_of_thread = b <= 2   ? 8
                                        : b <= 4 ? 4
                                                 : 2;
  template <int b>
  static constexpr bool keeps_blocks = rows_of_thread<b> *b *b <= 64;

  static constexpr int scratch_bytes = 40 * 1024, most_threads = 128;

  /// Three blocks a block row.
  static double flops(const LineLayout &layout) { return 6.0 * static_cast<double>(layout.rows() * layout.components); }
  static std::optional<std::string> refuses(const BlockLines &, const MethodParameters &parameters)
  {
    if (parameters.partitions < 0) return "block-wide cannot work with a negative number of threads (partitions)";
    if (parameters.slice < 0) return "block-wide cannot factor chunks of a negative number of rows (slice)";
    return nothing_against;
  }

  /// Tiles of threads * rows rows; the entries of the rows number k of all threads side by side.
  struct Order {
    Index tiles = 0, apart = 1, size = 0;
    int rows = 1, block = 1;

    KOKKOS_INLINE_FUNCTION Index first(Index line, Index row) const
    {
      return first(line, row / (apart * rows), row / rows % apart, static_cast<int>(row % rows));
    }
    KOKKOS_INLINE_FUNCTION Index first(Index line, Index tile, Index thread, int k) const
    {
      return ((line * tiles + tile) * rows + k) * block * apart + thread;
    }
  };

  template <class Space, class Scalar, int b>
  struct Plan : BlockFactors<Space, Scalar, b, Order> {
    using BlockFactors<Space, Scalar, b, Order>::BlockFactors;
    OwnedArray<int, Space> redo; ///< lines that the native form leaves to this one, where there is one
  };

  template <class Space, class Scalar, int b>
  static Plan<Space, Scalar, b> plan(const BlockLines &lines, const MethodParameters &parameters)
  {
    constexpr int rows = rows_of_thread<b>;
    const Index chunks = (lines.layout.length + rows - 1) / rows;
    const Index available =
        on_device<Space> ? std::min<Index>(most_threads, scratch_bytes / sizeof(Map<Scalar, b>)) : Space().concurrency();
    Index threads = parameters.partitions;
    if (threads == 0 && on_device<Space>) { // a warp, or more where lines are few: some hundreds of threads keep a processor's memory busy
      threads = warp_threads<Space>;
      while (threads < available && threads * lines.count() * 16 <= Space().concurrency()) threads *= 2;
    }
    threads = std::clamp<Index>(threads, 1, std::max<Index>(1, std::min(available, chunks)));
    Order order;
    order.tiles = (chunks + threads - 1) / threads;
    order.apart = order.tiles ? (chunks + order.tiles - 1) / order.tiles : 1;
    order.size  = lines.count() * order.tiles * order.apart * rows;
    order.rows  = rows;
    order.block = b * b;
    Plan<Space, Scalar, b> plan(lines, order, parameters.slice);
    if (lines.layout.rows() > 0 && NativeBlockWide<Space, Scalar, b>::takes(lines))
      plan.redo = OwnedArray<int, Space>("weft block redo", static_cast<std::size_t>(lines.count()));
    return plan;
  }

  template <class Space, class Scalar, int b>
  static void factor(const Space &space, const Plan<Space, Scalar, b> &plan, const BlockTridiagonal<Scalar, Space, b> &matrix)
  {
    block_factor(space, plan, matrix);
  }

  template <class Space, class Scalar, int b>
  static void solve_once(const Space &space, const Plan<Space, Scalar, b> &plan, const BlockTridiagonal<Scalar, Space, b> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    if (plan.redo.data() && NativeBlockWide<Space, Scalar, b>::launch(space, matrix, rhs, solution, options, plan.redo, plan.flag)) {
      solve_rest(space, plan, matrix, rhs, solution, options);
      return;
    }
    factor(space, plan, matrix);
    solve(space, plan, matrix, rhs, solution, options);
  }

  /// Factors and solves the lines of plan.redo, a thread a line: mostly there are none, so that what counts is that this is one short launch.
  template <class Space, class Scalar, int b>
  static void solve_rest(const Space &space, const Plan<Space, Scalar, b> &plan, const BlockTridiagonal<Scalar, Space, b> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    using Factors                         = BlockFactors<Space, Scalar, b, Order>;
    const OwnedArray<Scalar, Space> table = plan.right;
    const OwnedArray<int, Space> redo     = plan.redo;
    const Order order                     = plan.order;
    const auto flag                       = plan.flag;
    const Kokkos::RangePolicy<Space> lines(space, 0, matrix.problem.count());
    Kokkos::parallel_for(
        "weft block wide rest", Kokkos::Experimental::require(lines, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
        KOKKOS_LAMBDA(const Index line) {
          if (redo(line) == 0 || !matrix.problem.has_colour(line, options.colour)) return;
          const LineLayout &layout = matrix.problem.layout;
          const Index start        = matrix.problem.start(line);
          Block<Scalar, b> right;
          BlockVector<Scalar, b> x;
          for (Index row = 0; row < layout.length; row++) {
            const Index i = start + row * layout.stride;
            const EliminatedRow<Scalar, b> r(matrix, row, i, right);
            if (!r.usable) flag.report(line, row);
            x     = r.inverse * residual(get_node<b>(rhs, i), r.lower, x);
            right = r.inverse * r.upper;
            put_node(solution, i, Update<Scalar>{}, x);
            Factors::set(table, order.first(line, row), order.apart, right);
          }
          for (Index row = layout.length - 1; row >= 0; row--) {
            const Index i = start + row * layout.stride;
            x = row + 1 < layout.length ? residual(get_node<b>(solution, i), Factors::get(table, order.first(line, row), order.apart), x)
                                        : x;
            put_node(solution, i, options.update, x);
          }
        });
  }

  /// value_after = product * value_before + offset
  template <class Scalar, int b>
  struct Map {
    Block<Scalar, b> product;
    BlockVector<Scalar, b> offset;
  };

  /// The maps that the threads of a team show each other, word by word.
  template <class Space, class Scalar, int b>
  struct Shown {
    using View = Kokkos::View<Scalar *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    View words;
    int threads;

    KOKKOS_INLINE_FUNCTION Scalar &product(int p, int q, int thread) const { return words((p * b + q) * threads + thread); }
    KOKKOS_INLINE_FUNCTION Scalar &offset(int p, int thread) const { return words((b * b + p) * threads + thread); }

    KOKKOS_INLINE_FUNCTION void show(int thread, const BlockVector<Scalar, b> &v) const
    {
      for (int p = 0; p < b; p++) offset(p, thread) = v(p);
    }
    KOKKOS_INLINE_FUNCTION BlockVector<Scalar, b> see(int thread) const
    {
      BlockVector<Scalar, b> v;
      for (int p = 0; p < b; p++) v(p) = offset(p, thread);
      return v;
    }
    KOKKOS_INLINE_FUNCTION void show(int thread, const Block<Scalar, b> &m) const
    {
      for (int p = 0; p < b; p++) {
        for (int q = 0; q < b; q++) product(p, q, thread) = m(p, q);
      }
    }
    /// m times the product of a thread, row by row in place: two blocks at once would not fit the registers.
    KOKKOS_INLINE_FUNCTION void multiply(Block<Scalar, b> &m, int thread) const
    {
      for (int p = 0; p < b; p++) {
        BlockVector<Scalar, b> row;
        for (int k = 0; k < b; k++) {
          for (int q = 0; q < b; q++) row(q) += m(p, k) * product(k, q, thread);
        }
        for (int q = 0; q < b; q++) m(p, q) = row(q);
      }
    }
  };

  /// The values before and after the rows of a thread, once those of the whole team are known.
  template <class Scalar, int b>
  struct Ends {
    BlockVector<Scalar, b> before, last; ///< `last` is that after the rows of the last thread
  };

  /// Composes the maps of all threads before `thread`, with `carry` the value before the first.
  template <class Member, class Space, class Scalar, int b>
  KOKKOS_INLINE_FUNCTION static Ends<Scalar, b> scan(const Member &team, const Shown<Space, Scalar, b> &shown, int thread,
                                                     Map<Scalar, b> map, const BlockVector<Scalar, b> &carry)
  {
    if (thread == 0) map = {{}, map.product * carry + map.offset};
    for (int distance = 1; distance < shown.threads; distance *= 2) {
      shown.show(thread, map.product);
      shown.show(thread, map.offset);
      team.team_barrier();
      if (thread >= distance) {
        map.offset = map.product * shown.see(thread - distance) + map.offset;
        shown.multiply(map.product, thread - distance);
      }
      team.team_barrier();
    }
    shown.show(thread, map.offset);
    team.team_barrier();
    const Ends<Scalar, b> ends{thread > 0 ? shown.see(thread - 1) : carry, shown.see(shown.threads - 1)};
    team.team_barrier();
    return ends;
  }

  /// value_i = constant(i, place of its factors) - couplings_i value_{i-1}, or value_{i+1} where not `forward`, along a line; store(i, value_i).
  template <bool forward, class Member, class Space, class Scalar, int b, class Constant, class Store>
  KOKKOS_INLINE_FUNCTION static void recurrence(const Member &team, const BlockFactors<Space, Scalar, b, Order> &plan,
                                                const Shown<Space, Scalar, b> &shown, Index line,
                                                const OwnedArray<Scalar, Space> &couplings, const Constant &constant, const Store &store)
  {
    constexpr int rows  = rows_of_thread<b>;
    constexpr bool keep = keeps_blocks<b>;
    const Index length  = plan.lines.layout.length;
    const int thread    = forward ? team.team_rank() : shown.threads - 1 - team.team_rank();
    BlockVector<Scalar, b> carry;
    for (Index step = 0; step < plan.order.tiles; step++) {
      const Index tile  = forward ? step : plan.order.tiles - 1 - step;
      const Index first = (tile * shown.threads + team.team_rank()) * rows;
      BlockVector<Scalar, b> constants[rows];
      Block<Scalar, b> kept[keep ? rows : 1];
      const auto at       = [&](int k) { return plan.order.first(line, tile, team.team_rank(), k); };
      const auto coupling = [&](int k) { return keep ? kept[keep ? k : 0] : plan.get(couplings, at(k)); };
      for (int k = 0; k < rows; k++) {
        if (first + k >= length) break;
        constants[k] = constant(first + k, at(k));
        if (keep) kept[keep ? k : 0] = plan.get(couplings, at(k));
      }
      Ends<Scalar, b> ends{carry, carry};
      if (shown.threads > 1) {
        // Rows after the end have no map: only those before them in a backward recurrence see it, and the last row couples to nothing.
        Map<Scalar, b> map;
        for (int j = 0; j < rows; j++) {
          const int k = forward ? j : rows - 1 - j;
          if (first + k >= length) continue;
          const Block<Scalar, b> m = -coupling(k);
          map.offset               = m * map.offset + constants[k];
          map.product              = j == 0 ? m : m * map.product;
        }
        ends = scan(team, shown, thread, map, carry);
      }
      BlockVector<Scalar, b> value = ends.before;
      for (int j = 0; j < rows; j++) {
        const int k = forward ? j : rows - 1 - j;
        if (first + k >= length) continue;
        value = residual(constants[k], coupling(k), value);
        store(first + k, value);
      }
      carry = shown.threads > 1 ? ends.last : value;
    }
  }

  template <class Space, class Scalar, int b>
  static void solve(const Space &space, const BlockFactors<Space, Scalar, b, Order> &plan, const BlockTridiagonal<Scalar, Space, b> &,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    using Policy = Kokkos::TeamPolicy<Space>;
    using View   = typename Shown<Space, Scalar, b>::View;
    if (plan.lines.layout.rows() == 0) return;
    const Array<Scalar, Space> work = options.update.add ? rhs : solution;
    const int threads               = static_cast<int>(plan.order.apart);
    const std::size_t words         = threads > 1 ? sizeof(Map<Scalar, b>) / sizeof(Scalar) * threads : 0;
    const int teams                 = static_cast<int>(std::min<Index>(plan.lines.count(), 1 << 30));
    Policy policy(space, teams, threads);
    Kokkos::parallel_for(
        "weft block wide solve", policy.set_scratch_size(0, Kokkos::PerTeam(View::shmem_size(words))),
        KOKKOS_LAMBDA(const typename Policy::member_type &team) {
          const LineLayout &layout = plan.lines.layout;
          const Shown<Space, Scalar, b> shown{View(team.team_scratch(0), words), threads};
          for (Index line = team.league_rank(); line < plan.lines.count(); line += team.league_size()) {
            if (!plan.lines.has_colour(line, options.colour)) continue;
            const Index start = plan.lines.start(line);
            recurrence<true>(
                team, plan, shown, line, plan.left,
                [&](Index row, Index at) { return plan.get(plan.inverse, at) * get_node<b>(rhs, start + row * layout.stride); },
                [&](Index row, const BlockVector<Scalar, b> &z) { put_node(work, start + row * layout.stride, Update<Scalar>{}, z); });
            recurrence<false>(
                team, plan, shown, line, plan.right, [&](Index row, Index) { return get_node<b>(work, start + row * layout.stride); },
                [&](Index row, const BlockVector<Scalar, b> &x) { put_node(solution, start + row * layout.stride, options.update, x); });
          }
        });
  }
};

} // namespace weft
