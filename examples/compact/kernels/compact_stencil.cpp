#include "kernels/compact_stencil.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/backend.hpp"
#include "base/kernel_scalar.hpp"
#include "base/simd.hpp"
#include "kernels/compact_weights.hpp"

namespace weft {

template <class Scalar>
class CompactStencil<Scalar>::Impl {
public:
  virtual ~Impl()                                                                                           = default;
  virtual void tell(const Scalar *f, Index depth, bool first, Scalar *message) const                        = 0;
  virtual void apply_inside(const Scalar *f, Scalar *result) const                                          = 0;
  virtual void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const = 0;
};

template <class Scalar>
template <class Space>
class CompactStencil<Scalar>::ImplOn final : public CompactStencil<Scalar>::Impl {
public:
  using Real = RealOf<Scalar>;

  ImplOn(const Space &space, const BoxPiece &piece, const CompactRows &rows, bool needs_before, bool needs_after)
      : space_(space), piece_(piece), weights_(weights_of<Real>(rows)), begin_(needs_before ? weights_.width : 0),
        end_(piece.rows() - (needs_after ? weights_.width : 0))
  {
  }

  void tell(const Scalar *f, Index depth, bool first, Scalar *message) const override
  {
    copy_rows(space_, piece_, first ? 0 : piece_.rows() - depth, depth, f, message);
  }
  void apply_inside(const Scalar *f, Scalar *result) const override
  {
    switch (weights_.width) {
    case 1:
      return inside<1>(f, result);
    case 2:
      return inside<2>(f, result);
    default:
      return inside<3>(f, result);
    }
  }
  template <int width>
  void inside(const Scalar *f, Scalar *result) const
  {
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible)
      rows_of_points<width>(space_, piece_, weights_, begin_, end_, f, result);
    else if (piece_.rows() * piece_.lines() <= std::numeric_limits<std::int32_t>::max())
      points<width, std::uint32_t>(space_, piece_, weights_, begin_, end_, f, result);
    else
      points<width, std::uint64_t>(space_, piece_, weights_, begin_, end_, f, result);
  }
  void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const override
  {
    if (begin_ > 0 || end_ < piece_.rows()) ends(space_, piece_, weights_, begin_, end_, f, before, after, result);
  }

  /// The sum of a row whose window of 2 width + 1 rows is here.
  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION static Scalar weighted(const StencilWeights<Real> &weights, const Scalar (&window)[2 * width + 1])
  {
    Scalar sum = 0;
    for (int j = 0; j <= 2 * width; j++) sum += weights.inner[j] * window[j];
    return sum;
  }

  /// On a device. Along x a thread has a point, and neighbouring threads neighbouring ones; else a thread has `several` points that follow
  /// each other on a line, which it reads once, all loads before the sums. Unsigned says how far points are counted; 32 bits divide faster.
  template <int width, class Unsigned>
  static void points(const Space &space, const BoxPiece &piece, const StencilWeights<Real> &weights, Index begin, Index end,
                     const Scalar *f, Scalar *result)
  {
    constexpr int several = 4;
    const auto stride = static_cast<Unsigned>(piece.stride()), rows = static_cast<Unsigned>(piece.rows());
    const Index from = piece.first, length = piece.length;
    const bool ring = piece.ring;
    if (stride == 1) {
      Kokkos::parallel_for(
          "weft compact stencil", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, piece.rows() * piece.lines()),
          KOKKOS_LAMBDA(const Index number) {
            const auto row    = static_cast<Index>(static_cast<Unsigned>(number) % rows);
            const Index whole = from + row, left = length - 1 - whole;
            if (row < begin || row >= end) return;
            if (is_special(weights, width, whole, left, ring)) {
              result[number] = special(weights, f + number, whole, length, ring, 1);
              return;
            }
            Scalar window[2 * width + 1];
            for (int j = 0; j <= 2 * width; j++) window[j] = f[number + j - width];
            result[number] = weighted<width>(weights, window);
          });
      return;
    }
    const Unsigned groups = (rows + several - 1) / several;
    Kokkos::parallel_for(
        "weft compact stencil", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(groups) * piece.lines()),
        KOKKOS_LAMBDA(const Index item) {
          const auto at        = static_cast<Unsigned>(item);
          const Unsigned group = at / stride;
          const auto first_row = static_cast<Index>(group % groups * several), step = static_cast<Index>(stride),
                     count   = static_cast<Index>(rows);
          const Index number = (static_cast<Index>(group / groups) * count + first_row) * step + static_cast<Index>(at % stride);
          Scalar window[several + 2 * width];
          for (int j = 0; j < several + 2 * width; j++) {
            const Index row = first_row + j - width;
            window[j]       = row >= 0 && row < count ? f[number + (j - width) * step] : Scalar(0);
          }
          for (int k = 0; k < several; k++) {
            const Index row = first_row + k, whole = from + row, left = length - 1 - whole, here = number + k * step;
            if (row < begin || row >= end) continue;
            if (is_special(weights, width, whole, left, ring)) {
              result[here] = special(weights, f + here, whole, length, ring, step);
            } else {
              Scalar own[2 * width + 1];
              for (int j = 0; j <= 2 * width; j++) own[j] = window[k + j];
              result[here] = weighted<width>(weights, own);
            }
          }
        });
  }

  /// The numbers of points: two of a complex one.
  static const Real *numbers(const Scalar *points) { return reinterpret_cast<const Real *>(points); }
  static Real *numbers(Scalar *points) { return reinterpret_cast<Real *>(points); }

  /// `count` numbers that follow each other in memory, whose neighbours on their lines are `apart`.
  template <int width>
  static void sum_points(const StencilWeights<Real> &weights, const Real *f, Index apart, Index count, Real *KOKKOS_RESTRICT to)
  {
    Real inner[2 * width + 1]; // a copy: stores cannot change it
    std::copy_n(weights.inner, 2 * width + 1, inner);
    with_widest_vectors([&] {
      for (Index i = 0; i < count; i++) {
        Real value = inner[width] * f[i];
        for (int j = 1; j <= width; j++) value += inner[width - j] * f[i - j * apart] + inner[width + j] * f[i + j * apart];
        to[i] = value;
      }
    });
  }

  /// On a host: loops that vectorize, along the lines where their rows are neighbours, else over the lines side by side.
  template <int width>
  static void rows_of_points(const Space &space, const BoxPiece &piece, const StencilWeights<Real> &weights, Index begin, Index end,
                             const Scalar *f, Scalar *result)
  {
    const Index step = piece.stride(), rows = piece.rows(), from = piece.first, length = piece.length;
    const bool ring = piece.ring;
    // Rows with weights of their own, or that reach around.
    const Index low = ring ? width - from : weights.heads - from, high = length - from - (ring ? width : weights.tails);
    const Index first = Kokkos::min(Kokkos::max(begin, low), end), last = Kokkos::max(Kokkos::min(end, high), first);
    const auto of_its_own = [=](const Scalar *at, Index row) { return special(weights, at, from + row, length, ring, step); };
    constexpr Index parts = sizeof(Scalar) / sizeof(Real);
    Kokkos::parallel_for(
        "weft compact stencil",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, step == 1 ? piece.lines() : rows * piece.lines() / step),
        [=](const Index number) {
          if (step == 1) {
            const Scalar *line = f + number * rows;
            Scalar *to         = result + number * rows;
            for (Index row = begin; row < first; row++) to[row] = of_its_own(line + row, row);
            sum_points<width>(weights, numbers(line + first), parts, parts * (last - first), numbers(to + first));
            for (Index row = last; row < end; row++) to[row] = of_its_own(line + row, row);
          } else {
            const Index row    = number % rows;
            const Scalar *line = f + number * step;
            Scalar *to         = result + number * step;
            if (row < begin || row >= end) return;
            if (row >= first && row < last) {
              sum_points<width>(weights, numbers(line), parts * step, parts * step, numbers(to));
            } else {
              for (Index i = 0; i < step; i++) to[i] = of_its_own(line + i, row);
            }
          }
        });
  }

  static void copy_rows(const Space &space, const BoxPiece &piece, Index first, Index count, const Scalar *f, Scalar *message)
  {
    const Index stride = piece.stride(), rows = piece.rows(), lines = piece.lines();
    Kokkos::parallel_for(
        "weft compact rows to send", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count * lines),
        KOKKOS_LAMBDA(const Index number) {
          const Index line = number % lines, row = first + number / lines;
          message[number] = f[line % stride + (line / stride * rows + row) * stride];
        });
  }

  /// The rows that reach over the piece's ends.
  static void ends(const Space &space, const BoxPiece &piece, const StencilWeights<Real> &weights, Index begin, Index end, const Scalar *f,
                   const Scalar *before, const Scalar *after, Scalar *result)
  {
    const Index stride = piece.stride(), rows = piece.rows(), lines = piece.lines(), count = begin + rows - end;
    Kokkos::parallel_for(
        "weft compact stencil ends", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count * lines),
        KOKKOS_LAMBDA(const Index number) {
          const Index line = number % lines, k = number / lines, row = k < begin ? k : end + k - begin;
          const Index start = line % stride + line / stride * stride * rows;
          Scalar sum        = 0;
          for (int j = -weights.width; j <= weights.width; j++) {
            const Index r      = row + j;
            const Scalar value = r < 0       ? before[(weights.width + r) * lines + line]
                                 : r >= rows ? after[(r - rows) * lines + line]
                                             : f[start + r * stride];
            sum += weights.inner[weights.width + j] * value;
          }
          result[start + row * stride] = sum;
        });
  }

private:
  Space space_;
  BoxPiece piece_;
  StencilWeights<Real> weights_;
  Index begin_, end_; ///< rows that need no neighbour
};

template <class Scalar>
CompactStencil<Scalar>::CompactStencil(const Execution &execution, const BoxPiece &piece, const CompactRows &rows)
    : piece_(piece), width_(rows.width()), needs_before_(piece.ring ? piece.rows() < piece.length : piece.first > 0),
      needs_after_(piece.ring ? piece.rows() < piece.length : piece.first + piece.rows() < piece.length)
{
  check_stencil(piece.ring || (static_cast<int>(rows.head.size()) >= width_ && static_cast<int>(rows.tail.size()) >= width_),
                "an open line needs rows of their own at both ends, as many as the stencil reaches");
  const int head = piece.ring || needs_before_ ? 0 : reach(rows.head), tail = piece.ring || needs_after_ ? 0 : reach(rows.tail),
            both  = head > 0 && tail > 0 ? static_cast<int>(rows.head.size() + rows.tail.size()) : 0,
            sides = width_ * (needs_before_ + needs_after_), needed = std::max({head, tail, both, sides, piece.ring ? 2 * width_ : width_});
  check_stencil(piece.rows() >= needed, "a box of " + std::to_string(piece.rows()) + " rows is shorter than the stencil, which needs " +
                                            std::to_string(needed) + " here: take fewer ranks along this direction, or more points");
  impl_ = on_backend(execution, [&](const auto &space) -> std::unique_ptr<Impl> {
    return std::make_unique<ImplOn<std::decay_t<decltype(space)>>>(space, piece, rows, needs_before_, needs_after_);
  });
}

template <class Scalar>
CompactStencil<Scalar>::~CompactStencil()
{
  destroy_or_leave(impl_);
}

template <class Scalar>
void CompactStencil<Scalar>::tell(const Scalar *f, Index depth, Scalar *to_before, Scalar *to_after) const
{
  if (needs_before_) impl_->tell(f, depth, true, to_before);
  if (needs_after_) impl_->tell(f, depth, false, to_after);
}

template <class Scalar>
void CompactStencil<Scalar>::apply_inside(const Scalar *f, Scalar *result) const
{
  impl_->apply_inside(f, result);
}

template <class Scalar>
void CompactStencil<Scalar>::apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const
{
  impl_->apply_ends(f, before, after, result);
}

template class CompactStencil<KernelScalar>;
template class CompactStencil<OtherScalar>;

} // namespace weft
