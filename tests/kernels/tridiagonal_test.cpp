// Every tridiagonal method of select.hpp against the serial twin: all lengths that matter, strides, colours, transposes, updates, bad
// pivots.
#include "tridiagonal/select.hpp"

#include <cmath>
#include <limits>

#include "backends.hpp"
#include "reference/tridiagonal.hpp"

namespace {

using namespace weft;
using test::random_values, test::to_backend, test::to_host;

/// Random diagonally dominant lines in the layout, and what is expected of a solve.
template <class Scalar>
struct Problem {
  LineLayout layout;
  std::vector<Scalar> lower, diagonal, upper, rhs, start;

  Problem(const LineLayout &lines, std::mt19937 &random) : layout(lines)
  {
    const auto size = static_cast<std::size_t>(layout.span());
    lower           = random_values<Scalar>(size, random);
    upper           = random_values<Scalar>(size, random);
    rhs             = random_values<Scalar>(size, random);
    start           = random_values<Scalar>(size, random);
    diagonal        = random_values<Scalar>(size, random, 0.1, 1);
    for (std::size_t i = 0; i < size; i++) diagonal[i] = (i % 3 ? 1 : -1) * (diagonal[i] + std::abs(lower[i]) + std::abs(upper[i]));
    for (Index line = 0; line < layout.count(); line++) { // couplings beyond a line's ends are not to be read
      lower[element(line, 0)]                 = std::numeric_limits<Scalar>::quiet_NaN();
      upper[element(line, layout.length - 1)] = std::numeric_limits<Scalar>::quiet_NaN();
    }
  }
  std::size_t element(Index line, Index row) const { return static_cast<std::size_t>(layout.start(line) + row * layout.stride); }

  std::vector<Scalar> line_of(const std::vector<Scalar> &array, Index line) const
  {
    std::vector<Scalar> values;
    for (Index row = 0; row < layout.length; row++) values.push_back(array[element(line, row)]);
    return values;
  }

  std::vector<Scalar> expected(const SolveOptions<Scalar> &options) const
  {
    std::vector<Scalar> result = start;
    for (Index line = 0; line < layout.count(); line++) {
      if (!layout.has_colour(line, options.colour)) continue;
      std::vector<Scalar> l = line_of(lower, line), u = line_of(upper, line);
      if (options.transpose == Transpose::yes) {
        std::vector<Scalar> lt(l.size()), ut(u.size());
        for (std::size_t i = 1; i < l.size(); i++) {
          lt[i]     = u[i - 1];
          ut[i - 1] = l[i];
        }
        l = lt;
        u = ut;
      }
      const std::vector<Scalar> z = reference::solve_tridiagonal(l, line_of(diagonal, line), u, line_of(rhs, line));
      for (Index row = 0; row < layout.length; row++) {
        Scalar &x = result[element(line, row)];
        x         = options.update.scale * z[static_cast<std::size_t>(row)] + (options.update.add ? x : 0);
      }
    }
    return result;
  }
};

/// The plan of a problem's lines with its coefficients factored.
template <class Method, class Space, class Scalar>
auto factored(const Problem<Scalar> &problem)
{
  const Space space;
  const auto plan  = Method::template plan<Space, Scalar>(problem.layout);
  const auto lower = to_backend<Space>(problem.lower), diagonal = to_backend<Space>(problem.diagonal),
             upper = to_backend<Space>(problem.upper);
  Method::factor(space, plan, Tridiagonal<Scalar, Space>{lower, diagonal, upper});
  space.fence();
  return plan;
}

template <class Method, class Space, class Scalar>
void check(const Problem<Scalar> &problem, const SolveOptions<Scalar> &options, bool in_place = false)
{
  SCOPED_TRACE(testing::Message() << Method::name << ", " << sizeof(Scalar) << " bytes, length " << problem.layout.length << ", count "
                                  << problem.layout.count() << ", stride " << problem.layout.stride << ", add " << options.update.add
                                  << ", colour " << static_cast<int>(options.colour) << ", transposed "
                                  << (options.transpose == Transpose::yes) << ", in place " << in_place);
  const Space space;
  const auto plan = factored<Method, Space>(problem);
  ASSERT_FALSE(plan.flag.read(space));
  const auto rhs = to_backend<Space>(problem.rhs), solution = in_place ? rhs : to_backend<Space>(problem.start);
  Method::solve(space, plan, Array<Scalar, Space>(rhs), Array<Scalar, Space>(solution), options);
  space.fence();

  const std::vector<Scalar> got = to_host(solution), expected = problem.expected(options);
  const Scalar tolerance = 200 * std::numeric_limits<Scalar>::epsilon();
  for (std::size_t i = 0; i < got.size(); i++) {
    if (in_place && expected[i] == problem.start[i]) continue; // between the lines the right-hand side stays
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "element " << i;
  }
  if (!options.update.add && !in_place) {
    EXPECT_EQ(to_host(rhs), problem.rhs) << "the right-hand side must be kept";
  }
}

template <class Space>
class TridiagonalMethods : public testing::Test {
};
TYPED_TEST_SUITE(TridiagonalMethods, test::Backends, test::BackendName);

/// Calls body(method, scalar) for every method and precision.
template <class Body>
void for_each_method_and_precision(Body &&body)
{
  for_each_tridiagonal_method([&](auto method) {
    body(method, float());
    body(method, double());
  });
}

LineLayout strided(Index length, Index count, Index gap = 0)
{
  LineLayout layout;
  layout.length           = length;
  layout.across[0]        = count;
  layout.across_stride[0] = 1;
  layout.stride           = count + gap;
  return layout;
}

LineLayout contiguous(Index length, Index count, Index gap = 0)
{
  LineLayout layout;
  layout.length           = length;
  layout.across[0]        = count;
  layout.across_stride[0] = length + gap;
  return layout;
}

TYPED_TEST(TridiagonalMethods, AgreeWithTheSerialTwinAtEveryLength)
{
  std::mt19937 random(1);
  for (Index length : {1,   2,   3,   4,   5,   7,   8,   9,   15,  16,   17,   31,   32,   33,   63,   64,   65,   97,   127,
                       128, 129, 255, 256, 257, 509, 511, 512, 513, 1021, 1023, 1024, 1025, 2047, 2048, 2049, 4099, 7919, 9973}) {
    for_each_method_and_precision([&](auto method, auto scalar) {
      using Scalar      = decltype(scalar);
      const Index count = length < 600 ? 37 : 3;
      for (const LineLayout &layout :
           {contiguous(length, count), strided(length, count), contiguous(length, 2, 3), strided(length, 5, 7)}) {
        check<decltype(method), TypeParam>(Problem<Scalar>(layout, random), SolveOptions<Scalar>{});
      }
    });
  }
}

TYPED_TEST(TridiagonalMethods, AgreeAtRandomShapesWithAllOptions)
{
  std::mt19937 random(2);
  const auto between = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  for (int trial = 0; trial < 60; trial++) {
    const Index box[3] = {between(1, 40), between(1, 12), between(1, 9)}, first[3] = {between(0, 9), between(0, 9), between(0, 9)};
    const LineLayout layout = lines_of_box(static_cast<int>(between(0, 2)), box, between(1, 3), first);
    for_each_method_and_precision([&](auto method, auto scalar) {
      using Scalar = decltype(scalar);
      SolveOptions<Scalar> options;
      options.update    = {static_cast<Scalar>(trial % 2 ? 0.7 : 1.0), between(0, 1) == 1};
      options.colour    = static_cast<Colour>(between(0, 2));
      options.transpose = between(0, 1) == 1 ? Transpose::yes : Transpose::no;
      check<decltype(method), TypeParam>(Problem<Scalar>(layout, random), options);
    });
  }
}

TYPED_TEST(TridiagonalMethods, TransposedLongLines)
{
  std::mt19937 random(3);
  for_each_method_and_precision([&](auto method, auto scalar) {
    using Scalar = decltype(scalar);
    for (Index length : {257, 3001}) {
      check<decltype(method), TypeParam>(Problem<Scalar>(strided(length, 4), random),
                                         SolveOptions<Scalar>{{0.5, true}, Colour::odd, Transpose::yes});
    }
  });
}

TYPED_TEST(TridiagonalMethods, SolveInPlace)
{
  std::mt19937 random(4);
  for_each_method_and_precision([&](auto method, auto scalar) {
    using Scalar = decltype(scalar);
    for (Index length : {1, 64, 700}) {
      check<decltype(method), TypeParam>(Problem<Scalar>(contiguous(length, 6), random), SolveOptions<Scalar>{}, true);
      check<decltype(method), TypeParam>(Problem<Scalar>(strided(length, 6), random), SolveOptions<Scalar>{}, true);
    }
  });
}

TYPED_TEST(TridiagonalMethods, ManyShortLines)
{
  std::mt19937 random(5);
  for_each_method_and_precision([&](auto method, auto scalar) {
    using Scalar = decltype(scalar);
    check<decltype(method), TypeParam>(Problem<Scalar>(contiguous(3, 70001), random), SolveOptions<Scalar>{});
    check<decltype(method), TypeParam>(Problem<Scalar>(strided(2, 70001), random), SolveOptions<Scalar>{});
  });
}

TYPED_TEST(TridiagonalMethods, AcceptNoRowsAtAll)
{
  std::mt19937 random(6);
  for_each_method_and_precision([&](auto method, auto scalar) {
    using Scalar = decltype(scalar);
    check<decltype(method), TypeParam>(Problem<Scalar>(contiguous(0, 0), random), SolveOptions<Scalar>{});
  });
}

TYPED_TEST(TridiagonalMethods, ReportTheFirstBadPivot)
{
  std::mt19937 random(7);
  for_each_method_and_precision([&](auto method, auto scalar) {
    using Scalar = decltype(scalar);
    using Method = decltype(method);
    const std::vector<Scalar> bad_values{0, std::numeric_limits<Scalar>::quiet_NaN(), std::numeric_limits<Scalar>::infinity()};
    for (Index length : {1, 5, 300}) {
      for (Scalar bad : bad_values) {
        Problem<Scalar> problem(contiguous(length, 4), random);
        const Index row = length / 2;
        for (Index line : {2, 3}) { // decoupled from what is eliminated before it, so that its diagonal does not fill in
          const std::size_t i = problem.element(line, row);
          problem.diagonal[i] = bad;
          problem.lower[i] = problem.upper[i] = 0;
        }
        const TypeParam space;
        const auto plan = factored<Method, TypeParam>(problem);
        const auto flag = plan.flag.read(space);
        ASSERT_TRUE(flag) << Method::name << " length " << length << " value " << bad;
        EXPECT_EQ(flag->line, 2) << Method::name;
        EXPECT_EQ(flag->row, row) << Method::name << " length " << length << " value " << bad;
      }
    }
    // A singular line whose zero pivot only elimination brings to light.
    Problem<Scalar> problem(strided(16, 3), random);
    for (Index row = 0; row < 16; row++) {
      const std::size_t i = problem.element(1, row);
      problem.lower[i] = problem.upper[i] = -1;
      problem.diagonal[i]                 = row == 0 || row == 15 ? 1 : 2;
    }
    const TypeParam space;
    const auto plan = factored<Method, TypeParam>(problem);
    const auto flag = plan.flag.read(space);
    ASSERT_TRUE(flag) << Method::name;
    EXPECT_EQ(flag->line, 1) << Method::name;
  });
}

TYPED_TEST(TridiagonalMethods, IdentityRowsStayExact)
{
  std::mt19937 random(8);
  for_each_method_and_precision([&](auto method, auto scalar) {
    using Scalar = decltype(scalar);
    using Method = decltype(method);
    Problem<Scalar> problem(contiguous(77, 5), random);
    for (std::size_t i = 0; i < problem.rhs.size(); i += 7) {
      problem.lower[i] = problem.upper[i] = 0;
      problem.diagonal[i]                 = 1;
    }
    const TypeParam space;
    const auto plan = factored<Method, TypeParam>(problem);
    const auto rhs = to_backend<TypeParam>(problem.rhs), solution = to_backend<TypeParam>(problem.start);
    Method::solve(space, plan, Array<Scalar, TypeParam>(rhs), Array<Scalar, TypeParam>(solution), SolveOptions<Scalar>{});
    space.fence();
    const auto got = to_host(solution);
    for (std::size_t i = 0; i < got.size(); i += 7) EXPECT_EQ(got[i], problem.rhs[i]) << Method::name << " element " << i;
  });
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

TEST(SelectTridiagonal, AutoNamesAMethodOfTheList)
{
  for (bool device : {false, true}) {
    for (Index count : {1, 1000, 1000000}) {
      const std::string chosen = choose_tridiagonal_method(strided(100, count), device);
      bool known               = false;
      for_each_tridiagonal_method([&](auto method) { known = known || chosen == method.name; });
      EXPECT_TRUE(known) << chosen;
    }
  }
}

} // namespace
