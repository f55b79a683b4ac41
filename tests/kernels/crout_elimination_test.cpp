// Exact elimination by levels and by waiting rows against one thread, and what these know of a pattern.
#include <cmath>
#include <cstring>
#include <optional>

#include "crout/elimination/elimination.hpp"
#include "crout/elimination/short_pattern.hpp"
#include "crout/sweeps/values.hpp"
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
      const crout::Written written = crout::eliminate_in_order(entries, mirror, rule, matrix, one, symmetric);
      EXPECT_EQ(written.largest, crout::largest_size(space, one));
      EXPECT_EQ(written.not_finite, std::numeric_limits<Index>::max());
      crout::LevelEliminator<double, Space>(space, entries, mirror, symmetric, levels).run(space, rule, matrix, many);
      space.fence();
      EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(double)), 0);
    }
  }
}

/// What exact elimination makes of a matrix.
template <class Scalar>
struct Exact {
  std::vector<Scalar> values;
  Index not_finite = std::numeric_limits<Index>::max(); ///< the first row with such a value
};

/// Matrices of one pattern, one after the other by one eliminator; by one thread where `waiting` is false. Pivots up to `smallest` times the
/// row's sum are replaced. lanes: threads of a row, as many as a device's warps have.
template <class Scalar, class Space, int lanes = crout::lanes_of_waiting<Space>>
std::vector<Exact<Scalar>> eliminated(const std::vector<SparseRows> &matrices, bool symmetric, bool waiting, double smallest)
{
  using Waiting = crout::WaitingEliminator<Scalar, Space, lanes>;
  std::vector<Exact<Scalar>> found;
  std::optional<Pattern<Space>> first;
  std::optional<Waiting> eliminator;
  for (const SparseRows &a : matrices) {
    const Pattern<Space> pattern(a, symmetric);
    const auto &[space, execution, csr, entries, mirror] = pattern;
    const crout::PivotRule<Space> rule{crout::make_array<double>(space, "sums", entries.rows), smallest, 2 * smallest};
    const auto matrix = crout::make_array<Scalar>(space, "matrix", entries.size()),
               values = crout::make_array<Scalar>(space, "values", entries.size());
    crout::gather_values(space, entries, csr.matrix().values, crout::Scales<Space>(), matrix, rule.sums);
    Exact<Scalar> exact;
    if (waiting) {
      if (!first) {
        first.emplace(a, symmetric);
        const auto order = crout::ready_rows(space, first->entries);
        EXPECT_TRUE(order);
        eliminator.emplace(space, first->entries, first->mirror, symmetric, *order);
      }
      eliminator->run(space, rule, matrix, values);
      exact.not_finite = crout::to_vector<Index>(space, eliminator->not_finite())[0];
    } else if constexpr (triangular::on_host<Space>) {
      exact.not_finite = crout::eliminate_in_order(entries, mirror, rule, matrix, values, symmetric).not_finite;
    }
    exact.values = crout::to_vector<Scalar>(space, values);
    found.push_back(exact);
  }
  return found;
}

/// The matrix with other values in the same places.
SparseRows other_values(SparseRows a)
{
  for (std::size_t i = 0; i < a.size(); i++) {
    for (auto &[j, value] : a[i]) value *= i == j ? 1.25 : 0.5 + 0.01 * static_cast<double>((i + j) % 17);
  }
  return a;
}

/// Rows of at most `longest` entries, one of them so long, and most with few.
SparseRows rows_up_to(std::size_t longest, std::size_t rows, bool symmetric)
{
  SparseRows a(rows);
  const auto couple = [&](std::size_t i, std::size_t j, double value) {
    a[i][j] = value;
    a[j][i] = symmetric ? value : 0.5 * value;
  };
  for (std::size_t i = 0; i < rows; i++) {
    a[i][i] = 4;
    if (i + 3 < rows) couple(i, i + 3, -1);
  }
  const std::size_t middle = rows / 2;
  for (std::size_t j = 0; a[middle].size() < longest && j < rows; j++) {
    if (a[middle].count(j) == 0) couple(middle, j, -0.01 * static_cast<double>(1 + j % 5));
  }
  return a;
}

template <class Scalar, class Space, int lanes = crout::lanes_of_waiting<Space>>
void compare_waiting(const char *where)
{
  SCOPED_TRACE(where);
  static int compared = 0;
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
                                random_sparse(sample() > 0 ? 150
                                              : symmetric  ? 530
                                                           : 300,
                                              2600, random, symmetric)};
    if (!symmetric) all.push_back(line);
    // Around what fits into the registers of a lane and into scratch memory.
    for (const std::size_t longest : {32, 33, 64, 65, 128, 129, 512, 513})
      all.push_back(rows_up_to(longest, sample() > 0 ? longest + 40 : 1100, symmetric));
    if (sample() == 0) all.push_back(rows_up_to(90, 40000, symmetric)); // more rows are ready than teams fit
    for (const auto &a : all) {
      SCOPED_TRACE(std::to_string(a.size()) + " rows" + (symmetric ? ", symmetric" : ""));
      for (const double smallest : {1e-14, 0.55}) { // some pivots are replaced
        // Threads that wait for each other take seconds for each under some tools: of few samples one in seven, which meets every matrix.
        if (sample() > 0 && compared++ % std::min(sample(), 7) != 0) continue;
        std::vector<SparseRows> matrices{a};
        if (smallest < 0.5) matrices.push_back(other_values(a));
        const auto one = eliminated<Scalar, Kokkos::DefaultHostExecutionSpace>(matrices, symmetric, false, smallest);
        matrices.push_back(a);
        const auto many = eliminated<Scalar, Space, lanes>(matrices, symmetric, true, smallest);
        EXPECT_EQ(std::memcmp(many.front().values.data(), many.back().values.data(), many[0].values.size() * sizeof(Scalar)), 0);
        for (std::size_t m = 0; m < one.size(); m++) {
          const auto &wanted = one[m].values, &found = many[m].values;
          ASSERT_EQ(wanted.size(), found.size());
          double largest = 0, apart = 0;
          for (std::size_t k = 0; k < wanted.size(); k++) {
            largest = std::max(largest, static_cast<double>(std::abs(wanted[k])));
            apart   = std::max(apart, static_cast<double>(std::abs(wanted[k] - found[k])));
          }
          EXPECT_LE(apart, 200 * std::numeric_limits<Scalar>::epsilon() * largest);
          EXPECT_EQ(many[m].not_finite, std::numeric_limits<Index>::max());
        }
      }
    }
  }
}

TEST(CroutElimination, WaitingEliminationIsThatOfOneThread)
{
  if (memories().front() == Memory::host) {
    using Host = Kokkos::DefaultHostExecutionSpace;
    compare_waiting<double, Host, 32>("host, double");
    compare_waiting<float, Host, 32>("host, float");
    compare_waiting<double, Host, 64>("host, double, warps of 64"); // AMD's CDNA
    compare_waiting<float, Host, 64>("host, float, warps of 64");
  }
#if defined(WEFT_HAVE_VENDOR)
  compare_waiting<double, vendor::Space>("device, double");
  compare_waiting<float, vendor::Space>("device, float");
#endif
}

/// Numbers that overflow on their way, and pivots whose inverses do.
template <class Scalar, class Space>
void eliminate_extremes(const char *where)
{
  SCOPED_TRACE(where);
  const double large = std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::max())), tiny = 1 / large / large / 3;
  for (const std::size_t longest : {5, 40, 100, 200}) {
    SCOPED_TRACE(longest);
    SparseRows a = rows_up_to(longest, 400, false);
    a[1][1] = 1 / large, a[4][1] = large,
    a[1][4]             = -2 * large; // row 1 waits for nothing; row 4 is finite in the matrix, not in the factors
    const auto overflow = eliminated<Scalar, Space>({a, rows_up_to(longest, 400, false)}, false, true, 0);
    EXPECT_EQ(overflow[0].not_finite, 4);
    EXPECT_EQ((eliminated<Scalar, Kokkos::DefaultHostExecutionSpace>({a}, false, false, 0)[0].not_finite), 4);
    EXPECT_EQ(overflow[1].not_finite, std::numeric_limits<Index>::max());
    a       = rows_up_to(longest, 400, false);
    a[1][1] = tiny, a[1][4] = 1;
    for (std::size_t i = 4; i < a.size(); i++)
      if (a[i].count(1) > 0) a[i][1] *= tiny;
    const auto small = eliminated<Scalar, Space>({a}, false, true, 0),
               one   = eliminated<Scalar, Kokkos::DefaultHostExecutionSpace>({a}, false, false, 0);
#if defined(WEFT_NATIVE_CUDA)
    const bool by_inverses = !triangular::on_host<Space> && longest <= static_cast<std::size_t>(crout::most_in_registers);
#else
    const bool by_inverses = false;
#endif
    EXPECT_EQ(small[0].not_finite, by_inverses ? 4 : std::numeric_limits<Index>::max());
    for (std::size_t k = 0; !by_inverses && k < one[0].values.size(); k++)
      EXPECT_LE(std::abs(small[0].values[k] - one[0].values[k]), 1e-5 * (1 + std::abs(one[0].values[k])));
  }
}

TEST(CroutElimination, SaysWhereNumbersOverflow)
{
  eliminate_extremes<double, Kokkos::DefaultHostExecutionSpace>("host, double");
  eliminate_extremes<float, Kokkos::DefaultHostExecutionSpace>("host, float");
#if defined(WEFT_HAVE_VENDOR)
  eliminate_extremes<double, vendor::Space>("device, double");
  eliminate_extremes<float, vendor::Space>("device, float");
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
