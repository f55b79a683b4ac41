/// Thomas on the host: packs of lines, each line eliminated from both ends towards its middle row m = n / 2 (the "twisted" or burn-at-both-ends
/// factorization, Babuska 1972; LINPACK dptsl), so that even a single line has two independent recurrences.
///
/// With outer_i the coupling of row i to its neighbour nearer the end of the line (o), inner_i to the one nearer the middle (m):
///   inverse_i = 1 / (diagonal_i - outer_i inner'_o),   inner'_i = inner_i inverse_i,   outer'_i = outer_i inverse_i
///   inward:   z_i = rhs_i inverse_i - outer'_i z_o          (the middle row has two neighbours o)
///   outward:  x_i = z_i - inner'_i x_m
///
/// Words moved per row of a solve: 5 (outer', inverse, rhs; inner', x written), since the z of a pack stay in cache; in one go: also 5 (lower,
/// diagonal, upper, rhs, x written), the factors of a pack staying there too. Lines whose z do not stay in cache: 7 and 9.
#pragma once
#include "line/methods/thomas/host_packs.hpp"

namespace weft {

struct ThomasOnHost {
  /// Lines with the same coefficients share their factors; else these are in the order of packs.
  template <class Space, class Scalar>
  struct Plan {
    LineProblem problem;
    Packs<Scalar> packs;
    OwnedArray<Scalar, Space> outer, inverse, inner, z;
    PivotFlag<typename Space::memory_space> flag;

    bool shared() const { return problem.coefficients != Coefficients::general; }
    /// A slot's part of a table: enough for the largest pack that it walks.
    Scalar *slot(const OwnedArray<Scalar, Space> &table, Index number) const
    {
      return table.data() + packs.first(number) * problem.layout.length;
    }
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &)
  {
    const LineLayout &layout = problem.layout;
    Plan<Space, Scalar> plan;
    plan.problem     = problem;
    plan.packs       = Packs<Scalar>(layout);
    const Index size = plan.shared() ? layout.length : layout.rows();
    plan.outer       = table<Scalar, Space>("weft thomas outer", size);
    plan.inverse     = table<Scalar, Space>("weft thomas inverse", size);
    plan.inner       = table<Scalar, Space>("weft thomas inner", size);
    plan.z           = table<Scalar, Space>("weft thomas z",
                                  layout.count() == 1 && layout.stride == 1 ? 0 : plan.packs.first(plan.packs.slots) * layout.length);
    plan.flag        = PivotFlag<typename Space::memory_space>(layout);
    return plan;
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    if (plan.shared()) {
      if (plan.packs.count == 0) return;
      Kokkos::parallel_for("weft thomas factor", Kokkos::RangePolicy<Space>(space, 0, 1), [plan, matrix](Index) {
        auto line  = plan.packs.pack(0);
        line.pitch = line.lanes = 1;
        line.neighbours         = false;
        factor_pack(plan, matrix, line);
      });
      return;
    }
    plan.packs.for_each("weft thomas factor", space, Colour::all,
                        [plan, matrix](Index, const auto &pack) { factor_pack(plan, matrix, pack); });
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Update<Scalar> update = options.update;
    plan.packs.for_each("weft thomas solve", space, options.colour, [=](Index slot, const auto &pack) {
      with_lanes<Scalar>(pack.lanes, [&](auto lanes) {
        Scalar *z = z_of(plan, slot, pack, rhs, solution, update);
        if (plan.shared())
          solve_pack<true>(plan, pack, lanes, z, PlainPacks<Scalar>{rhs.data(), plan.problem.layout.stride}, solution.data(), update);
        else
          solve_pack<false>(plan, pack, lanes, z, PlainPacks<Scalar>{rhs.data(), plan.problem.layout.stride}, solution.data(), update);
      });
    });
  }

  /// Factors that all lines share are worth keeping; others are used up pack by pack.
  template <class Space, class Scalar>
  static void solve_once(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    if (plan.shared()) {
      factor(space, plan, matrix);
      solve(space, plan, matrix, rhs, solution, options);
      return;
    }
    plan.flag.clear(space);
    const Update<Scalar> update = options.update;
    plan.packs.for_each("weft thomas solve once", space, options.colour, [=](Index slot, const auto &pack) {
      with_lanes<Scalar>(pack.lanes, [&](auto lanes) {
        solve_pack_once(plan, matrix, pack, lanes, plan.slot(plan.inner, slot), z_of(plan, slot, pack, rhs, solution, update), rhs.data(),
                        solution.data(), update);
      });
    });
  }

  /// The plan of solve_coupled: z has work space of its own even where a line's z could stand in the solution.
  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan_coupled(const LineProblem &problem)
  {
    Plan<Space, Scalar> plan = ThomasOnHost::plan<Space, Scalar>(problem, {});
    if (plan.z.extent(0) == 0) plan.z = OwnedArray<Scalar, Space>("weft thomas z", static_cast<std::size_t>(problem.layout.rows()));
    return plan;
  }
  /// Solves for right-hand sides that couplings(slot) makes, pack by pack: see PlainPacks. They may be made of the solution as it is when a
  /// pack's turn comes. General coefficients only.
  template <class Space, class Scalar, class Couplings>
  static void solve_coupled(const Space &space, const Plan<Space, Scalar> &plan, const Couplings &couplings,
                            const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const Update<Scalar> update = options.update;
    plan.packs.for_each("weft thomas relax", space, options.colour, [=](Index slot, const auto &pack) {
      with_lanes<Scalar>(pack.lanes, [&](auto lanes) {
        const auto here = couplings(slot);
        here.prepare(pack, lanes);
        solve_pack<false>(plan, pack, lanes, plan.slot(plan.z, slot), here, solution.data(), update);
      });
    });
  }

private:
  template <class Scalar>
  using Lanes = typename Packs<Scalar>::Lanes;
  /// Right-hand sides of packs as they are stored.
  template <class Scalar>
  struct PlainPacks {
    const Scalar *rhs;
    Index stride;

    template <class Number>
    [[gnu::always_inline]] void gather(Tile<Scalar, Number> &tile, const Lanes<Scalar> &pack, Number lanes, Index first, int count) const
    {
      tile.gather(rhs, pack, lanes, stride, first, count);
    }
    template <class Number>
    [[gnu::always_inline]] void expect(const Tile<Scalar, Number> &tile, const Lanes<Scalar> &pack, Number lanes, Index first) const
    {
      tile.expect(rhs, pack, lanes, stride, first);
    }
    /// Looks at line solutions.
    template <class Number>
    [[gnu::always_inline]] void measure(Number, int, const Tile<Scalar, Number> &) const
    {
    }
  };
  enum End { top, bottom };

  /// The row last eliminated, or solved for, at either end.
  template <class Scalar, class Number>
  using Front = LaneValues<Scalar, Number>[2];

  /// Where a pack's z go, a row after the other. A single contiguous line needs no work space: it has the solution's own place, or that of
  /// the right-hand side.
  template <class Space, class Scalar>
  static Scalar *z_of(const Plan<Space, Scalar> &plan, Index slot, const Lanes<Scalar> &pack, const Array<Scalar, Space> &rhs,
                      const Array<Scalar, Space> &solution, const Update<Scalar> &update)
  {
    const bool in_place = pack.lanes == 1 && plan.problem.layout.stride == 1;
    return in_place ? (update.add ? rhs : solution).data() + pack.start[0] : plan.slot(plan.z, slot);
  }

  /// Goes from the ends of n rows to the middle, a block of rows at a time: load(end, first, count), then row(end, row in the block, row) for
  /// each; last the middle row, loaded as `top`, by middle(row). The rows of both ends take turns, without a branch, to fill each other's
  /// waiting times. Two blocks before it is loaded a block is announced by expect(first row): the lines of a pack, from both ends, are more
  /// streams than processors follow by themselves.
  template <class Scalar, class Expect, class Load, class Step, class Middle>
  [[gnu::always_inline]] static void inward(Index n, const Expect &expect, const Load &load, const Step &row, const Middle &middle)
  {
    constexpr Index block = Packs<Scalar>::block, ahead = 2 * block;
    const Index m = n / 2, from_bottom = n - 1 - m;
    for (Index done = 0; done < m; done += block) {
      if (done + ahead + block <= m) {
        expect(done + ahead);
        expect(n - done - ahead - block);
      }
      const int up = rows_of_block<Scalar>(m, done), down = rows_of_block<Scalar>(from_bottom, done); // down is up, or one less
      load(top, done, up);
      load(bottom, n - done - down, down);
      for (int r = 0; r < down; r++) {
        row(top, r, done + r);
        row(bottom, down - 1 - r, n - 1 - done - r);
      }
      if (up > down) row(top, down, done + down);
    }
    load(top, m, 1);
    middle(m);
  }
  /// Goes back: row(...) for each of a block of rows, then store(end, first, count).
  template <class Scalar, class Step, class Store>
  [[gnu::always_inline]] static void outward(Index n, const Step &row, const Store &store)
  {
    constexpr Index block = Packs<Scalar>::block;
    const Index m = n / 2, from_bottom = n - 1 - m;
    for (Index done = (m + block - 1) / block * block - block; done >= 0; done -= block) {
      const int up = rows_of_block<Scalar>(m, done), down = rows_of_block<Scalar>(from_bottom, done);
      if (up > down) row(top, down, done + down);
      for (int r = down - 1; r >= 0; r--) {
        row(top, r, done + r);
        row(bottom, down - 1 - r, n - 1 - done - r);
      }
      store(top, done, up);
      store(bottom, n - done - down, down);
    }
  }
  template <class Scalar>
  static int rows_of_block(Index rows, Index done)
  {
    return static_cast<int>(std::clamp<Index>(rows - done, 0, Packs<Scalar>::block));
  }

  /// Eliminates a row of each lane: inner' of the row before becomes that of this one. Counts unusable pivots.
  template <class Scalar, class Number>
  [[gnu::always_inline]] static void eliminate(Number lanes, const Scalar *KOKKOS_RESTRICT outer, const Scalar *KOKKOS_RESTRICT diagonal,
                                               const Scalar *KOKKOS_RESTRICT inner, Scalar *KOKKOS_RESTRICT front,
                                               Scalar *KOKKOS_RESTRICT inverse, Scalar *KOKKOS_RESTRICT bad)
  {
    for (int l = 0; l < lanes; l++) {
      const Scalar pivot = diagonal[l] - outer[l] * front[l];
      const Row<Scalar> row{outer[l], diagonal[l], inner[l]};
      bad[l] += usable_pivot(pivot, row.scale()) ? Scalar(0) : Scalar(1);
      inverse[l] = 1 / pivot;
      front[l]   = inner[l] * inverse[l];
    }
  }
  /// The middle row: the inverse of its pivot.
  template <class Scalar, class Number>
  [[gnu::always_inline]] static void eliminate_middle(Number lanes, const CoefficientTile<Scalar, Number> &tile,
                                                      const Front<Scalar, Number> &inner, Scalar *KOKKOS_RESTRICT inverse,
                                                      Scalar *KOKKOS_RESTRICT bad)
  {
    for (int l = 0; l < lanes; l++) {
      const Row<Scalar> row{tile.lower.rows[0][l], tile.diagonal.rows[0][l], tile.upper.rows[0][l]};
      const Scalar pivot = row.diagonal - row.lower * inner[top][l] - row.upper * inner[bottom][l];
      bad[l] += usable_pivot(pivot, row.scale()) ? Scalar(0) : Scalar(1);
      inverse[l] = 1 / pivot;
    }
  }

  template <class Space, class Scalar>
  static void factor_pack(const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix, const Lanes<Scalar> &pack)
  {
    with_lanes<Scalar>(pack.lanes, [&](auto lanes) { factor_lanes(plan, matrix, pack, lanes); });
  }
  template <class Space, class Scalar, class Number>
  static void factor_lanes(const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix, const Lanes<Scalar> &pack,
                           Number lanes)
  {
    const Index n       = plan.problem.layout.length;
    const auto table    = [&](const OwnedArray<Scalar, Space> &t) { return t.data() + pack.first * n; };
    Scalar *const outer = table(plan.outer), *const inverse = table(plan.inverse), *const inner = table(plan.inner);
    CoefficientTile<Scalar, Number> tile[2];
    Front<Scalar, Number> front    = {};
    LaneValues<Scalar, Number> bad = {};
    inward<Scalar>(
        n, [&](Index first) __attribute__((always_inline)) { tile[0].expect(matrix, pack, lanes, first); },
        [&](End end, Index first, int count) { tile[end].gather(matrix, pack, lanes, first, count); },
        [&](End end, int r, Index row) __attribute__((always_inline)) {
          const Scalar *o = (end == top ? tile[end].lower : tile[end].upper).rows[r];
          const Scalar *i = (end == top ? tile[end].upper : tile[end].lower).rows[r];
          eliminate(lanes, o, tile[end].diagonal.rows[r], i, front[end], inverse + row * lanes, bad);
          finish_factors(lanes, o, inverse + row * lanes, outer + row * lanes);
          std::copy_n(front[end], static_cast<int>(lanes), inner + row * lanes);
        },
        [&](Index m) {
          eliminate_middle(lanes, tile[top], front, inverse + m * lanes, bad);
          finish_factors(lanes, tile[top].lower.rows[0], inverse + m * lanes, outer + m * lanes);
          finish_factors(lanes, tile[top].upper.rows[0], inverse + m * lanes, inner + m * lanes);
        });
    report(plan, matrix, pack, bad);
  }
  template <class Scalar, class Number>
  [[gnu::always_inline]] static void finish_factors(Number lanes, const Scalar *KOKKOS_RESTRICT coupling,
                                                    const Scalar *KOKKOS_RESTRICT inverse, Scalar *KOKKOS_RESTRICT factor)
  {
    for (int l = 0; l < lanes; l++) factor[l] = coupling[l] * inverse[l];
  }

  /// z of a row from z of the row before.
  template <bool shared, class Scalar, class Number>
  [[gnu::always_inline]] static void solve_inward(Number lanes, const Scalar *KOKKOS_RESTRICT rhs, const Scalar *KOKKOS_RESTRICT inverse,
                                                  const Scalar *KOKKOS_RESTRICT outer, Scalar *KOKKOS_RESTRICT front,
                                                  Scalar *KOKKOS_RESTRICT z)
  {
    for (int l = 0; l < lanes; l++) {
      const int k = shared ? 0 : l;
      z[l] = front[l] = rhs[l] * inverse[k] - outer[k] * front[l];
    }
  }
  /// x of a row from x of the row before.
  template <bool shared, class Scalar, class Number>
  [[gnu::always_inline]] static void solve_outward(Number lanes, const Scalar *KOKKOS_RESTRICT z, const Scalar *KOKKOS_RESTRICT inner,
                                                   Scalar *KOKKOS_RESTRICT front, Scalar *KOKKOS_RESTRICT x)
  {
    for (int l = 0; l < lanes; l++) x[l] = front[l] = z[l] - inner[shared ? 0 : l] * front[l];
  }
  /// From z to the solution, `inner` being in rows of `pitch` and `middle` the middle row's solution.
  template <bool shared, class Scalar, class Number, class Rhs>
  static void finish(const LineLayout &layout, const Lanes<Scalar> &pack, Number lanes, const Scalar *z, const Scalar *inner, Index pitch,
                     const Scalar *middle, const Rhs &rhs, Scalar *solution, const Update<Scalar> &update)
  {
    const Index n = layout.length;
    Tile<Scalar, Number> x[2];
    Front<Scalar, Number> front;
    std::copy_n(middle, static_cast<int>(lanes), front[top]);
    std::copy_n(middle, static_cast<int>(lanes), front[bottom]);
    std::copy_n(middle, static_cast<int>(lanes), x[top].rows[0]);
    rhs.measure(lanes, 1, x[top]);
    x[top].scatter(solution, pack, lanes, layout.stride, n / 2, 1, update);
    outward<Scalar>(
        n,
        [&](End end, int r, Index row) __attribute__((always_inline)) {
          solve_outward<shared>(lanes, z + row * lanes, inner + row * pitch, front[end], x[end].rows[r]);
        },
        [&](End end, Index first, int count) {
          rhs.measure(lanes, count, x[end]);
          x[end].scatter(solution, pack, lanes, layout.stride, first, count, update);
        });
  }

  template <bool shared, class Space, class Scalar, class Number, class Rhs>
  static void solve_pack(const Plan<Space, Scalar> &plan, const Lanes<Scalar> &pack, Number lanes, Scalar *z, const Rhs &rhs,
                         Scalar *solution, const Update<Scalar> &update)
  {
    const LineLayout &layout = plan.problem.layout;
    const Index n = layout.length, pitch = shared ? 1 : pack.pitch;
    const auto table          = [&](const OwnedArray<Scalar, Space> &t) { return t.data() + (shared ? 0 : pack.first * n + pack.begin); };
    const Scalar *const outer = table(plan.outer), *const inverse = table(plan.inverse), *const inner = table(plan.inner);
    Tile<Scalar, Number> tile[2];
    Front<Scalar, Number> front = {};
    inward<Scalar>(
        n, [&](Index first) __attribute__((always_inline)) { rhs.expect(tile[0], pack, lanes, first); },
        [&](End end, Index first, int count) { rhs.gather(tile[end], pack, lanes, first, count); },
        [&](End end, int r, Index row) __attribute__((always_inline)) {
          solve_inward<shared>(lanes, tile[end].rows[r], inverse + row * pitch, outer + row * pitch, front[end], z + row * lanes);
        },
        [&](Index m) {
          for (int l = 0; l < lanes; l++) {
            const Index k = m * pitch + (shared ? 0 : l);
            front[top][l] = tile[top].rows[0][l] * inverse[k] - outer[k] * front[top][l] - inner[k] * front[bottom][l];
          }
        });
    finish<shared>(layout, pack, lanes, z, inner, pitch, front[top], rhs, solution, update);
  }

  template <class Space, class Scalar, class Number>
  static void solve_pack_once(const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix, const Lanes<Scalar> &pack,
                              Number lanes, Scalar *inner, Scalar *z, const Scalar *rhs, Scalar *solution, const Update<Scalar> &update)
  {
    const LineLayout &layout = plan.problem.layout;
    CoefficientTile<Scalar, Number> tile[2];
    Tile<Scalar, Number> b[2];
    Front<Scalar, Number> front = {}, z_front = {};
    LaneValues<Scalar, Number> bad = {}, inverse, outer;
    inward<Scalar>(
        layout.length,
        [&](Index first) __attribute__((always_inline)) {
          tile[0].expect(matrix, pack, lanes, first);
          b[0].expect(rhs, pack, lanes, layout.stride, first);
        },
        [&](End end, Index first, int count) {
          tile[end].gather(matrix, pack, lanes, first, count);
          b[end].gather(rhs, pack, lanes, layout.stride, first, count);
        },
        [&](End end, int r, Index row) __attribute__((always_inline)) {
          const Scalar *o = (end == top ? tile[end].lower : tile[end].upper).rows[r];
          const Scalar *i = (end == top ? tile[end].upper : tile[end].lower).rows[r];
          eliminate(lanes, o, tile[end].diagonal.rows[r], i, front[end], inverse, bad);
          finish_factors(lanes, o, inverse, outer);
          std::copy_n(front[end], static_cast<int>(lanes), inner + row * lanes);
          solve_inward<false>(lanes, b[end].rows[r], inverse, outer, z_front[end], z + row * lanes);
        },
        [&](Index) {
          eliminate_middle(lanes, tile[top], front, inverse, bad);
          for (int l = 0; l < lanes; l++) {
            const Scalar rest = tile[top].lower.rows[0][l] * z_front[top][l] + tile[top].upper.rows[0][l] * z_front[bottom][l];
            z_front[top][l]   = (b[top].rows[0][l] - rest) * inverse[l];
          }
        });
    report(plan, matrix, pack, bad);
    finish<false>(layout, pack, lanes, z, inner, static_cast<Index>(lanes), z_front[top], PlainPacks<Scalar>{rhs, layout.stride}, solution,
                  update);
  }

  /// Names the first unusable pivot of each line that has one, in the order of elimination: the rows after it hold NaN. Rare, so it is
  /// looked for again, line by line.
  template <class Space, class Scalar>
  [[gnu::noinline]] static void report(const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix, const Lanes<Scalar> &pack,
                                       const Scalar *bad)
  {
    for (int l = 0; l < pack.lanes; l++) {
      if (bad[l] == 0) continue;
      const LineLayout &layout = plan.problem.layout;
      const Index n            = layout.length;
      Scalar inner[2]          = {};
      Index first              = n;
      const auto look          = [&](Index row, Scalar pivot, const Row<Scalar> &r) {
        if (first == n && !usable_pivot(pivot, r.scale())) first = row;
      };
      const auto at = [&](Index row) { return matrix.at(row, pack.start[l] + row * layout.stride); };
      for (Index k = 0; k < n / 2; k++) {
        const Row<Scalar> up = at(k), down = at(n - 1 - k);
        const Scalar pivot = up.diagonal - up.lower * inner[top];
        look(k, pivot, up);
        inner[top] = up.upper / pivot;
        if (n - 1 - k == n / 2) continue;
        const Scalar other = down.diagonal - down.upper * inner[bottom];
        look(n - 1 - k, other, down);
        inner[bottom] = down.lower / other;
      }
      const Row<Scalar> middle = at(n / 2);
      look(n / 2, middle.diagonal - middle.lower * inner[top] - middle.upper * inner[bottom], middle);
      plan.flag.report(plan.packs.order(pack.first + pack.begin + l), std::min(first, n - 1));
    }
  }
};

} // namespace weft
