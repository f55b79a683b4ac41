/// Line relaxation in one pass for lines that stand side by side in memory and are too long for a team: natively on CUDA, sm_90.
///
/// A block takes `lines` neighbouring lines of a colour, so that every row is read in whole memory lines, and a tile of their rows: as many as
/// fit into its registers, so that two blocks share a multiprocessor and one loads while the other eliminates. The blocks of a line are a
/// cluster. Each thread eliminates its chunk of rows and each block its chunks as in wide.hpp; a block keeps the last unknown g of its tile, and
/// says what g and the first unknown f are worth:
///   g_t = last.value - last.before g_{t-1} - last.after f_{t+1},     f_t = first.value - first.before g_{t-1} - first.after g_t
/// All blocks read these two rows of all tiles from each other's shared memory, and each solves the small line of the g by PCR.
///
/// Words moved per row, relaxed or not (a memory sector holds both colours): 4 and one written, and with couplings one for each diagonal, x too.
/// Limits: general coefficients, at most 8 blocks a line.
#pragma once
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "line/methods/wide/wide_kernel.hpp"
#include "line/relax/couplings.hpp"

namespace weft::cuda {

template <class Scalar>
struct ClusterArguments {
  const Scalar *lower, *diagonal, *upper, *rhs;
  Scalar *solution;
  Update<Scalar> update;
  Couplings<Scalar> couplings;
  LineLayout layout;
  Colour colour;
  PivotFlag<Kokkos::Cuda::memory_space> flag;
  int chunks; ///< of a line in a block
};

inline constexpr int cluster_lines = 8, most_in_cluster = 8;

/// How a line is cut: 0 blocks if it cannot be.
struct ClusterShape {
  int blocks = 0, chunks = 0, threads = 0;
};

/// Rows of a thread.
inline constexpr int cluster_rows = 9;

/// Shorter lines are done sooner by teams.
inline constexpr Index shortest_in_cluster = 1153;

inline ClusterShape cluster_shape(const LineLayout &layout)
{
  if (layout.rows_are_closest() || layout.length < shortest_in_cluster) return {};
  for (const int threads : {256, 512}) {
    const Index tile   = Index(cluster_rows) * (threads / cluster_lines);
    const Index blocks = (layout.length + tile - 1) / tile;
    if (blocks > most_in_cluster) continue;
    // As few threads as will do.
    const Index rows = (layout.length + blocks - 1) / blocks, chunks = (rows + cluster_rows - 1) / cluster_rows;
    return {static_cast<int>((layout.length + chunks * cluster_rows - 1) / (chunks * cluster_rows)), static_cast<int>(chunks), threads};
  }
  return {};
}

/// T: most threads of a block. Steps are numbered as in docs/kernels/smooth.md.
template <class Scalar, int R, int T>
__global__ void __launch_bounds__(T, 512 / T) cluster_relaxation(const ClusterArguments<Scalar> a)
{
  namespace cg       = cooperative_groups;
  constexpr int W    = cluster_lines;
  const auto cluster = cg::this_cluster();
  __shared__ Scalar board_numbers[6 * T];
  __shared__ Hanging<Scalar> tile_rows[2][W]; // f and g of this tile
  const Board<Scalar> board{board_numbers, T};

  // Step 1: who this thread is, and its rows.
  const LineLayout &layout = a.layout;
  const int rank = threadIdx.x, slot = rank % W, chunk = rank / W;
  const int tiles = static_cast<int>(cluster.num_blocks()), tile = static_cast<int>(cluster.block_rank());
  const Index bundle = blockIdx.x / tiles, number = bundle * W + slot;
  const Index line  = line_of_colour(layout, a.colour, number);
  const bool wanted = number < lines_of_colour(layout, a.colour) && line < layout.count();
  const Index begin = Index(tile) * a.chunks * R, end = begin + a.chunks * R < layout.length ? begin + a.chunks * R : layout.length;
  const int chunks  = static_cast<int>((end - begin + R - 1) / R);
  const Index first = begin + chunk * R;
  const int rows    = !wanted || chunk >= chunks ? 0 : static_cast<int>(end - first < R ? end - first : R);
  const Index at    = (wanted ? layout.start(line) : 0) + first * layout.stride;
  const auto check  = [&](Scalar pivot, Scalar scale, Index row, int step) {
    if (!usable_pivot(pivot, scale)) a.flag.report(line, row, step);
  };

  // Step 2: coefficients and right-hand sides, less what the couplings take.
  Scalar lower[R], diagonal[R], upper[R], rhs[R];
#pragma unroll
  for (int j = 0; j < R; j++) {
    const Index i = at + j * layout.stride;
    lower[j]      = j < rows && first + j > 0 ? a.lower[i] : Scalar(0);
    diagonal[j]   = j < rows ? a.diagonal[i] : Scalar(1);
    upper[j]      = j < rows && first + j < layout.length - 1 ? a.upper[i] : Scalar(0);
    rhs[j]        = j < rows ? a.rhs[i] : Scalar(0);
  }
  for (int k = 0; k < a.couplings.count; k++) {
    const Coupling coupling    = a.couplings.diagonal(k);
    const Scalar *coefficients = a.couplings.values + coupling.begin;
    Scalar c[R], x[R];
#pragma unroll
    for (int j = 0; j < R; j++) {
      const Index i = at + j * layout.stride, neighbour = i + coupling.offset;
      c[j] = j < rows ? coefficients[i] : Scalar(0);
      x[j] = j < rows && neighbour >= 0 && neighbour < a.couplings.rows ? a.couplings.x[neighbour] : Scalar(0);
    }
#pragma unroll
    for (int j = 0; j < R; j++) rhs[j] -= times(c[j], x[j]);
  }

  // Step 3: the chunk, downwards: lower becomes before, upper after, rhs value. Rows that do not exist end as 0 = 0 after the last that
  // does.
  Hanging<Scalar> mine;
#pragma unroll
  for (int j = 0; j < R; j++) {
    if (j < rows) {
      const Scalar pivot = diagonal[j] - lower[j] * mine.after;
      check(pivot, modulus(lower[j]) + modulus(diagonal[j]) + modulus(upper[j]), first + j, 0);
      const Scalar inverse = reciprocal(pivot);
      mine     = {(rhs[j] - lower[j] * mine.value) * inverse, (j == 0 ? lower[j] : -lower[j] * mine.before) * inverse, upper[j] * inverse};
      rhs[j]   = mine.value;
      lower[j] = mine.before;
      upper[j] = mine.after;
    }
  }
  Hanging<Scalar> head{0, 0, -1};
#pragma unroll
  for (int j = R - 2; j >= 0; j--) {
    if (j + 1 < rows) head = {rhs[j] - upper[j] * head.value, lower[j] - upper[j] * head.before, -upper[j] * head.after};
  }

  // Step 4: join to the next chunk, then PCR over all chunks but the last.
  const Index last_row = first + rows - 1;
  const auto scale_of  = [](const Hanging<Scalar> &h) { return 1 + modulus(h.before) + modulus(h.after); };
  board.show(1, rank, head);
  __syncthreads();
  if (rows > 0 && chunk + 1 < chunks) {
    Join<Scalar> join(mine);
    join.right(board.see(1, rank + W));
    check(join.pivot(), scale_of(mine), last_row, 1);
    mine = join.row(reciprocal(join.pivot()));
  }
  board.show(0, rank, mine);
  __syncthreads();
  const int joined = chunks - 1;
  int set          = 0;
  for (int distance = 1, step = 2; distance < joined; distance *= 2, step++) {
    if (rows > 0 && chunk < joined) {
      Join<Scalar> join(mine);
      if (chunk >= distance) join.left(board.see(set, rank - distance * W));
      if (chunk + distance < joined) join.right(board.see(set, rank + distance * W));
      check(join.pivot(), scale_of(mine), last_row, step);
      mine = join.row(reciprocal(join.pivot()));
      board.show(1 - set, rank, mine);
    }
    set = 1 - set;
    __syncthreads();
  }

  // Step 5: f and g of the tile.
  const bool last_chunk = chunk == chunks - 1;
  if (chunk == 0) {
    tile_rows[0][slot] = last_chunk ? head
                                    : Hanging<Scalar>{head.value - head.after * mine.value, head.before - head.after * mine.before,
                                                      -head.after * mine.after};
  }
  if (last_chunk) {
    Hanging<Scalar> g = mine;
    if (chunk > 0) {
      Join<Scalar> join(mine);
      join.left(board.see(set, rank - W));
      if (rows > 0) check(join.pivot(), scale_of(mine), last_row, wide_steps - 2);
      g = join.row(reciprocal(join.pivot()));
    }
    tile_rows[1][slot] = g;
  }

  // Step 6: the line of the g, in every block of the cluster: its tile t by the threads of chunk t.
  cluster.sync();
  const int t       = chunk;
  const Index g_row = (Index(t) + 1) * a.chunks * R < layout.length ? (Index(t) + 1) * a.chunks * R - 1 : layout.length - 1;
  Hanging<Scalar> g;
  if (t < tiles) {
    g = cluster.map_shared_rank(tile_rows[1], t)[slot];
    if (t + 1 < tiles) {
      Join<Scalar> join(g);
      join.right(cluster.map_shared_rank(tile_rows[0], t + 1)[slot]);
      if (wanted) check(join.pivot(), scale_of(g), g_row, wide_steps - 1);
      g = join.row(reciprocal(join.pivot()));
    }
  }
  auto all_have_read               = cluster.barrier_arrive();
  const Hanging<Scalar> left_chunk = chunk > 0 && chunk < chunks ? board.see(set, rank - W) : Hanging<Scalar>{0, -1, 0};
  __syncthreads(); // the board is free
  set = 0;
  if (t < tiles) board.show(set, rank, g);
  __syncthreads();
  for (int distance = 1; distance < tiles; distance *= 2) {
    if (t < tiles) {
      Join<Scalar> join(g);
      if (t >= distance) join.left(board.see(set, rank - distance * W));
      if (t + distance < tiles) join.right(board.see(set, rank + distance * W));
      if (wanted) check(join.pivot(), scale_of(g), g_row, wide_steps);
      g = join.row(reciprocal(join.pivot()));
      board.show(1 - set, rank, g);
    }
    set = 1 - set;
    __syncthreads();
  }

  // Step 7: every unknown, upwards.
  const Scalar g_here   = board.see(set, tile * W + slot).value;
  const Scalar g_before = tile > 0 ? board.see(set, (tile - 1) * W + slot).value : Scalar(0);
  const auto known      = [&](const Hanging<Scalar> &h) { return h.value - h.before * g_before - h.after * g_here; };
  const Scalar x_before = known(left_chunk);
  Scalar x              = last_chunk ? g_here : known(mine);
#pragma unroll
  for (int j = R - 1; j >= 0; j--) {
    if (j < rows) {
      if (j + 1 < rows) x = rhs[j] - lower[j] * x_before - upper[j] * x;
      put(a.solution[at + j * layout.stride], a.update, x);
    }
  }
  cluster.barrier_wait(std::move(all_have_read)); // others may still read this block's shared memory
}

/// x = update(T^-1 (rhs - couplings)) on the lines of a colour.
template <class Scalar>
void launch_cluster_relaxation(const Kokkos::Cuda &space, const ClusterShape &shape, const ClusterArguments<Scalar> &a)
{
  const Index bundles = (lines_of_colour(a.layout, a.colour) + cluster_lines - 1) / cluster_lines;
  cudaLaunchConfig_t launch{};
  cudaLaunchAttribute cluster{};
  cluster.id               = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(shape.blocks);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  launch.gridDim                                      = dim3(static_cast<unsigned>(bundles * shape.blocks));
  launch.blockDim                                     = dim3(static_cast<unsigned>(std::max(shape.chunks, shape.blocks) * cluster_lines));
  launch.stream                                       = space.cuda_stream();
  launch.attrs                                        = &cluster;
  launch.numAttrs                                     = 1;
  const auto kernel = shape.threads == 256 ? cluster_relaxation<Scalar, cluster_rows, 256> : cluster_relaxation<Scalar, cluster_rows, 512>;
  const cudaError_t error = cudaLaunchKernelEx(&launch, kernel, a);
  if (error != cudaSuccess) throw std::runtime_error(std::string("weft relaxation: ") + cudaGetErrorString(error));
}

} // namespace weft::cuda
