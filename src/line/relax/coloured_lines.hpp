/// ColouredLines: coefficients by colour, and the launches of coloured_relaxation.hpp.
#pragma once
#include <algorithm>

#include "line/methods/wide/wide_launch.hpp"
#include "line/relax/coloured_relaxation.hpp"
#include "line/relax/line_kinds.hpp"

namespace weft::cuda {

/// Rows of a thread. Two blocks of few threads on a multiprocessor do better than one of many, where such blocks hold the line.
template <class Scalar>
inline constexpr int coloured_rows = sizeof(Scalar) == 8 ? 9 : 16;
template <class Scalar>
inline constexpr int coloured_threads[] = {sizeof(Scalar) == 8 ? 256 : 512, 512};

/// Shorter lines are done as soon by teams, in a plane (docs/results/lines.md).
inline constexpr Index shortest_coloured = 769;

template <class Scalar, int R, int T, int W, int at_least>
NativeLaunch<Scalar> coloured_launch(int blocks)
{
  const auto make = [](int of) {
    return launch_of<Scalar>(coloured_relaxation<Scalar, R, T, W, at_least>, T,
                             sizeof(StridedTile<Scalar, R, T, W, Sharing::cluster, true>), of);
  };
  static const auto launches = by_cluster_size<Scalar>(make);
  return launches[static_cast<std::size_t>(blocks)];
}

template <class Scalar>
class ColouredLines {
public:
  ColouredLines() = default;
  explicit ColouredLines(const LineLayout &layout) : layout_(layout)
  {
    if (layout.components != 1 || layout.across_stride[0] != 1 || layout.rows_are_closest()) return;
    if (layout.length >= shortest_coloured)
      share();
    else if (layout.across[1] > 1 && layout.length > 64)
      hold();
  }

  bool possible() const { return blocks_ > 0; }
  /// Copies T and the first `count` couplings, which are all that there are, and looks at them; `numbers` are those of their diagonals, T's first.
  /// Returns false where it has not looked. Does not wait.
  bool take(const Kokkos::Cuda &space, const Scalar *lower, const Scalar *diagonal, const Scalar *upper, const Scalar *values,
            const Coupling *couplings, int count, const LineKinds<Kokkos::Cuda> &kinds, const int *numbers)
  {
    taken_ = blocks_ > 0 && count <= ColouredArguments<Scalar>::most_couplings;
    if (!taken_) return false;
    count_            = count;
    const Index size  = place_.size();
    const auto needed = static_cast<std::size_t>(2 * (3 + count) * size);
    if (values_.extent(0) != needed) values_ = table<Scalar, Kokkos::Cuda>("weft lines by colour", needed);
    Sources from{{lower, diagonal, upper}};
    for (int k = 0; k < count; k++) {
      from.diagonals[3 + k] = values + couplings[k].begin;
      offsets_[k]           = couplings[k].offset;
    }
    const bool looks = kinds.look().words;
    for (int k = 0; looks && k < 3 + count; k++) from.bits[k] = numbers[k] < 0 ? 0 : 1u << numbers[k];
    copy(space, from, 3 + count, kinds);
    return looks;
  }

  /// True if line solutions of a colour can be written over x here.
  bool takes(Colour colour, bool add) const { return taken_ && colour != Colour::all && !add; }

  void launch(const Kokkos::Cuda &space, const WideArguments<Kokkos::Cuda, Scalar> &a, const Couplings<Scalar> &couplings) const
  {
    const Index size   = place_.size();
    const Scalar *mine = values_.data() + (a.colour == Colour::odd ? 3 + count_ : 0) * size;
    ColouredArguments<Scalar> c;
    c.lines                 = native_arguments(a);
    c.lines.lower           = mine;
    c.lines.diagonal        = mine + size;
    c.lines.upper           = mine + 2 * size;
    c.lines.exchange.blocks = blocks_;
    c.place                 = place_;
    c.couplings             = couplings.count;
    for (int k = 0; k < couplings.count; k++) {
      c.coefficients[k] = mine + (3 + k) * size;
      c.offsets[k]      = offsets_[k];
    }
    c.x    = couplings.x;
    c.rows = couplings.rows;
    cudaLaunchAttribute attribute;
    const Index bundles = place_.pitch / width_ * place_.across, groups = std::min<Index>(launch_.resident, bundles);
    const dim3 grid(static_cast<unsigned>(groups * blocks_));
    const cudaLaunchConfig_t config = cluster_launch(launch_, grid, blocks_, space.cuda_stream(), attribute);
    void *arguments[]               = {&c};
    check_launch(cudaLaunchKernelExC(&config, launch_.kernel, arguments), "launch");
  }

  struct Sources {
    static constexpr int most     = 3 + ColouredArguments<Scalar>::most_couplings;
    const Scalar *diagonals[most] = {};
    std::uint32_t bits[most]      = {};
  };
  /// A thread copies a column of some rows: it divides once. What stands where there is no line nobody uses.
  void copy(const Kokkos::Cuda &space, const Sources &from, int diagonals, const LineKinds<Kokkos::Cuda> &kinds) const
  {
    constexpr Index some    = 8;
    const LineLayout layout = layout_;
    const ByColour place    = place_;
    const LineLook look     = kinds.look();
    const Index width = layout.across[0], rows = place.across * place.length, size = place.size();
    Scalar *const even = values_.data(), *const odd = even + diagonals * size;
    kinds.for_each(
        "weft lines by colour", space, width * ((rows + some - 1) / some), KOKKOS_LAMBDA(const Index k) {
          int what      = 0;
          const Index i = k % width, first = k / width * some;
          Index j = first / place.length, r = first - j * place.length;
          for (Index row = first; row < rows && row < first + some; row++) {
            const Index element = i + j * layout.across_stride[1] + r * layout.stride;
            const int colour    = ByColour::first(layout, Colour::odd, j) == (i & 1);
            Scalar *const to    = (colour ? odd : even) + row * place.pitch + i / 2;
            Scalar v[Sources::most]; // on their way together
            for (int d = 0; d < Sources::most; d++) v[d] = d < diagonals ? from.diagonals[d][element] : Scalar(0);
            for (int d = 0; d < Sources::most; d++) {
              if (d < diagonals) to[d * size] = v[d];
            }
            if (look.words) {
              std::uint32_t there = 0;
              for (int d = 0; d < Sources::most; d++) there |= v[d] != 0 ? from.bits[d] : 0u;
              what |= LineLook::weakness(v[0], v[1], v[2]) | look.row(element, there);
            }
            if (++r == place.length) r = 0, j++;
          }
          return what;
        });
  }

private:
  /// A cluster of blocks holds a bundle. In single precision a narrower one holds twice the rows, still in whole memory sectors.
  void share()
  {
    constexpr int few = coloured_threads<Scalar>[0], many = coloured_threads<Scalar>[1], W = strided_lines<Scalar>;
    if (shares<few, W>() || shares<many, W>()) return;
    if constexpr (sizeof(Scalar) < 8) shares<many, W / 2>();
  }
  /// In bundles of W lines and blocks of T threads, if so many hold them.
  template <int T, int W>
  bool shares()
  {
    constexpr int R  = coloured_rows<Scalar>;
    const Index tile = Index(R) * T / W, blocks = (layout_.length - 1) / tile + 1;
    if (blocks < 2 || blocks > most_of_cluster) return false;
    const int shared = static_cast<int>(blocks);
    choose(coloured_launch<Scalar, R, T, W, 512 / T>(shared), shared, W);
    return true;
  }
  /// A block does, half as wide: most grids of such lines have few across.
  void hold()
  {
    constexpr int W = strided_lines<double> / 2, T = 32 * W;
    if (layout_.length <= 5 * 32)
      choose(coloured_launch<Scalar, 5, T, W, 3>(1), 1, W);
    else if (layout_.length <= 9 * 32)
      choose(coloured_launch<Scalar, 9, T, W, 2>(1), 1, W);
  }
  void choose(const NativeLaunch<Scalar> &launch, int blocks, int width)
  {
    launch_ = launch;
    width_  = width;
    place_  = ByColour(layout_, width);
    blocks_ = launch.resident > 0 ? blocks : 0;
  }

  LineLayout layout_;
  ByColour place_;
  NativeLaunch<Scalar> launch_{};
  int blocks_ = 0, width_ = 0, count_ = 0;
  bool taken_ = false;
  OwnedArray<Scalar, Kokkos::Cuda> values_; ///< of even lines, then of odd ones: T, couplings
  Index offsets_[ColouredArguments<Scalar>::most_couplings] = {};
};

} // namespace weft::cuda
