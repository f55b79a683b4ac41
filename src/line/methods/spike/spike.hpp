/// SPIKE: each line is cut into parts that are solved side by side; what couples them, the spikes, is known since the factorization
/// (ADI thesis, section on SPIKE; Polizzi and Sameh, Parallel Computing 32, 2006, for the truncated form).
///
/// The last row of a part is its separator, the rows before it are A. With l, r the separators' unknowns before and in the part:
///   A y = rhs,   A w = lower_first e_first,   A v = upper_last e_last:    x = y - w l - v r
/// and the separator's own row becomes a row of a line of separators, a tridiagonal system with one unknown a part:
///   -lower w_last l_before + (diagonal - lower v_last - upper w_first') l - upper v_first' l_after = rhs - lower y_last - upper y_first'
/// (' marks the next part). That is the usual reduced system of two unknowns an interface with the first row after each cut taken out.
/// It is solved by the same method, until lines of separators are short enough for Thomas.
///
/// A is factored by Thomas, a thread a part; the factors lie so that neighbouring threads read neighbouring words. Parts of up to
/// `staged_rows` rows go through scratch memory, which makes contiguous lines as good as strided ones.
/// Words moved per row of a solve: 9 (rhs, three factors, y written; y, w, v, x written), plus a part's own over its length.
/// `tolerance` > 0: where no w_last and v_first of any line exceeds it, which `factor` finds out on the device, the line of separators falls
/// apart into its diagonal (the 2 x 2 blocks of the usual form), and only rows whose w or v exceeds it are corrected: 5 words a row. One
/// coupling above the tolerance, and everything is exact.
/// Reads `partitions` (parts of a line; at least two rows each) and `tolerance`.
/// Limits: no pivoting; memory for 5 words a row beside the coefficients.
#pragma once
#include <algorithm>
#include <vector>

#include "line/methods/reduction/equations.hpp"
#include "line/methods/thomas/thomas_device.hpp"
#include "line/methods/wide/parts.hpp"
#include "line/tridiagonal.hpp"

namespace weft {

struct Spike {
  static constexpr const char *name       = "spike";
  static constexpr Index staged_rows      = 64;      ///< of a part that goes through scratch memory; half as many of double complex numbers
  static constexpr Index rows_of_part     = 32;      ///< on a device, where more parts pay
  static constexpr Index threads_wanted   = 1 << 16; ///< on a device
  static constexpr Index rows_for_thomas  = 32;      ///< of a line of separators on a device: what a thread alone solves in no time
  static constexpr Index host_rows_thomas = 4096;    ///< the same on a host

  /// Operations of a solve: Thomas on the parts, and two multiplications and subtractions a row for the spikes.
  static double flops(const LineLayout &layout) { return 9.0 * layout.rows(); }

  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.partitions < 0) return "spike cannot cut lines into " + std::to_string(parameters.partitions) + " parts";
    if (!(parameters.tolerance >= 0 && parameters.tolerance < 1)) return "spike takes a tolerance of 0 or more and less than 1";
    return nothing_against;
  }

  /// What the factorization found out about the spikes of the given lines.
  struct Reach {
    Index coupled;            ///< not 0: some spike reaches through its part
    Index from_left, to_left; ///< rows from the left end that have a large w, and from the right end that have a large v
  };

  /// Says on the device whether lines fell apart, so that what would couple them has nothing to do. Without a tolerance they never do.
  template <class Space>
  struct Gate {
    Kokkos::View<Reach, typename Space::memory_space> reach;

    KOKKOS_INLINE_FUNCTION bool closed() const { return reach.data() && reach().coupled == 0; }
  };

  /// Lines at one depth of the recursion: their parts, the parts' factors and spikes, and the line of separators.
  template <class Space, class Scalar>
  struct Level {
    Parts parts;
    bool each     = true;                                 ///< every line has its own coefficients
    bool whole    = true;                                 ///< a part fits scratch memory
    int log_width = 0;                                    ///< 2^log_width lanes form a tile and have their factors interleaved
    OwnedArray<Scalar, Space> multiplier, inverse, ratio; ///< factors of A
    OwnedArray<Scalar, Space> w, v;                       ///< a line's rows apart by spike_stride()
    OwnedArray<Scalar, Space> lower, diagonal, upper;     ///< of the separators
    OwnedArray<Scalar, Space> to_last, to_first;          ///< couplings of a separator to the rows around it
    OwnedArray<RealOf<Scalar>, Space> scale;              ///< of its row as it came
    OwnedArray<Scalar, Space> first, rhs, solution;       ///< y_first, and the separators'
    Gate<Space> spikes;                                   ///< of the first level, where there is a tolerance

    KOKKOS_INLINE_FUNCTION int width() const { return 1 << log_width; }
    /// Which lane's factors a lane uses, and how many lanes have some.
    KOKKOS_INLINE_FUNCTION Index factors_of(Index lane) const { return each ? lane : parts.part(lane); }
    Index factored() const { return each ? parts.lanes() : std::min<Index>(parts.lanes(), parts.count); }
    /// Where the factors of row r of those lie.
    KOKKOS_INLINE_FUNCTION Index factor(Index lane, Index r) const
    {
      return ((lane >> log_width) * parts.rows + r) * width() + (lane & (width() - 1));
    }
    KOKKOS_INLINE_FUNCTION Index spike_stride() const { return each && !parts.parts_first ? parts.lines : 1; }
    /// Where the spikes of a row lie.
    KOKKOS_INLINE_FUNCTION Index spike(Index line, Index row) const
    {
      return (each ? parts.parts_first ? line * parts.layout.length : line : 0) + row * spike_stride();
    }
  };

  template <class Space, class Scalar>
  struct Plan {
    std::vector<Level<Space, Scalar>> levels;
    LineProblem last; ///< the lines that are left for Thomas
    ThomasOnDevice::Plan<Space, Scalar> thomas;
    LineProblem problem;
    double tolerance = 0;
    PivotFlag<typename Space::memory_space> flag;
  };

  /// Parts of a line unless told: a thread's worth on a host; on a device, enough lanes to fill it, and contiguous lines always through
  /// scratch memory.
  template <class Space>
  static Index parts_of(const LineLayout &layout, bool given)
  {
    if constexpr (runs_on_host<Space>()) {
      if (!given) return (layout.length + rows_of_part - 1) / rows_of_part;
      return std::max<Index>(Space().concurrency() / layout.count(), 1);
    } else {
      const Index most = (layout.length + rows_of_part - 1) / rows_of_part;
      if (!given || layout.rows_are_closest()) return most;
      return std::min((threads_wanted + layout.count() - 1) / layout.count(), most);
    }
  }

  /// Rows of a part. A short last part has spikes that reach through it: `even` looks for a length nearby that leaves none.
  static Index rows_of(Index length, Index count, bool even)
  {
    const Index least = std::max<Index>((length + count - 1) / count, 2);
    const auto last   = [length](Index rows) { return length - (length - 1) / rows * rows; };
    Index best        = least;
    for (Index rows = least; even && rows <= least + least / 4; rows++) {
      if (last(rows) * best > last(best) * rows) best = rows; // better filled
      if (4 * last(best) >= 3 * best) break;
    }
    return best;
  }

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    Plan<Space, Scalar> plan;
    plan.problem      = problem;
    plan.tolerance    = parameters.tolerance;
    plan.flag         = PivotFlag<typename Space::memory_space>(problem.layout);
    LineProblem lines = problem;
    lines.periodic    = false;
    for (bool given = true; lines.layout.rows() > 0; given = false) {
      const LineLayout layout = lines.layout;
      if (!given && layout.length <= (runs_on_host<Space>() ? host_rows_thomas : rows_for_thomas)) break;
      const Index count = given && parameters.partitions > 0 ? parameters.partitions : parts_of<Space>(layout, given);
      const Index rows  = rows_of(layout.length, count, plan.tolerance > 0);
      if (rows >= layout.length) break; // one part
      plan.levels.push_back(level<Space, Scalar>(lines, rows));
      if (given && plan.tolerance > 0) plan.levels[0].spikes.reach = Kokkos::View<Reach, typename Space::memory_space>("weft spike reach");
      lines.layout       = plan.levels.back().parts.ends();
      lines.closure      = 0;
      lines.coefficients = lines.coefficients == Coefficients::general ? Coefficients::general : Coefficients::shared;
    }
    if (plan.levels.empty()) lines = problem;
    plan.last   = lines;
    plan.thomas = ThomasOnDevice::plan<Space, Scalar>(lines, {});
    if (plan.levels.empty()) plan.flag = plan.thomas.flag;
    return plan;
  }

  template <class Space, class Scalar>
  static Level<Space, Scalar> level(const LineProblem &lines, Index rows)
  {
    Level<Space, Scalar> level;
    level.parts       = Parts(lines.layout, rows);
    level.each        = lines.coefficients == Coefficients::general;
    level.whole       = rows <= (sizeof(Scalar) > sizeof(double) ? staged_rows / 2 : staged_rows);
    level.log_width   = runs_on_host<Space>() ? (level.whole ? 3 : 0) : 6;
    const Index lanes = level.parts.lanes(), own = level.factored();
    const Index factors = (own + level.width() - 1) / level.width() * level.width() * rows;
    const Index spikes  = level.each ? lines.layout.rows() : lines.layout.length;
    level.multiplier    = table<Scalar, Space>("weft spike multiplier", factors);
    level.inverse       = table<Scalar, Space>("weft spike inverse", factors);
    level.ratio         = table<Scalar, Space>("weft spike ratio", factors);
    level.w             = table<Scalar, Space>("weft spike w", spikes);
    level.v             = table<Scalar, Space>("weft spike v", spikes);
    for (auto *separators : {&level.lower, &level.diagonal, &level.upper, &level.to_last, &level.to_first})
      *separators = table<Scalar, Space>("weft spike separators", own);
    level.scale = table<RealOf<Scalar>, Space>("weft spike separators", own);
    for (auto *values : {&level.first, &level.rhs, &level.solution})
      *values = OwnedArray<Scalar, Space>("weft spike values", static_cast<std::size_t>(lanes)); // 0: lines of another colour stay finite
    return level;
  }

  /// The line of separators of a level.
  template <class Space, class Scalar>
  static Tridiagonal<Scalar, Space> separators(const Level<Space, Scalar> &level)
  {
    Tridiagonal<Scalar, Space> matrix;
    matrix.problem              = LineProblem(level.parts.ends());
    matrix.problem.coefficients = level.each ? Coefficients::general : Coefficients::shared;
    matrix.lower                = level.lower;
    matrix.diagonal             = level.diagonal;
    matrix.upper                = level.upper;
    return matrix;
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    if (!plan.levels.empty() && plan.tolerance > 0) Kokkos::deep_copy(space, plan.levels[0].spikes.reach, Reach{0, 0, 0});
    Tridiagonal<Scalar, Space> lines = matrix;
    OwnedArray<RealOf<Scalar>, Space> scale; // of the rows as they came; the given ones have it in them
    Index rows = 1;                          // given rows that a row of `lines` stands for
    int depth  = 0;
    for (const Level<Space, Scalar> &level : plan.levels) {
      factor_parts(space, plan, level, lines, scale, rows, depth);
      factor_separators(space, level, lines, scale);
      lines = separators(level);
      scale = level.scale;
      rows *= level.parts.rows;
      depth++;
    }
    ThomasOnDevice::factor(space, plan.thomas, lines);
    if (depth > 0) look_at_thomas(space, plan, scale, rows, depth); // else Thomas did, into the same flag
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    if (plan.levels.empty()) return ThomasOnDevice::solve(space, plan.thomas, matrix, rhs, solution, options);
    const auto &levels      = plan.levels;
    const std::size_t depth = levels.size();
    const SolveOptions<Scalar> plain;
    for (std::size_t k = 0; k < depth; k++) {
      const auto gate = k == 0 ? Gate<Space>() : levels[0].spikes;
      if (k == 0)
        solve_parts(space, levels[k], gate, rhs, solution, options);
      else
        solve_parts(space, levels[k], gate, Array<Scalar, Space>(levels[k - 1].rhs), Array<Scalar, Space>(levels[k - 1].solution), plain);
      gather(space, levels[k], gate);
    }
    const auto &deepest = levels[depth - 1];
    ThomasOnDevice::solve(space, plan.thomas, separators(deepest), Array<Scalar, Space>(deepest.rhs),
                          Array<Scalar, Space>(deepest.solution), plain);
    for (std::size_t k = depth - 1; k > 0; k--)
      correct(space, levels[k], levels[0].spikes, Array<Scalar, Space>(levels[k - 1].rhs), Array<Scalar, Space>(levels[k - 1].solution),
              plain);
    correct(space, levels[0], Gate<Space>(), rhs, solution, options);
  }

  /// Thomas on every part, and its spikes. `scale` is empty for the given lines; a row of `lines` stands for `each` given ones.
  template <class Space, class Scalar>
  static void factor_parts(const Space &space, const Plan<Space, Scalar> &plan, const Level<Space, Scalar> &level,
                           const Tridiagonal<Scalar, Space> &lines, const OwnedArray<RealOf<Scalar>, Space> &scale, Index each, int depth)
  {
    const auto flag      = plan.flag;
    const Index length   = plan.problem.layout.length;
    const auto tolerance = static_cast<RealOf<Scalar>>(plan.tolerance);
    Kokkos::parallel_for(
        "weft spike factor", Kokkos::RangePolicy<Space>(space, 0, level.factored()), KOKKOS_LAMBDA(const Index lane) {
          const Parts &parts = level.parts;
          const Index line = level.each ? parts.line(lane) : 0, part = level.each ? parts.part(lane) : lane, first = part * parts.rows;
          const Index start = parts.layout.start(line), inner = parts.rows_of(part) - 1;
          Scalar ratio = 0, w = 0, v = 0;
          for (Index r = 0; r < inner; r++) {
            const Index row = first + r, i = start + row * parts.layout.stride, k = level.factor(lane, r);
            const Row<Scalar> e = lines.at(row, i);
            const Scalar lower = r > 0 ? e.lower : Scalar(0), pivot = e.diagonal - lower * ratio;
            if (!usable_pivot(pivot, scale.data() ? scale(lines.problem.coefficient(row, i)) : e.scale()))
              flag.report(line, (row + 1) * each < length ? (row + 1) * each - 1 : length - 1, depth);
            const Scalar inverse = 1 / pivot;
            ratio                = e.upper * inverse;
            level.inverse(k)     = inverse;
            level.ratio(k)       = ratio;
            level.multiplier(k)  = lower * inverse;
            w                    = r > 0 ? -lower * inverse * w : e.lower * inverse;

            level.w(level.spike(line, row)) = w;
          }
          w               = 0;
          Index from_left = 0, to_left = 0;
          for (Index r = inner - 1; r >= 0; r--) {
            const Index s = level.spike(line, first + r);
            ratio         = level.ratio(level.factor(lane, r));
            w             = level.w(s) - ratio * w;
            v             = r == inner - 1 ? ratio : -ratio * v;
            level.w(s)    = w;
            level.v(s)    = v;
            if (!(modulus(w) <= tolerance) && from_left == 0) from_left = r + 1;
            if (!(modulus(v) <= tolerance)) to_left = inner - r;
          }
          if (!level.spikes.reach.data()) return;
          Reach &most = level.spikes.reach();
          if (part > 0 && (from_left == inner || to_left == inner)) Kokkos::atomic_store(&most.coupled, 1);
          if (Kokkos::atomic_load(&most.from_left) < from_left) Kokkos::atomic_max(&most.from_left, from_left);
          if (Kokkos::atomic_load(&most.to_left) < to_left) Kokkos::atomic_max(&most.to_left, to_left);
        });
  }

  /// The matrix of the separators.
  template <class Space, class Scalar>
  static void factor_separators(const Space &space, const Level<Space, Scalar> &level, const Tridiagonal<Scalar, Space> &lines,
                                const OwnedArray<RealOf<Scalar>, Space> &scale)
  {
    Kokkos::parallel_for(
        "weft spike separators", Kokkos::RangePolicy<Space>(space, 0, level.factored()), KOKKOS_LAMBDA(const Index lane) {
          const Parts &parts = level.parts;
          const Index line = level.each ? parts.line(lane) : 0, part = level.each ? parts.part(lane) : lane;
          const Index row = part * parts.rows + parts.rows_of(part) - 1, i = parts.layout.start(line) + row * parts.layout.stride;
          const Row<Scalar> e = lines.at(row, i);
          Scalar w = -1, v = 0, next_w = 0, next_v = 0; // a part without rows but the separator: x = -w l with w = -1
          if (parts.rows_of(part) > 1) {
            w = level.w(level.spike(line, row - 1));
            v = level.v(level.spike(line, row - 1));
          }
          if (part + 1 < parts.count) {
            const bool inner = parts.rows_of(part + 1) > 1;
            next_w           = inner ? level.w(level.spike(line, row + 1)) : Scalar(0);
            next_v           = inner ? level.v(level.spike(line, row + 1)) : Scalar(-1);
          }
          level.lower(lane)    = -e.lower * w;
          level.diagonal(lane) = e.diagonal - e.lower * v - e.upper * next_w;
          level.upper(lane)    = -e.upper * next_v;
          level.to_last(lane)  = e.lower;
          level.to_first(lane) = e.upper;
          level.scale(lane)    = scale.data() ? scale(lines.problem.coefficient(row, i)) : e.scale();
        });
  }

  /// Measures the pivots of the last line of separators by the rows as they came.
  template <class Space, class Scalar>
  static void look_at_thomas(const Space &space, const Plan<Space, Scalar> &plan, const OwnedArray<RealOf<Scalar>, Space> &scale,
                             Index each, int depth)
  {
    const auto flag        = plan.flag;
    const auto thomas      = plan.thomas;
    const LineProblem last = plan.last;
    const Index length     = plan.problem.layout.length;
    const Index lines      = last.coefficients == Coefficients::general ? last.layout.count() : std::min<Index>(last.layout.count(), 1);
    Kokkos::parallel_for(
        "weft spike last pivots", Kokkos::RangePolicy<Space>(space, 0, lines * last.layout.length), KOKKOS_LAMBDA(const Index number) {
          const Index line = number / last.layout.length, row = number % last.layout.length;
          const Index i = last.layout.start(line) + row * last.layout.stride;
          if (!usable_pivot(1 / thomas.inverse(thomas.factor(row, i)), scale(last.coefficient(row, i))))
            flag.report(line, (row + 1) * each < length ? (row + 1) * each - 1 : length - 1, depth);
        });
  }

  /// y of a lane from its right-hand side, `rhs(r)`, into `row(r)`; its share of the separators' right-hand sides.
  template <class Space, class Scalar, class From, class To>
  KOKKOS_INLINE_FUNCTION static void sweep(const Level<Space, Scalar> &level, Index lane, Index rows, const From &rhs, const To &row)
  {
    const Index factors = level.factors_of(lane);
    Scalar z = 0, y = 0;
    for (Index r = 0; r < rows - 1; r++) {
      const Index k = level.factor(factors, r);
      row(r) = z = rhs(r) * level.inverse(k) - level.multiplier(k) * z;
    }
    for (Index r = rows - 2; r >= 0; r--) row(r) = y = row(r) - level.ratio(level.factor(factors, r)) * y;
    level.first(lane) = y;
    level.rhs(lane)   = rhs(rows - 1) - level.to_last(factors) * z;
  }

  /// A lane as a thread needs it: where its rows and their spikes are, and the separators before and in it.
  template <class Scalar>
  struct Lane {
    Index start, spikes, rows; ///< no rows: nothing to do
    Scalar left, own;
  };
  template <class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static Lane<Scalar> lane_of(const Level<Space, Scalar> &level, Index lane, const SolveOptions<Scalar> &options)
  {
    const Parts &parts = level.parts;
    if (lane >= parts.lanes()) return {0, 0, 0, 0, 0};
    const Index line = parts.line(lane), part = parts.part(lane), first = part * parts.rows;
    return {parts.layout.start(line) + first * parts.layout.stride, level.spike(line, first),
            parts.layout.has_colour(line, options.colour) ? parts.rows_of(part) : 0,
            part > 0 ? level.solution(lane - parts.step()) : Scalar(0), level.solution(lane)};
  }

  template <class Space, class Scalar>
  struct Tile {
    using Team   = typename Kokkos::TeamPolicy<Space>::member_type;
    using Values = Kokkos::View<Scalar *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    using Lanes  = Kokkos::View<Lane<Scalar> *, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

    /// The lanes of a team's tile.
    KOKKOS_INLINE_FUNCTION static Lanes lanes(const Team &team, const Level<Space, Scalar> &level, const SolveOptions<Scalar> &options)
    {
      const Lanes lanes(team.team_scratch(scratch_level<Space>()), level.width());
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, level.width()),
                           [&](int k) { lanes(k) = lane_of(level, Index(team.league_rank()) * level.width() + k, options); });
      team.team_barrier();
      return lanes;
    }
  };

  /// y of all parts, into the solution or the work space that the right-hand side is. Everything is scaled as it comes in.
  template <class Space, class Scalar>
  static void solve_parts(const Space &space, const Level<Space, Scalar> &level, const Gate<Space> &gate, const Array<Scalar, Space> &rhs,
                          const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Array<Scalar, Space> work = options.update.add ? rhs : solution;
    if (level.whole) return solve_tiles(space, level, gate, rhs, work, options);
    Kokkos::parallel_for(
        "weft spike parts", Kokkos::RangePolicy<Space>(space, 0, level.parts.lanes()), KOKKOS_LAMBDA(const Index number) {
          const Lane<Scalar> lane = lane_of(level, number, options);
          if (gate.closed() || lane.rows == 0) return;
          const auto element = [&](Index r) { return lane.start + r * level.parts.layout.stride; };
          sweep(
              level, number, lane.rows, [&](Index r) { return options.update.scale * rhs(element(r)); },
              [&](Index r) -> Scalar & { return work(element(r)); });
        });
  }

  /// The same through scratch memory, a team a tile.
  template <class Space, class Scalar>
  static void solve_tiles(const Space &space, const Level<Space, Scalar> &level, const Gate<Space> &gate, const Array<Scalar, Space> &rhs,
                          const Array<Scalar, Space> &work, const SolveOptions<Scalar> &options)
  {
    using Team      = typename Tile<Space, Scalar>::Team;
    using Values    = typename Tile<Space, Scalar>::Values;
    using Lanes     = typename Tile<Space, Scalar>::Lanes;
    const int width = level.width(), rows = static_cast<int>(level.parts.rows), apart = width + 1; // odd: no two rows in one memory bank
    const auto entries = static_cast<std::size_t>(rows * apart);
    const auto bytes   = Values::shmem_size(entries) + Lanes::shmem_size(static_cast<std::size_t>(width));
    Kokkos::parallel_for(
        "weft spike tiles", tile_policy(space, level.parts.tiles(level.log_width), 2 * width, bytes), KOKKOS_LAMBDA(const Team &team) {
          if (gate.closed()) return;
          const Parts &parts = level.parts;
          const Values values(team.team_scratch(scratch_level<Space>()), entries);
          const Lanes lanes = Tile<Space, Scalar>::lanes(team, level, options);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * width), [&](int number) {
            const TilePlace at = parts.place(number, level.log_width);
            if (at.row < lanes(at.lane).rows)
              values(at.row * apart + at.lane) = options.update.scale * rhs(lanes(at.lane).start + at.row * parts.layout.stride);
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int k) {
            if (lanes(k).rows == 0) return;
            const auto value = [&](Index r) -> Scalar & { return values(r * apart + k); };
            sweep(level, Index(team.league_rank()) * width + k, lanes(k).rows, value, value);
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * width), [&](int number) {
            const TilePlace at = parts.place(number, level.log_width);
            if (at.row < lanes(at.lane).rows - 1)
              work(lanes(at.lane).start + at.row * parts.layout.stride) = values(at.row * apart + at.lane);
          });
        });
  }

  /// Completes the separators' right-hand sides, and solves them where they are apart.
  template <class Space, class Scalar>
  static void gather(const Space &space, const Level<Space, Scalar> &level, const Gate<Space> &gate)
  {
    Kokkos::parallel_for(
        "weft spike gather", Kokkos::RangePolicy<Space>(space, 0, level.parts.lanes()), KOKKOS_LAMBDA(const Index lane) {
          if (gate.closed()) return;
          const Index factors = level.factors_of(lane);
          if (level.parts.part(lane) + 1 < level.parts.count)
            level.rhs(lane) -= level.to_first(factors) * level.first(lane + level.parts.step());
          if (level.spikes.closed()) level.solution(lane) = level.rhs(lane) / level.diagonal(factors);
        });
  }

  /// From y and the separators to the solution, in row r of a lane.
  template <class Space, class Scalar>
  KOKKOS_INLINE_FUNCTION static void correct_row(const Level<Space, Scalar> &level, const Lane<Scalar> &lane, Index r,
                                                 const Array<Scalar, Space> &work, const Array<Scalar, Space> &solution, bool add)
  {
    const Index i = lane.start + r * level.parts.layout.stride, inner = lane.rows - 1;
    const bool apart   = level.spikes.closed();
    const bool by_left = !apart || r < level.spikes.reach().from_left, by_own = !apart || inner - r <= level.spikes.reach().to_left;
    if (r < inner && !by_left && !by_own && !add) return;
    Scalar x = r == inner ? lane.own : work(i);
    if (r < inner && by_left) x -= level.w(lane.spikes + r * level.spike_stride()) * lane.left;
    if (r < inner && by_own) x -= level.v(lane.spikes + r * level.spike_stride()) * lane.own;
    solution(i) = add ? solution(i) + x : x;
  }

  template <class Space, class Scalar>
  static void correct(const Space &space, const Level<Space, Scalar> &level, const Gate<Space> &gate, const Array<Scalar, Space> &rhs,
                      const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const bool add                  = options.update.add;
    const Array<Scalar, Space> work = add ? rhs : solution;
    if (level.whole) return correct_tiles(space, level, gate, work, solution, options);
    Kokkos::parallel_for(
        "weft spike correct", Kokkos::RangePolicy<Space>(space, 0, level.parts.lanes()), KOKKOS_LAMBDA(const Index number) {
          if (gate.closed()) return;
          const Lane<Scalar> lane = lane_of(level, number, options);
          for (Index r = 0; r < lane.rows; r++) correct_row(level, lane, r, work, solution, add);
        });
  }

  template <class Space, class Scalar>
  static void correct_tiles(const Space &space, const Level<Space, Scalar> &level, const Gate<Space> &gate,
                            const Array<Scalar, Space> &work, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    using Team      = typename Tile<Space, Scalar>::Team;
    using Lanes     = typename Tile<Space, Scalar>::Lanes;
    const int width = level.width(), rows = static_cast<int>(level.parts.rows);
    const bool add   = options.update.add;
    const auto bytes = Lanes::shmem_size(static_cast<std::size_t>(width));
    Kokkos::parallel_for(
        "weft spike correct tiles", tile_policy(space, level.parts.tiles(level.log_width), 2 * width, bytes),
        KOKKOS_LAMBDA(const Team &team) {
          if (gate.closed()) return;
          const Lanes lanes = Tile<Space, Scalar>::lanes(team, level, options);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * width), [&](int number) {
            const TilePlace at = level.parts.place(number, level.log_width);
            if (at.row < lanes(at.lane).rows) correct_row(level, lanes(at.lane), at.row, work, solution, add);
          });
        });
  }
};

} // namespace weft
