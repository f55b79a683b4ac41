// Alternating directions against a dense serial twin; what cycles are worth; the thesis's problem.
#include "adi/adi_solver.hpp"

#include <numbers>

#include "adi_types.hpp"
#include "line_problem.hpp"
#include "reference/adi.hpp"

namespace {

using namespace weft;
using namespace weft::test;
using reference::Dense;
constexpr double pi = std::numbers::pi;

/// A matrix on a box in CSR form, in the memory of a backend.
template <class Scalar, class Int = std::int32_t>
struct Csr {
  std::vector<Int> starts{0}, columns;
  std::vector<Scalar> values;

  explicit Csr(const Dense &dense)
  {
    for (const auto &row : dense) {
      for (std::size_t j = 0; j < row.size(); j++) {
        if (row[j] != 0 || &row == &dense[j]) columns.push_back(static_cast<Int>(j)), values.push_back(static_cast<Scalar>(row[j]));
      }
      starts.push_back(static_cast<Int>(columns.size()));
    }
  }
  Csr() = default;
};

template <class Scalar>
class InMemory {
public:
  InMemory(Memory memory, const Csr<Scalar> &csr) : starts_(memory, csr.starts), columns_(memory, csr.columns), values_(memory, csr.values)
  {
  }
  CsrMatrix<Scalar, std::int32_t> matrix() const { return {starts_.data(), columns_.data(), values_.data()}; }

private:
  Buffer<std::int32_t> starts_, columns_;
  Buffer<Scalar> values_;
};

AdiBox box_of(Index nx, Index ny, Index nz = 1, Index components = 1, std::array<bool, 3> ring = {})
{
  AdiBox box;
  const Index n[3] = {nx, ny, nz};
  for (int k = 0; k < 3; k++) box.n[k] = box.global[k] = n[k], box.ring[k] = ring[static_cast<std::size_t>(k)];
  box.components = components;
  return box;
}

/// Random couplings to all neighbours on lines, to some corners and between components; a dominant diagonal.
Dense random_matrix(const AdiBox &box, bool symmetric, double leftovers, std::mt19937 &random)
{
  const auto rows = static_cast<std::size_t>(box.rows());
  Dense a(rows, reference::Vector(rows));
  std::uniform_real_distribution<double> value(0.5, 1);
  const auto set = [&](Index i, Index j, double scale) {
    if (i == j) return;
    const auto r = static_cast<std::size_t>(i), c = static_cast<std::size_t>(j);
    if (a[r][c] != 0) return;
    a[r][c] = -scale * value(random);
    a[c][r] = symmetric ? a[r][c] : -scale * value(random);
  };
  const Index c = box.components, *n = box.n, strides[3] = {c, c * n[0], c * n[0] * n[1]};
  for (Index i = 0; i < box.rows(); i++) {
    for (int k = 0; k < 3; k++) {
      const Index at = i / strides[k] % n[k];
      if (at + 1 < n[k])
        set(i, i + strides[k], 1 + k);
      else if (box.ring[k] && n[k] > 2)
        set(i, i - at * strides[k], 1 + k);
      if (at + 1 < n[k] && k < 2 && i / strides[k + 1] % n[k + 1] + 1 < n[k + 1]) set(i, i + strides[k] + strides[k + 1], leftovers);
    }
    if (i % c + 1 < c) set(i, i + 1, leftovers);
  }
  for (std::size_t i = 0; i < rows; i++) {
    double sum = 0.1 * value(random);
    for (std::size_t j = 0; j < rows; j++) sum += std::max(std::abs(a[i][j]), std::abs(a[j][i]));
    a[i][i] = sum;
  }
  return a;
}

/// The five- or seven-point Laplacian times h^2 between fixed ends.
Dense laplacian(const AdiBox &box)
{
  const auto rows = static_cast<std::size_t>(box.rows());
  Dense a(rows, reference::Vector(rows));
  const Index strides[3] = {1, box.n[0], box.n[0] * box.n[1]};
  for (Index i = 0; i < box.rows(); i++) {
    const auto r = static_cast<std::size_t>(i);
    for (int k = 0; k < 3; k++) {
      if (!box.has(k)) continue;
      const Index at = i / strides[k] % box.n[k];
      a[r][r] += 2;
      if (at > 0) a[r][static_cast<std::size_t>(i - strides[k])] = -1;
      if (at + 1 < box.n[k]) a[r][static_cast<std::size_t>(i + strides[k])] = -1;
    }
  }
  return a;
}

/// The same without a dense matrix, for larger grids.
Csr<double> laplacian_csr(Index nx, Index ny)
{
  Csr<double> csr;
  for (Index i = 0; i < nx * ny; i++) {
    const auto put = [&](bool there, Index j, double v) {
      if (there) csr.columns.push_back(static_cast<std::int32_t>(j)), csr.values.push_back(v);
    };
    put(i >= nx, i - nx, -1);
    put(i % nx > 0, i - 1, -1);
    put(true, i, 4);
    put(i % nx + 1 < nx, i + 1, -1);
    put(i + nx < nx * ny, i + nx, -1);
    csr.starts.push_back(static_cast<std::int32_t>(csr.columns.size()));
  }
  return csr;
}

std::vector<AdiShift> some_shifts(std::size_t directions, AdiType type)
{
  if (directions == 2 && type != dr) return {{3.5, 2.5, 0}, {0.5, 0.75, 0}};
  return {{3.5, 3.5, 3.5}, {0.5, 0.5, 0.5}};
}

/// Of the whole correction.
double scale_of(const AdiSweep &sweep)
{
  double scale = 1;
  for (double factor : sweep.scales) scale *= factor;
  return scale;
}

/// A cycle, or its transpose, from zero and from a guess, by the solver and by the twin.
template <class Scalar>
void check_cycle(const AdiBox &box, const Dense &a, const AdiOptions &options, Memory memory, std::mt19937 &random)
{
  SCOPED_TRACE(testing::Message() << box.n[0] << " x " << box.n[1] << " x " << box.n[2] << ", components " << box.components << ", type "
                                  << static_cast<int>(options.type) << ", symmetric " << options.symmetric << ", kept "
                                  << options.keep_factors << ", measured " << options.measure_change << ", " << options.line_solver);
  if (!sampled()) return;
  const Execution execution(memory);
  const auto made           = AdiSolver<Scalar>::make(execution, box, options);
  AdiSolver<Scalar> &solver = *made;
  const Csr<Scalar> csr(a);
  const InMemory<Scalar> matrix(memory, csr);
  ASSERT_TRUE(solver.read(matrix.matrix()).finite);
  const auto shifts = some_shifts(solver.directions().size(), options.type);
  solver.set_shifts(shifts);
  solver.factor();
  ASSERT_FALSE(solver.bad_pivot());

  const std::array<std::size_t, 3> n{static_cast<std::size_t>(box.n[0]), static_cast<std::size_t>(box.n[1]),
                                     static_cast<std::size_t>(box.n[2])};
  const reference::AdiTwin twin(a, n, static_cast<std::size_t>(box.components), {box.ring[0], box.ring[1], box.ring[2]});
  const auto rows = static_cast<std::size_t>(box.rows());
  for (Transpose transpose : {Transpose::no, Transpose::yes}) {
    for (bool zero : {true, false}) {
      const auto b = random_values<Scalar>(rows, random), start = random_values<Scalar>(rows, random);
      const Buffer<Scalar> rhs(memory, b), x(memory, start);
      solver.cycle(rhs.data(), x.data(), zero, transpose);
      execution.wait();
      reference::Vector expected(start.begin(), start.end()), before;
      if (zero) expected.assign(rows, 0);
      std::vector<AdiSweep> sweeps = solver.sweeps(transpose);
      const std::size_t count      = solver.directions().size();
      // What a cycle is made of.
      const std::size_t of_a_shift = options.type == pr && count == 2 && !options.symmetric ? 2 : 1;
      ASSERT_EQ(sweeps.size(), count == 1 ? 1 : 2 * of_a_shift);
      reference::Vector r;
      for (const AdiSweep &sweep : sweeps) {
        AdiShift placed{};
        for (std::size_t d = 0; d < count && count > 1; d++)
          placed[static_cast<std::size_t>(solver.directions()[d])] = shifts[static_cast<std::size_t>(sweep.shift)][d];
        before                = expected;
        const bool transposed = transpose == Transpose::yes;
        if (sweep.residual)
          r = reference::residual(transposed ? reference::transpose(a) : a, reference::Vector(b.begin(), b.end()), expected);
        twin.sweep(sweep.directions, placed, scale_of(sweep), r, expected, transposed, sweep.sum, sweep.residual);
      }
      const auto got         = x.values();
      const double tolerance = 2e4 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
      double change          = 0;
      for (std::size_t i = 0; i < rows; i++) {
        ASSERT_NEAR(got[i], expected[i], tolerance) << "row " << i << ", transposed " << (transpose == Transpose::yes) << ", zero " << zero;
        change = std::max(change, std::abs(expected[i] - before[i]));
      }
      if (options.measure_change) {
        EXPECT_NEAR(solver.read_change(), change, tolerance);
      }
      EXPECT_EQ(rhs.values(), b) << "the right-hand side must be kept";
    }
  }
}

const AdiBox boxes[] = {box_of(1, 1),
                        box_of(7, 1),
                        box_of(1, 1, 5),
                        box_of(5, 4),
                        box_of(1, 6, 3),
                        box_of(2, 9),
                        box_of(8, 1, 2),
                        box_of(4, 3, 5),
                        box_of(5, 4, 1, 2),
                        box_of(3, 2, 4, 3),
                        box_of(5, 4, 1, 1, {true, false, false}),
                        box_of(3, 5, 4, 1, {true, true, true}),
                        box_of(2, 1, 3, 2, {true, true, true}),
                        box_of(1, 2, 1, 1, {true, true, true})};

TEST(Adi, CyclesMatchTheTwin)
{
  std::mt19937 random(1);
  for_each_scalar([&](auto scalar, Memory memory) {
    for (const AdiBox &box : boxes) {
      for (AdiType type : {pr, dr, dg}) {
        for (bool symmetric : {false, true}) {
          AdiOptions options;
          options.type      = type;
          options.symmetric = symmetric;
          check_cycle<decltype(scalar)>(box, random_matrix(box, symmetric, 0.3, random), options, memory, random);
        }
      }
    }
  });
}

TEST(Adi, EveryLineSolverGivesTheSame)
{
  std::mt19937 random(2);
  for_each_method([&](const char *method, auto scalar, Memory memory) {
    for (const AdiBox &box : {box_of(9, 6), box_of(4, 5, 3), box_of(7, 5, 1, 1, {true, true, true})}) {
      AdiOptions options;
      options.line_solver = method;
      if (tridiagonal_method_refuses(method, box.lines(0))) continue;
      check_cycle<decltype(scalar)>(box, random_matrix(box, false, 0, random), options, memory, random);
    }
  });
}

TEST(Adi, FactorsMayBeMadeAnewAndChangesMeasured)
{
  std::mt19937 random(3);
  for_each_scalar([&](auto scalar, Memory memory) {
    for (const AdiBox &box : {box_of(9, 6), box_of(4, 5, 3), box_of(12, 1)}) {
      for (AdiType type : {pr, dr, dg}) {
        AdiOptions options;
        options.type         = type;
        options.keep_factors = false;
        check_cycle<decltype(scalar)>(box, random_matrix(box, false, 0.2, random), options, memory, random);
        options.measure_change = true;
        check_cycle<decltype(scalar)>(box, random_matrix(box, false, 0.2, random), options, memory, random);
      }
    }
  });
}

TEST(Adi, NegativeMatricesAreShiftedTheOtherWay)
{
  std::mt19937 random(4);
  for (const AdiBox &box : {box_of(6, 5), box_of(4, 3, 5)}) {
    Dense a = random_matrix(box, false, 0.1, random);
    for (auto &row : a) {
      for (double &v : row) v = -v;
    }
    for (AdiType type : {pr, dr, dg}) {
      for (bool symmetric : {false, true}) {
        AdiOptions options;
        options.type      = type;
        options.symmetric = symmetric;
        check_cycle<double>(box, a, options, Memory::host, random);
      }
    }
  }
}

TEST(Adi, CyclesOfNegativeMatricesAreThoseOfPositiveOnes)
{
  std::mt19937 random(6);
  const AdiBox box = box_of(6, 5);
  const Dense plus = random_matrix(box, false, 0.1, random);
  Dense minus      = plus;
  const auto b     = random_values<double>(30, random);
  auto minus_b     = b;
  for (auto &row : minus) {
    for (double &v : row) v = -v;
  }
  for (double &v : minus_b) v = -v;
  for (AdiType type : {pr, dr, dg}) {
    std::vector<double> found[2];
    for (const bool negative : {false, true}) {
      AdiOptions options;
      options.type = type;
      const Execution execution(Memory::host);
      const auto solver = AdiSolver<double>::make(execution, box, options);
      const Csr<double> csr(negative ? minus : plus);
      const InMemory<double> matrix(Memory::host, csr);
      solver->read(matrix.matrix());
      solver->set_shifts(some_shifts(2, type));
      solver->factor();
      const Buffer<double> rhs(Memory::host, negative ? minus_b : b), x(Memory::host, b);
      solver->cycle(rhs.data(), x.data(), true);
      execution.wait();
      found[negative] = x.values();
    }
    for (std::size_t i = 0; i < 30; i++) EXPECT_NEAR(found[1][i], found[0][i], 1e-13) << static_cast<int>(type) << ", row " << i;
  }
}

TEST(Adi, RowsOfTheIdentityCutLinesAndAreExact)
{
  std::mt19937 random(5);
  const AdiBox box = box_of(8, 7);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    Dense a      = random_matrix(box, false, 0.2, random);
    std::vector<bool> inner(56);
    for (std::size_t i = 0; i < inner.size(); i++) inner[i] = random() % 3 > 0;
    AdiOptions sum;
    sum.symmetric = true;
    for (std::size_t i = 0; i < inner.size(); i++) {
      if (inner[i]) continue;
      a[i].assign(56, 0);
      a[i][i] = 1;
    }
    const Execution execution(memory);
    const Csr<Scalar> csr(a);
    const InMemory<Scalar> matrix(memory, csr);
    check_cycle<Scalar>(box, a, sum, memory, random);
    for (AdiType type : {pr, dr, dg}) {
      AdiOptions options;
      options.type = type;
      check_cycle<Scalar>(box, a, options, memory, random);
      const auto made           = AdiSolver<Scalar>::make(execution, box, options);
      AdiSolver<Scalar> &solver = *made;
      EXPECT_EQ(solver.read(matrix.matrix()).fixed, std::count(inner.begin(), inner.end(), false));
      solver.set_shifts(some_shifts(2, type));
      solver.factor();
      const auto b = random_values<Scalar>(56, random);
      const Buffer<Scalar> rhs(memory, b), x(memory, b);
      solver.cycle(rhs.data(), x.data(), true);
      execution.wait();
      const auto got = x.values();
      for (std::size_t i = 0; i < inner.size(); i++) {
        if (!inner[i] && type == pr) {
          EXPECT_EQ(got[i], b[i]);
        }
        if (!inner[i]) {
          EXPECT_NEAR(got[i], b[i], 4 * std::numeric_limits<Scalar>::epsilon() * std::abs(b[i]));
        }
      }
    }
  });
}

TEST(Adi, SplitIsReported)
{
  std::mt19937 random(6);
  const AdiBox box = box_of(6, 5, 1, 2);
  const Dense a    = random_matrix(box, false, 0.2, random);
  const Csr<double> csr(a);
  const Execution host(Memory::host);
  const auto made           = AdiSolver<double>::make(host, box, {});
  AdiSolver<double> &solver = *made;
  const AdiSplit split      = solver.read(CsrMatrix<double, std::int32_t>{csr.starts.data(), csr.columns.data(), csr.values.data()});
  double all                = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    for (std::size_t j = 0; j < a.size(); j++) all += i == j ? 0 : std::abs(a[i][j]);
  }
  EXPECT_NEAR(split.on + split.rest, all, 1e-12 * all);
  EXPECT_GT(split.rest, 0.01 * all);
  EXPECT_EQ(split.rows, 60);
  EXPECT_EQ(split.fixed, 0);
  const Csr<double, std::int64_t> wide(a);
  const auto made_other    = AdiSolver<double>::make(host, box, {});
  AdiSolver<double> &other = *made_other;
  EXPECT_EQ(other.read(CsrMatrix<double, std::int64_t>{wide.starts.data(), wide.columns.data(), wide.values.data()}).rest, split.rest);
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (std::size_t at : {std::size_t(0), csr.values.size() - 2}) {
      Csr<double> wrong = csr;
      wrong.values[at]  = bad;
      EXPECT_FALSE(solver.read(CsrMatrix<double, std::int32_t>{wrong.starts.data(), wrong.columns.data(), wrong.values.data()}).finite);
    }
  }
}

TEST(Adi, EmptyRowsAreCounted)
{
  std::mt19937 random(9);
  Dense a = random_matrix(box_of(4, 4), false, 0, random);
  a[5].assign(16, 0);
  Csr<double> csr(a);
  const Execution host(Memory::host);
  const auto made           = AdiSolver<double>::make(host, box_of(4, 4), {});
  AdiSolver<double> &solver = *made;
  EXPECT_EQ(solver.read(CsrMatrix<double, std::int32_t>{csr.starts.data(), csr.columns.data(), csr.values.data()}).empty, 1);
}

TEST(Adi, TheSymmetricFormIsDefiniteWhateverThePartsDo)
{
  // Couplings that jump by 1000 from node to node: the parts are far from commuting.
  std::mt19937 random(10);
  const AdiBox box = box_of(7, 6);
  Dense a(42, reference::Vector(42));
  for (std::size_t i = 0; i < 42; i++) {
    for (std::size_t j : {i + 1, i + 7}) {
      if (j >= 42 || (j == i + 1 && j % 7 == 0)) continue;
      a[i][j] = a[j][i] = random() % 2 ? -1000 : -1;
    }
  }
  for (std::size_t i = 0; i < 42; i++) {
    for (std::size_t j = 0; j < 42; j++) a[i][i] += i == j ? 0.01 : std::abs(a[i][j]);
  }
  const Csr<double> csr(a);
  AdiOptions options;
  options.symmetric = true;
  const Execution host(Memory::host);
  const auto made           = AdiSolver<double>::make(host, box, options);
  AdiSolver<double> &solver = *made;
  solver.read(CsrMatrix<double, std::int32_t>{csr.starts.data(), csr.columns.data(), csr.values.data()});
  const AdiSum sum = adi_sum(solver.bounds(AdiBoundsMethod::lanczos), 0);
  solver.set_shifts(sum.shifts, sum.scale);
  solver.factor();
  // M^-1 column by column: symmetric, and its Cholesky factorization exists.
  Dense m(42, reference::Vector(42));
  for (std::size_t j = 0; j < 42; j++) {
    reference::Vector e(42);
    e[j] = 1;
    solver.cycle(e.data(), m[j].data(), true);
  }
  for (std::size_t i = 0; i < 42; i++) {
    for (std::size_t j = 0; j < 42; j++) EXPECT_NEAR(m[i][j], m[j][i], 1e-10 * std::sqrt(m[i][i] * m[j][j]));
  }
  for (std::size_t k = 0; k < 42; k++) {
    ASSERT_GT(m[k][k], 0) << k;
    for (std::size_t i = k + 1; i < 42; i++) {
      for (std::size_t j = k + 1; j < 42; j++) m[i][j] -= m[i][k] * m[k][j] / m[k][k];
    }
  }
}

TEST(Adi, BoundsOfLaplacians)
{
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar     = decltype(scalar);
    const AdiBox box = box_of(30, 20);
    const Execution execution(memory);
    const auto made           = AdiSolver<Scalar>::make(execution, box, {});
    AdiSolver<Scalar> &solver = *made;
    const Csr<Scalar> csr(laplacian(box));
    const InMemory<Scalar> matrix(memory, csr);
    const AdiSplit split = solver.read(matrix.matrix());
    EXPECT_EQ(split.excess, 0);
    EXPECT_EQ(split.rest, 0);
    const AdiBounds lanczos = solver.bounds(AdiBoundsMethod::lanczos), circles = solver.bounds(AdiBoundsMethod::gershgorin);
    for (std::size_t k : {0, 1}) {
      const double exact = 4 * std::pow(std::sin(pi / (2 * static_cast<double>(box.n[k] + 1))), 2);
      EXPECT_NEAR(lanczos[k].low, exact, 1e-3 * exact);
      EXPECT_NEAR(circles[k].low, exact, 0.01 * exact);
      EXPECT_EQ(lanczos[k].high, 4);
      EXPECT_EQ(circles[k].high, 4);
    }
  });
}

TEST(Adi, BoundsWithoutBoundaryValues)
{
  // Rings along x, fixed ends along y: the part along x is singular, and the shifts must still work.
  const AdiBox box = box_of(12, 10, 1, 1, {true, false, false});
  Dense a          = laplacian(box);
  for (std::size_t j = 0; j < 10; j++) a[12 * j][12 * j + 11] = a[12 * j + 11][12 * j] = -1;
  const Csr<double> csr(a);
  const Execution host(Memory::host);
  const auto made           = AdiSolver<double>::make(host, box, {});
  AdiSolver<double> &solver = *made;
  solver.read(CsrMatrix<double, std::int32_t>{csr.starts.data(), csr.columns.data(), csr.values.data()});
  const AdiBounds bounds = solver.bounds(AdiBoundsMethod::lanczos);
  EXPECT_EQ(bounds[0].low, 0);
  EXPECT_NEAR(bounds[1].low, 4 * std::pow(std::sin(pi / 22), 2), 1e-4);
  solver.set_shifts(adi_shifts(pr, bounds, 6));
  solver.factor();
  std::mt19937 random(7);
  auto b = random_values<double>(120, random);
  std::vector<double> x(120);
  const double before = 1e-3;
  for (int cycle = 0; cycle < 4; cycle++) solver.cycle(b.data(), x.data(), cycle == 0);
  double largest = 0;
  for (double r : reference::residual(a, b, x)) largest = std::max(largest, std::abs(r));
  EXPECT_LT(largest, before * 1e-4);
}

/// Cycles until the error is 1e-8 of what it was.
int cycles_needed(Index n, const AdiOptions &options, int length, int *sweeps)
{
  const AdiBox box      = box_of(n, n);
  const Csr<double> csr = laplacian_csr(n, n);
  const Execution host(Memory::host);
  const auto made           = AdiSolver<double>::make(host, box, options);
  AdiSolver<double> &solver = *made;
  solver.read(CsrMatrix<double, std::int32_t>{csr.starts.data(), csr.columns.data(), csr.values.data()});
  const AdiBounds bounds = solver.bounds(AdiBoundsMethod::lanczos);
  if (length == 0) length = adi_cycle_length(bounds);
  const auto shifts = adi_shifts(options.type, bounds, length);
  solver.set_shifts(shifts);
  solver.factor();
  EXPECT_FALSE(solver.bad_pivot());
  const double promised = adi_reduction(options.type, bounds, shifts);
  std::mt19937 random(8);
  const auto rows       = static_cast<std::size_t>(box.rows());
  std::vector<double> x = random_values<double>(rows, random);
  std::vector<double> zero(rows);
  const auto norm = [&] {
    double sum = 0;
    for (double v : x) sum += v * v;
    return std::sqrt(sum);
  };
  const double first = norm();
  double before = first, now = first;
  int cycles = 0;
  for (; now > 1e-8 * first && cycles < 10000; cycles++) {
    solver.cycle(zero.data(), x.data(), false);
    now = norm();
    EXPECT_LE(now, (1.02 * promised + 1e-13) * before) << n << " cycle " << cycles; // parts that commute keep the promise
    before = now;
  }
  *sweeps = cycles * length;
  return cycles;
}

TEST(Adi, CyclesKeepTheirPromiseAndTakeLogarithmicallyMany)
{
  std::vector<int> counts, single;
  for (Index n : {16, 32, 64, 128, 256}) {
    int sweeps = 0;
    cycles_needed(n, {}, 0, &sweeps);
    counts.push_back(sweeps);
    if (n <= 64) {
      cycles_needed(n, {}, 1, &sweeps);
      single.push_back(sweeps);
    }
  }
  RecordProperty("sweeps_at_256", counts.back());
  for (std::size_t k = 1; k < counts.size(); k++) EXPECT_LE(counts[k] - counts[k - 1], 6) << "each doubling adds a constant at most";
  EXPECT_LE(counts.back(), 30);
  EXPECT_GT(single[2], 1.7 * single[1]);
  EXPECT_GT(single[1], 1.7 * single[0]);
  for (AdiType type : {dr, dg}) {
    AdiOptions options;
    options.type = type;
    int small = 0, large = 0;
    cycles_needed(16, options, 4, &small);
    cycles_needed(128, options, 8, &large);
    EXPECT_LE(large, 3 * small);
  }
}

// ------------------------------------------------------------------------------------------------------------- the thesis's problem

struct Thesis {
  int iterations;
  double error;
};

/// -Laplace(u) = -5 e^(x+2y) on the unit square, or on the circle in it, N inner cells across, ghost cells with the values of e^(x+2y), one
/// layer of outer cells; one shift alpha, until an iteration changes no cell by 1e-8.
Thesis thesis(Index n, double alpha, bool circle, const std::vector<AdiShift> &cycle = {})
{
  const Index width = n + 4;
  const double h    = 1.0 / static_cast<double>(n);
  const AdiBox box  = box_of(width, width);
  Csr<double> csr;
  std::vector<double> b, exact;
  const auto is_inner = [&](Index i, Index j) {
    const double x = (static_cast<double>(i) - 1.5) * h, y = (static_cast<double>(j) - 1.5) * h;
    if (circle) return std::hypot(x - 0.5, y - 0.5) < 0.5;
    return x > 0 && x < 1 && y > 0 && y < 1;
  };
  for (Index j = 0; j < width; j++) {
    for (Index i = 0; i < width; i++) {
      const Index row = i + width * j;
      const double u  = std::exp((static_cast<double>(i) - 1.5) * h + 2 * (static_cast<double>(j) - 1.5) * h);
      bool ghost      = false;
      if (is_inner(i, j)) {
        const std::pair<Index, double> entries[] = {{row - width, -1}, {row - 1, -1}, {row, 4}, {row + 1, -1}, {row + width, -1}};
        for (const auto &[column, value] : entries) csr.columns.push_back(static_cast<std::int32_t>(column)), csr.values.push_back(value);
        b.push_back(-5 * u * h * h);
      } else {
        ghost = is_inner(i - 1, j) || is_inner(i + 1, j) || is_inner(i, j - 1) || is_inner(i, j + 1);
        csr.columns.push_back(static_cast<std::int32_t>(row));
        csr.values.push_back(1);
        b.push_back(ghost ? u : 0);
      }
      exact.push_back(is_inner(i, j) || ghost ? u : 0);
      csr.starts.push_back(static_cast<std::int32_t>(csr.columns.size()));
    }
  }
  const Execution host(Memory::host);
  const auto made           = AdiSolver<double>::make(host, box, {});
  AdiSolver<double> &solver = *made;
  solver.read(CsrMatrix<double, std::int32_t>{csr.starts.data(), csr.columns.data(), csr.values.data()});
  solver.set_shifts(cycle.empty() ? std::vector<AdiShift>{{alpha, alpha, 0}} : cycle);
  solver.factor();
  // The known values are there from the start.
  std::vector<double> x(b.size()), before;
  for (std::size_t i = 0; i < b.size(); i++) x[i] = csr.starts[i + 1] - csr.starts[i] == 1 ? b[i] : 0;
  Thesis result{0, 0};
  double change = 1;
  for (; change >= 1e-8 && result.iterations < 5000; result.iterations++) {
    before = x;
    solver.cycle(b.data(), x.data(), false);
    change = 0;
    for (std::size_t i = 0; i < b.size(); i++) change = std::max(change, std::abs(x[i] - before[i]));
  }
  for (std::size_t i = 0; i < b.size(); i++) result.error = std::max(result.error, std::abs(x[i] - exact[i]));
  return result;
}

TEST(Adi, OneShiftTakesTheThesissCountsAndTheErrorIsOfOrderTwo)
{
  const Index sizes[]       = {16, 32, 64};
  const int counts[]        = {57, 103, 192};
  const double square_err[] = {2.53e-3, 5.90e-4, 1.42e-4};
  double before[2]          = {0, 0};
  for (int k = 0; k < 3; k++) {
    const Index n       = sizes[k];
    const double alpha  = 2 * std::sin(pi / static_cast<double>(n));
    const Thesis square = thesis(n, alpha, false), circle = thesis(n, alpha, true);
    EXPECT_EQ(square.iterations, counts[k]);
    EXPECT_NEAR(square.error, square_err[k], 0.005e-3);
    EXPECT_LE(circle.iterations, counts[k]);
    EXPECT_LT(circle.error, square.error);
    if (k > 0) {
      EXPECT_GT(std::log2(before[0] / square.error), 1.9);
      EXPECT_GT(std::log2(before[1] / circle.error), 1.9);
    }
    before[0] = square.error;
    before[1] = circle.error;
  }
  EXPECT_EQ(thesis(32, 0.1, false).iterations, 127);
  EXPECT_EQ(thesis(32, 1, false).iterations, 476);
}

TEST(Adi, CyclesSolveTheThesissProblemInFewSweeps)
{
  for (Index n : {16, 64, 256}) {
    for (bool circle : {false, true}) {
      const double angle = pi / (2 * static_cast<double>(n + 1));
      const SpectralInterval one{4 * std::pow(std::sin(angle), 2), 4};
      const auto shifts = adi_shifts(pr, {one, one}, 6);
      const Thesis with = thesis(n, 0, circle, shifts);
      EXPECT_LE(with.iterations * 6, circle ? 60 : 42) << n << (circle ? " circle" : " square"); // the circle's parts do not commute
    }
  }
}

/// Five points between fixed ends, or only on cells that are inner: the others are rows of the identity. vary: couplings along y that
/// differ from column to column.
template <class Scalar>
Csr<Scalar> masked_laplacian(Index nx, Index ny, const std::function<bool(Index, Index)> &inner, bool vary)
{
  Csr<Scalar> csr;
  const auto put = [&](Index j, double v) {
    csr.columns.push_back(static_cast<std::int32_t>(j)), csr.values.push_back(static_cast<Scalar>(v));
  };
  for (Index i = 0; i < nx * ny; i++) {
    const Index x = i % nx, y = i / nx;
    const double along_y = vary ? 1 + 0.25 * std::sin(0.1 * static_cast<double>(x)) : 1;
    if (!inner(x, y)) {
      put(i, 2);
    } else {
      if (y > 0) put(i - nx, -along_y);
      if (x > 0) put(i - 1, -1);
      put(i, 2 + 2 * along_y + 0.01);
      if (x + 1 < nx) put(i + 1, -1);
      if (y + 1 < ny) put(i + nx, -along_y);
    }
    csr.starts.push_back(static_cast<std::int32_t>(csr.columns.size()));
  }
  return csr;
}

// A device solves lines of few patterns by kernels of its own.
class AdiLongLines : public testing::TestWithParam<std::pair<Index, Index>> {};

TEST_P(AdiLongLines, OfFewPatternsAreSolvedAsOthers)
{
  const auto [nx, ny] = GetParam();
  std::mt19937 random(8);
  for_each_scalar([&, nx = nx, ny = ny](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const Execution execution(memory);
    if (memory == Memory::host && nx * ny > 2000) return; // no kernels of its own
    for (const int kind : {0, 1, 2, 3}) {                 // everywhere, an ellipse, holes, other couplings in each column
      if (!sampled()) continue;
      SCOPED_TRACE(testing::Message() << nx << " x " << ny << ", kind " << kind);
      const auto inner = [&](Index x, Index y) {
        const double across = (static_cast<double>(x) + 0.5) / static_cast<double>(nx) - 0.5;
        const double along  = (static_cast<double>(y) + 0.5) / static_cast<double>(ny) - 0.5;
        return kind == 1 ? std::hypot(across, along) < 0.47 : kind == 2 ? (x * 7 + y * 13) % 101 != 0 : true;
      };
      const Csr<Scalar> csr = masked_laplacian<Scalar>(nx, ny, inner, kind == 3);
      const InMemory<Scalar> matrix(memory, csr);
      AdiOptions options, thomas;
      options.measure_change = thomas.measure_change = true;
      thomas.line_solver                             = "thomas";
      const auto made                                = AdiSolver<Scalar>::make(execution, box_of(nx, ny), options),
                 made_other                          = AdiSolver<Scalar>::make(execution, box_of(nx, ny), thomas);
      AdiSolver<Scalar> &solver = *made, &other = *made_other;
      for (AdiSolver<Scalar> *one : {&solver, &other}) {
        one->read(matrix.matrix());
        one->set_shifts({{3.5, 2.5, 0}, {0.25, 0.5, 0}});
        one->factor();
      }
      const auto rows = static_cast<std::size_t>(nx * ny);
      const auto b = random_values<Scalar>(rows, random), start = random_values<Scalar>(rows, random);
      const double tolerance = 2e3 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
      for (const bool zero : {true, false}) {
        const Buffer<Scalar> rhs(memory, b), x(memory, start), y(memory, start);
        solver.cycle(rhs.data(), x.data(), zero, Transpose::no, 2);
        other.cycle(rhs.data(), y.data(), zero);
        other.cycle(rhs.data(), y.data(), false);
        execution.wait();
        const auto got = x.values(), expected = y.values();
        for (std::size_t i = 0; i < rows; i++) ASSERT_NEAR(got[i], expected[i], tolerance) << "row " << i << ", zero " << zero;
        EXPECT_NEAR(solver.read_change(), other.read_change(), tolerance);
        EXPECT_EQ(rhs.values(), b);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, AdiLongLines,
                         testing::Values(std::pair<Index, Index>{16, 16}, std::pair<Index, Index>{33, 17}, std::pair<Index, Index>{31, 300},
                                         std::pair<Index, Index>{515, 40}, std::pair<Index, Index>{130, 513},
                                         std::pair<Index, Index>{48, 1025}, std::pair<Index, Index>{1030, 70},
                                         std::pair<Index, Index>{18, 2070}, std::pair<Index, Index>{2049, 20},
                                         std::pair<Index, Index>{16, 8192}, std::pair<Index, Index>{8193, 5}));

} // namespace
