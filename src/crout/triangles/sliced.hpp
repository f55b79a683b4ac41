/// A triangle in slices of 32 rows, entry k of all rows of a slice side by side: threads of a warp, a row each, read what lies together, which
/// short compressed rows deny them (SELL-C: Kreutzer, Hager, Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36, 2014, without sorting). Instead
/// of a column, its distance from the row, in 16 bits where all are less than 65536. Shorter rows of a slice are filled up with zeros at
/// distance 0.
#pragma once
#include "crout/triangles/triangle.hpp"

namespace weft::triangular {

inline constexpr int slice_rows = 32;

/// What a kernel needs of it. Values are scaled: row i of scale (N x) is the sum of value * x.
template <class Scalar>
struct Sliced {
  const std::int32_t *starts = nullptr; ///< slices + 1, in multiples of slice_rows entries; null: there is none
  const Scalar *values       = nullptr;
  const std::uint16_t *near  = nullptr; ///< distances, these
  const std::uint32_t *far   = nullptr; ///< or these

  /// Calls body(k, at) for the entries of row i.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_row(Index i, const Body &body) const
  {
    const Index slice = i / slice_rows;
    const int width   = starts[slice + 1] - starts[slice];
    Index at          = Index(starts[slice]) * slice_rows + i % slice_rows;
    for (int k = 0; k < width; k++, at += slice_rows) body(k, at);
  }
};

/// Kernel as in RowByThread, without the scale; its start(i, g) is called first and finish(i, g, sums) last, so that what depends on nothing is under way
/// with the entries. backwards: from the last slice to the first, which a kernel that has just gone the other way has left in the cache.
template <int width, class Scalar, class Kernel>
struct RowBySlice {
  static constexpr int at_once = 4;
  Kernel kernel;
  Sliced<Scalar> sliced;
  int rows;
  bool forward, backwards; ///< forward: the triangle

  KOKKOS_INLINE_FUNCTION int slices() const { return (rows + slice_rows - 1) / slice_rows; }
  KOKKOS_INLINE_FUNCTION void operator()(const Index position) const
  {
    const int number = static_cast<int>(position / slice_rows), slice = backwards ? slices() - 1 - number : number,
              i = slice * slice_rows + static_cast<int>(position % slice_rows);
    if (i >= rows) return;
    KernelScalar g[width], sums[width];
    kernel.start(i, g);
    for (int c = 0; c < width; c++) sums[c] = 0;
    const int size = sliced.starts[slice + 1] - sliced.starts[slice], away = forward ? -1 : 1;
    const Index at = Index(sliced.starts[slice]) * slice_rows + i % slice_rows;
    const auto add = [&](const auto *distances) {
      for (int first = 0; first < size; first += at_once) { // so many loads under way at a time
        Scalar values[at_once];
        int columns[at_once];
        for (int k = 0; k < at_once; k++) {
          const bool there = first + k < size;
          const Index from = at + (first + k) * slice_rows;
          values[k]        = there ? sliced.values[from] : Scalar(0);
          columns[k]       = there ? i + away * static_cast<int>(distances[from]) : i;
        }
        for (int c = 0; c < width; c++) {
          KernelScalar neighbours[at_once];
          for (int k = 0; k < at_once; k++) neighbours[k] = first + k < size ? kernel.neighbour(columns[k], c) : KernelScalar(0);
          for (int k = 0; k < at_once; k++) sums[c] += Working<Scalar>(values[k]) * neighbours[k];
        }
      }
    };
    if (sliced.near)
      add(sliced.near);
    else
      add(sliced.far);
    kernel.finish(i, g, sums);
  }
};

template <class Scalar>
struct WidthOfSlice {
  Triangle<Scalar> t;
  std::int32_t *starts;

  KOKKOS_INLINE_FUNCTION void operator()(const Index slice, Index &longest) const
  {
    std::int64_t most = 0;
    const Index begin = slice * slice_rows, end = begin + slice_rows < t.rows ? begin + slice_rows : t.rows;
    for (Index i = begin; i < end; i++) {
      const std::int64_t first = t.starts[i], last = t.starts[i + 1];
      if (last == first) continue;
      const Index distance = t.forward ? i - t.columns[first] : t.columns[last - 1] - i;
      if (distance > longest) longest = distance;
      if (last - first > most) most = last - first;
    }
    starts[slice] = static_cast<std::int32_t>(most);
  }
};

struct StartOfSlice {
  std::int32_t *starts;
  Index slices;

  KOKKOS_INLINE_FUNCTION void operator()(const Index slice, Index &sum, const bool final) const
  {
    const Index width = slice < slices ? starts[slice] : 0;
    if (final) starts[slice] = static_cast<std::int32_t>(sum);
    sum += width;
  }
};

template <class Scalar, class Distance>
struct DistancesOfRow {
  Triangle<Scalar> t;
  Sliced<Scalar> sliced;
  Distance *distances;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    const std::int64_t first = t.starts[i], size = t.starts[i + 1] - first;
    sliced.for_row(i, [&](int k, Index at) {
      const Index distance = k >= size ? 0 : t.forward ? i - t.columns[first + k] : t.columns[first + k] - i;
      distances[at]        = static_cast<Distance>(distance);
    });
  }
};

/// Values of a row, scaled; finds the largest sum of sizes of a row.
template <class Scalar>
struct ValuesOfRow {
  Triangle<Scalar> t;
  const Scalar *scale;
  Sliced<Scalar> sliced;
  Scalar *values;

  static constexpr int at_once = 4;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &largest) const
  {
    const std::int64_t first = t.starts[i], size = t.starts[i + 1] - first;
    const Index slice = i / slice_rows;
    const int begin = sliced.starts[slice], width = sliced.starts[slice + 1] - begin;
    const Index at      = Index(begin) * slice_rows + i % slice_rows;
    const Scalar factor = scale ? scale[i] : Scalar(1);
    double sum          = 0;
    for (int k = 0; k < width; k += at_once) { // so many loads under way at a time
      Scalar some[at_once];
      for (int a = 0; a < at_once; a++) some[a] = k + a < size ? factor * t.values[first + k + a] : Scalar(0);
      for (int a = 0; a < at_once; a++) {
        if (k + a < width) values[at + (k + a) * slice_rows] = some[a];
        sum += static_cast<double>(modulus(some[a]));
      }
    }
    if (!(sum <= largest)) largest = sum;
  }
};

/// The same sum where there are no slices.
template <class Scalar>
struct SizeOfRow {
  Triangle<Scalar> t;
  const Scalar *scale;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i, double &largest) const
  {
    double sum = 0;
    for (std::int64_t k = t.starts[i]; k < t.starts[i + 1]; k++) sum += static_cast<double>(modulus(t.values[k]));
    sum = modulus(times(scale, i, sum));
    if (!(sum <= largest)) largest = sum;
  }
};

/// Owns the arrays of a sliced triangle.
template <class Space, class Scalar>
class Slices {
public:
  /// Takes a pattern. Where filling up would take half as much again as the entries, none is made. with_values: they have a place for values
  /// here. Waits.
  void analyse(const Space &space, const Triangle<Scalar> &t, bool with_values = true)
  {
    *this              = {};
    const Index slices = (t.rows + slice_rows - 1) / slice_rows;
    starts_            = Owned<std::int32_t, Space>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft slices"),
                                         static_cast<std::size_t>(slices + 1));
    Index longest = 0, total = 0;
    Kokkos::parallel_reduce("weft widths of slices", policy(space, slices), WidthOfSlice<Scalar>{t, starts_.data()},
                            Kokkos::Max<Index>(longest));
    Kokkos::parallel_scan("weft starts of slices", policy(space, slices + 1), StartOfSlice{starts_.data(), slices}, total);
    space.fence("weft starts of slices");
    total *= slice_rows;
    if (total > t.entries + t.entries / 2 + slice_rows) return;
    places_ = total;
    if (with_values) values_ = room<Scalar>(space, total);
    sliced_.starts = starts_.data();
    sliced_.values = values_.data();
    if (longest <= 0xffff)
      set_distances(space, t, total, near_, sliced_.near);
    else
      set_distances(space, t, total, far_, sliced_.far);
  }
  /// Takes values. Returns the largest sum of sizes in a row of scale N. Waits.
  double update(const Space &space, const Triangle<Scalar> &t, const Scalar *scale)
  {
    double largest = 0;
    if (sliced_.starts)
      Kokkos::parallel_reduce("weft values of slices", policy(space, t.rows), ValuesOfRow<Scalar>{t, scale, sliced_, values_.data()},
                              Kokkos::Max<double>(largest));
    else
      Kokkos::parallel_reduce("weft sizes of rows", policy(space, t.rows), SizeOfRow<Scalar>{t, scale}, Kokkos::Max<double>(largest));
    space.fence("weft values of slices");
    return largest;
  }
  const Sliced<Scalar> &sliced() const { return sliced_; }
  /// Values, those that fill up among them.
  Index places() const { return places_; }

private:
  static Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>> policy(const Space &space, Index size) { return {space, 0, size}; }
  template <class T>
  static Owned<T, Space> room(const Space &space, Index size)
  {
    return Owned<T, Space>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "weft slices"), static_cast<std::size_t>(size));
  }
  template <class Distance>
  void set_distances(const Space &space, const Triangle<Scalar> &t, Index total, Owned<Distance, Space> &array, const Distance *&to)
  {
    array = room<Distance>(space, total);
    Kokkos::parallel_for("weft distances of slices", policy(space, t.rows), DistancesOfRow<Scalar, Distance>{t, sliced_, array.data()});
    to = array.data();
  }

  Owned<std::int32_t, Space> starts_;
  Owned<Scalar, Space> values_;
  Owned<std::uint16_t, Space> near_;
  Owned<std::uint32_t, Space> far_;
  Sliced<Scalar> sliced_;
  Index places_ = 0;
};

} // namespace weft::triangular
