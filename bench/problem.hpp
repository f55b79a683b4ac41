/// The lines that are solved, made and checked where they are solved.
#pragma once
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/real_of.hpp"
#include "harness.hpp"
#include "line/tridiagonal.hpp"
#include "request.hpp"

namespace weft::bench {

/// A number in [-1, 1) that is the same on every backend (splitmix64 of a counter).
KOKKOS_INLINE_FUNCTION double random_value(std::uint64_t counter)
{
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u;
  z               = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z               = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

/// An array that is first touched by the kernel that fills it, so that its pages lie with the threads that use it.
template <class Space, class Scalar>
OwnedArray<Scalar, Space> make_array(Index size)
{
  return OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "weft bench"), static_cast<std::size_t>(size));
}

/// The largest of |x_i - random_value(begin + i)|; infinite where one is not finite.
template <class Space, class Scalar>
double error_of(const Space &space, const OwnedArray<Scalar, Space> &x, Index begin, Index count)
{
  double error = 0;
  Kokkos::parallel_reduce(
      "weft bench error", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count),
      KOKKOS_LAMBDA(const Index i, double &most) {
        const double e = Kokkos::abs(x(i) - random_value(static_cast<std::uint64_t>(begin + i)));
        most           = Kokkos::max(most, Kokkos::isfinite(e) ? e : HUGE_VAL);
      },
      Kokkos::Max<double>(error));
  return error;
}

/// Row `row` of a line of `length` rows. Couplings beyond the ends are 0, as cuSPARSE wants them. `counter` makes it random.
KOKKOS_INLINE_FUNCTION Row<double> row_of(Values values, Index row, Index length, std::uint64_t counter)
{
  const double has_lower = row > 0 ? 1 : 0, has_upper = row + 1 < length ? 1 : 0;
  if (values == Values::poisson) return {-has_lower, 2, -has_upper};
  if (values == Values::pade) {
    if (has_lower * has_upper == 0) return {2 * has_lower, 1, 2 * has_upper};
    return {0.25, 1, 0.25};
  }
  const double lower = has_lower * random_value(4 * counter), upper = has_upper * random_value(4 * counter + 1);
  const double diagonal = random_value(4 * counter + 2);
  if (values == Values::type_12) return {1e-50 * lower, diagonal, upper};
  if (values == Values::type_5) { // which couplings are kept is as random as they are
    const std::uint64_t kept = (std::uint64_t(1) << 62) + 2 * counter;
    return {random_value(kept) < 0 ? 0 : lower, diagonal, random_value(kept + 1) < 0 ? 0 : upper};
  }
  if (values == Values::uniform) return {lower, diagonal, upper};
  const double size = 0.1 + Kokkos::abs(diagonal) + Kokkos::abs(lower) + Kokkos::abs(upper);
  return {lower, diagonal < 0 ? -size : size, upper};
}

/// As a scalar: where it is complex, turned by a random angle, unless the solution is known for the number as it is.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar turned(Values values, double x, std::uint64_t counter)
{
  if constexpr (is_complex<Scalar>) {
    const double angle = solution_is_known(values) ? 0 : 3.14159265358979 * random_value(~counter);
    return Scalar(Complex<double>(x * Kokkos::cos(angle), x * Kokkos::sin(angle)));
  } else {
    return static_cast<Scalar>(x);
  }
}

/// Problems of one kind that differ in their random numbers. Number `copy` begins at element copy * pitch of the arrays; those of the
/// coefficients begin at element 0 for all where not every line has its own.
template <class Space, class Scalar>
struct Problems {
  LineProblem lines;
  Values values = Values::dominant;
  int copies    = 0;
  Index pitch = 0, coefficient_pitch = 0;
  OwnedArray<Scalar, Space> lower, diagonal, upper, rhs, solution;

  Scalar *of(const OwnedArray<Scalar, Space> &array, int copy) const { return array.data() + copy * pitch; }
  const Scalar *coefficients_of(const OwnedArray<Scalar, Space> &array, int copy) const { return array.data() + copy * coefficient_pitch; }
};

/// Coefficients of general lines or of fewer, for `copies` problems.
template <class Space, class Scalar>
void make_coefficients(const Space &space, Problems<Space, Scalar> &problems)
{
  const LineProblem lines  = problems.lines;
  const LineLayout &layout = lines.layout;
  const bool general       = lines.coefficients == Coefficients::general;
  const auto values        = problems.values;
  const Index pitch        = problems.pitch;
  const Index rows = general ? layout.rows() : lines.coefficient_size(), size = general ? problems.copies * problems.pitch : rows;
  const Index count          = general ? problems.copies * rows : rows;
  problems.coefficient_pitch = general ? problems.pitch : 0;
  for (auto *array : {&problems.lower, &problems.diagonal, &problems.upper}) *array = make_array<Space, Scalar>(size);
  const auto lower = problems.lower, diagonal = problems.diagonal, upper = problems.upper;
  Kokkos::parallel_for(
      "weft bench coefficients", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count), KOKKOS_LAMBDA(const Index number) {
        Index row = number, k = number;
        if (general) {
          const LineRow at = line_row(lines.layout, number % rows);
          row              = at.row;
          k                = number / rows * pitch + lines.layout.start(at.line) + at.row * lines.layout.stride;
        } else if (lines.coefficients == Coefficients::constant && number >= lines.closure) { // the inner row, the last rows
          row = number == lines.closure ? lines.layout.length / 2 : lines.layout.length - (rows - number);
        }
        // shared and general lines differ from value to value, so that nothing is gained from equal ones
        const auto counter  = static_cast<std::uint64_t>(k);
        const Row<double> r = row_of(values, row, lines.layout.length, counter);
        lower(k)            = turned<Scalar>(values, r.lower, 3 * counter);
        diagonal(k)         = turned<Scalar>(values, r.diagonal, 3 * counter + 1);
        upper(k)            = turned<Scalar>(values, r.upper, 3 * counter + 2);
      });
}

/// The solution that the right-hand side of element `i` is made for, where it is known.
KOKKOS_INLINE_FUNCTION double known_solution(Values values, Index i)
{
  return values == Values::poisson ? 1 : random_value(4 * static_cast<std::uint64_t>(i) + 3);
}

/// Right-hand sides: T x where a solution x is known, else random.
template <class Space, class Scalar>
void make_right_hand_sides(const Space &space, const Problems<Space, Scalar> &problems)
{
  const LineLayout layout = problems.lines.layout;
  const Index rows = layout.rows(), pitch = problems.pitch;
  const auto values = problems.values;
  const auto rhs    = problems.rhs;
  Kokkos::parallel_for(
      "weft bench rhs", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problems.copies * rows),
      KOKKOS_LAMBDA(const Index number) {
        const LineRow at = line_row(layout, number % rows);
        const Index i    = number / rows * pitch + layout.start(at.line) + at.row * layout.stride;
        double value     = random_value(4 * static_cast<std::uint64_t>(i) + 3);
        if (solution_is_known(values)) {
          const Row<double> r = row_of(values, at.row, layout.length, 0); // the couplings beyond the ends are 0
          value               = r.lower * known_solution(values, i - layout.stride) + r.diagonal * known_solution(values, i) +
                  r.upper * known_solution(values, i + layout.stride);
        }
        rhs(i) = static_cast<Scalar>(value);
      });
}

/// As many problems as leave the cache nothing to keep.
template <class Space, class Scalar>
Problems<Space, Scalar> make_problems(const Space &space, const LineProblem &lines, Values values)
{
  constexpr Index aligned = 256 / sizeof(Scalar);
  Problems<Space, Scalar> problems;
  problems.lines    = lines;
  problems.values   = values;
  problems.pitch    = (lines.layout.span() + aligned - 1) / aligned * aligned;
  problems.copies   = copies_beyond_cache<Space>(words_of_row(lines.coefficients) * Index(sizeof(Scalar)) * lines.layout.rows());
  problems.rhs      = make_array<Space, Scalar>(problems.copies * problems.pitch);
  problems.solution = make_array<Space, Scalar>(problems.copies * problems.pitch);
  make_coefficients(space, problems);
  make_right_hand_sides(space, problems);
  space.fence("weft bench problems");
  return problems;
}

/// The same problems with coefficients for every row, for libraries that know nothing else.
template <class Space, class Scalar>
Problems<Space, Scalar> with_general_coefficients(const Space &space, const Problems<Space, Scalar> &problems)
{
  Problems<Space, Scalar> general = problems;
  if (problems.lines.coefficients == Coefficients::general) return general;
  general.lines.coefficients = Coefficients::general;
  const LineProblem lines    = problems.lines;
  const Index rows = lines.layout.rows(), size = problems.copies * problems.pitch, pitch = problems.pitch;
  general.coefficient_pitch = pitch;
  for (auto *array : {&general.lower, &general.diagonal, &general.upper}) *array = make_array<Space, Scalar>(size);
  const auto lower = general.lower, diagonal = general.diagonal, upper = general.upper;
  const auto few_lower = problems.lower, few_diagonal = problems.diagonal, few_upper = problems.upper;
  Kokkos::parallel_for(
      "weft bench expand", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problems.copies * rows),
      KOKKOS_LAMBDA(const Index number) {
        const LineRow at    = line_row(lines.layout, number % rows);
        const Index element = lines.layout.start(at.line) + at.row * lines.layout.stride, k = lines.coefficient(at.row, element);
        const Index i = number / rows * pitch + element;
        lower(i)      = few_lower(k);
        diagonal(i)   = few_diagonal(k);
        upper(i)      = few_upper(k);
      });
  return general;
}

/// Solutions that are no numbers, so that what was solved before cannot pass for a result.
template <class Space, class Scalar>
void forget_solutions(const Space &space, const Problems<Space, Scalar> &problems)
{
  Kokkos::deep_copy(space, problems.solution, Scalar(std::numeric_limits<RealOf<Scalar>>::quiet_NaN()));
}

/// |T x - rhs| of rows relative to |T| |x| + |rhs|; infinite where x is not finite.
template <class Space, class Scalar>
struct Residuals {
  LineProblem lines;
  Index pitch, coefficient_pitch;
  OwnedArray<Scalar, Space> lower, diagonal, upper, rhs, x;

  explicit Residuals(const Problems<Space, Scalar> &p)
      : lines(p.lines), pitch(p.pitch), coefficient_pitch(p.coefficient_pitch), lower(p.lower), diagonal(p.diagonal), upper(p.upper),
        rhs(p.rhs), x(p.solution)
  {
  }
  KOKKOS_INLINE_FUNCTION double operator()(Index copy, const LineRow &at) const
  {
    const Index stride  = lines.layout.stride;
    const Index element = lines.layout.start(at.line) + at.row * stride, i = copy * pitch + element;
    const Index k       = copy * coefficient_pitch + lines.coefficient(at.row, element);
    using Number        = InDouble<Scalar>;
    const Number before = at.row > 0 ? widened(lower(k)) * widened(x(i - stride)) : Number(0);
    const Number after  = at.row + 1 < lines.layout.length ? widened(upper(k)) * widened(x(i + stride)) : Number(0);
    const Number here = widened(diagonal(k)) * widened(x(i)), right = widened(rhs(i));
    const double scale = modulus(before) + modulus(here) + modulus(after) + modulus(right);
    const double error = scale > 0 ? modulus(before + here + after - right) / scale : scale; // 0 = 0 holds, NaN stays
    return Kokkos::isfinite(error) ? error : HUGE_VAL;
  }
};

/// The largest of a row of any copy.
template <class Space, class Scalar>
double largest_residual(const Space &space, const Problems<Space, Scalar> &problems)
{
  double largest = 0;
  const Residuals<Space, Scalar> residual(problems);
  const LineLayout layout = problems.lines.layout;
  const Index rows        = layout.rows();
  Kokkos::parallel_reduce(
      "weft bench residual", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problems.copies * rows),
      KOKKOS_LAMBDA(const Index number, double &worst) {
        worst = Kokkos::max(worst, residual(number / rows, line_row(layout, number % rows)));
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// The median over the lines of all copies of the largest of a row.
template <class Space, class Scalar>
double median_residual(const Space &space, const Problems<Space, Scalar> &problems)
{
  const Residuals<Space, Scalar> residual(problems);
  const Index count = problems.lines.layout.count(), length = problems.lines.layout.length;
  const auto worst = make_array<Space, double>(problems.copies * count);
  Kokkos::parallel_for(
      "weft bench line residuals", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problems.copies * count),
      KOKKOS_LAMBDA(const Index number) {
        double largest = 0;
        for (Index row = 0; row < length; row++) largest = Kokkos::max(largest, residual(number / count, {number % count, row}));
        worst(number) = largest;
      });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), worst);
  std::vector<double> sorted(host.data(), host.data() + host.size());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

/// |x - expected| / |expected| in the 2-norm over all copies, where the solution is known.
template <class Space, class Scalar>
double distance_from_solution(const Space &space, const Problems<Space, Scalar> &problems)
{
  double differences = 0, squares = 0;
  const LineLayout layout = problems.lines.layout;
  const Index rows = layout.rows(), pitch = problems.pitch;
  const auto values = problems.values;
  const auto x      = problems.solution;
  Kokkos::parallel_reduce(
      "weft bench distance", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problems.copies * rows),
      KOKKOS_LAMBDA(const Index number, double &difference, double &square) {
        const LineRow at      = line_row(layout, number % rows);
        const Index i         = number / rows * pitch + layout.start(at.line) + at.row * layout.stride;
        const double expected = known_solution(values, i);
        difference += square_of(widened(x(i)) - expected);
        square += expected * expected;
      },
      differences, squares);
  return std::sqrt(differences / squares);
}

/// The work of all solvers, on the first `copies` of some problems.
template <class Space, class Scalar>
class SolveWork : public Work {
public:
  SolveWork(const Problems<Space, Scalar> &problems, int copies) : problems_(problems)
  {
    problems_.copies = copies;
    forget_solutions(space_, problems_);
  }
  int copies() const final { return problems_.copies; }
  double error() override { return largest_residual(space_, problems_); }
  double forward_error() final { return solution_is_known(problems_.values) ? distance_from_solution(space_, problems_) : -1; }
  double median_error() final { return not_dominant(problems_.values) ? median_residual(space_, problems_) : -1; }

protected:
  Space space_;
  Problems<Space, Scalar> problems_;
};

} // namespace weft::bench
