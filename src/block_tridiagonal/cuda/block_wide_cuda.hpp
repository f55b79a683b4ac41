/// The native CUDA form of block_wide.hpp's one-shot solve, on Hopper: every block is read once, where the portable form writes factors and
/// reads them again. b = 4.
///
/// The blocks of a cluster keep a line in their shared memories. Four lanes eliminate R consecutive rows, each lane a column of the blocks,
/// and what is left of a row takes its place,
///   x_j = value_j - before_j x_-1 - after_j x_{j+1}   (wide.hpp, with blocks for the scalars);
/// the chunks' last unknowns are joined on three levels: the groups of a warp, the warps of a block, the blocks of a cluster. Couplings that
/// are rounding error end a level early.
///
/// Pivots are those of a cut line. Where one is below 1/1000 of its row, nothing of that line is stored and `redo` says so: the portable form
/// solves it then.
///
/// Words moved per row: 3 b^2 + 2 b.
#pragma once
#include <iterator>

#include "block_tridiagonal/block_tridiagonal.hpp"
#include "block_tridiagonal/cuda/block_wide_parts.hpp"
#include "tridiagonal/cuda/launch.hpp"

namespace weft::cuda {

template <class Scalar>
struct BlockWideArguments {
  const Scalar *lower, *diagonal, *upper, *rhs;
  Scalar *solution;
  BlockLines lines;
  Update<Scalar> update;
  Colour colour;
  int *redo; ///< a word for each line
  int blocks;
};

/// What a thread block keeps in shared memory. Chunks are a little apart, so that neighbouring ones meet no bank conflict.
template <class Scalar, int b, int R, int T>
struct BlockTile {
  static constexpr int chunks = T / b, rows = R * chunks, warps = T / 32;
  static constexpr int block_pitch = R * b * b + b, vector_pitch = R * b + b, most_of_cluster = BlockLane<b>::groups;
  static_assert(T % 32 == 0 && warps <= BlockLane<b>::groups);

  /// What warps and blocks tell each other.
  struct Talk {
    Scalar of_warps[warps][2][BlockRow<Scalar, b>::words], of_blocks[most_of_cluster][2][BlockRow<Scalar, b>::words];
    Scalar unsafe[most_of_cluster], any_unsafe;
    Scalar x[warps + 1][b]; ///< last unknown before the block, then of each warp
  };
  alignas(128) Scalar lower[chunks * block_pitch];
  Scalar upper[chunks * block_pitch];
  Scalar rhs[chunks * vector_pitch];
  union {
    Scalar diagonal[chunks * block_pitch];
    Talk talk; ///< once all are eliminated
  };
};

template <class Scalar, int R, int T, int at_least>
__global__ void __launch_bounds__(T, at_least) native_block_wide(const __grid_constant__ BlockWideArguments<Scalar> a)
{
  constexpr int b = 4, bb = b * b, piece = 16 / sizeof(Scalar);
  using Lane = BlockLane<b>;
  using Tile = BlockTile<Scalar, b, R, T>;
  using Row  = BlockRow<Scalar, b>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = a.lines.layout;
  const int thread = threadIdx.x, c = Lane::column(), chunk = thread / b, warp = thread / 32;
  const int blocks = a.blocks, block = static_cast<int>(blockIdx.x % blocks);
  const Index line = blockIdx.x / blocks;
  if (!a.lines.has_colour(line, a.colour)) { // all blocks of the cluster leave
    if (block == 0 && thread == 0) a.redo[line] = 0;
    return;
  }
  const Index first_row = Index(block) * Tile::rows, left_rows = layout.length - first_row;
  const int rows    = left_rows < Tile::rows ? static_cast<int>(left_rows) : Tile::rows;
  const Index apart = layout.stride, element = a.lines.start(line) + first_row * apart; // of the block's first node
  const Scalar margin = Scalar(1e-3);

  // Pieces of 16 bytes.
  for (int n = thread; n < rows * (bb / piece); n += T) {
    const int r = n / (bb / piece), q = n % (bb / piece) * piece, to = r / R * Tile::block_pitch + r % R * bb + q;
    const Index from = (element + r * apart) * b + q;
    thread_copy(tile.lower + to, a.lower + from);
    thread_copy(tile.diagonal + to, a.diagonal + from);
    thread_copy(tile.upper + to, a.upper + from);
  }
  for (int n = thread; n < rows * (b / piece); n += T) {
    const int r = n / (b / piece), q = n % (b / piece) * piece;
    thread_copy(tile.rhs + r / R * Tile::vector_pitch + r % R * b + q, a.rhs + element + r * apart + q);
  }
  copies_arrived();
  __syncthreads();

  Scalar *const lower = tile.lower + chunk * Tile::block_pitch, *const upper = tile.upper + chunk * Tile::block_pitch;
  Scalar *const rhs = tile.rhs + chunk * Tile::vector_pitch;
  Row mine{}, head{};
  bool safe = true;
#pragma unroll 1
  for (int j = 0; j < R; j++) {
    const int r       = chunk * R + j;
    const bool exists = r < rows, has_lower = exists && first_row + r > 0, has_upper = exists && first_row + r + 1 < layout.length;
    const Scalar *diagonal = tile.diagonal + chunk * Tile::block_pitch + j * bb;
    Block<Scalar, b> low;
    Row row;
    Scalar pivot[b], scale[b];
#pragma unroll
    for (int p = 0; p < b; p++) {
#pragma unroll
      for (int q = 0; q < b; q++) low(p, q) = has_lower ? lower[j * bb + p * b + q] : Scalar(0);
      pivot[p]         = exists ? diagonal[p * b + c] : Scalar(p == c);
      row.value[p]     = exists ? rhs[j * b + p] : Scalar(0);
      row.after[p]     = has_upper ? upper[j * bb + p * b + c] : Scalar(0);
      const Scalar own = has_lower ? lower[j * bb + p * b + c] : Scalar(0);
      row.before[p]    = j == 0 ? own : Scalar(0);
      scale[p]         = abs(own) + abs(pivot[p]) + abs(row.after[p]);
    }
    sum_group(scale);
    if (j > 0) {
      subtract(pivot, low, mine.after);
      subtract(row.value, low, mine.value);
      subtract(row.before, low, mine.before);
    }
    safe = solve_row(pivot, row, scale, margin) && safe;
    mine = row;
    __syncwarp(); // all lanes have read the row
#pragma unroll
    for (int p = 0; p < b; p++) {
      lower[j * bb + p * b + c] = mine.before[p];
      upper[j * bb + p * b + c] = mine.after[p];
    }
    rhs[j * b + c] = own_entry(mine.value);
  }
  __syncwarp();
  unit_column(head.after);
#pragma unroll
  for (int p = 0; p < b; p++) head.after[p] = -head.after[p];
#pragma unroll 1
  for (int j = R - 2; j >= 0; j--) { // the first unknown, hanging on the one before the chunk and on its last one
    Block<Scalar, b> after;
    Row h;
#pragma unroll
    for (int p = 0; p < b; p++) {
#pragma unroll
      for (int q = 0; q < b; q++) after(p, q) = upper[j * bb + p * b + q];
      h.value[p]  = rhs[j * b + p];
      h.before[p] = lower[j * bb + p * b + c];
      h.after[p]  = 0;
    }
    subtract(h.value, after, head.value);
    subtract(h.before, after, head.before);
    subtract(h.after, after, head.after);
    head = h;
  }
  __syncthreads(); // the diagonal's place is free
  if (blocks > 1) cluster_arrive();

  BlockEnds<Scalar, b> ends = reduce_groups(mine, head, 0, margin, safe);
  if (Lane::group() == 0) {
    ends.first.write([&](int place, Scalar x) { tile.talk.of_warps[warp][0][place] = x; });
    ends.last.write([&](int place, Scalar x) { tile.talk.of_warps[warp][1][place] = x; });
  }
  safe = !__syncthreads_or(!safe);
  if (warp == 0) {
    constexpr int first = Lane::groups - Tile::warps; // the warps' rows at the upper groups
    const int w         = Lane::group() - first;
    Row row             = w >= 0 ? Row::read(tile.talk.of_warps[w][1]) : Row::passing();
    const Row top       = w >= 0 ? Row::read(tile.talk.of_warps[w][0]) : Row::passing();
    ends                = reduce_groups(row, top, first, margin, safe);
    Scalar g_before = 0, g = own_entry(ends.last.value);
    safe = __all_sync(every_lane, safe);
    if (blocks > 1) {
      cluster_wait(); // nobody's diagonal is needed any more
      if (Lane::group() < blocks) {
        const int to                 = Lane::group();
        const std::uint32_t first_at = address_in_block(tile.talk.of_blocks[block][0], to),
                            last_at  = address_in_block(tile.talk.of_blocks[block][1], to);
        ends.first.write([&](int place, Scalar x) { store_in_block(first_at + static_cast<std::uint32_t>(place * sizeof(Scalar)), x); });
        ends.last.write([&](int place, Scalar x) { store_in_block(last_at + static_cast<std::uint32_t>(place * sizeof(Scalar)), x); });
        if (c == 0) store_in_block(address_in_block(tile.talk.unsafe + block, to), Scalar(!safe));
      }
      cluster_arrive();
      cluster_wait();
      const int first_block = Lane::groups - blocks, t = Lane::group() - first_block;
      Row of_block         = t >= 0 ? Row::read(tile.talk.of_blocks[t][1]) : Row::passing();
      const Row top_block  = t >= 0 ? Row::read(tile.talk.of_blocks[t][0]) : Row::passing();
      const bool told      = t < 0 || tile.talk.unsafe[t] == 0;
      ends                 = reduce_groups(of_block, top_block, first_block, margin, safe);
      safe                 = __all_sync(every_lane, safe && told);
      const Scalar end     = own_entry(ends.last.value);
      const Scalar between = known_entry(of_block, Scalar(0), end);
      const Scalar x       = Lane::group() == Lane::last ? end : between;
      g                    = __shfl_sync(every_lane, x, (first_block + block) * b + c);
      g_before             = __shfl_sync(every_lane, x, (first_block + (block > 0 ? block - 1 : 0)) * b + c);
      if (block == 0) g_before = 0;
    }
    const Scalar between = known_entry(row, g_before, g);
    if (w >= 0) tile.talk.x[w + 1][c] = Lane::group() == Lane::last ? g : between;
    if (Lane::group() == 0) tile.talk.x[0][c] = g_before;
    if (thread == 0) {
      tile.talk.any_unsafe = Scalar(!safe);
      if (block == 0) a.redo[line] = !safe;
    }
  } else if (blocks > 1) {
    cluster_wait();
    cluster_arrive();
    cluster_wait();
  }
  __syncthreads();
  if (tile.talk.any_unsafe != 0) return;
  const Scalar g_before = tile.talk.x[warp][c], g = tile.talk.x[warp + 1][c], between = known_entry(mine, g_before, g);
  Scalar x        = Lane::group() == Lane::last ? g : between;
  Scalar x_before = __shfl_up_sync(every_lane, x, b);
  if (Lane::group() == 0) x_before = g_before;

  // Upwards, a lane a row of the blocks.
  Scalar before_chunk[b], next[b];
#pragma unroll
  for (int q = 0; q < b; q++) before_chunk[q] = __shfl_sync(every_lane, x_before, Lane::of_column(q));
#pragma unroll 1
  for (int j = R - 1; j >= 0; j--) {
    if (j < R - 1) {
      x = rhs[j * b + c];
#pragma unroll
      for (int q = 0; q < b; q++) x -= lower[j * bb + c * b + q] * before_chunk[q];
#pragma unroll
      for (int q = 0; q < b; q++) x -= upper[j * bb + c * b + q] * next[q];
    }
#pragma unroll
    for (int q = 0; q < b; q++) next[q] = __shfl_sync(every_lane, x, Lane::of_column(q));
    const int r = chunk * R + j;
    if (r < rows) put(a.solution[element + r * apart + c], a.update, x);
  }
}

/// Rows of a chunk, and threads of a block: as few as hold the line in a cluster, since small blocks fill each other's waits.
inline constexpr int block_rows_of_chunk = 8;
inline constexpr int block_threads[]     = {64, 128, 256};

/// Blocks of `threads` threads that hold a line.
constexpr Index block_wide_blocks(Index length, int threads)
{
  const Index rows = Index(block_rows_of_chunk) * threads / 4;
  return (length + rows - 1) / rows;
}

/// Lines long enough to fill a block's warps, short enough for a cluster.
inline bool block_wide_lines(const LineLayout &layout)
{
  return layout.length >= 64 && block_wide_blocks(layout.length, std::end(block_threads)[-1]) <= BlockLane<4>::groups;
}

template <class Scalar, std::size_t size = 0>
NativeLaunch<Scalar> block_wide_launch(Index length)
{
  constexpr int R = block_rows_of_chunk, T = block_threads[size];
  if constexpr (size + 1 < std::size(block_threads)) {
    if (block_wide_blocks(length, T) > BlockLane<4>::groups) return block_wide_launch<Scalar, size + 1>(length);
  }
  static const NativeLaunch<Scalar> launch =
      launch_of<Scalar>(native_block_wide<Scalar, R, T, 256 / T>, T, sizeof(BlockTile<Scalar, 4, R, T>));
  return launch;
}

template <class Scalar>
void launch_block_wide(const Kokkos::Cuda &space, BlockWideArguments<Scalar> a)
{
  const Index length                = a.lines.layout.length;
  const NativeLaunch<Scalar> launch = block_wide_launch<Scalar>(length);
  a.blocks                          = static_cast<int>(block_wide_blocks(length, launch.threads));
  const dim3 grid(static_cast<unsigned>(a.lines.count() * a.blocks));
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = cluster_launch(launch, grid, a.blocks, space.cuda_stream(), attribute);
  if (a.blocks == 1) config.numAttrs = 0;
  void *arguments[] = {&a};
  check_launch(cudaLaunchKernelExC(&config, launch.kernel, arguments), "launch");
}

} // namespace weft::cuda
