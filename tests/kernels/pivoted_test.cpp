// What is special to lines that are not dominant: `pivoted` against the serial twin with partial pivoting.
#include "hard_lines.hpp"
#include "line_problem.hpp"
#include "reference/pivoted.hpp"
#include "tridiagonal/pivoted.hpp"

namespace {

using namespace weft;
using namespace weft::test;

template <class Scalar>
using Values = std::vector<Scalar>;

/// One line, its solution before rounding, the right-hand side that goes with it.
template <class Scalar>
struct Known {
  Values<Scalar> lower, diagonal, upper, rhs, x;

  Known(const HardLine &line, Values<double> solution)
      : lower(line.lower.begin(), line.lower.end()), diagonal(line.diagonal.begin(), line.diagonal.end()),
        upper(line.upper.begin(), line.upper.end()), rhs(diagonal.size()), x(solution.begin(), solution.end())
  {
    for (std::size_t i = 0; i < x.size(); i++) rhs[i] = static_cast<Scalar>(product(x, i));
  }
  long double product(const Values<Scalar> &v, std::size_t i) const
  {
    long double sum = static_cast<long double>(diagonal[i]) * v[i];
    if (i > 0) sum += static_cast<long double>(lower[i]) * v[i - 1];
    if (i + 1 < v.size()) sum += static_cast<long double>(upper[i]) * v[i + 1];
    return sum;
  }
  /// Residual of each row, relative to the row's largest coefficient and the largest |x|.
  double backward_error(const Values<Scalar> &v) const
  {
    long double worst = 0, size = 0;
    for (Scalar value : v) size = std::max(size, static_cast<long double>(std::abs(value)));
    for (std::size_t i = 0; i < v.size(); i++) {
      const long double row =
          static_cast<long double>(std::abs(diagonal[i])) + (i > 0 ? std::abs(lower[i]) : 0) + (i + 1 < v.size() ? std::abs(upper[i]) : 0);
      const long double error = std::abs(rhs[i] - product(v, i)) / (row * size + std::abs(rhs[i]));
      worst                   = error > worst || std::isnan(error) ? error : worst;
    }
    return static_cast<double>(worst);
  }
  double forward_error(const Values<Scalar> &v) const
  {
    long double difference = 0, size = 0;
    for (std::size_t i = 0; i < v.size(); i++) {
      difference += (static_cast<long double>(v[i]) - x[i]) * (static_cast<long double>(v[i]) - x[i]);
      size += static_cast<long double>(x[i]) * x[i];
    }
    return static_cast<double>(std::sqrt(difference / size));
  }
};

template <class Scalar>
Values<Scalar> solved(const Known<Scalar> &line, const LineProblem &problem, Memory memory, const MethodParameters &parameters)
{
  std::mt19937 random(0);
  Lines<Scalar> lines(problem, random);
  for (Index l = 0; l < problem.layout.count(); l++) {
    for (std::size_t row = 0; row < line.x.size(); row++) {
      const std::size_t i = lines.at(l, static_cast<Index>(row));
      lines.lower[i]      = line.lower[row];
      lines.diagonal[i]   = line.diagonal[row];
      lines.upper[i]      = line.upper[row];
      lines.rhs[i]        = line.rhs[row];
    }
  }
  Solving<Scalar> s(lines, "pivoted", memory, parameters);
  const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
  s.solver.factor();
  s.solver.solve(rhs.data(), x.data());
  s.execution.wait();
  const Values<Scalar> all = x.values();
  Values<Scalar> first(line.x.size());
  for (std::size_t row = 0; row < first.size(); row++) first[row] = all[lines.element(problem.layout.count() - 1, static_cast<Index>(row))];
  return first;
}

template <class Body>
void for_each_precision(Body &&body)
{
  for (Memory memory : memories()) {
    body(float(), memory);
    body(double(), memory);
  }
}

MethodParameters sliced(int slice)
{
  MethodParameters parameters;
  parameters.slice = slice;
  return parameters;
}

template <class Scalar>
std::optional<LineRow> bad_pivot(const Lines<Scalar> &lines, Memory memory, int slice)
{
  Solving<Scalar> s(lines, "pivoted", memory, sliced(slice));
  s.solver.factor();
  return s.solver.bad_pivot();
}

/// Lines -1 2 -1, times scale: Dirichlet ends, or Neumann ends, which make them singular.
template <class Scalar>
Lines<Scalar> laplacian(const LineLayout &layout, bool singular, double scale)
{
  std::mt19937 random(1);
  Lines<Scalar> lines(layout, random);
  for (Index line = 0; line < layout.count(); line++) {
    for (Index row = 0; row < layout.length; row++) {
      const std::size_t i = lines.at(line, row);
      const bool end      = singular && (row == 0 || row == layout.length - 1);
      lines.lower[i] = lines.upper[i] = static_cast<Scalar>(-scale);
      lines.diagonal[i]               = static_cast<Scalar>(end ? scale : 2 * scale);
    }
  }
  return lines;
}

TEST(Pivoted, ResidualsOfHardLinesAreThoseOfPartialPivoting)
{
  const std::size_t n = 512;
  for (const HardLine &hard : hard_lines(n)) {
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      std::mt19937 random(3);
      const Known<Scalar> line(hard, random_values<double>(n, random));
      const Values<Scalar> twin = reference::solve_pivoted(line.lower, line.diagonal, line.upper, line.rhs);
      if (sizeof(Scalar) == 4 && hard.name == "15 clement") return; // the solution that rounding leads to is not in range
      const double eps = std::numeric_limits<Scalar>::epsilon();
      for (const LineLayout &layout : {contiguous(static_cast<Index>(n), 3), strided(static_cast<Index>(n), 19)}) {
        for (int slice : {0, 2, 7, 64, 512}) {
          const Values<Scalar> x = solved(line, layout, memory, sliced(slice));
          const auto what        = testing::Message() << hard.name << ", " << sizeof(Scalar) << " bytes, slice " << slice;
          EXPECT_LE(line.backward_error(x), 4 * eps) << what;
          if (line.forward_error(twin) < 1e-3) {
            EXPECT_LE(line.forward_error(x), 20 * line.forward_error(twin)) << what;
          }
        }
      }
    });
  }
}

TEST(Pivoted, ResidualsStaySmallOverAMillionRows)
{
  const std::size_t n = 1 << 20;
  HardLine hard("random", n);
  std::mt19937 random(9);
  for (auto *values : {&hard.lower, &hard.diagonal, &hard.upper}) *values = random_values<double>(n, random);
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const Known<Scalar> line(hard, random_values<double>(n, random));
    const LineLayout layout = one_line(static_cast<Index>(n));
    for (int slice : {0, 32})
      EXPECT_LE(line.backward_error(solved(line, layout, memory, sliced(slice))), 16 * std::numeric_limits<Scalar>::epsilon());
    Lines<Scalar> lines(layout, random);
    lines.lower    = line.lower;
    lines.diagonal = line.diagonal;
    lines.upper    = line.upper;
    EXPECT_FALSE(bad_pivot(lines, memory, 0));
  });
}

// The line that recursive partition methods are compared with: its condition number is 1e11, so that 4 bytes grant a small residual only.
TEST(Pivoted, LongLaplacianWithConstantSolution)
{
  const std::size_t n = 524288;
  HardLine hard("-1 2 -1", n);
  for (std::size_t i = 0; i < n; i++) {
    hard.diagonal[i] = 2;
    hard.lower[i] = hard.upper[i] = -1;
  }
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const Known<Scalar> line(hard, Values<double>(n, 1.0));
    for (int slice : {0, 8, 64}) {
      const Values<Scalar> x = solved(line, one_line(static_cast<Index>(n)), memory, sliced(slice));
      EXPECT_LE(line.backward_error(x), 4 * std::numeric_limits<Scalar>::epsilon()) << slice;
      EXPECT_LE(line.forward_error(x), sizeof(Scalar) == 8 ? 1e-5 : 10) << slice;
    }
  });
}

TEST(Pivoted, SlicesOfEverySizeAndManyLevels)
{
  std::mt19937 random(21);
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (int slice : {2, 3, 16, 31, 200, Pivoted::most_slice}) {
      for (Index length : {1, 2, slice - 1, slice, slice + 1, 2 * slice + 1, 5000}) {
        for (const LineLayout &layout : {contiguous(length, 7, 2), strided(length, 11)}) {
          check(Lines<Scalar>(layout, random), "pivoted", memory, {{0.5, true}, Colour::odd}, Call::solve, sliced(slice));
          check(Lines<Scalar>(layout, random), "pivoted", memory, {}, Call::once, sliced(slice));
        }
      }
    }
    for (const LineLayout &layout : {one_line(300007), strided(100003, 3)})
      check(Lines<Scalar>(layout, random), "pivoted", memory, {}, Call::solve, sliced(2));
  });
  for (int slice : {-1, 1, Pivoted::most_slice + 1})
    EXPECT_TRUE(tridiagonal_method_refuses("pivoted", one_line(9), sliced(slice))) << slice;
}

TEST(Pivoted, ReportsSingularLinesAndNoOthers)
{
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {2, 3, 10, 512, 4096, 65536}) {
      for (double scale : {1.0, 1 / 3.0}) {
        for (int slice : {0, 2, 8, 64}) {
          const auto what = testing::Message() << sizeof(Scalar) << " bytes, length " << length << ", slice " << slice << ", scale "
                                               << scale;
          const auto found = bad_pivot(laplacian<Scalar>(one_line(length), true, scale), memory, slice);
          EXPECT_TRUE(found) << what;
          if (length <= 4096 || sizeof(Scalar) == 8) {
            EXPECT_FALSE(bad_pivot(laplacian<Scalar>(one_line(length), false, scale), memory, slice)) << what;
          }
        }
      }
    }
    // Zeros on the diagonal: regular where the length is even.
    std::mt19937 random(5);
    for (Index length : {2, 5, 8, 40, 41}) {
      Lines<Scalar> lines(contiguous(length, 3), random);
      for (Index row = 0; row < length; row++) {
        const std::size_t i = lines.at(1, row);
        lines.diagonal[i]   = 0;
        lines.lower[i] = lines.upper[i] = row % 3 ? Scalar(1) : Scalar(-1.5);
      }
      const auto found = bad_pivot(lines, memory, 0);
      EXPECT_EQ(found.has_value(), length % 2 == 1) << length;
      if (found) {
        EXPECT_EQ(found->line, 1);
      }
    }
  });
}

} // namespace
