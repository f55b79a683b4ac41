/// Toeplitz: lines whose rows are all equal but for some at either end. The matrix part of the elimination is the same for all lines and for
/// nearly all rows: it is done once, on the host in long double, and a solve only moves right-hand sides, 2 words a row.
///
/// A thread eliminates R consecutive rows in registers with tables that the kernel gets by value and keeps the last unknown of its chunk;
/// the chunks' unknowns form a near-Toeplitz line again, solved by PCR in team scratch with multipliers from the tables; then
///   x_j = value_j - before_j x_-1 - after_j x_{j+1}
/// (near_toeplitz.hpp has the formulas). The couplings of dominant lines decay quadratically: PCR stops where all are rounding error.
/// Longer lines: where the tables show that couplings decay, windows overlap by the rows that rounding error takes (27 for the Pade scheme) and
/// are solved by themselves. Otherwise, and in place, every 16 rows leave one in a first pass, which is solved by this method again; a second
/// pass eliminates once more. On the host a line is one chunk, and 8 or 32 neighbouring lines are worked on at once.
///
/// Words moved per row: 2; up to 2.1 in windows of 4096 rows; 3.5 in two passes. No coefficients are read from memory.
/// Rings keep their last unknown out and add it at the end; nothing more is moved for them.
/// Parameters: slice is R (4, 8 or 16), partitions the most threads of a line (on the host either of them chooses the device's kernel);
/// tolerance the size of couplings, in diagonals, at which PCR stops (0: half the distance from 1 to the next number).
/// Limits: constant coefficients only; no pivoting. A pivot of sqrt(epsilon) times its row or less, which spoils half of the digits, is
/// reported as unusable.
/// Source: A. Trikuta Srinath, MSc thesis, Clemson 2015, section 2.2 (near-Toeplitz cyclic reduction), for any length and closure.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "line/methods/toeplitz/near_toeplitz.hpp"
#include "line/methods/toeplitz/swept.hpp"
#include "line/methods/toeplitz/toeplitz_kernel.hpp"
#include "line/methods/toeplitz/toeplitz_native.hpp"
#include "line/methods/toeplitz/toeplitz_sweep.hpp"

namespace weft {

struct Toeplitz {
  static constexpr const char *name = "toeplitz";
  static constexpr bool periodic    = true;

  /// Operations of a solve: 3 a row down, 2 for the chunk's head, 4 up; PCR on the chunks is a small part of that.
  static double flops(const LineLayout &layout) { return 9.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &problem, const MethodParameters &parameters)
  {
    if (problem.coefficients != Coefficients::constant)
      return "'toeplitz' takes constant coefficients only: give the first and the last `closure` rows and one row for all between them";
    if (parameters.slice != 0 && parameters.slice != 4 && parameters.slice != 8 && parameters.slice != 16)
      return "a thread of 'toeplitz' takes 4, 8 or 16 rows, not " + std::to_string(parameters.slice);
    if (parameters.partitions < 0 || parameters.partitions > 512)
      return "a line of 'toeplitz' takes 1 to 512 threads, not " + std::to_string(parameters.partitions);
    if (!(parameters.tolerance >= 0 && parameters.tolerance < 1))
      return "couplings of 'toeplitz' may be dropped at a tolerance from 0 to below 1, not " + std::to_string(parameters.tolerance);
    return nothing_against;
  }

  /// What tables are made in.
  template <class Scalar>
  using Exact = WithReal<Scalar, long double>;

  template <class Scalar>
  using Pinned = Kokkos::View<Scalar *, Kokkos::SharedHostPinnedSpace>;

  /// Words that the host writes and kernels read. Pinned on the host, so that nobody waits for copies.
  template <class Space, class Scalar>
  struct Words {
    Pinned<Scalar> here;
    OwnedArray<Scalar, Space> there;

    Words() = default;
    explicit Words(Index size)
        : here(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft toeplitz"), static_cast<std::size_t>(size)),
          there(table<Scalar, Space>("weft toeplitz", size))
    {
    }
    void send(const Space &space, Index count) const
    {
      const std::pair<Index, Index> some(0, count);
      Kokkos::deep_copy(space, Kokkos::subview(there, some), Kokkos::subview(here, some));
    }
  };

  /// A cut line: tables of chunks with their own, after them what a team's steps read.
  template <class Space, class Scalar>
  struct Tables {
    ChunkCut cut;
    Index own_words = 0;
    Words<Space, Scalar> words;
    // By `factor`:
    Scalar inner[4][16] = {};
    TeamSteps<Scalar> steps;

    Tables() = default;
    Tables(const ChunkCut &chunks, bool team)
        : cut(chunks), own_words(cut.own_tables() * (4 * cut.rows + 1)),
          words(own_words + (team ? cut.chunks * TeamSteps<Scalar>::words_of_chunk : 0))
    {
    }
  };

  /// A line, or what a pass has left of it, and how it is solved: cut once more, or at last by a team or a sweep.
  template <class Space, class Scalar>
  struct Level {
    enum class Kind { reduce, team, sweep };
    Kind kind = Kind::reduce;
    LineLayout layout;
    int rows = 16, lines = 1; ///< of a thread, of a team
    Tables<Space, Scalar> tables;
    OwnedArray<Scalar, Space> values, heads; ///< what a pass leaves
    bool native = false;                     ///< a team's kernel, or that of windows, has a native form for these lines
    // Where windows may do instead of passes:
    Index window_rows = 0, window_chunk = 1; ///< of a window, of a thread in it
    int window_lines = 1;
    Tables<Space, Scalar> window_tables[3];
    WindowCut windows; ///< by `factor`; none where couplings reach too far
    Words<Space, Scalar> sweep_tables;
    SweepTables<Scalar> sweep;
    OwnedArray<Scalar, Space> sweep_room;
  };

  template <class Space, class Scalar>
  struct Plan {
    LineProblem problem;
    bool ring             = false; ///< shorter periodic lines have no corners
    long double tolerance = 0;
    Pinned<Scalar> coefficients; ///< lower, diagonal, upper
    std::shared_ptr<std::vector<Level<Space, Scalar>>> levels;
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    Plan<Space, Scalar> plan;
    plan.problem      = problem;
    plan.ring         = has_corners(problem);
    plan.tolerance    = parameters.tolerance > 0 ? parameters.tolerance : std::numeric_limits<RealOf<Scalar>>::epsilon() / 2;
    plan.levels       = std::make_shared<std::vector<Level<Space, Scalar>>>();
    plan.flag         = PivotFlag<typename Space::memory_space>(problem.layout);
    plan.coefficients = Pinned<Scalar>("weft toeplitz coefficients", static_cast<std::size_t>(3 * problem.coefficient_size()));
    // Transposed lines have one more special row at either end; so have lines without closure, where they stop.
    NearToeplitzForm form(problem.layout.length, problem.closure + 1, problem.closure + 1);
    for (LineLayout layout = problem.layout; layout.rows() > 0;) {
      using Kind                 = typename Level<Space, Scalar>::Kind;
      Level<Space, Scalar> level = level_of<Space, Scalar>(layout, parameters);
      if (level.kind == Kind::sweep) {
        level.sweep_tables = Words<Space, Scalar>((plan.ring ? 5 : 3) * layout.length);
        const Index room   = ToeplitzSweep<Space, Scalar>(layout, Space().concurrency()).room_size();
        level.sweep_room   = table<Scalar, Space>("weft toeplitz sweep room", room);
      } else {
        level.tables = {ChunkCut(form, level.rows), level.kind == Kind::team};
      }
      if (level.kind != Kind::reduce) {
        plan.levels->push_back(level);
        break;
      }
      if (plan.levels->empty() && !plan.ring && layout.length >= 2 * level.window_rows && form.head <= level.window_rows / 4) {
        for (int which : {0, 1, 2}) {
          const NearToeplitzForm window(level.window_rows, which == 0 ? form.head : 1, which == 2 ? form.tail : 1);
          level.window_tables[which] = {ChunkCut(window, level.window_chunk), true};
        }
      } else {
        level.window_rows = 0;
      }
      form         = level.tables.cut.kept();
      layout       = lines_like(layout, form.length);
      level.values = table<Scalar, Space>("weft toeplitz", layout.rows());
      level.heads  = table<Scalar, Space>("weft toeplitz", layout.rows());
      plan.levels->push_back(level);
    }
    return plan;
  }

  /// Rows of a thread in a window: fewer than 16 fill a device better where they suffice.
  static Index window_chunk(Index window_rows, const MethodParameters &parameters)
  {
    return parameters.slice > 0 ? parameters.slice : window_rows >= 64 ? 8 : 4;
  }

  /// How lines of this layout are solved.
  template <class Space, class Scalar>
  static Level<Space, Scalar> level_of(const LineLayout &layout, const MethodParameters &parameters)
  {
    using Kind            = typename Level<Space, Scalar>::Kind;
    const bool rows_first = layout.rows_are_closest();
    const int threads     = parameters.partitions > 0 ? parameters.partitions : rows_first ? 512 : 256;
    Level<Space, Scalar> level;
    level.layout = layout;
    level.rows   = parameters.slice > 0 ? static_cast<int>(parameters.slice) : 16;
    // Contiguous lines fill teams with lines; of strided ones a team takes neighbours, in pieces of whole memory sectors.
    const auto lines_of = [&](Index chunks) {
      Index lines = rows_first ? std::max<Index>(1, 128 / chunks) : 32;
      while (!rows_first && lines > 4 && lines * chunks > 512) lines /= 2;
      while (lines > 1 && lines / 2 >= layout.count()) lines /= 2;
      return static_cast<int>(lines);
    };
    if (is_host_space<Space> && parameters.slice == 0 && parameters.partitions == 0) {
      level.kind = swept_by_toeplitz(layout.length, parameters) ? Kind::sweep : Kind::reduce;
    } else if (NativeToeplitz<Space, Scalar>::takes(layout, parameters) && layout.length <= NativeToeplitz<Space, Scalar>::most) {
      level.kind   = Kind::team;
      level.rows   = NativeToeplitz<Space, Scalar>::rows(layout.length);
      level.native = true;
    } else if (layout.length <= Index(level.rows) * threads) {
      level.kind = Kind::team;
      // Fewer rows a thread where that leaves threads enough.
      if (parameters.slice == 0 && layout.length <= 8 * (rows_first ? threads : std::max(threads / 4, 1))) level.rows = 8;
      if (parameters.slice == 0 && layout.length <= 4 * std::min(threads, 16)) level.rows = 4;
      level.lines = lines_of((layout.length + level.rows - 1) / level.rows);
    } else {
      level.window_chunk = window_chunk(16 * threads, parameters);
      level.window_rows  = level.window_chunk * threads;
      level.window_lines = lines_of(threads);
      if (NativeToeplitz<Space, Scalar>::takes(layout, parameters)) {
        level.native       = true;
        level.window_chunk = NativeToeplitz<Space, Scalar>::rows(NativeToeplitz<Space, Scalar>::window_rows);
        level.window_rows  = NativeToeplitz<Space, Scalar>::window_rows;
        level.window_lines = 1;
      }
    }
    return level;
  }

  /// Makes the tables. Waits: it brings the coefficients to the host.
  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    if (plan.levels->empty()) return;
    read(space, plan, matrix);
    PivotWatch watch{std::sqrt(static_cast<long double>(std::numeric_limits<RealOf<Scalar>>::epsilon())),
                     {},
                     std::numeric_limits<RealOf<Scalar>>::min()};
    auto line = line_of(plan, matrix.transposed);
    for (auto &level : *plan.levels) {
      using Kind = typename Level<Space, Scalar>::Kind;
      if (level.kind == Kind::sweep) {
        make_sweep(space, level, line, watch);
        continue;
      }
      if (level.window_rows > 0) make_windows(space, level, line, plan.tolerance, watch);
      line = make_chunks(level.tables, line, watch);
      if (level.kind == Kind::team)
        make_steps(space, level.tables, line, plan.tolerance, watch);
      else
        level.tables.words.send(space, level.tables.own_words);
    }
    if (watch.bad_row) report(space, plan.flag, *watch.bad_row);
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    solve_level(space, plan, 0, rhs, solution, options);
  }

  /// Brings the coefficients to the host, by one kernel: three copies would take three times as long.
  template <class Space, class Scalar>
  static void read(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    const auto to    = plan.coefficients;
    const Index size = plan.problem.coefficient_size();
    Kokkos::parallel_for(
        "weft toeplitz coefficients", Kokkos::RangePolicy<Space>(space, 0, size), KOKKOS_LAMBDA(const Index i) {
          to(i)            = matrix.lower(i);
          to(size + i)     = matrix.diagonal(i);
          to(2 * size + i) = matrix.upper(i);
        });
    space.fence("weft: toeplitz coefficients");
  }

  /// The line that all lines are.
  template <class Space, class Scalar>
  static NearToeplitz<Exact<Scalar>> line_of(const Plan<Space, Scalar> &plan, bool transposed)
  {
    using Coefficients = Array<const Scalar, Kokkos::DefaultHostExecutionSpace>;
    const auto size    = static_cast<std::size_t>(plan.problem.coefficient_size());
    const Scalar *from = plan.coefficients.data();
    const Tridiagonal<Scalar, Kokkos::DefaultHostExecutionSpace> matrix{
        plan.problem, Coefficients(from, size), Coefficients(from + size, size), Coefficients(from + 2 * size, size), transposed};
    const Index n = plan.problem.layout.length, closure = plan.problem.closure;
    return {NearToeplitzForm(n, closure + 1, closure + 1), plan.ring, [&](Index row) {
              const Index i       = row * plan.problem.layout.stride;
              const Row<Scalar> r = plan.ring ? matrix.wrapped(row, i) : matrix.at(row, i);
              return ExactRow<Exact<Scalar>>{Exact<Scalar>(r.lower), Exact<Scalar>(r.diagonal), Exact<Scalar>(r.upper), r.scale()};
            }};
  }

  template <class Space, class Memory>
  static void report(const Space &space, const PivotFlag<Memory> &flag, Index row)
  {
    Kokkos::parallel_for(
        "weft toeplitz report", Kokkos::RangePolicy<Space>(space, 0, 1), KOKKOS_LAMBDA(const Index line) { flag.report(line, row); });
  }

  /// Gives the line of the chunks' last unknowns.
  template <class Space, class Scalar>
  static NearToeplitz<Exact<Scalar>> make_chunks(Tables<Space, Scalar> &tables, const NearToeplitz<Exact<Scalar>> &line, PivotWatch &watch)
  {
    using Chunk       = ExactChunk<Exact<Scalar>>;
    const auto chunks = line.chunks(tables.cut.rows, watch);
    const auto rows   = static_cast<std::size_t>(tables.cut.rows);
    Scalar *own       = tables.words.here.data();
    const auto names  = {&Chunk::low, &Chunk::inverse, &Chunk::before, &Chunk::after};
    for (const Chunk &c : chunks.own) {
      for (const auto name : names) {
        for (std::size_t j = 0; j < rows; j++) *own++ = j < (c.*name).size() ? static_cast<Scalar>((c.*name)[j]) : Scalar(0);
      }
      *own++ = static_cast<Scalar>(c.after.back());
    }
    Scalar(*to)[16] = tables.inner;
    for (const auto name : names) {
      std::transform((chunks.inner.*name).begin(), (chunks.inner.*name).end(), *to++,
                     [](const Exact<Scalar> &x) { return static_cast<Scalar>(x); });
    }
    return line.kept(chunks);
  }

  /// Windows instead of passes, where what they leave out is rounding error and none of them breaks down.
  template <class Space, class Scalar>
  static void make_windows(const Space &space, Level<Space, Scalar> &level, const NearToeplitz<Exact<Scalar>> &line, long double tolerance,
                           PivotWatch watch)
  {
    level.windows = WindowCut::of(line, level.window_rows, 16, tolerance);
    for (int which = 0; which < 3 && level.windows.count > 0; which++) {
      Tables<Space, Scalar> &tables = level.window_tables[which];
      const auto kept               = make_chunks(tables, WindowCut::window(line, level.window_rows, which), watch);
      make_steps(space, tables, kept, tolerance, watch);
    }
    if (watch.bad_row) level.windows = {};
  }

  /// `line` is that of the chunks' last unknowns. Sends all tables.
  template <class Space, class Scalar>
  static void make_steps(const Space &space, Tables<Space, Scalar> &tables, const NearToeplitz<Exact<Scalar>> &line, long double tolerance,
                         PivotWatch &watch)
  {
    const auto chunks     = static_cast<std::size_t>(line.length());
    Scalar *const ends    = tables.words.here.data() + tables.own_words;
    TeamSteps<Scalar> &to = tables.steps;
    to                    = {};
    to.chunks             = static_cast<int>(chunks);
    to.joined             = to.chunks - (line.ring() ? 1 : 0);
    to.touched            = tables.words.there.data() + tables.own_words;
    const auto set        = [&](std::size_t column, const std::vector<Exact<Scalar>> &values) {
      std::transform(values.begin(), values.end(), ends + column * chunks, [](const Exact<Scalar> &x) { return static_cast<Scalar>(x); });
    };
    const auto inner = [](const typename ExactSteps<Exact<Scalar>>::Step &step, const std::vector<Exact<Scalar>> &values) {
      return step.first_inner < step.first_tail ? static_cast<Scalar>(values[static_cast<std::size_t>(step.first_inner)]) : Scalar(0);
    };
    const ExactSteps<Exact<Scalar>> steps(line.ring() ? line.opened() : line, tolerance, watch);
    for (const typename ExactSteps<Exact<Scalar>>::Step &step : steps.steps()) {
      const auto s = static_cast<std::size_t>(to.count);
      set(2 + 2 * s, step.left);
      set(3 + 2 * s, step.right);
      to.left[s]        = inner(step, step.left);
      to.right[s]       = inner(step, step.right);
      to.first_inner[s] = static_cast<int>(step.first_inner);
      to.first_tail[s]  = static_cast<int>(step.first_tail);
      to.count++;
    }
    set(0, steps.last().left);
    to.inverse               = inner(steps.last(), steps.last().left);
    to.first_inner[to.count] = static_cast<int>(steps.last().first_inner);
    to.first_tail[to.count]  = static_cast<int>(steps.last().first_tail);
    if (line.ring()) {
      const auto &last = line.row(line.length() - 1);
      std::vector<Exact<Scalar>> hanging(chunks - 1);
      Exact<Scalar> pivot = last.diagonal + (chunks == 1 ? last.lower + last.upper : Exact<Scalar>(0));
      if (chunks > 1) {
        hanging.front() += line.row(0).lower;
        hanging.back() += line.row(line.length() - 2).upper;
        hanging = steps.solve(hanging);
        pivot -= last.lower * hanging.back() + last.upper * hanging.front();
      }
      watch.see(pivot, last.scale, line.user_row(line.length() - 1));
      set(1, hanging);
      to.ring_lower   = static_cast<Scalar>(last.lower);
      to.ring_upper   = static_cast<Scalar>(last.upper);
      to.ring_inverse = static_cast<Scalar>(1 / pivot);
    }
    tables.words.send(space, tables.own_words + static_cast<Index>((2 + 2 * static_cast<std::size_t>(to.count)) * chunks));
  }

  template <class Space, class Scalar>
  static void make_sweep(const Space &space, Level<Space, Scalar> &level, const NearToeplitz<Exact<Scalar>> &line, PivotWatch &watch)
  {
    const Index n     = line.length();
    const auto length = static_cast<std::size_t>(n);
    const auto c      = line.chunk(0, line.ring() ? n - 1 : n, watch);
    Scalar *const to  = level.sweep_tables.here.data();
    const auto set    = [&](std::size_t column, const std::vector<Exact<Scalar>> &values) {
      std::transform(values.begin(), values.end(), to + column * length, [](const Exact<Scalar> &x) { return static_cast<Scalar>(x); });
      return level.sweep_tables.there.data() + column * length;
    };
    level.sweep = {n, line.ring(), set(0, c.low), set(1, c.inverse), set(2, c.after), nullptr, nullptr, 0, 0, 0};
    if (line.ring()) {
      std::vector<Exact<Scalar>> weight(1, 1);
      for (std::size_t j = 0; j + 2 < length; j++) weight.push_back(-c.after[j] * weight.back());
      const auto &last            = line.row(n - 1);
      const Exact<Scalar> hanging = c.before.back() + c.after.back(); // of the row before the last one
      const Exact<Scalar> first   = c.head_before - c.head_after * hanging;
      const Exact<Scalar> pivot   = last.diagonal - last.lower * hanging - last.upper * first;
      watch.see(pivot, last.scale, line.user_row(n - 1));
      level.sweep.before       = set(3, c.before);
      level.sweep.weight       = set(4, weight);
      level.sweep.ring_lower   = static_cast<Scalar>(last.lower);
      level.sweep.ring_upper   = static_cast<Scalar>(last.upper);
      level.sweep.ring_inverse = static_cast<Scalar>(1 / pivot);
    }
    level.sweep_tables.send(space, (line.ring() ? 5 : 3) * n);
  }

  template <class Space, class Scalar>
  static void solve_level(const Space &space, const Plan<Space, Scalar> &plan, std::size_t number, const Array<Scalar, Space> &rhs,
                          const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    if (number == plan.levels->size()) return; // no rows at all
    const Level<Space, Scalar> &level = (*plan.levels)[number];
    if (level.kind == Level<Space, Scalar>::Kind::sweep) {
      if constexpr (is_host_space<Space>) {
        ToeplitzSweep<Space, Scalar> sweep(level.layout, Space().concurrency());
        sweep.tables   = level.sweep;
        sweep.rhs      = rhs;
        sweep.solution = solution;
        sweep.update   = options.update;
        sweep.colour   = options.colour;
        sweep.room     = level.sweep_room;
        Kokkos::parallel_for("weft toeplitz sweep", Kokkos::RangePolicy<Space>(space, 0, sweep.slots), sweep);
      }
      return;
    }
    // Windows read what their neighbours may have written already where the right-hand side is the solution.
    if (level.windows.count > 0 && rhs.data() != solution.data()) {
      const auto launch = [&](auto rows) { solve_windows<decltype(rows)::value>(space, level, rhs, solution, options); };
      for_rows<Space, Scalar>(level.window_tables[0].cut.rows, launch);
      return;
    }
    for_rows<Space, Scalar>(level.tables.cut.rows,
                            [&](auto rows) { solve_chunks<decltype(rows)::value>(space, plan, number, rhs, solution, options); });
  }

  /// Calls body with the rows of a thread, known to the compiler.
  template <class Space, class Scalar, class Body>
  static void for_rows(Index rows, const Body &body)
  {
    if (rows == 4) body(std::integral_constant<int, 4>{});
    if (rows == 8) body(std::integral_constant<int, 8>{});
    if constexpr (NativeToeplitz<Space, Scalar>::has(9)) {
      if (rows == 9) body(std::integral_constant<int, 9>{});
      if (rows == 11) body(std::integral_constant<int, 11>{});
    }
    if (rows == 16) body(std::integral_constant<int, 16>{});
  }

  /// The kernels' view of a cut line.
  template <int R, class Space, class Scalar>
  static ChunkedLine<Space, Scalar, R> cut_line(LineLayout layout, const Tables<Space, Scalar> &tables, bool ring)
  {
    layout.length = tables.cut.length;
    ChunkedLine<Space, Scalar, R> line{layout, tables.cut.chunks,        tables.cut.first_inner, tables.cut.first_tail, ring,
                                       {},     tables.words.there.data()};
    for (int j = 0; j < R; j++) {
      line.inner.lows[j]     = tables.inner[0][j];
      line.inner.inverses[j] = tables.inner[1][j];
      line.inner.befores[j]  = tables.inner[2][j];
      line.inner.afters[j]   = tables.inner[3][j];
    }
    return line;
  }

  template <int R, class Space, class Scalar>
  static void solve_windows(const Space &space, const Level<Space, Scalar> &level, const Array<Scalar, Space> &rhs,
                            const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const WindowCut &w = level.windows;
    const ToeplitzArrays<Space, Scalar> arrays(level.layout, rhs, solution, options);
    const auto launch = [&](int which, Index windows, Index first, Index keep_from, Index keep_to) {
      const Tables<Space, Scalar> &tables = level.window_tables[which];
      launch_team(space, level.native,
                  ToeplitzTeam<Space, Scalar, R>{cut_line<R>(level.layout, tables, false), tables.steps, arrays, level.window_lines,
                                                 level.layout.rows_are_closest(), windows, first, w.apart, keep_from, keep_to});
    };
    const Index last = level.layout.length - w.rows;
    launch(0, 1, 0, 0, w.apart + w.overlap);
    if (w.count > 1) launch(1, w.count - 1, w.apart, w.overlap, w.overlap + w.apart);
    launch(2, 1, last, w.count * w.apart + w.overlap - last, w.rows);
  }

  template <int R, class Space, class Scalar>
  static void solve_chunks(const Space &space, const Plan<Space, Scalar> &plan, std::size_t number, const Array<Scalar, Space> &rhs,
                           const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Level<Space, Scalar> &level = (*plan.levels)[number];
    const ToeplitzArrays<Space, Scalar> arrays(level.layout, rhs, solution, options);
    const auto line = cut_line<R>(level.layout, level.tables, plan.ring);
    if (level.kind == Level<Space, Scalar>::Kind::team) {
      launch_team(space, level.native,
                  ToeplitzTeam<Space, Scalar, R>{line, level.tables.steps, arrays, level.lines, level.layout.rows_are_closest(), 1, 0, 0, 0,
                                                 level.layout.length});
      return;
    }
    const LineLayout kept = lines_like(level.layout, level.tables.cut.chunks);
    const auto launch     = [&](const char *label, const auto &kernel) {
      Kokkos::parallel_for(label, light(Kokkos::RangePolicy<Space>(space, 0, kept.rows())), kernel);
    };
    launch("weft toeplitz reduce", ToeplitzReduce<Space, Scalar, R>{line, kept, arrays, level.values, level.heads});
    launch("weft toeplitz join", ToeplitzJoin<Space, Scalar, R>{line, kept, level.values, level.heads});
    const Array<Scalar, Space> values = level.values;
    solve_level(space, plan, number + 1, values, values, SolveOptions<Scalar>{});
    launch("weft toeplitz finish", ToeplitzFinish<Space, Scalar, R>{line, kept, arrays, level.values});
  }

  /// Tables travel with the launch: Kokkos would rather stage kernels of this size through a buffer and wait for it.
  template <class Policy>
  static auto light(const Policy &policy)
  {
    return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
  }

  /// Two teams of 512 threads fit where a thread has 64 registers, enough for 8 rows; 16 rows want more where teams are no larger.
  template <class Space, class Scalar, int R>
  static void launch_team(const Space &space, bool native, const ToeplitzTeam<Space, Scalar, R> &kernel)
  {
    if constexpr (NativeToeplitz<Space, Scalar>::has(R)) {
      if (native && NativeToeplitz<Space, Scalar>::launch(space, kernel)) return;
    }
    if (kernel.team_size() <= 512)
      launch_team<512, R <= 8 ? 2 : 1>(space, kernel);
    else
      launch_team<1024, 1>(space, kernel);
  }

  template <unsigned threads, unsigned teams, class Space, class Scalar, int R>
  static void launch_team(const Space &space, const ToeplitzTeam<Space, Scalar, R> &kernel)
  {
    Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<threads, teams>> policy(space, static_cast<int>(kernel.league()),
                                                                           is_host_space<Space> ? 1 : kernel.team_size());
    policy.set_scratch_size(is_host_space<Space> ? 1 : 0, Kokkos::PerTeam(static_cast<int>(kernel.scratch_bytes())));
    Kokkos::parallel_for("weft toeplitz", light(policy), kernel);
  }
};

} // namespace weft
