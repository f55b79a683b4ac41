/// Transforms of trigonometric.hpp for N = 2^K and lines whose points follow each other in memory: a block holds two lines, as one complex
/// line, in registers. sine_lines is dst1, power_lines what line_transform.hpp makes of such a Fourier transform, chirp_lines the same for
/// any length up to 2^(K-1) + 2 by two of them (fourier.hpp).
///
/// A thread has E elements, t + T e. A stage takes them through one butterfly of radix E, or several of what is left of N; between stages
/// they change places through shared memory, padded so that neither side meets a bank twice. Twiddles are read for powers of two and
/// multiplied for the others. At the end of dst1 a thread takes E / 2 neighbouring sums and their mirror images, adds up what running sums
/// need, and the results leave through shared memory in order.
#pragma once
#include <cuda_runtime.h>

#include "bcr/transforms/line_transform.hpp"

namespace weft::poisson::cuda {

/// Some threads of a block, beside others that do the same.
struct Part {
  int rank_, size_;
  __device__ int rank() const { return rank_; }
  __device__ int size() const { return size_; }
  __device__ void barrier() const { __syncthreads(); }
};

template <class Scalar>
struct alignas(2 * sizeof(Scalar)) Complex {
  Scalar re, im;

  __device__ friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  __device__ friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  __device__ friend Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  __device__ Complex over_i() const { return {im, -re}; }
};

template <class Scalar>
__device__ inline void butterfly(Complex<Scalar> &a, Complex<Scalar> &b)
{
  const Complex<Scalar> difference = a - b;
  a                                = a + b;
  b                                = difference;
}
template <class Scalar>
__device__ inline void butterfly(Complex<Scalar> &a, Complex<Scalar> &b, Complex<Scalar> &c, Complex<Scalar> &d)
{
  const Complex<Scalar> s = a + c, u = a - c, v = b + d, w = (b - d).over_i();
  a = s + v;
  b = u + w;
  c = s - v;
  d = u - w;
}

/// x_m <- sum_l x_l exp(-2 pi i l m / R), R = 2, 4, 8, 16
template <int R, class Scalar>
__device__ inline void small_sums(Complex<Scalar> (&x)[R])
{
  constexpr Scalar h = static_cast<Scalar>(0.70710678118654752440), c = static_cast<Scalar>(0.92387953251128675613),
                   s       = static_cast<Scalar>(0.38268343236508977173);
  const auto eighth        = [](Complex<Scalar> a) { return Complex<Scalar>{h * (a.re + a.im), h * (a.im - a.re)}; };
  const auto three_eighths = [](Complex<Scalar> a) { return Complex<Scalar>{h * (a.im - a.re), -h * (a.im + a.re)}; };
  if constexpr (R == 2) {
    butterfly(x[0], x[1]);
  } else if constexpr (R == 4) {
    butterfly(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    butterfly(x[0], x[2], x[4], x[6]);
    butterfly(x[1], x[3], x[5], x[7]);
    x[3] = eighth(x[3]);
    x[5] = x[5].over_i();
    x[7] = three_eighths(x[7]);
#pragma unroll
    for (int k = 0; k < 8; k += 2) butterfly(x[k], x[k + 1]);
    const Complex<Scalar> y[8] = {x[0], x[2], x[4], x[6], x[1], x[3], x[5], x[7]};
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = y[k];
  } else {
#pragma unroll
    for (int k = 0; k < 4; k++) butterfly(x[k], x[k + 4], x[k + 8], x[k + 12]);
    const Complex<Scalar> w1{c, -s}, w3{s, -c}, w9{-c, s};
    x[5]  = x[5] * w1;
    x[6]  = eighth(x[6]);
    x[7]  = x[7] * w3;
    x[9]  = eighth(x[9]);
    x[10] = x[10].over_i();
    x[11] = three_eighths(x[11]);
    x[13] = x[13] * w3;
    x[14] = three_eighths(x[14]);
    x[15] = x[15] * w9;
#pragma unroll
    for (int k = 0; k < 16; k += 4) butterfly(x[k], x[k + 1], x[k + 2], x[k + 3]);
    Complex<Scalar> y[16];
#pragma unroll
    for (int k = 0; k < 16; k++) y[k / 4 + 4 * (k % 4)] = x[k];
#pragma unroll
    for (int k = 0; k < 16; k++) x[k] = y[k];
  }
}

template <int E>
__device__ inline int padded(int i)
{
  return i + i / E;
}

template <int N, int E, int before, class Scalar>
__device__ inline void stages(Complex<Scalar> (&r)[E], Complex<Scalar> *board, const Complex<Scalar> *__restrict__ twiddle)
{
  constexpr int T = N / E, R = N / before < E ? N / before : E, each = E / R;
  const int t = threadIdx.x;
#pragma unroll
  for (int b = 0; b < each; b++) {
    Complex<Scalar> x[R];
#pragma unroll
    for (int m = 0; m < R; m++) x[m] = r[b + m * each];
    if constexpr (before > 1) {
      const int at = (t + b * T) % before;
      Complex<Scalar> w[R];
#pragma unroll
      for (int m = 1; m < R; m++) {
        const int high = m >= 8 ? 8 : m >= 4 ? 4 : m >= 2 ? 2 : 1, number = m >= 8 ? 3 : m >= 4 ? 2 : m >= 2 ? 1 : 0;
        w[m] = m == high ? twiddle[number * before + at] : w[high] * w[m - high];
        x[m] = x[m] * w[m];
      }
    }
    small_sums<R>(x);
#pragma unroll
    for (int m = 0; m < R; m++) r[b + m * each] = x[m];
  }
  if constexpr (before > 1) __syncthreads();
#pragma unroll
  for (int b = 0; b < each; b++) {
    const int j = t + b * T, at = j / before * (before * R) + j % before;
#pragma unroll
    for (int m = 0; m < R; m++) board[padded<E>(at + m * before)] = r[b + m * each];
  }
  __syncthreads();
  if constexpr (before * R < N) {
#pragma unroll
    for (int e = 0; e < E; e++) r[e] = board[padded<E>(t + T * e)];
    stages<N, E, before * R>(r, board, before > 1 ? twiddle + 4 * before : twiddle);
  }
}

template <class Scalar>
struct SineArguments {
  const Scalar *from;
  Scalar *to;
  Index from_apart, to_apart, lines;
  ColumnsAt columns; ///< blockIdx.y is the right-hand side
  const Complex<Scalar> *twiddle;
  const Scalar *sines;               ///< factor sin(pi j / N) / 2
  Scalar quarter;                    ///< factor / 4
  const Complex<Scalar> *line_roots; ///< of sine_line: exp(-2 pi i k / N) for k = 0, E, 2 E, .. N / 2, then for k < E
};

template <class Scalar, int K, int E, int blocks>
__global__ void __launch_bounds__((1 << K) / E, blocks) sine_lines(const SineArguments<Scalar> a)
{
  constexpr int N = 1 << K, T = N / E, H = E / 2;
  extern __shared__ __align__(16) char shared[];
  __shared__ Complex<Scalar> warps[T / 32];
  auto *const board = reinterpret_cast<Complex<Scalar> *>(shared);
  const int t       = threadIdx.x;
  const Index first = 2 * static_cast<Index>(blockIdx.x);
  const bool two    = first + 1 < a.lines;
  const Index other = two ? first + 1 : first;
  {
    const Scalar *const from = a.from + blockIdx.y * a.columns.from - 1; // point j is element j
    const Scalar *const x = from + first * a.from_apart, *const y = from + other * a.from_apart;
    Complex<Scalar> r[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j = t + T * e;
      r[e]        = j == 0 ? Complex<Scalar>{0, 0} : Complex<Scalar>{x[j], y[j]};
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j = t + T * e;
      if (j == 0) continue;
      const Scalar s = a.sines[j], p = s + a.quarter, q = s - a.quarter;
      r[e] = {p * r[e].re + q * x[N - j], p * r[e].im + q * y[N - j]};
    }
    stages<N, E, 1>(r, board, a.twiddle);
  }
  // Sums k = H t + e; odd threads take them in pairs the other way round, so that neighbours meet different banks.
  Complex<Scalar> even[H], odd[H];
#pragma unroll
  for (int e = 0; e < H; e++) {
    const int k             = (t * H + e) ^ (t & 1);
    const Complex<Scalar> v = board[padded<E>(k)], mirror = board[padded<E>((N - k) % N)];
    odd[e]  = k == 0 ? v : v + mirror;
    even[e] = {mirror.im - v.im, v.re - mirror.re};
  }
  if (t & 1) {
#pragma unroll
    for (int e = 0; e < H; e += 2) {
      const Complex<Scalar> o = odd[e], v = even[e];
      odd[e]      = odd[e + 1];
      odd[e + 1]  = o;
      even[e]     = even[e + 1];
      even[e + 1] = v;
    }
  }
#pragma unroll
  for (int e = 1; e < H; e++) odd[e] = odd[e] + odd[e - 1];
  Complex<Scalar> sum = odd[H - 1];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const Complex<Scalar> left{__shfl_up_sync(0xffffffffu, sum.re, d), __shfl_up_sync(0xffffffffu, sum.im, d)};
    if (t % 32 >= d) sum = sum + left;
  }
  if (t % 32 == 31) warps[t / 32] = sum;
  Complex<Scalar> before{__shfl_up_sync(0xffffffffu, sum.re, 1), __shfl_up_sync(0xffffffffu, sum.im, 1)};
  if (t % 32 == 0) before = {0, 0};
  __syncthreads();
  for (int w = 0; w < t / 32; w++) before = before + warps[w];
#pragma unroll
  for (int e = 0; e < H; e++) {
    const int k                 = t * H + e;
    board[padded<E>(2 * k)]     = even[e];
    board[padded<E>(2 * k + 1)] = odd[e] + before;
  }
  __syncthreads();
  Scalar *const to = a.to + blockIdx.y * a.columns.to - 1;
  Scalar *const x = to + first * a.to_apart, *const y = to + other * a.to_apart;
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int j                 = t + T * e;
    const Complex<Scalar> value = board[padded<E>(j)];
    if (j == 0) continue;
    x[j] = value.re;
    if (two) y[j] = value.im;
  }
}

/// The same for one line a block, as N / 2 complex numbers z_i = v_{2i} + i v_{2i+1}: half the shared memory, for the longest lines. With
/// Z = their transform, b = Z_{N/2-k}: 2 V_k = Z_k + conj(b) - i exp(-2 pi i k / N) (Z_k - conj(b)).
template <class Scalar, int K, int E, int blocks>
__global__ void __launch_bounds__((1 << K) / 2 / E, blocks) sine_line(const SineArguments<Scalar> a)
{
  constexpr int N = 1 << K, M = N / 2, T = M / E;
  using Number = Complex<Scalar>;
  extern __shared__ __align__(16) char shared[];
  __shared__ Scalar warps[T / 32];
  auto *const board = reinterpret_cast<Number *>(shared);
  const int t       = threadIdx.x;
  const Index line  = blockIdx.x;
  {
    const Scalar *const x   = a.from + blockIdx.y * a.columns.from + line * a.from_apart - 1; // point j is element j
    const auto *const sines = reinterpret_cast<const Number *>(a.sines);
    Number r[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j = 2 * (t + T * e);
      r[e]        = {j == 0 ? Scalar(0) : x[j], x[j + 1]};
    }
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j    = 2 * (t + T * e);
      const Number s = sines[t + T * e];
      if (j > 0) r[e].re = (s.re + a.quarter) * r[e].re + (s.re - a.quarter) * x[N - j];
      r[e].im = (s.im + a.quarter) * r[e].im + (s.im - a.quarter) * x[N - j - 1];
    }
    stages<M, E, 1>(r, board, a.twiddle);
  }
  Scalar even[E], odd[E]; // of k = E t + e
  const Number turn = a.line_roots[t];
#pragma unroll
  for (int e = 0; e < E; e++) {
    const int k    = t * E + e;
    const Number w = turn * a.line_roots[T + e], v = board[padded<E>(k)], mirror = board[padded<E>((M - k) % M)];
    const Number to = {v.im + mirror.im, mirror.re - v.re}, turned = w * to;
    odd[e]  = v.re + mirror.re + turned.re;
    even[e] = mirror.im - v.im - turned.im;
  }
  if (t == 0) odd[0] *= Scalar(0.5);
#pragma unroll
  for (int e = 1; e < E; e++) odd[e] += odd[e - 1];
  Scalar sum = odd[E - 1];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const Scalar left = __shfl_up_sync(0xffffffffu, sum, d);
    if (t % 32 >= d) sum += left;
  }
  if (t % 32 == 31) warps[t / 32] = sum;
  Scalar before = __shfl_up_sync(0xffffffffu, sum, 1);
  if (t % 32 == 0) before = 0;
  __syncthreads();
  for (int w = 0; w < t / 32; w++) before += warps[w];
#pragma unroll
  for (int e = 0; e < E; e++) board[padded<E>(t * E + e)] = {even[e], odd[e] + before};
  __syncthreads();
  Scalar *const x          = a.to + blockIdx.y * a.columns.to + line * a.to_apart - 1;
  const auto *const values = reinterpret_cast<const Scalar *>(board);
#pragma unroll
  for (int e = 0; e < 2 * E; e++) {
    const int j = t + T * e;
    if (j > 0) x[j] = values[2 * padded<E>(j / 2) + j % 2];
  }
}

/// `twiddle` as in SineArguments.
template <class Scalar, int K, int E, int blocks>
__global__ void __launch_bounds__((1 << K) / E, blocks) power_lines(const LineTransform<Scalar, 1> kernel, const Complex<Scalar> *twiddle)
{
  constexpr int N = 1 << K, T = N / E;
  using Number = Pack<Scalar, 1>;
  extern __shared__ __align__(16) char shared[];
  auto *const board = reinterpret_cast<Complex<Scalar> *>(shared);
  const auto packet = kernel.lines_of(blockIdx.x);
  {
    Complex<Scalar> r[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
      const Number v = kernel.prepared(packet, static_cast<int>(threadIdx.x) + T * e);
      r[e]           = {v.re[0], v.im[0]};
    }
    stages<N, E, 1>(r, board, twiddle);
    // Without the gaps, as line_transform.hpp reads it.
#pragma unroll
    for (int e = 0; e < E; e++) r[e] = board[padded<E>(static_cast<int>(threadIdx.x) + T * e)];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < E; e++) board[static_cast<int>(threadIdx.x) + T * e] = r[e];
    __syncthreads();
  }
  auto *const v = reinterpret_cast<Number *>(shared);
  kernel.finish(Part{static_cast<int>(threadIdx.x), T}, packet, v, v + N, v + N + N / 2 + 1);
}

/// All threads of a block.
struct WholeBlock : Part {
  /// The sum of what threads before this one have; `sums`: a number for each warp.
  template <class Scalar>
  __device__ Pack<Scalar, 1> sum_before(Pack<Scalar, 1> *sums, const Pack<Scalar, 1> &own) const
  {
    const int lane = rank_ % 32, warp = rank_ / 32;
    Scalar re = own.re[0], im = own.im[0];
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
      const Scalar left_re = __shfl_up_sync(0xffffffffu, re, d), left_im = __shfl_up_sync(0xffffffffu, im, d);
      if (lane >= static_cast<int>(d)) {
        re += left_re;
        im += left_im;
      }
    }
    if (lane == 31) sums[warp] = {{re}, {im}};
    Pack<Scalar, 1> before{{__shfl_up_sync(0xffffffffu, re, 1)}, {__shfl_up_sync(0xffffffffu, im, 1)}};
    if (lane == 0) before = {};
    __syncthreads();
    for (int w = 0; w < warp; w++) before = before + sums[w];
    return before;
  }
};

/// `twiddle` as in SineArguments; `filter` and `missing` are those of a chirp on a ring of 2^K.
template <class Scalar, int K, int E, int blocks>
__global__ void __launch_bounds__((1 << K) / E, blocks) chirp_lines(const LineTransform<Scalar, 1> kernel, const Complex<Scalar> *twiddle,
                                                                    const Complex<Scalar> *__restrict__ filter, Complex<Scalar> missing)
{
  constexpr int M = 1 << K, T = M / E;
  using Number = Pack<Scalar, 1>;
  extern __shared__ __align__(16) char shared[];
  __shared__ Complex<Scalar> ends[2];
  auto *const board = reinterpret_cast<Complex<Scalar> *>(shared);
  const auto packet = kernel.lines_of(blockIdx.x);
  const auto *chirp = reinterpret_cast<const Complex<Scalar> *>(kernel.fourier.chirp);
  const int t = threadIdx.x, length = kernel.fourier.length;
  {
    Complex<Scalar> r[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j = t + T * e;
      r[e]        = {0, 0};
      if (j >= length) continue;
      const Number v = kernel.prepared(packet, j);
      r[e]           = Complex<Scalar>{v.re[0], v.im[0]} * chirp[j];
      if (j == 0) ends[1] = missing * r[e];
      if (j == length - 1) ends[0] = missing * r[e];
    }
    stages<M, E, 1>(r, board, twiddle);
    // The transform back is one of exchanged real and imaginary parts.
#pragma unroll
    for (int e = 0; e < E; e++) {
      const Complex<Scalar> v = board[padded<E>(t + T * e)] * filter[t + T * e];
      r[e]                    = {v.im, v.re};
    }
    __syncthreads();
    stages<M, E, 1>(r, board, twiddle);
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j = t + T * e;
      if (j >= length) continue;
      const Complex<Scalar> v = board[padded<E>(j)];
      Complex<Scalar> sum{v.im, v.re};
      if (j == 0) sum = sum + ends[0];
      if (j == length - 1) sum = sum + ends[1];
      r[e] = sum * chirp[j];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < E; e++) {
      const int j = t + T * e;
      if (j < length) board[j] = r[e];
    }
    __syncthreads();
  }
  auto *const v = reinterpret_cast<Number *>(shared);
  kernel.finish(WholeBlock{{t, T}}, packet, v, v + length, v + length + length / 2 + 1);
}

} // namespace weft::poisson::cuda
