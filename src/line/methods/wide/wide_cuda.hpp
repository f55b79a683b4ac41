/// The native CUDA form of wide.hpp for lines whose rows follow each other in memory, on Hopper: what the portable kernel cannot do is to
/// load the next line while it works on this one.
///
/// A block keeps its multiprocessor's shared memory full: bulk copies bring the next tile (four arrays of `tile` rows) while the threads
/// eliminate this one in registers. A thread takes an odd number R of consecutive rows, so that its reads of shared memory meet no bank
/// conflict. The same elimination as in wide.hpp runs on three levels, each keeping the last unknown of its part: the rows of a thread, the
/// 32 threads of a warp (by shuffles), the warps of a block (by one warp). Lines that several blocks share are those of wide_long.hpp,
/// those of few rows that begin at multiples of 16 bytes those of wide_direct.hpp.
#pragma once
#include "line/methods/wide/wide_tile.hpp"

namespace weft::cuda {

/// What a block keeps in shared memory.
template <class Scalar, int R, int T, bool alike>
struct NativeTile {
  static_assert(R % 2 == 1 && T % 32 == 0);
  static constexpr int rows   = R * T;
  static constexpr int warps  = T / 32;
  static constexpr int arrays = alike ? 1 : 4; ///< that are read for each line
  static constexpr int space =
      rows + 16 / int(sizeof(Scalar)); ///< of an array in shared memory: a copy may begin an element or three early

  alignas(128) Scalar in[arrays * space];
  alignas(16) Scalar out[rows];
  WarpRows<Scalar, warps> of_warps;
  Scalar warp_x[warps + 1]; ///< last unknown before the block, then of each warp
  Arrival arrival;
};

/// Alike: all lines have the same coefficients, which a block eliminates once; whole lines only. Steps are numbered as in docs/kernels/wide.md.
template <class Scalar, int R, int T, int at_least, WidePart part, bool alike, bool checks>
__global__ void __launch_bounds__(T, at_least) native_wide(const __grid_constant__ NativeArguments<Scalar> a)
{
  using Tile = NativeTile<Scalar, R, T, alike>;
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = a.layout;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, first = thread * R;
  constexpr bool whole = part == WidePart::whole;
  const Index groups = gridDim.x, tiles = a.tiles, items = layout.count() * (whole ? 1 : tiles);

  // Item k is line k, or in two passes tile k % tiles of line k / tiles. The second pass goes backwards: what the first one read last is
  // still in the cache.
  const auto item    = [&](Index k) { return part == WidePart::finish ? items - 1 - k : k; };
  const auto line_of = [&](Index k) { return whole ? k : item(k) / tiles; };
  const auto place   = [&](Index k) { return TilePlace(layout, line_of(k), whole ? 0 : item(k) % tiles, Tile::rows); };
  const auto after   = [&](Index k) { // the next item that is wanted
    while (k < items && !layout.has_colour(line_of(k), a.colour)) k += groups;
    return k;
  };
  const auto fetch = [&](const TilePlace &at) { fetch_tile<alike>(a, at, tile.in, Tile::space, tile.arrival); };

  if (thread == 0) {
    tile.arrival.init();
    share_with_copies();
  }
  __syncthreads();
  Index k = after(blockIdx.x);
  // Step 1: the first tile; the others as soon as their place is free.
  if (thread == 0 && k < items) fetch(place(k));
  ChunkOf<Scalar, R, alike> chunk;
  Doubt<checks, Scalar> doubt;
  // Step 2, once for all lines, where their coefficients are the same.
  if constexpr (alike) {
    doubt.begin(false);
    chunk.factor([&](int j) { return first + j < layout.length ? a.matrix.at(first + j, first + j) : Row<Scalar>{}; }, doubt.look());
  }
  bool begins    = true;
  unsigned phase = 0;
  while (k < items) {
    const TilePlace at = place(k);
    const Index next_k = after(k + groups);
    tile.arrival.wait(phase);
    phase ^= 1;
    read_chunk<R, alike>(chunk, a, at, first, tile.in, Tile::space);
    if (thread == 0) bulk_stored();
    __syncthreads(); // everybody has read: the next tile may come, and the last one has left
    if (thread == 0 && next_k < items) fetch(place(next_k));

    // In the second of two passes the last unknowns of the tiles are known.
    if constexpr (part == WidePart::finish) {
      // A tile that is not full ends its line: what it kept is a row beyond, which is 0 already.
      const Scalar *last = a.last + at.line * tiles + at.tile;
#pragma unroll
      for (int j = 0; j < R; j++) {
        if (first + j == Tile::rows - 1 && at.rows == Tile::rows) {
          chunk.lower[j] = chunk.upper[j] = 0;
          chunk.diagonal[j]               = 1;
          chunk.rhs[j]                    = last[0];
        }
      }
      if (thread == 0 && at.tile > 0) {
        chunk.rhs[0] -= chunk.lower[0] * last[-1];
        chunk.lower[0] = 0;
      }
    }

    // Step 2: the chunk. Step 3: the chunks of the warp, the warps of the block.
    if constexpr (!alike) doubt.begin(a.step > 0);
    Hanging<Scalar> mine         = chunk.eliminate(doubt.look());
    const Ends<Scalar> warp_ends = reduce_warp<32, 1>(mine, chunk.head(), 0, doubt.look());
    if (lane == 0) tile.of_warps.first[warp] = warp_ends.first;
    if (lane == 31) tile.of_warps.last[warp] = warp_ends.last;
    __syncthreads();
    if (warp == 0) {
      Hanging<Scalar> row;
      const Ends<Scalar> ends = join_warps(tile.of_warps, 0, row, doubt.look());
      if constexpr (part == WidePart::reduce) {
        if (lane == 31) {
          a.tile_rows.set_first(at.line * tiles + at.tile, ends.first);
          a.tile_rows.set_last(at.line * tiles + at.tile, ends.last);
        }
      } else {
        find_warps(row, Scalar(0), number_of(ends.last.value, 31), tile.warp_x, Tile::warps);
      }
    }
    [[maybe_unused]] const bool doubts = (!alike || begins) && doubt.raised(); // the pivots of the first line are those of all alike ones
    if constexpr (part != WidePart::reduce) {
      __syncthreads();
      // Step 4: the unknowns, upwards, and their way out.
      const Scalar before_warp = tile.warp_x[warp], last_of_warp = tile.warp_x[warp + 1];
      const Scalar x  = lane == 31 ? last_of_warp : mine.value - mine.before * before_warp - mine.after * last_of_warp;
      Scalar x_before = number_before(x, 1);
      if (lane == 0) x_before = before_warp;
      chunk.substitute(x_before, x);
      store_chunks<T>(a, at, chunk, first, tile.out);
    }
    if constexpr (checks) { // here, where few registers hold anything
      if (doubts) look_again<R, alike>(a, place(k), first);
      if (doubts && warp == 0) look_at_warps(a, tile.of_warps, 0, place(k));
    }
    k      = next_k;
    begins = false;
  }
  if (thread == 0) bulk_left(); // shared memory ends with the block
}

} // namespace weft::cuda
