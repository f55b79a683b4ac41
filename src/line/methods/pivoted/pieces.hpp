/// Pieces of a line: what is left of neighbouring rows once all unknowns but those at the piece's two ends are eliminated, with pivoting.
///
/// m rows hold their own unknowns x_0 .. x_{m-1}, that of the row before (x_{-1}) and of the row after (x_m). The columns of the m-2 inner
/// unknowns have entries in these m rows only; they are independent where the whole line is regular. Gaussian elimination that searches all
/// rows that are left for its pivot therefore always finds m-2 of them, and leaves two equations
///
///   before x_{-1} + first x_0 + last x_{m-1} + after x_m = rhs
///
/// which are the piece. Two neighbouring pieces make one the same way: four equations, out of which the last unknown of the left one and the
/// first of the right one are eliminated. (The recursive partition methods reduce from either end to one equation a side, which must not
/// hold the far neighbour: they need regular inner rows, which a regular line does not grant. Two equations in four unknowns do not.)
///
/// A ring is a piece whose neighbour on either side is itself.
///
/// The rows are scaled to largest magnitudes from 1 to 2 first, by powers of two, which round nothing: the largest candidate is the pivot of
/// scaled partial pivoting from then on, at every level.
#pragma once
#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>

#include "line/tridiagonal.hpp"

namespace weft {

/// The power of two that takes a magnitude to 1 .. 2, or `doublings` times twice that; less, where there is no such power.
KOKKOS_INLINE_FUNCTION double inverse_power(double magnitude, int doublings)
{
  const int exponent = static_cast<int>(Kokkos::bit_cast<std::uint64_t>(magnitude) >> 52 & 0x7ff);
  const int power    = Kokkos::clamp(2046 - exponent + doublings, 1, 2046);
  return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(power) << 52);
}
KOKKOS_INLINE_FUNCTION float inverse_power(float magnitude, int doublings)
{
  const int exponent = static_cast<int>(Kokkos::bit_cast<std::uint32_t>(magnitude) >> 23 & 0xff);
  const int power    = Kokkos::clamp(254 - exponent + doublings, 1, 254);
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(power) << 23);
}

/// Factor of a row, see above. A row that holds one unknown alone is made larger than all others, so that it becomes that unknown's pivot and
/// what it says (x = boundary value, say) is kept exactly.
template <class Scalar>
KOKKOS_INLINE_FUNCTION RealOf<Scalar> scaling(const Row<Scalar> &row)
{
  const bool alone = row.lower == 0 && row.upper == 0;
  return inverse_power(Kokkos::max(modulus(row.lower), Kokkos::max(modulus(row.diagonal), modulus(row.upper))), alone ? 10 : 0);
}

/// False for rows that are not finite, zero, or too small for what divides by them.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool usable_row(const Row<Scalar> &row)
{
  return row.scale() >= std::numeric_limits<RealOf<Scalar>>::min() && Kokkos::isfinite(row.scale());
}

/// True for a pivot that is more than rounding error; `noise` as in eliminate. A bound that adds up absolute errors is far too wide for long lines:
/// a quarter of it tells singular -1 2 -1 lines from regular ones up to the length where their condition number passes 1 / epsilon.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool above_noise(Scalar pivot, RealOf<Scalar> noise)
{
  const RealOf<Scalar> size = modulus(pivot);
  return size > (8 + noise / 4) * std::numeric_limits<RealOf<Scalar>>::epsilon() && Kokkos::isfinite(size);
}

/// Eliminates column `step` of a few equations: the row with the largest entry becomes row `step`, its entry there the inverse of the pivot; it is
/// subtracted from the rows below. From column `noise` on, magnitudes are added up instead: of all that was subtracted from a row, in its
/// original size, so that epsilon times this is about its rounding error. Returns false where the pivot is no more than that.
template <int step, int noise, class Scalar, int rows, int columns>
KOKKOS_INLINE_FUNCTION bool eliminate(Scalar (&e)[rows][columns])
{
  for (int r = step + 1; r < rows; r++) {
    const bool larger = modulus(e[r][step]) > modulus(e[step][step]);
    for (int c = step; c < columns; c++) {
      const Scalar above = e[step][c], here = e[r][c];
      e[step][c] = larger ? here : above;
      e[r][c]    = larger ? above : here;
    }
  }
  const Scalar pivot = e[step][step], inverse = 1 / pivot;
  e[step][step] = inverse;
  for (int r = step + 1; r < rows; r++) {
    const Scalar factor = e[r][step] * inverse;
    for (int c = step + 1; c < noise; c++) e[r][c] -= factor * e[step][c];
    for (int c = noise; c < columns; c++) e[r][c] += modulus(factor) * e[step][c];
  }
  return noise == columns || above_noise(pivot, real_part(e[step][columns - 1]));
}

/// Equations of a piece.
template <class Scalar>
struct Piece {
  struct Side {
    Scalar before, first, last, after, rhs, noise;
  };
  /// A piece outside the line: its unknowns are 0.
  Side side[2] = {{0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}};

  /// One without rows inside a ring: its first unknown is that after it, its last one that before it.
  KOKKOS_INLINE_FUNCTION static Piece nothing() { return {{{0, 1, 0, -1, 0, 0}, {-1, 0, 1, 0, 0, 0}}}; }
};

/// Eliminates all but the ends of `rows` >= 2 rows. row(k) gives row k with its right-hand side, keep(k, pivot row, usable) takes the equation
/// that x_k follows from: inverse pivot, x_{k+1}, x_{k+2}, `others` columns of the caller, the first of them rhs. `left` holds rows 0 and 1 and,
/// at the end, what remains; its columns are two neighbouring unknowns and the others. `with_noise`: the last column is noise.
template <bool with_noise, int others, class Scalar, class Get, class Keep>
KOKKOS_INLINE_FUNCTION void eliminate_inner(int rows, Scalar (&left)[2][2 + others], const Get &row, const Keep &keep)
{
  for (int k = 2; k < rows; k++) {
    const Equation<Scalar> next = row(k);
    Scalar e[3][3 + others]     = {};
    for (int r = 0; r < 2; r++) {
      e[r][0] = left[r][0];
      e[r][1] = left[r][1];
      for (int c = 0; c < others; c++) e[r][3 + c] = left[r][2 + c];
    }
    e[2][0] = next.lower;
    e[2][1] = next.diagonal;
    e[2][2] = next.upper;
    e[2][3] = next.rhs;
    if (with_noise) e[2][2 + others] = 1;
    const bool usable = eliminate < 0, with_noise ? 2 + others : 3 + others > (e);
    keep(k - 1, e[0], usable);
    for (int r = 0; r < 2; r++) {
      for (int c = 0; c < 2 + others; c++) left[r][c] = e[r + 1][1 + c];
    }
  }
}

/// The piece that `rows` rows make. bad(k) hears of inner rows without a usable pivot.
template <class Scalar, class Get, class Bad>
KOKKOS_INLINE_FUNCTION Piece<Scalar> piece_of_rows(int rows, const Get &row, const Bad &bad)
{
  if (rows == 0) return {};
  const Equation<Scalar> r0 = row(0);
  if (rows == 1) return {{{r0.lower, r0.diagonal, 0, r0.upper, r0.rhs, 1}, {0, 1, -1, 0, 0, 0}}}; // its last unknown is its first
  const Equation<Scalar> r1 = row(1);
  if (rows == 2) return {{{r0.lower, r0.diagonal, r0.upper, 0, r0.rhs, 1}, {0, r1.lower, r1.diagonal, r1.upper, r1.rhs, 1}}};
  Scalar left[2][6] = {{r0.upper, 0, r0.rhs, r0.lower, r0.diagonal, 1}, {r1.diagonal, r1.upper, r1.rhs, 0, r1.lower, 1}};
  eliminate_inner<true, 4>(rows, left, row, [&](int k, const Scalar(&)[7], bool usable) {
    if (!usable) bad(k);
  });
  const auto side = [&](const Scalar(&e)[6]) { return typename Piece<Scalar>::Side{e[3], e[4], e[0], e[1], e[2], e[5]}; };
  return {{side(left[0]), side(left[1])}};
}

/// What the unknowns at and next to the ends of a piece are.
template <class Scalar>
struct Ends {
  Scalar before = 0, first = 0, last = 0, after = 0;
};

/// Solves for the inner unknowns of `rows` rows. The same elimination again, the known ends moved to the right-hand side. row(k) is gone once
/// keep(k-1, pivot row) is called; kept(k) gives that back: inverse pivot, x_{k+1}, x_{k+2}, rhs. put(k, x) takes the results, ends included.
template <class Scalar, class Get, class Keep, class Kept, class Put>
KOKKOS_INLINE_FUNCTION void solve_rows(int rows, const Ends<Scalar> &ends, const Get &row, const Keep &keep, const Kept &kept,
                                       const Put &put_row)
{
  if (rows == 0) return;
  if (rows > 2) {
    const Equation<Scalar> r0 = row(0), r1 = row(1);
    Scalar left[2][3] = {{r0.upper, 0, r0.rhs - r0.lower * ends.before - r0.diagonal * ends.first},
                         {r1.diagonal, r1.upper, r1.rhs - r1.lower * ends.first}};
    eliminate_inner<false, 1>(rows, left, row, [&](int k, const Scalar(&pivot_row)[4], bool) { keep(k, pivot_row); });
  }
  Scalar after = ends.after, x = ends.last;
  if (rows > 1) put_row(rows - 1, x);
  for (int k = rows - 2; k > 0; k--) {
    const Equation<Scalar> e = kept(k); // lower: inverse pivot, diagonal: x_{k+1}, upper: x_{k+2}
    const Scalar inner       = (e.rhs - e.diagonal * x - e.upper * after) * e.lower;
    after                    = x;
    x                        = inner;
    put_row(k, x);
  }
  put_row(0, ends.first);
}

/// How two pieces became one: the equations that the two unknowns between them follow from.
template <class Scalar>
struct Seam {
  static constexpr int words = 13;
  Scalar value[words];

  /// `ends` of both pieces together. Sets the last unknown of the left and the first of the right one.
  KOKKOS_INLINE_FUNCTION void solve(const Ends<Scalar> &ends, Scalar &left_last, Scalar &right_first) const
  {
    const auto known = [&](const Scalar *v) {
      return v[4] - v[0] * ends.last - v[1] * ends.after - v[2] * ends.before - v[3] * ends.first;
    };
    right_first = known(value + 8) * value[7];
    left_last   = (known(value + 2) - value[1] * right_first) * value[0];
  }
};

/// Makes one piece of two; bad(0) and bad(1) hear where the left one's last, the right one's first unknown has no usable pivot.
template <class Scalar, class Bad>
KOKKOS_INLINE_FUNCTION Piece<Scalar> merge(const Piece<Scalar> &left, const Piece<Scalar> &right, Seam<Scalar> &seam, const Bad &bad)
{
  Scalar e[4][8]; // last of left, first of right, last of right, after right, before left, first of left, rhs, noise
  for (int s = 0; s < 2; s++) {
    const auto &l = left.side[s], &r = right.side[s];
    const Scalar of_left[8]  = {l.last, l.after, 0, 0, l.before, l.first, l.rhs, l.noise},
                 of_right[8] = {r.before, r.first, r.last, r.after, 0, 0, r.rhs, r.noise};
    for (int c = 0; c < 8; c++) {
      e[s][c]     = of_left[c];
      e[s + 2][c] = of_right[c];
    }
  }
  if (!eliminate<0, 7>(e)) bad(0);
  if (!eliminate<1, 7>(e)) bad(1);
  for (int c = 0; c < 7; c++) seam.value[c] = e[0][c];
  for (int c = 1; c < 7; c++) seam.value[6 + c] = e[1][c];
  const auto side = [&](const Scalar(&v)[8]) { return typename Piece<Scalar>::Side{v[4], v[5], v[2], v[3], v[6], v[7]}; };
  return {{side(e[2]), side(e[3])}};
}

/// The ends of a piece that is a whole line, or ring.
template <class Scalar, class Bad>
KOKKOS_INLINE_FUNCTION Ends<Scalar> solve_piece(const Piece<Scalar> &piece, bool ring, const Bad &bad)
{
  const auto &s = piece.side;
  if (s[0].noise == 0 && s[1].noise == 0) return {}; // no rows, which have some: a line of the other colour
  Scalar e[2][4] = {{s[0].first, s[0].last, s[0].rhs, s[0].noise}, {s[1].first, s[1].last, s[1].rhs, s[1].noise}};
  for (int k = 0; ring && k < 2; k++) {
    e[k][0] += s[k].after;
    e[k][1] += s[k].before;
  }
  if (!eliminate<0, 3>(e)) bad(0);
  if (!above_noise(e[1][1], real_part(e[1][3]))) bad(1);
  const Scalar last = e[1][2] / e[1][1], first = (e[0][2] - e[0][1] * last) * e[0][0];
  return {ring ? last : Scalar(0), first, last, ring ? first : Scalar(0)};
}

} // namespace weft
