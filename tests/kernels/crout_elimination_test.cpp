// Exact elimination by levels and by waiting rows against one thread, and what these know of a pattern.
#include <cstring>

#include "crout/model_on.hpp"
#include "crout/short_pattern.hpp"
#include "crout_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// A matrix on a space and what elimination knows of its pattern.
template <class Space>
struct Pattern {
  Space space;
  Execution execution;
  DeviceCsr<std::int32_t> csr;
  crout::FactorEntries<Space> entries;
  crout::Array<std::uint64_t, Space> mirror;

  Pattern(const SparseRows &a, bool symmetric)
      : execution(triangular::on_host<Space> ? Memory::host : Memory::device), csr(execution, a),
        entries(crout::entries_of(space, static_cast<Index>(a.size()), csr.matrix(), crout::Orders<Space>(), symmetric, true)),
        mirror(crout::upper_columns(space, entries).entries)
  {
  }
};

TEST(CroutElimination, EliminationByLevelsIsThatOfOneThread)
{
  using Space = Kokkos::DefaultHostExecutionSpace;
  std::mt19937 random(28);
  for (const bool symmetric : {false, true}) {
    for (const auto &a : {five_point(40), random_sparse(700, 9, random, symmetric)}) {
      const Pattern<Space> pattern(a, symmetric);
      const auto &[space, execution, csr, entries, mirror] = pattern;
      const auto levels                                    = *crout::level_rows(space, entries);
      EXPECT_LT(levels.levels(), entries.rows);
      EXPECT_EQ(crout::level_rows(space, entries, levels.levels())->levels(), levels.levels());
      EXPECT_FALSE(crout::level_rows(space, entries, 2));
      const crout::PivotRule<Space> rule{crout::make_array<double>(space, "sums", entries.rows), 1e-14, 2e-14};
      const auto matrix = crout::make_array<double>(space, "matrix", entries.size());
      const auto one    = crout::make_array<double>(space, "one", entries.size()),
                 many   = crout::make_array<double>(space, "many", entries.size());
      crout::gather_values(space, entries, csr.matrix().values, crout::Scales<Space>(), matrix, rule.sums);
      crout::eliminate_in_order(entries, mirror, rule, matrix, one, symmetric);
      crout::LevelEliminator<double, Space>(space, entries, mirror, symmetric, levels).run(space, rule, matrix, many);
      space.fence();
      EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(double)), 0);
    }
  }
}

/// Exact factors of Scalar on a space's memory by one way or another, as a vector.
template <class Scalar, class Space>
std::vector<Scalar> eliminated(const SparseRows &a, bool symmetric, bool waiting)
{
  const Pattern<Space> pattern(a, symmetric);
  const auto &[space, execution, csr, entries, mirror] = pattern;
  const crout::PivotRule<Space> rule{crout::make_array<double>(space, "sums", entries.rows), 1e-14, 2e-14};
  const auto matrix = crout::make_array<Scalar>(space, "matrix", entries.size()),
             values = crout::make_array<Scalar>(space, "values", entries.size());
  crout::gather_values(space, entries, csr.matrix().values, crout::Scales<Space>(), matrix, rule.sums);
  if (waiting) {
    const auto order = crout::ready_rows(space, entries);
    EXPECT_TRUE(order);
    crout::WaitingEliminator<Scalar, Space>(space, entries, mirror, symmetric, *order).run(space, rule, matrix, values);
  } else if constexpr (std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>) {
    crout::eliminate_in_order(entries, mirror, rule, matrix, values, symmetric);
  }
  return crout::to_vector<Scalar>(space, values);
}

template <class Scalar, class Space>
void compare_waiting(const char *where)
{
  SCOPED_TRACE(where);
  std::mt19937 random(29);
  SparseRows line(300);
  for (std::size_t i = 0; i < line.size(); i++) {
    if (i > 0) line[i][i - 1] = -1;
    line[i][i] = 2.5;
    if (i + 1 < line.size()) line[i][i + 1] = -1.25;
  }
  for (const bool symmetric : {false, true}) {
    std::vector<SparseRows> all{five_point(1),
                                five_point(33),
                                random_sparse(2, 1, random, symmetric),
                                random_sparse(700, 9, random, symmetric),
                                random_sparse(257, 70, random, symmetric),
                                random_sparse(257, 200, random, symmetric),
                                random_sparse(900, 900, random, symmetric)};
    if (!symmetric) all.push_back(line);
    for (const auto &a : all) {
      SCOPED_TRACE(std::to_string(a.size()) + " rows" + (symmetric ? ", symmetric" : ""));
      const auto one  = eliminated<Scalar, Kokkos::DefaultHostExecutionSpace>(a, symmetric, false);
      const auto many = eliminated<Scalar, Space>(a, symmetric, true), again = eliminated<Scalar, Space>(a, symmetric, true);
      ASSERT_EQ(one.size(), many.size());
      EXPECT_EQ(std::memcmp(many.data(), again.data(), many.size() * sizeof(Scalar)), 0);
      double largest = 0, apart = 0;
      for (std::size_t k = 0; k < one.size(); k++) {
        largest = std::max(largest, static_cast<double>(std::abs(one[k])));
        apart   = std::max(apart, static_cast<double>(std::abs(one[k] - many[k])));
      }
      EXPECT_LE(apart, 200 * std::numeric_limits<Scalar>::epsilon() * largest);
    }
  }
}

TEST(CroutElimination, WaitingEliminationIsThatOfOneThread)
{
  compare_waiting<double, Kokkos::DefaultHostExecutionSpace>("host, double");
  compare_waiting<float, Kokkos::DefaultHostExecutionSpace>("host, float");
#if defined(KOKKOS_ENABLE_CUDA)
  compare_waiting<double, Kokkos::Cuda>("device, double");
  compare_waiting<float, Kokkos::Cuda>("device, float");
#endif
}

TEST(CroutElimination, ReadyRowsComeAfterWhatTheyWaitFor)
{
  using Space = Kokkos::DefaultExecutionSpace;
  std::mt19937 random(30);
  for (const auto &a : {five_point(40), random_sparse(700, 9, random, false)}) {
    const Pattern<Space> pattern(a, false);
    const auto &[space, execution, csr, entries, mirror] = pattern;
    const auto ready                                     = crout::ready_rows(space, entries);
    ASSERT_TRUE(ready);
    const auto rows = crout::to_vector<std::int32_t>(space, ready->rows);
    std::vector<std::size_t> place(rows.size(), rows.size());
    for (std::size_t p = 0; p < rows.size(); p++) place[static_cast<std::size_t>(rows[p])] = p;
    std::vector<Index> level(rows.size(), 0);
    for (std::size_t i = 0; i < rows.size(); i++) {
      ASSERT_LT(place[i], rows.size());
      for (const auto &entry : a[i]) {
        const std::size_t j = entry.first;
        if (j >= i) continue;
        EXPECT_LT(place[j], place[i]);
        level[i] = std::max(level[i], level[j] + 1);
      }
    }
    const Index levels = *std::max_element(level.begin(), level.end()) + 1;
    EXPECT_EQ(ready->levels(), levels);
    EXPECT_TRUE(crout::ready_rows(space, entries, levels));
    EXPECT_FALSE(crout::ready_rows(space, entries, levels - 1));
  }
}

TEST(CroutElimination, ShortPatternSaysWhichWordsOfUpperRowsMeet)
{
  using Space = Kokkos::DefaultHostExecutionSpace;
  std::mt19937 random(31);
  for (const bool symmetric : {false, true}) {
    for (const auto &a : {five_point(1), five_point(30), random_sparse(700, 9, random, symmetric),
                          random_sparse(400, 35, random, symmetric), random_sparse(300, 75, random, symmetric)}) {
      const Pattern<Space> problem(a, symmetric);
      const auto &[space, execution, csr, entries, mirror] = problem;
      const auto order                                     = crout::ready_rows(space, entries);
      ASSERT_LE(order->longest, crout::most_in_registers);
      const auto pattern = crout::short_pattern(space, entries, mirror, symmetric, *order);
      EXPECT_EQ(pattern.lanes, order->longest <= 32 ? 32 : order->longest <= 64 ? 64 : 128);
      for (Index p = 0; p < entries.rows; p++) {
        const crout::ShortRow row = pattern.rows(p);
        EXPECT_EQ(row.row, order->rows(p));
        const int last = row.below + row.right, padded = (row.below + crout::word_group - 1) / crout::word_group * crout::word_group;
        for (int l = 0; l < padded; l++) {
          for (int k = 0; k < pattern.lanes; k++) {
            const std::uint64_t bytes = pattern.words((Index(row.group) + l / crout::word_group) * pattern.lanes + k);
            const unsigned word       = (bytes >> (8 * (l % crout::word_group))) & 0xffu;
            Index wanted              = -1; // the word of U in row m and the column of entry k
            if (l < row.below && k <= last) {
              const std::int32_t m = entries.columns(Index(row.lower) + l);
              const std::int32_t j =
                  k == last ? row.row : entries.columns(k < row.below ? Index(row.lower) + k : Index(row.upper) + k - row.below);
              if (j > m && !(symmetric && j < row.row)) wanted = entries.find(m, j);
            }
            if (word == crout::ShortPattern<Space>::no_word)
              EXPECT_EQ(wanted, -1);
            else
              EXPECT_EQ(Index(pattern.begins(Index(row.lower) + l)) + word, wanted);
          }
        }
      }
    }
  }
}

} // namespace
