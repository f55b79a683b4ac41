// Lines through rows of any ranks in any order, against the serial twin of each line: every rank looks at its own rows.
#include <algorithm>
#include <array>

#include "line/ranks/joined_line_solver.hpp"
#include "pieces.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// Lines through the rows of a matrix that all ranks know, and this rank's part of both. A row's neighbours on its line are anywhere.
template <class Scalar>
struct Joined {
  using Values = std::vector<Scalar>;
  std::vector<Index> first_rows{0};      ///< of the ranks
  std::vector<std::vector<Index>> lines; ///< rows of the whole matrix
  Values lower, diagonal, upper, rhs, start;
  HostLines own_lines; ///< of this rank, crossing or not
  std::shared_ptr<std::vector<JoinedPieces>> parts = std::make_shared<std::vector<JoinedPieces>>(1);
  std::vector<std::int32_t> inside_starts{0}, inside_columns, outside_starts{0}, outside_columns;
  Values inside, outside;
  std::vector<std::int64_t> outside_rows; ///< of the columns of `outside`

  /// `runs`: rows that follow each other on a rank, at most.
  Joined(std::mt19937 &random, Index most_rows, Index runs)
  {
    for (int r = 0; r < ranks(); r++)
      first_rows.push_back(first_rows.back() + (between(random, 0, 4) == 0 ? 0 : between(random, 1, most_rows)));
    const Index all = first_rows.back();
    deal_rows(random, runs);
    const auto n = static_cast<std::size_t>(all);
    lower        = random_values<Scalar>(n, random);
    upper        = random_values<Scalar>(n, random);
    diagonal     = random_values<Scalar>(n, random, 0.1, 1);
    rhs          = random_values<Scalar>(n, random);
    start        = random_values<Scalar>(n, random);
    for (const auto &line : lines) {
      lower[at(line.front())] = upper[at(line.back())] = 0;
      for (std::size_t k = 0; k < line.size(); k++) // dominant, and its transpose too
        diagonal[at(line[k])] += std::abs(lower[at(line[k])]) + std::abs(upper[at(line[k])]) +
                                 (k > 0 ? std::abs(upper[at(line[k - 1])]) : 0) +
                                 (k + 1 < line.size() ? std::abs(lower[at(line[k + 1])]) : 0);
    }
    cut();
    take_part();
  }
  static std::size_t at(Index row) { return static_cast<std::size_t>(row); }
  Index first() const { return first_rows[static_cast<std::size_t>(rank())]; }
  Index rows() const { return first_rows[static_cast<std::size_t>(rank()) + 1] - first(); }
  int rank_of(Index row) const
  {
    return static_cast<int>(std::upper_bound(first_rows.begin(), first_rows.end(), row) - first_rows.begin()) - 1;
  }
  Values part(const Values &whole) const
  {
    return Values(whole.begin() + static_cast<std::ptrdiff_t>(first()), whole.begin() + static_cast<std::ptrdiff_t>(first() + rows()));
  }

  Values expected(const SolveOptions<Scalar> &options, bool add) const
  {
    Values result = start;
    for (const auto &line : lines) {
      Values l, d, u, b;
      for (std::size_t k = 0; k < line.size(); k++) {
        const bool transposed = options.transpose == Transpose::yes;
        l.push_back(k == 0 ? 0 : transposed ? upper[at(line[k - 1])] : lower[at(line[k])]);
        d.push_back(diagonal[at(line[k])]);
        u.push_back(k + 1 == line.size() ? 0 : transposed ? lower[at(line[k + 1])] : upper[at(line[k])]);
        b.push_back(rhs[at(line[k])]);
      }
      const Values z = reference::solve_tridiagonal(l, d, u, b);
      for (std::size_t k = 0; k < line.size(); k++) result[at(line[k])] = options.update.scale * z[k] + (add ? result[at(line[k])] : 0);
    }
    return result;
  }

private:
  JoinedPieces &joined() { return parts->front(); }
  /// All rows in lines of random length, in runs on random ranks.
  void deal_rows(std::mt19937 &random, Index runs)
  {
    std::vector<Index> next(first_rows.begin(), first_rows.end() - 1);
    Index left = first_rows.back();
    while (left > 0) {
      if (lines.empty() || between(random, 0, 5) == 0) lines.emplace_back();
      const auto r = static_cast<std::size_t>(between(random, 0, ranks() - 1));
      for (Index k = between(random, 1, runs); k > 0 && next[r] < first_rows[r + 1]; k--, left--) lines.back().push_back(next[r]++);
    }
    lines.erase(std::remove_if(lines.begin(), lines.end(), [](const auto &line) { return line.empty(); }), lines.end());
  }
  void cut()
  {
    JoinedPieces &pieces = joined();
    for (const auto &line : lines) {
      std::vector<std::size_t> begins; // of pieces
      for (std::size_t k = 0; k < line.size(); k++) {
        if (k == 0 || rank_of(line[k]) != rank_of(line[k - 1])) begins.push_back(k);
      }
      begins.push_back(line.size());
      const bool crosses = begins.size() > 2;
      for (std::size_t j = 0; j + 1 < begins.size(); j++) {
        const int where = rank_of(line[begins[j]]);
        if (crosses) pieces.ranks.push_back(where);
        if (where != rank()) continue;
        for (HostLines *to : {&own_lines, &pieces.own}) {
          if (to == &pieces.own && !crosses) continue;
          for (std::size_t k = begins[j]; k < begins[j + 1]; k++) to->rows.push_back(line[k] - first());
          to->starts.push_back(static_cast<Index>(to->rows.size()));
        }
        if (!crosses) continue;
        pieces.before.push_back(j == 0 ? -1 : line[begins[j] - 1]);
        pieces.after.push_back(j + 2 == begins.size() ? -1 : line[begins[j + 1]]);
      }
      if (crosses) pieces.starts.push_back(static_cast<Index>(pieces.ranks.size()));
    }
  }
  /// The lines' entries and some that are on no line.
  void take_part()
  {
    std::vector<std::array<Index, 2>> around(at(first_rows.back()), {-1, -1});
    for (const auto &line : lines) {
      for (std::size_t k = 0; k < line.size(); k++)
        around[at(line[k])] = {k > 0 ? line[k - 1] : -1, k + 1 < line.size() ? line[k + 1] : -1};
    }
    for (int pass = 0; pass < 2; pass++) {
      for (Index row = first(); row < first() + rows(); row++) {
        const auto put = [&](Index column, Scalar value) {
          if (column < 0) return;
          if (rank_of(column) == rank()) {
            if (pass == 0) inside_columns.push_back(static_cast<std::int32_t>(column - first())), inside.push_back(value);
            return;
          }
          if (pass == 0) outside_rows.push_back(column);
          if (pass == 0) return;
          outside_columns.push_back(
              static_cast<std::int32_t>(std::lower_bound(outside_rows.begin(), outside_rows.end(), column) - outside_rows.begin()));
          outside.push_back(value);
        };
        const auto [before, after] = around[at(row)];
        put(row, diagonal[at(row)]);
        put(before, lower[at(row)]);
        const Index off_line = (row * 7 + 3) % first_rows.back();
        if (off_line != row && off_line != before && off_line != after) put(off_line, Scalar(0.5));
        put(after, upper[at(row)]);
        if (pass == 0) inside_starts.push_back(static_cast<std::int32_t>(inside.size()));
        if (pass == 1) outside_starts.push_back(static_cast<std::int32_t>(outside.size()));
      }
      std::sort(outside_rows.begin(), outside_rows.end());
      outside_rows.erase(std::unique(outside_rows.begin(), outside_rows.end()), outside_rows.end());
    }
  }
};

/// Of the host, read from the matrix.
template <class Scalar>
struct JoinedSolving {
  Execution host{Memory::host};
  LineMap map;
  Owner<JoinedLineSolver<Scalar>> solver;

  explicit JoinedSolving(const Joined<Scalar> &problem, const std::string &method = "auto")
      : map(host, problem.rows(), problem.own_lines), solver(JoinedLineSolver<Scalar>::make(map, MPI_COMM_WORLD, problem.parts, method))
  {
    read(problem);
  }
  void read(const Joined<Scalar> &problem)
  {
    using Csr = CsrMatrix<Scalar, std::int32_t>;
    solver->read(Csr{problem.inside_starts.data(), problem.inside_columns.data(), problem.inside.data()},
                 Csr{problem.outside_starts.data(), problem.outside_columns.data(), problem.outside.data()}, problem.outside_rows);
    solver->factor();
  }
};

TEST(JoinedLines, AgreeWithTheSerialTwin)
{
  std::mt19937 random(51);
  for (int trial = 0; trial < 40; trial++) {
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      const Joined<Scalar> problem(random, trial % 2 ? 12 : 90, trial % 3 ? 3 : 25);
      JoinedSolving<Scalar> reader(problem, trial % 4 ? "auto" : "cr");
      const Execution execution(memory);
      const LineMap map(execution, reader.map);
      const auto solver =
          JoinedLineSolver<Scalar>::make(map, MPI_COMM_WORLD, problem.parts, trial % 4 ? "auto" : "cr", {}, memory == Memory::host);
      solver->read(*reader.solver);
      solver->factor();
      EXPECT_FALSE(solver->bad_pivot());
      for (Transpose transpose : {Transpose::no, Transpose::yes, Transpose::no}) {
        const bool add = between(random, 0, 1) == 1;
        const SolveOptions<Scalar> options{{trial % 2 ? Scalar(0.7) : Scalar(1), add}, Colour::all, transpose};
        const Buffer<Scalar> rhs(memory, problem.part(problem.rhs)), x(memory, problem.part(problem.start));
        solver->solve(rhs.data(), x.data(), options);
        execution.wait();
        compare<Scalar>(x.values(), problem.part(problem.expected(options, add)), 400 * std::numeric_limits<Scalar>::epsilon());
        EXPECT_EQ(rhs.values(), problem.part(problem.rhs)) << "the right-hand side must be kept";
      }
    });
  }
}

TEST(JoinedLines, NewValuesNewFactors)
{
  std::mt19937 random(52);
  Joined<double> problem(random, 40, 5);
  JoinedSolving<double> s(problem);
  for (auto *values : {&problem.inside, &problem.outside, &problem.lower, &problem.diagonal, &problem.upper}) {
    for (double &value : *values) value *= 3;
  }
  s.read(problem);
  auto rhs = problem.part(problem.rhs), x = problem.part(problem.start);
  s.solver->solve(rhs.data(), x.data());
  compare(x, problem.part(problem.expected({}, false)), 1e-13);
}

TEST(JoinedLines, ReportBadPivotsOnTheirRank)
{
  std::mt19937 random(53);
  for (int trial = 0; trial < 6; trial++) {
    Joined<double> problem(random, 20, 4);
    const Index row = between(random, 0, problem.first_rows.back() - 1);
    const bool mine = problem.rank_of(row) == rank();
    if (mine) { // the row couples to nothing
      for (auto k = problem.inside_starts[static_cast<std::size_t>(row - problem.first())];
           k < problem.inside_starts[static_cast<std::size_t>(row - problem.first()) + 1]; k++)
        problem.inside[static_cast<std::size_t>(k)] = 0;
      for (auto k = problem.outside_starts[static_cast<std::size_t>(row - problem.first())];
           k < problem.outside_starts[static_cast<std::size_t>(row - problem.first()) + 1]; k++)
        problem.outside[static_cast<std::size_t>(k)] = 0;
    }
    JoinedSolving<double> s(problem);
    const auto bad = s.solver->bad_pivot();
    if (mine) {
      EXPECT_TRUE(bad);
      if (bad) {
        EXPECT_EQ(*bad, row - problem.first());
      }
    }
  }
}

TEST(JoinedLines, ReportWhatOnlyTheReducedSystemShows)
{
  if (ranks() == 1) return;
  // One line through one row of two ranks, [1 -1; -1 1].
  const int here = rank();
  HostLines own;
  JoinedPieces pieces;
  pieces.ranks  = {1, 0};
  pieces.starts = {0, 2};
  std::vector<std::int32_t> starts{0}, column{0}, outside_starts{0};
  const std::vector<double> one{1}, minus{-1};
  if (here < 2) {
    own.rows = {0};
    own.starts.push_back(1);
    pieces.own    = own;
    pieces.before = {here == 0 ? 1 : -1};
    pieces.after  = {here == 0 ? -1 : 0};
    starts.push_back(1);
    outside_starts.push_back(1);
  }
  const std::vector<std::int64_t> other{1 - here};
  const Execution host(Memory::host);
  const LineMap map(host, here < 2 ? 1 : 0, own);
  const auto solver = JoinedLineSolver<double>::make(map, MPI_COMM_WORLD, std::make_shared<std::vector<JoinedPieces>>(1, pieces), "auto");
  using Csr         = CsrMatrix<double, std::int32_t>;
  solver->read(Csr{starts.data(), column.data(), one.data()}, Csr{outside_starts.data(), column.data(), minus.data()}, other);
  solver->factor();
  EXPECT_EQ(solver->bad_pivot().has_value(), here == 0); // the second piece
}

} // namespace
