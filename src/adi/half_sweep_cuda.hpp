/// Half-sweeps of alternating directions over lines of few patterns (line_patterns.hpp) in one pass, natively on CUDA, sm_90:
///   u = (H + s)^-1 g,   then g <- b - g + (s + s') u for the half-sweep that follows, or x = u after the last one.
///
/// Each thread has a chunk of R rows: its part of g in shared memory, its factors, which many threads share, from the nearest cache. It
/// eliminates twice, before and after the chunks are joined, since the values in between would not fit in registers with that. The chunks
/// are joined as in wide_cuda.hpp, by the lanes of a warp, the warps of a block, and the blocks of a cluster. Nothing is copied ahead: more
/// blocks than one share a multiprocessor, and some load while others join.
///
/// Lines whose rows follow each other: a block a line, whose g is turned in shared memory so that device memory is read in order. Lines side by
/// side: a block has W of them, 128 bytes of every row, and a cluster of blocks the longer ones.
///
/// Words moved per row: 3 (g, b, g), after the last half-sweep 2.
#pragma once
#include "adi/line_patterns.hpp"
#include "base/native_forms.hpp"
#include "line/methods/wide/wide_launch.hpp"

namespace weft::cuda {

template <class Scalar>
struct HalfSweep {
  const Scalar *g = nullptr, *b = nullptr; ///< b: null in the last half-sweep
  Scalar *result    = nullptr;             ///< may be g
  double *change    = nullptr;             ///< takes the largest |result - what was there|, or null
  Scalar reflection = 0;                   ///< s + s'
  LineLayout layout;
  const std::int32_t *patterns     = nullptr; ///< of the chunks: line after line, or side by side as the lines are
  const PatternRow<Scalar> *rows   = nullptr;
  const PatternHead<Scalar> *heads = nullptr;
  const std::uint32_t *fixed       = nullptr;
  int chunks                       = 0; ///< of a line
  int blocks                       = 1; ///< that share a line
  int *unusable                    = nullptr;

  /// Of the row after: fixed rows start from b each time.
  __device__ Scalar reflect(Scalar u, Scalar g_here, bool is_fixed) const { return is_fixed ? Scalar(0) : reflection * u - g_here; }
};

/// Of two magnitudes, as numbers or infinity.
__device__ inline double largest_change(double largest, double change)
{
  const double size = fabs(change);
  return size <= largest ? largest : isnan(size) ? Kokkos::Experimental::infinity_v<double> : size;
}
/// From the threads of a warp; magnitudes are in the order of their bits.
__device__ inline void put_change(double *change, double mine)
{
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const double other = __shfl_xor_sync(0xffffffff, mine, distance);
    mine               = other > mine ? other : mine;
  }
  if (threadIdx.x % 32 == 0)
    atomicMax(reinterpret_cast<unsigned long long *>(change), static_cast<unsigned long long>(__double_as_longlong(mine)));
}

__device__ inline void prefetch(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/// What is read once, past the nearest cache, where the factors are. Not before what is written above it.
__device__ inline double load_once(const double *p)
{
  double x;
  asm volatile("ld.global.L1::no_allocate.f64 %0, [%1];" : "=d"(x) : "l"(p) : "memory");
  return x;
}
__device__ inline float load_once(const float *p)
{
  float x;
  asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
  return x;
}
/// Keeps the compiler from loading later rows' factors before these are used: all at once take too many registers.
__device__ inline void in_turn(int j)
{
  if (j % 4 == 0) asm volatile("" ::: "memory");
}

/// A thread's rows: g, then values, then unknowns.
template <class Scalar>
struct PatternChunk {
  static constexpr int R = pattern_rows<Scalar>;
  Scalar value[R];

  __device__ void eliminate(const PatternRow<Scalar> *rows)
  {
    value[0] *= rows[0].inverse;
#pragma unroll
    for (int j = 1; j < R; j++) {
      value[j] = rows[j].inverse * value[j] - rows[j].lower * value[j - 1];
      in_turn(j);
    }
  }
  __device__ Hanging<Scalar> last(const PatternRow<Scalar> *rows) const
  {
    return {value[R - 1], rows[R - 1].before, rows[R - 1].after};
  }
  __device__ Hanging<Scalar> first(const PatternRow<Scalar> *rows, const PatternHead<Scalar> &head) const
  {
    Scalar h = 0;
#pragma unroll
    for (int j = R - 2; j >= 0; j--) {
      h = value[j] - rows[j].after * h;
      in_turn(j);
    }
    return {h, head.before, head.after};
  }
  __device__ void substitute(const PatternRow<Scalar> *rows, Scalar x_before, Scalar x_last)
  {
    value[R - 1] = x_last;
#pragma unroll
    for (int j = R - 2; j >= 0; j--) {
      value[j] = value[j] - rows[j].before * x_before - rows[j].after * value[j + 1];
      in_turn(j);
    }
  }
};

/// Notes unusable pivots of joined rows.
template <bool checks>
struct JoinCheck {
  int *unusable;
  template <class Scalar>
  __device__ void operator()(Scalar pivot, Scalar, Scalar scale, int) const
  {
    if (checks && !usable_pivot(pivot, scale)) *unusable = 1;
  }
};

// -------------------------------------------------------------------------------------------------------- rows that follow each other

/// Where shared memory has row r: chunks lie 16 bytes apart, so that threads meet no bank conflict where each reads its own.
template <class Scalar>
WEFT_INLINE int turned_place(int r)
{
  return r + r / pattern_rows<Scalar> * static_cast<int>(16 / sizeof(Scalar));
}

template <class Scalar, int T, bool checks>
__global__ void __launch_bounds__(T, T >= 512 ? 1024 / T : 768 / T) contiguous_half_sweep(const HalfSweep<Scalar> a)
{
  constexpr int R = pattern_rows<Scalar>, warps = T / 32, piece = 16 / sizeof(Scalar);
  extern __shared__ __align__(128) char shared[];
  __shared__ Hanging<Scalar> warp_first[warps], warp_last[warps];
  __shared__ Scalar warp_x[warps + 1];
  Scalar *const tile = reinterpret_cast<Scalar *>(shared);
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, length = static_cast<int>(a.layout.length);
  const Index line = blockIdx.x, start = a.layout.start(line);
  const JoinCheck<checks> check{a.unusable};

  PatternChunk<Scalar> chunk;
  const int left = length - thread; // rows from here on
  {
    const Scalar *from = a.g + start + thread;
#pragma unroll
    for (int j = 0; j < R; j++) chunk.value[j] = j * T < left ? load_once(from + j * T) : Scalar(0);
  }
  const int pattern = thread < a.chunks ? a.patterns[line * a.chunks + thread] : -1;
  if (a.b && pattern >= 0) prefetch(a.b + start + thread * R);
#pragma unroll
  for (int j = 0; j < R; j++) tile[turned_place<Scalar>(j * T + thread)] = chunk.value[j];
  __syncthreads();
  Scalar *const own = tile + turned_place<Scalar>(thread * R);
  load_aligned(own, chunk.value);

  const PatternRow<Scalar> *const rows = a.rows + Index(pattern < 0 ? 0 : pattern) * R;
  Hanging<Scalar> mine{0, 0, 0}, head{0, 0, 0};
  if (pattern >= 0) {
    chunk.eliminate(rows);
    mine = chunk.last(rows);
    head = chunk.first(rows, a.heads[pattern]);
  }
  const Ends<Scalar> ends = reduce_warp<32, 1>(mine, head, 0, check);
  Scalar before_warp = 0, last_of_warp = __shfl_sync(0xffffffff, ends.last.value, 31);
  if constexpr (warps > 1) {
    if (lane == 0) warp_first[warp] = ends.first;
    if (lane == 31) warp_last[warp] = ends.last;
    __syncthreads();
    if (warp == 0) {
      // The warps' rows at the upper lanes.
      constexpr int first_lane = 32 - warps;
      const int w              = lane - first_lane;
      Hanging<Scalar> row = w >= 0 ? warp_last[w] : Hanging<Scalar>{0, -1, 0}, top = w >= 0 ? warp_first[w] : row;
      const Ends<Scalar> both = reduce_warp<warps, 1>(row, top, first_lane, check);
      const Scalar end        = __shfl_sync(0xffffffff, both.last.value, 31);
      if (w >= 0) warp_x[w + 1] = lane == 31 ? end : row.value - row.after * end;
      if (lane == 0) warp_x[0] = 0;
    }
    __syncthreads();
    before_warp  = warp_x[warp];
    last_of_warp = warp_x[warp + 1];
  }
  const Scalar x  = lane == 31 ? last_of_warp : mine.value - mine.before * before_warp - mine.after * last_of_warp;
  Scalar x_before = __shfl_up_sync(0xffffffff, x, 1);
  if (lane == 0) x_before = before_warp;
  if (pattern >= 0) {
    load_aligned(own, chunk.value);
    chunk.eliminate(rows);
    chunk.substitute(rows, x_before, x);
    const std::uint32_t fixed = a.fixed[pattern];
#pragma unroll
    for (int j = 0; j < R; j += piece) {
      Scalar g[piece], next[piece];
      load_aligned(own + j, g);
#pragma unroll
      for (int i = 0; i < piece; i++) next[i] = a.b ? a.reflect(chunk.value[j + i], g[i], fixed >> (j + i) & 1) : chunk.value[j + i];
      store_aligned(next, own + j);
    }
  }
  __syncthreads();
  double change         = 0;
  const Scalar *from    = a.b + start + thread;
  Scalar *to            = a.result + start + thread;
  constexpr int at_once = 8;
#pragma unroll
  for (int first = 0; first < R; first += at_once) {
    Scalar b[at_once];
#pragma unroll
    for (int j = 0; j < at_once; j++) b[j] = a.b && (first + j) * T < left ? load_once(from + (first + j) * T) : Scalar(0);
#pragma unroll
    for (int j = 0; j < at_once; j++) {
      if ((first + j) * T >= left) continue;
      const Scalar result = b[j] + tile[turned_place<Scalar>((first + j) * T + thread)];
      if (a.change) change = largest_change(change, static_cast<double>(result - to[(first + j) * T]));
      to[(first + j) * T] = result;
    }
    in_turn(0);
  }
  if (a.change) put_change(a.change, change);
}

// -------------------------------------------------------------------------------------------------------------- lines side by side

/// What a block keeps in shared memory.
template <class Scalar, int T, bool cluster>
struct SideTile {
  static constexpr int W = strided_lines<Scalar>, chunks = T / W, lines_of_warp = 32 / chunks, pitch = chunks + 1;
  static_assert(chunks <= 32 && T / 32 * lines_of_warp == W);

  Scalar g[pattern_rows<Scalar>][T];
  Scalar ends[6][W * pitch];                               ///< of the chunks: last row, first row; one line after another
  Scalar x[W * pitch];                                     ///< last unknown before the block, then of each chunk
  Scalar of_blocks[cluster ? W * most_of_cluster * 6 : 1]; ///< rows of the cluster's blocks, by line
};

/// As tell_cluster, for blocks that meet once: they wait for each other at the cluster's barrier.
template <int lanes, class Scalar>
__device__ void tell_cluster_once(const Ends<Scalar> &ends, Scalar *rows, int blocks, int block)
{
  share_out<lanes>(ends, rows, blocks, block,
                   [](int) { return [](std::uint32_t address, Scalar number) { store_in_block(address, number); }; });
  cluster_arrive();
  cluster_wait();
}

template <class Scalar, int T, bool cluster, bool checks>
__global__ void __launch_bounds__(T, 1024 / T) side_by_side_half_sweep(const HalfSweep<Scalar> a)
{
  using Tile      = SideTile<Scalar, T, cluster>;
  constexpr int R = pattern_rows<Scalar>, W = Tile::W;
  extern __shared__ __align__(128) char shared[];
  Tile &tile               = *reinterpret_cast<Tile *>(shared);
  const LineLayout &layout = a.layout;
  const int blocks = cluster ? a.blocks : 1, block = cluster ? static_cast<int>(blockIdx.x % blocks) : 0;
  const int thread = threadIdx.x, w = thread % W, chunk_here = thread / W;
  const Index bundle = blockIdx.x / blocks, bundles_across = (layout.across[0] + W - 1) / W, plane = bundle / bundles_across;
  const Index across = (bundle - plane * bundles_across) * W + w;
  const int number = block * Tile::chunks + chunk_here, begin = number * R;                         // of the chunk in its line
  const int left         = across < layout.across[0] ? static_cast<int>(layout.length) - begin : 0; // rows from here on
  const Index at         = across + plane * layout.across_stride[1] + begin * layout.stride;
  const int joined_line  = thread / 32 * Tile::lines_of_warp + thread % Tile::lines_of_warp;
  const int joined_chunk = thread % 32 / Tile::lines_of_warp;
  const JoinCheck<checks> check{a.unusable};
  if constexpr (cluster) cluster_arrive(); // nobody writes to a block that is not there yet

  PatternChunk<Scalar> chunk;
  const Scalar *from = a.g + at;
#pragma unroll
  for (int j = 0; j < R; j++, from += layout.stride) {
    chunk.value[j] = j < left ? load_once(from) : Scalar(0);
    in_turn(j);
  }
  int pattern = -1;
  if (left > 0) pattern = a.patterns[Index(number) * layout.count() + across + plane * layout.across[0]];
  static_assert(W <= R);
  if (a.b && w < left) prefetch(a.b + at - w + w * layout.stride); // a row of all lines by each thread
  const PatternRow<Scalar> *const rows = a.rows + Index(pattern < 0 ? 0 : pattern) * R;
  Hanging<Scalar> mine{0, 0, 0}, head{0, 0, 0};
  if (pattern >= 0) {
#pragma unroll
    for (int j = 0; j < R; j++) tile.g[j][thread] = chunk.value[j];
    chunk.eliminate(rows);
    mine = chunk.last(rows);
    head = chunk.first(rows, a.heads[pattern]);
  }
  const Scalar numbers[6] = {mine.value, mine.before, mine.after, head.value, head.before, head.after};
#pragma unroll
  for (int n = 0; n < 6; n++) tile.ends[n][w * Tile::pitch + chunk_here] = numbers[n];
  __syncthreads();
  const int joined    = joined_line * Tile::pitch + joined_chunk;
  Hanging<Scalar> row = {tile.ends[0][joined], tile.ends[1][joined], tile.ends[2][joined]};
  const Hanging<Scalar> top{tile.ends[3][joined], tile.ends[4][joined], tile.ends[5][joined]};
  Ends<Scalar> ends = reduce_warp<Tile::chunks, Tile::lines_of_warp>(row, top, 0, check);
  ends.last         = shuffle(ends.last, 32 - Tile::lines_of_warp + thread % Tile::lines_of_warp);
  Scalar g_before = 0, g = ends.last.value;
  if constexpr (cluster) {
    Scalar *rows_of_blocks = tile.of_blocks + joined_line * most_of_cluster * 6;
    cluster_wait();
    tell_cluster_once<Tile::chunks>(ends, rows_of_blocks, blocks, block);
    solve_cluster<Tile::chunks>(rows_of_blocks, blocks, block, check, g_before, g);
  }
  Scalar *x           = tile.x + joined_line * Tile::pitch;
  x[joined_chunk + 1] = joined_chunk == Tile::chunks - 1 ? g : row.value - row.before * g_before - row.after * g;
  if (joined_chunk == 0) x[0] = g_before;
  __syncthreads();

  if (pattern >= 0) {
    x = tile.x + w * Tile::pitch + chunk_here;
#pragma unroll
    for (int j = 0; j < R; j++) chunk.value[j] = tile.g[j][thread];
    chunk.eliminate(rows);
    chunk.substitute(rows, x[0], x[1]);
    const std::uint32_t fixed = a.fixed[pattern];
#pragma unroll
    for (int j = 0; j < R; j++) tile.g[j][thread] = a.b ? a.reflect(chunk.value[j], tile.g[j][thread], fixed >> j & 1) : chunk.value[j];
  }
  __syncthreads(); // so that no register waits for b any earlier
  double change         = 0;
  Scalar *to            = a.result + at;
  constexpr int at_once = 8;
  from                  = a.b + at;
#pragma unroll
  for (int first = 0; first < R; first += at_once) {
    Scalar b[at_once];
#pragma unroll
    for (int j = 0; j < at_once; j++, from += layout.stride) b[j] = a.b && first + j < left ? load_once(from) : Scalar(0);
#pragma unroll
    for (int j = 0; j < at_once; j++, to += layout.stride) {
      if (first + j >= left) continue;
      const Scalar result = b[j] + tile.g[first + j][thread];
      if (a.change) change = largest_change(change, static_cast<double>(result - *to));
      *to = result;
    }
  }
  if (a.change) put_change(a.change, change);
}

// -------------------------------------------------------------------------------------------------------------------------- launches

/// How lines of one direction are dealt out; 0 threads where they cannot be.
struct HalfSweepShape {
  bool side_by_side = false;
  int threads = 0, blocks = 1, chunks = 0;
};

template <class Scalar, int T, bool checks>
NativeLaunch<Scalar> contiguous_launch()
{
  static const auto launch = launch_of<Scalar>(contiguous_half_sweep<Scalar, T, checks>, T,
                                               sizeof(Scalar) * static_cast<std::size_t>(turned_place<Scalar>(T * pattern_rows<Scalar>)));
  return launch;
}

template <class Scalar, bool checks>
NativeLaunch<Scalar> contiguous_launch_for(int threads)
{
  switch (threads) {
  case 32:
    return contiguous_launch<Scalar, 32, checks>();
  case 64:
    return contiguous_launch<Scalar, 64, checks>();
  case 128:
    return contiguous_launch<Scalar, 128, checks>();
  case 256:
    return contiguous_launch<Scalar, 256, checks>();
  case 512:
    return contiguous_launch<Scalar, 512, checks>();
  default:
    return contiguous_launch<Scalar, 1024, checks>();
  }
}

inline constexpr int side_threads = 512;

template <class Scalar, bool checks>
NativeLaunch<Scalar> side_launch_for(int blocks)
{
  if (blocks == 1) {
    static const auto alone = launch_of<Scalar>(side_by_side_half_sweep<Scalar, side_threads, false, checks>, side_threads,
                                                sizeof(SideTile<Scalar, side_threads, false>));
    return alone;
  }
  static const auto launches = by_cluster_size<Scalar>([](int count) {
    return launch_of<Scalar>(side_by_side_half_sweep<Scalar, side_threads, true, checks>, side_threads,
                             sizeof(SideTile<Scalar, side_threads, true>), count);
  });
  return launches[static_cast<std::size_t>(blocks)];
}

template <class Scalar>
HalfSweepShape half_sweep_shape(const LineLayout &layout)
{
  constexpr int R = pattern_rows<Scalar>;
  HalfSweepShape shape;
  const Index chunks = (layout.length + R - 1) / R;
  if (!native_forms.sweeps || layout.components != 1 || layout.rows() == 0) return shape;
  if (layout.stride == 1 && layout.rows_are_closest()) {
    if (chunks > 1024) return shape;
    for (shape.threads = 32; shape.threads < chunks;) shape.threads *= 2;
  } else if (layout.across_stride[0] == 1) {
    constexpr Index of_block = side_threads / strided_lines<Scalar>;
    const Index blocks       = (chunks + of_block - 1) / of_block;
    if (blocks > most_of_cluster || side_launch_for<Scalar, false>(static_cast<int>(blocks)).resident == 0) return shape;
    shape.side_by_side = true;
    shape.threads      = side_threads;
    shape.blocks       = static_cast<int>(blocks);
  }
  shape.chunks = static_cast<int>(chunks);
  return shape;
}

/// With `unusable` the joined rows' pivots are looked at too.
template <class Scalar>
void launch_half_sweep(const Kokkos::Cuda &space, const HalfSweepShape &shape, HalfSweep<Scalar> a)
{
  a.chunks          = shape.chunks;
  a.blocks          = shape.blocks;
  void *arguments[] = {&a};
  const bool checks = a.unusable != nullptr;
  if (!shape.side_by_side) {
    const auto launch = checks ? contiguous_launch_for<Scalar, true>(shape.threads) : contiguous_launch_for<Scalar, false>(shape.threads);
    check_launch(cudaLaunchKernel(launch.kernel, dim3(static_cast<unsigned>(a.layout.count())), dim3(static_cast<unsigned>(shape.threads)),
                                  arguments, static_cast<std::size_t>(launch.shared_bytes), space.cuda_stream()),
                 "half-sweep");
    return;
  }
  const auto launch = checks ? side_launch_for<Scalar, true>(shape.blocks) : side_launch_for<Scalar, false>(shape.blocks);
  const Index W = strided_lines<Scalar>, bundles = (a.layout.across[0] + W - 1) / W * a.layout.across[1];
  const dim3 grid(static_cast<unsigned>(bundles * shape.blocks));
  if (shape.blocks == 1) {
    check_launch(cudaLaunchKernel(launch.kernel, grid, dim3(static_cast<unsigned>(shape.threads)), arguments,
                                  static_cast<std::size_t>(launch.shared_bytes), space.cuda_stream()),
                 "half-sweep");
    return;
  }
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = cluster_launch(launch, grid, shape.blocks, space.cuda_stream(), attribute);
  check_launch(cudaLaunchKernelExC(&config, launch.kernel, arguments), "half-sweep");
}

} // namespace weft::cuda
