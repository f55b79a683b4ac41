/// The kernel of Pivoted: a team joins the pieces of a tile of lines in scratch memory.
#pragma once
#include <algorithm>
#include <limits>

#include "base/backend.hpp"
#include "line/methods/pivoted/pieces.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

/// What a tile does: join the pieces of its leaves and leave one for the coarse line; join them and, since that is the whole line, solve; or
/// join them and go back with ends from the coarse line.
enum class Way { up, whole, down };

/// How the leaves of all lines (slices of rows, or pieces of a coarse line) form tiles: `deep` neighbours of each of `wide` lines. Jobs of a tile
/// are numbered as they lie in memory.
struct Tiling {
  Index lines = 0, leaves = 0;
  int wide = 1, deep = 1;
  bool side_by_side = false; ///< neighbouring lines are closer in memory than neighbouring rows

  /// Tiles as large as the scratch memory of a team allows. Lines that are side by side: at least a cache line of them.
  template <class Space, class Scalar>
  static Tiling of(Index lines, Index leaves, bool side_by_side, std::size_t bytes_of_job)
  {
    const auto scratch = static_cast<std::size_t>(Kokkos::TeamPolicy<Space>::scratch_size_max(0)) - 64; // for alignment
    Index jobs         = std::min<Index>(static_cast<Index>(scratch / (bytes_of_job + 2 * sizeof(Scalar))), 256);
    if (jobs > warp<Space>) jobs -= jobs % warp<Space>;
    constexpr Index line = 64 / sizeof(Scalar);
    Tiling tiling{lines, leaves, 1, 1, side_by_side};
    const Index most   = side_by_side ? std::max<Index>(1, jobs / std::min(lines, line)) : jobs;
    const Index pieces = (leaves + most - 1) / most; // of a line, about equal
    tiling.deep        = static_cast<int>((leaves + pieces - 1) / pieces);
    tiling.wide        = static_cast<int>(std::min(lines, jobs / tiling.deep));
    return tiling;
  }

  KOKKOS_INLINE_FUNCTION int jobs() const { return wide * deep; }
  KOKKOS_INLINE_FUNCTION Index tiles_of_line() const { return (leaves + deep - 1) / deep; }
  KOKKOS_INLINE_FUNCTION Index groups() const { return (lines + wide - 1) / wide; }
  KOKKOS_INLINE_FUNCTION Index tiles() const { return groups() * tiles_of_line(); }

  /// The first line and the part of the line that a tile has, neighbours in memory following each other.
  struct Tile {
    Index line, part;
  };
  KOKKOS_INLINE_FUNCTION Tile tile(Index number) const
  {
    if (side_by_side) return {number % groups() * wide, number / groups()};
    return {number / tiles_of_line() * wide, number % tiles_of_line()};
  }
  KOKKOS_INLINE_FUNCTION int job(int line, int leaf) const { return side_by_side ? leaf * wide + line : line * deep + leaf; }
  KOKKOS_INLINE_FUNCTION int line_of(int job) const { return side_by_side ? job % wide : job / deep; }
  KOKKOS_INLINE_FUNCTION int leaf_of(int job) const { return side_by_side ? job / wide : job % deep; }

  /// On a device a thread for each leaf (the rows are read by all). Where threads are few and far apart, one goes through the tile.
  template <class Space>
  int threads() const
  {
    return runs_on_host<Space> ? 1 : std::min(256, (jobs() + warp<Space> - 1) / warp<Space> * warp<Space>);
  }
  template <class Space>
  static constexpr bool runs_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  template <class Space>
  static constexpr int warp = runs_on_host<Space> ? 32 : warp_threads<Space>;
};

/// The pieces of coarse lines; on the way down their right-hand sides become the solutions at their ends.
template <class Space, class Scalar>
struct Pieces {
  Index lines = 0, pieces = 0;
  bool side_by_side = false;
  OwnedArray<Scalar, Space> values; ///< twelve arrays

  Pieces() = default;
  Pieces(Index lines, Index pieces, bool side_by_side)
      : lines(lines), pieces(pieces), side_by_side(side_by_side),
        values("weft pivoted pieces", static_cast<std::size_t>(12 * lines * pieces))
  {
  }
  KOKKOS_INLINE_FUNCTION Scalar &value(int k, Index line, Index piece) const
  {
    return values(k * lines * pieces + (side_by_side ? piece * lines + line : line * pieces + piece));
  }
  KOKKOS_INLINE_FUNCTION void set(Index line, Index piece, const Piece<Scalar> &p) const
  {
    for (int s = 0; s < 2; s++) {
      value(6 * s, line, piece)     = p.side[s].before;
      value(6 * s + 1, line, piece) = p.side[s].first;
      value(6 * s + 2, line, piece) = p.side[s].last;
      value(6 * s + 3, line, piece) = p.side[s].after;
      value(6 * s + 4, line, piece) = p.side[s].rhs;
      value(6 * s + 5, line, piece) = p.side[s].noise;
    }
  }
  KOKKOS_INLINE_FUNCTION Piece<Scalar> get(Index line, Index piece) const
  {
    Piece<Scalar> p;
    for (int s = 0; s < 2; s++) {
      p.side[s] = {value(6 * s, line, piece),     value(6 * s + 1, line, piece), value(6 * s + 2, line, piece),
                   value(6 * s + 3, line, piece), value(6 * s + 4, line, piece), value(6 * s + 5, line, piece)};
    }
    return p;
  }
  KOKKOS_INLINE_FUNCTION Scalar &first(Index line, Index piece) const { return value(4, line, piece); }
  KOKKOS_INLINE_FUNCTION Scalar &last(Index line, Index piece) const { return value(10, line, piece); }
};

/// The scratch memory of a tile: the pieces of its jobs, where they are joined, and the ends of each.
template <class Scalar>
struct TileScratch {
  Tiling tiling;
  Scalar *values; ///< the 13 words of a seam or the 12 of a piece for each job, then firsts and lasts

  static constexpr int words_of_job = Seam<Scalar>::words + 2;
  /// One more first and last for each line.
  KOKKOS_INLINE_FUNCTION static int words(const Tiling &tiling) { return words_of_job * tiling.jobs() + 2 * tiling.wide; }

  KOKKOS_INLINE_FUNCTION Scalar &value(int k, int job) const { return values[k * tiling.jobs() + job]; }
  KOKKOS_INLINE_FUNCTION int end(int line, int leaf) const
  {
    return tiling.side_by_side ? leaf * tiling.wide + line : line * (tiling.deep + 1) + leaf;
  }
  /// First unknown of leaf 0 .. deep, the last of them being the one after the tile.
  KOKKOS_INLINE_FUNCTION Scalar &first(int line, int leaf) const { return values[Seam<Scalar>::words * tiling.jobs() + end(line, leaf)]; }
  /// Last unknown of leaf -1 .. deep-1.
  KOKKOS_INLINE_FUNCTION Scalar &last(int line, int leaf) const
  {
    return values[Seam<Scalar>::words * tiling.jobs() + tiling.wide * (tiling.deep + 1) + end(line, leaf + 1)];
  }
  KOKKOS_INLINE_FUNCTION Ends<Scalar> ends(int line, int from, int to) const
  {
    return {last(line, from - 1), first(line, from), last(line, to - 1), first(line, to)};
  }

  KOKKOS_INLINE_FUNCTION void set(int job, const Piece<Scalar> &p) const
  {
    for (int s = 0; s < 2; s++) {
      value(6 * s, job)     = p.side[s].before;
      value(6 * s + 1, job) = p.side[s].first;
      value(6 * s + 2, job) = p.side[s].last;
      value(6 * s + 3, job) = p.side[s].after;
      value(6 * s + 4, job) = p.side[s].rhs;
      value(6 * s + 5, job) = p.side[s].noise;
    }
  }
  KOKKOS_INLINE_FUNCTION Piece<Scalar> get(int job) const
  {
    Piece<Scalar> p;
    for (int s = 0; s < 2; s++)
      p.side[s] = {value(6 * s, job),     value(6 * s + 1, job), value(6 * s + 2, job),
                   value(6 * s + 3, job), value(6 * s + 4, job), value(6 * s + 5, job)};
    return p;
  }

  /// Joins the pieces of each line to that of its leaf 0; each seam stays at the right piece's job. bad(line, leaf, side) hears of pivots.
  template <class Team, class Bad>
  KOKKOS_INLINE_FUNCTION void up(const Team &team, const Bad &bad) const
  {
    for (int distance = 1; distance < tiling.deep; distance *= 2) {
      const int pairs = (tiling.deep + distance - 1) / (2 * distance);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, pairs * tiling.wide), [&](int k) {
        const int line = k % tiling.wide, leaf = k / tiling.wide * 2 * distance;
        const int left = tiling.job(line, leaf), right = tiling.job(line, leaf + distance);
        Seam<Scalar> seam;
        set(left, merge(get(left), get(right), seam, [&](int side) { bad(line, leaf + distance, side); }));
        for (int w = 0; w < Seam<Scalar>::words; w++) value(w, right) = seam.value[w];
      });
      team.team_barrier();
    }
  }
  /// From the ends of each line's tile to the ends of each leaf.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void down(const Team &team) const
  {
    int distance = 1;
    while (distance < tiling.deep) distance *= 2;
    for (distance /= 2; distance > 0; distance /= 2) {
      const int pairs = (tiling.deep + distance - 1) / (2 * distance);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, pairs * tiling.wide), [&](int k) {
        const int line = k % tiling.wide, leaf = k / tiling.wide * 2 * distance;
        Seam<Scalar> seam;
        for (int w = 0; w < Seam<Scalar>::words; w++) seam.value[w] = value(w, tiling.job(line, leaf + distance));
        seam.solve(ends(line, leaf, Kokkos::min(leaf + 2 * distance, tiling.deep)), last(line, leaf + distance - 1),
                   first(line, leaf + distance));
      });
      team.team_barrier();
    }
  }
};

/// Leaves of a tile that are pieces of a coarse line.
template <class Space, class Scalar>
struct CoarsePieces {
  static constexpr const char *name = "pieces";
  Pieces<Space, Scalar> pieces;
  bool ring;

  static std::size_t bytes_of_job() { return TileScratch<Scalar>::words_of_job * sizeof(Scalar); }
  KOKKOS_INLINE_FUNCTION std::size_t bytes(const Tiling &) const { return 0; }

  template <class Team, class Flag>
  KOKKOS_INLINE_FUNCTION void load(const Team &, const Tiling &, const Tiling::Tile &, char *, const Flag &) const
  {
  }
  template <class Bad>
  KOKKOS_INLINE_FUNCTION Piece<Scalar> piece(const Tiling &tiling, const Tiling::Tile &tile, char *, int job, const Bad &) const
  {
    const Index line = tile.line + tiling.line_of(job), leaf = tile.part * tiling.deep + tiling.leaf_of(job);
    return line < tiling.lines && leaf < tiling.leaves ? pieces.get(line, leaf) : ring ? Piece<Scalar>::nothing() : Piece<Scalar>();
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void store(const Team &team, const Tiling &tiling, const Tiling::Tile &tile, char *,
                                    const TileScratch<Scalar> &scratch) const
  {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiling.jobs()), [&](int job) {
      const Index line = tile.line + tiling.line_of(job), leaf = tile.part * tiling.deep + tiling.leaf_of(job);
      if (line >= tiling.lines || leaf >= tiling.leaves) return;
      pieces.first(line, leaf) = scratch.first(tiling.line_of(job), tiling.leaf_of(job));
      pieces.last(line, leaf)  = scratch.last(tiling.line_of(job), tiling.leaf_of(job));
    });
  }
};

/// Leaves that are slices of rows, which come through scratch memory since a thread's rows may lie apart from its neighbour's.
template <class Space, class Scalar>
struct SlicesOfRows {
  static constexpr const char *name = "rows";
  Tridiagonal<Scalar, Space> matrix;
  Array<Scalar, Space> rhs, solution;
  SolveOptions<Scalar> options;
  int slice;
  bool check, has_rhs;

  /// Rows of a slice in scratch memory: odd, against bank conflicts.
  KOKKOS_INLINE_FUNCTION static int room(int slice) { return slice | 1; }
  KOKKOS_INLINE_FUNCTION static std::size_t bytes_of_slice(int slice)
  {
    return sizeof(Index) + 4 * static_cast<std::size_t>(room(slice)) * sizeof(Scalar) + sizeof(short);
  }
  static std::size_t bytes_of_job(int slice) { return bytes_of_slice(slice) + TileScratch<Scalar>::words_of_job * sizeof(Scalar); }
  KOKKOS_INLINE_FUNCTION std::size_t bytes(const Tiling &tiling) const
  {
    return (static_cast<std::size_t>(tiling.jobs()) * bytes_of_slice(slice) + 7) / 8 * 8;
  }

  /// The slices in scratch memory.
  struct Slices {
    Index *element; ///< of the first row
    Scalar *values; ///< lower, diagonal, upper, rhs of all rows
    short *rows;    ///< 0 where there is nothing to do
    int all, to_row, to_slice;

    KOKKOS_INLINE_FUNCTION Slices(const Tiling &tiling, int slice, char *memory)
        : all(tiling.jobs() * room(slice)), to_row(tiling.side_by_side ? tiling.jobs() : 1), to_slice(tiling.side_by_side ? 1 : room(slice))
    {
      element = reinterpret_cast<Index *>(memory);
      values  = reinterpret_cast<Scalar *>(element + tiling.jobs());
      rows    = reinterpret_cast<short *>(values + 4 * all);
    }
    KOKKOS_INLINE_FUNCTION Scalar *row(int job, int k) const { return values + job * to_slice + k * to_row; }
    KOKKOS_INLINE_FUNCTION Equation<Scalar> get(int job, int k) const
    {
      const Scalar *v = row(job, k);
      return {v[0], v[all], v[2 * all], v[3 * all]};
    }
    KOKKOS_INLINE_FUNCTION void set(int job, int k, const Equation<Scalar> &e) const
    {
      Scalar *v  = row(job, k);
      v[0]       = e.lower;
      v[all]     = e.diagonal;
      v[2 * all] = e.upper;
      v[3 * all] = e.rhs;
    }
  };

  /// Calls body(job, k) for all rows of a tile's slices; on a device neighbouring threads get neighbouring elements.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION void each_row(const Team &team, const Tiling &tiling, const Slices &slices, const Body &body) const
  {
    if constexpr (Tiling::runs_on_host<Space>) {
      for (int job = 0; job < tiling.jobs(); job++) {
        for (int k = 0; k < slices.rows[job]; k++) body(job, k);
      }
    } else {
      const int jobs = tiling.jobs();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, jobs * slice), [&](int number) {
        const int job = tiling.side_by_side ? number % jobs : number / slice, k = tiling.side_by_side ? number / jobs : number % slice;
        if (k < slices.rows[job]) body(job, k);
      });
    }
  }

  template <class Team, class Flag>
  KOKKOS_INLINE_FUNCTION void load(const Team &team, const Tiling &tiling, const Tiling::Tile &tile, char *memory, const Flag &flag) const
  {
    const Slices slices(tiling, slice, memory);
    const LineLayout &layout = matrix.problem.layout;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiling.jobs()), [&](int job) {
      const Index line = tile.line + tiling.line_of(job), row = (tile.part * tiling.deep + tiling.leaf_of(job)) * slice;
      const bool there    = line < tiling.lines && row < layout.length && layout.has_colour(line, options.colour);
      slices.rows[job]    = there ? static_cast<short>(Kokkos::min<Index>(slice, layout.length - row)) : short(0);
      slices.element[job] = there ? layout.start(line) + row * layout.stride : 0;
    });
    team.team_barrier();
    each_row(team, tiling, slices, [&](int job, int k) {
      const Index row     = (tile.part * tiling.deep + tiling.leaf_of(job)) * slice + k;
      const Index element = slices.element[job] + k * layout.stride;
      const Row<Scalar> r = has_corners(matrix.problem) ? matrix.wrapped(row, element) : matrix.at(row, element);
      const Scalar power  = scaling(r);
      if (check && !usable_row(r)) flag.report(tile.line + tiling.line_of(job), row);
      slices.set(job, k, {r.lower * power, r.diagonal * power, r.upper * power, has_rhs ? rhs(element) * power : Scalar(0)});
    });
    team.team_barrier();
  }

  template <class Bad>
  KOKKOS_INLINE_FUNCTION Piece<Scalar> piece(const Tiling &tiling, const Tiling::Tile &, char *memory, int job, const Bad &bad) const
  {
    const Slices slices(tiling, slice, memory);
    if (slices.rows[job] == 0 && has_corners(matrix.problem)) return Piece<Scalar>::nothing();
    return piece_of_rows<Scalar>(
        slices.rows[job], [&](int k) { return slices.get(job, k); }, [&](int k) { bad(k); });
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void store(const Team &team, const Tiling &tiling, const Tiling::Tile &, char *memory,
                                    const TileScratch<Scalar> &scratch) const
  {
    const Slices slices(tiling, slice, memory);
    const LineLayout &layout = matrix.problem.layout;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiling.jobs()), [&](int job) {
      const int line = tiling.line_of(job), leaf = tiling.leaf_of(job);
      const auto get = [&](int k) { return slices.get(job, k); };
      solve_rows(
          slices.rows[job], scratch.ends(line, leaf, leaf + 1), get,
          [&](int k, const Scalar(&e)[4]) {
            slices.set(job, k, {e[0], e[1], e[2], e[3]});
          },
          get, [&](int k, Scalar x) { slices.row(job, k)[3 * slices.all] = x; });
    });
    team.team_barrier();
    each_row(team, tiling, slices, [&](int job, int k) {
      put(solution(slices.element[job] + k * layout.stride), options.update, slices.row(job, k)[3 * slices.all]);
    });
  }
};

/// A team for each tile.
template <class Space, class Scalar, class Leaves, Way way>
struct TileKernel {
  using Policy = Kokkos::TeamPolicy<Space>;
  Tiling tiling;
  Leaves leaves;
  Pieces<Space, Scalar> above; ///< a piece for each tile; not there where a tile has whole lines
  PivotFlag<typename Space::memory_space> flag;
  Index rows_of_leaf, length;
  bool ring, check, solves;

  KOKKOS_INLINE_FUNCTION std::size_t bytes() const
  {
    return leaves.bytes(tiling) + static_cast<std::size_t>(TileScratch<Scalar>::words(tiling)) * sizeof(Scalar);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type &team) const
  {
    // The way down starts where the way up ended: what that read last is still in the cache.
    const Index number = team.league_rank();
    const auto tile    = tiling.tile(way == Way::down ? tiling.tiles() - 1 - number : number);
    char *const memory = static_cast<char *>(team.team_shmem().get_shmem(static_cast<std::ptrdiff_t>(bytes())));
    const TileScratch<Scalar> scratch{tiling, reinterpret_cast<Scalar *>(memory + leaves.bytes(tiling))};
    const auto bad = [&](int line, int leaf, Index row_of_leaf) {
      const Index row = (tile.part * tiling.deep + leaf) * rows_of_leaf + row_of_leaf;
      if (check && tile.line + line < tiling.lines) flag.report(tile.line + line, Kokkos::min(row, length - 1), 1);
    };

    leaves.load(team, tiling, tile, memory, flag);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiling.jobs()), [&](int job) {
      scratch.set(job, leaves.piece(tiling, tile, memory, job, [&](int k) { bad(tiling.line_of(job), tiling.leaf_of(job), k); }));
    });
    team.team_barrier();
    scratch.up(team, [&](int line, int leaf, int side) { bad(line, leaf, side - 1); });
    if constexpr (way == Way::up) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiling.wide), [&](int line) {
        if (tile.line + line < tiling.lines) above.set(tile.line + line, tile.part, scratch.get(tiling.job(line, 0)));
      });
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, tiling.wide), [&](int line) { set_ends(tile, scratch, line, bad); });
      if (!solves) return;
      team.team_barrier();
      scratch.down(team);
      leaves.store(team, tiling, tile, memory, scratch);
    }
  }

  /// The unknowns at and next to the ends of a line's tile.
  template <class Bad>
  KOKKOS_INLINE_FUNCTION void set_ends(const Tiling::Tile &tile, const TileScratch<Scalar> &scratch, int line, const Bad &bad) const
  {
    Ends<Scalar> ends;
    if constexpr (way == Way::whole) {
      ends = solve_piece(scratch.get(tiling.job(line, 0)), ring, [&](int side) { bad(line, 0, side == 0 ? 0 : length - 1); });
    } else if (tile.line + line < tiling.lines) {
      const Index global = tile.line + line;
      ends.first         = above.first(global, tile.part);
      ends.last          = above.last(global, tile.part);
      const Index tiles  = tiling.tiles_of_line();
      if (tile.part > 0 || ring) ends.before = above.last(global, tile.part > 0 ? tile.part - 1 : tiles - 1);
      if (tile.part + 1 < tiles || ring) ends.after = above.first(global, tile.part + 1 < tiles ? tile.part + 1 : 0);
    }
    scratch.last(line, -1)              = ends.before;
    scratch.first(line, 0)              = ends.first;
    scratch.last(line, tiling.deep - 1) = ends.last;
    scratch.first(line, tiling.deep)    = ends.after;
  }
};

} // namespace weft
