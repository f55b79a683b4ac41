/// NativeHalfSweeps: half-sweeps in one pass for a backend that has a kernel for them, over lines of few patterns.
#pragma once
#include "adi/line_patterns.hpp"
#include "base/native.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "adi/half_sweep_cuda.hpp"
#endif

namespace weft {

/// None: ready() says so of every direction.
template <class Space, class Scalar>
class NativeHalfSweeps {
public:
  void forget() {}
  /// Looks for patterns in the lines of direction k and factors them for each shift. `work`: as many elements as there are rows. Waits.
  void factor(const Space &, int, const LineLayout &, const AdiParts<Scalar> &, const std::vector<Scalar> &, Scalar *) {}
  bool ready(int) const { return false; }
  /// result = b - g + both_shifts (H + s_j)^-1 g, result may be g.
  void reflect(const Space &, int, std::size_t, const Scalar *, const Scalar *, Scalar, Scalar *) const {}
  /// x = (H + s_j)^-1 g. `change`: takes the largest |difference| from what x was, or null.
  void solve(const Space &, int, std::size_t, const Scalar *, Scalar *, double *) const {}
};

#if defined(WEFT_NATIVE_HOPPER)
template <class Scalar>
requires std::is_floating_point_v<Scalar>
class NativeHalfSweeps<Kokkos::Cuda, Scalar> {
public:
  using Space = Kokkos::Cuda;

  void forget()
  {
    for (Direction &d : directions_) d.ready = false;
  }
  void factor(const Space &space, int k, const LineLayout &layout, const AdiParts<Scalar> &parts, const std::vector<Scalar> &shifts,
              Scalar *work)
  {
    Direction &d = directions_[k];
    d.shape      = cuda::half_sweep_shape<Scalar>(layout);
    if (d.shape.threads == 0 || !d.patterns.find(space, layout, parts.lower[k], parts.share[k], parts.upper[k], parts.fixed)) return;
    const Kokkos::View<int, Space::memory_space> unusable("weft adi unusable pivots");
    const Array<Scalar, Space> zeros(work, static_cast<std::size_t>(layout.span()));
    d.factors.clear();
    for (std::size_t j = 0; j < shifts.size(); j++) {
      d.factors.push_back(d.patterns.factors(space, shifts[j], unusable));
      // Pivots of joined chunks depend on no right-hand side: once looked at they are known.
      Kokkos::deep_copy(space, zeros, Scalar(0));
      cuda::HalfSweep<Scalar> a = arguments(d, j);
      a.g                       = work;
      a.result                  = work;
      a.unusable                = unusable.data();
      cuda::launch_half_sweep(space, d.shape, a);
    }
    int found = 0;
    Kokkos::deep_copy(space, Kokkos::View<int, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&found), unusable);
    space.fence("weft: adi pivots of patterns");
    d.ready = found == 0;
  }
  bool ready(int k) const { return directions_[k].ready; }
  void reflect(const Space &space, int k, std::size_t j, const Scalar *g, const Scalar *b, Scalar both_shifts, Scalar *result) const
  {
    cuda::HalfSweep<Scalar> a = arguments(directions_[k], j);
    a.g                       = g;
    a.b                       = b;
    a.result                  = result;
    a.reflection              = both_shifts;
    cuda::launch_half_sweep(space, directions_[k].shape, a);
  }
  void solve(const Space &space, int k, std::size_t j, const Scalar *g, Scalar *x, double *change) const
  {
    cuda::HalfSweep<Scalar> a = arguments(directions_[k], j);
    a.g                       = g;
    a.result                  = x;
    a.change                  = change;
    cuda::launch_half_sweep(space, directions_[k].shape, a);
  }

private:
  struct Direction {
    bool ready = false;
    cuda::HalfSweepShape shape;
    LinePatterns<Space, Scalar> patterns;
    std::vector<PatternFactors<Space, Scalar>> factors; ///< for each shift
  };
  static cuda::HalfSweep<Scalar> arguments(const Direction &d, std::size_t j)
  {
    cuda::HalfSweep<Scalar> a;
    a.layout   = d.patterns.layout();
    a.patterns = d.patterns.patterns();
    a.rows     = d.factors[j].rows.data();
    a.heads    = d.factors[j].heads.data();
    a.fixed    = d.patterns.fixed();
    return a;
  }
  Direction directions_[3];
};
#endif

} // namespace weft
