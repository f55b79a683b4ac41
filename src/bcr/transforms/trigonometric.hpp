/// Sine and cosine transforms as discrete Fourier transforms of the same length: what constant coefficients have for eigenvectors. Without
/// Kokkos; fast_transform.hpp carries them out.
///
/// Two real lines are the real and the imaginary part of a complex one, on which all of this works as on a real one. With
/// V_k = sum_j v_j exp(-2 pi i j k / N), cosine and sine sums of v are (V_k + V_{N-k}) / 2 and i (V_k - V_{N-k}) / 2.
///
///   dst1  X_q = sum_j x_j sin(pi q j / N), j, q = 1 .. N-1.   v_j = sin(pi j / N) (x_j + x_{N-j}) + (x_j - x_{N-j}) / 2; its sine
///         sums are X_{2k}, its cosine sums X_{2k+1} - X_{2k-1}
///   dct1  X_q = (x_0 + (-1)^q x_N) / 2 + sum_j x_j cos(pi q j / N), q = 0 .. N.   v_j = (x_j + x_{N-j}) / 2 - sin(pi j / N) (x_j - x_{N-j});
///         cosine sums X_{2k}, sine sums X_{2k+1} - X_{2k-1}, and X_1 by itself
///   dct2  X_q = sum_j x_j cos(pi q (j + 1/2) / N), j, q = 0 .. N-1.   v_j = x_{2j}, v_{N-1-j} = x_{2j+1};
///         X_q = (w_q V_q + conj(w_q) V_{N-q}) / 2, w_q = exp(-pi i q / 2N), V_N = V_0
///   dct3  its transpose, by the transpose of these steps
///   real, real_back   the sums 1, cos, sin, cos, sin, .. of a ring, and the transpose
/// Sources: J. Cooley, P. Lewis, P. Welch, J. Sound Vib. 12 (1970) 315 (dst1, dct1); J. Makhoul, IEEE Trans. ASSP 28 (1980) 27 (dct2, dct3).
#pragma once
#include <optional>
#include <vector>

#include "bcr/detect/direction_matrix.hpp"

namespace weft::poisson {

enum class Trigonometric { dst1, dct1, dct2, dct3, real, real_back };

/// A transform of lines of n points: one of the above, between turned lines, with weights.
struct TransformShape {
  Trigonometric kind = Trigonometric::dst1;
  Index n = 1, length = 1;                  ///< points of a line, and N
  bool reads_backwards   = false;           ///< takes the points in opposite order
  bool writes_backwards  = false;           ///< gives the results in opposite order
  bool alternates_input  = false;           ///< every second point (in the order of the transform) changes its sign
  bool alternates_output = false;           ///< and so every second result
  double first_weight = 1, last_weight = 1; ///< of the first and last point (in the order of the transform)
  std::vector<double> scale = {};           ///< of result q as it is written; empty: 1

  friend bool operator==(const TransformShape &, const TransformShape &) = default;
};

/// The eigenvectors V of a line as transforms: V^-1 and V, in the order of `values`.
struct FastModes {
  std::vector<double> values;
  TransformShape to_modes, from_modes;
};

/// A Fourier transform of some length: its stages are those of `board` numbers, the length itself where it is a product of powers of 2, 3, 5
/// and 7, else such a product for a chirp (fourier.hpp).
struct FourierPlan {
  Index board = 1;
  std::vector<int> factors;
};

/// Nothing for lengths that 32 bits do not count.
std::optional<FourierPlan> fourier_plan(Index length);

/// c_j = exp(-pi i j^2 / length), j < length, and the Fourier transform of conj(c) on a ring of board >= 2 length - 4 numbers, divided by
/// board; real and imaginary parts by turns.
struct Chirp {
  std::vector<double> chirp, filter;
  double missing[2] = {}; ///< conj(c_{length-1}) less what the ring has in its place
};
Chirp chirp_of(Index length, Index board);

/// Of a line with constant coefficients between Dirichlet, Neumann or periodic ends on nodes, or Dirichlet or Neumann ends on cells.
/// Nothing where it is another line.
std::optional<FastModes> fast_modes(const LineMatrix &line);

/// exp(-pi i k step / denominator) for k = 0 .. count - 1: real and imaginary part by turns.
std::vector<double> unit_roots(Index count, Index step, Index denominator);

} // namespace weft::poisson
