/// The kernels of toeplitz.hpp.
#pragma once
#include <cstdint>

#include "base/aligned.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// The tables of a chunk of R equal rows, see near_toeplitz.hpp. A kernel gets them by value.
template <class Scalar, int R>
struct InnerChunk {
  Scalar lows[R], inverses[R], befores[R], afters[R];

  KOKKOS_INLINE_FUNCTION Scalar low(int j) const { return lows[j]; }
  KOKKOS_INLINE_FUNCTION Scalar inverse(int j) const { return inverses[j]; }
  KOKKOS_INLINE_FUNCTION Scalar before(int j) const { return befores[j]; }
  KOKKOS_INLINE_FUNCTION Scalar after(int j) const { return afters[j]; }
  KOKKOS_INLINE_FUNCTION Scalar last_after() const { return afters[R - 1]; }
};

/// The tables of a chunk with special rows, or of a short one: they lie in memory.
template <class Scalar, int R>
struct OwnChunk {
  static constexpr int words = 4 * R + 1;
  const Scalar *table;

  KOKKOS_INLINE_FUNCTION Scalar low(int j) const { return table[j]; }
  KOKKOS_INLINE_FUNCTION Scalar inverse(int j) const { return table[R + j]; }
  KOKKOS_INLINE_FUNCTION Scalar before(int j) const { return table[2 * R + j]; }
  KOKKOS_INLINE_FUNCTION Scalar after(int j) const { return table[3 * R + j]; }
  KOKKOS_INLINE_FUNCTION Scalar last_after() const { return table[4 * R]; }
};

/// What elimination leaves of a chunk: its last row's value and the value of its first unknown.
template <class Scalar>
struct ChunkEnds {
  Scalar value = 0, head = 0;
};

/// Downwards: right-hand sides become values.
template <class Scalar, int R, class Table>
KOKKOS_INLINE_FUNCTION ChunkEnds<Scalar> eliminate(const Table &table, int rows, Scalar (&x)[R])
{
  ChunkEnds<Scalar> ends;
  for (int j = 0; j < R; j++) {
    if (j < rows) x[j] = ends.value = x[j] * table.inverse(j) - table.low(j) * ends.value;
  }
  for (int j = R - 2; j >= 0; j--) {
    if (j + 1 < rows) ends.head = x[j] - table.after(j) * ends.head;
  }
  return ends;
}

/// Upwards: values become the solution, the chunk's last unknown and the one before the chunk known.
template <class Scalar, int R, class Table>
KOKKOS_INLINE_FUNCTION void substitute(const Table &table, int rows, Scalar before, Scalar last, Scalar (&x)[R])
{
  for (int j = R - 1; j >= 0; j--) {
    if (j + 1 < rows) last = x[j] - table.before(j) * before - table.after(j) * last;
    if (j < rows) x[j] = last;
  }
}

/// A cut line with its tables.
template <class Space, class Scalar, int R>
struct ChunkedLine {
  LineLayout layout;
  Index chunks = 0, first_inner = 0, first_tail = 0; ///< chunks [first_inner, first_tail) are equal
  bool ring = false;
  InnerChunk<Scalar, R> inner;
  const Scalar *own = nullptr; ///< tables of the others

  KOKKOS_INLINE_FUNCTION int rows_of(Index chunk) const
  {
    const Index left = layout.length - chunk * R;
    return static_cast<int>(left < R ? left : R);
  }
  KOKKOS_INLINE_FUNCTION bool is_inner(Index chunk) const { return chunk >= first_inner && chunk < first_tail; }
  KOKKOS_INLINE_FUNCTION OwnChunk<Scalar, R> own_chunk(Index chunk) const
  {
    return {own + (chunk < first_inner ? chunk : chunk - first_tail + first_inner) * OwnChunk<Scalar, R>::words};
  }
  KOKKOS_INLINE_FUNCTION Scalar last_after(Index chunk) const
  {
    return is_inner(chunk) ? inner.last_after() : own_chunk(chunk).last_after();
  }
  KOKKOS_INLINE_FUNCTION ChunkEnds<Scalar> eliminated(Index chunk, Scalar (&x)[R]) const
  {
    return is_inner(chunk) ? eliminate(inner, R, x) : eliminate(own_chunk(chunk), rows_of(chunk), x);
  }
  KOKKOS_INLINE_FUNCTION void substituted(Index chunk, Scalar before, Scalar last, Scalar (&x)[R]) const
  {
    if (is_inner(chunk))
      substitute(inner, R, before, last, x);
    else
      substitute(own_chunk(chunk), rows_of(chunk), before, last, x);
  }
};

/// Right-hand sides and solutions of a launch.
template <class Space, class Scalar>
struct ToeplitzArrays {
  Array<Scalar, Space> rhs, solution;
  Update<Scalar> update;
  Colour colour  = Colour::all;
  bool in_pieces = false; ///< rows follow each other in memory and both arrays begin at a multiple of 16 bytes

  ToeplitzArrays(const LineLayout &layout, const Array<Scalar, Space> &b, const Array<Scalar, Space> &x,
                 const SolveOptions<Scalar> &options)
      : rhs(b), solution(x), update(options.update), colour(options.colour)
  {
    const auto aligned = [](const void *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    in_pieces          = !is_host_space<Space> && layout.stride == 1 && aligned(b.data()) && aligned(x.data());
  }
  template <int R>
  KOKKOS_INLINE_FUNCTION bool pieces(Index element, bool whole) const
  {
    if constexpr (R % (16 / sizeof(Scalar)) != 0) return false;
    return in_pieces && whole && element % (16 / static_cast<Index>(sizeof(Scalar))) == 0;
  }
  template <int R>
  KOKKOS_INLINE_FUNCTION void load(Index element, Index stride, int rows, Scalar (&x)[R]) const
  {
    if (pieces<R>(element, rows == R)) {
      load_aligned(rhs.data() + element, x);
      return;
    }
    for (int j = 0; j < R; j++) x[j] = j < rows ? rhs(element + j * stride) : Scalar(0);
  }
  /// Rows [from, to) of them.
  template <int R>
  KOKKOS_INLINE_FUNCTION void store(Index element, Index stride, int from, int to, Scalar (&x)[R]) const
  {
    if (pieces<R>(element, from == 0 && to == R) && !update.add) {
      for (int j = 0; j < R; j++) x[j] *= update.scale;
      store_aligned(x, solution.data() + element);
      return;
    }
    for (int j = 0; j < R; j++) {
      if (j >= from && j < to) put(solution(element + j * stride), update, x[j]);
    }
  }
};

/// The chunks' last unknowns by PCR in a team, see ExactSteps. Rows touched by the ends, in memory: inverse, ring, then left and right of
/// each step, `chunks` words each. Of a ring, the last unknown is kept out of PCR; the others hang on it:
///   x_k = y_k - ring_k x_last,   x_last = ring_inverse (rhs_last - ring_lower y_{last-1} - ring_upper y_0).
template <class Scalar>
struct TeamSteps {
  static constexpr int most = 10; ///< 2^most chunks
  int count = 0, chunks = 0;
  int joined        = 0; ///< chunks that take part
  Scalar left[most] = {}, right[most] = {}, inverse = 0;
  int first_inner[most + 1] = {}, first_tail[most + 1] = {};
  Scalar ring_lower = 0, ring_upper = 0, ring_inverse = 0;
  const Scalar *touched = nullptr;

  static constexpr int words_of_chunk = 2 + 2 * most;

  KOKKOS_INLINE_FUNCTION bool equal(int step, int chunk) const { return chunk >= first_inner[step] && chunk < first_tail[step]; }
  KOKKOS_INLINE_FUNCTION Scalar inverse_of(int chunk) const { return equal(count, chunk) ? inverse : touched[chunk]; }
  KOKKOS_INLINE_FUNCTION Scalar ring_of(int chunk) const { return touched[chunks + chunk]; }
  KOKKOS_INLINE_FUNCTION Scalar left_of(int step, int chunk) const { return touched[(2 + 2 * step) * chunks + chunk]; }
  KOKKOS_INLINE_FUNCTION Scalar right_of(int step, int chunk) const { return touched[(3 + 2 * step) * chunks + chunk]; }
};

/// A team per bundle of neighbouring lines; a thread owns a chunk of R rows in registers. One read and one write a row.
template <class Space, class Scalar, int R>
struct ToeplitzTeam {
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  ChunkedLine<Space, Scalar, R> line;
  TeamSteps<Scalar> steps;
  ToeplitzArrays<Space, Scalar> arrays;
  int lines       = 1;    ///< of a team
  bool rows_first = true; ///< neighbouring threads own neighbouring rows; otherwise neighbouring lines
  // Windows of longer lines, see WindowCut: `line` is a window then.
  Index windows = 1, first_window = 0, apart_rows = 0; ///< how many, first row of the first one, rows from one to the next
  Index keep_from = 0, keep_to = 0;                    ///< rows of a window that it gives

  /// A thread between two barriers.
  struct Thread {
    Scalar x[R], mine;
    Index start;
    int rank, chunk, rows;
    ChunkEnds<Scalar> ends;
  };
  /// Through which threads see each other's numbers: two sets, so that one can be written while the other is read.
  struct Board {
    Scalar *numbers;
    int team_size;
    KOKKOS_INLINE_FUNCTION Scalar &at(int set, int rank) const { return numbers[set * team_size + rank]; }
  };

  KOKKOS_INLINE_FUNCTION int chunks() const { return steps.chunks; }
  KOKKOS_INLINE_FUNCTION int team_size() const { return chunks() * lines; }
  KOKKOS_INLINE_FUNCTION int apart() const { return rows_first ? 1 : lines; } ///< from a chunk to the next one, in ranks

  KOKKOS_INLINE_FUNCTION Index league() const { return (line.layout.count() + lines - 1) / lines * windows; }

  KOKKOS_INLINE_FUNCTION void begin(Thread &t, Index league, int rank, const Board &board) const
  {
    t.rank              = rank;
    t.chunk             = rows_first ? rank % chunks() : rank / lines;
    const Index window  = league % windows;
    const Index number  = league / windows * lines + (rows_first ? rank / chunks() : rank % lines);
    const bool is_there = number < line.layout.count() && line.layout.has_colour(number, arrays.colour);
    t.rows              = is_there ? line.rows_of(t.chunk) : 0;
    t.mine              = 0;
    t.start             = 0;
    if (t.rows == 0) return;
    t.start = line.layout.start(number) + (first_window + window * apart_rows + Index(t.chunk) * R) * line.layout.stride;
    arrays.load(t.start, line.layout.stride, t.rows, t.x);
    eliminate(t, board);
  }
  KOKKOS_INLINE_FUNCTION void eliminate(Thread &t, const Board &board) const
  {
    if (t.rows == 0) return;
    t.ends              = line.eliminated(t.chunk, t.x);
    board.at(1, t.rank) = t.ends.head;
  }
  KOKKOS_INLINE_FUNCTION void join(Thread &t, const Board &board) const
  {
    if (t.rows == 0) return;
    t.mine = t.ends.value;
    if (t.chunk + 1 < chunks())
      t.mine -= line.last_after(t.chunk) * board.at(1, t.rank + apart());
    else if (line.ring)
      t.mine -= line.last_after(t.chunk) * board.at(1, t.rank - t.chunk * apart());
    board.at(0, t.rank) = t.mine;
  }
  KOKKOS_INLINE_FUNCTION void step(Thread &t, int step, const Board &board) const
  {
    if (t.rows == 0) return;
    const int set = step % 2, distance = 1 << step;
    if (t.chunk < steps.joined) {
      const bool equal   = steps.equal(step, t.chunk);
      const Scalar left  = equal ? steps.left[step] : steps.left_of(step, t.chunk);
      const Scalar right = equal ? steps.right[step] : steps.right_of(step, t.chunk);
      if (t.chunk >= distance) t.mine -= left * board.at(set, t.rank - distance * apart());
      if (t.chunk + distance < steps.joined) t.mine -= right * board.at(set, t.rank + distance * apart());
    }
    board.at(1 - set, t.rank) = t.mine;
  }
  KOKKOS_INLINE_FUNCTION void end(Thread &t, const Board &board) const
  {
    if (t.rows == 0) return;
    substitute(t, board);
    const Index from = keep_from - Index(t.chunk) * R, to = keep_to - Index(t.chunk) * R;
    arrays.store(t.start, line.layout.stride, from > 0 ? static_cast<int>(from) : 0, to < t.rows ? static_cast<int>(to) : t.rows, t.x);
  }
  KOKKOS_INLINE_FUNCTION void substitute(Thread &t, const Board &board) const
  {
    if (t.rows == 0) return;
    const int set      = steps.count % 2;
    const auto reduced = [&](int chunk) { return steps.inverse_of(chunk) * board.at(set, t.rank + (chunk - t.chunk) * apart()); };
    Scalar last, before = 0;
    if (line.ring) {
      const int ring_chunk = chunks() - 1;
      Scalar ring          = board.at(set, t.rank + (ring_chunk - t.chunk) * apart());
      if (ring_chunk > 0) ring -= steps.ring_lower * reduced(ring_chunk - 1) + steps.ring_upper * reduced(0);
      ring *= steps.ring_inverse;
      last   = t.chunk == ring_chunk ? ring : reduced(t.chunk) - steps.ring_of(t.chunk) * ring;
      before = t.chunk == 0 ? ring : reduced(t.chunk - 1) - steps.ring_of(t.chunk - 1) * ring;
    } else {
      last = steps.inverse_of(t.chunk) * t.mine;
      if (t.chunk > 0) before = reduced(t.chunk - 1);
    }
    line.substituted(t.chunk, before, last, t.x);
  }

  KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() const
  {
    const auto threads = static_cast<std::size_t>(team_size());
    return threads * (2 * sizeof(Scalar) + (is_host_space<Space> ? sizeof(Thread) : 0)) + alignof(Thread);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const Index league = team.league_rank();
    if constexpr (is_host_space<Space>) { // one thread plays all of the team
      const auto size     = static_cast<std::size_t>(team_size());
      char *scratch       = static_cast<char *>(team.team_scratch(1).get_shmem_aligned(scratch_bytes(), alignof(Thread)));
      auto *const threads = reinterpret_cast<Thread *>(scratch);
      const Board board{reinterpret_cast<Scalar *>(scratch + size * sizeof(Thread)), team_size()};
      for (int rank = 0; rank < team_size(); rank++) begin(threads[rank], league, rank, board);
      for (int rank = 0; rank < team_size(); rank++) join(threads[rank], board);
      for (int s = 0; s < steps.count; s++) {
        for (int rank = 0; rank < team_size(); rank++) step(threads[rank], s, board);
      }
      for (int rank = 0; rank < team_size(); rank++) end(threads[rank], board);
    } else {
      const Board board{static_cast<Scalar *>(team.team_scratch(0).get_shmem(scratch_bytes())), team.team_size()};
      Thread thread;
      begin(thread, league, team.team_rank(), board);
      team.team_barrier();
      join(thread, board);
      team.team_barrier();
      for (int s = 0; s < steps.count; s++) {
        step(thread, s, board);
        team.team_barrier();
      }
      end(thread, board);
    }
  }
};

/// A chunk's two ends to memory: the first pass over lines that a team does not hold. A thread a chunk.
template <class Space, class Scalar, int R>
struct ToeplitzReduce {
  ChunkedLine<Space, Scalar, R> line;
  LineLayout kept; ///< of the chunks' last unknowns
  ToeplitzArrays<Space, Scalar> arrays;
  OwnedArray<Scalar, Space> values, heads;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const LineRow at = line_row(kept, number);
    if (!line.layout.has_colour(at.line, arrays.colour)) return;
    const Index start = line.layout.start(at.line) + at.row * R * line.layout.stride;
    Scalar x[R];
    arrays.load(start, line.layout.stride, line.rows_of(at.row), x);
    const ChunkEnds<Scalar> ends = line.eliminated(at.row, x);
    const Index k                = kept.start(at.line) + at.row * kept.stride;
    values(k)                    = ends.value;
    heads(k)                     = ends.head;
  }
};

/// Values become the right-hand sides of the kept line.
template <class Space, class Scalar, int R>
struct ToeplitzJoin {
  ChunkedLine<Space, Scalar, R> line;
  LineLayout kept;
  OwnedArray<Scalar, Space> values, heads;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const LineRow at = line_row(kept, number);
    const Index k    = kept.start(at.line) + at.row * kept.stride;
    if (at.row + 1 < kept.length)
      values(k) -= line.last_after(at.row) * heads(k + kept.stride);
    else if (line.ring)
      values(k) -= line.last_after(at.row) * heads(kept.start(at.line));
  }
};

/// The second pass: eliminates once more and substitutes, the kept unknowns known.
template <class Space, class Scalar, int R>
struct ToeplitzFinish {
  ChunkedLine<Space, Scalar, R> line;
  LineLayout kept;
  ToeplitzArrays<Space, Scalar> arrays;
  OwnedArray<Scalar, Space> values;

  KOKKOS_INLINE_FUNCTION void operator()(const Index number) const
  {
    const LineRow at = line_row(kept, number);
    if (!line.layout.has_colour(at.line, arrays.colour)) return;
    const Index start = line.layout.start(at.line) + at.row * R * line.layout.stride;
    const int rows    = line.rows_of(at.row);
    Scalar x[R];
    arrays.load(start, line.layout.stride, rows, x);
    line.eliminated(at.row, x);
    const Index k       = kept.start(at.line) + at.row * kept.stride;
    const Scalar before = at.row > 0 ? values(k - kept.stride) : line.ring ? values(k + (kept.length - 1) * kept.stride) : Scalar(0);
    line.substituted(at.row, before, values(k), x);
    arrays.store(start, line.layout.stride, 0, rows, x);
  }
};

} // namespace weft
