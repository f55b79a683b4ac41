/// Sums of shifted line solves on Hopper, for lines of equal rows: fraction_tables.hpp says how. A block takes a group (or a part of its
/// poles) and a whole row of the grid: a thread keeps a chunk of 16 unknowns in registers as sums and differences of mirrored ones, and adds up
/// the solutions of all poles there.
///
/// For a pole a thread makes two numbers of its chunk, a scan by shuffles as far as powers matter and a table of the warps' ends in shared
/// memory tell what comes from either side, and two numbers go back into the chunk: 32 multiplications and additions a pole and chunk, 48
/// with two sources.
#pragma once
#include <cuda_runtime.h>

#include "bcr/shifted/fraction_tables.hpp"
#include "line/line_layout.hpp"

namespace weft::poisson::cuda {

/// Tables of a step as StepTables has them, and those of fraction_tables.hpp.
template <class Scalar>
struct FractionArguments {
  const Index *first_pole, *term_row, *output_row;
  const int *poles, *list, *matrix_of;
  const Scalar *term_factor, *records, *matrices;
  Scalar *solution, *work, *parts;
  Index rows, row_stride; ///< rows of the solution array, those after them are of the work array
  int length, splits;

  __device__ Scalar *row(Index r) const { return r >= rows ? work + (r - rows) * row_stride : solution + r * row_stride; }
};

/// Pairs of numbers, read at once.
template <class Scalar>
struct alignas(2 * sizeof(Scalar)) Two {
  Scalar a, b;
};

/// A chunk's place in shared memory: two numbers of padding.
inline constexpr int chunk_pitch = chunk_rows + 2;
/// Records in shared memory at a time; poles between two barriers.
inline constexpr int page_poles = 8;

template <class Scalar>
constexpr std::size_t fraction_shared(int threads, int sources)
{
  return sizeof(Scalar) * static_cast<std::size_t>(threads * chunk_pitch + page_poles * PoleRecord::size + sources * chunk_matrix);
}

/// Threads of a block at most: rows of 8192.
inline constexpr int fraction_threads = 512;

/// S: sources; tail: FractionTables::tail. Steps are numbered as in docs/kernels/poisson.md.
template <class Scalar, int S, bool tail>
__global__ void __launch_bounds__(fraction_threads) shifted_fractions(const FractionArguments<Scalar> a)
{
  constexpr int E = chunk_rows, H = half_chunk, W = fraction_threads / 32;
  constexpr unsigned everyone = 0xffffffffu;
  extern __shared__ __align__(16) char shared[];
  __shared__ Scalar ends[2][2][W], of_last[2], outer[S][2];
  const int t = threadIdx.x, threads = blockDim.x, lane = t % 32, warp = t / 32;
  auto *const line     = reinterpret_cast<Scalar *>(shared);
  Scalar *const page   = line + threads * chunk_pitch;
  Scalar *const matrix = page + page_poles * PoleRecord::size;
  const Index group    = blockIdx.x / a.splits;
  const int split = static_cast<int>(blockIdx.x - group * a.splits), all = a.poles[group];
  const int begin             = static_cast<int>(static_cast<long long>(all) * split / a.splits),
            end               = static_cast<int>(static_cast<long long>(all) * (split + 1) / a.splits);
  const Scalar *const records = a.records + (a.first_pole[group] + begin) * PoleRecord::size;
  const int *const list       = a.list + group * (S + 1);

  // Step 1: tables into shared memory.
  const auto load_page = [&](int first) {
    const int count = (end - begin - first < page_poles ? end - begin - first : page_poles) * PoleRecord::size;
    for (int i = t; i < page_poles * PoleRecord::size; i += threads)
      page[i] = i < count ? records[first * PoleRecord::size + i] : Scalar(0);
  };
  if (split == 0) {
    const Scalar *const from = a.matrices + static_cast<Index>(a.matrix_of[group]) * S * chunk_matrix;
    for (int i = t; i < S * chunk_matrix; i += threads) matrix[i] = from[i];
  }
  // Step 2: the sources. Rows that are read later are on their way to the cache meanwhile.
  for (int term = list[0] + 2; term < list[S + (a.splits == 1 ? 1 : 0)]; term++) {
    constexpr int in_line   = 128 / static_cast<int>(sizeof(Scalar));
    const Scalar *const row = a.row(a.term_row[term]);
    for (int i = t * in_line; i < a.length; i += threads * in_line) asm volatile("prefetch.global.L2 [%0];" ::"l"(row + i));
  }
  // Sums and differences of a source's rows e and E - 1 - e.
  Scalar sum[S][H], difference[S][H];
#pragma unroll
  for (int s = 0; s < S; s++) {
    Scalar x[E];
#pragma unroll
    for (int e = 0; e < E; e++) x[e] = 0;
    for (int term = list[s]; term < list[s + 1]; term += 2) { // in pairs: twice as many words on their way
      const bool two          = term + 1 < list[s + 1];
      const Scalar *const row = a.row(a.term_row[term]), *const other = a.row(a.term_row[two ? term + 1 : term]);
      const Scalar factor = a.term_factor[term], of_other = two ? a.term_factor[term + 1] : Scalar(0);
#pragma unroll
      for (int e = 0; e < E; e++) {
        const int i = t + threads * e;
        if (i < a.length) x[e] += factor * row[i] + of_other * other[i];
      }
    }
    // Step 3: a chunk for each thread.
    if (s > 0) __syncthreads();
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int i                         = t + threads * e;
      line[i + i / E * (chunk_pitch - E)] = x[e];
    }
    if (s == 0) load_page(0);
    __syncthreads();
    const auto *const chunk = reinterpret_cast<const Two<Scalar> *>(line + t * chunk_pitch);
#pragma unroll
    for (int e = 0; e < H; e += 2) {
      const Two<Scalar> low = chunk[e / 2], high = chunk[(E - 2 - e) / 2];
      sum[s][e]            = low.a + high.b;
      difference[s][e]     = low.a - high.b;
      sum[s][e + 1]        = low.b + high.a;
      difference[s][e + 1] = low.b - high.a;
    }
    if (t < 2) {
      const int i = t == 0 ? 0 : a.length - 1;
      outer[s][t] = line[i + i / E * (chunk_pitch - E)];
    }
  }
  // Step 4: what a chunk gives to itself, for all poles together.
  Scalar to_sum[H], to_difference[H];
#pragma unroll
  for (int e = 0; e < H; e++) to_sum[e] = to_difference[e] = 0;
  if (split == 0) {
#pragma unroll
    for (int s = 0; s < S; s++) {
#pragma unroll
      for (int e = 0; e < H; e++) {
        const auto *const m = reinterpret_cast<const Two<Scalar> *>(matrix + s * chunk_matrix + e * H), *const d = m + H * H / 2;
#pragma unroll
        for (int f = 0; f < H; f += 2) {
          const Two<Scalar> k = m[f / 2], l = d[f / 2];
          to_sum[e] += k.a * sum[s][f];
          to_difference[e] += l.a * difference[s][f];
          to_sum[e] += k.b * sum[s][f + 1];
          to_difference[e] += l.b * difference[s][f + 1];
        }
      }
    }
  }
  // From here on for each pole.
  const int last = (a.length - 1) / E, last_warp = last / 32, last_lane = last % 32, in_last = a.length - last * E;
  for (int p = 0; p < end - begin; p++) {
    const int parity = p % 2;
    if (p > 0 && p % page_poles == 0) {
      __syncthreads();
      load_page(p);
      __syncthreads();
    }
    const Scalar *const record = page + p % page_poles * PoleRecord::size, *const power = record + PoleRecord::powers,
                        *const weight = record + PoleRecord::weights;
    const auto *const q               = reinterpret_cast<const Two<Scalar> *>(record);
    // Step 5: two numbers of the chunk.
    Scalar forward = 0, backward = 0;
    {
      Scalar both = 0, apart = 0;
#pragma unroll
      for (int s = 0; s < S; s++) {
        Scalar of_sums = 0, of_differences = 0;
#pragma unroll
        for (int e = 0; e < H; e += 2) {
          const Two<Scalar> k = q[e / 2], l = q[(H + e) / 2];
          of_sums += k.a * sum[s][e];
          of_differences += l.a * difference[s][e];
          of_sums += k.b * sum[s][e + 1];
          of_differences += l.b * difference[s][e + 1];
        }
        both += weight[s] * of_sums;
        apart += weight[s] * of_differences;
      }
      forward  = Scalar(0.5) * (both + apart);
      backward = Scalar(0.5) * (both - apart);
    }
    // Step 6: their sums over the chunks of the warp.
    const int steps = static_cast<int>(record[PoleRecord::steps]);
#pragma unroll
    for (int k = 0; k < 5; k++) {
      if (k < steps) {
        const int d        = 1 << k;
        const Scalar left  = __shfl_up_sync(everyone, forward, d);
        const Scalar right = __shfl_down_sync(everyone, backward, d);
        if (lane >= d) forward += power[d] * left;
        if (lane + d < 32) backward += power[d] * right;
      }
    }
    Scalar from_left = __shfl_up_sync(everyone, forward, 1), from_right = __shfl_down_sync(everyone, backward, 1);
    if (lane == 0) from_left = 0;
    if (lane == 31) from_right = 0;
    if (lane == 31) ends[parity][0][warp] = forward;
    if (lane == 0) ends[parity][1][warp] = backward;
    // Step 7: the number of the last row.
    if (t == last) {
      if constexpr (tail) {
        const Scalar r = Scalar(0.5) * (record[PoleRecord::sums + 1] - record[PoleRecord::differences + 1]);
        Scalar within  = 0;
#pragma unroll
        for (int e = 0; e < E; e++) {
          Scalar phi = 0;
#pragma unroll
          for (int s = 0; s < S; s++)
            phi += Scalar(0.5) * weight[s] * (e < H ? sum[s][e] + difference[s][e] : sum[s][E - 1 - e] - difference[s][E - 1 - e]);
          if (e < in_last) within = within * r + phi;
        }
        of_last[parity] = within + record[PoleRecord::along_last] * from_left;
      } else {
        of_last[parity] = forward;
      }
    }
    __syncthreads();
    const Scalar *const forwards = ends[parity][0], *const backwards = ends[parity][1];
    const bool far           = record[PoleRecord::far] != 0;
    const Scalar along       = power[32];
    const Scalar across_last = tail ? record[PoleRecord::along_last] * power[last_lane] : power[last_lane + 1]; // rows of the last warp
    // Step 8: what enters at both ends of the row, and at both ends of the warp.
    Scalar enters_first = 0, enters_last = 0, before = 0, after = 0;
    if (far || warp == 0 || warp + 1 >= last_warp) {
      Scalar front = backwards[0], back = last_warp > 0 ? forwards[last_warp - 1] : Scalar(0);
      if (far) {
        front = back = 0;
        for (int w = last_warp; w >= 0; w--) front = front * along + backwards[w];
        for (int w = 0; w < last_warp; w++) back = back * along + forwards[w];
      }
      back               = of_last[parity] + across_last * back;
      Scalar outer_first = 0, outer_last = 0;
#pragma unroll
      for (int s = 0; s < S; s++) {
        outer_first += weight[s] * outer[s][0];
        outer_last += weight[s] * outer[s][1];
      }
      const Scalar *const k = record + PoleRecord::first, *const l = record + PoleRecord::last;
      enters_first = k[0] * front + k[1] * back + k[2] * outer_first + k[3] * outer_last;
      enters_last  = l[0] * front + l[1] * back + l[2] * outer_first + l[3] * outer_last;
    }
    if (far) {
      before = enters_first;
      for (int w = 0; w < warp; w++) before = before * along + forwards[w];
      after = across_last * enters_last + backwards[last_warp];
      for (int w = last_warp - 1; w > warp; w--) after = after * along + backwards[w];
    } else {
      before = warp == 0 ? enters_first : forwards[warp - 1];
      after  = warp < last_warp ? backwards[warp + 1] : Scalar(0);
      if (warp + 1 == last_warp) after += across_last * enters_last;
    }
    Scalar behind = power[31 - lane];
    if (warp == last_warp) {
      after = enters_last;
      if constexpr (tail)
        behind = lane < last_lane ? power[last_lane - 1 - lane] * record[PoleRecord::along_last] : Scalar(0);
      else
        behind = lane <= last_lane ? power[last_lane - lane] : Scalar(0);
    }
    // Step 9: back into the chunk.
    const Scalar left = from_left + power[lane] * before, right = from_right + behind * after;
    const Scalar both = left + right, apart = right - left;
#pragma unroll
    for (int e = 0; e < H; e += 2) {
      const Two<Scalar> k = q[e / 2], l = q[(H + e) / 2];
      to_sum[e] += k.a * both;
      to_difference[e] += l.a * apart;
      to_sum[e + 1] += k.b * both;
      to_difference[e + 1] += l.b * apart;
    }
    if constexpr (tail) {
      if (t == last) {
        const Scalar r = Scalar(0.5) * (record[PoleRecord::sums + 1] - record[PoleRecord::differences + 1]);
        Scalar u       = enters_last;
#pragma unroll
        for (int e = E - 1; e >= 0; e--) {
          if (e < in_last) {
            to_sum[e < H ? e : E - 1 - e] += u;
            to_difference[e < H ? e : E - 1 - e] += e < H ? u : -u;
            u *= r;
          }
        }
      }
    }
  }
  // Step 10: unknowns from sums and differences, in the order of the row.
  __syncthreads();
  auto *const chunk = reinterpret_cast<Two<Scalar> *>(line + t * chunk_pitch);
#pragma unroll
  for (int e = 0; e < H; e += 2) {
    const Scalar half      = Scalar(0.5);
    chunk[e / 2]           = {half * (to_sum[e] + to_difference[e]), half * (to_sum[e + 1] + to_difference[e + 1])};
    chunk[(E - 2 - e) / 2] = {half * (to_sum[e + 1] - to_difference[e + 1]), half * (to_sum[e] - to_difference[e])};
  }
  __syncthreads();
  // Step 11: a part of the poles, or kept rows and the output.
  if (a.splits > 1) {
    Scalar *const part = a.parts + static_cast<Index>(blockIdx.x) * a.length;
    for (int i = t; i < a.length; i += threads) part[i] = line[i + i / E * (chunk_pitch - E)];
    return;
  }
  Scalar x[E];
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int i = t + threads * e;
    x[e]        = line[i + i / E * (chunk_pitch - E)];
  }
  for (int term = list[S]; term < list[S + 1]; term++) {
    const Scalar *const row = a.row(a.term_row[term]);
    const Scalar factor     = a.term_factor[term];
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int i = t + threads * e;
      if (i < a.length) x[e] += factor * row[i];
    }
  }
  Scalar *const to = a.row(a.output_row[group]);
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int i = t + threads * e;
    if (i < a.length) to[i] = x[e];
  }
}

} // namespace weft::poisson::cuda
