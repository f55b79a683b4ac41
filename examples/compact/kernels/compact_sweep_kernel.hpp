/// The kernel of compact_sweep.hpp.
#pragma once
#include <utility>

#include "base/backend.hpp"
#include "base/real_of.hpp"
#include "kernels/compact_meet.hpp"
#include "kernels/compact_weights.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// A = L U of a line:   value_r = inverse_r (B f)_r - low_r value_{r-1},   g_r = value_r - after_r g_{r+1}   (near_toeplitz.hpp).
template <class Real>
struct RowFactors {
  Real low, inverse, after;
};
template <class Real>
struct LineFactors {
  static constexpr Index around = 128; ///< rows of zeros that the table has before and after the piece, but for those beside neighbours
  RowFactors<Real> inner;              ///< of rows [begin, end) of the piece, which are equal to rounding; of all rows of a ring
  Index begin = 0, end = 0;
  const RowFactors<Real> *table = nullptr; ///< row 0 of the piece; null where a ring is all here
};

/// body(0) ... body(n - 1). On a device each with a number known to the compiler: arrays that are indexed by it stay in registers.
template <bool on_host, int n, class Body>
KOKKOS_FORCEINLINE_FUNCTION void each(const Body &body)
{
  if constexpr (on_host) {
    for (int j = 0; j < n; j++) body(j);
  } else {
    [&]<int... j>(std::integer_sequence<int, j...>)
    {
      (body(j), ...);
    }
    (std::make_integer_sequence<int, n>{});
  }
}

/// What a rank has of the lines, see BoxPiece.
struct SweptLines {
  Index rows, lines, stride, first, length;
  bool ring, whole_ring; ///< whole_ring: all of its rows are here

  explicit SweptLines(const BoxPiece &piece)
      : rows(piece.rows()), lines(piece.lines()), stride(piece.stride()), first(piece.first), length(piece.length), ring(piece.ring),
        whole_ring(piece.ring && rows == length)
  {
  }
};

/// Where it reads and writes, and which tiles of which lines of a piece it gives.
template <class Scalar>
struct SweepRange {
  const Scalar *f, *before,
      *after; ///< neighbours' rows of f, width - 1 of them; null where there are none, or where they are not to be read
  /// What neighbours told of each line, which with rows of f here is the value that the elimination had in the row before the piece, and the unknown in the
  /// row after it, but for what the value before that does to it; null as above. These rows stand in the table so that what is put in the place of
  /// their right-hand sides becomes their value.
  const Scalar *told_before, *told_after;
  const EndWeights<RealOf<Scalar>> *ends; ///< null where both are
  Scalar *g;
  Index first_line, end_line;
  Index from, to; ///< tiles
  Index segment;  ///< tiles that are swept together
};

/// Lines of a team; what a host counts by.
template <class Space>
inline constexpr int lines_of_team = is_host_space<Space> ? 32 : warp_threads<Space>;

/// A sweep down `lanes` lines at once: one a thread on a device, where a team is a warp, several on a host. Tile k has rows [k tile, (k + 1)
/// tile); while its rows of f come in, rows of tile k - looks of g go out. The stencil needs `width` rows more than it gives, so it is as
/// many rows behind.
template <class Space, class Scalar, int tile, int looks, int width, int lanes, bool contiguous, class Meet = NobodyMet>
struct CompactSweepKernel {
  static_assert(tile >= 2 * width);
  using Real                = RealOf<Scalar>;
  static constexpr int kept = tile * (looks + 1), team = lines_of_team<Space>, most_ends = 2;
  static_assert(kept <= LineFactors<Real>::around);
  static constexpr bool on_host     = is_host_space<Space>;
  static constexpr int rows_of_tile = tile, looks_ahead = looks;
  using Tile = Scalar[tile][lanes];

  SweptLines piece;
  StencilWeights<Real> weights;
  LineFactors<Real> factors;
  SweepRange<Scalar> range;
  Meet meet;

  /// What a sweep carries from tile to tile.
  struct State {
    Scalar carry[2 * width][lanes]; ///< the last rows of f
    Scalar values[kept][lanes];     ///< of the rows from tile k - looks on
  };
  struct Lines {
    Index number[lanes], start[lanes];
    int count;       ///< of them to be written
    bool neighbours; ///< they follow each other in memory
  };

  template <int n, class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void loop(const Body &body)
  {
    each<on_host, n>(body);
  }
  KOKKOS_INLINE_FUNCTION Index stride() const { return contiguous ? 1 : piece.stride; }
  KOKKOS_INLINE_FUNCTION Index start_of(Index line) const
  {
    return contiguous ? line * piece.rows : line % piece.stride + line / piece.stride * piece.stride * piece.rows;
  }
  KOKKOS_INLINE_FUNCTION Index bundles() const
  {
    constexpr int together = on_host ? lanes : team;
    return (range.end_line - range.first_line + together - 1) / together;
  }

  /// f in a row of a line here or at a neighbour; nothing beyond.
  KOKKOS_INLINE_FUNCTION Scalar value(Index line, Index start, Index row) const
  {
    const Index rows = piece.rows, lines = piece.lines;
    if (piece.whole_ring) row = (row % rows + rows) % rows;
    if (row >= 0 && row < rows) return range.f[start + row * stride()];
    if (row < 0) return range.before && row > -width ? range.before[(width - 1 + row) * lines + line] : Scalar(0);
    return range.after && row < rows + width - 1 ? range.after[(row - rows) * lines + line] : Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION bool all_here(Index k) const { return k >= 0 && (k + 1) * tile <= piece.rows; }

  /// Rows of tile k of the lines.
  KOKKOS_INLINE_FUNCTION void load(const Lines &lines, Index k, Tile &f) const
  {
    if (!all_here(k)) {
      loop<tile>([&](int j) {
        for (int l = 0; l < lanes; l++) f[j][l] = value(lines.number[l], lines.start[l], k * tile + j);
      });
    } else if (lines.neighbours) {
      const Scalar *const from = range.f + lines.start[0] + k * tile * stride();
      loop<tile>([&](int j) {
        for (int l = 0; l < lanes; l++) f[j][l] = from[j * stride() + l];
      });
    } else {
      for (int l = 0; l < lanes; l++) {
        const Scalar *const from = range.f + lines.start[l] + k * tile * stride();
        loop<tile>([&](int j) { f[j][l] = from[j * stride()]; });
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void store(const Lines &lines, Index k, const Tile &g) const
  {
    const Index left = piece.rows - k * tile;
    if (lines.neighbours && lines.count == lanes && left >= tile) {
      Scalar *const to = range.g + lines.start[0] + k * tile * stride();
      loop<tile>([&](int j) {
        for (int l = 0; l < lanes; l++) to[j * stride() + l] = g[j][l];
      });
      return;
    }
    for (int l = 0; l < lines.count; l++) {
      Scalar *const to = range.g + lines.start[l] + k * tile * stride();
      loop<tile>([&](int j) {
        if (j < left) to[j * stride()] = g[j][l];
      });
    }
  }

  /// The factors of the rows from one on: all the same, or a table.
  struct Equal {
    const RowFactors<Real> of;
    KOKKOS_INLINE_FUNCTION const RowFactors<Real> &operator[](int) const { return of; }
  };
  using Own = const RowFactors<Real> *;

  /// B f in the rows near the ends of an open line that have weights of their own, or what neighbours told of the rows beside the piece; and where
  /// they are in a tile.
  struct Ends {
    static constexpr int most = CompactSweepKernel::most_ends;
    Scalar head[most][lanes], tail[most][lanes];
    int first_head, first_tail, heads, tails;
  };
  KOKKOS_INLINE_FUNCTION Ends ends_in(const Lines &lines, Index row) const
  {
    Ends ends;
    const bool told_head = range.told_before, told_tail = range.told_after;
    const Index to_head = (told_head ? -1 : -piece.first) - row,
                to_tail = (told_tail ? piece.rows : piece.length - weights.tails - piece.first) - row;
    const auto place    = [](Index at) { return at > -Ends::most && at < tile ? static_cast<int>(at) : tile; };
    ends.first_head     = place(to_head);
    ends.first_tail     = place(to_tail);
    ends.heads          = told_head ? 1 : weights.heads;
    ends.tails          = told_tail ? 1 : weights.tails;
    const auto own      = [&](int at, int i, int count, Index begin, int l) {
      const Index whole = begin + i;
      if (at == tile || i >= count || whole < piece.first || whole >= piece.first + piece.rows) return Scalar(0);
      return near_end(weights, range.f + lines.start[l] + (whole - piece.first) * stride(), whole, piece.length - 1 - whole, stride());
    };
    loop<Ends::most>([&](int i) {
      for (int l = 0; l < lanes; l++) {
        ends.head[i][l] = told_head ? Scalar(0) : own(ends.first_head, i, ends.heads, 0, l);
        ends.tail[i][l] = told_tail ? Scalar(0) : own(ends.first_tail, i, ends.tails, piece.length - weights.tails, l);
      }
    });
    for (int l = 0; l < lanes; l++) {
      const Index line              = lines.number[l];
      const Scalar *const first_row = range.f + lines.start[l];
      if (told_head && ends.first_head < tile)
        ends.head[0][l] = value_before_of(*range.ends, width, range.told_before[line], first_row, stride());
      if (told_tail && ends.first_tail < tile)
        ends.tail[0][l] = unknown_after_of(*range.ends, width, range.told_after[line], first_row + (piece.rows - 1) * stride(), stride());
    }
    return ends;
  }
  /// Whether all rows of the sweep at tile k are ones with equal factors.
  KOKKOS_INLINE_FUNCTION bool is_equal(Index k) const
  {
    const Index first = (k - looks) * tile;
    return piece.whole_ring || (first >= factors.begin && first + kept <= factors.end);
  }

  /// Downwards: the stencil, and values from right-hand sides. f is tile k, whose rows are `width` later than those of a.
  template <bool equal, class Factors>
  KOKKOS_INLINE_FUNCTION void eliminate(State &s, const Lines &lines, const Tile &f, Index k, const Factors &a) const
  {
    const auto at = [&](int j, int l) { return j < 2 * width ? s.carry[j][l] : f[j - 2 * width][l]; };
    Ends ends;
    if constexpr (!equal) ends = ends_in(lines, k * tile - width);
    loop<tile>([&](int j) {
      constexpr int place = tile * looks - width;
      for (int l = 0; l < lanes; l++) {
        Scalar sum = weights.inner[0] * at(j, l);
        loop<2 * width>([&](int i) { sum += weights.inner[i + 1] * at(j + i + 1, l); });
        if constexpr (!equal) {
          loop<Ends::most>([&](int i) {
            if (j == ends.first_head + i && i < ends.heads) sum = ends.head[i][l];
            if (j == ends.first_tail + i && i < ends.tails) sum = ends.tail[i][l];
          });
        }
        s.values[place + j][l] = a[j].inverse * sum - a[j].low * s.values[place + j - 1][l];
      }
    });
    loop<2 * width>([&](int j) {
      for (int l = 0; l < lanes; l++) s.carry[j][l] = f[tile - 2 * width + j][l];
    });
  }
  /// Upwards, to tile k - looks, with whose first row a begins.
  template <class Factors>
  KOKKOS_INLINE_FUNCTION void substitute(const State &s, const Factors &a, Tile &g) const
  {
    Scalar last[lanes] = {};
    loop<kept - width>([&](int down) {
      const int j = kept - width - 1 - down;
      for (int l = 0; l < lanes; l++) {
        last[l] = s.values[j][l] - a[j].after * last[l];
        if (j < tile) g[j][l] = last[l];
      }
    });
  }
  KOKKOS_INLINE_FUNCTION void shift(State &s) const
  {
    loop<kept - width - tile>([&](int j) {
      for (int l = 0; l < lanes; l++) s.values[j][l] = s.values[j + tile][l];
    });
  }

  struct Segment {
    Index first, begin, end; ///< tiles: where the sweep begins, [begin, end) that it gives
  };
  KOKKOS_INLINE_FUNCTION Segment segment(Index number) const
  {
    const Index begin = range.from + number * range.segment, end = begin + range.segment, first = begin - looks;
    const bool starts = !piece.whole_ring && first < 0; // what is felt of the rows before the piece was told, or there are none
    return {starts ? 0 : first, begin, end < range.to ? end : range.to};
  }

  /// Sweeps a segment. bring(k, f) fetches a tile, wait() until neighbours' words are there, turn(f) gives each thread its lines' rows of it, take(k, g) puts one away.
  template <class Bring, class Wait, class Turn, class Take>
  KOKKOS_INLINE_FUNCTION void sweep(const Segment &segment, const Lines &lines, const Bring &bring, const Wait &wait, const Turn &turn,
                                    const Take &take) const
  {
    const Equal equal{factors.inner};
    State s;
    Tile f, g;
    const bool needs_none = all_here(segment.first); // of neighbours: then it is on its way while they are waited for
    if (!needs_none) wait();
    bring(segment.first, f);
    if (needs_none) wait();
    loop<2 * width>([&](int j) {
      for (int l = 0; l < lanes; l++)
        s.carry[j][l] = segment.first == 0 && range.before ? value(lines.number[l], lines.start[l], j - 2 * width) : Scalar(0);
    });
    loop<kept>([&](int j) {
      for (int l = 0; l < lanes; l++) s.values[j][l] = 0;
    });
    for (Index k = segment.first; k < segment.end + looks; k++) {
      const bool is_inner = is_equal(k);
      turn(f);
      if (is_inner)
        eliminate<true>(s, lines, f, k, equal);
      else
        eliminate<false>(s, lines, f, k, Own(factors.table + k * tile - width));
      if (k + 1 < segment.end + looks) bring(k + 1, f); // it is on its way while the unknowns are worked out
      if (k - looks >= segment.begin) {
        if (is_inner)
          substitute(s, equal, g);
        else
          substitute(s, Own(factors.table + (k - looks) * tile), g);
        take(k - looks, g);
      }
      shift(s);
    }
  }

  KOKKOS_INLINE_FUNCTION Lines lines_from(Index first) const
  {
    Lines lines;
    lines.count      = 0;
    lines.neighbours = !contiguous || lanes == 1;
    for (int l = 0; l < lanes; l++) {
      const bool is_there = first + l < range.end_line;
      lines.number[l]     = is_there ? first + l : range.end_line - 1;
      lines.start[l]      = start_of(lines.number[l]);
      lines.count += is_there;
      lines.neighbours = lines.neighbours && lines.start[l] == lines.start[0] + l;
    }
    return lines;
  }

  /// On a host: a bundle of lines, in a segment.
  KOKKOS_INLINE_FUNCTION void operator()(const Index item) const
  {
    const Index count = bundles();
    const Lines lines = lines_from(range.first_line + item % count * lanes);
    sweep(
        segment(item / count), lines, [&](Index k, Tile &f) { load(lines, k, f); }, [] {}, [](Tile &) {},
        [&](Index k, const Tile &g) { store(lines, k, g); });
  }

  static constexpr std::size_t scratch_bytes = contiguous && !on_host ? team * (tile + 1) * sizeof(Scalar) : 0;

  /// On a device. Where rows are neighbours in memory, so are those that the threads read and write; team scratch turns tiles.
  template <class Member>
  requires requires(const Member &member) { member.league_rank(); }
  KOKKOS_INLINE_FUNCTION void operator()(const Member &member) const
  {
    const Index count = bundles(), first = range.first_line + member.league_rank() % count * team;
    const int rank    = member.team_rank();
    const Lines lines = lines_from(first + rank);
    const Segment own = segment(member.league_rank() / count);
    const auto wait   = [&] {
      if constexpr (Meet::in_kernel) meet.wait(member.league_rank());
    };
    if constexpr (contiguous) {
      Scalar *const scratch = static_cast<Scalar *>(member.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
      // Where rows are neighbours in memory, so are those that threads move: this one has a row of every `apart`-th line. Scratch turns tiles.
      constexpr int apart = team / tile, pitch = tile + 1;
      const int line = rank / tile, row = rank % tile;
      const Index left = range.end_line - first, start = (first + line) * piece.rows + row, step = apart * piece.rows;
      const auto is_there = [&](int j) { return line + j * apart < left; };
      Scalar *const mine = scratch + rank * pitch, *const moved = scratch + line * pitch + row;
      sweep(
          own, lines,
          [&](Index k, Tile &f) {
            const Scalar *from = range.f + start + k * tile;
            const bool here    = all_here(k);
            loop<tile>([&](int j) {
              if (is_there(j)) f[j][0] = here ? *from : value(first + line + j * apart, start - row + j * step, k * tile + row);
              from += step;
            });
          },
          wait,
          [&](Tile &f) {
            member.team_barrier();
            loop<tile>([&](int j) { moved[j * apart * pitch] = f[j][0]; });
            member.team_barrier();
            loop<tile>([&](int j) { f[j][0] = mine[j]; });
          },
          [&](Index k, const Tile &g) {
            member.team_barrier();
            loop<tile>([&](int j) { mine[j] = g[j][0]; });
            member.team_barrier();
            Scalar *to = range.g + start + k * tile;
            loop<tile>([&](int j) {
              if (is_there(j) && k * tile + row < piece.rows) *to = moved[j * apart * pitch];
              to += step;
            });
          });
    } else {
      sweep(
          own, lines, [&](Index k, Tile &f) { load(lines, k, f); }, wait, [](Tile &) {},
          [&](Index k, const Tile &g) { store(lines, k, g); });
    }
  }
};

} // namespace weft
