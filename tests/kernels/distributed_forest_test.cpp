// Lines along the strongest couplings of a matrix whose rows lie on several ranks: the same as those of one rank that has all rows.
#include <algorithm>

#include "line/maps/chains.hpp"
#include "line/ranks/rows_of_ranks.hpp"
#include "pieces.hpp"
#include "sparse_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// This rank's rows of a matrix that all ranks know, as PETSc has them: its own columns, and those of other ranks.
template <class Scalar, class Int>
struct Part {
  std::vector<Index> first_rows{0}; ///< of the ranks
  Buffer<Int> starts, columns, outside_starts, outside_columns;
  Buffer<Scalar> values, outside_values;
  std::vector<std::int64_t> outside; ///< numbers of the outside columns

  static Part make(Memory memory, const Sparse &a, const std::vector<Index> &lengths)
  {
    std::vector<Index> first{0};
    for (const Index length : lengths) first.push_back(first.back() + length);
    const Index begin = my_first(lengths), end = begin + my_length(lengths);
    std::vector<Int> starts[2] = {{0}, {0}}, columns[2];
    std::vector<Scalar> values[2];
    std::vector<std::int64_t> outside;
    for (const auto &[where, value] : a.entries)
      if (where.first >= begin && where.first < end && (where.second < begin || where.second >= end)) outside.push_back(where.second);
    std::sort(outside.begin(), outside.end());
    outside.erase(std::unique(outside.begin(), outside.end()), outside.end());
    for (Index row = begin; row < end; row++) {
      for (auto entry = a.entries.lower_bound({static_cast<int>(row), 0}); entry != a.entries.end() && entry->first.first == row; ++entry) {
        const Index column = entry->first.second;
        const int side     = column < begin || column >= end;
        columns[side].push_back(
            static_cast<Int>(side ? std::lower_bound(outside.begin(), outside.end(), column) - outside.begin() : column - begin));
        values[side].push_back(static_cast<Scalar>(entry->second));
      }
      for (int side = 0; side < 2; side++) starts[side].push_back(static_cast<Int>(columns[side].size()));
    }
    return {first,
            Buffer<Int>(memory, starts[0]),
            Buffer<Int>(memory, columns[0]),
            Buffer<Int>(memory, starts[1]),
            Buffer<Int>(memory, columns[1]),
            Buffer<Scalar>(memory, values[0]),
            Buffer<Scalar>(memory, values[1]),
            outside};
  }
  CsrMatrix<Scalar, Int> inside_view() const { return {starts.data(), columns.data(), values.data()}; }
  CsrMatrix<Scalar, Int> outside_view() const { return {outside_starts.data(), outside_columns.data(), outside_values.data()}; }
};

using RowLists = std::vector<std::vector<Index>>;

RowLists lines_of(const HostLines &map, Index first)
{
  RowLists lines;
  for (std::size_t l = 0; l + 1 < map.starts.size(); l++) {
    lines.emplace_back(map.rows.begin() + map.starts[l], map.rows.begin() + map.starts[l + 1]);
    for (Index &row : lines.back()) row += first;
  }
  return lines;
}

int rank_of(const std::vector<Index> &first_rows, Index row)
{
  return static_cast<int>(std::upper_bound(first_rows.begin(), first_rows.end(), row) - first_rows.begin()) - 1;
}

/// What this rank is to have of the lines of the whole matrix.
struct Expected {
  JoinedPieces joined;
  RowLists own; ///< lines and pieces, by their least row
};

Expected cut(const RowLists &lines, const std::vector<Index> &first_rows)
{
  Expected expected;
  for (const auto &line : lines) {
    const bool crosses =
        std::any_of(line.begin(), line.end(), [&](Index row) { return rank_of(first_rows, row) != rank_of(first_rows, line.front()); });
    for (std::size_t k = 0; k < line.size();) {
      const int where = rank_of(first_rows, line[k]);
      std::size_t end = k;
      while (end < line.size() && rank_of(first_rows, line[end]) == where) end++;
      if (crosses) expected.joined.ranks.push_back(where);
      if (where == rank()) {
        expected.own.emplace_back(line.begin() + static_cast<std::ptrdiff_t>(k), line.begin() + static_cast<std::ptrdiff_t>(end));
        if (crosses) {
          auto &joined = expected.joined;
          for (const Index row : expected.own.back()) joined.own.rows.push_back(row - first_rows[static_cast<std::size_t>(rank())]);
          joined.own.starts.push_back(static_cast<Index>(joined.own.rows.size()));
          joined.before.push_back(k == 0 ? -1 : line[k - 1]);
          joined.after.push_back(end == line.size() ? -1 : line[end]);
          joined.begin_elsewhere += k > 0;
        }
      }
      k = end;
    }
    if (crosses) {
      expected.joined.starts.push_back(static_cast<Index>(expected.joined.ranks.size()));
      expected.joined.longest = std::max(expected.joined.longest, static_cast<Index>(line.size()));
    }
  }
  std::sort(expected.own.begin(), expected.own.end());
  return expected;
}

std::vector<Index> random_lengths(std::mt19937 &random, Index rows)
{
  std::vector<Index> cuts{0, rows};
  for (int r = 1; r < ranks(); r++) cuts.push_back(between(random, 0, rows));
  std::sort(cuts.begin(), cuts.end());
  std::vector<Index> lengths;
  for (std::size_t r = 0; r + 1 < cuts.size(); r++) lengths.push_back(cuts[r + 1] - cuts[r]);
  return lengths;
}

/// Compares the lines of one matrix; returns the number of lines that cross ranks.
template <class Scalar, class Int>
Index check(Memory memory, const Case &c, const std::vector<Index> &lengths, const ForestOptions &options)
{
  const Execution host(Memory::host), execution(memory);
  const auto whole = Csr<Scalar, Int>::make(Memory::host, c.matrix);
  const LineMap one(host, c.matrix.rows, whole.view(), options);
  const auto part = Part<Scalar, Int>::make(memory, c.matrix, lengths);
  const RowsOfRanks others(execution, MPI_COMM_WORLD, my_length(lengths), part.outside_view(), part.outside);
  LineMap map(execution, my_length(lengths), part.inside_view(), options, &others);
  const JoinedPieces joined = join_lines(others, map);

  const Expected expected = cut(lines_of(one.host_lines(), 0), part.first_rows);
  RowLists own            = lines_of(map.host_lines(), my_first(lengths));
  std::sort(own.begin(), own.end());
  EXPECT_EQ(own, expected.own) << c.name << ' ' << c.matrix.rows;
  EXPECT_EQ(map.lines(), static_cast<Index>(own.size()));
  EXPECT_EQ(joined.ranks, expected.joined.ranks) << c.name << ' ' << c.matrix.rows;
  EXPECT_EQ(joined.starts, expected.joined.starts);
  EXPECT_EQ(joined.longest, expected.joined.longest);
  EXPECT_EQ(joined.own.rows, expected.joined.own.rows);
  EXPECT_EQ(joined.own.starts, expected.joined.own.starts);
  EXPECT_EQ(joined.before, expected.joined.before);
  EXPECT_EQ(joined.after, expected.joined.after);
  EXPECT_EQ(joined.begin_elsewhere, expected.joined.begin_elsewhere);
  return joined.count();
}

TEST(ForestOfRanks, IsThatOfOneRank)
{
  std::mt19937 random(61);
  ForestOptions plain, safe, relative;
  plain.safe_pivots       = false;
  safe.least_weight       = 0.13;
  relative.safe_pivots    = false;
  relative.least_relative = 0.5;
  Index crossing          = 0;
  for (const Case &c : graphs()) {
    const std::vector<Index> lengths = random_lengths(random, c.matrix.rows);
    for (const ForestOptions &options : {plain, safe, relative}) {
      if (!sampled()) continue;
      for (Memory memory : memories()) {
        crossing += check<double, std::int32_t>(memory, c, lengths, options);
        crossing += check<double, std::int64_t>(memory, c, lengths, options);
        crossing += check<float, std::int32_t>(memory, c, lengths, options);
      }
    }
  }
  if (sample() == 0) { // or nothing was put to the test
    EXPECT_EQ(crossing > 100, ranks() > 1) << crossing;
  }
}

TEST(ForestOfRanks, CutsCyclesThatGoThroughRanks)
{
  std::mt19937 random(62);
  for (int n : {3, 8, 50}) {
    const Case c{"ring", ring(n, uniform(random, 0.5, 1))};
    ForestOptions options;
    options.safe_pivots = false;
    std::vector<Index> lengths;
    for (Index r = 0; r < ranks(); r++) lengths.push_back(n * (r + 1) / ranks() - n * r / ranks());
    for (Memory memory : memories()) {
      const Index crossing = check<double, std::int32_t>(memory, c, lengths, options);
      EXPECT_EQ(crossing, ranks() > 1 ? 1 : 0);
    }
  }
}

/// The colour of each of this rank's rows.
std::vector<int> colours_of_rows(const LineMap &map)
{
  const HostLines lines = map.host_lines();
  std::vector<int> colours(lines.rows.size());
  for (int colour = 0; colour < map.colours(); colour++) {
    for (Index k = map.colour_rows()[at(colour)]; k < map.colour_rows()[at(colour) + 1]; k++) colours[at(lines.rows[at(k)])] = colour;
  }
  return colours;
}

TEST(ForestOfRanks, HasTheColoursOfOneRank)
{
  std::mt19937 random(63);
  for (const Case &c : graphs()) {
    if (!sampled()) continue;
    const std::vector<Index> lengths = random_lengths(random, c.matrix.rows);
    for (Memory memory : memories()) {
      const Execution host(Memory::host), execution(memory);
      const auto whole = Csr<double, std::int32_t>::make(Memory::host, c.matrix);
      LineMap one(host, c.matrix.rows, whole.view());
      one.colour(whole.view());
      const auto part = Part<double, std::int32_t>::make(memory, c.matrix, lengths);
      const RowsOfRanks others(execution, MPI_COMM_WORLD, my_length(lengths), part.outside_view(), part.outside);
      LineMap map(execution, my_length(lengths), part.inside_view(), {}, &others);
      const JoinedPieces joined     = join_lines(others, map);
      const std::vector<int> across = map.colour(part.inside_view(), &others, &joined);
      const std::vector<int> all = colours_of_rows(one), own = colours_of_rows(map);
      EXPECT_EQ(own, std::vector<int>(all.begin() + my_first(lengths), all.begin() + my_first(lengths) + my_length(lengths))) << c.name;
      EXPECT_EQ(map.colours(), one.colours());
      ASSERT_EQ(static_cast<Index>(across.size()), joined.count());

      const std::vector<JoinedPieces> parts = split_by_colour(joined, across, map.colours(), rank());
      Index lines = 0, begin_elsewhere = 0;
      for (std::size_t colour = 0; colour < parts.size(); colour++) {
        lines += parts[colour].count();
        begin_elsewhere += parts[colour].begin_elsewhere;
        for (const Index row : parts[colour].own.rows) EXPECT_EQ(own[at(row)], static_cast<int>(colour));
        EXPECT_EQ(parts[colour].own.starts.back(), static_cast<Index>(parts[colour].own.rows.size()));
      }
      EXPECT_EQ(lines, joined.count());
      EXPECT_EQ(begin_elsewhere, joined.begin_elsewhere);
    }
  }
}

TEST(ForestOfRanks, NamesRowsThatAreNotFinite)
{
  Sparse a                         = tridiagonal(20, [] { return -1.0; });
  const std::vector<Index> lengths = [] {
    std::vector<Index> even;
    for (Index r = 0; r < ranks(); r++) even.push_back(20 * (r + 1) / ranks() - 20 * r / ranks());
    return even;
  }();
  const Index begin    = lengths.front(); // the first row of the second rank, in a coupling to the first
  const bool is_second = ranks() > 1 && rank() == 1;
  if (ranks() > 1) a.entries[{static_cast<int>(begin), static_cast<int>(begin) - 1}] = std::nan("");
  const Execution host(Memory::host);
  const auto part = Part<double, std::int32_t>::make(Memory::host, a, lengths);
  const RowsOfRanks others(host, MPI_COMM_WORLD, my_length(lengths), part.outside_view(), part.outside);
  const LineMap map(host, my_length(lengths), part.inside_view(), {}, &others);
  EXPECT_EQ(map.not_finite(), is_second ? std::optional<Index>(0) : std::nullopt);
}

} // namespace
