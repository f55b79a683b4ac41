// What is special to lines that are not dominant: `pivoted` against the serial twin with partial pivoting.
#include <array>
#include <bit>

#include "hard_lines.hpp"
#include "line/methods/pivoted/pivoted.hpp"
#include "line/methods/pivoted/pivoted_pieces.hpp"
#include "line_problem.hpp"
#include "reference/pivoted.hpp"

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

/// What the one-shot solve reports.
template <class Scalar>
std::optional<LineRow> bad_pivot_of_solve_once(const Lines<Scalar> &lines, Memory memory)
{
  Solving<Scalar> s(lines, "pivoted", memory);
  const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
  s.solver.solve_once(rhs.data(), x.data(), {});
  return s.solver.bad_pivot();
}

/// Solves a line as the native kernel does, R rows a thread, pieces joined two by two.
template <class Scalar, int R>
Values<Scalar> solved_by_native_pieces(const Known<Scalar> &line, float &least)
{
  using namespace weft::cuda;
  using Words        = std::array<Scalar, Column::words>;
  const auto n       = line.x.size();
  const auto threads = std::bit_ceil((n + R - 1) / R);
  std::vector<Rows<Scalar, R>> chunks(threads);
  std::vector<Words> pieces(threads);
  for (std::size_t t = 0; t < threads; t++) {
    Rows<Scalar, R> &chunk = chunks[t];
    float largest          = 0;
    for (int j = 0; j < R; j++) {
      const std::size_t i = t * R + static_cast<std::size_t>(j);
      chunk.lower[j]      = i > 0 && i < n ? line.lower[i] : 0;
      chunk.diagonal[j]   = i < n ? line.diagonal[i] : 1;
      chunk.upper[j]      = i + 1 < n ? line.upper[i] : 0;
      chunk.rhs[j]        = i < n ? line.rhs[i] : 0;
      const Scalar power  = scale_of(chunk.lower[j], chunk.diagonal[j], chunk.upper[j], largest);
      for (auto *values : {&chunk.lower, &chunk.diagonal, &chunk.upper, &chunk.rhs}) (*values)[j] *= power;
    }
    put_piece(pieces[t].data(), chunk.eliminate(largest < HUGE_VALF ? HUGE_VALF : 0, [](int) {}));
  }
  std::vector<std::vector<Joint<Scalar>>> joints; // level by level
  while (pieces.size() > 1) {
    std::vector<Words> joined(pieces.size() / 2, Words{});
    joints.emplace_back(joined.size());
    for (std::size_t i = 0; i < joined.size(); i++) {
      least_of(joined[i].data()) = join<Column::count>(
          static_cast<const Scalar *>(pieces[2 * i].data()), static_cast<const Scalar *>(pieces[2 * i + 1].data()), joined[i].data(),
          joints.back()[i], [](int k) { return k; }, true, true, [] {});
    }
    pieces = joined;
  }
  const Border<Scalar> ends = solve_whole(static_cast<const Scalar *>(pieces[0].data()), least);
  std::vector<Border<Scalar>> borders{{0, ends.first}, {ends.last, 0}};
  for (std::size_t level = joints.size(); level-- > 0;) {
    std::vector<Border<Scalar>> finer{borders[0]};
    for (std::size_t i = 0; i + 1 < borders.size(); i++) {
      finer.push_back(joints[level][i].solve(borders[i], borders[i + 1]));
      finer.push_back(borders[i + 1]);
    }
    borders = finer;
  }
  Values<Scalar> x(n);
  for (std::size_t t = 0; t < threads; t++) {
    chunks[t].substitute(borders[t], borders[t + 1], [&](int k, Scalar value) {
      const std::size_t i = t * R + static_cast<std::size_t>(k);
      if (i < n) x[i] = value;
    });
  }
  return x;
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

TEST(Pivoted, NativeEliminationIsAsAccurate)
{
  const auto test = [](auto scalar, const HardLine &hard) {
    using Scalar = decltype(scalar);
    std::mt19937 random(3);
    const Known<Scalar> line(hard, random_values<double>(hard.diagonal.size(), random));
    const double eps          = std::numeric_limits<Scalar>::epsilon();
    const Values<Scalar> twin = reference::solve_pivoted(line.lower, line.diagonal, line.upper, line.rhs);
    if (sizeof(Scalar) == 4 && hard.name == "15 clement") return; // the solution that rounding leads to is not in range
    const auto judge = [&](const Values<Scalar> &x, int rows) {
      const auto what = testing::Message() << hard.name << ", " << sizeof(Scalar) << " bytes, " << rows << " rows a thread";
      EXPECT_LE(line.backward_error(x), 4 * eps) << what;
      if (line.forward_error(twin) < 1e-3) {
        EXPECT_LE(line.forward_error(x), 20 * line.forward_error(twin)) << what;
      }
    };
    float least = 0;
    judge(solved_by_native_pieces<Scalar, 3>(line, least), 3);
    judge(solved_by_native_pieces<Scalar, 9>(line, least), 9);
    judge(solved_by_native_pieces<Scalar, 17>(line, least), 17);
    EXPECT_LT(least, HUGE_VALF);
  };
  for (const HardLine &hard : hard_lines(512)) {
    test(float(), hard);
    test(double(), hard);
  }
}

// Lengths at which the native form changes its shape or a warp's last rows; lines that begin at odd elements; all that a solve can be asked.
TEST(Pivoted, LinesOfOneBlock)
{
  std::mt19937 random(22);
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {129, 287, 289, 544, 545, 1087, 1089, 2177, 2903, 3265, 4351, 4352, 4353}) {
      for (Index gap : {0, 1}) {
        const LineLayout layout = contiguous(length, 7, gap);
        check(Lines<Scalar>(layout, random), "pivoted", memory, {{0.5, true}, Colour::odd});
        check(Lines<Scalar>(layout, random), "pivoted", memory, {{-2}, Colour::even});
        check(Lines<Scalar>(layout, random), "pivoted", memory, {}, Call::in_place);
        check(Lines<Scalar>(layout, random), "pivoted", memory, {}, Call::once);
      }
    }
  });
}

// Several lines for each block of a device.
TEST(Pivoted, ResidualsOfManyLines)
{
  std::mt19937 random(10);
  for (const std::size_t n : {200, 1000, 3001, 4096}) {
    HardLine hard("random", n);
    for (auto *values : {&hard.lower, &hard.diagonal, &hard.upper}) *values = random_values<double>(n, random);
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      const Known<Scalar> line(hard, random_values<double>(n, random));
      const Index count = memory == Memory::device ? 300 : 5;
      for (const Index gap : {0, 1}) {
        const Values<Scalar> x = solved(line, contiguous(static_cast<Index>(n), count, gap), memory, {});
        EXPECT_LE(line.backward_error(x), 8 * std::numeric_limits<Scalar>::epsilon()) << n << " rows, gap " << gap;
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

TEST(Pivoted, SolveOnceReportsSingularLinesAndNoOthers)
{
  std::mt19937 random(6);
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index length : {10, 129, 288, 512, 1000, 2177, 4096}) {
      const Index count = memory == Memory::device ? 300 : 3;
      EXPECT_EQ(bad_pivot_of_solve_once(laplacian<Scalar>(contiguous(length, count), true, 1 / 3.0), memory).has_value(), true) << length;
      EXPECT_FALSE(bad_pivot_of_solve_once(laplacian<Scalar>(contiguous(length, count), false, 1 / 3.0), memory)) << length;
      for (Scalar value : {Scalar(0), std::numeric_limits<Scalar>::quiet_NaN(), std::numeric_limits<Scalar>::infinity()}) {
        for (Index row : {Index(0), length / 3, length - 1}) {
          Lines<Scalar> lines(contiguous(length, 3), random);
          const std::size_t i = lines.at(1, row);
          lines.diagonal[i]   = value;
          lines.lower[i] = lines.upper[i] = 0;
          const auto found                = bad_pivot_of_solve_once(lines, memory);
          ASSERT_TRUE(found) << length << " rows, row " << row << " " << value;
          EXPECT_EQ(found->line, 1) << length << " rows, row " << row << " " << value;
          EXPECT_EQ(found->row, row) << length << " rows, row " << row << " " << value;
        }
      }
    }
    // More singular lines than blocks have threads (32, here), the first of them number 7.
    Lines<Scalar> lines = laplacian<Scalar>(contiguous(129, memory == Memory::device ? 60000 : 40), true, 1);
    for (Index line = 0; line < 7; line++) lines.diagonal[lines.at(line, 0)] = 2;
    const auto found = bad_pivot_of_solve_once(lines, memory);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->line, 7);
  });
}

} // namespace
