/// Line relaxation in one pass for every second line of those that stand side by side in memory (y and z lines of a grid, zebra): natively on
/// CUDA, sm_90.
///
/// Lines of one colour alternate with the others, so that a row of the matrix brings as many coefficients that are not wanted as others. So the
/// coefficients stand once more by colour, 128 bytes of neighbouring lines of it a row, and are fetched while the bundle before is solved. A
/// block or a cluster of blocks solves a bundle as in wide_strided.hpp.
///
/// Words moved per row that is relaxed: three coefficients, and one for each coupling; b, x and x again, each twice, since a memory sector holds
/// both colours. Limits: one unknown a node, up to 16 blocks a line, couplings to other lines only, eight of them.
#pragma once
#include "line/methods/wide/wide_strided.hpp"
#include "line/relax/couplings.hpp"

namespace weft::cuda {

/// Where coefficients stand by colour: those of the k-th line of a colour in row j of the lines, row r, at (j * length + r) * pitch + k of a
/// diagonal's own.
struct ByColour {
  Index length = 0, across = 0, pitch = 0;

  ByColour() = default;
  /// Rows of `width` lines begin at multiples of so many elements.
  ByColour(const LineLayout &layout, Index width)
      : length(layout.length), across(layout.across[1]), pitch(((layout.across[0] + 1) / 2 + width - 1) / width * width)
  {
  }
  WEFT_INLINE Index size() const { return across * length * pitch; } ///< of a diagonal
  /// The first line of a colour in row j of the lines.
  WEFT_INLINE static int first(const LineLayout &layout, Colour colour, Index j)
  {
    return static_cast<int>(j + layout.first_colour + static_cast<int>(colour)) & 1;
  }
};

template <class Scalar>
struct ColouredArguments {
  static constexpr int most_couplings = 8;

  NativeArguments<Scalar> lines; ///< lower, diagonal, upper: by colour
  ByColour place;
  int couplings = 0; ///< in use
  const Scalar *coefficients[most_couplings];
  Index offsets[most_couplings];
  const Scalar *x; ///< what couplings multiply
  Index rows;      ///< of x
};

/// 16 bytes without waiting, which nobody reads again.
template <class Scalar>
__device__ void piece_copy(Scalar *to, const Scalar *from)
{
  std::uint64_t once;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(once));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "l"(once) : "memory");
}
/// An element without waiting.
template <class Scalar>
__device__ void element_copy(Scalar *to, const Scalar *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(sizeof(Scalar)) : "memory");
}

template <class Scalar, int R, int T, int W>
struct ColouredBlock : StridedBlock<Scalar, R, T, W, Sharing::cluster, true, true> {
  using Base = StridedBlock<Scalar, R, T, W, Sharing::cluster, true, true>;
  using Tile = typename Base::Tile;
  using Base::a, Base::tile, Base::w, Base::first, Base::first_row, Base::rows;
  const ColouredArguments<Scalar> &all;

  __device__ ColouredBlock(const ColouredArguments<Scalar> &arguments, Tile &in, int number)
      : Base{arguments.lines, in, number}, all(arguments)
  {
  }
  __device__ Index bundles_across() const { return all.place.pitch / W; }
  __device__ Index bundles() const { return bundles_across() * all.place.across; }

  struct Place : Base::Place {
    Index coefficient = 0; ///< of its first line, this block's first row
  };
  /// The colours take bundles in opposite order: of b and x, which both need, the second one finds in the cache what the first one had last.
  __device__ Place place(Index number) const
  {
    const LineLayout &layout = a.layout;
    const Index k            = a.colour == Colour::odd ? number : bundles() - 1 - number;
    const Index j = layout.across[1] > 1 ? k / bundles_across() : 0, before = (k - j * bundles_across()) * W;
    const Index i = 2 * before + ByColour::first(layout, a.colour, j), left = (layout.across[0] - i + 1) / 2;
    Place at;
    at.line        = j * layout.across[0] + i;
    at.element     = i + j * layout.across_stride[1] + first_row() * layout.stride;
    at.lines       = static_cast<int>(left < 0 ? 0 : left < W ? left : W);
    at.apart       = 2;
    at.coefficient = (j * all.place.length + first_row()) * all.place.pitch + before;
    return at;
  }
  __device__ void fetch(const Place &at) const
  {
    constexpr int piece = Tile::piece, pieces = W / piece, apart = T / pieces;
    const int mine = int(threadIdx.x) % pieces * piece;
    Index from     = at.coefficient + threadIdx.x / pieces * all.place.pitch + mine;
#pragma unroll
    for (int r = int(threadIdx.x) / pieces; r < Tile::rows; r += apart, from += apart * all.place.pitch) {
      if (r >= rows()) break;
      piece_copy(tile.in[0] + r * W + mine, a.lower + from);
      piece_copy(tile.in[1] + r * W + mine, a.diagonal + from);
      piece_copy(tile.in[2] + r * W + mine, a.upper + from);
    }
    if (w() >= at.lines) return;
    const Scalar *b = a.rhs + at.element + first() * a.layout.stride + 2 * w();
#pragma unroll
    for (int j = 0; j < R; j++, b += a.layout.stride) {
      if (first() + j < rows()) element_copy(tile.in[3] + (first() + j) * W + w(), b);
    }
  }
  /// The couplings' part of the right-hand sides. Two couplings at once: that many loads are on their way together.
  __device__ void begin(const Place &at, Chunk<Scalar, R> &chunk) const
  {
    const Index element = at.element + first() * a.layout.stride + 2 * w(), coefficient = at.coefficient + first() * all.place.pitch + w();
    const int count = w() < at.lines ? rows() - first() : 0;
#pragma unroll
    for (int j = 0; j < R; j++) chunk.rhs[j] = 0;
    for (int m = 0; m < all.couplings; m += 2) {
      Scalar c[2][R], x[2][R];
#pragma unroll
      for (int two = 0; two < 2; two++) {
        const bool here    = m + two < all.couplings;
        const int coupling = here ? m + two : m;
        const Scalar *of_x = all.coefficients[coupling] + coefficient;
        Index i            = element + all.offsets[coupling];
#pragma unroll
        for (int j = 0; j < R; j++, i += a.layout.stride, of_x += all.place.pitch) {
          c[two][j] = here && j < count ? __ldcs(of_x) : Scalar(0);
          x[two][j] = here && j < count && i >= 0 && i < all.rows ? all.x[i] : Scalar(0);
        }
      }
#pragma unroll
      for (int two = 0; two < 2; two++) {
#pragma unroll
        for (int j = 0; j < R; j++) chunk.rhs[j] -= times(c[two][j], x[two][j]);
      }
    }
  }
  __device__ void read(const Place &at, Chunk<Scalar, R> &chunk) const
  {
    const int here = first() * W + w(), count = w() < at.lines ? rows() - first() : 0;
#pragma unroll
    for (int j = 0; j < R; j++) {
      chunk.lower[j]    = j < count ? tile.in[0][here + j * W] : Scalar(0);
      chunk.diagonal[j] = j < count ? tile.in[1][here + j * W] : Scalar(1);
      chunk.upper[j]    = j < count ? tile.in[2][here + j * W] : Scalar(0);
      chunk.rhs[j] += j < count ? tile.in[3][here + j * W] : Scalar(0);
    }
  }
  __device__ void substitute_and_store(const Place &at, Chunk<Scalar, R> &chunk) const
  {
    const Scalar *x = tile.x + w() * Tile::pitch + this->chunk_of_line();
    chunk.substitute(x[0], x[1]);
    if (w() >= at.lines) return;
    Scalar *to = a.solution + at.element + first() * a.layout.stride + 2 * w();
#pragma unroll
    for (int j = 0; j < R; j++, to += a.layout.stride) {
      if (first() + j < rows()) put(*to, a.update, chunk.rhs[j]);
    }
  }
};

template <class Scalar, int R, int T, int W, int at_least>
__global__ void __launch_bounds__(T, at_least) coloured_relaxation(const ColouredArguments<Scalar> a)
{
  using Block = ColouredBlock<Scalar, R, T, W>;
  extern __shared__ __align__(128) char shared[];
  const int blocks = a.lines.exchange.blocks;
  solve_bundles<Sharing::cluster, true>(Block(a, *reinterpret_cast<typename Block::Tile *>(shared), static_cast<int>(blockIdx.x % blocks)),
                                        blocks);
}

} // namespace weft::cuda
