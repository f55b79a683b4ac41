/// What all methods for tridiagonal lines share: the names of their arguments, and the rows of the lines.
///
/// Line equations:  lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = rhs_i,   i = 0 .. length-1.
/// lower_0 and upper_{length-1} couple to nothing unless the lines are periodic: whatever they hold is not read.
///
/// A method is a type with
///   name                               as users type it
///   flops(layout)                      operations of a solve of all lines
///   refuses(problem, parameters)       why it cannot solve such lines, or nothing
///   Plan<Space, Scalar>                tables and work space; has a PivotFlag called `flag`
///   plan(problem, parameters)          makes one; nothing is allocated later
///   factor(space, plan, matrix)        takes new values; unusable pivots are reported in plan.flag. The arrays of `matrix` stay where and
///                                      what they are for as long as solves follow: a method may read them again
///   solve(space, plan, matrix, rhs, solution, options)
///                                      any number of times; launches on `space`, does not wait. Ignores options.transpose and options.nrhs:
///                                      `matrix` already is the transposed one, and LineSolver goes through the right-hand sides
/// and, where it is worth something,
///   solve_once(space, plan, matrix, rhs, solution, options)   factor and solve in one go
///   Form<Space>                        a type that has all from Plan on, where hosts and devices differ
///   periodic                           true where the method itself couples the ends; it then reads matrix.wrapped
/// select.hpp lists the methods.
#pragma once
#include <Kokkos_Core.hpp>
#include <optional>
#include <string>

#include "base/pivot_flag.hpp"
#include "line/line_layout.hpp"
#include "line/line_problem.hpp"

namespace weft {

template <class Scalar, class Space>
using Array = Kokkos::View<Scalar *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Scalar, class Space>
using OwnedArray = Kokkos::View<Scalar *, typename Space::memory_space>;

/// An array that is not initialised.
template <class T, class Space, class Size>
OwnedArray<T, Space> table(const std::string &label, Size size)
{
  return OwnedArray<T, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
}

/// True for the backend whose threads are those of the host: there a thread owns many rows, on a device many threads share a line.
template <class Space>
inline constexpr bool is_host_space = std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>;

/// The level of a team's scratch memory: the shared memory of a device. On hosts levels differ only in how much there is, 32 KiB in the first.
template <class Space>
KOKKOS_FUNCTION constexpr int scratch_level()
{
  return std::is_same_v<typename Space::memory_space, Kokkos::HostSpace> ? 1 : 0;
}

/// The coefficients of a row.
template <class Scalar>
struct Row {
  Scalar lower = 0, diagonal = 1, upper = 0;

  /// The measure of a pivot, see usable_pivot.
  KOKKOS_INLINE_FUNCTION RealOf<Scalar> scale() const { return modulus(lower) + modulus(diagonal) + modulus(upper); }
};

/// A row with its right-hand side.
template <class Scalar>
struct Equation {
  Scalar lower = 0, diagonal = 1, upper = 0, rhs = 0;

  KOKKOS_INLINE_FUNCTION RealOf<Scalar> scale() const { return modulus(lower) + modulus(diagonal) + modulus(upper); }
};

/// g of a ring, from its first row: of the diagonal's size, against its sign, so that diagonal - g cancels nothing; of the corner's where that is
/// larger, so that no entry of T' is larger than those of T.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar corner_weight(const Row<Scalar> &first)
{
  const RealOf<Scalar> d = modulus(first.diagonal), l = modulus(first.lower), most = Kokkos::max(d, l);
  const RealOf<Scalar> size = most > 0 ? most : modulus(first.upper);
  return towards(size, -first.diagonal);
}

/// The three diagonals of all lines, problem.coefficient_size() elements each, or their transpose.
///
/// A periodic line is T = T' + u v^T with u = (g, 0 .. 0, upper_{n-1}), v = (1, 0 .. 0, lower_0 / g), so that T' has no corners (Sherman and
/// Morrison; seed of every periodic tridiagonal solver); g is corner_weight of row 0. `at` gives rows of T', `wrapped` rows of T.
template <class Scalar, class Space>
struct Tridiagonal {
  LineProblem problem;
  Array<const Scalar, Space> lower, diagonal, upper;
  bool transposed = false;

  /// Row `row` of a line, element `i` of the layout, with the corners in lower of row 0 and upper of the last row: 0 without periodicity.
  KOKKOS_INLINE_FUNCTION Row<Scalar> wrapped(Index row, Index i) const
  {
    const Index n = problem.layout.length, stride = problem.layout.stride, k = problem.coefficient(row, i);
    const bool has_lower = row > 0 || problem.periodic, has_upper = row + 1 < n || problem.periodic;
    if (!transposed) return {has_lower ? lower(k) : Scalar(0), diagonal(k), has_upper ? upper(k) : Scalar(0)};
    const Index start = i - row * stride, before = row > 0 ? row - 1 : n - 1, after = row + 1 < n ? row + 1 : 0;
    return {has_lower ? upper(problem.coefficient(before, start + before * stride)) : Scalar(0), diagonal(k),
            has_upper ? lower(problem.coefficient(after, start + after * stride)) : Scalar(0)};
  }
  /// The same row of T': lower of row 0 and upper of the last row are 0.
  KOKKOS_INLINE_FUNCTION Row<Scalar> at(Index row, Index i) const
  {
    const Row<Scalar> r = wrapped(row, i);
    if (!problem.periodic) return r;
    const Index n = problem.layout.length;
    if (n == 1) return {0, r.lower + r.diagonal + r.upper, 0};
    if (n == 2) return row == 0 ? Row<Scalar>{0, r.diagonal, r.upper + r.lower} : Row<Scalar>{r.lower + r.upper, r.diagonal, 0};
    if (row == 0) return {0, r.diagonal - weight(i), r.upper};
    if (row + 1 < n) return r;
    const Index start = i - row * problem.layout.stride;
    return {r.lower, r.diagonal - wrapped(0, start).lower / weight(start) * r.upper, 0};
  }
  /// g of the line that starts at element `start`: from the rows as they are given, so that T' of the transpose is the transpose of T', as good to
  /// solve with as the one that set-up has looked at.
  KOKKOS_INLINE_FUNCTION Scalar weight(Index start) const
  {
    const Index k = problem.coefficient(0, start);
    return corner_weight(Row<Scalar>{lower(k), diagonal(k), upper(k)});
  }
};

/// True where the lines have corners that a method without `periodic` leaves to LineSolver.
WEFT_INLINE bool has_corners(const LineProblem &problem)
{
  return problem.periodic && problem.layout.length > 2;
}

/// Methods say `static constexpr bool periodic = true` where they couple the ends themselves.
template <class Method>
constexpr bool couples_ends()
{
  if constexpr (requires { Method::periodic; }) return Method::periodic;
  return false;
}

template <class Scalar>
KOKKOS_INLINE_FUNCTION void put(Scalar &solution, const Update<Scalar> &update, Scalar value)
{
  solution = update.add ? solution + update.scale * value : update.scale * value;
}

/// What a method says of lines that it can solve.
inline const std::optional<std::string> nothing_against = std::nullopt;

} // namespace weft
