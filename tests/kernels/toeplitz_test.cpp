// What is special to `toeplitz`: its two kernels on the host, lines of many levels, compact finite differences, accuracy, breakdowns.
#include "line/methods/toeplitz/near_toeplitz.hpp"
#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

MethodParameters cut(Index slice, int partitions = 0)
{
  MethodParameters p;
  p.slice      = slice;
  p.partitions = partitions;
  return p;
}

/// The host's sweep; a team's kernel with each number of rows a thread, many lines a team; lines of several levels.
const std::vector<MethodParameters> ways{{}, cut(4), cut(8), cut(16), cut(4, 3), cut(8, 1), cut(16, 2)};

LineProblem constant(const LineLayout &layout, Index closure, bool periodic = false)
{
  LineProblem problem(layout);
  problem.coefficients = Coefficients::constant;
  problem.closure      = closure;
  problem.periodic     = periodic;
  return problem;
}

/// Lines whose 2 closure + 1 rows are given: {lower, diagonal, upper}.
template <class Scalar>
Lines<Scalar> lines_of(const LineProblem &problem, const std::vector<std::array<double, 3>> &rows, std::mt19937 &random)
{
  Lines<Scalar> lines(problem, random);
  for (std::size_t k = 0; k < rows.size(); k++) {
    lines.lower[k]    = static_cast<Scalar>(rows[k][0]);
    lines.diagonal[k] = static_cast<Scalar>(rows[k][1]);
    lines.upper[k]    = static_cast<Scalar>(rows[k][2]);
  }
  return lines;
}

using Exact = std::vector<long double>;

/// Gaussian elimination with row exchanges.
Exact solve_pivoted(Exact lower, Exact diagonal, Exact upper, Exact rhs)
{
  const std::size_t n = rhs.size();
  Exact second(n, 0); // above upper, from exchanges
  for (std::size_t i = 0; i + 1 < n; i++) {
    if (std::abs(diagonal[i]) < std::abs(lower[i + 1])) { // row i is (diagonal, upper, 0), the next one (lower, diagonal, upper)
      std::swap(diagonal[i], lower[i + 1]);
      std::swap(upper[i], diagonal[i + 1]);
      std::swap(second[i], upper[i + 1]);
      std::swap(rhs[i], rhs[i + 1]);
    }
    const long double factor = lower[i + 1] / diagonal[i];
    diagonal[i + 1] -= factor * upper[i];
    upper[i + 1] -= factor * second[i];
    rhs[i + 1] -= factor * rhs[i];
  }
  for (std::size_t i = n; i-- > 0;) {
    if (i + 1 < n) rhs[i] -= upper[i] * rhs[i + 1];
    if (i + 2 < n) rhs[i] -= second[i] * rhs[i + 2];
    rhs[i] /= diagonal[i];
  }
  return rhs;
}

struct Outcome {
  bool reported = false;
  double error  = 0; ///< largest error by largest solution
};

template <class Scalar>
Outcome outcome(const Lines<Scalar> &lines, Memory memory, const MethodParameters &parameters)
{
  Solving<Scalar> s(lines, "toeplitz", memory, parameters);
  s.solver.factor();
  if (s.solver.bad_pivot()) return {true, 0};
  const Buffer<Scalar> rhs(memory, lines.rhs), x(memory, lines.start);
  s.solver.solve(rhs.data(), x.data());
  s.execution.wait();
  const auto got  = x.values();
  const auto wide = [](const std::vector<Scalar> &v) { return Exact(v.begin(), v.end()); };
  double error = 0, largest = 0;
  for (Index line = 0; line < lines.layout().count(); line++) {
    std::vector<Scalar> l, d, u, b(static_cast<std::size_t>(lines.layout().length));
    lines.line_of(line, Transpose::no, l, d, u);
    for (std::size_t row = 0; row < b.size(); row++) b[row] = lines.rhs[lines.element(line, static_cast<Index>(row))];
    u.back() = l[0]      = 0;
    const Exact expected = solve_pivoted(wide(l), wide(d), wide(u), wide(b));
    for (std::size_t row = 0; row < b.size(); row++) {
      const long double e = expected[row];
      error               = std::max(error, static_cast<double>(std::abs(got[lines.element(line, static_cast<Index>(row))] - e)));
      largest             = std::max(largest, static_cast<double>(std::abs(e)));
    }
  }
  return {false, error / largest};
}

/// Calls body(scalar, memory, parameters).
template <class Body>
void for_each_way(Body &&body)
{
  for (Memory memory : memories()) {
    for (const MethodParameters &parameters : ways) {
      body(float(), memory, parameters);
      body(double(), memory, parameters);
    }
  }
}

TEST(Toeplitz, EveryWayAgreesWithTheSerialTwin)
{
  std::mt19937 random(21);
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar = decltype(scalar);
    for (Index length : {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 31, 33, 48, 50, 64, 65, 100, 129, 200, 257, 530}) {
      for (const LineLayout &layout : {contiguous(length, 5), strided(length, 9, 1)}) {
        for (Index closure : {0, 1, 2, 5, 20}) {
          if (2 * closure > length) continue;
          for (bool periodic : {false, true}) {
            const Lines<Scalar> lines(constant(layout, closure, periodic), random);
            check(lines, "toeplitz", memory, {}, Call::solve, parameters);
            check(lines, "toeplitz", memory, {{-0.5, true}, Colour::odd}, Call::solve, parameters);
            check(lines, "toeplitz", memory, {{1}, Colour::even, Transpose::yes}, Call::in_place, parameters);
          }
        }
      }
    }
  });
}

/// Enough lines for blocks of 8 and of 32, and some that are left over.
TEST(Toeplitz, LinesInBlocks)
{
  std::mt19937 random(25);
  const Index many = 70 * Kokkos::DefaultHostExecutionSpace().concurrency() + 5;
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar = decltype(scalar);
    for (Index length : {1, 2, 3, 4, 5, 8, 11, 30, 130}) {
      for (const LineLayout &layout : {contiguous(length, 19), contiguous(length, 8), strided(length, many)}) {
        for (bool periodic : {false, true}) {
          const Lines<Scalar> lines(constant(layout, length > 5 ? 2 : 0, periodic), random);
          check(lines, "toeplitz", memory, {}, Call::solve, parameters);
          check(lines, "toeplitz", memory, {{-0.5, true}, Colour::odd}, Call::solve, parameters);
          check(lines, "toeplitz", memory, {{0.5, true}}, Call::solve, parameters);
          check(lines, "toeplitz", memory, {{2}}, Call::in_place, parameters);
        }
      }
    }
  });
}

TEST(Toeplitz, LongLines)
{
  std::mt19937 random(22);
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar = decltype(scalar);
    for (const LineLayout &layout : {contiguous(5003, 2), strided(4096, 3), contiguous(20011, 1), strided(16400, 11)}) {
      for (bool periodic : {false, true})
        check(Lines<Scalar>(constant(layout, 2, periodic), random), "toeplitz", memory, {{2}}, Call::in_place, parameters);
    }
  });
}

TEST(Toeplitz, ComponentsOfABox)
{
  std::mt19937 random(23);
  const Index box[3] = {19, 6, 23}, first[3] = {1, 0, 0};
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar = decltype(scalar);
    for (int direction = 0; direction < 3; direction++) {
      for (Colour colour : {Colour::all, Colour::odd})
        check(Lines<Scalar>(constant(lines_of_box(direction, box, 3, first), 1), random), "toeplitz", memory, {{1}, colour}, Call::solve,
              parameters);
    }
  });
}

const std::array<double, 3> pade_end{2, 1, 2}, pade{0.25, 1, 0.25}, sixth{1. / 3, 1, 1. / 3};

TEST(Toeplitz, CompactFiniteDifferencesWithTheirClosures)
{
  std::mt19937 random(24);
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar      = decltype(scalar);
    const double most = 8 * std::numeric_limits<Scalar>::epsilon(); // 1.8e-15 in double precision
    for (Index length : {4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 20, 31, 32, 33, 63, 64, 65, 100, 127, 128, 1000}) {
      const auto fourth = lines_of<Scalar>(constant(contiguous(length, 3), 1), {pade_end, pade, pade_end}, random);
      EXPECT_LT(outcome(fourth, memory, parameters).error, most)
          << length << " slice " << parameters.slice << " of " << parameters.partitions;
      EXPECT_FALSE(outcome(fourth, memory, parameters).reported) << length;
      if (length < 6) continue;
      const auto mixed = lines_of<Scalar>(constant(strided(length, 3), 2), {pade_end, pade, sixth, pade, pade_end}, random);
      EXPECT_LT(outcome(mixed, memory, parameters).error, most)
          << length << " slice " << parameters.slice << " of " << parameters.partitions;
      EXPECT_FALSE(outcome(mixed, memory, parameters).reported) << length;
    }
    // Three rows of it are singular.
    EXPECT_TRUE(outcome(lines_of<Scalar>(constant(contiguous(3, 2), 1), {pade_end, pade, pade_end}, random), memory, parameters).reported);
  });
}

TEST(Toeplitz, AccuracyOfKnownFamilies)
{
  struct Family {
    const char *name;
    std::vector<std::array<double, 3>> rows;
    double most_double, most_float;
    bool grows = false; ///< so much that single precision may have to refuse
  };
  const double r = 100;
  const Family families[]{
      {"Pade", {pade_end, pade, pade_end}, 2e-15, 3e-7},
      {"Poisson", {{-1, 2, -1}}, 1e-13, 2e-5},
      {"ADI r=100", {{0, 1 + r, -r}, {-r, 1 + 2 * r, -0.9 * r}, {-1.1 * r, 1 + 2.2 * r, 0}}, 6e-15, 2e-6},
      {"convection", {{-1.8, 2, -0.2}}, 1e-13, 1e-4},
      {"indefinite", {{-1, 1.9, -1}}, 3e-13, 3e-5, true},
  };
  std::mt19937 random(25);
  for (const Family &family : families) {
    const auto problem = constant(contiguous(2048, 2), static_cast<Index>(family.rows.size() / 2));
    const auto fine    = lines_of<double>(problem, family.rows, random);
    const auto coarse  = lines_of<float>(problem, family.rows, random);
    for (Memory memory : memories()) {
      for (const MethodParameters &parameters : ways) {
        const Outcome in_double = outcome(fine, memory, parameters), in_float = outcome(coarse, memory, parameters);
        const std::string what =
            std::string(family.name) + ", slice " + std::to_string(parameters.slice) + " of " + std::to_string(parameters.partitions);
        EXPECT_FALSE(in_double.reported) << what;
        EXPECT_TRUE(!in_float.reported || family.grows) << what;
        EXPECT_LT(in_double.error, family.most_double) << what;
        EXPECT_LT(in_float.error, family.most_float) << what;
      }
    }
  }
}

TEST(Toeplitz, ReportsBreakdownAndTooMuchGrowth)
{
  std::mt19937 random(26);
  const auto indefinite = [](double b) { return std::vector<std::array<double, 3>>{{-1, b, -1}}; };
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar = decltype(scalar);
    for (Index length : {64, 2048}) {
      const auto problem = constant(contiguous(length, 2), 0);
      // b * b = 2 a c: three neighbours eliminated by themselves are singular.
      EXPECT_TRUE(outcome(lines_of<Scalar>(problem, indefinite(std::sqrt(2.)), random), memory, parameters).reported);
      EXPECT_TRUE(outcome(lines_of<Scalar>(problem, indefinite(std::sqrt(2.) + 1e-9), random), memory, parameters).reported);
      EXPECT_TRUE(outcome(lines_of<Scalar>(problem, indefinite(0), random), memory, parameters).reported);
      // A leading minor of zero, the line being regular.
      const auto minor = lines_of<Scalar>(constant(contiguous(length, 2), 1), {{0, 1, 3}, sixth, {3, 1, 0}}, random);
      EXPECT_TRUE(outcome(minor, memory, parameters).reported);
      EXPECT_TRUE(outcome(lines_of<Scalar>(problem, indefinite(std::nan("")), random), memory, parameters).reported);
    }
  });
}

TEST(Toeplitz, NamesTheRowThatCannotBeEliminated)
{
  std::mt19937 random(27);
  for_each_way([&](auto scalar, Memory memory, const MethodParameters &parameters) {
    using Scalar = decltype(scalar);
    for (std::size_t row : {0, 1, 2, 3, 4}) {
      for (Scalar bad : {Scalar(0), std::numeric_limits<Scalar>::quiet_NaN(), std::numeric_limits<Scalar>::infinity()}) {
        Lines<Scalar> lines(constant(contiguous(60, 3), 2), random);
        lines.lower[row] = lines.upper[row] = 0;
        lines.diagonal[row]                 = bad;
        Solving<Scalar> s(lines, "toeplitz", memory, parameters);
        s.solver.factor();
        const auto found = s.solver.bad_pivot();
        ASSERT_TRUE(found);
        EXPECT_EQ(found->line, 0);
        EXPECT_EQ(found->row, row < 3 ? row : 55 + row) << "slice " << parameters.slice << " of " << parameters.partitions;
      }
    }
  });
}

TEST(Toeplitz, ToleranceDropsWeakCouplingsOnly)
{
  std::mt19937 random(28);
  const auto lines = lines_of<double>(constant(contiguous(2000, 1), 1), {pade_end, pade, pade_end}, random);
  for (Memory memory : memories()) {
    MethodParameters parameters = cut(8);
    EXPECT_LT(outcome(lines, memory, parameters).error, 2e-15);
    parameters.tolerance = 1e-6; // chunks of eight rows are coupled by 0.268^8, twice; after one step by 7e-10
    const double error   = outcome(lines, memory, parameters).error;
    EXPECT_GT(error, 1e-13);
    EXPECT_LT(error, 1e-6);
  }
}

NearToeplitz<long double> open_line(Index length, const std::array<double, 3> &row)
{
  return {NearToeplitzForm(length, 1, 1), false, [&](Index) { return ExactRow<long double>{row[0], row[1], row[2], 1}; }};
}

TEST(Toeplitz, WindowsOverlapByWhatRoundingErrorTakes)
{
  const auto reach = [](const std::array<double, 3> &row) { return WindowCut::reach(open_line(100000, row), 4096, 1e-16L); };
  const auto adi   = [](double r) { return std::array<double, 3>{-r, 1 + 2 * r, -r}; };
  EXPECT_EQ(reach(pade), 27);
  EXPECT_EQ(reach(sixth), 38);
  EXPECT_EQ(reach({0.1, 1, 0.1}), 16);
  EXPECT_EQ(reach({2. / 11, 1, 2. / 11}), 22);
  EXPECT_EQ(reach(adi(3)), 64);
  EXPECT_EQ(reach(adi(100)), 368);
  EXPECT_EQ(reach({-1, 2, -1}), 4096);
  EXPECT_EQ(WindowCut::of(open_line(100000, {-1, 2, -1}), 4096, 16, 1e-16L).count, 0);
  for (Index special : {1, 3, 20}) {
    for (Index length = 512; length < 3000; length++) {
      const NearToeplitz<long double> line(NearToeplitzForm(length, special, special), false, [&](Index) {
        return ExactRow<long double>{pade[0], pade[1], pade[2], 1};
      });
      const WindowCut w = WindowCut::of(line, 256, 16, 1e-16L);
      ASSERT_EQ(w.overlap, 32);
      ASSERT_GT(w.count, 0);
      ASSERT_LE(w.apart + 2 * w.overlap, w.rows);
      ASSERT_LE((w.count - 1) * w.apart + w.rows, length - special) << "special rows only in the last window";
      ASSERT_GE(w.count * w.apart, length - w.rows) << "the last window begins where the one before it still gives rows";
      ASSERT_LE(w.count * w.apart + w.overlap, length) << "and gives some itself";
      ASSERT_GE(w.apart, special);
    }
  }
}

TEST(Toeplitz, WindowsAgreeWithTheSerialTwin)
{
  std::mt19937 random(29);
  for (Memory memory : memories()) {
    for (const MethodParameters &parameters : {cut(4, 32), cut(8, 16), cut(16, 8), cut(0, 16)}) {
      for (Index length : {256, 257, 300, 384, 511, 1000, 1041, 3000}) {
        for (const LineLayout &layout : {contiguous(length, 5), strided(length, 9, 1)}) {
          const auto mixed = lines_of<double>(constant(layout, 2), {pade_end, pade, sixth, pade, pade_end}, random);
          EXPECT_LT(outcome(mixed, memory, parameters).error, 2e-15) << length;
          auto lines = lines_of<double>(constant(layout, 1), {{0, 3, 1}, pade, {0.5, 4, 0}}, random);
          check(lines, "toeplitz", memory, {{-0.5, true}, Colour::odd}, Call::solve, parameters);
          check(lines, "toeplitz", memory, {{1}, Colour::even, Transpose::yes}, Call::solve, parameters);
        }
      }
    }
  }
}

TEST(Toeplitz, LongLinesInWindowsOfTheirOwnChoice)
{
  std::mt19937 random(30);
  for (Memory memory : memories()) {
    for (Index length : {8192, 8701, 12290, 20011}) {
      LineLayout apart = contiguous(length, 3);
      apart.across_stride[0] += 5; // lines begin at odd elements too
      for (const LineLayout &layout : {contiguous(length, 2), apart}) {
        const auto mixed = lines_of<double>(constant(layout, 2), {pade_end, pade, sixth, pade, pade_end}, random);
        EXPECT_LT(outcome(mixed, memory, {}).error, 2e-15) << length;
        check(mixed, "toeplitz", memory, {{-0.5, true}, Colour::odd}, Call::solve);
        const auto coarse = lines_of<float>(constant(layout, 1), {pade_end, pade, pade_end}, random);
        EXPECT_LT(outcome(coarse, memory, {}).error, 1e-6) << length;
      }
    }
  }
}

/// Levels of cyclic reduction until the inner row's couplings are rounding error.
int levels_of(const std::array<double, 3> &row, long double tolerance)
{
  PivotWatch watch;
  NearToeplitz<long double> line(NearToeplitzForm(1 << 20, 1, 1), false, [&](Index) {
    return ExactRow<long double>{row[0], row[1], row[2], std::abs(row[0]) + std::abs(row[1]) + std::abs(row[2])};
  });
  for (int level = 0; level < 18; level++) {
    const ExactRow<long double> &inner = line.row(line.form().head);
    if (std::abs(inner.lower) + std::abs(inner.upper) < tolerance * std::abs(inner.diagonal)) return level;
    line = line.kept(line.chunks(2, watch));
  }
  return -1;
}

TEST(Toeplitz, LevelsOfCyclicReductionThatDominantLinesNeed)
{
  const auto adi = [](double r) { return std::array<double, 3>{-r, 1 + 2 * r, -r}; };
  EXPECT_EQ(levels_of(pade, 1e-16L), 5);
  EXPECT_EQ(levels_of(sixth, 1e-16L), 6);
  EXPECT_EQ(levels_of({0.1, 1, 0.1}, 1e-16L), 5);
  EXPECT_EQ(levels_of({2. / 11, 1, 2. / 11}, 1e-16L), 5);
  EXPECT_EQ(levels_of(adi(0.5), 1e-16L), 5);
  EXPECT_EQ(levels_of(adi(3), 1e-16L), 7);
  EXPECT_EQ(levels_of(adi(100), 1e-16L), 9);
  EXPECT_EQ(levels_of({-1, 2, -1}, 1e-16L), -1);
}

TEST(Toeplitz, StepsBetweenChunksStopWhereCouplingsAreRoundingError)
{
  const auto steps_of = [](const std::array<double, 3> &row, Index rows_of_chunk) {
    PivotWatch watch;
    const NearToeplitz<long double> line = open_line(4096, row);
    return ExactSteps<long double>(line.kept(line.chunks(rows_of_chunk, watch)), 1e-16L, watch).steps().size();
  };
  EXPECT_EQ(steps_of(pade, 4), 3U);
  EXPECT_EQ(steps_of(pade, 8), 2U);
  EXPECT_EQ(steps_of(pade, 16), 1U);
  EXPECT_EQ(steps_of({-1, 2, -1}, 8), 9U);
}

TEST(Toeplitz, RefusesWhatItCannotDo)
{
  const auto refuses = [](LineProblem problem, MethodParameters parameters = {}) {
    return tridiagonal_method_refuses("toeplitz", problem, parameters);
  };
  LineProblem problem(contiguous(10, 2));
  EXPECT_TRUE(refuses(problem));
  problem.coefficients = Coefficients::shared;
  EXPECT_TRUE(refuses(problem));
  problem.coefficients = Coefficients::constant;
  EXPECT_FALSE(refuses(problem));
  EXPECT_TRUE(refuses(problem, cut(5)));
  EXPECT_TRUE(refuses(problem, cut(4, -1)));
  EXPECT_TRUE(refuses(problem, cut(4, 513)));
  EXPECT_FALSE(refuses(problem, cut(4, 512)));
  for (double tolerance : {-1e-9, 1., std::nan("")}) {
    MethodParameters parameters;
    parameters.tolerance = tolerance;
    EXPECT_TRUE(refuses(problem, parameters)) << tolerance;
  }
}

} // namespace
