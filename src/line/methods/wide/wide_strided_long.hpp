/// wide_strided.hpp for lines that more blocks share than a cluster has: they join their parts through device memory, where each line has one
/// block that solves for the rows of all, another one in each turn.
///
/// As in wide_long.hpp what has to be waited for is put off by a turn: a block reads and eliminates its tile of the next bundle of lines and
/// finishes the one before afterwards. Until then what its unknowns hang on stays in shared memory, and right-hand sides in registers.
///
/// Words moved per row: 5.
#pragma once
#include "line/methods/wide/wide_strided.hpp"

namespace weft::cuda {

/// Lines of a bundle that a block solves for where `blocks` share the bundle: from first_shared(block) to first_shared(block + 1).
template <int W>
WEFT_INLINE int first_shared(int block, int blocks)
{
  return (block * W + blocks - 1) / blocks;
}

/// What a block keeps in shared memory, and after it what others said of the line that it solves for.
template <class Scalar, int R, int T, int W, bool in_line, bool alike>
struct LateTile : StridedTile<Scalar, R, T, W, Sharing::device, in_line, alike> {
  Scalar lower[alike ? 1 : R * T], upper[alike ? 1 : R * T]; ///< of the bundle before: of a thread's rows, those of all threads between
  Scalar between[2 * W];                                     ///< last unknowns before the block, then of it

  __device__ Scalar *said() { return reinterpret_cast<Scalar *>(this + 1); }
  static constexpr Index bytes(Index blocks) { return Index(sizeof(LateTile)) + Index(6 * sizeof(Scalar)) * blocks; }
};

/// Eliminates a warp's rows and joins its line once more and reports the first unusable pivot.
template <class Block>
__device__ __noinline__ void look_again_side_by_side(const Block block, const typename Block::Place at)
{
  using Scalar    = typename Block::Number;
  constexpr int R = Block::rows_of_chunk;
  if constexpr (!Block::same) {
    const RealOf<Scalar> joined_scale = block.a.step > 0 ? 1 : 0;
    Chunk<Scalar, R> chunk;
    Watch<true> watch;
    chunk.clear();
    for (int j = 0; j < R; j++) {
      const int r     = block.first() + j;
      const Index row = block.first_row() + r, i = at.element + r * block.a.layout.stride + block.w();
      if (r >= block.rows() || block.w() >= at.lines) continue;
      chunk.lower[j]    = row > 0 ? block.a.lower[i] : Scalar(0);
      chunk.diagonal[j] = block.a.diagonal[i];
      chunk.upper[j]    = row + 1 < block.a.layout.length ? block.a.upper[i] : Scalar(0);
    }
    chunk.eliminate(
        [&](Scalar pivot, Scalar, RealOf<Scalar> scale, int j) { watch.look(pivot, joined_scale + scale, 0, block.first() + j); });
    watch.report(block.a, at.number(block.w()), block.first_row());
  }
  Hanging<Scalar> row;
  Watch<true> watch;
  block.join(row, watch.at((block.joined_chunk() + 1) * R - 1));
  watch.report(block.a, at.number(block.joined_line()), block.first_row());
}

/// Steps are numbered as in docs/kernels/wide.md.
template <class Scalar, int R, int T, int W, bool in_line, bool alike, bool checks>
__global__ void __launch_bounds__(T, 1) native_wide_strided_long(const __grid_constant__ NativeArguments<Scalar> a)
{
  using Tile  = LateTile<Scalar, R, T, W, in_line, alike>;
  using Block = StridedBlock<Scalar, R, T, W, Sharing::device, in_line, checks, alike>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile       = *reinterpret_cast<Tile *>(shared);
  const int blocks = a.exchange.blocks;
  const int groups = static_cast<int>(gridDim.x) / blocks, group = static_cast<int>(blockIdx.x) / blocks;
  Block block{a, tile, static_cast<int>(blockIdx.x % blocks)};
  const int thread = threadIdx.x;
  // Of a group, in turn for even and odd turns: six numbers of each block for each line; last unknowns of each line's blocks.
  const auto rows_said     = [&](unsigned turn) { return a.exchange.rows + (group * 2 + turn % 2) * blocks * 7 * W; };
  const auto unknowns_said = [&](unsigned turn) { return rows_said(turn) + blocks * 6 * W; };

  // Bundles one after the other, without a division, which would cost registers.
  struct Bundle {
    int across, j;
  };
  const int across  = static_cast<int>(block.bundles_across());
  const auto exists = [&](const Bundle &b) { return b.j < a.layout.across[1]; };
  const auto next   = [&](Bundle b) {
    for (b.across += groups; b.across >= across; b.across -= across) b.j++;
    return b;
  };
  const auto place  = [&](const Bundle &b) { return block.place(b.across, b.j); };
  const auto before = [&](Bundle b) {
    for (b.across -= groups; b.across < 0; b.across += across) b.j--;
    return b;
  };
  Bundle bundle = next({group - groups, 0});
  unsigned turn = 1; // in which a bundle is read; it ends in the next one
  typename Block::Rows chunk;
  if (exists(bundle)) {
    block.fetch(place(bundle));
    block.factor(place(bundle).line, chunk);
  }
  Scalar rhs_before[R]; // of the bundle of the turn before
  Hanging<Scalar> row_before{};
  // Step 5: row j of this bundle takes the place of that of the one before.
  const auto keep = [&](int j) {
    if constexpr (!alike) {
      tile.lower[j * T + thread] = chunk.lower[j];
      tile.upper[j * T + thread] = chunk.upper[j];
    }
    rhs_before[j] = chunk.rhs[j];
  };
  // Step 4, of the bundle before. keeps: row by row, so that few registers hold both bundles.
  const auto finish = [&](auto keeps) {
    if (thread < 2 * W) {
      const int t          = block.block - 1 + thread / W;
      tile.between[thread] = t < 0 ? Scalar(0) : receive(unknowns_said(turn - 1) + thread % W * blocks + t, turn - 1);
    }
    __syncthreads();
    block.found(row_before, tile.between[block.joined_line()], tile.between[W + block.joined_line()]);
    __syncthreads();
    const Scalar *last = tile.x + block.w() * Tile::pitch + block.chunk_of_line();
    const auto at      = place(before(bundle));
    const bool stores  = block.stores(at);
    Scalar x = last[1], *to = block.to(at, R - 1);
#pragma unroll
    for (int j = R - 1; j >= 0; j--, to -= a.layout.stride) {
      if (j < R - 1) {
        const Scalar lower = alike ? chunk.lower[j] : tile.lower[j * T + thread],
                     upper = alike ? chunk.upper[j] : tile.upper[j * T + thread];
        x                  = rhs_before[j] - lower * last[0] - upper * x;
      }
      if (stores && block.first() + j < block.rows()) put(*to, a.update, x);
      if constexpr (keeps) keep(j);
    }
  };
  Doubt<checks, Scalar> doubt;
  // Step 3: by one warp, for the lines that are the block's in this turn.
  const auto solve = [&] {
    const int number = static_cast<int>((block.block + turn * W) % blocks), end = first_shared<W>(number + 1, blocks);
    for (int line = first_shared<W>(number, blocks); line < end; line++) {
      hear_all(rows_said(turn) + line * blocks * 6, 6 * blocks, turn, tile.said());
      __syncwarp();
      solve_blocks(tile.said(), blocks, doubt.look(), [&](int t, Scalar x) { send(unknowns_said(turn) + line * blocks + t, x, turn); });
      if constexpr (checks) {
        if (block.watches && doubt.raised())
          look_at_blocks(a, tile.said(), blocks, place(bundle).number(line), block.first_row(), Tile::rows - 1);
      }
      __syncwarp(); // before what was said changes
    }
  };

  for (; exists(bundle); turn++) {
    // Step 1: the tile has come, the next one may.
    copies_arrived();
    __syncthreads();
    block.read(place(bundle), chunk);
    __syncthreads(); // everybody has read: the next bundle may come
    if (exists(next(bundle))) block.fetch(place(next(bundle)));
    // Step 2: the block, and what it tells.
    Hanging<Scalar> row;
    doubt.begin(!alike && a.step > 0);
    const Ends<Scalar> ends = block.eliminate(chunk, row, doubt.look());
    tell_device(ends, rows_said(turn) + (block.joined_line() * blocks + block.block) * 6, turn, block.joined_chunk());
    if (turn > 1) {
      finish(std::true_type{});
    } else {
#pragma unroll
      for (int j = 0; j < R; j++) keep(j);
    }
    row_before = row;
    if (thread / 32 == T / 32 - 1) solve();
    if constexpr (checks) { // here, where few registers hold anything
      if (block.watches && doubt.raised()) look_again_side_by_side(block, place(bundle));
    }
    if (alike) block.watches = false; // the pivots are those of the first lines
    bundle = next(bundle);
  }
  if (turn > 1) finish(std::false_type{});
}

} // namespace weft::cuda
