/// ChangedRows: a few rows that are others than a solver's, made right by a correction of low rank.
///
/// A = S + U V^T, U the unit vectors of those rows, V what they have more (transposed: the other way round). With Z = S^-1 U,
///     x = x_0 - Z C^-1 V^T x_0,   C = I + V^T Z,   x_0 = S^-1 b.
///
/// Rows in other units than S's are scaled: that is D A then, of which D b is the right-hand side (transposed: D times the solution is A's).
/// Source: M. Woodbury, Memorandum 42, Statistical Research Group, Princeton, 1950; W. Hager, SIAM Review 31 (1989) 221.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bcr/pencil/box_stencil.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson {

/// y = C^-1 V^T x, a thread a row.
template <class Space, class Scalar>
struct LookAtChanged {
  OwnedArray<Index, Space> start, node;
  OwnedArray<double, Space> value, inverse, y;
  const Scalar *x;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const
  {
    const auto count = static_cast<Index>(y.extent(0));
    double sum       = 0;
    for (Index j = 0; j < count; j++) {
      double seen = 0;
      for (Index e = start(j); e < start(j + 1); e++) seen += value(e) * static_cast<double>(x[node(e)]);
      sum += inverse(i * count + j) * seen;
    }
    y(i) = sum;
  }
};

template <class Space, class Scalar>
struct TakeChanged {
  OwnedArray<Scalar, Space> columns;
  OwnedArray<double, Space> y;
  Index size;
  Scalar *x;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    double sum = 0;
    for (Index i = 0; i < static_cast<Index>(y.extent(0)); i++) sum += y(i) * static_cast<double>(columns(i * size + k));
    x[k] -= static_cast<Scalar>(sum);
  }
};

/// Multiplies a few elements, a thread each.
template <class Space, class Scalar>
struct ScaleFew {
  OwnedArray<Index, Space> node;
  OwnedArray<double, Space> scale;
  Scalar *x;

  KOKKOS_INLINE_FUNCTION void operator()(const Index i) const { x[node(i)] *= static_cast<Scalar>(scale(i)); }
};

template <class Space, class Scalar>
class ChangedRows {
public:
  ChangedRows() = default;
  /// solve(rhs, solution) is S^-1, or its transpose.
  template <class Solve>
  ChangedRows(const Space &space, const PencilOperator &op, Transpose transpose, const Solve &solve) : space_(space), transpose_(transpose)
  {
    const std::size_t count = op.changed.size();
    std::vector<double> scales;
    Sparse units{{0}, {}, {}}, more = units;
    Index n[3];
    for (int d = 0; d < 3; d++) n[d] = op.directions[d].n();
    size_ = n[0] * n[1] * n[2];
    for (const ChangedRow &row : op.changed) {
      units.add(row.node, 1);
      units.end();
      scales.push_back(row.scale);
      for (int e = 0; e < 27; e++) {
        Index to[3] = {row.node % n[0], row.node / n[0] % n[1], row.node / n[0] / n[1]};
        for (int d = 0; d < 3; d++) to[d] = pencils::around(to[d] + pencils::step_of(e, d), n[d]);
        if (row.more[static_cast<std::size_t>(e)] != 0)
          more.add(to[0] + n[0] * (to[1] + n[1] * to[2]), row.more[static_cast<std::size_t>(e)]);
      }
      more.end();
    }
    const Sparse &u = transpose == Transpose::no ? units : more, &v = transpose == Transpose::no ? more : units;
    columns_ = OwnedArray<Scalar, Space>(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft changed rows"),
                                         count * static_cast<std::size_t>(size_));
    std::vector<double> c(count * count, 0); // C, row after row
    for (std::size_t j = 0; j < count; j++) {
      std::vector<Scalar> unit(static_cast<std::size_t>(size_), 0);
      for (Index e = u.start[j]; e < u.start[j + 1]; e++)
        unit[static_cast<std::size_t>(u.node[static_cast<std::size_t>(e)])] += static_cast<Scalar>(u.value[static_cast<std::size_t>(e)]);
      const auto rhs   = from_host(space_, "weft changed row", unit);
      Scalar *const to = columns_.data() + static_cast<Index>(j) * size_;
      solve(rhs.data(), to);
      const std::vector<Scalar> column = to_host(space_, to, size_);
      for (std::size_t i = 0; i < count; i++) {
        c[i * count + j] = i == j ? 1 : 0;
        for (Index e = v.start[i]; e < v.start[i + 1]; e++)
          c[i * count + j] += v.value[static_cast<std::size_t>(e)] *
                              static_cast<double>(column[static_cast<std::size_t>(v.node[static_cast<std::size_t>(e)])]);
      }
    }
    look_ = {upload<Index, Space>("weft changed rows", v.start),    upload<Index, Space>("weft changed rows", v.node),
             upload<double, Space>("weft changed rows", v.value),   upload<double, Space>("weft changed rows", inverse(c, count)),
             OwnedArray<double, Space>("weft changed rows", count), nullptr};
    if (std::all_of(scales.begin(), scales.end(), [](double scale) { return scale == 1; })) return;
    scale_ = {upload<Index, Space>("weft changed rows", units.node), upload<double, Space>("weft changed rows", scales), nullptr};
    if (transpose == Transpose::no)
      scaled_ = OwnedArray<Scalar, Space>(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "weft scaled rows"),
                                          static_cast<std::size_t>(size_));
  }

  bool any() const { return columns_.size() > 0; }
  std::size_t count() const { return look_.y.extent(0); }
  /// False where the correction has no inverse.
  bool regular() const { return regular_; }
  std::size_t bytes() const { return (columns_.size() + scaled_.size()) * sizeof(Scalar); }

  /// The right-hand side for S: b, or a copy of it with its rows scaled.
  const Scalar *scaled(const Scalar *b) const
  {
    if (scaled_.size() == 0) return b;
    Kokkos::deep_copy(space_, scaled_,
                      Kokkos::View<const Scalar *, typename Space::memory_space, Kokkos::MemoryUnmanaged>(b, scaled_.size()));
    scale(scaled_.data());
    return scaled_.data();
  }
  /// From S's solution to A's.
  void operator()(Scalar *x) const
  {
    if (!any()) return;
    using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>;
    auto look   = look_;
    look.x      = x;
    Kokkos::parallel_for("weft look at changed rows", Range(space_, 0, static_cast<Index>(look.y.extent(0))), look);
    Kokkos::parallel_for("weft changed rows", Range(space_, 0, size_), TakeChanged<Space, Scalar>{columns_, look.y, size_, x});
    if (transpose_ == Transpose::yes && scale_.node.size() > 0) scale(x);
  }

private:
  void scale(Scalar *x) const
  {
    auto few = scale_;
    few.x    = x;
    Kokkos::parallel_for("weft scaled rows",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space_, 0, static_cast<Index>(few.node.size())), few);
  }

  struct Sparse {
    std::vector<Index> start, node;
    std::vector<double> value;

    void add(Index at, double v) { node.push_back(at), value.push_back(v); }
    void end() { start.push_back(static_cast<Index>(node.size())); }
  };

  /// Gauss and Jordan with exchanges of rows.
  std::vector<double> inverse(std::vector<double> c, std::size_t n)
  {
    std::vector<double> result(n * n, 0);
    for (std::size_t i = 0; i < n; i++) result[i * n + i] = 1;
    for (std::size_t k = 0; k < n; k++) {
      std::size_t pivot = k;
      for (std::size_t i = k; i < n; i++) {
        if (std::abs(c[i * n + k]) > std::abs(c[pivot * n + k])) pivot = i;
      }
      if (!(std::abs(c[pivot * n + k]) > 1e-6)) {
        regular_ = false;
        return result;
      }
      for (std::size_t j = 0; j < n; j++) std::swap(c[k * n + j], c[pivot * n + j]), std::swap(result[k * n + j], result[pivot * n + j]);
      const double by = 1 / c[k * n + k];
      for (std::size_t j = 0; j < n; j++) c[k * n + j] *= by, result[k * n + j] *= by;
      for (std::size_t i = 0; i < n; i++) {
        const double times = i == k ? 0 : c[i * n + k];
        for (std::size_t j = 0; j < n; j++) c[i * n + j] -= times * c[k * n + j], result[i * n + j] -= times * result[k * n + j];
      }
    }
    return result;
  }

  Space space_;
  Index size_          = 0;
  bool regular_        = true;
  Transpose transpose_ = Transpose::no;
  OwnedArray<Scalar, Space> columns_, scaled_; ///< Z; D b
  ScaleFew<Space, Scalar> scale_;
  LookAtChanged<Space, Scalar> look_;
};

} // namespace weft::poisson
