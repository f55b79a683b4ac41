/// Wide: a team per line (or per bundle of neighbouring lines), R consecutive rows of it in the registers of each thread, every word touched once.
///
/// A thread eliminates its chunk of rows so that each unknown hangs on the next one and on the last of the chunk before, x_-1 (Wang 1981):
///   x_j = value_j - before_j x_-1 - after_j x_{j+1}
///   pivot = diagonal_j - lower_j after_{j-1},   after_j = upper_j / pivot,   value_j = (rhs_j - lower_j value_{j-1}) / pivot,
///   before_j = -lower_j before_{j-1} / pivot    (before_0 = lower_0 / diagonal_0)
/// and joins its last row to the first row of the next chunk. What is left is a tridiagonal system of one unknown per chunk, solved by PCR
/// steps in team scratch; then every thread finds its other unknowns on the way back up.
///
/// A line that one team does not hold is cut into tiles, which keep their last unknown the same way: a first pass reads the tiles and writes
/// two rows each, the tiles' own lines are solved by this method again, and a second pass eliminates once more and writes the solution.
/// Periodic lines keep their last unknown too: the first and the last chunk both hang on it.
///
/// Words moved per row: 5 (lower, diagonal, upper, rhs, solution); 9 in two passes. Shared or constant coefficients: 2 and 3.
/// Factors are not kept: a factored general line has three words a row as well, so nothing would be saved.
/// Parameters: slice is R (4, 8 or 16 on a device, 32 on the host), partitions the threads of a line. Limits: no pivoting.
/// Source: Wang, ACM TOMS 7 (1981), with one unknown kept instead of two and PCR (ADI thesis, section 2.4) for what is left.
#pragma once
#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>

#include "base/native.hpp"
#include "line/methods/wide/wide_kernel.hpp"
#include "line/tridiagonal.hpp"
#if defined(WEFT_NATIVE_HOPPER)
#include "line/methods/wide/wide_launch.hpp"
#endif

namespace weft {

/// A native form of the kernel for a backend that has one.
template <class Space, class Scalar>
struct NativeWide {
  struct Plan {
    bool many() const { return false; } ///< the native kernel solves lines of several tiles at once
  };
  /// Changes the shape where there is one for these lines.
  static Plan plan(WideShape &, const MethodParameters &) { return {}; }
  static bool takes(const WideArguments<Space, Scalar> &, const Plan &) { return false; }
  static bool clears_flag(const WideArguments<Space, Scalar> &, const Plan &) { return false; } ///< before it checks pivots
  static void launch(const Space &, const WideArguments<Space, Scalar> &, const Plan &) {}
};

#if defined(WEFT_NATIVE_HOPPER)
template <class Scalar>
requires(std::is_floating_point_v<Scalar> || std::is_same_v<Scalar, Complex<double>>) struct NativeWide<Kokkos::Cuda, Scalar> {
  using Plan      = cuda::NativePlan<Scalar>;
  using Arguments = WideArguments<Kokkos::Cuda, Scalar>;

  static Plan plan(WideShape &shape, const MethodParameters &parameters) { return cuda::native_plan<Scalar>(shape, parameters); }
  static bool takes(const Arguments &a, const Plan &plan) { return cuda::native_takes(a, plan); }
  static bool clears_flag(const Arguments &a, const Plan &plan) { return cuda::clears_flag(a, plan); }
  static void launch(const Kokkos::Cuda &space, const Arguments &a, const Plan &plan) { cuda::launch_native(space, a, plan); }
};
#endif

struct Wide {
  static constexpr const char *name = "wide";
  static constexpr bool periodic    = true;

  /// Operations of a solve: 9 a row forward, 3 to join, 4 back; a chunk's PCR is a small part of that.
  static double flops(const LineLayout &layout) { return 16.0 * layout.rows(); }
  static std::optional<std::string> refuses(const LineProblem &, const MethodParameters &parameters)
  {
    if (parameters.slice != 0 && parameters.slice != 4 && parameters.slice != 8 && parameters.slice != 16)
      return "a thread of 'wide' takes 4, 8 or 16 rows, not " + std::to_string(parameters.slice);
    if (parameters.partitions < 0 || parameters.partitions > 512)
      return "a line of 'wide' takes 1 to 512 threads, not " + std::to_string(parameters.partitions);
    return nothing_against;
  }

  /// The lines that the tiles' last unknowns form, and what solves them.
  template <class Space, class Scalar>
  struct Coarse;

  template <class Space, class Scalar>
  struct Plan {
    WideShape shape;
    typename NativeWide<Space, Scalar>::Plan native;
    std::shared_ptr<Coarse<Space, Scalar>> coarse; ///< none where a team holds a line
    PivotFlag<typename Space::memory_space> flag;
  };

  template <class Space, class Scalar>
  struct Coarse {
    TileRows<Space, Scalar> rows;
    OwnedArray<Scalar, Space> lower, diagonal, upper, solution;
    Plan<Space, Scalar> plan;
    Tridiagonal<Scalar, Space> matrix;
  };

  template <class Space, class Scalar>
  static Plan<Space, Scalar> plan(const LineProblem &problem, const MethodParameters &parameters)
  {
    Plan<Space, Scalar> plan;
    plan.shape  = wide_shape<Space>(problem.layout, parameters);
    plan.native = NativeWide<Space, Scalar>::plan(plan.shape, parameters);
    fit_team<Space, Scalar>(plan.shape);
    plan.shape.cut();
    plan.flag = PivotFlag<typename Space::memory_space>(problem.layout);
    if (plan.shape.tiles > 1) {
      auto coarse = std::make_shared<Coarse<Space, Scalar>>();
      LineProblem lines(lines_like(problem.layout, plan.shape.tiles));
      lines.periodic = problem.periodic;
      coarse->rows   = TileRows<Space, Scalar>(lines.layout.rows());
      for (auto array : {&coarse->lower, &coarse->diagonal, &coarse->upper, &coarse->solution})
        *array = table<Scalar, Space>("weft wide coarse", lines.layout.rows());
      coarse->matrix = {lines, coarse->lower, coarse->diagonal, coarse->upper, false};
      coarse->plan   = Wide::plan<Space, Scalar>(lines, parameters);
      plan.coarse    = coarse;
    }
    return plan;
  }

  /// Only looks at the pivots, see above.
  template <class Space, class Scalar>
  static void factor(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix)
  {
    plan.flag.clear(space);
    run(space, plan, arguments(plan, matrix, {}, {}, SolveOptions<Scalar>{}, false, true));
  }

  template <class Space, class Scalar>
  static void solve(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                    const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    run(space, plan, arguments(plan, matrix, rhs, solution, options, true, false));
  }

  template <class Space, class Scalar>
  static void solve_once(const Space &space, const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                         const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution, const SolveOptions<Scalar> &options)
  {
    const WideArguments<Space, Scalar> a = arguments(plan, matrix, rhs, solution, options, true, true);
    if (!NativeWide<Space, Scalar>::clears_flag(a, plan.native)) plan.flag.clear(space);
    run(space, plan, a);
  }

  template <class Space, class Scalar>
  static WideArguments<Space, Scalar> arguments(const Plan<Space, Scalar> &plan, const Tridiagonal<Scalar, Space> &matrix,
                                                const Array<Scalar, Space> &rhs, const Array<Scalar, Space> &solution,
                                                const SolveOptions<Scalar> &options, bool solves, bool checks)
  {
    WideArguments<Space, Scalar> a;
    a.shape           = plan.shape;
    a.matrix          = matrix;
    a.rhs             = rhs;
    a.solution        = solution;
    a.update          = options.update;
    a.colour          = options.colour;
    a.flag            = plan.flag;
    a.solves          = solves;
    a.checks          = checks;
    a.original_length = plan.shape.layout.length;
    return a;
  }

  template <class Space, class Scalar>
  static void run(const Space &space, const Plan<Space, Scalar> &plan, WideArguments<Space, Scalar> a)
  {
    using Native         = NativeWide<Space, Scalar>;
    a.shape              = plan.shape;
    a.in_pieces          = a.shape.layout.stride == 1 && begins_in_pieces(a);
    const bool by_native = Native::takes(a, plan.native);
    const auto launch    = [&](WidePart part) {
      a.part = part;
      if (a.shape.layout.rows() == 0) return;
      if (by_native)
        Native::launch(space, a, plan.native);
      else
        launch_wide(space, a);
    };
    if (!plan.coarse || (by_native && plan.native.many())) {
      launch(WidePart::whole);
      return;
    }
    const Coarse<Space, Scalar> &coarse = *plan.coarse;
    const Colour colour                 = a.colour;
    a.colour                            = Colour::all; // the coarse lines have no colours
    a.tiles                             = coarse.rows;
    launch(WidePart::reduce);
    join_tiles(space, coarse.matrix.problem, coarse.rows, coarse.lower, coarse.diagonal, coarse.upper, coarse.solution);

    WideArguments<Space, Scalar> next = a;
    next.matrix                       = coarse.matrix;
    next.rhs = next.solution = Array<Scalar, Space>(coarse.solution);
    next.update              = {};
    next.step                = a.step + wide_steps;
    next.rows_of_row         = a.rows_of_row * plan.shape.tile_rows();
    run(space, coarse.plan, next);
    if (!a.solves) return;
    a.colour = colour;
    a.checks = false;
    a.last   = coarse.solution;
    launch(WidePart::finish);
  }
};

} // namespace weft
