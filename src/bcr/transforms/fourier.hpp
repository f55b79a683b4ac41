/// Complex Fourier transforms of any length by a team, between two boards of scratch. Lengths with other factors than 2, 3, 5, 7 are a
/// convolution with a chirp (L. Bluestein, IEEE Trans. Audio Electroacoust. 18 (1970) 451), c_j = exp(-pi i j^2 / N):
///   X_k = c_k sum_j (x_j c_j) conj(c_{k-j}),
/// by two transforms of a length M >= 2 N - 4 that has small factors. On a ring of M = 2 N - 2 the chirp, an even function, is free of
/// itself; on one of two less only c_{N-1} is not, which X_0 and X_{N-1} alone meet: there it is put right.
///
/// Stockham's self-sorting form: the stage of radix R after stages of product s takes, for j = k + s h (k < s),
///   y[h s R + k + m s] = sum_l exp(-2 pi i l (k / (s R) + m / R)) x[j + l N / R],        m < R
/// Source: W. Cochran et al., Proc. IEEE 55 (1967) 1664; C. Van Loan, Computational Frameworks for the FFT (1992), ch. 1.7.
#pragma once
#include <Kokkos_Core.hpp>

namespace weft::poisson {

/// Complex numbers of `lanes` pairs of lines side by side.
template <class Scalar, int lanes>
struct Pack {
  Scalar re[lanes], im[lanes];

  KOKKOS_INLINE_FUNCTION friend Pack operator+(const Pack &a, const Pack &b)
  {
    Pack c;
    for (int l = 0; l < lanes; l++) c.re[l] = a.re[l] + b.re[l];
    for (int l = 0; l < lanes; l++) c.im[l] = a.im[l] + b.im[l];
    return c;
  }
  KOKKOS_INLINE_FUNCTION friend Pack operator-(const Pack &a, const Pack &b)
  {
    Pack c;
    for (int l = 0; l < lanes; l++) c.re[l] = a.re[l] - b.re[l];
    for (int l = 0; l < lanes; l++) c.im[l] = a.im[l] - b.im[l];
    return c;
  }
  KOKKOS_INLINE_FUNCTION friend Pack operator*(Scalar s, const Pack &a)
  {
    Pack c;
    for (int l = 0; l < lanes; l++) c.re[l] = s * a.re[l];
    for (int l = 0; l < lanes; l++) c.im[l] = s * a.im[l];
    return c;
  }
  /// (re + i im) a
  KOKKOS_INLINE_FUNCTION static Pack turned(Scalar re, Scalar im, const Pack &a)
  {
    Pack c;
    for (int l = 0; l < lanes; l++) c.re[l] = re * a.re[l] - im * a.im[l];
    for (int l = 0; l < lanes; l++) c.im[l] = re * a.im[l] + im * a.re[l];
    return c;
  }
  /// im + i re
  KOKKOS_INLINE_FUNCTION Pack exchanged() const
  {
    Pack c;
    for (int l = 0; l < lanes; l++) c.re[l] = im[l];
    for (int l = 0; l < lanes; l++) c.im[l] = re[l];
    return c;
  }
  /// i a
  KOKKOS_INLINE_FUNCTION Pack times_i() const
  {
    Pack c;
    for (int l = 0; l < lanes; l++) c.re[l] = -im[l];
    for (int l = 0; l < lanes; l++) c.im[l] = re[l];
    return c;
  }
};

/// cos and sin of 2 pi k / R for k < R, R = 3, 5, 7.
template <class Scalar, int R>
KOKKOS_INLINE_FUNCTION constexpr Scalar circle_cosine(int k)
{
  constexpr double c3[] = {1, -0.5, -0.5},
                   c5[] = {1, 0.30901699437494742410, -0.80901699437494742410, -0.80901699437494742410, 0.30901699437494742410},
                   c7[] = {1,
                           0.62348980185873353053,
                           -0.22252093395631440429,
                           -0.90096886790241912624,
                           -0.90096886790241912624,
                           -0.22252093395631440429,
                           0.62348980185873353053};
  return static_cast<Scalar>(R == 3 ? c3[k % 3] : R == 5 ? c5[k % 5] : c7[k % 7]);
}
template <class Scalar, int R>
KOKKOS_INLINE_FUNCTION constexpr Scalar circle_sine(int k)
{
  constexpr double s3[] = {0, 0.86602540378443864676, -0.86602540378443864676},
                   s5[] = {0, 0.95105651629515357212, 0.58778525229247312917, -0.58778525229247312917, -0.95105651629515357212},
                   s7[] = {0,
                           0.78183148246802980871,
                           0.97492791218182360702,
                           0.43388373911755812048,
                           -0.43388373911755812048,
                           -0.97492791218182360702,
                           -0.78183148246802980871};
  return static_cast<Scalar>(R == 3 ? s3[k % 3] : R == 5 ? s5[k % 5] : s7[k % 7]);
}

/// x_m <- sum_l x_l exp(-2 pi i l m / R)
template <int R, class Scalar, int lanes>
KOKKOS_INLINE_FUNCTION void small_transform(Pack<Scalar, lanes> (&x)[R])
{
  using Number = Pack<Scalar, lanes>;
  if constexpr (R == 2) {
    const Number difference = x[0] - x[1];
    x[0]                    = x[0] + x[1];
    x[1]                    = difference;
  } else if constexpr (R == 4) {
    const Number s = x[0] + x[2], u = x[0] - x[2], v = x[1] + x[3], w = (x[3] - x[1]).times_i();
    x[0] = s + v;
    x[1] = u + w;
    x[2] = s - v;
    x[3] = u - w;
  } else if constexpr (R == 8) {
    constexpr Scalar h = static_cast<Scalar>(0.70710678118654752440);
    Number even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    small_transform<4>(even);
    small_transform<4>(odd);
    odd[1] = Number::turned(h, -h, odd[1]);
    odd[2] = Number::turned(0, -1, odd[2]);
    odd[3] = Number::turned(-h, -h, odd[3]);
    for (int k = 0; k < 4; k++) {
      x[k]     = even[k] + odd[k];
      x[k + 4] = even[k] - odd[k];
    }
  } else {
    constexpr int half = (R - 1) / 2;
    Number sum[half], difference[half];
    for (int k = 0; k < half; k++) {
      sum[k]        = x[k + 1] + x[R - 1 - k];
      difference[k] = x[k + 1] - x[R - 1 - k];
    }
    const Number first = x[0];
    for (int k = 0; k < half; k++) x[0] = x[0] + sum[k];
    for (int m = 1; m <= half; m++) {
      Number cosines = first, sines = circle_sine<Scalar, R>(m) * difference[0];
      for (int k = 0; k < half; k++) cosines = cosines + circle_cosine<Scalar, R>(m * (k + 1)) * sum[k];
      for (int k = 1; k < half; k++) sines = sines + circle_sine<Scalar, R>(m * (k + 1)) * difference[k];
      sines    = sines.times_i();
      x[m]     = cosines - sines;
      x[R - m] = cosines + sines;
    }
  }
}

/// Who carries out a transform alone.
struct Alone {
  KOKKOS_INLINE_FUNCTION int rank() const { return 0; }
  KOKKOS_INLINE_FUNCTION int size() const { return 1; }
  KOKKOS_INLINE_FUNCTION void barrier() const {}
};

inline constexpr int most_stages = 20;

/// A transform of `length` numbers, its stages those of `board` numbers; `roots` are exp(-2 pi i k / board), real and imaginary parts by turns.
template <class Scalar>
struct Fourier {
  int length = 1, board = 1, stages = 0;
  signed char radix[most_stages] = {};
  const Scalar *roots            = nullptr;
  const Scalar *chirp = nullptr, *filter = nullptr; ///< c_j, and the transform of conj(c) over M; none where board is length
  Scalar missing_re = 0, missing_im = 0;            ///< Chirp::missing

  /// Transforms what lies in x; gives the board that holds the result. Both have `board` numbers. Waits for the team before, not after.
  template <class Team, int lanes>
  KOKKOS_INLINE_FUNCTION Pack<Scalar, lanes> *operator()(const Team &team, Pack<Scalar, lanes> *x, Pack<Scalar, lanes> *y) const
  {
    if (!chirp) return all_stages(team, x, y);
    using Number = Pack<Scalar, lanes>;
    team.barrier();
    const Number first = Number::turned(missing_re, missing_im, x[0]),
                 last = Number::turned(missing_re, missing_im, Number::turned(chirp[2 * length - 2], chirp[2 * length - 1], x[length - 1]));
    team.barrier();
    for (int j = team.rank(); j < board; j += team.size())
      x[j] = j < length ? Number::turned(chirp[2 * j], chirp[2 * j + 1], x[j]) : Number{};
    // A transform with the other sign is one of exchanged real and imaginary parts.
    Number *const v = all_stages(team, x, y);
    team.barrier();
    for (int j = team.rank(); j < board; j += team.size()) v[j] = Number::turned(filter[2 * j], filter[2 * j + 1], v[j]).exchanged();
    Number *const w = all_stages(team, v, v == x ? y : x);
    team.barrier();
    for (int j = team.rank(); j < length; j += team.size()) {
      Number v = w[j].exchanged();
      if (j == 0) v = v + last;
      if (j == length - 1) v = v + first;
      w[j] = Number::turned(chirp[2 * j], chirp[2 * j + 1], v);
    }
    return w;
  }

private:
  template <class Team, int lanes>
  KOKKOS_INLINE_FUNCTION Pack<Scalar, lanes> *all_stages(const Team &team, Pack<Scalar, lanes> *x, Pack<Scalar, lanes> *y) const
  {
    int before = 1;
    for (int s = 0; s < stages; s++) {
      team.barrier();
      switch (radix[s]) {
      case 2:
        stage<2>(team, before, x, y);
        break;
      case 3:
        stage<3>(team, before, x, y);
        break;
      case 4:
        stage<4>(team, before, x, y);
        break;
      case 5:
        stage<5>(team, before, x, y);
        break;
      case 7:
        stage<7>(team, before, x, y);
        break;
      default:
        stage<8>(team, before, x, y);
      }
      before *= radix[s];
      Pack<Scalar, lanes> *const old = x;
      x                              = y;
      y                              = old;
    }
    return x;
  }

  template <int R, class Team, int lanes>
  KOKKOS_INLINE_FUNCTION void stage(const Team &team, int before, const Pack<Scalar, lanes> *x, Pack<Scalar, lanes> *y) const
  {
    const int part = board / R, step = part / before;
    for (int j = team.rank(); j < part; j += team.size()) {
      const int h = j / before, k = j - h * before;
      Pack<Scalar, lanes> v[R];
      for (int l = 0; l < R; l++) v[l] = x[j + l * part];
      if (k > 0) {
        for (int l = 1; l < R; l++) {
          const Scalar *const w = roots + 2 * (l * k * step);
          v[l]                  = Pack<Scalar, lanes>::turned(w[0], w[1], v[l]);
        }
      }
      small_transform<R>(v);
      Pack<Scalar, lanes> *const to = y + h * before * R + k;
      for (int m = 0; m < R; m++) to[m * before] = v[m];
    }
  }
};

} // namespace weft::poisson
