/// Small levels by one cluster of blocks, natively on CUDA, sm_90: a barrier of the cluster stands where a launch would begin.
///
/// A line is a warp's: each lane eliminates a chunk of R rows, of which each unknown hangs on the last one before the chunk and on the chunk's last; chunks
/// are joined, each to the next, and solved by parallel cyclic reduction with shuffles (as in wide.hpp, whose teams use shared memory). Coefficients are read
/// through the cache of a multiprocessor, vectors past it, since other blocks of the cluster write them.
///
/// Limits: lines of up to 288 rows, no periodic direction. Words moved: those of the launches that it stands
/// for; what it saves is waiting: some 2 us a step in place of 2 to 11 a launch.
#pragma once
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/backend.hpp"
#include "base/native_forms.hpp"
#include "boxmg/small_levels.hpp"
#include "line/join.hpp"
#include "line/methods/wide/wide_kernel.hpp"
#include "line/relax/matrix_rows.hpp"

namespace weft::boxmg {

inline constexpr int small_threads = 512, most_small_levels = 12, most_small_steps = 320;

template <class Scalar>
struct SmallArguments {
  const SmallLevel<Scalar> *levels;
  const SmallStep *steps;
  int level_count, begin, end; ///< of the steps
  int top;                     ///< the level whose right-hand side and solution are these
  const Scalar *b;
  Scalar *x;
  RealOf<Scalar> omega; ///< of steps that are over-relaxed
};

/// A block's place in the cluster, or in a launch.
struct SmallPlace {
  int blocks, block;

  __device__ static int threads() { return static_cast<int>(blockDim.x); }
  /// Of so many pieces of work for a warp each, those of this warp: neighbours go to one block, and all blocks have as many.
  template <class Work>
  __device__ void each_for_a_warp(int count, const Work &work) const
  {
    const int share = (count + blocks - 1) / blocks, first = block * share, last = first + share < count ? first + share : count;
    for (int k = first + static_cast<int>(threadIdx.x) / 32; k < last; k += threads() / 32) work(k);
  }
  template <class Work>
  __device__ void each_for_a_thread(int count, const Work &work) const
  {
    for (int k = block * threads() + static_cast<int>(threadIdx.x); k < count; k += blocks * threads()) work(k);
  }
};

template <class Scalar>
__device__ Hanging<Scalar> shuffled(const Hanging<Scalar> &mine, int from)
{
  constexpr unsigned all = 0xffffffffu;
  return {__shfl_sync(all, mine.value, from), __shfl_sync(all, mine.before, from), __shfl_sync(all, mine.after, from)};
}

/// The directions across lines, and steps along directions in a neighbour's number.
struct SmallAcross {
  int first, second;

  __device__ explicit SmallAcross(int along) : first(along == 0 ? 1 : 0), second(along == 2 ? 1 : 2) {}
};
__device__ inline int small_number(int direction)
{
  return direction == 0 ? 1 : direction == 1 ? 3 : 9;
}

/// x = (1 - omega) x + omega T^-1 (b - couplings to other lines) on a line, by the lanes of a warp. i, j: its places across.
template <int dimension, int R, class Scalar>
__device__ void relax_small_line(const SmallLevel<Scalar> &l, const SmallStep &step, RealOf<Scalar> omega, int i, int j)
{
  const SmallAcross across(step.along);
  const int length = l.n[step.along], next = l.stride[step.along], apart = l.stride[across.first], apart2 = l.stride[across.second];
  const int along_number = small_number(step.along), number = small_number(across.first), number2 = small_number(across.second);
  const int lane = static_cast<int>(threadIdx.x) % 32, first = lane * R, chunks = (length + R - 1) / R;
  const int rows = length - first < 0 ? 0 : length - first < R ? length - first : R, at = i * apart + j * apart2 + first * next;

  // The rows. Coefficients that would leave the grid are 0.
  Scalar lower[R], diagonal[R], upper[R], rhs[R];
  const Scalar *const t[3] = {l.a[13 - along_number], l.a[13], l.a[13 + along_number]};
#pragma unroll
  for (int k = 0; k < R; k++) {
    const int row = at + k * next;
    lower[k]      = k < rows ? __ldg(t[0] + row) : Scalar(0);
    diagonal[k]   = k < rows ? __ldg(t[1] + row) : Scalar(1);
    upper[k]      = k < rows ? __ldg(t[2] + row) : Scalar(0);
    rhs[k]        = k < rows ? __ldcg(l.b + row) : Scalar(0);
  }
  // The lines beside it, some at a time, so that all their loads are on the way together.
  constexpr int sides = dimension == 3 ? 8 : 2, together = R <= 2 ? 4 : R == 3 ? 3 : R == 5 ? 2 : 1;
  for (int base = 0; base < sides && !step.from_zero; base += together) {
    Scalar x[together][R + 2], c[together][3][R];
#pragma unroll
    for (int m = 0; m < together; m++) {
      const int side = base + m < sides / 2 ? base + m : base + m + 1; // without the line itself
      const int by = dimension == 3 ? side % 3 - 1 : side - 1, by2 = dimension == 3 ? side / 3 - 1 : 0;
      const bool inside = base + m < sides && i + by >= 0 && i + by < l.n[across.first] && j + by2 >= 0 && j + by2 < l.n[across.second];
      const Scalar *const *const of = l.a + (inside ? 13 + by * number + by2 * number2 : 13);
      const Scalar *const there     = l.x + at + by * apart + by2 * apart2;
#pragma unroll
      for (int k = 0; k < R + 2; k++) {
        const int place = first + k - 1;
        x[m][k]         = inside && place >= 0 && place < length ? __ldcg(there + (k - 1) * next) : Scalar(0);
      }
#pragma unroll
      for (int o = -1; o <= 1; o++) {
        const Scalar *const coefficients = of[o * along_number];
#pragma unroll
        for (int k = 0; k < R; k++) c[m][o + 1][k] = inside && coefficients && k < rows ? __ldg(coefficients + at + k * next) : Scalar(0);
      }
    }
#pragma unroll
    for (int m = 0; m < together; m++) {
#pragma unroll
      for (int o = 0; o < 3; o++) {
#pragma unroll
        for (int k = 0; k < R; k++) rhs[k] -= times(c[m][o][k], x[m][k + o]);
      }
    }
  }

  // Downwards: lower becomes before, upper after, rhs value; and the chunk's first unknown by its last.
  Hanging<Scalar> mine;
#pragma unroll
  for (int k = 0; k < R; k++) {
    if (k >= rows) continue;
    const Scalar inverse = reciprocal(diagonal[k] - lower[k] * mine.after);
    mine     = {(rhs[k] - lower[k] * mine.value) * inverse, (k == 0 ? lower[k] : -lower[k] * mine.before) * inverse, upper[k] * inverse};
    rhs[k]   = mine.value;
    lower[k] = mine.before;
    upper[k] = mine.after;
  }
  Hanging<Scalar> head{0, 0, -1};
#pragma unroll
  for (int k = R - 2; k >= 0; k--) {
    if (k + 1 < rows) head = {rhs[k] - upper[k] * head.value, lower[k] - upper[k] * head.before, -upper[k] * head.after};
  }

  // The last unknowns of the chunks.
  const Hanging<Scalar> following = shuffled(head, (lane + 1) & 31);
  if (lane + 1 < chunks) {
    Join<Scalar> join(mine);
    join.right(following);
    mine = join.row(reciprocal(join.pivot()));
  }
  for (int distance = 1; distance < chunks; distance *= 2) {
    const Hanging<Scalar> left = shuffled(mine, (lane - distance) & 31), right = shuffled(mine, (lane + distance) & 31);
    if (lane >= chunks) continue;
    Join<Scalar> join(mine);
    if (lane >= distance) join.left(left);
    if (lane + distance < chunks) join.right(right);
    mine = join.row(reciprocal(join.pivot()));
  }

  // Upwards.
  Scalar x = mine.value, before = __shfl_up_sync(0xffffffffu, mine.value, 1);
  if (lane == 0) before = 0;
#pragma unroll
  for (int k = R - 1; k >= 0; k--) {
    if (k >= rows) continue;
    if (k + 1 < rows) x = rhs[k] - lower[k] * before - upper[k] * x;
    Scalar *const to = l.x + at + k * next;
    if (omega == 1)
      __stcg(to, x);
    else
      __stcg(to, omega * x + (step.from_zero ? Scalar(0) : (1 - omega) * __ldcg(to)));
  }
}

/// The place of a thread's node of a level or of its coarse grid.
template <int dimension>
__device__ void small_place(const int (&n)[3], int node, int (&at)[3])
{
  at[0] = node % n[0];
  at[1] = dimension == 3 ? node / n[0] % n[1] : node / n[0];
  at[2] = dimension == 3 ? node / n[0] / n[1] : 0;
}

template <int dimension, class Scalar>
__device__ void sweep_small(const SmallLevel<Scalar> &l, const SmallStep &step, RealOf<Scalar> omega, const SmallPlace &place)
{
  const SmallAcross across(step.along);
  const int lines = (l.n[across.first] + 1 - step.parity[0]) / 2, rows = (l.n[across.second] + 1 - step.parity[1]) / 2;
  place.each_for_a_warp(lines * rows, [&](int k) {
    const int i = 2 * (dimension == 3 ? k % lines : k) + step.parity[0], j = dimension == 3 ? 2 * (k / lines) + step.parity[1] : 0;
    if (l.n[step.along] <= 32 * 2)
      relax_small_line<dimension, 2>(l, step, omega, i, j);
    else if (l.n[step.along] <= 32 * 3)
      relax_small_line<dimension, 3>(l, step, omega, i, j);
    else if (l.n[step.along] <= 32 * 5)
      relax_small_line<dimension, 5>(l, step, omega, i, j);
    else
      relax_small_line<dimension, longest_small_line / 32>(l, step, omega, i, j);
  });
  if (!step.from_zero || dimension == 2) return; // of two colours the second one reads nothing but the first
  place.each_for_a_thread(l.n[0] * l.n[1] * l.n[2], [&](int node) {
    int at[3];
    small_place<dimension>(l.n, node, at);
    const int i = across.first == 0 ? at[0] : at[1], j = across.second == 1 ? at[1] : at[2];
    if (((i ^ step.parity[0]) | (j ^ step.parity[1])) & 1) __stcg(l.x + node, Scalar(0));
  });
}

/// b - A x at a node, or without some of its neighbours; 0 unless there. Nine loads of each kind are on their way together.
template <int dimension, class Scalar, class Wanted>
__device__ Scalar small_residual(const SmallLevel<Scalar> &l, const int (&at)[3], int node, bool there, Scalar b, const Wanted &wanted)
{
#pragma unroll
  for (int plane = dimension == 3 ? -1 : 0; plane <= (dimension == 3 ? 1 : 0); plane++) {
    Scalar c[9], x[9];
#pragma unroll
    for (int k = 0; k < 9; k++) {
      const int by[3]   = {k % 3 - 1, k / 3 - 1, plane};
      const bool inside = there && at[0] + by[0] >= 0 && at[0] + by[0] < l.n[0] && at[1] + by[1] >= 0 && at[1] + by[1] < l.n[1] &&
                          (dimension == 2 || (at[2] + plane >= 0 && at[2] + plane < l.n[2])) && wanted(by);
      const Scalar *const of = l.a[9 * (plane + 1) + k];
      c[k]                   = inside && of ? __ldg(of + node) : Scalar(0);
      x[k] = inside && of ? __ldcg(l.x + node + by[0] + by[1] * l.stride[1] + (dimension == 3 ? plane * l.stride[2] : 0)) : Scalar(0);
    }
#pragma unroll
    for (int k = 0; k < 9; k++) b -= times(c[k], x[k]);
  }
  return b;
}

template <int dimension, class Scalar>
__device__ void residual_small(const SmallLevel<Scalar> &l, const SmallPlace &place)
{
  place.each_for_a_thread(l.n[0] * l.n[1] * l.n[2], [&](int node) {
    int at[3];
    small_place<dimension>(l.n, node, at);
    __stcg(l.work + node, small_residual<dimension>(l, at, node, true, __ldcg(l.b + node), [](const int(&)[3]) { return true; }));
  });
}

/// The next level's b = R r.
template <int dimension, class Scalar>
__device__ void restrict_small(const SmallLevel<Scalar> &l, const SmallLevel<Scalar> &next, const SmallPlace &place)
{
  place.each_for_a_thread(l.coarse[0] * l.coarse[1] * l.coarse[2], [&](int node) {
    int coarse[3];
    small_place<dimension>(l.coarse, node, coarse);
    Scalar sum = 0;
#pragma unroll
    for (int plane = dimension == 3 ? -1 : 0; plane <= (dimension == 3 ? 1 : 0); plane++) {
      Scalar w[9], r[9];
#pragma unroll
      for (int k = 0; k < 9; k++) {
        const int by[3] = {k % 3 - 1, k / 3 - 1, plane};
        int fine = 0, slot = 0;
        bool there = true;
#pragma unroll
        for (int d = 0; d < dimension; d++) {
          const int at = l.bit[d] ? 2 * coarse[d] + by[d] : coarse[d];
          there        = there && (by[d] == 0 || (l.bit[d] != 0 && at >= 0 && at < l.n[d]));
          slot += by[d] < 0 ? l.bit[d] : 0;
          fine += at * l.stride[d];
        }
        w[k] = there ? __ldg(l.r + slot * l.pitch + fine) : Scalar(0);
        r[k] = there ? __ldcg(l.work + fine) : Scalar(0);
      }
#pragma unroll
      for (int k = 0; k < 9; k++) sum += times(w[k], r[k]);
    }
    __stcg(next.b + node, sum);
  });
}

/// The same in the plane where odd lines have no residual.
template <class Scalar>
__device__ void restrict_even(const SmallLevel<Scalar> &l, const SmallLevel<Scalar> &next, const SmallStep &step, RealOf<Scalar> omega,
                              const SmallPlace &place)
{
  const bool rows           = step.along == 0; // lines along them
  const RealOf<Scalar> of_b = step.from_zero ? 1 - omega : 1;
  place.each_for_a_thread(l.coarse[0] * l.coarse[1], [&](int node) {
    const int first = node % l.coarse[0], second = node / l.coarse[0];
    Scalar sum = 0;
#pragma unroll
    for (int by = -1; by <= 1; by++) {
      const int at[3]  = {(l.bit[0] ? 2 * first : first) + (rows ? by : 0), (l.bit[1] ? 2 * second : second) + (rows ? 0 : by), 0};
      const bool there = (by == 0 || l.bit[step.along] != 0) && at[0] >= 0 && at[0] < l.n[0] && at[1] >= 0 && at[1] < l.n[1];
      const int i      = at[0] + l.n[0] * at[1];
      const Scalar w   = there ? __ldg(l.r + (by < 0 ? l.bit[step.along] : 0) * l.pitch + i) : Scalar(0);
      const Scalar b   = there && of_b != 0 ? of_b * __ldcg(l.b + i) : Scalar(0);
      sum +=
          times(w, small_residual<2>(l, at, i, there, b, [&](const int(&o)[3]) { return !step.from_zero || (rows ? o[1] : o[0]) != 0; }));
    }
    __stcg(next.b + node, sum);
  });
}

/// x += P e.
template <int dimension, class Scalar>
__device__ void interpolate_small(const SmallLevel<Scalar> &l, const SmallLevel<Scalar> &next, const SmallStep &step,
                                  const SmallPlace &place)
{
  // Every other place across the lines of a plane, or all.
  const int parity = step.corrected == SmallStep::odd, across = step.along == 0 ? 1 : 0;
  const bool half_x = step.corrected != SmallStep::all && across == 0, half_y = step.corrected != SmallStep::all && across == 1;
  const int count[3] = {half_x ? (l.n[0] + 1 - parity) / 2 : l.n[0], half_y ? (l.n[1] + 1 - parity) / 2 : l.n[1], l.n[2]};
  place.each_for_a_thread(count[0] * count[1] * count[2], [&](int number) {
    int at[3];
    small_place<dimension>(count, number, at);
    if (half_x) at[0] = 2 * at[0] + parity;
    if (half_y) at[1] = 2 * at[1] + parity;
    const int i           = at[0] + at[1] * l.stride[1] + (dimension == 3 ? at[2] * l.stride[2] : 0);
    constexpr int corners = dimension == 3 ? 8 : 4; // the coarse node at its place or before it along each direction, or the next one
    Scalar w[corners], e[corners], sum = __ldcg(l.x + i);
#pragma unroll
    for (int k = 0; k < corners; k++) {
      int from = 0, slot = 0, stride = 1;
      bool there = true;
#pragma unroll
      for (int d = 0; d < dimension; d++) {
        const int second = k >> d & 1, coarse = l.bit[d] == 0 ? at[d] : at[d] / 2 + second;
        slot += second * l.bit[d];
        there = there && (second == 0 || (l.bit[d] != 0 && at[d] % 2 != 0 && coarse < l.coarse[d]));
        from += coarse * stride;
        stride *= l.coarse[d];
      }
      w[k] = there ? __ldg(l.p + slot * l.pitch + i) : Scalar(0);
      e[k] = there ? __ldcg(next.x + from) : Scalar(0);
    }
#pragma unroll
    for (int k = 0; k < corners; k++) sum += times(w[k], e[k]);
    __stcg(l.x + i, sum);
  });
}

template <int dimension, class Scalar>
__device__ void do_small(const SmallLevel<Scalar> &l, const SmallLevel<Scalar> &next, const SmallStep &step, RealOf<Scalar> omega,
                         const SmallPlace &place)
{
  switch (step.kind) {
  case SmallStep::sweep:
    sweep_small<dimension>(l, step, omega, place);
    break;
  case SmallStep::residual:
    residual_small<dimension>(l, place);
    break;
  case SmallStep::restriction:
    restrict_small<dimension>(l, next, place);
    break;
  case SmallStep::interpolation:
    interpolate_small<dimension>(l, next, step, place);
    break;
  default:
    break;
  }
}

/// x = A^-1 b on the coarsest level, a warp a row.
template <class Scalar>
__device__ void solve_small(const SmallLevel<Scalar> &l, const SmallPlace &place)
{
  const int size = l.n[0] * l.n[1], lane = static_cast<int>(threadIdx.x) % 32;
  place.each_for_a_warp(size, [&](int row) {
    double sum = 0;
#pragma unroll 4
    for (int j = lane; j < size; j += 32) sum += __ldg(l.inverse + row * size + j) * static_cast<double>(__ldcg(l.b + j));
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane == 0) __stcg(l.x + row, static_cast<Scalar>(sum));
  });
}

template <class Scalar>
__global__ void __launch_bounds__(small_threads, 1) small_levels(const SmallArguments<Scalar> a)
{
  namespace cg = cooperative_groups;
  __shared__ SmallLevel<Scalar> levels[most_small_levels];
  __shared__ SmallStep steps[most_small_steps];
  const auto cluster = cg::this_cluster();
  const SmallPlace place{static_cast<int>(cluster.num_blocks()), static_cast<int>(cluster.block_rank())};
  for (int k = static_cast<int>(threadIdx.x); k < a.end - a.begin; k += small_threads) steps[k] = a.steps[a.begin + k];
  if (static_cast<int>(threadIdx.x) < a.level_count) {
    const int k = static_cast<int>(threadIdx.x);
    levels[k]   = a.levels[k];
    if (k == a.top) {
      levels[k].b = const_cast<Scalar *>(a.b); // only read
      levels[k].x = a.x;
    }
  }
  __syncthreads();
  for (int k = 0; k < a.end - a.begin; k++) {
    const SmallStep step       = steps[k];
    const RealOf<Scalar> omega = step.overrelaxed ? a.omega : 1;
    const auto &here = levels[step.level], &next = levels[step.level + 1 < a.level_count ? step.level + 1 : step.level];
    if (step.kind == SmallStep::direct)
      solve_small(here, place);
    else if (step.kind == SmallStep::of_even)
      restrict_even(here, next, step, omega, place);
    else if (here.n[2] > 1)
      do_small<3>(here, next, step, omega, place);
    else
      do_small<2>(here, next, step, omega, place);
    cluster.sync();
  }
}

/// Lines of a colour by a launch of their own, for levels that one cluster would take too long for.
template <class Scalar, int dimension>
__global__ void __launch_bounds__(128) warp_lines(const SmallLevel<Scalar> level, const SmallStep step, const RealOf<Scalar> omega)
{
  sweep_small<dimension>(level, step, omega, {static_cast<int>(gridDim.x), static_cast<int>(blockIdx.x)});
}

template <class Scalar>
requires std::is_floating_point_v<Scalar>
class SmallLevels<Kokkos::Cuda, Scalar> {
public:
  static constexpr bool there = true;

  static bool relaxes(const Grid &grid, int along)
  {
    return native_forms.levels && !grid.stack() && !grid.periodic[0] && !grid.periodic[1] && !grid.periodic[2] &&
           grid.n[along] <= longest_small_line;
  }
  static void relax(const Kokkos::Cuda &space, const Operator<Scalar> &a, int along, const Region &lines, bool from_zero,
                    RealOf<Scalar> omega, Scalar *b, Scalar *x)
  {
    constexpr Index warps    = 4;
    const int across[2]      = {along == 0 ? 1 : 0, along == 2 ? 1 : 2},
              turned         = a.grid.n[across[0]] == 1; // a plane's lines are counted along its first
    SmallLevel<Scalar> level = small_operator(a);
    level.b                  = b;
    level.x                  = x;
    SmallStep step{SmallStep::sweep, 0, static_cast<signed char>(small_direction(a.grid, along))};
    for (int k = 0; k < 2; k++) step.parity[k ^ turned] = static_cast<signed char>(lines.first[across[k]]);
    step.from_zero      = from_zero;
    const Index count   = lines.count[across[0]] * lines.count[across[1]];
    const auto blocks   = static_cast<unsigned>((count + warps - 1) / warps);
    const auto launched = level.n[2] > 1 ? warp_lines<Scalar, 3> : warp_lines<Scalar, 2>;
    launched<<<blocks, 32 * warps, 0, space.cuda_stream()>>>(level, step, omega);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
      throw std::runtime_error(std::string("weft boxmg: ") + cudaGetErrorString(error));
  }

  void forget() { first_ = -1; }
  /// Waits.
  void take(const Kokkos::Cuda &space, const SmallCycle<Scalar> &cycle)
  {
    forget();
    if (!native_forms.levels || cycle.levels.empty() || cycle.levels.size() > most_small_levels || cycle.steps.size() > most_small_steps)
      return;
    blocks_ = blocks();
    if (blocks_ == 0) return;
    copy(space, "weft boxmg small levels", cycle.levels, levels_);
    copy(space, "weft boxmg small steps", cycle.steps, steps_);
    first_ = cycle.first;
    begin_ = cycle.begin;
    end_   = cycle.end;
  }
  /// Whether a cycle that begins at a level is one launch.
  bool takes(int level) const { return first_ >= 0 && level >= first_; }
  void cycle(const Kokkos::Cuda &space, int level, const Scalar *b, Scalar *x, RealOf<Scalar> omega) const
  {
    const auto k = static_cast<std::size_t>(level - first_);
    cudaLaunchConfig_t launch{};
    cudaLaunchAttribute cluster = of_blocks(blocks_);
    launch.gridDim              = dim3(static_cast<unsigned>(blocks_));
    launch.blockDim             = dim3(small_threads);
    launch.stream               = space.cuda_stream();
    launch.attrs                = &cluster;
    launch.numAttrs             = 1;
    const SmallArguments<Scalar> arguments{
        levels_.data(), steps_.data(), static_cast<int>(begin_.size()), begin_[k], end_[k], static_cast<int>(k), b, x, omega};
    if (const cudaError_t error = cudaLaunchKernelEx(&launch, small_levels<Scalar>, arguments); error != cudaSuccess)
      throw std::runtime_error(std::string("weft boxmg: ") + cudaGetErrorString(error));
  }

private:
  static cudaLaunchAttribute of_blocks(int blocks)
  {
    cudaLaunchAttribute cluster{};
    cluster.id               = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    return cluster;
  }
  /// As many as one cluster of the device can have.
  static int blocks()
  {
    if (cudaFuncSetAttribute(small_levels<Scalar>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess)
      static_cast<void>(cudaGetLastError());
    for (const int blocks : {16, 8, 4}) {
      cudaLaunchConfig_t launch{};
      cudaLaunchAttribute cluster = of_blocks(blocks);
      launch.gridDim              = dim3(static_cast<unsigned>(blocks));
      launch.blockDim             = dim3(small_threads);
      launch.attrs                = &cluster;
      launch.numAttrs             = 1;
      int clusters                = 0;
      if (cudaOccupancyMaxActiveClusters(&clusters, small_levels<Scalar>, &launch) == cudaSuccess && clusters > 0) return blocks;
      static_cast<void>(cudaGetLastError());
    }
    return 0;
  }
  template <class T>
  static void copy(const Kokkos::Cuda &space, const std::string &label, const std::vector<T> &from, OwnedArray<T, Kokkos::Cuda> &to)
  {
    if (to.size() != from.size()) to = OwnedArray<T, Kokkos::Cuda>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), from.size());
    Kokkos::deep_copy(space, to,
                      Kokkos::View<const T *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from.data(), from.size()));
    space.fence(label);
  }

  OwnedArray<SmallLevel<Scalar>, Kokkos::Cuda> levels_;
  OwnedArray<SmallStep, Kokkos::Cuda> steps_;
  std::vector<int> begin_, end_;
  int first_ = -1, blocks_ = 0;
};

} // namespace weft::boxmg
