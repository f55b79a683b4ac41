/// wide_cuda.hpp for lines that the blocks of a cluster share, a tile each: they tell each other the two rows of their tiles through their shared
/// memories, and each solves for all. For numbers so large that one block holds few rows: complex ones.
///
/// Words moved per row: 5.
#pragma once
#include "line/methods/wide/wide_cuda.hpp"

namespace weft::cuda {

/// What a block keeps in shared memory of the others of its cluster, beside a tile of its own (Tile).
template <class Tile, class Scalar>
struct InCluster : Tile {
  Arrival told[2];                          ///< of the rows below
  Scalar of_blocks[2][6 * most_of_cluster]; ///< rows of the cluster's blocks, in two sets that take turns: see StridedTile

  /// By all threads, before the first line: nobody writes to a block that is not there yet.
  __device__ void begin()
  {
    if (threadIdx.x == 0) {
      this->arrival.init();
      for (Arrival &one : told) one.init();
      share_with_copies();
      share_arrivals();
    }
    cluster_arrive();
    cluster_wait();
  }
  /// By all threads, after the last one: shared memory ends with the block, and must outlive what others write there.
  __device__ void end()
  {
    if (threadIdx.x == 0) bulk_left();
    cluster_arrive();
    cluster_wait();
  }
};
template <class Scalar, int R, int T, bool alike>
using ClusterTile = InCluster<NativeTile<Scalar, R, T, alike>, Scalar>;

/// Solves the line of the blocks once more and reports the first unusable pivot.
template <class Scalar>
__device__ __noinline__ void look_at_cluster(const NativeArguments<Scalar> &a, const Scalar *rows, int blocks, int block,
                                             const TilePlace &at)
{
  Watch<true> watch;
  Scalar g_before, g;
  solve_cluster<32>(rows, blocks, block, watch.at(at.rows - 1), g_before, g);
  watch.report(a, at.line, at.row);
}

/// The unknowns of a line, in chunk.rhs, by the blocks of a cluster, of which this one has a tile: the chunks of a warp are joined, the warps of the
/// block, the blocks of the cluster. True where pivots are in doubt: then look_in_cluster looks. turn: lines before this one.
template <class Tile, class AChunk, bool checks, class Scalar>
__device__ __forceinline__ bool solve_in_cluster(AChunk &chunk, Tile &tile, unsigned turn, int blocks, int block,
                                                 Doubt<checks, Scalar> &doubt)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Hanging<Scalar> mine         = chunk.eliminate(doubt.look());
  const Ends<Scalar> warp_ends = reduce_warp<32, 1>(mine, chunk.head(), 0, doubt.look());
  if (lane == 0) tile.of_warps.first[warp] = warp_ends.first;
  if (lane == 31) tile.of_warps.last[warp] = warp_ends.last;
  __syncthreads();
  if (warp == 0) {
    Scalar *const rows = tile.of_blocks[turn % 2];
    Hanging<Scalar> row;
    const Ends<Scalar> ends = join_warps(tile.of_warps, 0, row, doubt.look());
    Arrival &told           = tile.told[turn % 2];
    if (lane == 0) told.expect(static_cast<std::uint32_t>(blocks * 6 * sizeof(Scalar)));
    tell_cluster<32>(Ends<Scalar>{ends.first, shuffle(ends.last, 31)}, rows, told, blocks, block);
    told.wait_for_cluster(turn / 2 % 2);
    Scalar g_before, g;
    if (blocks <= 8)
      solve_cluster<32, 8>(rows, blocks, block, doubt.look(), g_before, g);
    else
      solve_cluster<32>(rows, blocks, block, doubt.look(), g_before, g);
    find_warps(row, g_before, g, tile.warp_x, Tile::warps);
  }
  const bool doubts = doubt.raised();
  __syncthreads();
  const Scalar before_warp = tile.warp_x[warp], last_of_warp = tile.warp_x[warp + 1];
  const Scalar x  = lane == 31 ? last_of_warp : mine.value - mine.before * before_warp - mine.after * last_of_warp;
  Scalar x_before = number_before(x, 1);
  if (lane == 0) x_before = before_warp;
  chunk.substitute(x_before, x);
  return doubts;
}

/// A warp's pivots once more and one by one, then those of the block's warps and of the cluster's blocks. first: the thread's first row in the tile.
template <int R, bool alike, class Tile, class Scalar>
__device__ __forceinline__ void look_in_cluster(const NativeArguments<Scalar> &a, const TilePlace &at, int first, const Tile &tile,
                                                unsigned turn, int blocks, int block)
{
  look_again<R, alike>(a, at, first);
  if (threadIdx.x >= 32) return;
  look_at_warps(a, tile.of_warps, 0, at);
  look_at_cluster(a, tile.of_blocks[turn % 2], blocks, block, at);
}

/// Steps are numbered as those of native_wide. The last unknowns before a tile and of it come of the cluster, in step 3.
template <class Scalar, int R, int T, int at_least, bool alike, bool checks>
__global__ void __launch_bounds__(T, at_least) native_wide_cluster(const __grid_constant__ NativeArguments<Scalar> a)
{
  using Tile = ClusterTile<Scalar, R, T, alike>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = a.layout;
  const int thread = threadIdx.x, first = thread * R;
  const int blocks = a.exchange.blocks, block = static_cast<int>(blockIdx.x % blocks);
  const Index groups = gridDim.x / blocks, lines = layout.count();
  const auto place = [&](Index line) { return TilePlace(layout, line, block, Tile::rows); };
  const auto after = [&](Index line) { // the next line that is wanted
    while (line < lines && !layout.has_colour(line, a.colour)) line += groups;
    return line;
  };
  const auto fetch = [&](Index line) { fetch_tile<alike>(a, place(line), tile.in, Tile::space, tile.arrival); };

  tile.begin();
  Index line = after(blockIdx.x / blocks);
  // Step 1: the first tile; the others as soon as their place is free.
  if (thread == 0 && line < lines) fetch(line);
  ChunkOf<Scalar, R, alike> chunk;
  Doubt<checks, Scalar> doubt;
  // Step 2, once for all lines, where their coefficients are the same.
  if constexpr (alike) {
    const Index r = Index(block) * Tile::rows + first;
    doubt.begin(false);
    chunk.factor([&](int j) { return r + j < layout.length ? a.matrix.at(r + j, r + j) : Row<Scalar>{}; }, doubt.look());
  }
  for (unsigned turn = 0; line < lines; turn++) {
    const TilePlace at = place(line);
    const Index next   = after(line + groups);
    tile.arrival.wait(turn % 2);
    read_chunk<R, alike>(chunk, a, at, first, tile.in, Tile::space);
    if (thread == 0) bulk_stored();
    __syncthreads(); // everybody has read: the next tile may come, and the last one has left
    if (thread == 0 && next < lines) fetch(next);

    // Step 2: the chunk. Step 3: the warp, the block, the cluster. Step 4: the unknowns, upwards, and their way out.
    if constexpr (!alike) doubt.begin(a.step > 0);
    [[maybe_unused]] const bool doubts = solve_in_cluster(chunk, tile, turn, blocks, block, doubt);
    store_chunks<T>(a, at, chunk, first, tile.out);
    if constexpr (checks) { // here, where few registers hold anything; the pivots of the first line are those of all alike ones
      if (doubts && (!alike || turn == 0)) look_in_cluster<R, alike>(a, at, first, tile, turn, blocks, block);
    }
    line = next;
  }
  tile.end();
}

} // namespace weft::cuda
