/// Line relaxation in one pass for lines whose rows follow each other in memory: natively on CUDA, sm_90, as in wide_cuda.hpp: a block solves
/// a line while bulk copies bring T and b of its next one. Lines that one block does not hold are shared by a cluster, as in wide_cluster.hpp.
///
/// What a line couples to is summed up while T is on its way: neighbouring threads take neighbouring rows, so that it does not matter where in
/// a piece of memory a neighbour's line begins, and leave the sums for the threads that eliminate the rows.
///
/// Words moved per row that is relaxed: each diagonal, b, x written, and x of neighbours, of which two share a line. Limits: one unknown a
/// node, 36864 rows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "line/methods/wide/wide_cluster.hpp"
#include "line/methods/wide/wide_launch.hpp"
#include "line/relax/couplings.hpp"

namespace weft::cuda {

template <class Scalar>
struct RelaxedLines {
  NativeArguments<Scalar> lines;
  Couplings<Scalar> couplings;
  Index count; ///< of lines of the colour

  /// Rows of the k-th line of the colour that block number `block` of the line has.
  __device__ TilePlace place(Index k, int block, int rows) const
  {
    return TilePlace(lines.layout, line_of_colour(lines.layout, lines.colour, k), block, rows);
  }
};

/// What a block keeps in shared memory: the next line, the couplings' part of this one and its unknowns.
template <class Scalar, int R, int T>
struct RelaxedTile {
  static_assert(R % 2 == 1 && T % 32 == 0);
  static constexpr int rows = R * T, space = rows + 16 / int(sizeof(Scalar)), warps = T / 32;

  alignas(128) Scalar in[4 * space];
  alignas(16) Scalar out[rows];
  Scalar taken[rows];
  WarpRows<Scalar, warps> of_warps;
  Scalar warp_x[warps + 1]; ///< of blocks of a cluster: see NativeTile
  Arrival arrival;
};

/// The couplings' part of the right-hand sides of a line, rows thread, thread + T, ... Two couplings at once: that many loads are on their way
/// together.
template <int R, int T, class Scalar>
__device__ __forceinline__ void sum_couplings(const Couplings<Scalar> &couplings, const TilePlace &at, Scalar *sums)
{
  Scalar sum[R]    = {};
  const int thread = threadIdx.x;
  for (int m = 0; m < couplings.count; m += 2) {
    Scalar c[2][R], x[2][R];
#pragma unroll
    for (int two = 0; two < 2; two++) {
      const bool here         = m + two < couplings.count;
      const Coupling coupling = couplings.diagonal(here ? m + two : m);
      const Scalar *of_x      = couplings.values + coupling.begin + at.element + thread;
      const Index first       = at.element + coupling.offset + thread;
#pragma unroll
      for (int j = 0; j < R; j++) {
        const bool exists = here && thread + j * T < at.rows;
        const Index i     = first + j * T;
        c[two][j]         = exists ? __ldcs(of_x + j * T) : Scalar(0);
        x[two][j]         = exists && i >= 0 && i < couplings.rows ? couplings.x[i] : Scalar(0);
      }
    }
#pragma unroll
    for (int two = 0; two < 2; two++) {
#pragma unroll
      for (int j = 0; j < R; j++) sum[j] += times(c[two][j], x[two][j]);
    }
  }
#pragma unroll
  for (int j = 0; j < R; j++) sums[thread + j * T] = sum[j];
}

/// The chunk of a thread, less what its rows couple to, from a tile that is on its way. `next`: begins the way of the next one.
template <int R, int T, class Scalar, class Tile, class Next>
__device__ __forceinline__ void take_chunk(Chunk<Scalar, R> &chunk, const RelaxedLines<Scalar> &all, const TilePlace &at, Tile &tile,
                                           unsigned phase, const Next &next)
{
  const int first = static_cast<int>(threadIdx.x) * R;
  sum_couplings<R, T>(all.couplings, at, tile.taken);
  tile.arrival.wait(phase);
  __syncthreads();
  read_chunk<R, false>(chunk, all.lines, at, first, tile.in, Tile::space);
#pragma unroll
  for (int j = 0; j < R; j++) chunk.rhs[j] -= tile.taken[first + j];
  if (threadIdx.x == 0) bulk_stored();
  __syncthreads(); // everybody has read: the next line may come, and the last one has left
  if (threadIdx.x == 0) next();
}

/// A block a line.
template <class Scalar, int R, int T, int at_least>
__global__ void __launch_bounds__(T, at_least) contiguous_relaxation(const __grid_constant__ RelaxedLines<Scalar> all)
{
  using Tile = RelaxedTile<Scalar, R, T>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile                       = *reinterpret_cast<Tile *>(shared);
  const NativeArguments<Scalar> &a = all.lines;
  const int thread                 = threadIdx.x;
  const auto fetch                 = [&](Index k) {
    if (k < all.count) fetch_tile<false>(a, all.place(k, 0, Tile::rows), tile.in, Tile::space, tile.arrival);
  };

  if (thread == 0) {
    tile.arrival.init();
    share_with_copies();
    fetch(blockIdx.x);
  }
  __syncthreads();
  Chunk<Scalar, R> chunk;
  unsigned phase = 0;
  for (Index k = blockIdx.x; k < all.count; k += gridDim.x, phase ^= 1) {
    const TilePlace at = all.place(k, 0, Tile::rows);
    take_chunk<R, T>(chunk, all, at, tile, phase, [&] { fetch(k + gridDim.x); });
    Doubt<true, Scalar> doubt;
    const bool doubts = solve_directly(chunk, tile.of_warps, doubt);
    store_chunks<T>(a, at, chunk, thread * R, tile.out);
    if (doubts) look_directly<R>(a, at, tile.of_warps);
  }
  if (thread == 0) bulk_left(); // shared memory ends with the block
}

/// A cluster of a.exchange.blocks blocks a line, which have a tile of it each.
template <class Scalar, int R, int T, int at_least>
__global__ void __launch_bounds__(T, at_least) shared_relaxation(const __grid_constant__ RelaxedLines<Scalar> all)
{
  using Tile = InCluster<RelaxedTile<Scalar, R, T>, Scalar>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile                       = *reinterpret_cast<Tile *>(shared);
  const NativeArguments<Scalar> &a = all.lines;
  const int first                  = static_cast<int>(threadIdx.x) * R;
  const int blocks = a.exchange.blocks, block = static_cast<int>(blockIdx.x % blocks);
  const Index clusters = gridDim.x / blocks;
  const auto fetch     = [&](Index k) {
    if (k < all.count) fetch_tile<false>(a, all.place(k, block, Tile::rows), tile.in, Tile::space, tile.arrival);
  };

  tile.begin();
  Index k = blockIdx.x / blocks;
  if (threadIdx.x == 0) fetch(k);
  Chunk<Scalar, R> chunk;
  for (unsigned turn = 0; k < all.count; k += clusters, turn++) {
    const TilePlace at = all.place(k, block, Tile::rows);
    take_chunk<R, T>(chunk, all, at, tile, turn % 2, [&] { fetch(k + clusters); });
    Doubt<true, Scalar> doubt;
    const bool doubts = solve_in_cluster(chunk, tile, turn, blocks, block, doubt);
    store_chunks<T>(a, at, chunk, first, tile.out);
    if (doubts) look_in_cluster<R, false>(a, at, first, tile, turn, blocks, block);
  }
  tile.end();
}

/// Lines of so many rows, and what a block of it is: rows a thread, threads, warps on a multiprocessor.
struct ContiguousShape {
  int rows, threads, warps;
};
inline constexpr ContiguousShape contiguous_shapes[] = {{5, 32, 24}, {9, 32, 16}, {9, 64, 16}, {9, 128, 16}, {9, 256, 16}, {9, 480, 15}};
/// Each block of a cluster; two of them are on a multiprocessor, so that one works while the other waits for its cluster.
inline constexpr ContiguousShape shared_shape = {9, 256, 16};

/// Launches of both for lines that they take.
template <class Scalar>
class ContiguousLines {
public:
  ContiguousLines() = default;
  explicit ContiguousLines(const LineLayout &layout) : layout_(layout)
  {
    if (layout.components != 1 || layout.stride != 1 || !layout.rows_are_closest()) return;
    if (find(std::make_integer_sequence<int, static_cast<int>(std::size(contiguous_shapes))>())) return;
    const Index blocks = (layout.length - 1) / (shared_shape.rows * shared_shape.threads) + 1;
    if (blocks > most_of_cluster) return;
    const NativeLaunch<Scalar> launch = shared_launch(blocks);
    if (launch.resident == 0) return;
    launch_ = launch;
    blocks_ = static_cast<int>(blocks);
  }
  bool possible() const { return launch_.kernel; }
  /// True if its copies can work on these vectors: they begin at multiples of 16 bytes. A matrix's diagonals do.
  static bool takes(const Scalar *b, const Scalar *x)
  {
    return (reinterpret_cast<std::uintptr_t>(b) | reinterpret_cast<std::uintptr_t>(x)) % 16 == 0;
  }
  void launch(const Kokkos::Cuda &space, const WideArguments<Kokkos::Cuda, Scalar> &a, const Couplings<Scalar> &couplings) const
  {
    RelaxedLines<Scalar> r;
    r.lines                 = native_arguments(a);
    r.lines.exchange.blocks = blocks_;
    r.couplings             = couplings;
    r.count                 = lines_of_colour(layout_, a.colour);
    if (r.count > 0 && line_of_colour(layout_, a.colour, r.count - 1) >= layout_.count()) r.count--;
    if (r.count == 0) return;
    void *arguments[] = {&r};
    const dim3 grid(static_cast<unsigned>(std::min<Index>(launch_.resident, r.count) * blocks_));
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = cluster_launch(launch_, grid, blocks_, space.cuda_stream(), attribute);
    if (blocks_ == 1) config.numAttrs = 0;
    check_launch(cudaLaunchKernelExC(&config, launch_.kernel, arguments), "launch");
  }

private:
  template <int... k>
  bool find(std::integer_sequence<int, k...>)
  {
    return ((layout_.length <= contiguous_shapes[k].rows * contiguous_shapes[k].threads ? (launch_ = launch_with<k>(), true) : false) ||
            ...);
  }
  template <int k>
  static NativeLaunch<Scalar> launch_with()
  {
    constexpr ContiguousShape shape = contiguous_shapes[k];
    constexpr int R = shape.rows, T = shape.threads;
    static const auto launch =
        launch_of<Scalar>(contiguous_relaxation<Scalar, R, T, shape.warps * 32 / T>, T, sizeof(RelaxedTile<Scalar, R, T>));
    return launch;
  }
  static NativeLaunch<Scalar> shared_launch(Index blocks)
  {
    constexpr int R = shared_shape.rows, T = shared_shape.threads;
    static const auto launches = by_cluster_size<Scalar>([](int size) {
      return launch_of<Scalar>(shared_relaxation<Scalar, R, T, shared_shape.warps * 32 / T>, T,
                               sizeof(InCluster<RelaxedTile<Scalar, R, T>, Scalar>), size);
    });
    return launches[static_cast<std::size_t>(blocks)];
  }

  LineLayout layout_;
  NativeLaunch<Scalar> launch_{};
  int blocks_ = 1; ///< of a line
};

} // namespace weft::cuda
