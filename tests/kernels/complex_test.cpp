// What complex scalars have beyond what goes over all scalars: their arithmetic, pivots that are small in one part alone, lines without a
// dominant diagonal, chunks of constant lines, Hermitian roots.
#include <array>
#include <complex>

#include "base/pivot_flag.hpp"
#include "line/line_roots.hpp"
#include "line/relax/probe.hpp"
#include "line_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;
using Std = std::complex<double>;

static_assert(complex_built && sizeof(KernelScalar) == sizeof(Std));

const Complex<double> unit(0, 1);

TEST(Complex, ComputesAsTheStandardLibraryDoes)
{
  std::mt19937 random(1);
  for (int trial = 0; trial < 1000; trial++) {
    const auto z = random_values<Complex<double>>(2, random);
    const Std a = z[0], b = z[1];
    const auto near = [](const Complex<double> &got, const Std &expected) {
      EXPECT_LE(std::abs(Std(got) - expected), 1e-15 * (1 + std::abs(expected))) << got;
    };
    near(z[0] + z[1], a + b);
    near(z[0] - z[1], a - b);
    near(-z[0], -a);
    near(z[0] * z[1], a * b);
    near(z[0] / (z[1] + 2), a / (b + 2.));
    near(2 * z[0] - z[1] / 3, 2. * a - b / 3.);
    near(1 / (z[0] + 3 * unit), 1. / (a + Std(0, 3)));
    near(conjugate(z[0]), std::conj(a));
    near(towards(2.0, z[0]), 2. * a / std::abs(a));
    EXPECT_NEAR(modulus(z[0]), std::abs(a), 1e-15);
    EXPECT_EQ(real_part(z[0]), a.real());
  }
  EXPECT_EQ(towards(2.0, Complex<double>(0)), Complex<double>(2));
  EXPECT_EQ(Complex<double>(Complex<float>(1, 2)), Complex<double>(1, 2));
}

TEST(Complex, DividesAndMeasuresWhatIsLargeAndSmall)
{
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (double size : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    const Complex<double> z(3 * size, -4 * size);
    EXPECT_NEAR(modulus(z) / size, 5, 1e-14) << size;
    EXPECT_LE(modulus(z / z - 1), 1e-15) << size;
    EXPECT_LE(modulus(1 / z * z - 1), 1e-15) << size;
    EXPECT_TRUE(finite(z));
  }
  for (const Complex<double> &bad :
       {Complex<double>(nan, 1), {1, nan}, {infinity, 1}, {1, -infinity}, {nan, infinity}, {infinity, infinity}}) {
    EXPECT_FALSE(finite(bad)) << bad;
    EXPECT_FALSE(usable_pivot(bad, 1.0)) << bad;
  }
  EXPECT_EQ(modulus(Complex<double>(0)), 0);
}

TEST(Complex, PivotsAreMeasuredByTheirModulus)
{
  EXPECT_TRUE(usable_pivot(unit, 3.0));
  EXPECT_TRUE(usable_pivot(-1e-300 * unit, 2e-300));
  EXPECT_TRUE(usable_pivot(Complex<double>(0, 1e-13), 1.0));
  EXPECT_TRUE(usable_pivot(Complex<double>(1e-20, -0.5), 1.0));
  EXPECT_FALSE(usable_pivot(Complex<double>(1e-14, 1e-14), 1.0));
  EXPECT_FALSE(usable_pivot(Complex<float>(1e-6f, 1e-6f), 1.0f));
  EXPECT_FALSE(usable_pivot(Complex<double>(0), 0.0));
}

/// Gaussian elimination with row exchanges of a whole matrix.
std::vector<Std> solve_dense(std::vector<std::vector<Std>> a, std::vector<Std> b)
{
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; i++) {
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; i++) {
      const Std factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; j++) b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return b;
}

/// The largest error of a method on a line, by the largest unknown.
double error_of(const Lines<KernelScalar> &lines, const char *method, Memory memory, Transpose transpose = Transpose::no)
{
  const auto n = static_cast<std::size_t>(lines.layout().length);
  Solving<KernelScalar> s(lines, method, memory);
  const Buffer<KernelScalar> rhs(memory, lines.rhs), x(memory, lines.start);
  s.solver.factor();
  EXPECT_FALSE(s.solver.bad_pivot()) << method;
  s.solver.solve(rhs.data(), x.data(), {{1}, Colour::all, transpose});
  s.execution.wait();
  const auto got = x.values();
  double worst   = 0;
  for (Index line = 0; line < lines.layout().count(); line++) {
    std::vector<KernelScalar> l, d, u;
    lines.line_of(line, transpose, l, d, u);
    std::vector<std::vector<Std>> dense(n, std::vector<Std>(n));
    std::vector<Std> b(n);
    for (std::size_t row = 0; row < n; row++) {
      if (row > 0 || lines.problem.periodic) dense[row][row > 0 ? row - 1 : n - 1] += Std(l[row]);
      dense[row][row] += Std(d[row]);
      if (row + 1 < n || lines.problem.periodic) dense[row][row + 1 < n ? row + 1 : 0] += Std(u[row]);
      b[row] = lines.rhs[lines.element(line, static_cast<Index>(row))];
    }
    const auto expected = solve_dense(dense, b);
    double error = 0, largest = 0;
    for (std::size_t row = 0; row < n; row++) {
      error   = std::max(error, std::abs(Std(got[lines.element(line, static_cast<Index>(row))]) - expected[row]));
      largest = std::max(largest, std::abs(expected[row]));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

TEST(ComplexLines, HelmholtzAlongALineWithAbsorption)
{
  std::mt19937 random(2);
  for (Memory memory : memories()) {
    for (bool periodic : {false, true}) {
      LineProblem problem(strided(150, 4));
      problem.periodic = periodic;
      Lines<KernelScalar> lines(problem, random);
      for (std::size_t i = 0; i < lines.diagonal.size(); i++) {
        lines.lower[i] = lines.upper[i] = -1;
        lines.diagonal[i]               = 2 - 0.4 * KernelScalar(1, -0.5);
      }
      for (const char *method : tridiagonal_method_names()) {
        if (tridiagonal_method_refuses(method, problem)) continue;
        EXPECT_LT(error_of(lines, method, memory), 1e-13) << method << " periodic " << periodic;
      }
    }
  }
}

TEST(ComplexLines, PivotedTakesWhatHasNoDiagonalAndTurnsWithIt)
{
  std::mt19937 random(3);
  for (Memory memory : memories()) {
    for (Index length : {2, 40, 150, 300}) {
      Lines<KernelScalar> lines(contiguous(length, 3), random);
      // Couplings that rotate from row to row, pivots that are 0 without an exchange: the diagonal is 0 in every second row.
      for (Index line = 0; line < 3; line++) {
        for (Index row = 0; row < length; row++) {
          const std::size_t i = lines.at(line, row);
          const double angle  = 0.7 * static_cast<double>(row + line);
          const KernelScalar turn(std::cos(angle), std::sin(angle));
          lines.diagonal[i] = row % 2 == 0 ? KernelScalar(0) : 0.1 * turn;
          lines.lower[i]    = row > 0 ? turn : lines.lower[i];
          lines.upper[i]    = row + 1 < length ? unit * turn : lines.upper[i];
        }
      }
      for (Transpose transpose : {Transpose::no, Transpose::yes}) EXPECT_LT(error_of(lines, "pivoted", memory, transpose), 1e-11) << length;
    }
  }
}

TEST(ComplexLines, TransposesAreNotAdjoints)
{
  std::mt19937 random(4);
  Lines<KernelScalar> lines(contiguous(60, 2), random);
  for (Memory memory : memories()) {
    for (const char *method : tridiagonal_method_names()) {
      if (tridiagonal_method_refuses(method, lines.problem)) continue;
      EXPECT_LT(error_of(lines, method, memory, Transpose::yes), 1e-13) << method;
    }
  }
}

TEST(ComplexLines, ToeplitzInEachOfItsWays)
{
  std::mt19937 random(5);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (Index slice : {0, 4, 8, 16}) {
      for (int partitions : {0, 2}) {
        MethodParameters parameters;
        parameters.slice      = slice;
        parameters.partitions = partitions;
        for (Index length : {5, 16, 33, 130, 1000, 3001}) {
          for (const LineLayout &layout : {contiguous(length, 9), strided(length, 9, 1)}) {
            LineProblem problem(layout);
            problem.coefficients = Coefficients::constant;
            problem.closure      = 2;
            for (bool periodic : {false, true}) {
              problem.periodic = periodic;
              const Lines<Scalar> lines(problem, random);
              check(lines, "toeplitz", memory, {}, Call::solve, parameters);
              check(lines, "toeplitz", memory, {{-0.5, true}, Colour::odd}, Call::solve, parameters);
              check(lines, "toeplitz", memory, {{1}, Colour::even, Transpose::yes}, Call::in_place, parameters);
            }
          }
        }
      }
    }
  });
}

TEST(ComplexLines, SingularRingsAreReported)
{
  std::mt19937 random(6);
  LineProblem problem(contiguous(50, 2));
  problem.periodic = true;
  Lines<KernelScalar> lines(problem, random);
  for (std::size_t i = 0; i < 50; i++) { // i times the periodic Laplacian
    lines.lower[i] = lines.upper[i] = -unit;
    lines.diagonal[i]               = 2 * unit;
  }
  for (Memory memory : memories()) {
    for (const char *method : {"thomas", "wide", "pivoted", "spike"}) {
      Solving<KernelScalar> s(lines, method, memory);
      s.solver.factor();
      const auto bad = s.solver.bad_pivot();
      ASSERT_TRUE(bad) << method;
      EXPECT_EQ(bad->line, 0) << method;
    }
  }
}

TEST(ComplexLines, ConstantLinesAreFoundByBothParts)
{
  const Index n = 12;
  std::vector<int> starts{0}, columns;
  std::vector<KernelScalar> values;
  for (int i = 0; i < n; i++) {
    for (int j : {i - 1, i, i + 1}) {
      if (j < 0 || j >= n) continue;
      columns.push_back(j);
      values.push_back(i == j ? KernelScalar(4, 1) : KernelScalar(-1, 0.5));
    }
    starts.push_back(static_cast<int>(columns.size()));
  }
  const Execution host(Memory::host);
  const LineProblem problem(one_line(n));
  const auto found = constant_lines(host, problem, CsrMatrix<KernelScalar, int>{starts.data(), columns.data(), values.data()});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->diagonal[static_cast<std::size_t>(found->closure)], KernelScalar(4, 1));
  values[static_cast<std::size_t>(starts[6]) + 1] += 1e-6 * unit;
  EXPECT_FALSE(constant_lines(host, problem, CsrMatrix<KernelScalar, int>{starts.data(), columns.data(), values.data()}));
}

TEST(ComplexLines, RootsOfHermitianLines)
{
  const Index n = 30;
  std::vector<int> starts{0}, columns;
  std::vector<KernelScalar> values;
  const auto coupling = [](int i) { return KernelScalar(std::cos(i), std::sin(i)); }; // of row i to row i - 1
  for (int i = 0; i < n; i++) {
    const std::array<KernelScalar, 3> row{coupling(i), KernelScalar(3), conjugate(coupling(i + 1))};
    for (int j : {i - 1, i, i + 1}) {
      if (j < 0 || j >= n) continue;
      columns.push_back(j);
      values.push_back(row[static_cast<std::size_t>(j - i + 1)]);
    }
    starts.push_back(static_cast<int>(columns.size()));
  }
  const Execution host(Memory::host);
  const auto roots = LineRoots<KernelScalar>::make(host, one_line(n));
  const CsrMatrix<KernelScalar, int> matrix{starts.data(), columns.data(), values.data()};
  roots->read(matrix);
  ASSERT_FALSE(roots->bad_pivot());
  std::mt19937 random(7);
  const auto x = random_values<KernelScalar>(static_cast<std::size_t>(n), random);
  std::vector<KernelScalar> b(x.size()), half(x.size()), back(x.size());
  for (int i = 0; i < n; i++) {
    for (int k = starts[static_cast<std::size_t>(i)]; k < starts[static_cast<std::size_t>(i) + 1]; k++)
      b[static_cast<std::size_t>(i)] +=
          values[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(columns[static_cast<std::size_t>(k)])];
  }
  roots->solve_left(1, b.data(), half.data());
  roots->solve_right(1, half.data(), back.data());
  for (std::size_t i = 0; i < x.size(); i++) EXPECT_LE(modulus(back[i] - x[i]), 1e-14) << i;
  // The halves are each other's adjoints: (right y, z) = (y, left z).
  const auto y = random_values<KernelScalar>(x.size(), random), z = random_values<KernelScalar>(x.size(), random);
  roots->solve_right(1, y.data(), half.data());
  roots->solve_left(1, z.data(), back.data());
  KernelScalar one = 0, other = 0;
  for (std::size_t i = 0; i < x.size(); i++) {
    one += conjugate(z[i]) * half[i];
    other += conjugate(back[i]) * y[i];
  }
  EXPECT_LE(modulus(one - other), 1e-14);
  values[0] = KernelScalar(3, 1e-3);
  roots->read(matrix);
  ASSERT_TRUE(roots->bad_pivot()) << "a diagonal that is not real is not Hermitian";
}

TEST(ComplexProbe, MeasuresModuli)
{
  // One row, 2i x = b: x = 1 leaves b - 2i.
  const std::vector<int> starts{0, 1}, columns{0};
  const std::vector<KernelScalar> values{2 * unit}, b{KernelScalar(3, 6)}, x{1};
  const Execution host(Memory::host);
  ProbeRows<std::int32_t> rows;
  rows.rows            = 1;
  rows.inside          = {starts.data(), columns.data(), values.data()};
  const ProbeSums sums = probe_sums(host, rows, 1, nullptr, b.data(), x.data());
  EXPECT_NEAR(sums.residual, 25, 1e-13);
  EXPECT_NEAR(sums.rhs, 45, 1e-13);
  EXPECT_NEAR(sums.backward, 25 / std::pow(std::sqrt(45) + 2, 2), 1e-14);
  EXPECT_NEAR(probe_sizes(host, rows).logarithms, 1, 1e-15);
}

} // namespace
