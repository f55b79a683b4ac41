/// The elimination of the native form of pivoted.hpp: pieces of a line (pieces.hpp) in a form that costs a thread little.
///
/// One of the two equations that are left of neighbouring rows can always be had without the unknown before them:
///
///   before x_{-1} + first x_0 + last x_{m-1} + after x_m = rhs      leading: it stems from row 0 among others
///                   first x_0 + last x_{m-1} + after x_m = rhs      running: of rows 1 .. m-1 alone
///
/// The running equation meets the next row as in Gaussian elimination with partial pivoting; the one of them with the larger entry meets the
/// leading equation in the same way, and the larger of these two is the pivot row, which the unknown follows from. No multiplier is larger
/// than 1 (pairwise pivoting), and everything is done by selection, without a branch.
///
/// Rows p and c with entries p0 and c0 make  alpha c - beta p  with alpha = p0 s, beta = c0 s: there is no quotient to wait for, and no
/// exchange of rows. s is about 1 / max(|p0|, |c0|); its error does not matter, since it scales the whole row.
///
/// Nothing here needs a device: tests/kernels/pivoted_test.cpp solves lines by it on the host.
#pragma once
#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace weft::cuda {

/// body(0) .. body(n - 1), one after another and without a loop, so that arrays stay in registers.
template <int n, class Body>
KOKKOS_INLINE_FUNCTION void unrolled(const Body &body)
{
  [&]<int... k>(std::integer_sequence<int, k...>)
  {
    (body(k), ...);
  }
  (std::make_integer_sequence<int, n>());
}

/// Orders numbers as their magnitudes do, to 20 bits: the upper half of a double read as a float. Infinite or NaN from 2^1017 on.
KOKKOS_INLINE_FUNCTION float size_of(float x)
{
  return fabsf(x);
}
KOKKOS_INLINE_FUNCTION float size_of(double x)
{
  return fabsf(Kokkos::bit_cast<float>(static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(x) >> 32)));
}

/// The larger one; NaN if one of them is.
KOKKOS_INLINE_FUNCTION float larger_size(float a, float b)
{
#if defined(__CUDA_ARCH__)
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
#else
  return std::isnan(a) || std::isnan(b) ? NAN : fmaxf(a, b);
#endif
}

/// The number, 1 to 2 times a power of two, whose size this is.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar number_of_size(float size)
{
  if constexpr (sizeof(Scalar) == 4)
    return size;
  else
    return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(Kokkos::bit_cast<std::uint32_t>(size)) << 32);
}

/// 1 / x to some 20 bits, x > 0 given by its size; finite always.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar rough_inverse(float size)
{
  const float least = sizeof(Scalar) == 8 ? Kokkos::bit_cast<float>(std::uint32_t(0x01700000)) : 1e-37f; // 2^-1000 of a double
  const Scalar x    = number_of_size<Scalar>(fmaxf(size, least));
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Scalar) == 8) {
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
  } else {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
#else
  return 1 / x;
#endif
}

/// What makes one row of two, p and c. `first`: p has the larger entry.
template <class Scalar>
struct RowOfTwo {
  Scalar alpha, beta;
  Scalar rough; ///< about 1 / |larger entry|
  float size;   ///< of that
  bool first;

  /// A row without the unknown stays as it is, to the last bit: p where keeps_first, c where keeps_second.
  template <bool keeps_first, bool keeps_second>
  KOKKOS_INLINE_FUNCTION static RowOfTwo of(Scalar p0, Scalar c0)
  {
    const float p = size_of(p0), c = size_of(c0), size = fmaxf(p, c);
    const Scalar s = rough_inverse<Scalar>(size);
    RowOfTwo pair{p0 * s, c0 * s, s, size, p >= c};
    if (keeps_second && c == 0) pair.alpha = 1;
    if (keeps_first && p == 0 && !(keeps_second && c == 0)) pair.beta = 1;
    return pair;
  }
  /// The new row, from what the rows hold in a column; of_first where c holds nothing, of_second where p does not.
  KOKKOS_INLINE_FUNCTION Scalar of_both(Scalar p, Scalar c) const { return alpha * c - beta * p; }
  KOKKOS_INLINE_FUNCTION Scalar of_first(Scalar p) const { return -(beta * p); }
  KOKKOS_INLINE_FUNCTION Scalar of_second(Scalar c) const { return alpha * c; }
  /// The row that has the larger entry.
  KOKKOS_INLINE_FUNCTION Scalar larger(Scalar p, Scalar c) const { return first ? p : c; }
  /// 1 / larger entry by one cubic step; finite always.
  KOKKOS_INLINE_FUNCTION Scalar inverse(Scalar entry) const
  {
    const Scalar y = Kokkos::copysign(rough, entry), error = Kokkos::fma(-entry, y, Scalar(1));
    return Kokkos::fma(y, Kokkos::fma(error, error, error), y);
  }
};

/// What a thread leaves of its rows, and the least size of a pivot that led there.
template <class Scalar>
struct Half {
  Scalar before, first, last, after, rhs;
  Scalar running_first, running_last, running_after, running_rhs;
  float least;
};

/// The unknowns at the border between two pieces: the last one of the left, the first one of the right piece.
template <class Scalar>
struct Border {
  Scalar last = 0, first = 0;
};

/// R rows of a thread and, after `eliminate`, what their inner unknowns follow from: row k + 1 then tells
///   x_k = rhs - diagonal x_{k+1} - lower x_0 - upper (x_{-1} or x_{k+2}).
template <class Scalar, int R>
struct Rows {
  static_assert(R >= 3 && R <= 32);
  Scalar lower[R], diagonal[R], upper[R], rhs[R];
  unsigned holds_before = 0; ///< bit k: x_k follows from x_{-1}

  /// least: of pivots before. between(k) is called when x_k is eliminated.
  template <class Between>
  KOKKOS_INLINE_FUNCTION Half<Scalar> eliminate(float least, const Between &between)
  {
    Scalar a_before = lower[0], a_first = diagonal[0], a0 = upper[0], a1 = 0, a_rhs = rhs[0]; // leading; 0 and 1: of x_k, x_{k+1}
    Scalar b_first = lower[1], b0 = diagonal[1], b1 = upper[1], b_rhs = rhs[1];               // running
    holds_before = 0;
    unrolled<R - 2>([&](int step) {
      const int k     = step + 1;
      const Scalar c0 = lower[k + 1], c1 = diagonal[k + 1], c2 = upper[k + 1], c_rhs = rhs[k + 1];
      const auto bc        = RowOfTwo<Scalar>::template of<false, true>(b0, c0);
      const Scalar q_first = bc.larger(b_first, 0), q0 = bc.larger(b0, c0), q1 = bc.larger(b1, c1), q2 = bc.larger(0, c2),
                   q_rhs = bc.larger(b_rhs, c_rhs);
      b_first            = bc.of_first(b_first);
      b0                 = bc.of_both(b1, c1);
      b1                 = bc.of_second(c2);
      b_rhs              = bc.of_both(b_rhs, c_rhs);

      const auto aq        = RowOfTwo<Scalar>::template of<true, false>(a0, q0);
      const Scalar inverse = aq.inverse(aq.larger(a0, q0)), of_a = aq.larger(inverse, 0), of_q = aq.larger(0, inverse);
      least           = fminf(least, aq.size);
      diagonal[k + 1] = of_a * a1 + of_q * q1; // sums, since selections are what a device has least time for
      lower[k + 1]    = of_a * a_first + of_q * q_first;
      upper[k + 1]    = of_a * a_before + of_q * q2;
      rhs[k + 1]      = of_a * a_rhs + of_q * q_rhs;
      holds_before |= aq.first ? 1u << k : 0u;
      a_before = aq.of_first(a_before);
      a_first  = aq.of_both(a_first, q_first);
      a0       = aq.of_both(a1, q1);
      a1       = aq.of_second(q2);
      a_rhs    = aq.of_both(a_rhs, q_rhs);
      between(k);
    });
    return {a_before, a_first, a0, a1, a_rhs, b_first, b0, b1, b_rhs, least};
  }

  /// put_row(k, x_k) for all rows, the last one first.
  template <class Put>
  KOKKOS_INLINE_FUNCTION void substitute(const Border<Scalar> &left, const Border<Scalar> &right, const Put &put_row) const
  {
    Scalar x = right.last, after = right.first;
    put_row(R - 1, x);
    unrolled<R - 2>([&](int step) {
      const int k        = R - 2 - step;
      const Scalar other = holds_before >> k & 1 ? left.last : after;
      const Scalar inner = rhs[k + 1] - lower[k + 1] * left.first - upper[k + 1] * other - diagonal[k + 1] * x;
      after              = x;
      x                  = inner;
      put_row(k, x);
    });
    put_row(0, left.first);
  }
};

/// Where a piece in memory has what: columns of the leading equation, a zero, the same columns of the running one, a zero, the least pivot.
struct Column {
  static constexpr int before = 0, first = 1, last = 2, after = 3, rhs = 4, none = 5, count = 5;
  static constexpr int running = 6, least = 12, words = 13; ///< odd: lanes meet no bank twice
};

template <class Scalar>
KOKKOS_INLINE_FUNCTION auto &least_of(Scalar *piece)
{
  return *reinterpret_cast<std::conditional_t<std::is_const_v<Scalar>, const float, float> *>(piece + Column::least);
}

template <class Scalar>
KOKKOS_INLINE_FUNCTION void put_piece(Scalar *piece, const Half<Scalar> &h)
{
  const Scalar words[Column::least] = {h.before, h.first,         h.last,         h.after,         h.rhs,         0,
                                       0,        h.running_first, h.running_last, h.running_after, h.running_rhs, 0};
  unrolled<Column::least>([&](int k) { piece[k] = words[k]; });
  least_of(piece) = h.least;
}

/// How two pieces became one: what the left one's last unknown p and the right one's first unknown q follow from, in columns of the joined
/// piece.
template <class Scalar>
struct Joint {
  Scalar q_of_p, p[Column::count], q[Column::count];

  /// The unknowns at the border, from those at the ends of the joined piece.
  KOKKOS_INLINE_FUNCTION Border<Scalar> solve(const Border<Scalar> &left, const Border<Scalar> &right) const
  {
    const auto known = [&](const Scalar(&row)[Column::count]) {
      return (row[Column::rhs] - row[Column::before] * left.last - row[Column::first] * left.first) -
             (row[Column::last] * right.last + row[Column::after] * right.first);
    };
    const Scalar x = known(q);
    return {known(p) - q_of_p * x, x};
  }
};

/// Joins two pieces: of the joined one and of the joint those columns that the caller wants, `columns` of them, number k being column(k). Who
/// joins the other columns does the rest twice. `joined` may be where other pieces were: `all_have_read` is called between reading and writing.
/// Returns the least pivot. stores, stores_q: the columns, and q_of_p, are written.
template <int columns, class Scalar, class Which, class Sync>
KOKKOS_INLINE_FUNCTION float join(const Scalar *left, const Scalar *right, Scalar *joined, Joint<Scalar> &joint, const Which &column,
                                  bool stores, bool stores_q, const Sync &all_have_read)
{
  constexpr int running = Column::running;
  Scalar a[columns], b[columns], c[columns], d[columns]; // leading and running equation of the left piece, of the right piece
  unrolled<columns>([&](int k) {
    const int n = column(k), of_left = n == Column::last || n == Column::after ? Column::none : n,
              of_right = n == Column::before || n == Column::first ? Column::none : n;
    a[k]               = left[of_left];
    b[k]               = left[of_left + running];
    c[k]               = right[of_right];
    d[k]               = right[of_right + running];
  });
  const Scalar a_p = left[Column::last], a_q = left[Column::after], b_p = left[running + Column::last], b_q = left[running + Column::after];
  const Scalar c_p = right[Column::before], c_q = right[Column::first], d_q = right[running + Column::first];
  const float least = fminf(least_of(left), least_of(right));

  // p out of a, b and c: e is the larger of b and c, f what they leave, g what a and e leave. q out of f, g and d likewise.
  const auto bc    = RowOfTwo<Scalar>::template of<true, true>(b_p, c_p);
  const Scalar e_p = bc.larger(b_p, c_p), e_q = bc.larger(b_q, c_q), f_q = bc.of_both(b_q, c_q);
  const auto ae    = RowOfTwo<Scalar>::template of<true, true>(a_p, e_p);
  const Scalar g_q = ae.of_both(a_q, e_q), p_inverse = ae.inverse(ae.larger(a_p, e_p));
  const auto fd          = RowOfTwo<Scalar>::template of<true, true>(f_q, d_q);
  const Scalar h_q       = fd.larger(f_q, d_q);
  const auto gh          = RowOfTwo<Scalar>::template of<true, true>(g_q, h_q);
  const Scalar q_inverse = gh.inverse(gh.larger(g_q, h_q));
  all_have_read();
  if (stores_q) joint.q_of_p = ae.larger(a_q, e_q) * p_inverse;
  unrolled<columns>([&](int k) {
    const int n    = column(k);
    const Scalar e = bc.larger(b[k], c[k]), f = bc.of_both(b[k], c[k]), g = ae.of_both(a[k], e), h = fd.larger(f, d[k]);
    const Scalar p_k = ae.larger(a[k], e) * p_inverse, q_k = gh.larger(g, h) * q_inverse;
    const Scalar leading = gh.of_both(g, h), running_k = fd.of_both(f, d[k]);
    if (stores && n != Column::none) {
      joint.p[n]          = p_k;
      joint.q[n]          = q_k;
      joined[n]           = leading;
      joined[n + running] = running_k;
    }
  });
  return fminf(least, fminf(ae.size, gh.size));
}

/// The ends of a piece that is a whole line. least: becomes the least pivot of the line.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Border<Scalar> solve_whole(const Scalar *piece, float &least)
{
  const Scalar *b        = piece + Column::running;
  const auto ab          = RowOfTwo<Scalar>::template of<true, true>(piece[Column::first], b[Column::first]);
  const Scalar of_first  = ab.inverse(ab.larger(piece[Column::first], b[Column::first]));
  const Scalar entry     = ab.of_both(piece[Column::last], b[Column::last]);
  const auto alone       = RowOfTwo<Scalar>::template of<false, false>(entry, 0);
  const Scalar last      = ab.of_both(piece[Column::rhs], b[Column::rhs]) * alone.inverse(entry);
  least                  = fminf(least_of(piece), fminf(ab.size, alone.size));
  const Scalar of_larger = ab.larger(piece[Column::rhs], b[Column::rhs]) - ab.larger(piece[Column::last], b[Column::last]) * last;
  return {last, of_larger * of_first};
}

/// Factor of a row, as `scaling` in pieces.hpp. largest: becomes the largest size of a coefficient.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar scale_of(Scalar lower, Scalar diagonal, Scalar upper, float &largest)
{
  constexpr bool wide = sizeof(Scalar) == 8;
  constexpr int most = wide ? 0x7fe00000 : 0x7f000000, exponent = wide ? 0x7ff00000 : 0x7f800000, doubling = wide ? 1 << 20 : 1 << 23;
  const float couplings = larger_size(size_of(lower), size_of(upper)), size = larger_size(couplings, size_of(diagonal));
  largest   = larger_size(largest, size);
  int power = Kokkos::max(most - (Kokkos::bit_cast<int>(size) & exponent), doubling);
  if (couplings == 0) power = Kokkos::min(power, most - 10 * doubling) + 10 * doubling;
  return number_of_size<Scalar>(Kokkos::bit_cast<float>(power));
}

} // namespace weft::cuda
