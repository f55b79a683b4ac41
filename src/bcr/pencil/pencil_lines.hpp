/// Lines of the modes of a PencilOperator: the tridiagonal matrix alpha M + beta T of each mode, or, along a direction that is transformed
/// too, its number alpha m + beta t.
#pragma once
#include <Kokkos_Core.hpp>

#include "base/backend.hpp"
#include "bcr/shifted/shifted_lines.hpp"

namespace weft::poisson {

/// Where the modes lie: mode q + n_a r begins at q * stride_a + r * stride_b, its rows are `stride` apart.
struct ModesAt {
  Index modes = 0, n_a = 1, stride_a = 1, stride_b = 0;
  Index rows = 1, stride = 1;

  KOKKOS_INLINE_FUNCTION Index start(Index mode) const
  {
    const Index r = mode / n_a;
    return (mode - r * n_a) * stride_a + r * stride_b;
  }
};

/// Elimination without exchanges, in double whatever the values are, `lanes` modes at once:
///   g_i = u_i / p_i,  p_i = d_i - l_i g_{i-1},  y_i = (f_i - l_i y_{i-1}) / p_i,  x_i = y_i - g_i x_{i+1}.
/// The g_i lie in `ratios`, an array like that of the values: 4 words and 4 more a row are moved.
template <class Space, class Scalar, int lanes>
struct SolvePencilLines {
  ModesAt at;
  OwnedArray<double, Space> alpha, beta;
  OwnedArray<double, Space> rows; ///< lower, diagonal and upper of M, then of T, for each row
  OwnedArray<Index, Space> which; ///< the modes
  Scalar *values, *ratios;

  KOKKOS_INLINE_FUNCTION void operator()(const Index bundle) const
  {
    const Index first = bundle * lanes, left = static_cast<Index>(which.extent(0)) - first;
    const int count = left < lanes ? static_cast<int>(left) : lanes;
    Index start[lanes];
    double a[lanes], b[lanes], g[lanes], y[lanes];
    for (int l = 0; l < lanes; l++) {
      const Index mode = which(l < count ? first + l : first);
      start[l]         = at.start(mode);
      a[l]             = alpha(mode);
      b[l]             = beta(mode);
      g[l] = y[l] = 0;
    }
    for (Index i = 0; i < at.rows; i++) {
      const double *const row = &rows(6 * i);
      for (int l = 0; l < count; l++) {
        const double lower = a[l] * row[0] + b[l] * row[3];
        const double p     = 1 / (a[l] * row[1] + b[l] * row[4] - lower * g[l]);
        const Index here   = start[l] + i * at.stride;
        y[l]               = (static_cast<double>(values[here]) - lower * y[l]) * p;
        g[l]               = (a[l] * row[2] + b[l] * row[5]) * p;
        values[here]       = static_cast<Scalar>(y[l]);
        ratios[here]       = static_cast<Scalar>(g[l]);
      }
    }
    for (Index i = at.rows - 2; i >= 0; i--) {
      for (int l = 0; l < count; l++) {
        const Index here = start[l] + i * at.stride;
        y[l]             = static_cast<double>(values[here]) - static_cast<double>(ratios[here]) * y[l];
        values[here]     = static_cast<Scalar>(y[l]);
      }
    }
  }
};

/// Divides by numbers; that of a singular operator becomes 0.
template <class Space, class Scalar>
struct DivideByNumbers {
  ModesAt at;
  OwnedArray<double, Space> alpha, beta;
  OwnedArray<double, Space> rows; ///< m and t of each row
  Scalar *values;
  Index pinned_mode, pinned_row;

  KOKKOS_INLINE_FUNCTION void operator()(const Index k) const
  {
    const Index i = k / at.modes, mode = k - i * at.modes;
    Scalar &value       = values[at.start(mode) + i * at.stride];
    const double number = alpha(mode) * rows(2 * i) + beta(mode) * rows(2 * i + 1);
    value               = mode == pinned_mode && i == pinned_row ? Scalar(0) : static_cast<Scalar>(static_cast<double>(value) / number);
  }
};

} // namespace weft::poisson
