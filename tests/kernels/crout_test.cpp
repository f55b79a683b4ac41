// Patterns and exact factors, and what sweeps make of them, against the serial twins.
#include "crout_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

CroutOptions levels(int k, FactorMethod method, bool symmetric = false)
{
  CroutOptions options;
  options.levels    = k;
  options.method    = method;
  options.symmetric = symmetric;
  if (method == FactorMethod::sweeps) {
    options.stop      = SweepStop::residual;
    options.tolerance = 1e-15;
    options.ladder    = false;
    options.sweeps    = 400;
  }
  return options;
}

const std::vector<std::size_t> sizes{1, 2, 3, 7, 16, 31, 33, 64, 127, 260};
constexpr int all_levels = 50000;

TEST(Crout, EliminationOnLevelsMatchesTheTwin)
{
  std::mt19937 random(1);
  for (const Memory memory : memories()) {
    for (const std::size_t n : sizes) {
      for (const int k : {0, 1, 2, 3, all_levels}) {
        for (const FactorScaling scaling : {FactorScaling::none, FactorScaling::unit_diagonal, FactorScaling::ruiz}) {
          const SparseRows a   = random_sparse(n, 3, random, false);
          CroutOptions options = levels(k, FactorMethod::exact);
          options.scaling      = scaling;
          const Factored<> made(memory, a, options, {}, &random);
          ASSERT_EQ(made.report().failure, FactorFailure::none);
          EXPECT_TRUE(made.report().exact);
          EXPECT_LE(difference(made.factors(), made.twin(a, k)), 1e-14) << n << " rows, level " << k;
        }
      }
    }
  }
}

TEST(Crout, SweepsEndAtTheExactFactors)
{
  std::mt19937 random(2);
  for (const Memory memory : memories()) {
    for (const std::size_t n : sizes) {
      for (const int k : {0, 1, 3}) {
        for (const bool asynchronous : {false, true}) {
          const SparseRows a   = random_sparse(n, 4, random, false);
          CroutOptions options = levels(k, FactorMethod::sweeps);
          options.asynchronous = asynchronous;
          const Factored<> made(memory, a, options, {}, &random);
          ASSERT_EQ(made.report().failure, FactorFailure::none);
          EXPECT_FALSE(made.report().exact);
          EXPECT_LT(made.report().sweeps, 400);
          EXPECT_LE(difference(made.factors(), made.twin(a, k)), 1e-13) << n << " rows, level " << k;
        }
      }
    }
  }
}

TEST(Crout, SymmetricFactorsAreThoseOfTheFullMatrix)
{
  std::mt19937 random(3);
  for (const Memory memory : memories()) {
    for (const std::size_t n : sizes) {
      for (const int k : {0, 2}) {
        for (const FactorMethod method : {FactorMethod::exact, FactorMethod::sweeps}) {
          const SparseRows a = random_sparse(n, 4, random, true);
          SparseRows half(n); // what lies below the diagonal must not count, while it is finite
          for (std::size_t i = 0; i < n; i++)
            for (const auto &[j, value] : a[i]) half[i][j] = j < i ? 77 : value;
          FactorOrdering ordering;
          for (std::size_t i = 0; i < n; i++) ordering.rows.push_back(static_cast<Index>(i));
          std::shuffle(ordering.rows.begin(), ordering.rows.end(), random);
          const Factored<> made(memory, half, levels(k, method, true), ordering, &random);
          ASSERT_EQ(made.report().failure, FactorFailure::none);
          const SparseRows z = made.factors();
          EXPECT_LE(difference(z, made.twin(a, k)), 1e-13) << n << " rows, level " << k;
          EXPECT_EQ(made.report().positive, static_cast<Index>(n));
          for (std::size_t i = 0; i < n; i++)
            for (auto u = z[i].upper_bound(i); u != z[i].end(); ++u) EXPECT_EQ(z[u->first].at(i), u->second / z[i].at(i));
        }
      }
    }
  }
}

TEST(Crout, FullFillIsACompleteFactorization)
{
  std::mt19937 random(4);
  for (const Memory memory : memories()) {
    for (const std::size_t n : sizes) {
      for (const bool symmetric : {false, true}) {
        const SparseRows a   = random_sparse(n, 3, random, symmetric);
        CroutOptions options = levels(0, FactorMethod::automatic, symmetric);
        options.pattern      = FillPattern::full;
        const Factored<> made(memory, a, options);
        ASSERT_EQ(made.report().failure, FactorFailure::none);
        EXPECT_TRUE(made.report().exact);
        const SparseRows z      = made.factors();
        std::vector<double> x   = random_values<double>(n, random), b(n);
        const SparseRows scaled = transformed(*made.factorization, a);
        for (std::size_t i = 0; i < n; i++)
          for (const auto &[j, value] : scaled[i]) b[i] += value * x[j];
        const std::vector<double> found = reference::solve_factors(z, b);
        for (std::size_t i = 0; i < n; i++) EXPECT_NEAR(found[i], x[i], 1e-12) << n;
        if (symmetric) {
          EXPECT_LE(difference(z, made.twin(a, all_levels)), 1e-13);
        }
      }
    }
  }
}

/// (|L| |U| z)_i / (|B| z)_i, the largest; z_j is 1, or one over the largest entry of column j of B.
double product_size_of(const SparseRows &z, const SparseRows &b, bool in_columns)
{
  const std::size_t n = b.size();
  std::vector<double> units(n, in_columns ? 0 : 1), upper(n, 0);
  if (in_columns)
    for (const auto &row : b)
      for (const auto &[j, value] : row) units[j] = std::max(units[j], std::abs(value));
  double most = 0;
  for (std::size_t i = 0; i < n; i++) {
    double size = 0;
    for (const auto &[j, value] : b[i]) size += std::abs(value) / units[j];
    for (const auto &[j, value] : z[i])
      if (j >= i) upper[i] += std::abs(value) / units[j];
    double product = upper[i];
    for (const auto &[j, value] : z[i])
      if (j < i) product += std::abs(value) * upper[j];
    most = std::max(most, product / size);
  }
  return most;
}

TEST(Crout, TheSizeOfFactorsIsThatOfTheTwinInAnyUnitsOfColumns)
{
  std::mt19937 random(6);
  for (const Memory memory : memories()) {
    for (const std::size_t n : sizes) {
      for (const bool symmetric : {false, true}) {
        for (const double diagonal : {1.0, 1e-6}) {
          SparseRows a = random_sparse(n, 3, random, symmetric);
          for (std::size_t i = 0; i < n; i += 5) a[i][i] *= diagonal;
          CroutOptions options = levels(1, FactorMethod::exact, symmetric);
          options.match_rows   = false;
          options.ladder       = false; // which would shift the diagonal
          options.scaling      = FactorScaling::none;
          const Factored<> made(memory, a, options);
          ASSERT_EQ(made.report().failure, FactorFailure::none);
          const double size  = made.factorization->product_size();
          const SparseRows z = made.factors();
          const double plain = product_size_of(z, a, false);
          const double twin  = plain > 1e4 ? product_size_of(z, a, true) : plain;
          EXPECT_NEAR(size / twin, 1, 1e-12) << n << " rows";
          if (diagonal < 1 && n > 30) {
            EXPECT_GT(size, 1e4);
          }
          if (symmetric || size < 1e4) continue;
          SparseRows units = a;
          for (std::size_t i = 0; i < n; i++)
            for (auto &[j, value] : units[i]) value = std::ldexp(value, static_cast<int>(j % 7) * 3);
          const Factored<> turned(memory, units, options);
          ASSERT_EQ(turned.report().failure, FactorFailure::none);
          EXPECT_EQ(turned.factorization->product_size(), size) << n << " rows, columns in other units";
        }
      }
    }
  }
}

TEST(Crout, OrdersOfRowsAndColumns)
{
  std::mt19937 random(5);
  for (const Memory memory : memories()) {
    const SparseRows a = random_sparse(90, 4, random, false);
    FactorOrdering ordering;
    for (Index i = 0; i < 90; i++) ordering.rows.push_back(i);
    std::shuffle(ordering.rows.begin(), ordering.rows.end(), random);
    ordering.columns = ordering.rows;
    const Factored<> made(memory, a, levels(1, FactorMethod::exact), ordering);
    ASSERT_EQ(made.report().failure, FactorFailure::none);
    const auto rows = fetch(made.execution, made.factorization->transform().row_order, 90);
    for (std::size_t i = 0; i < 90; i++) EXPECT_EQ(rows[i], ordering.rows[i]);
    EXPECT_LE(difference(made.factors(), made.twin(a, 1)), 1e-14);
    ordering.rows[3] = ordering.rows[4];
    EXPECT_THROW(Factored<>(memory, a, levels(1, FactorMethod::exact), ordering), std::invalid_argument);
  }
}

TEST(Crout, FloatFactorsAndLongIndices)
{
  std::mt19937 random(6);
  for (const Memory memory : memories()) {
    const SparseRows a = random_sparse(200, 5, random, false);
    for (const FactorMethod method : {FactorMethod::exact, FactorMethod::sweeps}) {
      CroutOptions options = levels(1, method);
      options.tolerance    = 1e-6;
      const Factored<float> made(memory, a, options);
      ASSERT_EQ(made.report().failure, FactorFailure::none);
      const SparseRows b = transformed(*made.factorization, a);
      EXPECT_LE(difference(made.factors(), reference::factors(b, reference::fill_levels(b, 1))), 1e-5);
    }
    const Execution execution(memory);
    const DeviceCsr<std::int64_t> csr(execution, a);
    const auto made = CroutFactorization<double>::make(execution, levels(0, FactorMethod::exact));
    made->analyse(200, 200, csr.matrix());
    made->factor(csr.matrix());
    const SparseRows b = transformed(*made, a);
    EXPECT_LE(difference(factors_of(*made), reference::factors(b, reference::fill_levels(b, 0))), 1e-14);
  }
}

TEST(Crout, EmptyMatrix)
{
  for (const Memory memory : memories()) {
    for (const FactorMethod method : {FactorMethod::exact, FactorMethod::sweeps}) {
      const Factored<> made(memory, {}, levels(1, method));
      EXPECT_EQ(made.report().failure, FactorFailure::none);
      EXPECT_EQ(made.factorization->triangles().rows, 0);
    }
  }
}

} // namespace
