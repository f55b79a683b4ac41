/// Which transforms native kernels take: sines of a power of two by sine_cuda.hpp, all others whose boards fit a block's shared memory by
/// line_transform.hpp there. Included by fast_transform.hpp only.
#pragma once
#include <Kokkos_Core.hpp>
#include <vector>

#include "poisson/cuda/launch.hpp"
#include "poisson/cuda/sine_cuda.hpp"
#include "poisson/line_transform.hpp"
#include "poisson/shifted_lines.hpp"

namespace weft::poisson::cuda {

/// Some threads of a block, beside others that do the same.
struct Part {
  int rank_, size_;
  __device__ int rank() const { return rank_; }
  __device__ int size() const { return size_; }
  __device__ void barrier() const { __syncthreads(); }
};

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
    if (shape.kind != Trigonometric::dst1) return;
    int k = 0;
    while ((Index(1) << k) < shape.length) k++;
    if ((Index(1) << k) != shape.length || k < least_power || k > most_power) return;
    const double factor = shape.scale.empty() ? 1 : shape.scale[0];
    for (double s : shape.scale) {
      if (s != factor) return;
    }
    power_             = k;
    const Index length = shape.length, radix = elements(k);
    std::vector<double> twiddle, sines;
    for (Index before = radix; before < length; before *= radix) {
      const Index next = before * std::min(radix, length / before);
      for (Index m = 1; m <= 8; m *= 2) {
        const auto roots = unit_roots(before, 2 * m, next);
        twiddle.insert(twiddle.end(), roots.begin(), roots.end());
      }
    }
    const auto angles = unit_roots(length, 1, length);
    for (Index j = 0; j < length; j++) sines.push_back(-angles[static_cast<std::size_t>(2 * j + 1)] * factor / 2);
    twiddle_ = upload<Scalar, Kokkos::Cuda>("weft sine twiddles", twiddle);
    sines_   = upload<Scalar, Kokkos::Cuda>("weft sines", sines);
    quarter_ = static_cast<Scalar>(factor / 4);
  }

  /// False where no native kernel takes it.
  bool launch(const Kokkos::Cuda &space, const LineTransform<Scalar, 1> &kernel) const
  {
    const auto follow = [&](const LinesAt &at) { return at.stride == 1 && at.inner == kernel.lines; };
    if (power_ > 0 && follow(kernel.from_at) && follow(kernel.to_at)) {
      const SineArguments<Scalar> a{kernel.from,
                                    kernel.to,
                                    kernel.from_at.inner_stride,
                                    kernel.to_at.inner_stride,
                                    kernel.lines,
                                    reinterpret_cast<const Complex<Scalar> *>(twiddle_.data()),
                                    sines_.data(),
                                    quarter_};
      switch (power_) {
      case 8:
        sine<8, 8, 16>(space, a);
        return true;
      case 9:
        sine<9, 16, 16>(space, a);
        return true;
      case 10:
        sine<10, 16, 8>(space, a);
        return true;
      case 11:
        sine<11, 16, 4>(space, a);
        return true;
      case 12:
        sine<12, 16, 2>(space, a);
        return true;
      default:
        sine<13, 16, 1>(space, a);
        return true;
      }
    }
    return in_shared(space, kernel);
  }

private:
  static constexpr int least_power = 8, most_power = 13;
  static Index elements(int power) { return power == 8 ? 8 : 16; }

  template <int K, int E, int blocks>
  static void sine(const Kokkos::Cuda &space, const SineArguments<Scalar> &a)
  {
    constexpr int N = 1 << K, bytes = (N + N / E) * static_cast<int>(sizeof(Complex<Scalar>));
    const auto kernel = sine_lines<Scalar, K, E, blocks>;
    allow_shared(kernel, bytes);
    kernel<<<static_cast<unsigned>((a.lines + 1) / 2), N / E, bytes, space.cuda_stream()>>>(a);
    check(cudaGetLastError(), "sine transforms");
  }

  static bool in_shared(const Kokkos::Cuda &space, const LineTransform<Scalar, 1> &kernel)
  {
    const bool across = kernel.from_at.stride != 1;
    for (int pairs : {4, 1}) {
      if (pairs > 1 && !across) continue;
      const int threads       = std::clamp((kernel.board() * pairs / 8 + 31) / 32 * 32, 32, 256);
      const int board         = (2 * kernel.board() + threads / pairs) | 1; // odd: the pairs' boards begin in different banks
      const std::size_t bytes = static_cast<std::size_t>(board) * static_cast<std::size_t>(pairs) * sizeof(Pack<Scalar, 1>);
      if (bytes > static_cast<std::size_t>(shared_limit())) continue;
      const Index blocks = (kernel.packets() + pairs - 1) / pairs;
      allow_shared(line_transforms<Scalar>, bytes);
      line_transforms<Scalar><<<static_cast<unsigned>(blocks), threads, bytes, space.cuda_stream()>>>(kernel, pairs, board);
      check(cudaGetLastError(), "line transforms");
      return true;
    }
    return false;
  }

  int power_ = 0;
  OwnedArray<Scalar, Kokkos::Cuda> twiddle_, sines_;
  Scalar quarter_ = 0;
};

} // namespace weft::poisson::cuda
