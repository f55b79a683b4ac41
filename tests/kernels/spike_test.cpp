// SPIKE: any number of parts and so any depth of the recursion, and the truncated form, which must find out by itself where it may be used.
#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

MethodParameters parts(int partitions, double tolerance = 0)
{
  MethodParameters parameters;
  parameters.partitions = partitions;
  parameters.tolerance  = tolerance;
  return parameters;
}

TEST(Spike, AgreesForEveryNumberOfParts)
{
  std::mt19937 random(1);
  const auto agree = [&](int partitions, Index length) {
    for_each_scalar([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      for (const LineLayout &layout : {contiguous(length, 3, 2), strided(length, 5, 1), one_line(length)}) {
        check(Lines<Scalar>(layout, random), "spike", memory, {}, Call::solve, parts(partitions));
        check(Lines<Scalar>(layout, random), "spike", memory, {{0.7, true}, Colour::even, Transpose::yes}, Call::solve, parts(partitions));
        check(Lines<Scalar>(layout, random), "spike", memory, {{-2}, Colour::odd}, Call::solve, parts(partitions));
      }
    });
  };
  for (int partitions : {1, 2, 3, 4, 7, 16, 33, 100, 1000000}) {
    for (Index length : {1, 2, 3, 4, 5, 7, 8, 17, 65, 129, 515}) agree(partitions, length);
  }
  for (int partitions : {3, 5000, 10001}) agree(partitions, 20003); // the last two leave separators for a second level, even on a host
}

TEST(Spike, AgreesForAllFormsOfCoefficientsInPlace)
{
  std::mt19937 random(2);
  for_each_scalar([&](auto scalar, Memory memory) {
    for (const LineLayout &layout : {contiguous(777, 3), strided(600, 20), one_line(9001)}) {
      for (const LineProblem &problem : forms_of(layout)) {
        for (int partitions : {13, 300, 4500})
          check(Lines<decltype(scalar)>(problem, random), "spike", memory, {}, Call::in_place, parts(partitions));
      }
    }
  });
}

TEST(Spike, RefusesNonsense)
{
  const LineProblem problem(contiguous(100, 2));
  EXPECT_TRUE(tridiagonal_method_refuses("spike", problem, parts(-1)));
  for (double tolerance : {-1e-9, 1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(tridiagonal_method_refuses("spike", problem, parts(0, tolerance))) << tolerance;
  EXPECT_FALSE(tridiagonal_method_refuses("spike", problem, parts(7, 1e-9)));
}

/// Constant rows (off, diagonal, off) with a random right-hand side.
template <class Scalar>
Lines<Scalar> stencil(const LineProblem &problem, Scalar off, Scalar diagonal, std::mt19937 &random)
{
  Lines<Scalar> lines(problem, random);
  lines.lower.assign(lines.lower.size(), off);
  lines.upper.assign(lines.upper.size(), off);
  lines.diagonal.assign(lines.diagonal.size(), diagonal);
  return lines;
}

TEST(Spike, TruncatedAgreesWhereSpikesDecayAndWhereTheyDoNot)
{
  std::mt19937 random(3);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar           = decltype(scalar);
    const double tolerance = std::numeric_limits<RealOf<Scalar>>::epsilon();
    for (const LineLayout &layout : {contiguous(1601, 3), strided(1600, 5, 1), one_line(3203)}) {
      for (const LineProblem &problem : forms_of(layout)) {
        for (int partitions : {2, 50, 800}) {
          for (const SolveOptions<Scalar> &options : {SolveOptions<Scalar>{}, SolveOptions<Scalar>{{-0.5, true}, Colour::odd}}) {
            check(stencil<Scalar>(problem, -1, 4, random), "spike", memory, options, Call::solve, parts(partitions, tolerance));
            check(stencil<Scalar>(problem, -1, Scalar(2.02), random), "spike", memory, options, Call::solve, parts(partitions, tolerance));
          }
        }
      }
    }
  });
}

// Enough parts for separators that are cut again, even on a host: rows of eight a part couple them, forty do not.
TEST(Spike, TruncatedSkipsTheDeeperLevelsOnlyWhereItMay)
{
  std::mt19937 random(31);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar           = decltype(scalar);
    const double tolerance = std::numeric_limits<RealOf<Scalar>>::epsilon();
    for (Index length : {40000, 200000}) {
      for (const LineLayout &layout : {one_line(length), strided(length, 2)}) {
        for (const SolveOptions<Scalar> &options : {SolveOptions<Scalar>{}, SolveOptions<Scalar>{{-0.5, true}, Colour::odd}}) {
          check(stencil<Scalar>(layout, -1, 4, random), "spike", memory, options, Call::solve, parts(5000, tolerance));
          check(stencil<Scalar>(layout, -1, Scalar(2.02), random), "spike", memory, options, Call::solve, parts(5000, tolerance));
        }
      }
    }
  });
}

// A tolerance so large that dropping shows: what is dropped must be no more than it allows, and something must be, or the short cut is not
// taken. One line of many that does not decay must make all of them exact.
TEST(Spike, TruncatesOnlyWhereEverySpikeIsBelowTheTolerance)
{
  std::mt19937 random(4);
  for (Memory memory : memories()) {
    for (const LineLayout &layout : {contiguous(1600, 4), strided(1600, 4), contiguous(3200, 4)}) {
      for (bool decays : {true, false}) {
        Lines<KernelScalar> lines = stencil<KernelScalar>(layout, -1, 4, random);
        if (!decays) {
          for (Index row = 0; row < layout.length; row++) lines.diagonal[lines.at(2, row)] = 2.0001;
        }
        const double tolerance = 1e-6;
        Solving<KernelScalar> s(lines, "spike", memory, parts(40, tolerance));
        const Buffer<KernelScalar> rhs(memory, lines.rhs), x(memory, lines.start);
        s.solver.factor();
        s.solver.solve(rhs.data(), x.data());
        ASSERT_FALSE(s.solver.bad_pivot());
        const auto got = x.values(), expected = lines.expected({}, lines.start);
        double error = 0;
        for (Index line : {0, 1, 3}) {
          for (Index row = 0; row < layout.length; row++)
            error = std::max(error, modulus(got[lines.element(line, row)] - expected[lines.element(line, row)]));
        }
        if (decays) {
          EXPECT_LT(error, 4 * tolerance);
          EXPECT_GT(error, 1e-3 * tolerance);
        } else {
          EXPECT_LT(error, 1e-14);
        }
      }
    }
  }
}

TEST(Spike, ReportsTheRowOfABadPivotInEveryPlaceOfAPart)
{
  std::mt19937 random(5);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (int partitions : {1, 2, 4, 9, 30}) check_the_row_of_a_bad_pivot<Scalar>("spike", memory, parts(partitions), random);
  });
}

// A singular line, whose last pivot only the separators bring to light.
TEST(Spike, ReportsSingularLines)
{
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    std::mt19937 random(6);
    for (int partitions : {0, 2, 5, 31, 300}) {
      Lines<Scalar> lines(strided(1000, 3), random);
      for (Index row = 0; row < 1000; row++) {
        lines.lower[lines.at(1, row)] = lines.upper[lines.at(1, row)] = -1;
        lines.diagonal[lines.at(1, row)]                              = row == 0 || row == 999 ? 1 : 2;
      }
      Solving<Scalar> s(lines, "spike", memory, parts(partitions));
      s.solver.factor();
      const auto found = s.solver.bad_pivot();
      ASSERT_TRUE(found) << "parts " << partitions;
      EXPECT_EQ(found->line, 1);
    }
  });
}

TEST(Spike, ReportsPivotsThatVanishAtEveryDepth)
{
  std::mt19937 random(7);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar    = decltype(scalar);
    const auto look = [&](Index length, int partitions, Index row) {
      Lines<Scalar> lines(strided(length, 2), random);
      make_singular(lines, 1, row, random);
      Solving<Scalar> s(lines, "spike", memory, parts(partitions));
      s.solver.factor();
      const auto found = s.solver.bad_pivot();
      ASSERT_TRUE(found) << "parts " << partitions << " row " << row;
      EXPECT_EQ(found->line, 1) << "parts " << partitions << " row " << row;
    };
    for (int partitions : {1, 2, 7, 30}) {
      for (Index row = 0; row + 1 < 60; row++) look(60, partitions, row);
    }
    for (Index row = 58; row < 68; row++) look(16384, 8192, row); // row 63 is a separator of separators
  });
}

} // namespace
