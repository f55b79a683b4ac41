/// FastTransform: sine and cosine transforms of many lines at once, on a backend.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>

#include "base/backend.hpp"
#include "base/native.hpp"
#include "base/simd.hpp"
#include "bcr/shifted/shifted_lines.hpp"
#include "bcr/transforms/line_transform.hpp"
#if defined(WEFT_NATIVE_CUDA)
#include "bcr/transforms/transform_launch.hpp"
#endif

namespace weft::poisson {

/// A member of a Kokkos team, as Fourier and LineTransform take it.
template <class Member>
struct Together {
  const Member &member;
  KOKKOS_INLINE_FUNCTION int rank() const { return member.team_rank(); }
  KOKKOS_INLINE_FUNCTION int size() const { return member.team_size(); }
  KOKKOS_INLINE_FUNCTION void barrier() const { member.team_barrier(); }
};

/// A packet of lines for each team, its boards in a level of scratch.
template <class Member, class Scalar, int lanes>
struct TeamTransform {
  LineTransform<Scalar, lanes> kernel;
  int level;

  KOKKOS_INLINE_FUNCTION void operator()(const Member &member) const
  {
    using Number            = Pack<Scalar, lanes>;
    const std::size_t bytes = sizeof(Number) * static_cast<std::size_t>(2 * kernel.board() + member.team_size());
    auto *const x           = static_cast<Number *>(member.team_scratch(level).get_shmem_aligned(bytes, sizeof(Number)));
    Number *const y         = x + kernel.board();
    kernel(Together<Member>{member}, member.league_rank(), x, y, y + kernel.board());
  }
};

template <class Space, class Scalar>
class FastTransform {
public:
  /// Pairs of lines side by side: host vectors; threads of a device have one pair.
  static constexpr int lanes = is_host_space<Space> ? static_cast<int>(32 / sizeof(Scalar)) : 1;
  using Kernel               = LineTransform<Scalar, lanes>;
  using Number               = Pack<Scalar, lanes>;

  FastTransform() = default;
  /// Makes tables and, on the host, work space for its threads. fourier_plan(shape.length) must be something.
  FastTransform(const Space &space, const TransformShape &shape)
  {
    kernel_.kind              = shape.kind;
    kernel_.n                 = static_cast<int>(shape.n);
    kernel_.reads_backwards   = shape.reads_backwards;
    kernel_.writes_backwards  = shape.writes_backwards;
    kernel_.alternates_input  = shape.alternates_input;
    kernel_.alternates_output = shape.alternates_output;
    kernel_.first_weight      = static_cast<Scalar>(shape.first_weight);
    kernel_.last_weight       = static_cast<Scalar>(shape.last_weight);
    const int length          = static_cast<int>(shape.length);
    const FourierPlan plan    = *fourier_plan(length);
    for (int f : plan.factors) kernel_.fourier.radix[kernel_.fourier.stages++] = static_cast<signed char>(f);
    kernel_.fourier.length    = length;
    kernel_.fourier.board     = static_cast<int>(plan.board);
    const bool quarter        = shape.kind == Trigonometric::dct2 || shape.kind == Trigonometric::dct3;
    std::vector<double> roots = unit_roots(plan.board, 2, plan.board);
    // GCC 12 makes one read of the roots of four l of a stage, in single precision; those past l < R are dropped, but must be there to be read.
    if (is_host_space<Space> && std::is_same_v<Scalar, float>) roots.resize(2 * roots.size());
    roots_                = upload<Scalar, Space>("weft fourier roots", roots);
    angles_               = upload<Scalar, Space>("weft fourier angles", unit_roots(length + 1, 1, quarter ? 2 * length : length));
    scale_                = upload<Scalar, Space>("weft fourier scale", shape.scale);
    kernel_.fourier.roots = roots_.data();
    if (plan.board != length) {
      const Chirp chirp          = chirp_of(length, plan.board);
      chirp_                     = upload<Scalar, Space>("weft fourier chirp", chirp.chirp);
      filter_                    = upload<Scalar, Space>("weft fourier filter", chirp.filter);
      kernel_.fourier.chirp      = chirp_.data();
      kernel_.fourier.filter     = filter_.data();
      kernel_.fourier.missing_re = static_cast<Scalar>(chirp.missing[0]);
      kernel_.fourier.missing_im = static_cast<Scalar>(chirp.missing[1]);
    }
    kernel_.angles = angles_.data();
    kernel_.scale  = shape.scale.empty() ? nullptr : scale_.data();
    if constexpr (is_host_space<Space>) {
      boards_ = OwnedArray<Number, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft fourier boards"),
                                          static_cast<std::size_t>(space.concurrency()) * (2 * static_cast<std::size_t>(plan.board) + 1));
    }
#if defined(WEFT_NATIVE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) native_ = cuda::NativeTransform<Scalar>(shape);
#endif
  }

  std::size_t bytes() const
  {
    return (roots_.size() + angles_.size() + scale_.size() + chirp_.size() + filter_.size()) * sizeof(Scalar) +
           boards_.size() * sizeof(Number);
  }

  /// Transforms `lines` lines of each right-hand side. `to` may be `from` where both lie alike.
  void operator()(const Space &space, const Scalar *from, const LinesAt &from_at, Scalar *to, const LinesAt &to_at, Index lines,
                  const ColumnsAt &columns = {}) const
  {
    Kernel kernel  = kernel_;
    kernel.from    = from;
    kernel.from_at = from_at;
    kernel.to      = to;
    kernel.to_at   = to_at;
    kernel.lines   = lines;
    kernel.columns = columns;
    if (lines == 0) return;
#if defined(WEFT_NATIVE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
      if (native_.launch(space, kernel)) return;
    }
#endif
    if constexpr (is_host_space<Space>)
      on_host(space, kernel);
    else
      on_device(space, kernel);
  }

private:
  void on_host(const Space &space, const Kernel &kernel) const;
  /// Boards in the first level of scratch where they fit, else in the second, which lies in memory.
  void on_device(const Space &space, const Kernel &kernel) const
  {
    constexpr std::size_t scratch_limit = 40000;
    constexpr int warp                  = warp_threads<Space>;
    const int team                      = std::clamp(kernel.board() / 8, warp, 256) / warp * warp;
    const std::size_t bytes             = sizeof(Number) * (2 * static_cast<std::size_t>(kernel.board()) + static_cast<std::size_t>(team));
    const int level                     = bytes <= scratch_limit ? 0 : 1;
    using Policy                        = Kokkos::TeamPolicy<Space, Kokkos::IndexType<Index>>;
    Policy policy(space, static_cast<int>(kernel.packets()), team);
    policy.set_scratch_size(level, Kokkos::PerTeam(static_cast<int>(bytes)));
    Kokkos::parallel_for("weft line transforms", policy, TeamTransform<typename Policy::member_type, Scalar, lanes>{kernel, level});
  }

  Kernel kernel_;
  OwnedArray<Scalar, Space> roots_, angles_, scale_, chirp_, filter_;
  OwnedArray<Number, Space> boards_;
#if defined(WEFT_NATIVE_CUDA)
  std::conditional_t<std::is_same_v<Space, Kokkos::Cuda>, cuda::NativeTransform<Scalar>, int> native_{};
#endif
};

template <class Space, class Scalar>
void FastTransform<Space, Scalar>::on_host(const Space &space, const Kernel &kernel) const
{
  const Index threads = space.concurrency(), packets = kernel.packets();
  Number *const boards = boards_.data();
  Kokkos::parallel_for("weft line transforms", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, std::min(threads, packets)),
                       [=](const Index thread) {
                         Number *const x = boards + thread * (2 * kernel.board() + 1), *const y = x + kernel.board();
                         with_widest_vectors([&] {
                           for (Index p = thread; p < packets; p += threads) kernel(Alone{}, p, x, y, y + kernel.board());
                         });
                       });
}

// Compiled once: host_kernels_SCALAR.cpp.
extern template void FastTransform<HostBackend, double>::on_host(const HostBackend &, const Kernel &) const;
extern template void FastTransform<HostBackend, float>::on_host(const HostBackend &, const Kernel &) const;

} // namespace weft::poisson
