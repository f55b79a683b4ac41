/// A TransformShape on a backend: what a team does with a packet of lines.
#pragma once
#include "bcr/transforms/fourier.hpp"
#include "bcr/transforms/trigonometric.hpp"

namespace weft::poisson {

/// Where lines lie: point j of line l is element j * stride + (l % inner) * inner_stride + (l / inner) * outer_stride.
struct LinesAt {
  Index stride = 1, inner = 1, inner_stride = 0, outer_stride = 0;

  WEFT_INLINE Index start(Index line) const
  {
    const Index outer = inner == 1 ? line : line / inner;
    return (line - outer * inner) * inner_stride + outer * outer_stride;
  }
};

/// Several right-hand sides, whose lines lie alike: those of the next one begin `from` and `to` elements further on.
struct ColumnsAt {
  Index count = 1, from = 0, to = 0;
};

/// Transforms packets of 2 * lanes lines, each of one right-hand side. A line's points are all read before the first result is written.
template <class Scalar, int lanes>
struct LineTransform {
  using Number = Pack<Scalar, lanes>;

  Trigonometric kind   = Trigonometric::dst1;
  bool reads_backwards = false, writes_backwards = false, alternates_input = false, alternates_output = false;
  int n               = 1;
  Scalar first_weight = 1, last_weight = 1;
  Fourier<Scalar> fourier;
  const Scalar *angles = nullptr; ///< exp(-pi i j / N) of dst1 and dct1, exp(-pi i q / 2N) of dct2 and dct3
  const Scalar *scale  = nullptr; ///< or null
  const Scalar *from   = nullptr;
  Scalar *to           = nullptr;
  LinesAt from_at, to_at;
  Index lines = 0; ///< of a right-hand side
  ColumnsAt columns;

  KOKKOS_INLINE_FUNCTION Index packets_of_column() const { return (lines + 2 * lanes - 1) / (2 * lanes); }
  KOKKOS_INLINE_FUNCTION Index packets() const { return packets_of_column() * columns.count; }
  /// Numbers of each of the two boards that a team needs.
  KOKKOS_INLINE_FUNCTION int board() const { return fourier.board; }

  /// x and y: the boards; `sums`: a number for each member of the team. A team may have a sum_before(sums, own): the sum of what those
  /// before it have.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team, Index packet, Number *x, Number *y, Number *sums) const
  {
    const Packet p = lines_of(packet);
    const int N    = fourier.length;
    if (kind == Trigonometric::dst1)
      prepare_sines(team, p, x);
    else
      for (int j = team.rank(); j < N; j += team.size()) x[j] = prepared(p, j);
    const Number *const v = fourier(team, x, y);
    team.barrier();
    finish(team, p, v, v == x ? y : x, sums);
  }

  /// The lines of a packet.
  struct Packet {
    const LineTransform &t;
    Index first;
    Index read[2 * lanes], write[2 * lanes];

    /// Point j in the order of the transform, with its sign and weight.
    KOKKOS_INLINE_FUNCTION Number operator()(int j) const
    {
      const Index at = (t.reads_backwards ? t.n - 1 - j : j) * t.from_at.stride;
      Number v;
      for (int l = 0; l < lanes; l++) {
        v.re[l] = t.from[read[2 * l] + at];
        v.im[l] = t.from[read[2 * l + 1] + at];
      }
      Scalar factor = t.alternates_input && j % 2 == 1 ? -1 : 1;
      if (j == 0) factor *= t.first_weight;
      if (j == t.n - 1) factor *= t.last_weight;
      return factor == Scalar(1) ? v : factor * v;
    }
    /// Result q.
    KOKKOS_INLINE_FUNCTION void put(int q, const Number &value) const
    {
      const int to   = t.writes_backwards ? t.n - 1 - q : q;
      Scalar factor  = t.alternates_output && q % 2 == 1 ? -1 : 1;
      const Index at = to * t.to_at.stride;
      if (t.scale) factor *= t.scale[to];
      for (int l = 0; l < lanes; l++) {
        if (first + 2 * l < t.lines) t.to[write[2 * l] + at] = factor * value.re[l];
        if (first + 2 * l + 1 < t.lines) t.to[write[2 * l + 1] + at] = factor * value.im[l];
      }
    }
  };

  KOKKOS_INLINE_FUNCTION Packet lines_of(Index packet) const
  {
    // A packet too many is one of the last right-hand side, past its lines.
    const Index each   = packets_of_column();
    const Index column = columns.count == 1 ? 0 : packet / each < columns.count ? packet / each : columns.count - 1;
    Packet p{*this, (packet - column * each) * 2 * lanes, {}, {}};
    for (int l = 0; l < 2 * lanes; l++) {
      const Index line = p.first + l < lines ? p.first + l : lines - 1;
      p.read[l]        = column * columns.from + from_at.start(line);
      p.write[l]       = column * columns.to + to_at.start(line);
    }
    return p;
  }

  KOKKOS_INLINE_FUNCTION static Number zero() { return Scalar(0) * Number{}; }

  /// All that the Fourier transform takes, for dst1, reading each point once: elements j and N - j are of the same two.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void prepare_sines(const Team &team, const Packet &p, Number *x) const
  {
    const int N       = fourier.length;
    const Scalar half = Scalar(0.5);
    for (int j = team.rank(); 2 * j <= N; j += team.size()) {
      if (j == 0) {
        x[0] = zero();
        continue;
      }
      const Scalar s     = -angles[2 * j + 1];
      const Number point = p(j - 1), mirror = p(N - j - 1);
      x[j]     = (s + half) * point + (s - half) * mirror;
      x[N - j] = (s + half) * mirror + (s - half) * point;
    }
  }
  /// Element j of what the Fourier transform takes.
  KOKKOS_INLINE_FUNCTION Number prepared(const Packet &p, int j) const
  {
    const int N = fourier.length;
    switch (kind) {
    case Trigonometric::dst1: {
      if (j == 0) return zero();
      const Scalar s = -angles[2 * j + 1], half = Scalar(0.5);
      return (s + half) * p(j - 1) + (s - half) * p(N - j - 1);
    }
    case Trigonometric::dct1: {
      const Scalar s = -angles[2 * j + 1], half = Scalar(0.5);
      return (half - s) * p(j) + (half + s) * p(N - j);
    }
    case Trigonometric::dct2:
      return p(2 * j < N ? 2 * j : 2 * (N - j) - 1);
    case Trigonometric::dct3: {
      if (j == 0) return p(0);
      const Scalar half = Scalar(0.5), *const w = angles + 2 * j, *const u = angles + 2 * (N - j);
      return Number::turned(half * w[0], half * w[1], p(j)) + Number::turned(half * u[0], -half * u[1], p(N - j));
    }
    case Trigonometric::real_back: {
      const int k = 2 * j <= N ? j : N - j;
      if (k == 0) return p(0);
      if (2 * k == N) return p(N - 1);
      const Scalar half = Scalar(0.5);
      return half * p(2 * k - 1) + (j == k ? half : -half) * p(2 * k).times_i();
    }
    default:
      return p(j);
    }
  }

  /// From the Fourier transform v to results. `spare`: N / 2 + 1 numbers, for dst1 and dct1 only.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void finish(const Team &team, const Packet &p, const Number *v, Number *spare, Number *sums) const
  {
    const int N       = fourier.length;
    const Scalar half = Scalar(0.5);
    switch (kind) {
    case Trigonometric::dst1:
    case Trigonometric::dct1:
      running_sums(team, p, v, spare, sums);
      return;
    case Trigonometric::dct2:
      for (int q = team.rank(); q < N; q += team.size()) {
        const Scalar *const w = angles + 2 * q;
        p.put(q, Number::turned(half * w[0], half * w[1], v[q]) + Number::turned(half * w[0], -half * w[1], v[q == 0 ? 0 : N - q]));
      }
      return;
    case Trigonometric::dct3:
      for (int j = team.rank(); j < N; j += team.size()) p.put(2 * j < N ? 2 * j : 2 * (N - j) - 1, v[j]);
      return;
    case Trigonometric::real:
      for (int q = team.rank(); q < N; q += team.size()) {
        const int k     = (q + 1) / 2;
        const Number &a = v[k], &b = v[k == 0 ? 0 : N - k];
        p.put(q, half * (k == 0 || q == 2 * k - 1 ? a + b : (a - b).times_i()));
      }
      return;
    default:
      for (int j = team.rank(); j < N; j += team.size()) p.put(j, v[j]);
    }
  }

private:
  /// The results of dst1 and dct1 whose differences v has: each member of the team adds up a piece of them, then what comes before it.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void running_sums(const Team &team, const Packet &p, const Number *v, Number *spare, Number *sums) const
  {
    const int N       = fourier.length;
    const bool sine   = kind == Trigonometric::dst1;
    const Scalar half = Scalar(0.5);
    const int count = sine ? (N + 1) / 2 : N / 2 + 1, piece = (count + team.size() - 1) / team.size();
    const int begin = team.rank() * piece, end = begin + piece < count ? begin + piece : count;
    const int last = n - 1 + (sine ? 1 : 0), lead = sine ? 1 : 0; // of the results' numbers
    Number first_odd = zero();
    if (!sine) { // X_1 by itself, which needs the points again: they are still there, since nothing was written
      for (int j = team.rank(); j < N; j += team.size()) {
        const Scalar c = angles[2 * j];
        first_odd      = first_odd + (j == 0 ? half * (p(0) - p(N)) : c * p(j));
      }
      sums[team.rank()] = first_odd;
      team.barrier();
      first_odd = zero();
      for (int r = 0; r < team.size(); r++) first_odd = first_odd + sums[r];
      team.barrier();
    }
    Number sum = zero();
    for (int k = begin; k < end; k++) {
      const Number a = v[k], b = v[k == 0 ? 0 : N - k];
      const Number cosines = half * (a + b), sines = half * (a - b).times_i();
      const Number step = sine ? (k == 0 ? half * cosines : cosines) : (k == 0 ? first_odd : sines);
      if (k > 0 || !sine) p.put(2 * k - lead, sine ? sines : cosines);
      sum      = sum + step;
      spare[k] = sum;
    }
    Number before = zero();
    if constexpr (requires { team.sum_before(sums, sum); }) {
      before = team.sum_before(sums, sum);
    } else {
      sums[team.rank()] = sum;
      team.barrier();
      for (int r = 0; r < team.rank(); r++) before = before + sums[r];
    }
    for (int k = begin; k < end; k++) {
      if (2 * k + 1 <= last) p.put(2 * k + 1 - lead, before + spare[k]);
    }
  }
};

} // namespace weft::poisson
