/// Small levels in the plane by one cluster of blocks, natively on CUDA, sm_90: a barrier of the cluster stands where a launch would begin.
///
/// A line is a warp's: each lane eliminates a chunk of R rows, of which each unknown hangs on the last one before the chunk and on the chunk's last; chunks
/// are joined, each to the next, and solved by parallel cyclic reduction with shuffles (as in wide.hpp, whose teams use shared memory). Coefficients are read
/// through the cache of a multiprocessor, vectors past it, since other blocks of the cluster write them.
///
/// Limits: lines of up to 288 rows, two colours, stencils of up to nine points, no periodic direction. Words moved: those of the launches that it stands
/// for; what it saves is waiting: some 2 us a step in place of 2 to 11.
#pragma once
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "base/backend.hpp"
#include "base/native_forms.hpp"
#include "boxmg/small_levels.hpp"
#include "line/join.hpp"
#include "line/methods/wide/wide_kernel.hpp"

namespace weft::boxmg {

inline constexpr int small_threads = 512, most_small_levels = 12, most_small_steps = 160;

template <class Scalar>
struct SmallArguments {
  const SmallLevel<Scalar> *levels;
  const SmallStep *steps;
  int level_count, begin, end; ///< of the steps
  int top;                     ///< the level whose right-hand side and solution are these
  const Scalar *b;
  Scalar *x;
};

/// A block's place in the cluster.
struct SmallPlace {
  int blocks, block;

  __device__ static constexpr int warps() { return small_threads / 32; }
  /// Of so many pieces of work for a warp each, those of this warp: neighbours go to one block, and all blocks have as many.
  template <class Work>
  __device__ void each_for_a_warp(int count, const Work &work) const
  {
    const int share = (count + blocks - 1) / blocks, first = block * share, last = first + share < count ? first + share : count;
    for (int k = first + static_cast<int>(threadIdx.x) / 32; k < last; k += warps()) work(k);
  }
  template <class Work>
  __device__ void each_for_a_thread(int count, const Work &work) const
  {
    for (int k = block * small_threads + static_cast<int>(threadIdx.x); k < count; k += blocks * small_threads) work(k);
  }
};

template <class Scalar>
__device__ Hanging<Scalar> shuffled(const Hanging<Scalar> &mine, int from)
{
  constexpr unsigned all = 0xffffffffu;
  return {__shfl_sync(all, mine.value, from), __shfl_sync(all, mine.before, from), __shfl_sync(all, mine.after, from)};
}

/// x = T^-1 (b - couplings to the lines beside it) on a line, by the lanes of a warp.
template <int R, class Scalar>
__device__ void relax_small_line(const SmallLevel<Scalar> &l, const SmallStep &step, int line)
{
  const int along = step.along, across = 1 - along, length = l.n[along];
  const int next = along == 0 ? 1 : l.n[0], apart = along == 0 ? l.n[0] : 1; // in memory
  const int beside[2] = {along == 0 ? 3 : 1, along == 0 ? 1 : 3}; // of an offset along the line, and across, in a neighbour's number
  const int lane = static_cast<int>(threadIdx.x) % 32, first = lane * R, chunks = (length + R - 1) / R;
  const int rows = length - first < 0 ? 0 : length - first < R ? length - first : R, at = line * apart + first * next;

  // The rows. Coefficients that would leave the grid are 0.
  Scalar lower[R], diagonal[R], upper[R], rhs[R];
  const Scalar *const coefficients[3] = {l.a[4 - beside[1]], l.a[4], l.a[4 + beside[1]]};
#pragma unroll
  for (int j = 0; j < R; j++) {
    const int i = at + j * next;
    lower[j]    = j < rows ? __ldg(coefficients[0] + i) : Scalar(0);
    diagonal[j] = j < rows ? __ldg(coefficients[1] + i) : Scalar(1);
    upper[j]    = j < rows ? __ldg(coefficients[2] + i) : Scalar(0);
    rhs[j]      = j < rows ? __ldcg(l.b + i) : Scalar(0);
  }
  for (int side = -1; side <= 1 && !step.from_zero; side += 2) {
    if (line + side < 0 || line + side >= l.n[across]) continue;
    Scalar x[R + 2];
#pragma unroll
    for (int j = 0; j < R + 2; j++) {
      const int place = first + j - 1;
      x[j]            = place >= 0 && place < length ? __ldcg(l.x + at + (j - 1) * next + side * apart) : Scalar(0);
    }
#pragma unroll
    for (int o = -1; o <= 1; o++) {
      const Scalar *const c = l.a[4 + side * beside[0] + o * beside[1]];
      if (!c) continue;
#pragma unroll
      for (int j = 0; j < R; j++) rhs[j] -= j < rows ? __ldg(c + at + j * next) * x[j + o + 1] : Scalar(0);
    }
  }

  // Downwards: lower becomes before, upper after, rhs value; and the chunk's first unknown by its last.
  Hanging<Scalar> mine;
#pragma unroll
  for (int j = 0; j < R; j++) {
    if (j >= rows) continue;
    const Scalar inverse = reciprocal(diagonal[j] - lower[j] * mine.after);
    mine     = {(rhs[j] - lower[j] * mine.value) * inverse, (j == 0 ? lower[j] : -lower[j] * mine.before) * inverse, upper[j] * inverse};
    rhs[j]   = mine.value;
    lower[j] = mine.before;
    upper[j] = mine.after;
  }
  Hanging<Scalar> head{0, 0, -1};
#pragma unroll
  for (int j = R - 2; j >= 0; j--) {
    if (j + 1 < rows) head = {rhs[j] - upper[j] * head.value, lower[j] - upper[j] * head.before, -upper[j] * head.after};
  }

  // The last unknowns of the chunks.
  const Hanging<Scalar> following = shuffled(head, lane + 1 & 31);
  if (lane + 1 < chunks) {
    Join<Scalar> join(mine);
    join.right(following);
    mine = join.row(reciprocal(join.pivot()));
  }
  for (int distance = 1; distance < chunks; distance *= 2) {
    const Hanging<Scalar> left = shuffled(mine, lane - distance & 31), right = shuffled(mine, lane + distance & 31);
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
  for (int j = R - 1; j >= 0; j--) {
    if (j >= rows) continue;
    if (j + 1 < rows) x = rhs[j] - lower[j] * before - upper[j] * x;
    __stcg(l.x + at + j * next, x);
  }
}

template <class Scalar>
__device__ void sweep_small(const SmallLevel<Scalar> &l, const SmallStep &step, const SmallPlace &place)
{
  const int parity = step.nodes == SmallStep::odd, lines = (l.n[1 - step.along] + 1 - parity) / 2;
  place.each_for_a_warp(lines, [&](int k) {
    if (l.n[step.along] <= 32 * 3)
      relax_small_line<3>(l, step, 2 * k + parity);
    else if (l.n[step.along] <= 32 * 5)
      relax_small_line<5>(l, step, 2 * k + parity);
    else
      relax_small_line<longest_small_line / 32>(l, step, 2 * k + parity);
  });
}

/// The next level's b: of even lines, as odd ones have no residual.
template <class Scalar>
__device__ void restrict_small(const SmallLevel<Scalar> &l, const SmallLevel<Scalar> &next, const SmallStep &step, const SmallPlace &place)
{
  const bool rows = step.along == 0; // lines along them
  place.each_for_a_thread(l.coarse[0] * l.coarse[1], [&](int node) {
    const int first = node % l.coarse[0], second = node / l.coarse[0];
    const int middle[2] = {l.bit[0] ? 2 * first : first, l.bit[1] ? 2 * second : second};
    Scalar sum          = 0;
#pragma unroll
    for (int by = -1; by <= 1; by++) {
      const int x = middle[0] + (rows ? by : 0), y = middle[1] + (rows ? 0 : by);
      if ((by != 0 && l.bit[step.along] == 0) || x < 0 || x >= l.n[0] || y < 0 || y >= l.n[1]) continue;
      const int i     = x + l.n[0] * y;
      const Scalar w  = __ldg(l.r + (by < 0 ? l.bit[step.along] : 0) * l.pitch + i);
      Scalar residual = step.from_zero ? Scalar(0) : __ldcg(l.b + i);
#pragma unroll
      for (int number = 0; number < 9; number++) {
        const int there[2] = {x + number % 3 - 1, y + number / 3 - 1};
        const bool same    = rows ? there[1] == y : there[0] == x; // on the line
        const bool wanted =
            l.a[number] && !(step.from_zero && same) && there[0] >= 0 && there[0] < l.n[0] && there[1] >= 0 && there[1] < l.n[1];
        residual -= wanted ? __ldg(l.a[number] + i) * __ldcg(l.x + there[0] + l.n[0] * there[1]) : Scalar(0);
      }
      sum += w * residual;
    }
    __stcg(next.b + node, sum);
  });
}

/// x += P e.
template <class Scalar>
__device__ void interpolate_small(const SmallLevel<Scalar> &l, const SmallLevel<Scalar> &next, const SmallStep &step,
                                  const SmallPlace &place)
{
  // Every other place across the lines, or all.
  const int parity = step.nodes == SmallStep::odd, some = step.nodes == SmallStep::all ? 1 : 2;
  const int by_x = step.along == 0 ? 1 : some, by_y = step.along == 0 ? some : 1;
  const int columns = by_x == 1 ? l.n[0] : (l.n[0] + 1 - parity) / 2, rows = by_y == 1 ? l.n[1] : (l.n[1] + 1 - parity) / 2;
  place.each_for_a_thread(columns * rows, [&](int number) {
    const int column = number % columns, row = number / columns;
    const int at[2] = {by_x == 1 ? column : 2 * column + parity, by_y == 1 ? row : 2 * row + parity}, i = at[0] + l.n[0] * at[1];
    Scalar sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) { // the coarse node at its place or before it along each direction, or the next one
      int from[2], slot = 0;
      bool there = true;
#pragma unroll
      for (int d = 0; d < 2; d++) {
        const int second = k >> d & 1;
        slot += second * l.bit[d];
        from[d] = l.bit[d] == 0 ? at[d] : at[d] / 2 + second;
        there   = there && (second == 0 || (l.bit[d] != 0 && at[d] % 2 != 0 && from[d] < l.coarse[d]));
      }
      if (there) sum += __ldg(l.p + slot * l.pitch + i) * __ldcg(next.x + from[0] + l.coarse[0] * from[1]);
    }
    __stcg(l.x + i, __ldcg(l.x + i) + sum);
  });
}

/// x = A^-1 b on the coarsest level, a warp a row.
template <class Scalar>
__device__ void solve_small(const SmallLevel<Scalar> &l, const SmallPlace &place)
{
  const int size = l.n[0] * l.n[1], lane = static_cast<int>(threadIdx.x) % 32;
  place.each_for_a_warp(size, [&](int row) {
    double sum = 0;
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
    const SmallStep step = steps[k];
    const auto &here = levels[step.level], &next = levels[step.level + 1];
    switch (step.kind) {
    case SmallStep::sweep:
      sweep_small(here, step, place);
      break;
    case SmallStep::restriction:
      restrict_small(here, next, step, place);
      break;
    case SmallStep::interpolation:
      interpolate_small(here, next, step, place);
      break;
    case SmallStep::direct:
      solve_small(here, place);
      break;
    }
    cluster.sync();
  }
}

template <class Scalar>
class SmallLevels<Kokkos::Cuda, Scalar> {
public:
  static constexpr bool there = true;

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
  void cycle(const Kokkos::Cuda &space, int level, const Scalar *b, Scalar *x) const
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
        levels_.data(), steps_.data(), static_cast<int>(begin_.size()), begin_[k], end_[k], static_cast<int>(k), b, x};
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
