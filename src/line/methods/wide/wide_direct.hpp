/// The native CUDA form of wide.hpp for lines of few rows that follow each other: a block of one to sixteen warps a line, read straight into
/// registers and written straight from them. As many blocks are under way at once as leave memory no pause, so nothing is fetched ahead.
///
/// Words moved per row: 5.
#pragma once
#include "base/cuda/piece.hpp"
#include "line/methods/wide/wide_tile.hpp"

namespace weft::cuda {

/// R elements in pieces that nobody else reads, past the cache.
template <int R, class Scalar>
__device__ void read_pieces(Scalar (&to)[R], const Scalar *from)
{
  constexpr int size = Piece<Scalar>::size;
#pragma unroll
  for (int k = 0; k < R / size; k++) {
    const float4 bits = __ldcs(reinterpret_cast<const float4 *>(from) + k);
    const auto piece  = __builtin_bit_cast(Piece<Scalar>, bits);
#pragma unroll
    for (int j = 0; j < size; j++) to[size * k + j] = piece.values[j];
  }
}
/// R elements of each thread of a warp, those of the next one behind them. Neighbouring threads exchange pieces, so that both write to the
/// same 32 bytes.
template <int R, class Scalar>
__device__ void write_pieces(Scalar *to, const Scalar (&x)[R], RealOf<Scalar> scale)
{
  constexpr int size = Piece<Scalar>::size, pieces = R / size;
  static_assert(pieces % 2 == 0);
  const bool odd     = threadIdx.x % 2;
  float4 *const pair = reinterpret_cast<float4 *>(odd ? to - R : to) + (odd ? 1 : 0);
#pragma unroll
  for (int k = 0; k < pieces; k += 2) {
    Piece<Scalar> mine[2], given;
#pragma unroll
    for (int j = 0; j < size; j++) {
      mine[0].values[j] = scale * x[size * k + j];
      mine[1].values[j] = scale * x[size * (k + 1) + j];
      given.values[j]   = number_across(odd ? mine[0].values[j] : mine[1].values[j], 1);
    }
    __stcs(pair + k, __builtin_bit_cast(float4, odd ? given : mine[0]));
    __stcs(pair + pieces + k, __builtin_bit_cast(float4, odd ? mine[1] : given));
  }
}

/// The unknowns of a line, in chunk.rhs, by a block of W warps whose threads have a chunk of it each. True where a warp's pivots are in doubt.
template <class Scalar, int R, int W, bool checks>
__device__ __forceinline__ bool solve_directly(Chunk<Scalar, R> &chunk, WarpRows<Scalar, W> &of_warps, Doubt<checks, Scalar> &doubt)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Hanging<Scalar> mine   = chunk.eliminate(doubt.look());
  const Ends<Scalar> own = reduce_warp<32, 1>(mine, chunk.head(), 0, doubt.look());
  Scalar before_warp = 0, last_of_warp = number_of(own.last.value, 31);
  if constexpr (W > 1) {
    if (lane == 0) of_warps.first[warp] = own.first;
    if (lane == 31) of_warps.last[warp] = own.last;
    __syncthreads();
    Hanging<Scalar> row;
    const Ends<Scalar> all = join_warps(of_warps, 0, row, doubt.look()); // each warp for itself
    const Scalar end = number_of(all.last.value, 31), last = lane == 31 ? end : row.value - row.after * end;
    before_warp  = number_of(last, 31 - W + warp);
    last_of_warp = number_of(last, 32 - W + warp);
    if (warp == 0) before_warp = 0;
  }
  const bool doubts = doubt.raised();
  const Scalar x    = lane == 31 ? last_of_warp : mine.value - mine.before * before_warp - mine.after * last_of_warp;
  Scalar x_before   = number_before(x, 1);
  if (lane == 0) x_before = before_warp;
  chunk.substitute(x_before, x);
  return doubts;
}

/// A warp's pivots once more and one by one. at: the block's rows, from the first thread's on.
template <int R, class Scalar, int W>
__device__ __forceinline__ void look_directly(const NativeArguments<Scalar> &a, const TilePlace &at, const WarpRows<Scalar, W> &of_warps)
{
  look_again<R, false>(a, at, static_cast<int>(threadIdx.x) * R);
  if (W > 1 && threadIdx.x < 32) look_at_warps(a, of_warps, 0, at);
}

/// A block a line, of W warps whose threads have R rows each; lines begin at multiples of 16 bytes.
template <class Scalar, int R, int W, int at_least, bool checks>
__global__ void __launch_bounds__(32 * W, at_least) native_wide_direct(const __grid_constant__ NativeArguments<Scalar> a)
{
  const LineLayout &layout = a.layout;
  const Index line         = blockIdx.x;
  if (!layout.has_colour(line, a.colour)) return;
  const int first   = static_cast<int>(threadIdx.x) * R;
  const int exist   = static_cast<int>(layout.length) - first;
  const Index begin = layout.start(line) + first;

  Chunk<Scalar, R> chunk;
  if (exist >= R) {
    read_pieces(chunk.lower, a.lower + begin);
    read_pieces(chunk.diagonal, a.diagonal + begin);
    read_pieces(chunk.upper, a.upper + begin);
    read_pieces(chunk.rhs, a.rhs + begin);
    if (exist == R) chunk.upper[R - 1] = 0;
  } else {
#pragma unroll
    for (int j = 0; j < R; j++) {
      const bool exists = j < exist;
      chunk.lower[j]    = exists ? a.lower[begin + j] : Scalar(0);
      chunk.diagonal[j] = exists ? a.diagonal[begin + j] : Scalar(1);
      chunk.upper[j]    = exists && j != exist - 1 ? a.upper[begin + j] : Scalar(0);
      chunk.rhs[j]      = exists ? a.rhs[begin + j] : Scalar(0);
    }
  }
  if (first == 0) chunk.lower[0] = 0;

  Doubt<checks, Scalar> doubt;
  doubt.begin(a.step > 0);
  __shared__ WarpRows<Scalar, W> of_warps;
  const bool doubts = solve_directly(chunk, of_warps, doubt);

  if (a.in_pieces && __all_sync(0xffffffff, exist >= R)) {
    write_pieces(a.solution + begin, chunk.rhs, a.update.scale);
  } else {
#pragma unroll
    for (int j = 0; j < R; j++) {
      if (j < exist) put(a.solution[begin + j], a.update, chunk.rhs[j]);
    }
  }
  if constexpr (checks) {
    if (doubts) look_directly<R>(a, TilePlace(layout, line, 0, 32 * W * R), of_warps);
  }
}

} // namespace weft::cuda
