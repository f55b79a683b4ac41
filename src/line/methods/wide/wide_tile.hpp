/// A tile of a line whose rows follow each other in memory, for the native kernels of wide.hpp: how it comes to shared memory and from
/// there to the threads, and a second look at its pivots.
#pragma once
#include "base/cuda/piece.hpp"
#include "line/methods/wide/wide_messages.hpp"

namespace weft::cuda {

template <class Scalar>
struct NativeArguments {
  const Scalar *lower, *diagonal, *upper, *rhs;
  Scalar *solution;
  Tridiagonal<Scalar, Kokkos::Cuda> matrix; ///< the same coefficients, where all lines have the same
  LineLayout layout;                        ///< of rows that follow each other: stride 1
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

/// Rows of a line that a block works on.
struct TilePlace {
  Index line, tile;
  Index row, element; ///< the tile's first row, in its line and in memory
  int rows;

  __device__ TilePlace(const LineLayout &layout, Index line_, Index tile_, int tile_rows)
      : line(line_), tile(tile_), row(tile_ * tile_rows), element(layout.start(line_) + row)
  {
    const Index n = layout.length - row;
    rows          = n < 0 ? 0 : n < tile_rows ? static_cast<int>(n) : tile_rows;
  }
  /// True if a bulk copy can store it: pieces are of so many elements.
  __device__ bool goes_in_pieces(int piece) const { return element % piece == 0 && rows % piece == 0; }
};

/// A tile's words begin their way to arrays of `space` elements one after the other (rhs the last one), in whole pieces of 16 bytes: up to
/// a piece less one element early, and without what is left at the end.
template <bool alike, class Scalar>
__device__ void fetch_tile(const NativeArguments<Scalar> &a, const TilePlace &at, Scalar *in, int space, Arrival &arrival)
{
  constexpr int piece = 16 / sizeof(Scalar), arrays = alike ? 1 : 4;
  const Index begin = at.element / piece * piece, end = (at.element + at.rows) / piece * piece;
  const auto bytes = static_cast<std::uint32_t>((end > begin && at.rows > 0 ? end - begin : 0) * sizeof(Scalar));
  arrival.expect(arrays * bytes);
  if (bytes == 0) return;
  if constexpr (!alike) {
    bulk_copy(in, a.lower + begin, bytes, arrival);
    bulk_copy(in + space, a.diagonal + begin, bytes, arrival);
    bulk_copy(in + 2 * space, a.upper + begin, bytes, arrival);
  }
  bulk_copy(in + (arrays - 1) * space, a.rhs + begin, bytes, arrival);
}

/// This thread's rows of it, from number `first` of the tile on; rows that there are not are those of the identity, with 0 as right-hand
/// side.
template <int R, bool alike, class Scalar>
__device__ void read_chunk(ChunkOf<Scalar, R, alike> &chunk, const NativeArguments<Scalar> &a, const TilePlace &at, int first,
                           const Scalar *in, int space)
{
  constexpr int piece = 16 / sizeof(Scalar), arrays = alike ? 1 : 4;
  const int copied = static_cast<int>((at.element + at.rows) / piece * piece - at.element);
  const int exist = at.rows - first, there = copied - first; // rows of this thread
  const Scalar *word = in + static_cast<int>(at.element % piece) + first;
  if (exist > R && there >= R) {
#pragma unroll
    for (int j = 0; j < R; j++) {
      if constexpr (!alike) {
        chunk.lower[j]    = read_whole(word + j);
        chunk.diagonal[j] = read_whole(word + space + j);
        chunk.upper[j]    = read_whole(word + 2 * space + j);
      }
      chunk.rhs[j] = read_whole(word + (arrays - 1) * space + j);
    }
  } else {
    const Index i      = at.element + first;
    const bool is_last = at.row + at.rows == a.layout.length; // of its line
    const auto get     = [&](int array, const Scalar *from, int j) { return j < there ? word[array * space + j] : from[i + j]; };
#pragma unroll
    for (int j = 0; j < R; j++) {
      const bool exists = j < exist;
      if constexpr (!alike) {
        chunk.lower[j]    = exists ? get(0, a.lower, j) : Scalar(0);
        chunk.diagonal[j] = exists ? get(1, a.diagonal, j) : Scalar(1);
        chunk.upper[j]    = exists && !(is_last && j == exist - 1) ? get(2, a.upper, j) : Scalar(0);
      }
      chunk.rhs[j] = exists ? get(arrays - 1, a.rhs, j) : Scalar(0);
    }
  }
  if (!alike && at.row == 0 && first == 0) chunk.lower[0] = 0;
}

/// Rows of a tile's warps: the first and the last unknown of each, as they hang on their neighbours.
template <class Scalar, int warps>
struct WarpRows {
  Hanging<Scalar> first[warps], last[warps];
};

/// The line that the warps' rows form from warp number `begin` on, by the lanes of one warp, the warps at the upper ones: `row` becomes
/// what the last unknown of a lane's warp hangs on, the one before the block and the block's last one. The result's `last` is valid in lane
/// 31.
template <int warps, class Scalar, class Check>
__device__ Ends<Scalar> join_warps(const WarpRows<Scalar, warps> &of_warps, int begin, Hanging<Scalar> &row, const Check &check)
{
  constexpr int first_lane = 32 - warps;
  const int w              = static_cast<int>(threadIdx.x) % 32 - first_lane;
  const Hanging<Scalar> none{0, -1, 0};
  row = w >= begin ? of_warps.last[w] : none;
  return reduce_warp<warps, 1>(row, w >= begin ? of_warps.first[w] : none, first_lane + begin, check);
}
/// What follows for the warps' last unknowns, x[1] and so on, from the one before the block, x[0], and the block's last one.
template <class Scalar>
__device__ void find_warps(const Hanging<Scalar> &row, Scalar before_block, Scalar last_of_block, Scalar *x, int warps)
{
  const int lane = static_cast<int>(threadIdx.x) % 32, w = lane - (32 - warps);
  if (w >= 0) x[w + 1] = lane == 31 ? last_of_block : row.value - row.before * before_block - row.after * last_of_block;
  if (lane == 0) x[0] = before_block;
}

/// The unknowns go from shared memory to where they belong: by one copy, where the tile goes in pieces and they are scaled, or by T
/// threads.
template <int T, class Scalar>
__device__ void store_tile(const NativeArguments<Scalar> &a, const TilePlace &at, const Scalar *out, bool in_pieces)
{
  if (!in_pieces) {
    for (int r = static_cast<int>(threadIdx.x); r < at.rows; r += T) put(a.solution[at.element + r], a.update, out[r]);
  } else if (threadIdx.x == 0 && at.rows > 0) {
    bulk_store(a.solution + at.element, out, static_cast<std::uint32_t>(at.rows * sizeof(Scalar)));
  }
}

/// The unknowns that T threads hold in their chunks, by way of shared memory. `first`: the tile's row that a thread's begin with.
template <int T, int R, class Scalar>
__device__ void store_chunks(const NativeArguments<Scalar> &a, const TilePlace &at, const Chunk<Scalar, R> &chunk, int first, Scalar *out)
{
  const bool in_pieces = a.in_pieces && at.goes_in_pieces(16 / sizeof(Scalar));
#pragma unroll
  for (int j = 0; j < R; j++) write_whole(out + first + j, in_pieces ? a.update.scale * chunk.rhs[j] : chunk.rhs[j]);
  if (in_pieces) share_with_copies();
  __syncthreads();
  store_tile<T>(a, at, out, in_pieces);
}

/// Eliminates a warp's rows once more and reports the first unusable pivot. first: of this thread in the tile, below 0 if it has none.
template <int R, bool alike, class Scalar>
__device__ __noinline__ void look_again(const NativeArguments<Scalar> &a, const TilePlace &at, int first)
{
  Chunk<Scalar, R> chunk;
  for (int j = 0; j < R; j++) {
    const Index r = at.row + first + j, i = at.element + first + j;
    const bool exists     = first >= 0 && first + j < at.rows;
    const Row<Scalar> row = !exists ? Row<Scalar>{} : alike ? a.matrix.at(r, r) : Row<Scalar>{a.lower[i], a.diagonal[i], a.upper[i]};
    chunk.lower[j]        = exists && r > 0 ? row.lower : Scalar(0);
    chunk.diagonal[j]     = exists ? row.diagonal : Scalar(1);
    chunk.upper[j]        = exists && r + 1 < a.layout.length ? row.upper : Scalar(0);
    chunk.rhs[j]          = 0;
  }
  Watch<true> watch;
  const RealOf<Scalar> joined_scale = a.step > 0 ? 1 : 0;
  const Hanging<Scalar> none{0, -1, 0};
  Hanging<Scalar> mine =
      chunk.eliminate([&](Scalar pivot, Scalar, RealOf<Scalar> scale, int j) { watch.look(pivot, joined_scale + scale, 0, first + j); });
  Hanging<Scalar> head = chunk.head();
  if (first < 0) mine = head = none;
  reduce_warp<32, 1>(mine, head, 0, watch.at(first + R - 1));
  watch.report(a, at.line, at.row);
}
/// The same for the line of a tile's warps.
template <int warps, class Scalar>
__device__ __noinline__ void look_at_warps(const NativeArguments<Scalar> &a, const WarpRows<Scalar, warps> &of_warps, int begin,
                                           const TilePlace &at)
{
  Watch<true> watch;
  Hanging<Scalar> row;
  join_warps(of_warps, begin, row, watch.at(at.rows - 1));
  watch.report(a, at.line, at.row);
}

} // namespace weft::cuda
