/// mode_lines.hpp on Hopper: a block, or a cluster of blocks, takes 32 bytes of neighbouring modes and all rows, which it reads and writes
/// once. A thread keeps E rows of one mode in registers.
///
/// Both recurrences of a mode are sums with one factor: a thread adds up its rows, what comes to it from the others is found by shuffles
/// within a warp, through shared memory within a block and through distributed shared memory within a cluster, then the rows are gone
/// through again with it.
#pragma once
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "base/cuda/piece.hpp"
#include "bcr/modes/mode_tables.hpp"
#include "line/line_layout.hpp"

namespace weft::poisson::cuda {

using weft::cuda::Piece;

template <class Scalar>
struct ModeArguments {
  ModeTables<Scalar> tables;
  Scalar *values;
  Index stride; ///< from a row to the next
  Index modes;
  int rows;
  ModeBorder<Scalar> border;
  Index columns = 1, apart = 0; ///< right-hand sides, blockIdx.y, and elements from one to the next
};

template <class Scalar>
__device__ inline Scalar power(Scalar base, int exponent)
{
  Scalar result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) result *= base;
  }
  return result;
}

/// Modes side by side in a tile.
template <class Scalar>
inline constexpr int tile_modes = 32 / static_cast<int>(sizeof(Scalar));

/// Adds up the first 2 `kept` numbers of x over the W / d neighbouring lanes that differ in m / d: afterwards x_k is the sum of their
/// elements W / d * k + m / d.
template <int W, int d, int kept, int E, class Scalar>
__device__ inline void scatter_sums(Scalar (&x)[E], int m)
{
  if constexpr (d < W) {
    const bool upper = (m & d) != 0;
#pragma unroll
    for (int e = 0; e < kept; e++) {
      const Scalar low = x[2 * e], high = x[2 * e + 1];
      x[e] = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, upper ? low : high, d);
    }
    scatter_sums<W, 2 * d, kept / 2>(x, m);
  }
}

/// What a tile of modes adds to each of `left_over` rows of a border.
template <int left_over, int W, int E, class Scalar>
__device__ inline void put_border_sums(const ModeBorder<Scalar> &border, Scalar (&x)[E], Index tile, int m, int row, int rows)
{
  constexpr int lanes = W / left_over;
  scatter_sums<W, left_over, E / 2>(x, m);
  Scalar *const to = border.sums + (tile * left_over + (left_over - 1 - m % left_over)) * border.pitch;
#pragma unroll
  for (int k = 0; k < E / lanes; k++) {
    const int i = row + lanes * k + m / left_over;
    if (i < rows) to[i] = x[k];
  }
}

/// T threads of E rows each, C blocks of a cluster, one after the other along the lines. Steps are numbered as in docs/kernels/poisson.md.
template <class Scalar, int E, int T, int C, int blocks, ModePass pass>
__global__ void __launch_bounds__(T, blocks) mode_lines(const ModeArguments<Scalar> a)
{
  constexpr int W = tile_modes<Scalar>, warps = T / 32, in_warp = 32 / W, chunks = T / W;
  constexpr unsigned everyone = 0xffffffffu;
  __shared__ Scalar forward[warps][W], backward[warps][W];
  __shared__ Scalar all_forward[C][W], all_backward[C][W], first_rhs[W], last_rhs[W], last_value[W];
  const int t = threadIdx.x, m = t % W, chunk = t % 32 / W, warp = t / 32;
  const auto cluster = cooperative_groups::this_cluster();
  const int rank     = C == 1 ? 0 : static_cast<int>(cluster.block_rank());
  if constexpr (C > 1) cluster.barrier_arrive();
  // To all blocks of the cluster.
  const auto tell = [&](Scalar *array, Scalar value) {
    if constexpr (C == 1) {
      array[m] = value;
    } else {
#pragma unroll
      for (int c = 0; c < C; c++) cluster.map_shared_rank(array, c)[m] = value;
    }
  };
  // Step 1: rows of a mode, in registers.
  const Index q     = static_cast<Index>(blockIdx.x / C) * W + m;
  const bool exists = q < a.modes;
  const Scalar r = exists ? a.tables.root[q] : Scalar(0), gain = exists ? a.tables.gain[q] : Scalar(0);
  const int row    = (rank * chunks + t / W) * E;
  Scalar *const at = a.values + blockIdx.y * a.apart + row * a.stride + q;
  Scalar x[E];
#pragma unroll
  for (int e = 0; e < E; e++) x[e] = gain != 0 && row + e < a.rows ? at[e * a.stride] : Scalar(0);
  if constexpr (pass == ModePass::with_border) {
    const Scalar into       = exists ? a.border.into[q] : Scalar(0);
    const auto *const known = reinterpret_cast<const Piece<Scalar> *>(a.border.rows + a.border.row_of(q) * a.border.pitch + row);
    constexpr int P         = Piece<Scalar>::size;
#pragma unroll
    for (int e = 0; e < E; e += P) {
      const Piece<Scalar> w = row + e < a.rows ? known[e / P] : Piece<Scalar>{};
#pragma unroll
      for (int p = 0; p < P; p++) x[e + p] -= into * w.values[p]; // 0 behind the last row
    }
  }
  // Step 2: the recurrence downwards, of the chunk, of the chunks of a warp, of warps and blocks.
  Scalar sum = 0;
#pragma unroll
  for (int e = 0; e < E; e++) {
    x[e] *= gain;
    sum = sum * r + x[e];
  }
  Scalar step = r; // r^E, doubled with the distance
#pragma unroll
  for (int e = 1; e < E; e *= 2) step *= step;
  const Scalar of_chunk = step;
  Scalar to_chunk = 1, from_chunk = 1; // r^E to the number of chunks before and after this one in the warp
#pragma unroll
  for (int d = 1; d < in_warp; d *= 2) {
    const Scalar left = __shfl_up_sync(everyone, sum, static_cast<unsigned>(d * W));
    if (chunk >= d) sum += step * left;
    if (chunk & d) to_chunk *= step;
    if ((in_warp - 1 - chunk) & d) from_chunk *= step;
    step *= step;
  }
  const Scalar of_warp = step, of_block = C == 1 ? Scalar(0) : power(of_warp, warps);
  Scalar carry = __shfl_up_sync(everyone, sum, W);
  if (chunk == 0) carry = 0;
  if (chunk == in_warp - 1) forward[warp][m] = sum;
  if constexpr (C > 1) cluster.barrier_wait();
  if (row == 0) tell(first_rhs, x[0]);
  __syncthreads();
  Scalar before = 0;
  if constexpr (C > 1) {
    if (t < W) {
      for (int w = 0; w < warps; w++) before = before * of_warp + forward[w][m];
      tell(all_forward[rank], before);
    }
    cluster.sync();
    before = 0;
    for (int c = 0; c < rank; c++) before = before * of_block + all_forward[c][m];
  }
  for (int w = 0; w < warp; w++) before = before * of_warp + forward[w][m];
  // Step 3: from the true value before the chunk, row by row.
  carry += to_chunk * before;
#pragma unroll
  for (int e = 0; e < E; e++) {
    const Scalar f = x[e];
    carry          = carry * r + f;
    x[e]           = row + e < a.rows ? carry : Scalar(0);
    if (row + e == a.rows - 1) {
      tell(last_rhs, f);
      tell(last_value, carry);
    }
  }

  // Step 4: the same upwards.
  sum = 0;
#pragma unroll
  for (int e = E - 1; e >= 0; e--) sum = sum * r + x[e];
  step = of_chunk;
#pragma unroll
  for (int d = 1; d < in_warp; d *= 2) {
    const Scalar right = __shfl_down_sync(everyone, sum, static_cast<unsigned>(d * W));
    if (chunk + d < in_warp) sum += step * right;
    step *= step;
  }
  carry = __shfl_down_sync(everyone, sum, W);
  if (chunk == in_warp - 1) carry = 0;
  if (chunk == 0) backward[warp][m] = sum;
  __syncthreads();
  Scalar first = 0, after = 0; // g_0, and what comes from the blocks and warps behind
  for (int w = warps - 1; w >= 0; w--) first = first * of_warp + backward[w][m];
  if constexpr (C > 1) {
    if (t < W) tell(all_backward[rank], first);
    cluster.sync();
    first = 0;
    for (int c = C - 1; c >= 0; c--) {
      if (c == rank) after = first;
      first = first * of_block + all_backward[c][m];
    }
  }
  for (int w = warps - 1; w > warp; w--) after = after * of_warp + backward[w][m];
  carry += from_chunk * after;
  // Step 5: what puts both ends of the line right.
  Scalar from_first = 0, from_last = 0; // a r^i, b r^(n-1-i)
  if (exists) {
    const Scalar *const k = a.tables.ends + 8 * q;
    from_first            = k[0] * first + k[1] * first_rhs[m] + k[2] * last_value[m] + k[3] * last_rhs[m];
    from_last             = k[4] * first + k[5] * first_rhs[m] + k[6] * last_value[m] + k[7] * last_rhs[m];
  }
  const int behind = a.rows - 1 - (row + E);
  if (behind >= 0) carry += from_last * power(r, behind);
  from_first *= power(r, row);
  // Step 6: the last recurrence, and what leaves.
#pragma unroll
  for (int e = E - 1; e >= 0; e--) {
    carry = carry * r + x[e];
    if (row + e == a.rows - 1) carry += from_last;
    x[e] = carry;
  }
  if constexpr (pass == ModePass::sums) {
    const Scalar out = exists ? a.border.out[q] : Scalar(0);
#pragma unroll
    for (int e = 0; e < E; e++) {
      x[e] = out * (x[e] + from_first);
      from_first *= r;
    }
    if (a.border.left_over == 1)
      put_border_sums<1, W>(a.border, x, blockIdx.x / C, m, row, a.rows);
    else
      put_border_sums<2, W>(a.border, x, blockIdx.x / C, m, row, a.rows);
    return;
  }
  if (gain == 0) return;
#pragma unroll
  for (int e = 0; e < E; e++) {
    if (row + e < a.rows) at[e * a.stride] = x[e] + from_first;
    from_first *= r;
  }
}

} // namespace weft::poisson::cuda
