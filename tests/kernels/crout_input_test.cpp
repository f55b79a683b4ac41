// Matrices that are wrong or hard: what is refused, what is repaired, what is reported.
#include "crout/pattern/fill_prediction.hpp"
#include "crout_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

CroutOptions exact()
{
  CroutOptions options;
  options.method  = FactorMethod::exact;
  options.scaling = FactorScaling::none;
  options.ladder  = false;
  return options;
}

/// The message with which the analysis of a CSR matrix is refused.
std::string refusal(Memory memory, const std::vector<int> &starts, const std::vector<int> &columns, const CroutOptions &options = {},
                    Index more_columns = 0)
{
  const Execution execution(memory);
  const DeviceCsr<int> csr(execution, starts, columns, std::vector<double>(columns.size(), 1.0));
  const auto factorization = CroutFactorization<double>::make(execution, options);
  const auto n             = static_cast<Index>(starts.size()) - 1;
  try {
    factorization->analyse(n, n + more_columns, csr.matrix());
  } catch (const std::invalid_argument &error) {
    return error.what();
  } catch (const std::length_error &error) {
    return std::string("too long: ") + error.what();
  }
  return "taken";
}

TEST(CroutInput, WrongMatricesAreRefusedByRow)
{
  for (const Memory memory : memories()) {
    EXPECT_EQ(refusal(memory, {0, 1, 2, 3}, {0, 1, 2}), "taken");
    EXPECT_NE(refusal(memory, {0, 1, 2}, {0, 1}, {}, 1).find("square"), std::string::npos);
    EXPECT_EQ(refusal(memory, {0, 1, 1, 2}, {0, 2}).substr(0, 14), "row 1 is empty");
    EXPECT_EQ(refusal(memory, {0, 1, 2, 3}, {0, 1, 3}), "row 2 has a column outside the matrix");
    EXPECT_EQ(refusal(memory, {0, 1, 2, 3}, {0, -1, 2}), "row 1 has a column outside the matrix");
    EXPECT_EQ(refusal(memory, {0, 2, 1, 3}, {0, 1, 2}), "row 1 ends before it begins");
    EXPECT_EQ(refusal(memory, {0, 1, 4, 5}, {0, 2, 1, 2, 2}), "row 1 has an entry twice");
    EXPECT_EQ(refusal(memory, {0, 1, 4, 5}, {0, 1, 2, 1, 2}), "row 1 has its diagonal entry twice");
    CroutOptions symmetric;
    symmetric.symmetric = true;
    EXPECT_EQ(refusal(memory, {0, 3, 4, 5}, {0, 2, 2, 1, 2}, symmetric), "row 0 has an entry twice");
    EXPECT_EQ(refusal(memory, {0, 1, 3, 4}, {0, 1, 1, 2}, symmetric), "row 1 has its diagonal entry twice");
  }
}

TEST(CroutInput, FillHasALimit)
{
  for (const Memory memory : memories()) {
    const SparseRows a = five_point(20);
    for (const FillPattern pattern : {FillPattern::levels, FillPattern::full, FillPattern::threshold}) {
      CroutOptions options;
      options.pattern        = pattern;
      options.levels         = 5;
      options.drop_tolerance = 0;
      options.row_quota      = 100;
      options.most_fill      = 1.3;
      EXPECT_THROW(Factored<>(memory, a, options), std::length_error);
      options.most_fill = 40;
      EXPECT_EQ(Factored<>(memory, a, options).report().failure, FactorFailure::none);
    }
  }
}

TEST(CroutInput, ContradictoryOptionsAreRefused)
{
  const Execution host(Memory::host);
  const auto refused = [&](auto change) {
    CroutOptions options;
    change(options);
    EXPECT_THROW(CroutFactorization<double>::make(host, options), std::invalid_argument);
  };
  refused([](CroutOptions &o) { o.levels = -1; });
  refused([](CroutOptions &o) { o.omega = 2; });
  refused([](CroutOptions &o) { o.omega = NAN; });
  refused([](CroutOptions &o) { o.sweeps = -1; });
  refused([](CroutOptions &o) { o.drop_tolerance = NAN; });
  refused([](CroutOptions &o) { o.base_shift = -1; });
  refused([](CroutOptions &o) { o.asynchronous = true, o.sections = 4; });
  refused([](CroutOptions &o) { o.method = FactorMethod::exact, o.sweeps = 3; });
}

TEST(CroutInput, FactorsNeedAnAnalysis)
{
  const Execution host(Memory::host);
  const DeviceCsr<int> csr(host, five_point(3));
  const auto factorization = CroutFactorization<double>::make(host, CroutOptions());
  EXPECT_THROW(factorization->factor(csr.matrix()), std::logic_error);
}

TEST(CroutInput, ValuesThatAreNotFiniteAreReported)
{
  std::mt19937 random(31);
  for (const Memory memory : memories()) {
    for (const double bad : {double(NAN), double(INFINITY)}) {
      for (const bool diagonal : {false, true}) {
        SparseRows a              = random_sparse(50, 3, random, false);
        a[17][diagonal ? 17 : 40] = bad;
        FactorOrdering ordering;
        for (Index i = 50; i-- > 0;) ordering.rows.push_back(i);
        ordering.columns = ordering.rows;
        const Factored<> made(memory, a, CroutOptions(), ordering);
        EXPECT_EQ(made.report().failure, FactorFailure::not_finite_input);
        EXPECT_EQ(made.report().row, 17);
        for (const auto &row : made.factors()) // harmless
          for (const auto &[j, value] : row) ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
}

TEST(CroutInput, RowsAreExchangedForAZeroDiagonal)
{
  std::mt19937 random(32);
  for (const Memory memory : memories()) {
    for (const std::size_t n : {2u, 3u, 40u, 301u}) {
      SparseRows a = random_sparse(n, 3, random, false), moved(n);
      std::vector<std::size_t> to(n);
      for (std::size_t i = 0; i < n; i++) to[i] = (i + n / 2) % n;
      std::shuffle(to.begin(), to.end(), random);
      for (std::size_t i = 0; i < n; i++) moved[to[i]] = a[i];
      moved[to[0]][to[0] == 0 ? 1 : to[0]] = 0; // stored, and zero
      CroutOptions options                 = exact();
      options.levels                       = 1;
      const Factored<> made(memory, moved, options);
      EXPECT_EQ(made.report().failure, FactorFailure::none) << made.report().text();
      EXPECT_LE(difference(made.factors(), made.twin(moved, 1)), 1e-13);
      options.match_rows = false;
      bool zero          = false;
      for (std::size_t i = 0; i < n; i++) zero = zero || moved[i].count(i) == 0 || moved[i].at(i) == 0;
      EXPECT_EQ(made.report().matched, zero);
    }
  }
}

TEST(CroutInput, ZeroPivotsFailOrAreShifted)
{
  for (const Memory memory : memories()) {
    SparseRows a(4);
    a[0] = {{0, 2}};
    a[1] = {{1, 1}, {2, 1}};
    a[2] = {{1, 1}, {2, 1}, {3, 1}};
    a[3] = {{3, -3}};
    for (const FactorMethod method : {FactorMethod::exact, FactorMethod::sweeps}) {
      CroutOptions options = exact();
      options.method       = method;
      const Factored<> plain(memory, a, options);
      EXPECT_EQ(plain.report().failure, FactorFailure::zero_pivot);
      EXPECT_EQ(plain.report().row, 2);
      EXPECT_NE(explain(plain.report()).find("row 2"), std::string::npos);
      EXPECT_EQ(plain.factors()[2].at(2), 1); // those of the identity

      options.shift        = PivotShift::in_blocks;
      options.shift_amount = 0.25;
      const Factored<> blocks(memory, a, options);
      EXPECT_EQ(blocks.report().failure, FactorFailure::none);
      EXPECT_EQ(blocks.report().boosted, 1);
      EXPECT_NEAR(blocks.factors()[2].at(2), 0.25 * 3, 1e-12); // the row's sum is 3

      options.shift        = PivotShift::nonzero;
      options.shift_amount = 1e-3;
      const Factored<> shifted(memory, a, options);
      EXPECT_EQ(shifted.report().failure, FactorFailure::none);
      EXPECT_NEAR(shifted.report().shift, 1e-3, 1e-15);
      EXPECT_NEAR(shifted.factors()[3].at(3), -3 * 1.001, 1e-12); // away from zero

      options.shift        = PivotShift::none;
      options.shift_amount = 0;
      options.ladder       = true;
      const Factored<> ladder(memory, a, options);
      EXPECT_EQ(ladder.report().failure, FactorFailure::none);
      EXPECT_FALSE(ladder.report().attempts.empty());
      if (method == FactorMethod::exact) {
        EXPECT_GE(ladder.report().shift, 0.1);
      }
    }
  }
}

TEST(CroutInput, PositiveDefiniteShiftAndInertia)
{
  std::mt19937 random(33);
  for (const Memory memory : memories()) {
    SparseRows a   = random_sparse(80, 4, random, true);
    Index negative = 0;
    for (std::size_t i = 0; i < a.size(); i += 3, negative++)
      a[i][i] = -a[i][i]; // dominant rows: the signs of the diagonal are the inertia
    CroutOptions options = exact();
    options.symmetric    = true;
    options.pattern      = FillPattern::full;
    const Factored<> plain(memory, a, options);
    ASSERT_EQ(plain.report().failure, FactorFailure::none);
    EXPECT_EQ(plain.report().negative, negative);
    EXPECT_EQ(plain.report().positive, 80 - negative);
    options.shift = PivotShift::positive_definite;
    const Factored<> shifted(memory, a, options);
    ASSERT_EQ(shifted.report().failure, FactorFailure::none);
    EXPECT_EQ(shifted.report().negative, 0);
    EXPECT_GT(shifted.report().shift, 0);
  }
}

TEST(CroutInput, SingularMatricesNeverGiveNan)
{
  std::mt19937 random(34);
  for (const Memory memory : memories()) {
    for (const FactorMethod method : {FactorMethod::exact, FactorMethod::sweeps}) {
      for (int kind = 0; kind < 3; kind++) {
        SparseRows a = random_sparse(60, 3, random, false);
        if (kind == 0) a[11] = {{11, 0.0}}; // a row of zeros
        if (kind == 1)
          for (auto &row : a) row.erase(7), row[8] = 1; // a column without an entry
        if (kind == 2)
          for (auto &row : a)
            for (auto &[j, value] : row) value = 1e300 * value; // sums overflow
        for (const bool ladder : {false, true}) {
          CroutOptions options = exact();
          options.method       = method;
          options.ladder       = ladder;
          const Factored<> made(memory, a, options);
          if (kind < 2 && !ladder) {
            EXPECT_EQ(made.report().failure, FactorFailure::zero_pivot) << kind;
          }
          for (const auto &row : made.factors())
            for (const auto &[j, value] : row) ASSERT_TRUE(std::isfinite(value));
        }
      }
    }
  }
}

double size_of_difference(const SparseRows &b, const SparseRows &z)
{
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); i++) {
    std::map<std::size_t, double> left = b[i];
    for (const auto &[m, l] : z[i]) {
      const double factor = m < i ? l : 1;
      if (m > i) break;
      for (auto u = z[m].lower_bound(m); u != z[m].end(); ++u) left[u->first] -= factor * u->second;
    }
    for (const auto &[j, value] : left) sum += value * value;
  }
  return std::sqrt(sum);
}

TEST(CroutThreshold, IsAsGoodAsIlut)
{
  std::mt19937 random(35);
  for (const Memory memory : memories()) {
    for (const bool symmetric : {false, true}) {
      for (const auto &a : {random_sparse(300, 6, random, symmetric, 1.01), five_point(18)}) {
        double before = INFINITY;
        for (const double tolerance : {1e-1, 1e-2, 1e-3}) {
          CroutOptions options   = exact();
          options.pattern        = FillPattern::threshold;
          options.drop_tolerance = tolerance;
          options.row_quota      = 12;
          options.symmetric      = symmetric;
          const Factored<> made(memory, a, options);
          ASSERT_EQ(made.report().failure, FactorFailure::none);
          const SparseRows z = made.factors(), b = transformed(*made.factorization, a);
          for (std::size_t i = 0; i < z.size(); i++) {
            const auto lower = static_cast<std::size_t>(std::distance(z[i].begin(), z[i].find(i)));
            EXPECT_LE(z[i].size() - 1 - lower, 12u);
            if (symmetric) continue;
            EXPECT_LE(lower, 12u);
          }
          const double error = size_of_difference(b, z);
          EXPECT_LE(error, 2 * size_of_difference(b, reference::threshold_factors(b, tolerance, 12))) << tolerance;
          EXPECT_LE(error, before);
          before = error;
        }
      }
    }
  }
}

/// The matrix with its diagonal entries as large as the rest of their rows together, in any units.
SparseRows dominated(SparseRows a, std::mt19937 &random)
{
  for (std::size_t i = 0; i < a.size(); i++) {
    a[i][i] = 0;
    for (const auto &[j, value] : a[i])
      if (j != i) a[i][i] += std::abs(value);
    if (a[i][i] == 0) a[i][i] = 1;
    const double unit = std::pow(10.0, static_cast<double>(random() % 13));
    for (auto &entry : a[i]) entry.second *= unit;
  }
  return a;
}

TEST(CroutRows, ThatTheDiagonalDominatesAreKnown)
{
  std::mt19937 random(77);
  for (const Memory memory : memories()) {
    for (const int levels : {0, 2}) {
      const SparseRows a   = dominated(random_sparse(300, 6, random, false), random);
      SparseRows other     = a;
      CroutOptions options = exact(); // unscaled: the bound holds row by row
      options.levels       = levels;
      const Factored<> made(memory, a, options);
      ASSERT_EQ(made.report().failure, FactorFailure::none);
      EXPECT_TRUE(made.factorization->rows_dominated());
      std::size_t longest = 0;
      for (const auto &row : made.factors()) longest = std::max(longest, row.size());
      EXPECT_LE(made.factorization->product_size(), 2 * static_cast<double>(longest) + 1);

      const std::size_t changed = random() % a.size();
      other[changed][changed] *= 0.99;
      EXPECT_TRUE(made.factorization->analysis_holds(DeviceCsr<std::int32_t>(made.execution, other).matrix()));
      EXPECT_EQ(made.factorization->rows_dominated(), other[changed].size() == 1);
      EXPECT_TRUE(made.factorization->analysis_holds(made.csr->matrix()));
      EXPECT_TRUE(made.factorization->rows_dominated());
    }
    CroutOptions options;
    options.symmetric = true;
    EXPECT_EQ(Factored<>(memory, five_point(12), options).factorization->rows_dominated(), memory == Memory::host);
    options         = {};
    options.pattern = FillPattern::threshold;
    EXPECT_FALSE(Factored<>(memory, five_point(12), options).factorization->rows_dominated());
    EXPECT_FALSE(Factored<>(memory, SparseRows{{{0, 1.0}, {1, 2.0}}, {{0, 2.0}, {1, 1e-12}}}, {}).factorization->rows_dominated());
  }
}

TEST(CroutRows, OfAnotherPatternForgetThoseBefore)
{
  std::mt19937 random(78);
  for (const Memory memory : memories()) {
    for (const FactorMethod method : {FactorMethod::sweeps, FactorMethod::exact}) {
      for (const double shift : {0.0, 0.1}) {
        CroutOptions options;
        options.method     = method;
        options.base_shift = shift;
        const SparseRows a = five_point(9), b = random_sparse(400, 5, random, false);
        Factored<> made(memory, a, options);
        made.csr.emplace(made.execution, b);
        made.factorization->analyse(400, 400, made.csr->matrix());
        made.factorization->factor(made.csr->matrix());
        EXPECT_EQ(difference(made.factors(), Factored<>(memory, b, options).factors()), 0) << shift;
        EXPECT_GT(made.factorization->product_size(), 0.1);
      }
    }
  }
}

TEST(CroutRows, WeakPivotsAreCounted)
{
  for (const Memory memory : memories()) {
    for (const double last : {1.0, 1.0001, 1.1}) { // a chain is its factors: the last pivot is last - 1, and 2 in its row
      SparseRows chain(50);
      for (std::size_t i = 0; i < chain.size(); i++) {
        chain[i][i] = (i == 0 || i + 1 == chain.size() ? 1 : 2) * (i + 1 == chain.size() ? last : 1);
        if (i > 0) chain[i][i - 1] = chain[i - 1][i] = -1;
      }
      CroutOptions options = exact();
      options.shift        = PivotShift::in_blocks;
      const Factored<> made(memory, chain, options);
      EXPECT_TRUE(made.factorization->rows_dominated());
      EXPECT_EQ(made.report().weak, last > 1.01 ? 0 : 1) << last;
    }
  }
}

TEST(CompleteFill, IsPredicted)
{
  std::mt19937 random(61);
  for (const Index rows : {Index(0), Index(1), Index(2), Index(9), Index(40), Index(200)}) {
    for (const int each : {0, 1, 2, 5}) {
      crout::HostPattern lower;
      for (Index i = 0; i < rows; i++) {
        for (int k = 0; k < each && i > 0; k++) // entries twice too
          lower.columns.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(i)));
        lower.starts.push_back(static_cast<Index>(lower.columns.size()));
      }
      const auto predicted = crout::predict_fill(lower);
      const auto made      = crout::complete_fill(lower, 1000000);
      std::vector<double> column(static_cast<std::size_t>(rows), 0);
      for (const std::int32_t j : made.columns) column[static_cast<std::size_t>(j)]++;
      double operations = 0;
      for (const double entries : column) operations += entries * entries;
      EXPECT_EQ(predicted.entries, static_cast<Index>(made.columns.size())) << rows << " rows, " << each;
      EXPECT_EQ(predicted.operations, operations) << rows << " rows, " << each;
      EXPECT_EQ(predicted.size(), 2 * predicted.entries + rows);
    }
  }
  EXPECT_GT(crout::host_memory_left(), 1e6);
}

} // namespace
