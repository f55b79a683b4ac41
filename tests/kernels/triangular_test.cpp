// Triangular solves of all methods against plain substitution.
#include <cmath>
#include <limits>
#include <set>

#include "backends.hpp"
#include "crout/triangles/triangular_solver_impl.hpp"
#include "crout/triangular_solver.hpp"
#include "reference/triangular.hpp"

namespace {

using namespace weft;
using test::random_values, test::to_backend, test::to_host;

enum class Shape { diagonal_only, bidiagonal, sparse, dense_rows, dense, grid, far };

/// Column numbers of row i of a strict triangle, `step` -1 for the lower one; distances are below n.
std::set<Index> pattern_of_row(Shape shape, Index n, Index i, bool lower, std::mt19937 &random)
{
  const Index room = lower ? i : n - 1 - i;
  std::set<Index> distances;
  const auto add = [&](Index distance) {
    if (distance >= 1 && distance <= room) distances.insert(distance);
  };
  switch (shape) {
  case Shape::diagonal_only:
    break;
  case Shape::bidiagonal:
    add(1);
    break;
  case Shape::sparse:
    for (int k = 0; k < 4; k++) {
      if (random() % 2) add(1 + static_cast<Index>(random() % static_cast<unsigned>(n)));
    }
    break;
  case Shape::dense_rows:
    add(static_cast<Index>(random() % 7));
    if (i % 61 == 5) {
      for (Index d = 1; d <= room; d++) add(d);
    }
    break;
  case Shape::dense:
    for (Index d = 1; d <= room; d++) add(d);
    break;
  case Shape::grid:
    add(1), add(40), add(1600);
    break;
  case Shape::far:
    add(1), add(n / 2), add(n - 500);
    break;
  }
  std::set<Index> columns;
  for (Index d : distances) columns.insert(lower ? i - d : i + d);
  return columns;
}

/// Random factors; entries of a row add up to at most `size`, so that solutions stay moderate for size < 1.
template <class Scalar>
reference::Triangles<Scalar> random_triangles(Shape shape, Index n, std::mt19937 &random, double size = 0.9)
{
  reference::Triangles<Scalar> t;
  const auto add_row = [&](auto &starts, auto &columns, auto &values, Index i, bool lower, double scale) {
    const auto pattern = pattern_of_row(shape, n, i, lower, random);
    for (Index j : pattern) {
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back(random_values<Scalar>(1, random)[0] * static_cast<Scalar>(scale / static_cast<double>(pattern.size())));
    }
    starts.push_back(static_cast<std::int64_t>(columns.size()));
  };
  for (Index i = 0; i < n; i++) {
    const Scalar d = random_values<Scalar>(1, random, 0.5, 3)[0] * (random() % 2 ? 1 : -1);
    t.diagonal.push_back(d);
    add_row(t.lower_starts, t.lower_columns, t.lower_values, i, true, size);
    add_row(t.upper_starts, t.upper_columns, t.upper_values, i, false, size * std::abs(static_cast<double>(d)));
  }
  return t;
}

/// The same in the memory of a backend.
template <class Space, class Scalar>
struct OnBackend {
  Kokkos::View<std::int64_t *, typename Space::memory_space> lower_starts, upper_starts;
  Kokkos::View<std::int32_t *, typename Space::memory_space> lower_columns, upper_columns;
  Kokkos::View<Scalar *, typename Space::memory_space> lower_values, upper_values, diagonal;

  explicit OnBackend(const reference::Triangles<Scalar> &t)
      : lower_starts(to_backend<Space>(t.lower_starts)), upper_starts(to_backend<Space>(t.upper_starts)),
        lower_columns(to_backend<Space>(t.lower_columns)), upper_columns(to_backend<Space>(t.upper_columns)),
        lower_values(to_backend<Space>(t.lower_values)), upper_values(to_backend<Space>(t.upper_values)),
        diagonal(to_backend<Space>(t.diagonal))
  {
  }
  SparseTriangles<Scalar> triangles(bool symmetric = false) const
  {
    SparseTriangles<Scalar> s{static_cast<Index>(diagonal.size()),
                              lower_starts.data(),
                              lower_columns.data(),
                              lower_values.data(),
                              upper_starts.data(),
                              upper_columns.data(),
                              upper_values.data(),
                              diagonal.data(),
                              static_cast<std::int64_t>(lower_columns.size()),
                              static_cast<std::int64_t>(upper_columns.size()),
                              symmetric};
    if (symmetric) s.upper_starts = nullptr, s.upper_columns = nullptr, s.upper_values = nullptr, s.upper_entries = 0;
    return s;
  }
};

/// Orders and scalings of rows and columns, and what they do to vectors of the reference.
struct Transform {
  std::vector<std::int32_t> row_order, column_order;
  std::vector<double> row_scale, column_scale;

  Transform(Index n, std::mt19937 &random)
  {
    for (Index i = 0; i < n; i++) row_order.push_back(static_cast<std::int32_t>(i));
    column_order = row_order;
    std::shuffle(row_order.begin(), row_order.end(), random);
    std::shuffle(column_order.begin(), column_order.end(), random);
    row_scale    = random_values<double>(row_order.size(), random, 0.5, 2);
    column_scale = random_values<double>(row_order.size(), random, 0.5, 2);
  }
  static std::vector<double> take(const std::vector<double> &v, const std::vector<std::int32_t> &order, const std::vector<double> &scale)
  {
    std::vector<double> taken;
    for (std::size_t i = 0; i < order.size(); i++) taken.push_back(scale[i] * v[static_cast<std::size_t>(order[i])]);
    return taken;
  }
  static std::vector<double> give(const std::vector<double> &v, const std::vector<std::int32_t> &order, const std::vector<double> &scale)
  {
    std::vector<double> given(v.size());
    for (std::size_t i = 0; i < order.size(); i++) given[static_cast<std::size_t>(order[i])] = scale[i] * v[i];
    return given;
  }
};

double largest(const std::vector<double> &v)
{
  double most = 0;
  for (double x : v) most = std::max(most, std::abs(x));
  return most;
}

void expect_near(const std::vector<double> &x, const std::vector<double> &expected, double tolerance, const std::string &what)
{
  ASSERT_EQ(x.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); i++) worst = std::isnan(x[i]) ? HUGE_VAL : std::max(worst, std::abs(x[i] - expected[i]));
  EXPECT_LE(worst, tolerance * largest(expected)) << what;
}

template <class Scalar>
constexpr double rounding = 200 * std::numeric_limits<Scalar>::epsilon();

struct Case {
  Shape shape;
  Index n;
};
const Case cases[] = {{Shape::sparse, 0},          {Shape::sparse, 1},       {Shape::sparse, 2},     {Shape::sparse, 3},
                      {Shape::sparse, 127},        {Shape::sparse, 128},     {Shape::sparse, 1009},  {Shape::bidiagonal, 2},
                      {Shape::bidiagonal, 97},     {Shape::bidiagonal, 601}, {Shape::dense_rows, 7}, {Shape::dense_rows, 401},
                      {Shape::dense, 37},          {Shape::dense, 131},      {Shape::grid, 4001},    {Shape::diagonal_only, 1},
                      {Shape::diagonal_only, 1300}};

std::string name_of(const Case &c)
{
  return "shape " + std::to_string(static_cast<int>(c.shape)) + ", n " + std::to_string(c.n);
}

template <class Space>
class Triangular : public testing::Test {
protected:
  /// Solves as on a device, and the library's own as on a host. Of two backends of a host the first one alone does so in single precision.
  template <class Scalar>
  static std::vector<std::unique_ptr<TriangularSolver<Scalar>>> solvers(TriangularMethod method, const TriangularOptions &options = {},
                                                                        bool as_device = true)
  {
    std::vector<std::unique_ptr<TriangularSolver<Scalar>>> all;
    constexpr bool first = std::is_same_v<Space, test::FirstBackend>, host = std::is_same_v<Space, HostBackend>;
    if constexpr (first || !host || std::is_same_v<Scalar, double>) {
      if (as_device) all.push_back(std::make_unique<triangular::TriangularSolverImpl<Space, Scalar, true>>(Space(), method, options));
    }
    if constexpr (host) all.push_back(std::make_unique<triangular::TriangularSolverImpl<Space, Scalar, false>>(Space(), method, options));
    return all;
  }
  /// Several threads of a busy host wait long for each other: there the tests with many solves leave that to Serial, which takes the same path.
  static bool wait_for_each_other() { return !triangular::on_host<Space> || Space().concurrency() == 1; }
  template <class Scalar>
  static std::vector<double> solve(TriangularSolver<Scalar> &solver, TriangularPart part, const std::vector<double> &rhs, int nrhs = 1,
                                   Index ld = 0)
  {
    const auto b = to_backend<Space>(rhs), x = to_backend<Space>(std::vector<double>(rhs.size(), -7));
    solver.solve(part, b.data(), x.data(), nrhs, ld);
    Space().fence();
    return to_host(x);
  }
  /// All parts of a solve against substitution.
  template <class Scalar>
  static void check_all(TriangularSolver<Scalar> &solver, const reference::Triangles<Scalar> &t, std::mt19937 &random,
                        const std::string &what)
  {
    const OnBackend<Space, Scalar> given(t);
    const auto n                = static_cast<Index>(t.rows());
    const double tolerance      = rounding<Scalar>;
    const std::vector<double> b = random_values<double>(t.rows(), random);
    solver.analyse(given.triangles(), {});
    solver.update(given.triangles());
    expect_near(solve(solver, TriangularPart::both, b), solve_upper(t, solve_lower(t, b)), tolerance, what);
    expect_near(solve(solver, TriangularPart::forward, b), solve_lower(t, b), tolerance, what + " forward");
    expect_near(solve(solver, TriangularPart::backward, b), solve_upper(t, b), tolerance, what + " backward");
    expect_near(solve(solver, TriangularPart::transposed, b), solve_lower_transposed(t, solve_upper_transposed(t, b)), tolerance,
                what + " transposed");

    const Transform transform(n, random);
    const auto row_order = to_backend<Space>(transform.row_order), column_order = to_backend<Space>(transform.column_order);
    const auto row_scale = to_backend<Space>(transform.row_scale), column_scale = to_backend<Space>(transform.column_scale);
    solver.analyse(given.triangles(), {row_order.data(), column_order.data(), row_scale.data(), column_scale.data()});
    solver.update(given.triangles());
    const auto taken    = Transform::take(b, transform.row_order, transform.row_scale);
    const auto expected = Transform::give(solve_upper(t, solve_lower(t, taken)), transform.column_order, transform.column_scale);
    expect_near(solve(solver, TriangularPart::both, b), expected, tolerance, what + " permuted");
    expect_near(solve(solver, TriangularPart::backward, solve(solver, TriangularPart::forward, b)), expected, tolerance,
                what + " in halves");
    const auto taken_t = Transform::take(b, transform.column_order, transform.column_scale);
    expect_near(solve(solver, TriangularPart::transposed, b),
                Transform::give(solve_lower_transposed(t, solve_upper_transposed(t, taken_t)), transform.row_order, transform.row_scale),
                tolerance, what + " permuted and transposed");

    // Eleven at once: four, four and three; what lies between them stays.
    const Index apart = n + 3;
    const auto many   = random_values<double>(static_cast<std::size_t>(11 * apart), random);
    for (const TriangularPart part : {TriangularPart::transposed}) {
      const auto x = solve(solver, part, many, 11, apart);
      for (Index k = 0; k < 11; k++) {
        const std::vector<double> one(many.begin() + k * apart, many.begin() + k * apart + n);
        expect_near({x.begin() + k * apart, x.begin() + k * apart + n},
                    part == TriangularPart::both
                        ? Transform::give(solve_upper(t, solve_lower(t, Transform::take(one, transform.row_order, transform.row_scale))),
                                          transform.column_order, transform.column_scale)
                        : Transform::give(solve_lower_transposed(t, solve_upper_transposed(t, Transform::take(one, transform.column_order,
                                                                                                              transform.column_scale))),
                                          transform.row_order, transform.row_scale),
                    tolerance, what + " many");
        for (Index gap = n; gap < apart; gap++) EXPECT_EQ(x[static_cast<std::size_t>(k * apart + gap)], -7);
      }
    }
  }
};
TYPED_TEST_SUITE(Triangular, test::Backends, test::BackendName);

TYPED_TEST(Triangular, ExactMethodsMatchSubstitution)
{
  std::mt19937 random(21);
  for (const Case &c : cases) {
    const auto d = random_triangles<double>(c.shape, c.n, random);
    const auto f = random_triangles<float>(c.shape, c.n, random);
    for (const auto method : {TriangularMethod::levels, TriangularMethod::syncfree}) {
      const std::string what = name_of(c) + ", method " + std::to_string(static_cast<int>(method));
      const bool wait        = this->wait_for_each_other();
      for (auto &solver : this->template solvers<double>(method, {}, wait)) this->check_all(*solver, d, random, what);
      for (auto &solver : this->template solvers<float>(method, {}, wait)) this->check_all(*solver, f, random, what + " float");
    }
  }
}

TYPED_TEST(Triangular, JacobiWithAsManyStepsAsLevelsIsExact)
{
  std::mt19937 random(22);
  for (const Case &c : cases) {
    if (c.n > 150) continue; // a launch for each step
    const auto t = random_triangles<double>(c.shape, c.n, random);
    const OnBackend<TypeParam, double> given(t);
    const auto s   = given.triangles();
    const auto low = triangular::find_levels(
        TypeParam(), triangular::Triangle<double>{s.rows, s.lower_entries, s.lower_starts, s.lower_columns, nullptr, true});
    const auto up = triangular::find_levels(
        TypeParam(), triangular::Triangle<double>{s.rows, s.upper_entries, s.upper_starts, s.upper_columns, nullptr, false});
    TriangularOptions options;
    options.steps = static_cast<int>(std::max<Index>({1, low.count() - 1, up.count() - 1}));
    for (auto &solver : this->template solvers<double>(TriangularMethod::jacobi, options)) this->check_all(*solver, t, random, name_of(c));
  }
}

TYPED_TEST(Triangular, JacobiStepsAreThoseOfTheIteration)
{
  std::mt19937 random(23);
  const auto t = random_triangles<double>(Shape::sparse, 211, random);
  const OnBackend<TypeParam, double> given(t);
  const auto b = random_values<double>(t.rows(), random);
  for (int steps : {1, 2, 3, 4, 7}) {
    const auto iterate = [&](const std::vector<std::int64_t> &starts, const std::vector<std::int32_t> &columns,
                             const std::vector<double> &values, const std::vector<double> *diagonal, const std::vector<double> &r) {
      std::vector<double> x = r;
      if (diagonal) {
        for (std::size_t i = 0; i < x.size(); i++) x[i] /= (*diagonal)[i];
      }
      for (int k = 0; k < steps; k++) {
        std::vector<double> next = r;
        for (std::size_t i = 0; i < x.size(); i++) {
          for (auto e = starts[i]; e < starts[i + 1]; e++) next[i] -= values[e] * x[columns[e]];
          if (diagonal) next[i] /= (*diagonal)[i];
        }
        x = next;
      }
      return x;
    };
    const auto y        = iterate(t.lower_starts, t.lower_columns, t.lower_values, nullptr, b);
    const auto expected = iterate(t.upper_starts, t.upper_columns, t.upper_values, &t.diagonal, y);
    TriangularOptions options;
    options.steps = steps;
    for (auto &solver : this->template solvers<double>(TriangularMethod::jacobi, options)) {
      solver->analyse(given.triangles(), {});
      solver->update(given.triangles());
      expect_near(this->solve(*solver, TriangularPart::both, b), expected, 1e-13, std::to_string(steps) + " steps");
      expect_near(this->solve(*solver, TriangularPart::forward, b), y, 1e-13, std::to_string(steps) + " steps forward");
    }
  }
}

TYPED_TEST(Triangular, SymmetricFactorsNeedNoUpperTriangle)
{
  std::mt19937 random(24);
  for (const Case &c : cases) {
    auto t = random_triangles<double>(c.shape, c.n, random, 0.5);
    const OnBackend<TypeParam, double> given(t);
    const auto b = random_values<double>(t.rows(), random);
    auto y       = solve_lower(t, b);
    for (std::size_t i = 0; i < y.size(); i++) y[i] /= t.diagonal[i];
    const auto expected = solve_lower_transposed(t, y);
    for (const auto method : {TriangularMethod::levels, TriangularMethod::syncfree, TriangularMethod::jacobi}) {
      TriangularOptions options;
      options.steps = 100;
      for (auto &solver : this->template solvers<double>(method, options, this->wait_for_each_other())) {
        solver->analyse(given.triangles(true), {});
        solver->update(given.triangles(true));
        expect_near(this->solve(*solver, TriangularPart::both, b), expected, 1e-12, name_of(c));
        expect_near(this->solve(*solver, TriangularPart::transposed, b), expected, 1e-12, name_of(c) + " transposed");
        expect_near(this->solve(*solver, TriangularPart::backward, this->solve(*solver, TriangularPart::forward, b)), expected, 1e-12,
                    name_of(c) + " halves");
      }
    }
  }
}

/// M T = I on the pattern of T, row by row and densely.
template <class Scalar>
std::vector<std::vector<double>> dense_isai(const std::vector<std::vector<double>> &triangle)
{
  const std::size_t n = triangle.size();
  std::vector<std::vector<double>> m(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; i++) {
    std::vector<std::size_t> s;
    for (std::size_t j = 0; j < n; j++) {
      if (triangle[i][j] != 0) s.push_back(j);
    }
    // Gaussian elimination with pivoting of T(s, s)^T m = e_i.
    const std::size_t k = s.size();
    std::vector<std::vector<double>> a(k, std::vector<double>(k + 1));
    for (std::size_t p = 0; p < k; p++) {
      for (std::size_t q = 0; q < k; q++) a[p][q] = triangle[s[q]][s[p]];
      a[p][k] = s[p] == i;
    }
    for (std::size_t c = 0; c < k; c++) {
      std::size_t best = c;
      for (std::size_t p = c; p < k; p++) {
        if (std::abs(a[p][c]) > std::abs(a[best][c])) best = p;
      }
      std::swap(a[c], a[best]);
      for (std::size_t p = 0; p < k; p++) {
        if (p == c) continue;
        const double factor = a[p][c] / a[c][c];
        for (std::size_t q = c; q <= k; q++) a[p][q] -= factor * a[c][q];
      }
    }
    for (std::size_t p = 0; p < k; p++) m[i][s[p]] = a[p][k] / a[p][p];
  }
  return m;
}

TYPED_TEST(Triangular, IsaiIsTheInverseOnThePattern)
{
  std::mt19937 random(25);
  for (const Case &c : {Case{Shape::diagonal_only, 5}, Case{Shape::bidiagonal, 31}, Case{Shape::sparse, 83}, Case{Shape::dense_rows, 64},
                        Case{Shape::dense, 17}, Case{Shape::sparse, 1}, Case{Shape::sparse, 0}}) {
    const auto t        = random_triangles<double>(c.shape, c.n, random, 2);
    const std::size_t n = t.rows();
    std::vector<std::vector<double>> l(n, std::vector<double>(n)), u = l;
    for (std::size_t i = 0; i < n; i++) {
      l[i][i] = 1, u[i][i] = t.diagonal[i];
      for (auto k = t.lower_starts[i]; k < t.lower_starts[i + 1]; k++) l[i][t.lower_columns[k]] = t.lower_values[k];
      for (auto k = t.upper_starts[i]; k < t.upper_starts[i + 1]; k++) u[i][t.upper_columns[k]] = t.upper_values[k];
    }
    const auto ml = dense_isai<double>(l), mu = dense_isai<double>(u);
    const auto multiply = [n](const auto &m, const std::vector<double> &v, bool transposed) {
      std::vector<double> product(n);
      for (std::size_t i = 0; i < n; i++) {
        for (std::size_t j = 0; j < n; j++) product[i] += (transposed ? m[j][i] : m[i][j]) * v[j];
      }
      return product;
    };
    const OnBackend<TypeParam, double> given(t);
    const auto b = random_values<double>(n, random);
    for (auto &solver : this->template solvers<double>(TriangularMethod::isai)) {
      solver->analyse(given.triangles(), {});
      solver->update(given.triangles());
      expect_near(this->solve(*solver, TriangularPart::forward, b), multiply(ml, b, false), 1e-12, name_of(c) + " forward");
      expect_near(this->solve(*solver, TriangularPart::backward, b), multiply(mu, b, false), 1e-12, name_of(c) + " backward");
      expect_near(this->solve(*solver, TriangularPart::both, b), multiply(mu, multiply(ml, b, false), false), 1e-12, name_of(c));
      expect_near(this->solve(*solver, TriangularPart::transposed, b), multiply(ml, multiply(mu, b, true), true), 1e-12,
                  name_of(c) + " transposed");
      if (c.shape == Shape::dense || c.shape == Shape::diagonal_only)
        expect_near(this->solve(*solver, TriangularPart::both, b), solve_upper(t, solve_lower(t, b)), 1e-11, name_of(c) + " exact");
    }
  }
}

TYPED_TEST(Triangular, AutoTakesJacobiWhereTheProbeAllowsAndElseAnExactSolve)
{
  std::mt19937 random(26);
  const Index n = 300;
  for (const double size : {0.3, 8.0}) { // contraction; growth by powers of 4 along the chain
    const auto t = random_triangles<double>(Shape::bidiagonal, n, random, size);
    const OnBackend<TypeParam, double> given(t);
    const auto b        = random_values<double>(t.rows(), random);
    const auto expected = solve_upper(t, solve_lower(t, b));
    triangular::TriangularSolverImpl<TypeParam, double, true> solver(TypeParam(), TriangularMethod::automatic, {});
    solver.analyse(given.triangles(), {});
    solver.update(given.triangles());
    ASSERT_TRUE(solver.facts().probe);
    if (size < 1) {
      EXPECT_EQ(solver.facts().in_use, TriangularMethod::jacobi);
      EXPECT_LE(*solver.facts().probe, TriangularOptions().small_tolerance);
      expect_near(this->solve(solver, TriangularPart::both, b), expected, 1e-2, "contraction");
    } else {
      EXPECT_EQ(solver.facts().in_use, TriangularMethod::syncfree);
      EXPECT_GT(*solver.facts().probe, TriangularOptions().small_tolerance);
      expect_near(this->solve(solver, TriangularPart::both, b), expected, 1e-12, "growth");
      expect_near(this->solve(solver, TriangularPart::transposed, b), solve_lower_transposed(t, solve_upper_transposed(t, b)), 1e-12,
                  "growth");
    }
    // Other values of the same pattern bring the other choice.
    const auto other = random_triangles<double>(Shape::bidiagonal, n, random, size < 1 ? 8.0 : 0.3);
    const OnBackend<TypeParam, double> changed(other);
    solver.update(changed.triangles());
    EXPECT_EQ(solver.facts().in_use, size < 1 ? TriangularMethod::syncfree : TriangularMethod::jacobi);
    expect_near(this->solve(solver, TriangularPart::both, b), solve_upper(other, solve_lower(other, b)), 1e-2, "changed values");
    // Unless the first probe is to stand.
    TriangularOptions options;
    options.probe_again = false;
    triangular::TriangularSolverImpl<TypeParam, double, true> once(TypeParam(), TriangularMethod::automatic, options);
    once.analyse(given.triangles(), {});
    once.update(given.triangles());
    once.update(changed.triangles());
    EXPECT_EQ(once.facts().in_use, size < 1 ? TriangularMethod::jacobi : TriangularMethod::syncfree);
    once.analyse(changed.triangles(), {});
    once.update(changed.triangles());
    EXPECT_EQ(once.facts().in_use, size < 1 ? TriangularMethod::syncfree : TriangularMethod::jacobi);
  }
}

TYPED_TEST(Triangular, ExactSolvesPassOnWhatIsNotFinite)
{
  std::mt19937 random(27);
  const auto t = random_triangles<double>(Shape::bidiagonal, 50, random);
  const OnBackend<TypeParam, double> given(t);
  auto b = random_values<double>(50, random);
  b[20]  = Kokkos::bit_cast<double>(triangular::unfinished_bits<double>); // must not be waited for
  b[30]  = HUGE_VAL;
  triangular::TriangularSolverImpl<TypeParam, double, true> solver(TypeParam(), TriangularMethod::syncfree, {});
  solver.analyse(given.triangles(), {});
  solver.update(given.triangles());
  const auto y = this->solve(solver, TriangularPart::forward, b);
  for (std::size_t i = 0; i < 50; i++) EXPECT_EQ(std::isfinite(y[i]), i < 20) << i;
}

TYPED_TEST(Triangular, RowsSharedByLanesAndLevelsSharedByTeams)
{
  std::mt19937 random(28);
  const auto t = random_triangles<double>(Shape::dense_rows, 300, random);
  const OnBackend<TypeParam, double> given(t);
  const auto s = given.triangles();
  const triangular::Triangle<double> lower{s.rows, s.lower_entries, s.lower_starts, s.lower_columns, s.lower_values, true};
  const auto b = random_values<double>(t.rows(), random);
  const auto r = to_backend<TypeParam>(b), x = to_backend<TypeParam>(b), y = to_backend<TypeParam>(b);
  const auto levels    = triangular::find_levels(TypeParam(), lower);
  const auto in_blocks = triangular::find_levels(TypeParam(), lower, !triangular::on_host<TypeParam>, true);
  for (const int lanes : {4, 32}) {
    triangular::Half<double> half;
    half.triangle = lower;
    half.in       = triangular::inner<1>(r.data());
    half.out      = triangular::inner<1>(y.data());
    for (const Index narrow : {Index(0), Index(3), s.rows}) { // levels up to so many rows share a team
      Kokkos::deep_copy(x, -7);
      triangular::level_half<1>(TypeParam(), half, levels, lanes, x.data(), narrow);
      TypeParam().fence();
      expect_near(to_host(x), solve_lower(t, b), 1e-13, "levels");
    }
    triangular::Ticket<TypeParam> one("one"), two("two");
    triangular::refresh(TypeParam(), x.data(), y.data(), one, two, s.rows);
    triangular::syncfree_half<1>(TypeParam(), half, in_blocks, lanes, x.data(), one);
    TypeParam().fence();
    expect_near(to_host(y), solve_lower(t, b), 1e-13, "sync-free");
  }
}

TYPED_TEST(Triangular, OneTeamTakesTheSameJacobiSteps)
{
  std::mt19937 random(31);
  const auto t = random_triangles<double>(Shape::sparse, 150, random);
  const OnBackend<TypeParam, double> given(t);
  const auto s = given.triangles();
  const Transform transform(s.rows, random);
  const auto row_order = to_backend<TypeParam>(transform.row_order);
  const auto row_scale = to_backend<TypeParam>(transform.row_scale);
  const auto b         = to_backend<TypeParam>(random_values<double>(t.rows(), random));
  const auto x = to_backend<TypeParam>(random_values<double>(t.rows(), random)), y = to_backend<TypeParam>(to_host(x));
  const auto work         = to_backend<TypeParam>(std::vector<double>(3 * t.rows()));
  double *const arrays[3] = {work.data(), work.data() + s.rows, work.data() + 2 * s.rows};
  triangular::Half<double> first, second;
  first.triangle  = {s.rows, s.lower_entries, s.lower_starts, s.lower_columns, s.lower_values, true};
  first.in        = {b.data(), 1, 0, row_order.data(), row_scale.data()};
  first.after     = s.diagonal;
  second.triangle = {s.rows, s.upper_entries, s.upper_starts, s.upper_columns, s.upper_values, false};
  second.scale    = s.diagonal;
  for (const int steps : {1, 2, 3, 6}) {
    second.out = triangular::inner<1>(x.data());
    triangular::jacobi_small<1>(TypeParam(), first, second, steps, arrays);
    second.out      = triangular::inner<1>(y.data());
    double *next[3] = {arrays[0], arrays[1], arrays[2]};
    auto other      = second;
    triangular::pass_on<1>(triangular::jacobi_half<1>(TypeParam(), first, {}, steps, 1, arrays), other, next);
    triangular::jacobi_half<1>(TypeParam(), other, {}, steps, 1, {next[0], next[1], next[2]});
    TypeParam().fence();
    EXPECT_EQ(to_host(x), to_host(y)) << steps;
  }
}

/// In slices, with 16- and 32-bit distances, as in compressed rows; rows too different in length get none.
template <class TypeParam, class Scalar>
void check_slices(Shape shape, Index n, bool sliced)
{
  std::mt19937 random(30);
  const auto t = random_triangles<Scalar>(shape, n, random);
  const OnBackend<TypeParam, Scalar> given(t);
  const auto s = given.triangles();
  triangular::Half<Scalar> halves[2];
  halves[0].triangle   = {s.rows, s.lower_entries, s.lower_starts, s.lower_columns, s.lower_values, true};
  halves[1].triangle   = {s.rows, s.upper_entries, s.upper_starts, s.upper_columns, s.upper_values, false};
  halves[1].scale      = s.diagonal;
  const auto b         = to_backend<TypeParam>(random_values<double>(t.rows(), random));
  const auto x         = to_backend<TypeParam>(random_values<double>(t.rows(), random));
  const auto work      = to_backend<TypeParam>(std::vector<double>(3 * t.rows()));
  const double epsilon = std::numeric_limits<Scalar>::epsilon();
  for (auto &half : halves) {
    triangular::Slices<TypeParam, Scalar> slices;
    slices.analyse(TypeParam(), half.triangle);
    ASSERT_EQ(slices.sliced().starts != nullptr, sliced) << n;
    const double bound = slices.update(TypeParam(), half.triangle, half.scale);
    half.in            = triangular::inner<1>(b.data());
    half.out           = triangular::inner<1>(x.data());
    std::vector<double> results[2];
    for (const bool with : {false, true}) {
      triangular::jacobi_half<1>(TypeParam(), half, with ? slices.sliced() : triangular::Sliced<Scalar>(), 3, 1,
                                 {work.data(), work.data() + n, work.data() + 2 * n});
      TypeParam().fence();
      results[with] = to_host(x);
    }
    expect_near(results[1], results[0], 50 * epsilon, "slices");
    double largest     = 0;
    const auto &starts = &half == halves ? t.lower_starts : t.upper_starts;
    const auto &values = &half == halves ? t.lower_values : t.upper_values;
    for (std::size_t i = 0; i < t.rows(); i++) {
      double sum = 0;
      for (auto k = starts[i]; k < starts[i + 1]; k++) sum += std::abs(static_cast<double>(values[static_cast<std::size_t>(k)]));
      largest = std::max(largest, sum * (half.scale ? std::abs(static_cast<double>(t.diagonal[i])) : 1));
    }
    EXPECT_NEAR(bound, largest, 10 * epsilon * largest);
  }
}

TYPED_TEST(Triangular, SlicesTakeTheSameJacobiSteps)
{
  for (const Index n : {1, 31, 32, 33, 1000, 4099}) check_slices<TypeParam, double>(Shape::grid, n, true);
  check_slices<TypeParam, float>(Shape::grid, 4099, true);
  check_slices<TypeParam, double>(Shape::far, 70000, true);
  check_slices<TypeParam, double>(Shape::dense_rows, 1000, false);
}

TYPED_TEST(Triangular, AutoAndJacobiSolveInSlices)
{
  std::mt19937 random(31);
  const Index n = 3000;
  const auto t  = random_triangles<double>(Shape::grid, n, random, 0.5);
  const OnBackend<TypeParam, double> given(t);
  const auto b = random_values<double>(t.rows(), random);
  for (const TriangularMethod method : {TriangularMethod::automatic, TriangularMethod::jacobi}) {
    TriangularOptions options;
    options.steps = options.fewest_steps = 30;
    triangular::TriangularSolverImpl<TypeParam, double, true> solver(TypeParam(), method, options);
    solver.analyse(given.triangles(), {});
    solver.update(given.triangles());
    EXPECT_EQ(solver.facts().in_use, TriangularMethod::jacobi);
    EXPECT_EQ(solver.facts().bounded, method == TriangularMethod::automatic);
    expect_near(this->solve(solver, TriangularPart::both, b), solve_upper(t, solve_lower(t, b)), 1e-8, "both");
    expect_near(this->solve(solver, TriangularPart::forward, b), solve_lower(t, b), 1e-8, "forward");
    expect_near(this->solve(solver, TriangularPart::backward, b), solve_upper(t, b), 1e-8, "backward");
    expect_near(this->solve(solver, TriangularPart::transposed, b), solve_lower_transposed(t, solve_upper_transposed(t, b)), 1e-8,
                "transposed");
  }
}

/// Where each step leaves a share q of the residual at most, the fewest steps with q^(steps + 1) <= certain.
TYPED_TEST(Triangular, AutoTakesFewerStepsWhereTheirResidualIsCertain)
{
  std::mt19937 random(32);
  const Index n = 3000;
  const auto b  = random_values<double>(n, random);
  /// A chain whose rows have the one entry -q in both triangles, and the diagonal 1.
  const auto chain = [&](double q) {
    auto t = random_triangles<double>(Shape::bidiagonal, n, random, 0.5);
    for (auto *values : {&t.lower_values, &t.upper_values}) std::fill(values->begin(), values->end(), -q);
    std::fill(t.diagonal.begin(), t.diagonal.end(), 1.0);
    return t;
  };
  for (const auto &[q, steps] :
       {std::pair(0.09, 1), std::pair(0.3, 1), std::pair(0.4, 2), std::pair(0.55, 3), std::pair(0.6, 4), std::pair(0.65, 5)}) {
    const auto t = chain(q), slower = chain(0.95);
    const OnBackend<TypeParam, double> given(t), changed(slower);
    triangular::TriangularSolverImpl<TypeParam, double, true> solver(TypeParam(), TriangularMethod::automatic, {});
    solver.analyse(given.triangles(), {});
    solver.update(given.triangles());
    EXPECT_EQ(solver.facts().steps, steps) << q;
    EXPECT_TRUE(solver.facts().bounded);
    EXPECT_NEAR(*solver.facts().probe, std::pow(q, steps + 1), 1e-12);
    // b - L y, for the unit lower triangle.
    const auto y = this->solve(solver, TriangularPart::forward, b);
    double left = 0, size = 0;
    for (std::size_t i = 0; i < b.size(); i++) {
      left = std::max(left, std::abs(b[i] - y[i] + (i > 0 ? q * y[i - 1] : 0)));
      size = std::max(size, std::abs(b[i]));
    }
    EXPECT_LE(left, *solver.facts().probe * size * (1 + 1e-12)) << q;
    EXPECT_GT(left, 0.1 * *solver.facts().probe * size) << "as many steps as are said, not more: " << q;
    // Values for which nothing is certain: a probe, which begins with no fewer steps than ever.
    solver.update(changed.triangles());
    EXPECT_FALSE(solver.facts().bounded);
    EXPECT_GE(solver.facts().steps, 5);
    solver.update(given.triangles());
    EXPECT_EQ(solver.facts().steps, steps) << q;
    TriangularOptions asked;
    asked.fewest_steps = 5;
    triangular::TriangularSolverImpl<TypeParam, double, true> as_asked(TypeParam(), TriangularMethod::automatic, asked);
    as_asked.analyse(given.triangles(), {});
    as_asked.update(given.triangles());
    EXPECT_EQ(as_asked.facts().steps, 5);
  }
}

TEST(TriangularSolver, SolvesOnTheHostByEveryName)
{
  std::mt19937 random(29);
  const Execution host(Memory::host);
  const auto t = random_triangles<float>(Shape::sparse, 500, random, 0.3);
  const OnBackend<Kokkos::DefaultHostExecutionSpace, float> given(t);
  const auto b = random_values<double>(500, random), expected = solve_upper(t, solve_lower(t, b));
  const auto expected_t = solve_lower_transposed(t, solve_upper_transposed(t, b));
  for (const char *name : triangular_method_names()) {
    const auto solver = TriangularSolver<float>::make(host, name);
    solver->analyse(given.triangles());
    solver->update(given.triangles());
    std::vector<double> x(500), y(500);
    const double tolerance = std::string(name) == "isai" ? 0.3 : 1e-3;
    solver->solve(TriangularPart::both, b.data(), x.data());
    expect_near(x, expected, tolerance, name);
    solver->solve(TriangularPart::forward, b.data(), y.data());
    solver->solve(TriangularPart::backward, y.data(), x.data());
    expect_near(x, expected, tolerance, name);
    solver->solve(TriangularPart::transposed, b.data(), x.data());
    expect_near(x, expected_t, tolerance, name);
    EXPECT_NE(solver->description().find(solver->method_in_use()), std::string::npos);
  }
  const auto automatic = TriangularSolver<float>::make(host, "auto");
  automatic->analyse(given.triangles());
  EXPECT_STREQ(automatic->method_in_use(), "sequential");
  EXPECT_EQ(automatic->description(), "sequential (chosen)");
  TriangularOptions steps;
  steps.steps       = 3;
  const auto jacobi = TriangularSolver<float>::make(host, "jacobi", steps);
  jacobi->analyse(given.triangles());
  EXPECT_EQ(jacobi->description(), "jacobi, 3 steps a triangle");
}

TEST(TriangularSolver, RefusesWhatItCannotUse)
{
  const Execution host(Memory::host);
  EXPECT_THROW(TriangularSolver<double>::make(host, "gauss"), std::invalid_argument);
  TriangularOptions none;
  none.steps = 0;
  EXPECT_THROW(TriangularSolver<double>::make(host, "jacobi", none), std::invalid_argument);
  none.steps     = 1;
  none.tolerance = std::nan("");
  EXPECT_THROW(TriangularSolver<double>::make(host, "auto", none), std::invalid_argument);

  std::mt19937 random(30);
  auto t             = random_triangles<double>(Shape::bidiagonal, 9, random);
  using Host         = Kokkos::DefaultHostExecutionSpace;
  const auto solver  = TriangularSolver<double>::make(host, "auto");
  t.lower_columns[3] = 4; // row 4
  try {
    solver->analyse(OnBackend<Host, double>(t).triangles());
    FAIL() << "a diagonal entry in the lower triangle was taken";
  } catch (const std::invalid_argument &error) {
    EXPECT_NE(std::string(error.what()).find("row 4 "), std::string::npos) << error.what();
  }
  t.lower_columns[3] = 3;
  const OnBackend<Host, double> good(t);
  solver->analyse(good.triangles());
  const OnBackend<Host, double> other(random_triangles<double>(Shape::bidiagonal, 8, random));
  EXPECT_THROW(solver->update(other.triangles()), std::invalid_argument);
}

} // namespace
