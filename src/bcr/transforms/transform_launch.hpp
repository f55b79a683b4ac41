/// Which transforms native kernels take: those of a power of two, and chirps within one, by sine_cuda.hpp, all others whose boards fit a
/// block's shared memory by line_transform.hpp there. Included by fast_transform.hpp only.
#pragma once
#include <Kokkos_Core.hpp>
#include <vector>

#include "base/native_forms.hpp"
#include "bcr/shifted/launch.hpp"
#include "bcr/shifted/shifted_lines.hpp"
#include "bcr/transforms/line_transform.hpp"
#include "bcr/transforms/sine_cuda.hpp"

namespace weft::poisson::cuda {

/// `pairs` packets of a pair of lines to a block, which read neighbours in memory.
template <class Scalar>
__global__ void __launch_bounds__(512) line_transforms(const LineTransform<Scalar, 1> kernel, int pairs, int board)
{
  extern __shared__ __align__(16) char shared[];
  const int pair = threadIdx.x % pairs, threads = blockDim.x / pairs;
  auto *const numbers = reinterpret_cast<Pack<Scalar, 1> *>(shared) + pair * board;
  const int length    = kernel.board();
  // A packet too many reads the last line and writes nothing: barriers are for all.
  kernel(Part{static_cast<int>(threadIdx.x) / pairs, threads}, static_cast<Index>(blockIdx.x) * pairs + pair, numbers, numbers + length,
         numbers + 2 * length);
}

template <class Scalar>
class NativeTransform {
public:
  NativeTransform() = default;
  explicit NativeTransform(const TransformShape &shape)
  {
    const bool chirp   = fourier_plan(shape.length)->board != shape.length;
    const Index needed = chirp ? 2 * shape.length - 4 : shape.length;
    int k              = least_power;
    while ((Index(1) << k) < needed) k++;
    const Index length = Index(1) << k, radix = elements(k);
    if (k > most_power || (!chirp && length != shape.length)) return;
    power_   = k;
    twiddle_ = upload<Scalar, Kokkos::Cuda>("weft fourier twiddles", twiddles(length, radix));
    if (chirp) {
      const Chirp made = chirp_of(shape.length, length);
      filter_          = upload<Scalar, Kokkos::Cuda>("weft fourier filter", made.filter);
      missing_         = {static_cast<Scalar>(made.missing[0]), static_cast<Scalar>(made.missing[1])};
      return;
    }
    const double factor = shape.scale.empty() ? 1 : shape.scale[0];
    sines_only_         = shape.kind == Trigonometric::dst1;
    for (double s : shape.scale) sines_only_ = sines_only_ && s == factor;
    if (!sines_only_) return;
    const auto angles = unit_roots(length, 1, length);
    std::vector<double> sines;
    for (Index j = 0; j < length; j++) sines.push_back(-angles[static_cast<std::size_t>(2 * j + 1)] * factor / 2);
    sines_   = upload<Scalar, Kokkos::Cuda>("weft sines", sines);
    quarter_ = static_cast<Scalar>(factor / 4);
    if (k < most_power) return;
    const Index half = length / 2;
    auto roots       = unit_roots(half / radix, 2 * radix, length);
    const auto some  = unit_roots(radix, 2, length);
    roots.insert(roots.end(), some.begin(), some.end());
    line_roots_   = upload<Scalar, Kokkos::Cuda>("weft roots of a line", roots);
    line_twiddle_ = upload<Scalar, Kokkos::Cuda>("weft twiddles of a line", twiddles(half, radix));
  }

  /// True where a kernel for powers of two takes that length.
  static bool takes_power(Index length)
  {
    return length >= (Index(1) << least_power) && length <= (Index(1) << most_power) && (length & (length - 1)) == 0;
  }

  /// False where no native kernel takes it.
  bool launch(const Kokkos::Cuda &space, const LineTransform<Scalar, 1> &kernel) const
  {
    if (!native_forms.transforms) return false;
    if (power_ == 0 || kernel.from_at.stride != 1 || kernel.to_at.stride != 1) return in_shared(space, kernel);
    switch (power_) {
    case 8:
      lines<8, 8, 16>(space, kernel);
      break;
    case 9:
      lines<9, 16, 16>(space, kernel);
      break;
    case 10:
      lines<10, 16, 8>(space, kernel);
      break;
    case 11:
      lines<11, 16, 4>(space, kernel);
      break;
    case 12:
      lines<12, 16, 2>(space, kernel);
      break;
    default:
      lines<13, 16, 1>(space, kernel);
    }
    return true;
  }

private:
  static constexpr int least_power = 8, most_power = 13;
  static Index elements(int power) { return power == 8 ? 8 : 16; }
  /// As SineArguments has them.
  static std::vector<double> twiddles(Index length, Index radix)
  {
    std::vector<double> twiddle;
    for (Index before = radix; before < length; before *= radix) {
      const Index next = before * std::min(radix, length / before);
      for (Index m = 1; m <= 8; m *= 2) {
        const auto roots = unit_roots(before, 2 * m, next);
        twiddle.insert(twiddle.end(), roots.begin(), roots.end());
      }
    }
    return twiddle;
  }

  static const Complex<Scalar> *numbers(const OwnedArray<Scalar, Kokkos::Cuda> &array)
  {
    return reinterpret_cast<const Complex<Scalar> *>(array.data());
  }

  template <int K, int E, int blocks>
  void lines(const Kokkos::Cuda &space, const LineTransform<Scalar, 1> &kernel) const
  {
    constexpr int N = 1 << K, T = N / E, padded_bytes = (N + N / E) * static_cast<int>(sizeof(Complex<Scalar>));
    const auto *const twiddle = numbers(twiddle_);
    const auto grid           = static_cast<unsigned>(kernel.packets());
    if (filter_.size() > 0) {
      const int points = kernel.fourier.length;
      const int bytes  = std::max(padded_bytes, (points + points / 2 + 1 + T) * static_cast<int>(sizeof(Complex<Scalar>)));
      const auto chirp = chirp_lines<Scalar, K, E, blocks>;
      allow_shared(chirp, static_cast<std::size_t>(bytes));
      chirp<<<grid, T, static_cast<std::size_t>(bytes), space.cuda_stream()>>>(kernel, twiddle, numbers(filter_), missing_);
    } else if (sines_only_ && kernel.from_at.inner == kernel.lines && kernel.to_at.inner == kernel.lines) {
      SineArguments<Scalar> a{
          kernel.from,   kernel.to, kernel.from_at.inner_stride, kernel.to_at.inner_stride, kernel.lines, kernel.columns, twiddle,
          sines_.data(), quarter_,  numbers(line_roots_)};
      const auto columns = static_cast<unsigned>(kernel.columns.count);
      if constexpr (K == most_power) {
        a.twiddle       = numbers(line_twiddle_);
        const auto sine = sine_line<Scalar, K, E, 2>;
        allow_shared(sine, padded_bytes / 2);
        sine<<<dim3(static_cast<unsigned>(kernel.lines), columns), T / 2, padded_bytes / 2, space.cuda_stream()>>>(a);
      } else {
        const auto sine = sine_lines<Scalar, K, E, blocks>;
        allow_shared(sine, padded_bytes);
        sine<<<dim3(static_cast<unsigned>(kernel.packets_of_column()), columns), T, padded_bytes, space.cuda_stream()>>>(a);
      }
    } else {
      const bool sums   = kernel.kind == Trigonometric::dst1 || kernel.kind == Trigonometric::dct1;
      const int bytes   = std::max(padded_bytes, sums ? (N + N / 2 + 1 + T) * static_cast<int>(sizeof(Complex<Scalar>)) : 0);
      const auto others = power_lines<Scalar, K, E, blocks>;
      allow_shared(others, static_cast<std::size_t>(bytes));
      others<<<grid, T, static_cast<std::size_t>(bytes), space.cuda_stream()>>>(kernel, twiddle);
    }
    check(cudaGetLastError(), "transforms of lines");
  }

  static bool in_shared(const Kokkos::Cuda &space, const LineTransform<Scalar, 1> &kernel)
  {
    const bool across = kernel.from_at.stride != 1;
    for (int pairs : {8, 4, 1}) {
      if (pairs > 1 && !across) continue;
      // Boards that leave room for one block only get more threads.
      const int most          = kernel.board() * pairs >= 4096 ? 512 : 256;
      const int threads       = std::clamp((kernel.board() * pairs / 8 + 31) / 32 * 32, 32, most);
      const int board         = (2 * kernel.board() + threads / pairs) | 1; // odd: the pairs' boards begin in different banks
      const std::size_t bytes = static_cast<std::size_t>(board) * static_cast<std::size_t>(pairs) * sizeof(Pack<Scalar, 1>);
      // Eight pairs read whole pieces of 128 bytes, but more blocks are worth more than that.
      if (bytes > static_cast<std::size_t>(pairs == 8 ? shared_limit() / 3 : shared_limit())) continue;
      const Index blocks = (kernel.packets() + pairs - 1) / pairs;
      allow_shared(line_transforms<Scalar>, bytes);
      line_transforms<Scalar><<<static_cast<unsigned>(blocks), threads, bytes, space.cuda_stream()>>>(kernel, pairs, board);
      check(cudaGetLastError(), "line transforms");
      return true;
    }
    return false;
  }

  int power_       = 0;
  bool sines_only_ = false; ///< dst1 with one factor
  OwnedArray<Scalar, Kokkos::Cuda> twiddle_, sines_, filter_, line_roots_, line_twiddle_;
  Scalar quarter_ = 0;
  Complex<Scalar> missing_{0, 0};
};

} // namespace weft::poisson::cuda
