// Sweeps against the textbook's sweep, how they end, and what the ladder does where they do not.
#include <cstdlib>
#include <string_view>

#include "crout_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

CroutOptions counted(int sweeps, double omega = 1, bool symmetric = false, int levels = 0)
{
  CroutOptions options;
  options.method    = FactorMethod::sweeps;
  options.stop      = SweepStop::sweeps;
  options.sweeps    = sweeps;
  options.omega     = omega;
  options.symmetric = symmetric;
  options.levels    = levels;
  options.ladder    = false;
  return options;
}

/// The twin's factors after some sweeps.
SparseRows swept(const SparseRows &b, int k, int sweeps, double omega)
{
  SparseRows z = reference::first_guess(b, reference::fill_levels(b, k));
  for (int s = 0; s < sweeps; s++) z = reference::sweep(b, z, omega);
  return z;
}

/// The biharmonic 13-point matrix: sweeps with omega 1 grow on it.
SparseRows plate(std::size_t side)
{
  const SparseRows laplace = five_point(side);
  SparseRows square(laplace.size());
  for (std::size_t i = 0; i < laplace.size(); i++)
    for (const auto &[m, left] : laplace[i])
      for (const auto &[j, right] : laplace[m]) square[i][j] += left * right;
  return square;
}

TEST(CroutSweeps, EachIsThatOfTheTwin)
{
  std::mt19937 random(21);
  for (const Memory memory : memories()) {
    for (const double dense : {3.0, 70.0}) { // with and without a list of products
      for (const double omega : {1.0, 0.5}) {
        const SparseRows a = random_sparse(120, dense, random, false);
        for (const int sweeps : {1, 2, 3, 6}) {
          const Factored<> made(memory, a, counted(sweeps, omega, false, dense < 10 ? 1 : 0));
          EXPECT_EQ(made.report().match_list, dense < 10);
          EXPECT_EQ(made.report().sweeps, sweeps);
          const SparseRows b = transformed(*made.factorization, a);
          EXPECT_LE(difference(made.factors(), swept(b, dense < 10 ? 1 : 0, sweeps, omega)), 1e-14);
        }
      }
    }
  }
}

/// Where no entry off the diagonal has a product, s sweeps over the pivots end where 2 s - 1 of the twin's do.
TEST(CroutSweeps, OverPivotsAloneAreTwoOfTheTwin)
{
  for (const Memory memory : memories()) {
    for (const double wind : {0.0, 0.7}) {
      for (const bool one_sided : {false, true}) {
        SparseRows a = five_point(37, 0.3, wind);
        if (one_sided)
          for (std::size_t i = 0; i < a.size(); i += 3) a[i].erase(i + 1); // an entry of L with nothing opposite to it
        CroutOptions options;
        options.method = FactorMethod::sweeps;
        Factored<> made(memory, a, options);
        EXPECT_TRUE(made.report().attempts.empty()) << made.report().text();
        const int sweeps = made.report().sweeps;
        EXPECT_TRUE(sweeps == 4 || sweeps == 8) << sweeps;
        const SparseRows b = transformed(*made.factorization, a), z = made.factors(), twin = swept(b, 0, 2 * sweeps - 1, 1);
        EXPECT_LE(made.report().residuals.back(), 2e-3);
        for (std::size_t i = 0; i < a.size(); i++) {
          for (const auto &[j, value] : z[i]) {
            if (j >= i)
              EXPECT_NEAR(value, twin[i].at(j), 1e-14) << i << ", " << j;
            else
              EXPECT_NEAR(value, b[i].at(j) / z[j].at(j), 1e-14) << i << ", " << j;
          }
        }
        // Values much alike take as few sweeps as leave no more than the first ones did.
        SparseRows changed = a;
        for (auto &row : changed)
          for (auto &[j, value] : row) value *= 1 + 1e-6 * static_cast<double>(j % 7);
        const double cold = made.report().residuals.back();
        const DeviceCsr<std::int32_t> next(made.execution, changed);
        made.factorization->factor(next.matrix(), true);
        EXPECT_TRUE(made.report().warm);
        EXPECT_EQ(made.report().sweeps, 2);
        EXPECT_LE(made.report().residuals.back(), cold);
        EXPECT_LE(difference(made.factors(), made.twin(changed, 0)), 1e-3);
      }
    }
    // One product off the diagonal, and all entries are swept.
    SparseRows a = five_point(12);
    a[20][31] = a[31][20] = -0.1;
    CroutOptions options;
    options.method = FactorMethod::sweeps;
    const Factored<> made(memory, a, options);
    EXPECT_GE(made.report().sweeps, 5);
    EXPECT_LE(difference(made.factors(), made.twin(a, 0)), 1e-2);
  }
}

TEST(CroutSweeps, DepthSweepsAreExactAndFewerAreNot)
{
  for (const Memory memory : memories()) {
    std::mt19937 random(22);
    for (const bool symmetric : {false, true}) {
      const SparseRows a = random_sparse(150, 4, random, symmetric, 1.01);
      const int depth    = reference::depth(a);
      ASSERT_GT(depth, 3);
      const Factored<> exact(memory, a, counted(depth, 1, symmetric)), early(memory, a, counted(2, 1, symmetric));
      EXPECT_LE(difference(exact.factors(), exact.twin(a, 0)), 1e-14);
      EXPECT_GT(difference(early.factors(), early.twin(a, 0)), 1e-6);
    }
  }
}

TEST(CroutSweeps, ReportTheResidualsOfTheFactors)
{
  std::mt19937 random(23);
  for (const Memory memory : memories()) {
    const SparseRows a = random_sparse(200, 5, random, false, 1.01);
    const Factored<> made(memory, a, counted(6));
    const SparseRows b = transformed(*made.factorization, a);
    ASSERT_EQ(made.report().residuals.size(), 6u);
    for (int s = 0; s < 6; s++) {
      const double wanted = reference::residual(b, swept(b, 0, s, 1));
      EXPECT_NEAR(made.report().residuals[static_cast<std::size_t>(s)], wanted, 1e-10 * wanted + 1e-16) << s;
    }
  }
}

TEST(CroutSweeps, StopByChangeAndByResidual)
{
  std::mt19937 random(24);
  for (const Memory memory : memories()) {
    const SparseRows a = five_point(20);
    int before         = 0;
    for (const double tolerance : {1e-1, 1e-3, 1e-6}) {
      for (const SweepStop stop : {SweepStop::change, SweepStop::residual}) {
        CroutOptions options = counted(0);
        options.stop         = stop;
        options.tolerance    = tolerance;
        const Factored<> made(memory, a, options);
        EXPECT_LT(made.report().sweeps, 60);
        EXPECT_GE(made.report().sweeps, before);
        if (stop == SweepStop::residual) {
          EXPECT_LE(made.report().residuals.back(), tolerance);
          ASSERT_GE(made.report().residuals.size(), 2u);
          EXPECT_GT(made.report().residuals.end()[-2], tolerance);
          before = made.report().sweeps;
        }
      }
    }
  }
}

TEST(CroutSweeps, WarmStartNeedsFewer)
{
  std::mt19937 random(25);
  for (const Memory memory : memories()) {
    const SparseRows a = five_point(24, 1, 0.5);
    SparseRows changed = a;
    for (auto &row : changed)
      for (auto &[j, value] : row) value *= 1 + 1e-4 * random_values<double>(1, random)[0];
    CroutOptions options = counted(0);
    options.stop         = SweepStop::residual;
    options.tolerance    = 1e-6;
    Factored<> made(memory, a, options);
    const int cold = made.report().sweeps;
    EXPECT_FALSE(made.report().warm);
    const DeviceCsr<std::int32_t> next(made.execution, changed);
    made.factorization->factor(next.matrix(), true);
    EXPECT_TRUE(made.report().warm);
    EXPECT_LT(made.report().sweeps, cold / 2);
    EXPECT_LE(difference(made.factors(), made.twin(changed, 0)), 1e-5);
    made.factorization->factor(next.matrix());
    EXPECT_FALSE(made.report().warm);
    EXPECT_GT(made.report().sweeps, cold / 2);
  }
}

/// A number for the bits of factors and residuals.
std::size_t bits_of(const SparseRows &a, const CroutOptions &options)
{
  const Factored<> made(Memory::host, a, options);
  const auto t = made.factorization->triangles();
  std::vector<double> values(t.lower_values, t.lower_values + t.lower_entries);
  values.insert(values.end(), t.upper_values, t.upper_values + t.upper_entries);
  values.insert(values.end(), t.diagonal, t.diagonal + t.rows);
  values.insert(values.end(), made.report().residuals.begin(), made.report().residuals.end());
  return std::hash<std::string_view>()({reinterpret_cast<const char *>(values.data()), values.size() * sizeof(double)});
}

TEST(CroutSweepsDeathTest, AreTheSameInEveryBitForAnyNumberOfThreads)
{
  std::mt19937 random(26);
  std::string all;
  for (const bool symmetric : {false, true}) {
    for (const double dense : {4.0, 25.0}) {
      const SparseRows a = random_sparse(3000, dense, random, symmetric, 1.01);
      for (const int sections : {0, 7}) {
        CroutOptions options   = counted(7, 0.8, symmetric);
        options.sections       = sections;
        const std::size_t bits = bits_of(a, options);
        EXPECT_EQ(bits_of(a, options), bits);
        all += std::to_string(bits) + " ";
      }
    }
  }
  // This program once more, with another number of threads: there the first of these calls changes nothing.
  setenv("WEFT_TEST_BITS", all.c_str(), 0);
  setenv("OMP_NUM_THREADS", Kokkos::DefaultHostExecutionSpace().concurrency() == 1 ? "3" : "1", 1);
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(std::_Exit(all == std::getenv("WEFT_TEST_BITS") ? 0 : 1), testing::ExitedWithCode(0), "");
}

TEST(CroutSweeps, SectionsConvergeInOrder)
{
  std::mt19937 random(27);
  for (const Memory memory : memories()) {
    for (const bool symmetric : {false, true}) {
      const SparseRows a   = random_sparse(400, 4, random, symmetric, 1.01);
      CroutOptions options = counted(0, 1, symmetric);
      options.stop         = SweepStop::automatic;
      options.sections     = 20;
      const Factored<> made(memory, a, options);
      EXPECT_EQ(made.report().failure, FactorFailure::none);
      EXPECT_EQ(made.report().sections, 20);
      EXPECT_LE(difference(made.factors(), made.twin(a, 0)), 1e-3);
      EXPECT_GT(made.report().all_sweeps, 2);
      EXPECT_LT(made.report().all_sweeps, 20);
    }
  }
}

TEST(CroutSweeps, GrowthEndsInUnderRelaxation)
{
  for (const Memory memory : memories()) {
    const SparseRows a = plate(24);
    for (const bool symmetric : {false, true}) {
      CroutOptions options;
      options.method    = FactorMethod::sweeps;
      options.symmetric = symmetric;
      const Factored<> made(memory, a, options);
      EXPECT_EQ(made.report().failure, FactorFailure::none);
      EXPECT_LE(made.report().growth, 10);
      EXPECT_FALSE(made.report().attempts.empty()) << made.report().text();
      EXPECT_LE(made.report().residuals.back(), 0.1);
      for (const auto &row : made.factors())
        for (const auto &[j, value] : row) ASSERT_TRUE(std::isfinite(value));
    }
    const Factored<> plain(memory, a, counted(20)); // what the ladder is for
    EXPECT_GT(plain.report().growth, 10);
  }
}

/// Every row coupled with every other one alike: sweeps grow first, elimination does not.
SparseRows all_alike(std::size_t rows)
{
  SparseRows a(rows);
  for (std::size_t i = 0; i < rows; i++)
    for (std::size_t j = 0; j < rows; j++) a[i][j] = i == j ? 1 : 0.9;
  return a;
}

/// On a host exact elimination comes first anyway; on a device where rows wait in few levels.
TEST(CroutSweeps, ExactEliminationBeforeOrAfterSweepsThatGrow)
{
  for (const std::size_t rows : {60, 200}) {
    const SparseRows good = all_alike(rows);
    SparseRows bad        = good;
    bad[0][1] = bad[1][0] = 0.99999; // a pivot of 2e-5, and a row that meets it
    bad[2][0]             = 0.9;
    bad[2][1]             = -0.9;
    for (const Memory memory : memories()) {
      if (memory == Memory::host) continue;
      Factored<> made(memory, good, {});
      EXPECT_TRUE(made.report().exact);
      EXPECT_EQ(made.report().attempts.starts_with("omega 1: residual"), rows == 200) << made.report().text();
      EXPECT_LE(difference(made.factors(), made.twin(good, 0)), 1e-10);
      made.factorization->factor(made.csr->matrix()); // new values go there at once
      EXPECT_TRUE(made.report().exact);
      EXPECT_TRUE(made.report().attempts.empty()) << made.report().text();
      EXPECT_LE(difference(made.factors(), made.twin(good, 0)), 1e-10);

      Factored<> grown(memory, bad, {});
      EXPECT_EQ(grown.report().attempts.starts_with("exact: values grew"), rows == 60) << grown.report().text();
      EXPECT_NE(grown.report().attempts.find("exact: values grew"), std::string::npos) << grown.report().text();
      EXPECT_EQ(grown.report().failure, FactorFailure::none);
      grown.factorization->factor(grown.csr->matrix());
      EXPECT_FALSE(grown.report().attempts.starts_with("exact")) << grown.report().text(); // not first once more
      EXPECT_EQ(grown.report().failure, FactorFailure::none);

      made.factorization->factor(grown.csr->matrix()); // where values were eliminated at once, and new ones grow
      EXPECT_TRUE(made.report().attempts.starts_with("exact: values grew")) << made.report().text();
      EXPECT_EQ(made.report().failure, FactorFailure::none);
      made.factorization->factor(made.csr->matrix());
      EXPECT_FALSE(made.report().attempts.starts_with("exact")) << made.report().text();
      EXPECT_EQ(made.report().failure, FactorFailure::none);

      CroutOptions asked;
      asked.method = FactorMethod::sweeps;
      const Factored<> swept(memory, good, asked); // who asks for sweeps gets what sweeps can do
      EXPECT_EQ(swept.report().attempts.find("exact: values"), std::string::npos) << swept.report().text();
    }
  }
}

TEST(CroutSweeps, RepositoryMatrices)
{
  for (const Memory memory : memories()) {
    for (const char *name :
         {"Bai__cryg2500", "Bai__olm1000", "Bai__pde900", "HB__bcsstk08", "HB__gr_30_30", "HB__nos1", "HB__orsirr_1", "HB__sherman1",
          "HB__sherman3", "HB__sherman5", "HB__west0067", "Hamm__add20", "JGD_Trefethen__Trefethen_500"}) {
      const SparseRows a = market_matrix(name);
      ASSERT_FALSE(a.empty()) << name;
      CroutOptions exact, sweeps;
      exact.method  = FactorMethod::exact;
      sweeps.method = FactorMethod::sweeps;
      const Factored<> truth(memory, a, exact), made(memory, a, sweeps);
      if (truth.report().shift == 0 && truth.report().failure == FactorFailure::none) {
        EXPECT_LE(difference(truth.factors(), truth.twin(a, 0)), 1e-8) << name; // contracted products round another way
      }
      EXPECT_EQ(made.report().failure, FactorFailure::none) << name;
      for (const auto &row : made.factors())
        for (const auto &[j, value] : row) ASSERT_TRUE(std::isfinite(value)) << name;
    }
  }
}

} // namespace
