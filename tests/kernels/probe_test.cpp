// What direct solvers measure of their own solves, against the formulas written out.
#include "line/relax/probe.hpp"

#include <cmath>

#include "backends.hpp"
#include "base/backend.hpp"

namespace weft::test {
namespace {

/// Four rows with units from 1e-20 to 1e20, one of them empty, and two couplings to other processes.
struct Rows {
  std::vector<std::int32_t> starts{0, 2, 4, 4, 6}, columns{0, 1, 1, 3, 0, 3}, outside_starts{0, 1, 1, 1, 2}, outside_columns{0, 1};
  std::vector<double> values{4, -1, 2e-20, -3e-20, 5e20, -7e20}, outside_values{0.5, 1e20};

  double entry(Index i, Index j) const
  {
    double sum = 0;
    for (std::int32_t k = starts[static_cast<std::size_t>(i)]; k < starts[static_cast<std::size_t>(i) + 1]; k++)
      sum += columns[static_cast<std::size_t>(k)] == j ? values[static_cast<std::size_t>(k)] : 0;
    return sum;
  }
};

TEST(Probe, MeasuresWhatASolveLeaves)
{
  const Rows rows;
  const std::vector<double> b{1, 2, 0, -1}, x{0.3, 1e20, 5, -1e-20}, product{0.9, 2.5, 0, -1.5};
  for (Memory memory : memories()) {
    const Execution execution(memory);
    on_backend(execution, [&](const auto &space) {
      using Space       = std::decay_t<decltype(space)>;
      const auto starts = to_backend<Space>(rows.starts), columns = to_backend<Space>(rows.columns),
                 outside_starts = to_backend<Space>(rows.outside_starts), outside_columns = to_backend<Space>(rows.outside_columns);
      const auto values = to_backend<Space>(rows.values), outside_values = to_backend<Space>(rows.outside_values),
                 rhs = to_backend<Space>(b), solution = to_backend<Space>(x), made = to_backend<Space>(product);
      ProbeRows<std::int32_t> matrix;
      matrix.rows            = 4;
      matrix.inside          = {starts.data(), columns.data(), values.data()};
      matrix.outside         = {outside_starts.data(), outside_columns.data(), outside_values.data()};
      const ProbeSizes sizes = probe_sizes(execution, matrix);
      EXPECT_EQ(sizes.rows, 3);
      EXPECT_NEAR(sizes.logarithms, std::log2(4) + std::log2(3e-20) + std::log2(7e20), 1e-9);
      for (const double *given : {static_cast<const double *>(nullptr), static_cast<const double *>(made.data())}) {
        constexpr double unit = 2;
        ProbeSums expected;
        for (Index i = 0; i < 4; i++) {
          double sum = 0, size = 0;
          for (Index j = 0; j < 4; j++) {
            sum += rows.entry(i, j) * x[static_cast<std::size_t>(j)];
            size += std::abs(rows.entry(i, j) * x[static_cast<std::size_t>(j)]);
          }
          const auto at  = static_cast<std::size_t>(i);
          const double r = b[at] - (given ? product[at] : sum), whole = std::abs(b[at]) + size;
          expected.residual += r / unit * (r / unit);
          expected.rhs += b[at] / unit * (b[at] / unit);
          expected.backward += r == 0 ? 0 : r / whole * (r / whole);
        }
        const ProbeSums got = probe_sums(execution, matrix, unit, given, rhs.data(), solution.data());
        EXPECT_NEAR(got.residual / expected.residual, 1, 1e-12);
        EXPECT_NEAR(got.rhs / expected.rhs, 1, 1e-12);
        EXPECT_NEAR(got.backward / expected.backward, 1, 1e-12);
      }
    });
  }
}

TEST(Probe, IsTheSameHoweverRowsAreShared)
{
  for (Memory memory : memories()) {
    const Execution execution(memory);
    on_backend(execution, [&](const auto &space) {
      using Space = std::decay_t<decltype(space)>;
      const Kokkos::View<double *, typename Space::memory_space> whole("test", 100), part("test", 40);
      set_probe(execution, 0, 100, 3, whole.data());
      set_probe(execution, 60, 40, 3, part.data());
      execution.wait();
      const auto all = to_host(whole), some = to_host(part);
      double sum = 0;
      for (std::size_t i = 0; i < 100; i++) {
        EXPECT_LE(std::abs(all[i]), 3);
        sum += all[i];
        if (i >= 60) {
          EXPECT_EQ(all[i], some[i - 60]);
        }
      }
      EXPECT_LE(std::abs(sum / 100), 0.6);
    });
  }
}

TEST(Probe, LooksAtDenseMatrices)
{
  const std::vector<double> a{2, 1, 0, 1, 3, 0}, b{1, 1}, x{0.5, 0.25}; // two columns, three elements apart
  for (Memory memory : memories()) {
    const Execution execution(memory);
    on_backend(execution, [&](const auto &space) {
      using Space    = std::decay_t<decltype(space)>;
      const auto all = to_backend<Space>(a), rhs = to_backend<Space>(b), solution = to_backend<Space>(x);
      ProbeRows<std::int32_t> matrix;
      matrix.rows         = 2;
      matrix.dense        = all.data();
      matrix.ld           = 3;
      const ProbeSums got = probe_sums(execution, matrix, 1, nullptr, rhs.data(), solution.data());
      EXPECT_NEAR(got.residual, 0.25 * 0.25 + 0.25 * 0.25, 1e-15);
      EXPECT_NEAR(got.rhs, 2, 1e-15);
      EXPECT_NEAR(got.backward, 0.25 * 0.25 / (2.25 * 2.25) * 2, 1e-15);
    });
  }
}

} // namespace
} // namespace weft::test
