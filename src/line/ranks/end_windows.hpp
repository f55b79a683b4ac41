/// Rows 0 and m-1 of the inverse of each line's piece from windows at its ends, where the rest of the piece adds nothing to them.
///
/// With rows counted from the end that a window belongs to, and couplings `out` of a row to the next one and `back` of that one to it, elimination
/// from the window's last row on and substitution from the first one on,
///   p_{W-1} = d_{W-1},   p_k = d_k - out_k back_{k+1} / p_{k+1},        y_0 = 1 / p_0,   y_{k+1} = -out_k y_k / p_{k+1},
/// give y with
///   x_0 = sum over k < W of y_k rhs_k  +  s x_W,        s = -out_{W-1} y_{W-1},
/// whatever the rows from W on are. So where the spike s is nothing, y is that row of the inverse: the two solves of whole pieces that would make
/// both rows are spared. In the same way the first h of them do where out_{h-1} y_{h-1} and back_h y_h are nothing.
///
/// Words moved a row of a window: 9.
#pragma once
#include <algorithm>

#include "base/backend.hpp"
#include "base/pivot_flag.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// Coefficients of the lines' own, row by row in the layout of the lines; those of the transposed matrix stand with their neighbours.
template <class Space, class Scalar>
struct EndWindows {
  static constexpr Index too_short = Index(1) << 60; ///< for a number of rows: this window is

  LineLayout lines;
  const Scalar *lower, *diagonal, *upper;
  bool transposed;
  bool wanted[2];                    ///< of rows 0 and m-1; one that is not has zeros in its first and last place
  OwnedArray<Scalar, Space> rows[2]; ///< row 0 and row m-1 of each inverse, in the layout of the lines
  Index window;                      ///< rows
  double least;                      ///< what is nothing, next to 1

  /// Fills the rows, within their windows and at the pieces' far ends. Returns how many of them there are at each end, and false where a window
  /// is too short, or elimination in it is not safe, on some line. Waits.
  bool fill(const Space &space, Index (&count)[2]) const
  {
    const EndWindows self = *this;
    const Index all       = lines.count();
    Kokkos::parallel_reduce(
        "weft ends of inverses", Kokkos::RangePolicy<Space>(space, 0, 2 * all),
        KOKKOS_LAMBDA(const Index number, Index &first, Index &last) {
          const bool from_start = number < all;
          const Index rows      = self.fill(self.lines.start(from_start ? number : number - all), from_start);
          first                 = from_start ? Kokkos::max(first, rows) : first;
          last                  = from_start ? last : Kokkos::max(last, rows);
        },
        Kokkos::Max<Index>(count[0]), Kokkos::Max<Index>(count[1]));
    for (Index &rows_of_end : count) rows_of_end = std::max(rows_of_end, Index(0)); // no lines: the reduction's identity
    return std::max(count[0], count[1]) < too_short;
  }

  /// Of the line that begins at element `start`.
  KOKKOS_INLINE_FUNCTION Index fill(Index start, bool from_start) const
  {
    using Real               = RealOf<Scalar>;
    constexpr Real safe      = Real(1) / 16; // a smaller pivot next to what it is the difference of is left to methods that choose theirs
    const Index step         = from_start ? lines.stride : -lines.stride;
    const Index at           = from_start ? start : start + (lines.length - 1) * lines.stride;
    Scalar *const y          = rows[from_start ? 0 : 1].data();
    const Scalar *const near = from_start ? upper : lower, *const far = from_start ? lower : upper; // of a row to the next one, and back
    y[at + (lines.length - 1) * step] = 0;
    if (!wanted[from_start ? 0 : 1]) {
      y[at] = 0;
      return 0;
    }
    bool sound     = true;
    Scalar inverse = 0; // of the pivot before
    for (Index k = window - 1; k >= 0; k--) {
      const Index i        = at + k * step;
      const Scalar product = k + 1 < window ? near[i] * (far[i + step] * inverse) : Scalar(0), pivot = diagonal[i] - product;
      const Real scale  = modulus(diagonal[i]) + modulus(product);
      const bool usable = usable_pivot(pivot, scale) && modulus(pivot) >= safe * scale;
      sound             = sound && usable;
      inverse           = usable ? Scalar(1) / pivot : Scalar(0);
      y[i]              = inverse;
    }
    Scalar value = inverse;
    Index needed = 1;
    for (Index k = 0; k + 1 < window; k++) {
      const Index i = at + k * step, next = i + step;
      const Scalar out = transposed ? far[next] : near[i], back = transposed ? near[i] : far[next], spike = out * value;
      value   = -spike * y[next];
      y[next] = value;
      if (!(is_nothing(spike) && is_nothing(back * value))) needed = k + 2;
    }
    const Index i = at + (window - 1) * step;
    return sound && is_nothing((transposed ? far[i + step] : near[i]) * value) ? needed : too_short;
  }

private:
  KOKKOS_INLINE_FUNCTION bool is_nothing(Scalar effect) const { return static_cast<double>(modulus(effect)) <= least; }
};

} // namespace weft
