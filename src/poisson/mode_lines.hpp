/// Lines of many modes side by side: a tridiagonal matrix with equal rows but for its ends, its diagonal another one for each mode.
///
/// Divided by its coupling o, row i of mode q is u_{i-1} + delta u_i + u_{i+1} = f_i / o, |delta| > 2. With r + 1/r = -delta, |r| < 1, the inner
/// rows are those of (I - r L)(I - r L^T) u = F = -(r / o) f, L the shift by a row: two recurrences with one constant,
///   y_i = F_i + r y_{i-1},   g_i = y_i + r g_{i+1},        y_{-1} = g_n = 0,
/// and u_i = g_i + a r^i + b r^{n-1-i}, where the first and the last row (or the two that wrap) give a and b as sums of
/// g_0, F_0, g_n-1 = y_{n-1} and F_{n-1}. (Limits of the pivots of a Toeplitz matrix: e.g. M. Malcolm, J. Palmer, Comm. ACM 17 (1974) 14.)
/// Modes whose r^n is near 1, or that have no r, are left to be solved otherwise.
#pragma once
#include <Kokkos_Core.hpp>

#include "poisson/constant_lines.hpp"
#include "poisson/shifted_lines.hpp"
#ifdef KOKKOS_ENABLE_CUDA
#include "poisson/cuda/mode_launch.hpp"
#endif

namespace weft::poisson {

/// Solves in place: row i of mode q is element q + i * stride of `values`.
template <class Scalar, int lanes>
struct SolveModes {
  ModeTables<Scalar> tables;
  Index modes = 0, rows = 0, stride = 0;
  Scalar *values = nullptr;

  /// A bundle of neighbouring modes.
  KOKKOS_INLINE_FUNCTION void operator()(const Index bundle) const
  {
    const Index first = bundle * lanes;
    const int count   = static_cast<int>(modes - first < lanes ? modes - first : lanes);
    if (count == lanes)
      solve<lanes>(first);
    else
      one_by_one(first, count);
  }

private:
  KOKKOS_INLINE_FUNCTION void one_by_one(const Index first, const int count) const
  {
    for (int l = 0; l < count; l++) solve<1>(first + l);
  }
  template <int count>
  KOKKOS_INLINE_FUNCTION void solve(const Index first) const
  {
    Scalar r[count], gain[count], y[count], f[count] = {}, begin[count] = {}, x[count], a[count], b[count];
    bool any = false, all = true;
    for (int l = 0; l < count; l++) {
      r[l]    = tables.root[first + l];
      gain[l] = tables.gain[first + l];
      y[l]    = 0;
      any     = any || gain[l] != 0;
      all     = all && gain[l] != 0;
    }
    if (!any) return;
    if constexpr (count > 1) {
      if (!all) {
        one_by_one(first, count);
        return;
      }
    }
    for (Index i = 0; i < rows; i++) {
      Scalar *const row = values + first + i * stride;
      for (int l = 0; l < count; l++) {
        f[l] = gain[l] * row[l];
        if (i == 0) begin[l] = f[l];
        row[l] = y[l] = f[l] + r[l] * y[l];
      }
    }
    for (int l = 0; l < count; l++) x[l] = 0;
    for (Index i = rows - 1; i >= 0; i--) {
      Scalar *const row = values + first + i * stride;
      for (int l = 0; l < count; l++) row[l] = x[l] = row[l] + r[l] * x[l];
    }
    for (int l = 0; l < count; l++) {
      const Scalar *const e = tables.ends + 8 * (first + l);
      a[l]                  = e[0] * x[l] + e[1] * begin[l] + e[2] * y[l] + e[3] * f[l];
      b[l]                  = e[4] * x[l] + e[5] * begin[l] + e[6] * y[l] + e[7] * f[l];
    }
    add_powers<count>(first, 0, stride, r, a);
    add_powers<count>(first, rows - 1, -stride, r, b);
  }
  /// Adds a r^k to the rows from one end on, as far as that matters.
  template <int count>
  KOKKOS_INLINE_FUNCTION void add_powers(const Index first, const Index end, const Index step, const Scalar *r, Scalar *a) const
  {
    Scalar least[count];
    for (int l = 0; l < count; l++) least[l] = Kokkos::abs(a[l]) * static_cast<Scalar>(1e-3) * Kokkos::Experimental::epsilon_v<Scalar>;
    Scalar *row = values + first + end * stride;
    for (Index i = 0; i < rows; i++, row += step) {
      bool on = false;
      for (int l = 0; l < count; l++) {
        row[l] += a[l];
        a[l] *= r[l];
        on = on || Kokkos::abs(a[l]) > least[l];
      }
      if (!on) return;
    }
  }
};

template <class Space, class Scalar>
class ModeLines {
public:
  ModeLines() = default;
  /// Uploads the tables of lines of `rows` rows.
  ModeLines(const ConstantModes &modes, Index rows)
      : rows_(rows), count_(static_cast<Index>(modes.root.size())), root_(upload<Scalar, Space>("weft modes root", modes.root)),
        gain_(upload<Scalar, Space>("weft modes gain", modes.gain)), ends_(upload<Scalar, Space>("weft modes ends", modes.ends))
  {
  }
  std::size_t bytes() const { return (root_.size() + gain_.size() + ends_.size()) * sizeof(Scalar); }

  /// Row i of mode q is element q + i * stride; values and stride at multiples of 32 bytes are fastest.
  void operator()(const Space &space, Scalar *values, Index stride) const
  {
    const ModeTables<Scalar> tables{root_.data(), gain_.data(), ends_.data()};
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
      if (cuda::launch_modes<Scalar>(space, tables, count_, rows_, stride, values)) return;
    }
#endif
    constexpr int lanes = is_host_space<Space> ? static_cast<int>(64 / sizeof(Scalar)) : 1;
    Kokkos::parallel_for("weft mode lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, (count_ + lanes - 1) / lanes),
                         SolveModes<Scalar, lanes>{tables, count_, rows_, stride, values});
  }

private:
  Index rows_ = 0, count_ = 0;
  OwnedArray<Scalar, Space> root_, gain_, ends_;
};

} // namespace weft::poisson
