/// The pieces of reduction.hpp inside a team: cyclic reduction levels, parallel cyclic reduction steps and Thomas on what is left.
#pragma once
#include "line/tridiagonal.hpp"

namespace weft {

/// A row divided by its diagonal:  lower x_before + x + upper x_after = rhs.
template <class Scalar>
struct UnitRow {
  Scalar lower = 0, upper = 0, rhs = 0;

  /// The measure of a pivot that comes of this row.
  KOKKOS_INLINE_FUNCTION Scalar scale() const { return 1 + modulus(lower) + modulus(upper); }
};

/// The row without its neighbours `left` and `right`, which couples it to their far neighbours. Three words a row and one division:
///   pivot = 1 - lower left.upper - upper right.lower
template <class Scalar>
KOKKOS_INLINE_FUNCTION UnitRow<Scalar> reduce(const UnitRow<Scalar> &left, const UnitRow<Scalar> &row, const UnitRow<Scalar> &right,
                                              Scalar &pivot)
{
  pivot                = 1 - row.lower * left.upper - row.upper * right.lower;
  const Scalar inverse = 1 / pivot;
  return {-row.lower * left.lower * inverse, -row.upper * right.upper * inverse,
          (row.rhs - row.lower * left.rhs - row.upper * right.rhs) * inverse};
}

/// Reduced rows in the memory of a space.
template <class Space, class Scalar>
struct ReducedRows {
  LineLayout layout;
  OwnedArray<Scalar, Space> lower, upper, rhs;

  ReducedRows() = default;
  explicit ReducedRows(const LineLayout &lines) : layout(lines)
  {
    for (auto array : {&lower, &upper, &rhs}) *array = table<Scalar, Space>("weft reduced rows", layout.span());
  }
  KOKKOS_INLINE_FUNCTION void set(Index i, const UnitRow<Scalar> &row) const
  {
    lower(i) = row.lower;
    upper(i) = row.upper;
    rhs(i)   = row.rhs;
  }
};

/// Where a step finds its rows: the lines as they are given, or reduced ones. Small, for it is handed to kernels: beyond 512 bytes Kokkos hands
/// a kernel to CUDA the slow way.
template <class Space, class Scalar>
struct RowSource {
  Tridiagonal<Scalar, Space> matrix; ///< reduced rows: without its diagonal, which is 1
  Array<const Scalar, Space> rhs;    ///< empty where given rows are only looked at
  bool given  = true;
  bool checks = false; ///< the diagonals of given rows

  RowSource(const Tridiagonal<Scalar, Space> &lines, const Array<Scalar, Space> &their_rhs, bool check)
      : matrix(lines), rhs(their_rhs), checks(check)
  {
  }
  explicit RowSource(const ReducedRows<Space, Scalar> &rows) : rhs(rows.rhs), given(false)
  {
    matrix.problem = rows.layout;
    matrix.lower   = rows.lower;
    matrix.upper   = rows.upper;
  }
  KOKKOS_INLINE_FUNCTION const LineLayout &layout() const { return matrix.problem.layout; }

  /// A row of the line whose first element is `start`; {} outside it. Calls bad() at a diagonal that cannot be divided by.
  template <class Bad>
  KOKKOS_INLINE_FUNCTION UnitRow<Scalar> get(Index start, Index row, const Bad &bad) const
  {
    if (row < 0 || row >= layout().length) return {};
    const Index i = start + row * layout().stride;
    if (!given) return {matrix.lower(i), matrix.upper(i), rhs(i)};
    const Row<Scalar> r = matrix.at(row, i);
    if (checks && !usable_pivot(r.diagonal, r.scale())) bad();
    const Scalar inverse = 1 / r.diagonal;
    return {r.lower * inverse, r.upper * inverse, rhs.data() ? rhs(i) * inverse : Scalar(0)};
  }
};

/// How lines, or the interleaved parts that far steps left of them, are dealt out to teams.
struct ReductionShape {
  int far         = 0;    ///< levels or steps through device memory before a line fits on chip
  Index parts     = 1;    ///< independent parts of a line after those: row r of part p is row r * parts + p
  int rows        = 0;    ///< of the longest part
  int levels      = 0;    ///< of cyclic reduction on chip
  int steps       = 0;    ///< of parallel cyclic reduction on what they leave
  int threads     = 1;    ///< of a part
  int lines       = 1;    ///< parts of a team
  bool rows_first = true; ///< neighbouring threads own neighbouring rows; otherwise neighbouring parts
  int pitch       = 0;    ///< scratch elements from a row to the next (parts first), or from a part to the next (rows first)

  WEFT_INLINE int team_size() const { return threads * lines; }
  WEFT_INLINE int scratch_rows() const { return rows_first ? lines * pitch : rows * pitch; }
};

/// A team's share. `Pieces` says which pieces the method has, so that it pays for no others. `R` is the most rows that a thread owns: it keeps
/// them in registers while others read what they were. R = 0: any number, in scratch memory (the host, whose teams are single threads).
template <class Pieces, int R, class Space, class Scalar>
struct ReductionKernel {
  RowSource<Space, Scalar> from;
  Array<Scalar, Space> to; ///< in the layout of `from`
  Update<Scalar> update;
  Colour colour = Colour::all;
  ReductionShape shape;
  PivotFlag<typename Space::memory_space> flag;
  bool solves = true, checks = false;

  WEFT_INLINE static std::size_t scratch_bytes(const ReductionShape &shape)
  {
    return static_cast<std::size_t>(shape.scratch_rows() + (R > 0 ? 0 : shape.rows)) * 3 * sizeof(Scalar);
  }

  /// A part's rows in scratch memory, three arrays.
  struct Chip {
    Scalar *numbers;
    int apart, stride;

    KOKKOS_INLINE_FUNCTION Scalar &rhs(int k) const { return numbers[2 * apart + k * stride]; }
    KOKKOS_INLINE_FUNCTION UnitRow<Scalar> get(int k) const
    {
      const Scalar *at = numbers + k * stride;
      return {at[0], at[apart], at[2 * apart]};
    }
    KOKKOS_INLINE_FUNCTION void set(int k, const UnitRow<Scalar> &row) const
    {
      Scalar *at    = numbers + k * stride;
      at[0]         = row.lower;
      at[apart]     = row.upper;
      at[2 * apart] = row.rhs;
    }
  };

  /// A thread's work: rows first, first + threads, .. of its part.
  template <class Team>
  struct Thread {
    const ReductionKernel &kernel;
    const Team &team;
    int first, threads, rows;
    Index line, offset; ///< row k of the part stands for row (k << far) + offset of the line
    Chip chip;
    UnitRow<Scalar> *in_scratch;
    UnitRow<Scalar> in_registers[R > 0 ? R : 1];

    /// Calls body(k, row) for each of the rows k < count that are this thread's, with its copy of the row.
    template <class Body>
    KOKKOS_INLINE_FUNCTION void each(int count, const Body &body)
    {
      if constexpr (R > 0) {
        for (int own = 0; own < R; own++) {
          const int k = first + own * threads;
          if (k < count) body(k, in_registers[own]);
        }
      } else {
        for (int k = first; k < count; k += threads) body(k, in_scratch[k]);
      }
    }
    /// Row k of level `level` has the pivot that comes of a row with this scale.
    KOKKOS_INLINE_FUNCTION void look_at(Scalar pivot, Scalar scale, int k, int level, int step) const
    {
      if (kernel.checks && !usable_pivot(pivot, scale)) bad(k, level, kernel.shape.far + step);
    }
    KOKKOS_INLINE_FUNCTION void bad(int k, int level, int step) const
    {
      const Index row = ((Index(k) + 1) << level) - 1; // on chip
      kernel.flag.report(line, (row << kernel.shape.far) + offset, step);
    }

    /// First scratch row of a level. Each level's even rows stay there; the odd ones behind them make room for the next level.
    KOKKOS_INLINE_FUNCTION int base(int level) const { return rows - (rows >> level); }
    /// Where row k of a level is put: even and odd rows apart, so that threads that reduce neighbours read neighbours.
    KOKKOS_INLINE_FUNCTION int split(int level, int k) const
    {
      const int count = rows >> level;
      if (level == kernel.shape.levels) return base(level) + k;
      return base(level) + (k & 1 ? count - count / 2 : 0) + k / 2;
    }
    /// The solution at row k of a level: it stands where that row was eliminated.
    KOKKOS_INLINE_FUNCTION Scalar found(int level, int k) const
    {
      while (level < kernel.shape.levels && k & 1) {
        level++;
        k /= 2;
      }
      return chip.rhs(base(level) + (level < kernel.shape.levels ? k / 2 : k));
    }

    KOKKOS_INLINE_FUNCTION void load(Index start)
    {
      each(rows, [&](int k, UnitRow<Scalar> &row) {
        row = kernel.from.get(start, part() + k * kernel.shape.parts, [&] { bad(k, 0, kernel.shape.far); });
        chip.set(split(0, k), row);
      });
      team.team_barrier();
    }
    KOKKOS_INLINE_FUNCTION Index part() const { return kernel.shape.parts > 1 ? offset : 0; }

    /// Cyclic reduction: the odd rows of a level without the even ones are the next level.
    KOKKOS_INLINE_FUNCTION void forward(int level)
    {
      const int count = rows >> level, kept = count / 2, even = base(level), odd = even + count - kept;
      each(kept, [&](int k, UnitRow<Scalar> &row) {
        const UnitRow<Scalar> outside, before = chip.get(odd + k);
        Scalar pivot;
        row = reduce(chip.get(even + k), before, 2 * k + 2 < count ? chip.get(even + k + 1) : outside, pivot);
        look_at(pivot, before.scale(), k, level + 1, level + 1);
      });
      team.team_barrier();
      each(kept, [&](int k, UnitRow<Scalar> &row) { chip.set(split(level + 1, k), row); });
      team.team_barrier();
    }
    /// Row 2 k of a level, whose neighbours are known.
    KOKKOS_INLINE_FUNCTION Scalar even_row(int level, int k) const
    {
      const UnitRow<Scalar> row = chip.get(base(level) + k);
      Scalar x                  = row.rhs;
      if (k > 0) x -= row.lower * found(level + 1, k - 1);
      if (2 * k + 1 < rows >> level) x -= row.upper * found(level + 1, k);
      return x;
    }
    KOKKOS_INLINE_FUNCTION void backward(int level)
    {
      const int count = rows >> level;
      each(count - count / 2, [&](int k, UnitRow<Scalar> &) { chip.rhs(base(level) + k) = even_row(level, k); });
      team.team_barrier();
    }

    /// Parallel cyclic reduction of the last level's rows, of which each thread has its own at hand.
    KOKKOS_INLINE_FUNCTION void parallel()
    {
      const int levels = kernel.shape.levels, count = rows >> levels, start = base(levels);
      for (int step = 0; step < kernel.shape.steps; step++) {
        const int distance = 1 << step;
        each(count, [&](int k, UnitRow<Scalar> &row) {
          const UnitRow<Scalar> outside;
          const Scalar scale = row.scale();
          Scalar pivot;
          row = reduce(k >= distance ? chip.get(start + k - distance) : outside, row,
                       k + distance < count ? chip.get(start + k + distance) : outside, pivot);
          look_at(pivot, scale, k, levels, levels + step + 1);
        });
        team.team_barrier();
        each(count, [&](int k, UnitRow<Scalar> &row) { chip.set(start + k, row); });
        team.team_barrier();
      }
    }

    /// Thomas on the interleaved systems that the steps left, a thread each.
    KOKKOS_INLINE_FUNCTION void substitute()
    {
      const int levels = kernel.shape.levels, count = rows >> levels, start = base(levels), systems = 1 << kernel.shape.steps;
      for (int system = first; system < systems && system < count; system += threads) {
        UnitRow<Scalar> above;
        int k = system;
        for (; k < count; k += systems) {
          UnitRow<Scalar> row = chip.get(start + k);
          const Scalar pivot  = 1 - row.lower * above.upper;
          look_at(pivot, row.scale(), k, levels, levels + kernel.shape.steps + 1);
          const Scalar inverse = 1 / pivot;
          above                = {0, row.upper * inverse, (row.rhs - row.lower * above.rhs) * inverse};
          chip.set(start + k, above);
        }
        Scalar x = 0;
        for (k -= systems; k >= 0; k -= systems) {
          const UnitRow<Scalar> row = chip.get(start + k);
          chip.rhs(start + k) = x = row.rhs - row.upper * x;
        }
      }
      team.team_barrier();
    }

    KOKKOS_INLINE_FUNCTION void store(Index start)
    {
      const int levels = kernel.shape.levels;
      each(rows, [&](int k, UnitRow<Scalar> &) {
        const Scalar x = levels > 0 && k % 2 == 0 ? even_row(0, k / 2) : found(0, k);
        put(kernel.to(start + (part() + k * kernel.shape.parts) * kernel.from.layout().stride), kernel.update, x);
      });
    }
  };

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const LineLayout &layout = from.layout();
    const int rank = team.team_rank(), mine = shape.rows_first ? rank / shape.threads : rank % shape.lines;
    const Index number = Index(team.league_rank()) * shape.lines + mine, count = layout.count(), parts = shape.parts;
    // Neighbouring numbers are neighbours in memory where rows are not.
    const bool by_line = layout.rows_are_closest();
    const Index line = by_line ? number / parts : number % count, part = by_line ? number % parts : number / count;
    const bool active = number < count * parts && layout.has_colour(line, colour);
    if (shape.lines == 1 && !active) return;

    Scalar *numbers =
        static_cast<Scalar *>(team.team_scratch(scratch_level<Space>()).get_shmem_aligned(scratch_bytes(shape), alignof(double)));
    const int apart = shape.scratch_rows();
    Thread<Team> thread{*this,
                        team,
                        shape.rows_first ? rank % shape.threads : rank / shape.lines,
                        shape.threads,
                        active ? static_cast<int>((layout.length - part + parts - 1) / parts) : 0,
                        line,
                        parts > 1 ? part : (Index(1) << shape.far) - 1,
                        {numbers + (shape.rows_first ? mine * shape.pitch : mine), apart, shape.rows_first ? 1 : shape.pitch},
                        reinterpret_cast<UnitRow<Scalar> *>(numbers + 3 * apart),
                        {}};
    const Index start = active ? layout.start(line) : 0;
    thread.load(start);
    if constexpr (Pieces::cyclic) {
      for (int level = 0; level < shape.levels; level++) thread.forward(level);
    }
    if constexpr (Pieces::parallel) thread.parallel();
    if constexpr (Pieces::substitution) thread.substitute();
    if (!solves) return;
    if constexpr (Pieces::cyclic) {
      for (int level = shape.levels - 1; level > 0; level--) thread.backward(level); // level 0 is left to store
    }
    thread.store(start);
  }
};

} // namespace weft
