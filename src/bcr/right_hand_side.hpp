/// What a solve does to right-hand sides before, and to solutions of singular operators after: weights, factors, means.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/backend.hpp"
#include "bcr/box_range.hpp"
#include "line/tridiagonal.hpp"

namespace weft::poisson {

/// The right-hand side of W^-1 A, times a factor: to = from * scale_x * scale_y * scale_z * factor - factor * perturbation.
template <class Space, class Scalar>
struct ScaleRightHandSide {
  Index n[3];
  OwnedArray<Scalar, Space> scale[3];
  Scalar factor;
  const Scalar *from;
  Scalar *to;
  Kokkos::View<const double, typename Space::memory_space> perturbation; ///< or empty

  /// Of a value at that place; without the factor.
  KOKKOS_INLINE_FUNCTION Scalar scaled(Scalar value, Index x, Index y, Index z) const
  {
    if (scale[0].extent(0) > 0) value *= scale[0](x);
    if (scale[1].extent(0) > 0) value *= scale[1](y);
    if (scale[2].extent(0) > 0) value *= scale[2](z);
    return value;
  }
  KOKKOS_INLINE_FUNCTION Scalar scaled(Index number) const
  {
    const Index xy = number / n[0], x = number - xy * n[0], z = xy / n[1], y = xy - z * n[1];
    return scaled(from[number], x, y, z);
  }
  KOKKOS_INLINE_FUNCTION Scalar finished(Scalar value) const
  {
    if (perturbation.data()) value -= static_cast<Scalar>(perturbation());
    return factor * value;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const { to[number] = finished(scaled(number)); }
};

/// n elements of a line in an array of `length`, in two parts, of which the second begins at `first`: as they are, or, where it folds, the sums
/// x_j + x_{n-1-j} and the differences x_j - x_{n-1-j}, which transforms by parity take apart. The part that is shorter ends with zeros.
struct Halves {
  Index n = 1, length = 1, first = 1;
  bool folds = false, even_first = true;

  /// Places of each part; that number j has of the first and of the second part, and the elements that they are made of: -1 where there is none.
  WEFT_INLINE Index places() const { return first > length - first ? first : length - first; }
  WEFT_INLINE Index place(Index j, int part) const
  {
    if (part == 0) return j < first ? j : -1;
    return first + j < length ? first + j : -1;
  }
  WEFT_INLINE Index element(Index j, int which) const
  {
    if (!folds) return place(j, which) < n ? place(j, which) : -1;
    if (which == 0) return 2 * j < n ? j : -1;
    return 2 * j + 1 < n ? n - 1 - j : -1;
  }
  /// From two elements, 0 where there are none, to two places and back. A middle element is its own sum.
  template <class Scalar>
  WEFT_INLINE void fold(Scalar &a, Scalar &b, Index j) const
  {
    if (!folds) return;
    const Scalar sum = a + b, difference = 2 * j + 1 < n ? a - b : Scalar(0);
    a = even_first ? sum : difference;
    b = even_first ? difference : sum;
  }
  template <class Scalar>
  WEFT_INLINE void unfold(Scalar &a, Scalar &b) const
  {
    if (!folds) return;
    const Scalar even = even_first ? a : b, odd = even_first ? b : a;
    a = even + odd;
    b = even - odd;
  }
};

/// Arrays of more elements along each direction than a grid has, those behind its own being 0, where a direction may fold. Of a plane there may be
/// several, one after the other as planes of z, for right-hand sides and solutions `apart` elements from each other.
struct PaddedArray {
  Halves x, y;
  Index n = 1, length = 1; ///< along z

  Index size() const { return x.length * y.length * length; }
  /// Four places, or elements, of a plane for each thread.
  template <class Space>
  auto range(const Space &space, Index planes) const
  {
    return box_range(space, x.places(), y.places(), planes);
  }
  WEFT_INLINE Index place(Index i, Index j, Index k) const { return i + x.length * (j + y.length * k); }
};

template <class Space, class Scalar>
struct IntoPadded {
  PaddedArray array;
  ScaleRightHandSide<Space, Scalar> of;
  Index apart; ///< of planes, or of right-hand sides

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, const Index j, const Index k) const
  {
    const bool plane  = array.n == 1 || k < array.n;
    const auto inside = [&](Index x, Index y) { return plane && x >= 0 && y >= 0; };
    Scalar v[2][2];
    for (int b : {0, 1}) {
      for (int a : {0, 1}) { // all on their way before the first is looked at
        const Index x = array.x.element(i, a), y = array.y.element(j, b);
        v[b][a] = inside(x, y) ? of.from[x + array.x.n * y + apart * k] : Scalar(0);
      }
    }
    for (int b : {0, 1}) {
      for (int a : {0, 1}) {
        const Index x = array.x.element(i, a), y = array.y.element(j, b);
        if (inside(x, y)) v[b][a] = of.finished(of.scaled(v[b][a], x, y, array.n == 1 ? 0 : k));
      }
      array.x.fold(v[b][0], v[b][1], i);
    }
    for (int a : {0, 1}) {
      array.y.fold(v[0][a], v[1][a], j);
      for (int b : {0, 1}) {
        const Index x = array.x.place(i, a), y = array.y.place(j, b);
        if (x >= 0 && y >= 0) of.to[array.place(x, y, k)] = v[b][a];
      }
    }
  }
};

template <class Scalar>
struct OutOfPadded {
  PaddedArray array;
  const Scalar *from;
  Scalar *to;
  Index apart;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, const Index j, const Index k) const
  {
    Scalar v[2][2];
    for (int b : {0, 1}) {
      for (int a : {0, 1}) {
        const Index x = array.x.place(i, a), y = array.y.place(j, b);
        v[b][a] = x >= 0 && y >= 0 ? from[array.place(x, y, k)] : Scalar(0);
      }
      array.x.unfold(v[b][0], v[b][1]);
    }
    for (int a : {0, 1}) {
      array.y.unfold(v[0][a], v[1][a]);
      for (int b : {0, 1}) {
        const Index x = array.x.element(i, a), y = array.y.element(j, b);
        if (x >= 0 && y >= 0) to[x + array.x.n * y + apart * k] = v[b][a];
      }
    }
  }
};

/// sum of left_x left_y left_z (the scaled right-hand side), divided by the sum of left_x left_y left_z.
template <class Space, class Scalar>
struct MeanOf {
  ScaleRightHandSide<Space, Scalar> of;
  OwnedArray<double, Space> left[3];

  KOKKOS_INLINE_FUNCTION void operator()(const Index number, double &sum) const
  {
    const Index xy = number / of.n[0], x = number - xy * of.n[0], z = xy / of.n[1], y = xy - z * of.n[1];
    sum += left[0](x) * left[1](y) * left[2](z) * static_cast<double>(of.scaled(number));
  }
};

template <class Space>
struct Divide {
  Kokkos::View<double, typename Space::memory_space> value;
  double by;
  KOKKOS_INLINE_FUNCTION void operator()(const Index) const { value() /= by; }
};

} // namespace weft::poisson
