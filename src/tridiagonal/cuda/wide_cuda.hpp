/// The native CUDA form of wide.hpp for lines whose rows follow each other in memory, on Hopper: what the portable kernel cannot do is to
/// load the next line while it works on this one.
///
/// A block keeps its multiprocessor's shared memory full: bulk copies bring the next tile (four arrays of `tile` rows) while the threads
/// eliminate this one in registers. A thread takes an odd number R of consecutive rows, so that its reads of shared memory meet no bank
/// conflict. The same elimination as in wide.hpp runs on three levels, each keeping the last unknown of its part: the rows of a thread, the
/// 32 threads of a warp (by shuffles), the warps of a block (by one warp). With several blocks a line there is a fourth: the blocks put
/// their two rows into device memory and each solves the small line of all of them.
///
/// Words moved per row: 5, also for lines that many blocks share.
#pragma once
#include "tridiagonal/cuda/wide_parts.hpp"

namespace weft::cuda {

template <class Scalar>
struct NativeArguments {
  const Scalar *lower, *diagonal, *upper, *rhs;
  Scalar *solution;
  Tridiagonal<Scalar, Kokkos::Cuda> matrix; ///< the same coefficients, where all lines have the same
  LineLayout layout;                        ///< stride 1
  Update<Scalar> update;
  Colour colour;
  bool in_pieces; ///< the solution can be stored by bulk copies: it is not added to and begins at a multiple of 16 bytes
  PivotFlag<Kokkos::CudaSpace> flag;
  int step;
  Index rows_of_row, original_length;
  Index tiles;                              ///< of a line; 1 unless in parts
  TileRows<Kokkos::Cuda, Scalar> tile_rows; ///< reduce: written
  const Scalar *last;                       ///< finish: the tiles' last unknowns, tile after tile, line after line
  Exchange<Scalar> exchange;
};

/// What a block keeps in shared memory.
template <class Scalar, int R, int T, bool many, bool alike>
struct NativeTile {
  static_assert(R % 2 == 1 && T % 32 == 0);
  static constexpr int rows   = R * T;
  static constexpr int warps  = T / 32;
  static constexpr int arrays = alike ? 1 : 4; ///< that are read for each line; the last one is rhs
  static constexpr int space =
      rows + 16 / int(sizeof(Scalar)); ///< of an array in shared memory: a copy may begin an element or three early

  alignas(128) Scalar in[arrays][space];
  alignas(16) Scalar out[rows];
  Hanging<Scalar> warp_first[warps], warp_last[warps];
  Scalar warp_x[warps + 1];                  ///< last unknown before the block, then of each warp
  Scalar blocks[many ? 6 * most_blocks : 1]; ///< rows of the blocks that share the line
  Arrival arrival;
};

/// Eliminates a warp's rows once more, and what it solved for the block, and reports the first unusable pivot. element: of the tile's first row.
template <int R, class Scalar, int T, bool many, bool alike>
__device__ __noinline__ void look_again(const NativeArguments<Scalar> &a, const NativeTile<Scalar, R, T, many, alike> &tile, Index line,
                                        Index number, Index element, int rows, int blocks)
{
  using Tile      = NativeTile<Scalar, R, T, many, alike>;
  const int first = static_cast<int>(threadIdx.x) * R, lane = static_cast<int>(threadIdx.x) % 32;
  Chunk<Scalar, R> chunk;
  for (int j = 0; j < R; j++) {
    const Index r = number * Tile::rows + first + j, i = element + first + j;
    const bool exists     = first + j < rows;
    const Row<Scalar> row = !exists ? Row<Scalar>{} : alike ? a.matrix.at(r, r) : Row<Scalar>{a.lower[i], a.diagonal[i], a.upper[i]};
    chunk.lower[j]        = exists && r > 0 ? row.lower : Scalar(0);
    chunk.diagonal[j]     = exists ? row.diagonal : Scalar(1);
    chunk.upper[j]        = exists && r + 1 < a.layout.length ? row.upper : Scalar(0);
    chunk.rhs[j]          = 0;
  }
  Watch<true> watch;
  const Scalar joined_scale = a.step > 0 ? 1 : 0;
  Hanging<Scalar> mine =
      chunk.eliminate([&](Scalar pivot, Scalar, Scalar scale, int j) { watch.look(pivot, joined_scale + scale, 0, first + j); });
  reduce_warp<32, 1>(mine, chunk.head(), 0, watch.at(first + R - 1));
  if (threadIdx.x < 32) {
    constexpr int first_lane = 32 - Tile::warps;
    const int w              = lane - first_lane;
    const Hanging<Scalar> none{0, -1, 0};
    Hanging<Scalar> row = w >= 0 ? tile.warp_last[w] : none;
    reduce_warp<Tile::warps, 1>(row, w >= 0 ? tile.warp_first[w] : none, first_lane, watch.at(Tile::rows - 1));
    if constexpr (many) solve_blocks(tile.blocks, blocks, watch.at(Tile::rows - 1), [](int, Scalar) {});
  }
  watch.report(a, line, number * Tile::rows);
}

/// Many: several blocks a line, whole lines only. Alike: all lines have the same coefficients, which a block eliminates once; whole lines only.
template <class Scalar, int R, int T, int at_least, WidePart part, bool many, bool alike, bool checks>
__global__ void __launch_bounds__(T, at_least) native_wide(const __grid_constant__ NativeArguments<Scalar> a)
{
  using Tile          = NativeTile<Scalar, R, T, many, alike>;
  constexpr int piece = 16 / sizeof(Scalar); // elements
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = a.layout;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int blocks = many ? a.exchange.blocks : 1, block = many ? blockIdx.x % blocks : 0;
  const Index groups = gridDim.x / blocks, group = blockIdx.x / blocks;
  const Index tiles = many ? Index(blocks) : a.tiles, items = layout.count() * (many ? 1 : a.tiles);

  // Item k is tile k % tiles of line k / tiles, or this block's tile of line k. The second of two passes goes backwards: what the first one
  // read last is still in the cache.
  const auto item = [&](Index k) { return part == WidePart::finish ? items - 1 - k : k; };
  struct Place {
    Index line, tile, element; // of its first row
    int rows;
  };
  const auto place = [&](Index k) {
    Place at;
    at.line       = many ? k : item(k) / tiles;
    at.tile       = many ? block : item(k) % tiles;
    const Index r = at.tile * Tile::rows;
    at.element    = layout.start(at.line) + r;
    const Index n = layout.length - r;
    at.rows       = n < 0 ? 0 : n < Tile::rows ? static_cast<int>(n) : Tile::rows;
    return at;
  };
  const auto after = [&](Index k) { // the next item that is wanted
    while (k < items && !layout.has_colour(many ? k : item(k) / tiles, a.colour)) k += groups;
    return k;
  };
  // Copies whole pieces; what is left at the end is at most piece - 1 elements, which their thread reads itself.
  const auto fetch = [&](const Place &at) {
    const Index begin = at.element / piece * piece, end = (at.element + at.rows) / piece * piece;
    const auto bytes = static_cast<std::uint32_t>((end > begin && at.rows > 0 ? end - begin : 0) * sizeof(Scalar));
    tile.arrival.expect(Tile::arrays * bytes);
    if (bytes == 0) return;
    if constexpr (!alike) {
      bulk_copy(tile.in[0], a.lower + begin, bytes, tile.arrival);
      bulk_copy(tile.in[1], a.diagonal + begin, bytes, tile.arrival);
      bulk_copy(tile.in[2], a.upper + begin, bytes, tile.arrival);
    }
    bulk_copy(tile.in[Tile::arrays - 1], a.rhs + begin, bytes, tile.arrival);
  };

  if (thread == 0) {
    tile.arrival.init();
    share_with_copies();
  }
  __syncthreads();
  Index k = after(group);
  if (thread == 0 && k < items) fetch(place(k));
  ChunkOf<Scalar, R, alike> chunk;
  Doubt<checks, Scalar> doubt;
  if constexpr (alike) {
    const Index r = (many ? block : 0) * Index(Tile::rows) + thread * R;
    doubt.begin(false);
    chunk.factor([&](int j) { return r + j < layout.length ? a.matrix.at(r + j, r + j) : Row<Scalar>{}; }, doubt.look());
  }
  unsigned phase = 0, turn = 1;
  const auto messages = [&](unsigned turn) { return a.exchange.rows + (group * 2 + turn % 2) * blocks * 6; };
  while (k < items) {
    const Place at     = place(k);
    const Index next_k = after(k + groups);
    const int first    = thread * R;
    const int early    = static_cast<int>(at.element % piece);
    tile.arrival.wait(phase);
    phase ^= 1;
    const int copied = static_cast<int>((at.element + at.rows) / piece * piece - at.element);
    if (first + R < at.rows && first + R <= copied) {
#pragma unroll
      for (int j = 0; j < R; j++) {
        if constexpr (!alike) {
          chunk.lower[j]    = tile.in[0][early + first + j];
          chunk.diagonal[j] = tile.in[1][early + first + j];
          chunk.upper[j]    = tile.in[2][early + first + j];
        }
        chunk.rhs[j] = tile.in[Tile::arrays - 1][early + first + j];
      }
    } else {
#pragma unroll
      for (int j = 0; j < R; j++) {
        const int r       = first + j;
        const bool exists = r < at.rows, there = r < copied;
        const Index i  = at.element + r;
        const auto get = [&](int array, const Scalar *from) { return there ? tile.in[array][early + r] : from[i]; };
        if constexpr (!alike) {
          chunk.lower[j]    = exists ? get(0, a.lower) : Scalar(0);
          chunk.diagonal[j] = exists ? get(1, a.diagonal) : Scalar(1);
          chunk.upper[j]    = exists && at.tile * Tile::rows + r + 1 < layout.length ? get(2, a.upper) : Scalar(0);
        }
        chunk.rhs[j] = exists ? get(Tile::arrays - 1, a.rhs) : Scalar(0);
      }
    }
    if (!alike && at.tile == 0 && thread == 0) chunk.lower[0] = 0;
    if (thread == 0) bulk_stored();
    __syncthreads(); // everybody has read: the next tile may come, and the last one has left
    if (thread == 0 && next_k < items) fetch(place(next_k));

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

    if constexpr (!alike) doubt.begin(a.step > 0);
    Hanging<Scalar> mine         = chunk.eliminate(doubt.look());
    const Ends<Scalar> warp_ends = reduce_warp<32, 1>(mine, chunk.head(), 0, doubt.look());
    if (lane == 0) tile.warp_first[warp] = warp_ends.first;
    if (lane == 31) tile.warp_last[warp] = warp_ends.last;
    __syncthreads();
    Hanging<Scalar> row; // warp 0: of the warps
    Scalar g_before = 0, g = 0;
    if (warp == 0) {
      // The warps' rows at the upper lanes.
      constexpr int first_lane   = 32 - Tile::warps;
      const int w                = lane - first_lane;
      row                        = w >= 0 ? tile.warp_last[w] : Hanging<Scalar>{0, -1, 0};
      const Hanging<Scalar> head = w >= 0 ? tile.warp_first[w] : Hanging<Scalar>{0, -1, 0};
      const Ends<Scalar> ends    = reduce_warp<Tile::warps, 1>(row, head, first_lane, doubt.look());
      if constexpr (part == WidePart::reduce) {
        if (lane == 31) {
          const Index t               = at.line * tiles + at.tile;
          a.tile_rows.first_value(t)  = ends.first.value;
          a.tile_rows.first_before(t) = ends.first.before;
          a.tile_rows.first_after(t)  = ends.first.after;
          a.tile_rows.last_value(t)   = ends.last.value;
          a.tile_rows.last_before(t)  = ends.last.before;
          a.tile_rows.last_after(t)   = ends.last.after;
        }
      } else {
        g = __shfl_sync(0xffffffff, ends.last.value, 31);
        if constexpr (many) {
          const Ends<Scalar> both{ends.first, shuffle(ends.last, 31)};
          tell_device(both, messages(turn) + 6 * block, turn, lane);
        }
      }
    }
    if constexpr (many) {
      // Each thread waits for a number of its own, so that all arrive in the time of one. Every block solves for itself: what it need not
      // say costs no time on the way.
      Scalar *rows = tile.blocks;
      for (int n = thread; n < 6 * blocks; n += T) rows[n] = receive(messages(turn) + n, turn);
      __syncthreads();
      if (warp == 0) {
        const auto tell = [&](int t, Scalar x) {
          if (t == block - 1) tile.warp_x[0] = x;
          if (t == block) tile.warp_x[Tile::warps] = x;
        };
        solve_blocks(rows, blocks, doubt.look(), tell);
        __syncwarp();
        g_before = block > 0 ? tile.warp_x[0] : Scalar(0);
        g        = tile.warp_x[Tile::warps];
        __syncwarp(); // before lanes put their own there
      }
    }
    [[maybe_unused]] const bool doubts =
        (!alike || turn == 1) && doubt.raised(); // the pivots of the first line are those of all alike ones
    if constexpr (part != WidePart::reduce) {
      if (warp == 0) {
        const Scalar x = lane == 31 ? g : row.value - row.before * g_before - row.after * g;
        const int w    = lane - (32 - Tile::warps);
        if (w >= 0) tile.warp_x[w + 1] = x;
        if (lane == 0) tile.warp_x[0] = g_before;
      }
      __syncthreads();
      const Scalar before_warp = tile.warp_x[warp], last_of_warp = tile.warp_x[warp + 1];
      const Scalar x  = lane == 31 ? last_of_warp : mine.value - mine.before * before_warp - mine.after * last_of_warp;
      Scalar x_before = __shfl_up_sync(0xffffffff, x, 1);
      if (lane == 0) x_before = before_warp;
      chunk.substitute(x_before, x);
      const bool in_pieces = a.in_pieces && early == 0 && at.rows % piece == 0;
#pragma unroll
      for (int j = 0; j < R; j++) tile.out[first + j] = in_pieces ? a.update.scale * chunk.rhs[j] : chunk.rhs[j];
      if (in_pieces) share_with_copies();
      __syncthreads();
      if (!in_pieces) {
        for (int r = thread; r < at.rows; r += T) put(a.solution[at.element + r], a.update, tile.out[r]);
      } else if (thread == 0 && at.rows > 0) {
        bulk_store(a.solution + at.element, tile.out, static_cast<std::uint32_t>(at.rows * sizeof(Scalar)));
      }
    }
    if constexpr (checks) { // here, where few registers hold anything
      if (doubts) {
        const Place again = place(k);
        look_again<R>(a, tile, again.line, again.tile, again.element, again.rows, blocks);
      }
    }
    k = next_k;
    turn++;
  }
  if (thread == 0) bulk_left(); // shared memory ends with the block
}

} // namespace weft::cuda
