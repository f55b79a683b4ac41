/// Pivoted: recursive partition with scaled partial pivoting, for lines that are regular but not dominant: indefinite operators, zeros on the
/// diagonal, badly scaled rows.
///
/// After the partition methods of Klein and Strzodka ("Tridiagonal GPU solver with scaled partial pivoting at maximum bandwidth", ICPP 2021;
/// tridigpu, ACM TOPC 10, 2023), with the pieces of pieces.hpp in place of their two coarse rows a partition:
///   up:    a thread eliminates the inner unknowns of `slice` rows; the team joins the pieces of its threads, two by two, to the piece of a tile
///   above: the pieces of a line's tiles are the rows of a coarse line, joined two by two in the same way, tile by tile, until one is left
///   down:  the ends of a piece are known; the seam between two pieces gives what they end with, the rows of a slice follow from its ends
/// No factors are stored: the way down eliminates again, in scratch memory. `factor` only looks at the pivots.
///
/// Rings are pieces too: the whole ring's has itself on either side.
///
/// Lines that a block of a Hopper device holds in its registers have a native form (cuda/pivoted_cuda.hpp): 5 words per row.
///
/// Words moved per row of a solve: 4 up and 5 down, and some 30 for a tile of many hundred rows; 5 in all where a line fits one tile.
/// Limits: several times the operations of Thomas. A line is reported as singular where a pivot is no more than rounding error in the row's
/// own scale (pieces.hpp), so that a column far smaller than all others (an unknown in other units) counts as singular too, though solve would
/// still give its solution; so is a row that is zero or not finite.
#pragma once
#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "base/native.hpp"
#include "line/methods/pivoted/pieces.hpp"
#include "line/methods/pivoted/pivoted_tile.hpp"
#include "line/tridiagonal.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "line/methods/pivoted/pivoted_launch.hpp"
#endif

namespace weft {

/// A native form of solve and solve_once for a backend that has one. True if it took the lines.
template <class Space, class Scalar>
struct NativePivoted {
  static bool solve(const Space &, const LineProblem &, const MethodParameters &, const Tridiagonal<Scalar, Space> &,
                    const Array<Scalar, Space> &, const Array<Scalar, Space> &, const SolveOptions<Scalar> &,
                    const PivotFlag<typename Space::memory_space> &, bool)
  {
    return false;
  }
};

#if defined(WEFT_NATIVE_HOPPER)
template <class Scalar>
requires std::is_floating_point_v<Scalar>
struct NativePivoted<Kokkos::Cuda, Scalar> {
  static bool solve(const Kokkos::Cuda &space, const LineProblem &problem, const MethodParameters &parameters,
                    const Tridiagonal<Scalar, Kokkos::Cuda> &matrix, const Array<Scalar, Kokkos::Cuda> &rhs,
                    const Array<Scalar, Kokkos::Cuda> &solution, const SolveOptions<Scalar> &options,
                    const PivotFlag<Kokkos::CudaSpace> &flag, bool checks)
  {
    if (matrix.transposed || problem.layout.rows() == 0 || !cuda::pivoted_lines(matrix.problem, parameters)) return false;
    const cuda::PivotedArguments<Scalar> arguments{matrix.lower.data(), matrix.diagonal.data(), matrix.upper.data(),
                                                   rhs.data(),          solution.data(),        problem.layout,
                                                   options.update,      options.colour,         flag};
    if (!cuda::pivoted_takes(arguments)) return false;
    cuda::launch_pivoted(space, arguments, checks);
    return true;
  }
};
#endif

struct Pivoted {
  static constexpr const char *name = "pivoted";
  static constexpr bool periodic    = true;
  static constexpr int own_slice    = 15;  ///< odd: threads that walk their rows side by side meet no bank twice
  static constexpr int most_slice   = 512; ///< rows of a thread that fit any scratch memory

  /// Operations of a solve: scaling 4 a row; elimination 1 + 2 * 13, twice; with known ends 1 + 2 * 7, and 5 for an unknown; joining pieces 100.
  static double flops(const LineLayout &layout)
  {
    return (4 + 2 * 27 + 15 + 5 + 2 * 100.0 / own_slice) * static_cast<double>(layout.rows());
  }

  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.slice == 0 || (parameters.slice >= 2 && parameters.slice <= most_slice)) return nothing_against;
    return "pivoted eliminates slices of 2 to " + std::to_string(most_slice) + " rows, not of " + std::to_string(parameters.slice);
  }

  template <class Space, class Scalar>
  struct Plan {
    LineProblem problem;
    MethodParameters parameters;
    int slice = own_slice;
    Tiling rows;                               ///< how slices of rows form tiles
    std::vector<Tiling> tilings;               ///< how the pieces of a coarse line do, level by level
    std::vector<Pieces<Space, Scalar>> coarse; ///< their pieces: coarse[0] has a piece for each tile of rows
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    using Rows               = SlicesOfRows<Space, Scalar>;
    using Coarse             = CoarsePieces<Space, Scalar>;
    const LineLayout &layout = problem.layout;
    Plan<Space, Scalar> plan;
    plan.problem    = problem;
    plan.parameters = parameters;
    plan.flag       = PivotFlag<typename Space::memory_space>(layout);
    if (parameters.slice > 0) plan.slice = parameters.slice;
    if (layout.rows() == 0) return plan;

    const bool side_by_side = !layout.rows_are_closest();
    const auto tiling       = [&](Index leaves, std::size_t bytes_of_job) {
      return Tiling::of<Space, Scalar>(layout.count(), leaves, side_by_side, bytes_of_job);
    };
    plan.rows    = tiling((layout.length + plan.slice - 1) / plan.slice, Rows::bytes_of_job(plan.slice));
    Index pieces = plan.rows.tiles_of_line();
    while (pieces > 1) {
      plan.coarse.emplace_back(layout.count(), pieces, side_by_side);
      plan.tilings.push_back(tiling(pieces, Coarse::bytes_of_job()));
      pieces = plan.tilings.back().tiles_of_line();
    }
    return plan;
  }

  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    run(space, plan, matrix, {}, {}, {}, true, false);
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    if (NativePivoted<Space, Scalar>::solve(space, plan.problem, plan.parameters, matrix, rhs, solution, options, plan.flag, false)) return;
    run(space, plan, matrix, rhs, solution, options, false, true);
  }

  template <class Space, class Scalar>
  static void solve_once(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    plan.flag.clear(space);
    if (NativePivoted<Space, Scalar>::solve(space, plan.problem, plan.parameters, matrix, rhs, solution, options, plan.flag, true)) return;
    run(space, plan, matrix, rhs, solution, options, true, true);
  }

  /// Up and down. `check`: pivots are reported. `solves` false: there are no rhs and solution.
  template <class Space, class Scalar>
  static void run(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                  const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options, bool check,
                  bool solves)
  {
    if (plan.problem.layout.rows() == 0) return;
    const int levels = static_cast<int>(plan.coarse.size());
    const auto rows  = [&](auto way) {
      const SlicesOfRows<Space, Scalar> leaves{matrix, rhs, solution, options, plan.slice, check, solves};
      const auto above = levels > 0 ? plan.coarse[0] : Pieces<Space, Scalar>();
      launch<decltype(way)::value>(space, plan, plan.rows, leaves, above, plan.slice, check, solves);
    };
    const auto pieces = [&](auto way, int level) {
      const CoarsePieces<Space, Scalar> leaves{plan.coarse[level], has_corners(plan.problem)};
      const auto above    = level + 1 < levels ? plan.coarse[level + 1] : Pieces<Space, Scalar>();
      Index rows_of_piece = static_cast<Index>(plan.slice) * plan.rows.deep;
      for (int l = 0; l < level; l++) rows_of_piece *= plan.tilings[l].deep;
      launch<decltype(way)::value>(space, plan, plan.tilings[level], leaves, above, rows_of_piece, check, solves);
    };
    constexpr std::integral_constant<Way, Way::up> up;
    constexpr std::integral_constant<Way, Way::whole> whole;
    constexpr std::integral_constant<Way, Way::down> down;
    if (levels == 0) {
      rows(whole);
      return;
    }
    rows(up);
    for (int level = 0; level + 1 < levels; level++) pieces(up, level);
    pieces(whole, levels - 1);
    if (!solves) return;
    for (int level = levels - 2; level >= 0; level--) pieces(down, level);
    rows(down);
  }

  template <Way way, class Space, class Scalar, class Leaves>
  static void launch(const Space &space, const Plan<Space, Scalar> &plan, const Tiling &tiling, const Leaves &leaves,
                     const Pieces<Space, Scalar> &above, Index rows_of_leaf, bool check, bool solves)
  {
    using Kernel = TileKernel<Space, Scalar, Leaves, way>;
    const Kernel kernel{tiling, leaves, above, plan.flag, rows_of_leaf, plan.problem.layout.length, has_corners(plan.problem),
                        check,  solves};
    typename Kernel::Policy policy(space, static_cast<int>(tiling.tiles()), tiling.threads<Space>());
    policy.set_scratch_size(0, Kokkos::PerTeam(kernel.bytes() + 16)); // 16: room for alignment
    Kokkos::parallel_for("weft pivoted " + std::string(Leaves::name) +
                             (way == Way::down ? " down"
                              : way == Way::up ? " up"
                                               : " whole"),
                         policy, kernel);
  }
};

} // namespace weft
