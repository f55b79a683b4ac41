// Every tridiagonal method of the list against the serial twin: all lengths that matter, strides, forms of coefficients, periodicity,
// colours, transposes, updates, many right-hand sides, bad pivots.
#include "line/select.hpp"
#include "line_problem.hpp"

#include <set>
#include <string_view>

namespace {

using namespace weft;
using namespace weft::test;

constexpr auto nan_of = [](auto scalar) { return std::numeric_limits<RealOf<decltype(scalar)>>::quiet_NaN(); };

TEST(TridiagonalMethods, AgreeWithTheSerialTwinAtEveryLength)
{
  std::mt19937 random(1);
  for (Index length : {1,   2,   3,   4,   5,   7,   8,   9,   15,  16,   17,   31,   32,   33,   63,   64,   65,   97,   127,
                       128, 129, 255, 256, 257, 509, 511, 512, 513, 1021, 1023, 1024, 1025, 2047, 2048, 2049, 4099, 7919, 9973}) {
    for_each_method([&](auto method, auto scalar, Memory memory) {
      using Scalar      = decltype(scalar);
      const Index count = length < 600 ? 37 : 3;
      for (const LineLayout &layout : {contiguous(length, count), strided(length, count), contiguous(length, 2, 3), strided(length, 5, 7)})
        check(Lines<Scalar>(layout, random), method, memory);
    });
  }
}

TEST(TridiagonalMethods, AgreeForAllFormsOfCoefficients)
{
  std::mt19937 random(11);
  for (Index length : {1, 2, 3, 4, 5, 8, 33, 100, 257, 1000, 5003}) {
    for_each_method([&](auto method, auto scalar, Memory memory) {
      for (const LineLayout &layout : {contiguous(length, 5), strided(length, 4, 1)}) {
        for (const LineProblem &problem : forms_of(layout)) {
          const Lines<decltype(scalar)> lines(problem, random);
          check(lines, method, memory);
          check(lines, method, memory, {{-0.5, true}, Colour::odd});
          check(lines, method, memory, {{1}, Colour::all, Transpose::yes});
          check(lines, method, memory, {}, Call::once);
          check(lines, method, memory, {{1}, Colour::odd}, Call::once);
        }
      }
    });
  }
}

TEST(TridiagonalMethods, AgreeAtRandomShapesWithAllOptions)
{
  std::mt19937 random(2);
  const auto between = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  for (int trial = 0; trial < 60; trial++) {
    const Index box[3] = {between(1, 40), between(1, 12), between(1, 9)}, first[3] = {between(0, 9), between(0, 9), between(0, 9)};
    const LineLayout layout = lines_of_box(static_cast<int>(between(0, 2)), box, between(1, 3), first);
    for_each_method([&](auto method, auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      SolveOptions<Scalar> options;
      options.update    = {static_cast<RealOf<Scalar>>(trial % 2 ? 0.7 : 1.0), between(0, 1) == 1};
      options.colour    = static_cast<Colour>(between(-1, 1));
      options.transpose = between(0, 1) == 1 ? Transpose::yes : Transpose::no;
      options.nrhs      = static_cast<int>(between(1, 3));
      options.ld        = layout.span();
      check(Lines<Scalar>(layout, random, options.nrhs), method, memory, options);
    });
  }
}

TEST(TridiagonalMethods, TransposedLongLines)
{
  std::mt19937 random(3);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    for (Index length : {257, 3001})
      check(Lines<decltype(scalar)>(strided(length, 4), random), method, memory, {{0.5, true}, Colour::odd, Transpose::yes});
  });
}

TEST(TridiagonalMethods, SolveInPlace)
{
  std::mt19937 random(4);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    for (Index length : {1, 64, 700}) {
      for (const LineLayout &layout : {contiguous(length, 6), strided(length, 6)}) {
        for (const LineProblem &problem : forms_of(layout))
          check(Lines<decltype(scalar)>(problem, random), method, memory, {{2}}, Call::in_place);
      }
    }
  });
}

TEST(TridiagonalMethods, ManyShortLinesAndFewLongOnes)
{
  std::mt19937 random(5);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    for (const LineLayout &layout : {contiguous(3, 70001), strided(2, 70001), one_line(200003), strided(50021, 3)}) {
      check(Lines<decltype(scalar)>(layout, random), method, memory);
      check(Lines<decltype(scalar)>(layout, random), method, memory, {}, Call::once);
    }
  });
}

TEST(TridiagonalMethods, AcceptNoRowsAtAll)
{
  std::mt19937 random(6);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    check(Lines<decltype(scalar)>(contiguous(0, 0), random), method, memory);
    check(Lines<decltype(scalar)>(contiguous(5, 0), random), method, memory, {}, Call::once);
  });
}

TEST(TridiagonalMethods, NewValuesNewFactors)
{
  std::mt19937 random(61);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const LineProblem problem(strided(300, 3));
    if (tridiagonal_method_refuses(method, problem)) return;
    const Lines<Scalar> first(problem, random), second(problem, random);
    Solving<Scalar> s(first, method, memory);
    const Buffer<Scalar> rhs(memory, second.rhs), x(memory, second.start), l(memory, second.lower), d(memory, second.diagonal),
        u(memory, second.upper);
    for (Transpose transpose : {Transpose::no, Transpose::yes}) {
      s.solver.use(s.lower.data(), s.diagonal.data(), s.upper.data());
      s.solver.factor();
      s.solver.solve(rhs.data(), x.data(), {{1}, Colour::all, transpose});
      s.solver.use(l.data(), d.data(), u.data());
      s.solver.factor();
      s.solver.solve(rhs.data(), x.data(), {{1}, Colour::all, transpose});
      s.execution.wait();
      const auto got = x.values(), expected = second.expected({{1}, Colour::all, transpose}, second.start);
      for (std::size_t i = 0; i < got.size(); i++)
        ASSERT_LE(modulus(got[i] - expected[i]), 400 * std::numeric_limits<RealOf<Scalar>>::epsilon() * (1 + modulus(expected[i])))
            << method << " " << i;
    }
  });
}

TEST(TridiagonalMethods, ReportTheFirstBadPivot)
{
  std::mt19937 random(7);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    using Scalar            = decltype(scalar);
    const auto bad_pivot_of = [&](const Lines<Scalar> &lines) {
      Solving<Scalar> s(lines, method, memory);
      s.solver.factor();
      return s.solver.bad_pivot();
    };
    for (Index length : {1, 5, 300, 4000}) {
      if (tridiagonal_method_refuses(method, LineProblem(contiguous(length, 4)))) continue;
      for (Scalar bad : {Scalar(0), Scalar(nan_of(scalar)), Scalar(std::numeric_limits<RealOf<Scalar>>::infinity())}) {
        Lines<Scalar> lines(contiguous(length, 4), random);
        const Index row = length / 2;
        for (Index line : {2, 3}) { // decoupled from what is eliminated before it, so that its diagonal does not fill in
          const std::size_t i = lines.at(line, row);
          lines.diagonal[i]   = bad;
          lines.lower[i] = lines.upper[i] = 0;
        }
        const auto found = bad_pivot_of(lines);
        ASSERT_TRUE(found) << method << " length " << length << " value " << bad;
        EXPECT_EQ(found->line, 2) << method << " length " << length << " value " << bad;
        EXPECT_EQ(found->row, row) << method << " length " << length << " value " << bad;
      }
    }
    // A singular line whose zero pivot only elimination brings to light. (In long ones rounding hides it, from LAPACK too.)
    for (Index length : {2, 16, 33}) {
      if (tridiagonal_method_refuses(method, LineProblem(strided(length, 3)))) continue;
      Lines<Scalar> lines(strided(length, 3), random);
      for (Index row = 0; row < length; row++) {
        const std::size_t i = lines.at(1, row);
        lines.lower[i] = lines.upper[i] = -1;
        lines.diagonal[i]               = row == 0 || row == length - 1 ? 1 : 2;
      }
      const auto found = bad_pivot_of(lines);
      ASSERT_TRUE(found) << method << " length " << length;
      EXPECT_EQ(found->line, 1) << method;
    }
  });
}

TEST(TridiagonalMethods, IdentityRowsStayExact)
{
  std::mt19937 random(8);
  for_each_method([&](auto method, auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    Lines<Scalar> lines(contiguous(777, 5), random);
    if (tridiagonal_method_refuses(method, lines.problem)) return;
    for (std::size_t i = 0; i < lines.rhs.size(); i += 7) {
      lines.lower[i] = lines.upper[i] = 0;
      lines.diagonal[i]               = 1;
    }
    Solving<Scalar> s(lines, method, memory);
    const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
    s.solver.factor();
    s.solver.solve(rhs.data(), x.data());
    s.execution.wait();
    const auto got = x.values();
    for (std::size_t i = 0; i < got.size(); i += 7) EXPECT_EQ(got[i], lines.rhs[i]) << method << " element " << i;
  });
}

TEST(LineSolver, RefusesWrongShapesBeforeAnyLaunch)
{
  const Execution host(Memory::host);
  LineProblem closed(contiguous(3, 2));
  closed.coefficients = Coefficients::constant;
  closed.closure      = 2;
  EXPECT_THROW(LineSolver<KernelScalar>::make(host, closed, "auto"), std::invalid_argument);
  LineLayout backwards = contiguous(3, 2);
  backwards.stride     = -1;
  EXPECT_THROW(LineSolver<KernelScalar>::make(host, backwards, "auto"), std::invalid_argument);
  EXPECT_THROW(LineSolver<KernelScalar>::make(host, contiguous(3, 2), "gauss"), std::invalid_argument);
  const auto solver = LineSolver<KernelScalar>::make(host, contiguous(3, 2), "auto");
  KernelScalar x[6] = {};
  EXPECT_THROW(solver->solve_once(x, x, {{1, true}}), std::invalid_argument);
  EXPECT_THROW(solver->solve_once(x, x, {{1}, Colour::all, Transpose::yes}), std::invalid_argument);
}

TEST(Pivot, MustBeFiniteAndNotRoundingError)
{
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(usable_pivot(1.0, 3.0));
  EXPECT_TRUE(usable_pivot(-1e-300, 2e-300));
  EXPECT_TRUE(usable_pivot(1e-13, 1.0));
  EXPECT_FALSE(usable_pivot(1e-14, 1.0));
  EXPECT_FALSE(usable_pivot(1e-6f, 1.0f));
  for (double bad : {0.0, infinity, -infinity, nan}) EXPECT_FALSE(usable_pivot(bad, 1.0)) << bad;
  for (double bad : {infinity, nan}) EXPECT_FALSE(usable_pivot(1.0, bad)) << bad;
  EXPECT_FALSE(usable_pivot(0.0, 0.0));
}

TEST(SelectTridiagonal, AutoNamesAMethodThatServesAndDoesNotRefuse)
{
  std::set<std::string_view> serving;
  for_each_type<ServingMethods>([&](auto method) { serving.insert(method.name); });
  for_each_type<ComparedMethods>([&](auto method) { EXPECT_FALSE(serving.contains(method.name)) << method.name; });
  EXPECT_EQ(serving.size() + (compared_methods_built ? std::tuple_size_v<ComparedMethods> : 0), tridiagonal_method_names().size());
  for (const Measured &m : measured) EXPECT_TRUE(serving.contains(m.method)) << m.method;
  for (bool device : {false, true}) {
    for (Index length : {1, 2, 3, 100, 5000, 1000000}) {
      for (Index count : {0, 1, 1000, 1000000}) {
        for (const LineProblem &problem : forms_of(strided(length, count)))
          EXPECT_EQ(tridiagonal_method_refuses(choose_tridiagonal_method(problem, device), problem), std::nullopt);
      }
    }
  }
}

} // namespace
