/// Lines of many modes side by side: a tridiagonal matrix with equal rows but for its ends, its diagonal another one for each mode.
///
/// Divided by its coupling o, row i of mode q is u_{i-1} + delta u_i + u_{i+1} = f_i / o, |delta| > 2. With r + 1/r = -delta, |r| < 1, the
/// inner rows are those of (I - r L)(I - r L^T) u = F = -(r / o) f, L the shift by a row: two recurrences with one constant,
///   y_i = F_i + r y_{i-1},   g_i = y_i + r g_{i+1},        y_{-1} = g_n = 0,
/// and u_i = g_i + a r^i + b r^{n-1-i}, where the first and the last row (or the two that wrap) give a and b as sums of
/// g_0, F_0, g_n-1 = y_{n-1} and F_{n-1}. (Limits of the pivots of a Toeplitz matrix: e.g. M. Malcolm, J. Palmer, Comm. ACM 17 (1974) 14.)
/// Modes whose r^n is near 1, or that have no r, are left to be solved otherwise.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>

#include "base/backend.hpp"
#include "base/native.hpp"
#include "base/simd.hpp"
#include "bcr/modes/mode_tables.hpp"
#include "bcr/shifted/shifted_lines.hpp"
#if defined(WEFT_NATIVE_CUDA)
#include "bcr/modes/mode_launch.hpp"
#endif

namespace weft::poisson {

/// Row i of mode q is element q + i * stride of `values`.
template <class Scalar, int lanes>
struct SolveModes {
  ModeTables<Scalar> tables;
  Index modes = 0, rows = 0, stride = 0;
  Scalar *values = nullptr;
  ModeBorder<Scalar> border; ///< of ModePass::with_border and sums

  /// Solves a bundle of neighbouring modes in place.
  KOKKOS_INLINE_FUNCTION void operator()(const Index bundle) const { solve_all(bundle * lanes, values + bundle * lanes, stride); }

  /// Solves them in `scratch`, rows * lanes numbers, for ModePass::sums.
  KOKKOS_INLINE_FUNCTION void add_up(const Index bundle, Scalar *scratch) const
  {
    const Index first = bundle * lanes;
    const int count   = count_of(first);
    solve_all(first, scratch, lanes);
    for (Index i = 0; i < rows; i++) {
      Scalar sum[2] = {0, 0};
      for (int l = 0; l < count; l++) {
        const Index q = first + l;
        if (tables.gain[q] != 0) sum[border.row_of(q)] += border.out[q] * scratch[i * lanes + l];
      }
      for (int r = 0; r < border.left_over; r++) border.sums[(bundle * border.left_over + r) * border.pitch + i] = sum[r];
    }
  }

private:
  KOKKOS_INLINE_FUNCTION int count_of(const Index first) const { return static_cast<int>(modes - first < lanes ? modes - first : lanes); }
  KOKKOS_INLINE_FUNCTION void solve_all(const Index first, Scalar *to, const Index to_stride) const
  {
    const int count = count_of(first);
    if (count == lanes) {
      KOKKOS_IF_ON_HOST((with_widest_vectors([&] { solve<lanes>(first, to, to_stride); });))
      KOKKOS_IF_ON_DEVICE((solve<lanes>(first, to, to_stride);))
    } else {
      one_by_one(first, count, to, to_stride);
    }
  }
  KOKKOS_INLINE_FUNCTION void one_by_one(const Index first, const int count, Scalar *to, const Index to_stride) const
  {
    for (int l = 0; l < count; l++) solve<1>(first + l, to + l, to_stride);
  }
  /// Row i of mode first + l goes to element l + i * to_stride of `to`, which may be where it came from.
  template <int count>
  KOKKOS_INLINE_FUNCTION void solve(const Index first, Scalar *to, const Index to_stride) const
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
        one_by_one(first, count, to, to_stride);
        return;
      }
    }
    Scalar into[count];
    const Scalar *known[count];
    for (int l = 0; l < count; l++) {
      into[l]  = border.rows ? border.into[first + l] : Scalar(0);
      known[l] = border.rows ? border.rows + border.row_of(first + l) * border.pitch : nullptr;
    }
    for (Index i = 0; i < rows; i++) {
      const Scalar *const from = values + first + i * stride;
      Scalar *const row        = to + i * to_stride;
      for (int l = 0; l < count; l++) f[l] = from[l];
      if (border.rows) {
        for (int l = 0; l < count; l++) f[l] -= into[l] * known[l][i];
      }
      for (int l = 0; l < count; l++) {
        f[l] *= gain[l];
        if (i == 0) begin[l] = f[l];
        row[l] = y[l] = f[l] + r[l] * y[l];
      }
    }
    for (int l = 0; l < count; l++) x[l] = 0;
    for (Index i = rows - 1; i >= 0; i--) {
      Scalar *const row = to + i * to_stride;
      for (int l = 0; l < count; l++) row[l] = x[l] = row[l] + r[l] * x[l];
    }
    for (int l = 0; l < count; l++) {
      const Scalar *const e = tables.ends + 8 * (first + l);
      a[l]                  = e[0] * x[l] + e[1] * begin[l] + e[2] * y[l] + e[3] * f[l];
      b[l]                  = e[4] * x[l] + e[5] * begin[l] + e[6] * y[l] + e[7] * f[l];
    }
    add_powers<count>(to, to_stride, r, a);
    add_powers<count>(to + (rows - 1) * to_stride, -to_stride, r, b);
  }
  /// Adds a r^k to the rows from one end on, as far as that matters.
  template <int count>
  KOKKOS_INLINE_FUNCTION void add_powers(Scalar *row, const Index step, const Scalar *r, Scalar *a) const
  {
    Scalar least[count];
    for (int l = 0; l < count; l++) least[l] = Kokkos::abs(a[l]) * static_cast<Scalar>(1e-3) * Kokkos::Experimental::epsilon_v<Scalar>;
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

/// The bundles of several right-hand sides, whose values are `apart` elements from each other.
template <class Scalar, int lanes>
struct SolveColumns {
  SolveModes<Scalar, lanes> solve;
  Index bundles, apart;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index column                = number / bundles;
    SolveModes<Scalar, lanes> of_this = solve;
    of_this.values += column * apart;
    of_this(number - column * bundles);
  }
};

/// SolveModes::add_up for every `threads`-th bundle, in a scratch of its own.
template <class Scalar, int lanes>
struct AddUpModes {
  SolveModes<Scalar, lanes> solve;
  Index bundles, threads;
  Scalar *scratch;

  KOKKOS_INLINE_FUNCTION void operator()(const Index thread) const
  {
    for (Index bundle = thread; bundle < bundles; bundle += threads) solve.add_up(bundle, scratch + thread * solve.rows * lanes);
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
  std::size_t bytes() const { return (root_.size() + gain_.size() + ends_.size() + scratch_.size()) * sizeof(Scalar); }

  /// Row i of mode q is element q + i * stride; values and stride at multiples of 32 bytes are fastest. `border` as `pass` says: without
  /// its rows for the sums, whose values are kept.
  void operator()(const Space &space, Scalar *values, Index stride, ModePass pass = ModePass::alone,
                  const ModeBorder<Scalar> &border = {}) const;
  /// The same without a border for several right-hand sides, `apart` elements from each other.
  void operator()(const Space &space, Scalar *values, Index stride, Index columns, Index apart) const;

  /// True where the passes with a border are there: on a host, and for lines that a native kernel takes.
  static bool takes_border([[maybe_unused]] Index rows)
  {
#if defined(WEFT_NATIVE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) return cuda::takes_modes<Scalar>(rows);
#endif
    return is_host_space<Space>;
  }
  /// Neighbouring modes whose sums lie together.
  static Index tiles(Index modes)
  {
    Index together = lanes;
#if defined(WEFT_NATIVE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>) together = cuda::tile_modes<Scalar>;
#endif
    return (modes + together - 1) / together;
  }
  /// Makes room for ModePass::sums.
  void make_scratch(const Space &space)
  {
    if constexpr (is_host_space<Space>)
      scratch_ = OwnedArray<Scalar, Space>("weft modes scratch", static_cast<std::size_t>(space.concurrency() * lanes * rows_));
  }

private:
  /// Modes that a thread solves at once: on a host the rows of more of them come from memory faster, as each row is far from the next.
  static constexpr int lanes = is_host_space<Space> ? static_cast<int>(256 / sizeof(Scalar)) : 1;

  void add_up(const Space &space, const SolveModes<Scalar, lanes> &solve, Index bundles) const;

  Index rows_ = 0, count_ = 0;
  OwnedArray<Scalar, Space> root_, gain_, ends_, scratch_;
};

template <class Space, class Scalar>
void ModeLines<Space, Scalar>::operator()(const Space &space, Scalar *values, Index stride, ModePass pass,
                                          const ModeBorder<Scalar> &border) const
{
  const ModeTables<Scalar> tables{root_.data(), gain_.data(), ends_.data()};
#if defined(WEFT_NATIVE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    if (cuda::launch_modes<Scalar>(space, {tables, values, stride, count_, static_cast<int>(rows_), border}, pass)) return;
  }
#endif
  const SolveModes<Scalar, lanes> solve{tables, count_, rows_, stride, values, border};
  const Index bundles = (count_ + lanes - 1) / lanes;
  if (pass == ModePass::sums)
    add_up(space, solve, bundles);
  else
    Kokkos::parallel_for("weft mode lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, bundles), solve);
}

template <class Space, class Scalar>
void ModeLines<Space, Scalar>::operator()(const Space &space, Scalar *values, Index stride, Index columns, Index apart) const
{
  const ModeTables<Scalar> tables{root_.data(), gain_.data(), ends_.data()};
#if defined(WEFT_NATIVE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) {
    if (cuda::launch_modes<Scalar>(space, {tables, values, stride, count_, static_cast<int>(rows_), {}, columns, apart}, ModePass::alone))
      return;
  }
#endif
  const Index bundles = (count_ + lanes - 1) / lanes;
  Kokkos::parallel_for("weft mode lines", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, bundles * columns),
                       SolveColumns<Scalar, lanes>{{tables, count_, rows_, stride, values, {}}, bundles, apart});
}

template <class Space, class Scalar>
void ModeLines<Space, Scalar>::add_up(const Space &space, const SolveModes<Scalar, lanes> &solve, Index bundles) const
{
  const Index threads = std::min<Index>(space.concurrency(), bundles);
  Kokkos::parallel_for("weft mode sums", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, threads),
                       AddUpModes<Scalar, lanes>{solve, bundles, threads, scratch_.data()});
}

// Those of a host are compiled once: host_kernels_SCALAR.cpp.
extern template class ModeLines<HostBackend, double>;
extern template class ModeLines<HostBackend, float>;

} // namespace weft::poisson
