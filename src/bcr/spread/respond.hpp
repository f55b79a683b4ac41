/// What an unknown just beyond an end of a line makes of it, to the last digits, for lines whose diagonals dominate.
///
/// Rows -l_i x_(i-1) + d_i x_i - u_i x_(i+1) = 0 with l_i, u_i >= 0, x = 1 before the first row and 0 behind the last one. Elimination from the last row on
/// gives x_i = (1 - h_i) x_(i-1), where, with the sum of the row s_i = d_i - l_i - u_i >= 0,
///
///   h_i = (s_i + u_i h_(i+1)) / (s_i + l_i + u_i h_(i+1)),      h = 1 behind the last row.
///
/// All are sums of positive numbers, so that h has nearly all its digits, however slowly the line decays. Pivots, d_i - u_i (1 - h_(i+1)), would be found as
/// differences: a line of n rows with d = 2 + s, s = (pi / n)^2, loses log10(n^2) digits to the rounding of d alone. (The form of Gauss elimination by row
/// sums of W. Grassmann, M. Taksar, D. Heyman, Oper. Res. 33 (1985) 1107, for a line.)
#pragma once
#include <Kokkos_Core.hpp>

#include "base/backend.hpp"

namespace weft::poisson {

/// Of all modes, row by row: row i of mode m is element m + i * modes. Coefficients times the sign of the diagonal. A host's thread takes neighbouring modes
/// together, whose numbers are neighbours.
template <class Space>
struct RespondToEnd {
  static constexpr int together = is_host_space<Space> ? 16 : 1;

  const double *lower, *upper, *sums; ///< by row: minus the couplings; the sum of the row without what modes add
  const double *shifts;               ///< what each mode adds; negative: there is no such mode
  Index modes, rows;
  Index pinned_mode, pinned_row; ///< an unknown that is 0; -1: none
  int side;                      ///< the unknown stands before the first row (0), or behind the last one (1)
  double *values;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const Index first      = number * together;
    const int count        = static_cast<int>(Kokkos::min(Index(together), modes - first));
    const double *const to = side == 0 ? lower : upper, *const from = side == 0 ? upper : lower;
    double h[together], x[together];
    for (int m = 0; m < count; m++) {
      h[m] = 1;
      x[m] = shifts[first + m] < 0 ? 0 : 1;
    }
    for (Index k = rows - 1; k >= 0; k--) {
      const Index i      = place(k);
      double *const here = values + first + i * modes;
      for (int m = 0; m < count; m++) {
        const double rest = sums[i] + shifts[first + m] + from[i] * h[m], all = rest + to[i];
        const bool pinned = first + m == pinned_mode && i == pinned_row;
        here[m] = h[m] = pinned || !(all > 0) ? 1 : rest / all;
      }
    }
    for (Index k = 0; k < rows; k++) {
      double *const here = values + first + place(k) * modes;
      for (int m = 0; m < count; m++) here[m] = x[m] *= 1 - here[m];
    }
  }

private:
  /// The row that is k away from the end.
  KOKKOS_INLINE_FUNCTION Index place(Index k) const { return side == 0 ? k : rows - 1 - k; }
};

} // namespace weft::poisson
