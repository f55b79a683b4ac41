// Lines of matrices without a grid: the linear forest, a user's lines, their colours and the solver along them.
#include <set>

#include "line/maps/mapped_solver.hpp"
#include "sparse_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// Runs body(Scalar{}, Int{}, memory) for each.
template <class Body>
void for_each_type(const Body &body)
{
  for_each_scalar([&](auto scalar, Memory memory) {
    body(scalar, std::int32_t(0), memory);
    body(scalar, std::int64_t(0), memory);
  });
}

TEST(Forest, IsWhatAGreedyPassFinds)
{
  ForestOptions plain, strong, relative;
  plain.safe_pivots = strong.safe_pivots = relative.safe_pivots = false;
  strong.least_weight                                           = 0.3;
  relative.least_relative                                       = 0.5;
  int cases                                                     = 0;
  for (const Case &c : graphs()) {
    for (const ForestOptions &options : {plain, strong, relative}) {
      for_each_type([&](auto scalar, auto integer, Memory memory) {
        using Scalar   = decltype(scalar);
        using Int      = decltype(integer);
        Sparse rounded = c.matrix;
        for (auto &[where, value] : rounded.entries) value = static_cast<double>(static_cast<Scalar>(value));
        const auto csr = Csr<Scalar, Int>::make(memory, c.matrix, true);
        const Execution execution(memory);
        const LineMap map(execution, c.matrix.rows, csr.view(), options);
        const HostLines found = map.host_lines(), expected = reference::linear_forest(rounded, options);
        ASSERT_EQ(found.rows, expected.rows) << c.name << ' ' << c.matrix.rows;
        ASSERT_EQ(found.starts, expected.starts) << c.name << ' ' << c.matrix.rows;
        EXPECT_EQ(map.lines(), static_cast<Index>(expected.starts.size()) - 1);
        cases++;
      });
    }
  }
  EXPECT_GT(cases, 100);
}

/// Each row once, neighbours coupled.
void check_lines(const Sparse &a, const HostLines &lines)
{
  ASSERT_EQ(std::set<Index>(lines.rows.begin(), lines.rows.end()).size(), at(a.rows));
  ASSERT_EQ(lines.rows.size(), at(a.rows));
  ASSERT_EQ(lines.starts.front(), 0);
  ASSERT_EQ(lines.starts.back(), a.rows);
  for (std::size_t l = 0; l + 1 < lines.starts.size(); l++) {
    ASSERT_LT(lines.starts[l], lines.starts[l + 1]);
    for (Index k = lines.starts[l] + 1; k < lines.starts[l + 1]; k++) {
      const int i = static_cast<int>(lines.rows[at(k - 1)]), j = static_cast<int>(lines.rows[at(k)]);
      EXPECT_TRUE(a.at(i, j) != 0 || a.at(j, i) != 0) << i << ' ' << j;
    }
  }
}

/// The smallest pivot of the lines, relative to its diagonal, eliminating forwards or backwards.
double smallest_pivot(const Sparse &a, const HostLines &lines, bool backwards)
{
  double smallest = 1;
  for (std::size_t l = 0; l + 1 < lines.starts.size(); l++) {
    double pivot  = 0;
    const Index n = lines.starts[l + 1] - lines.starts[l];
    for (Index k = 0; k < n; k++) {
      const auto row = [&](Index m) {
        return static_cast<int>(lines.rows[at(backwards ? lines.starts[l + 1] - 1 - m : lines.starts[l] + m)]);
      };
      const int i     = row(k);
      double relative = 1;
      if (k > 0) relative -= a.at(i, row(k - 1)) * a.at(row(k - 1), i) / (a.at(i, i) * a.at(row(k - 1), row(k - 1))) / pivot;
      pivot    = relative;
      smallest = std::min(smallest, relative);
    }
  }
  return smallest;
}

TEST(Forest, PivotsOfItsLinesAreSafe)
{
  double without = 1;
  for (const Case &c : graphs()) {
    for_each_scalar([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      if (!std::is_same_v<Scalar, double>) return;
      const auto csr = Csr<double, int>::make(memory, c.matrix);
      const Execution execution(memory);
      const LineMap map(execution, c.matrix.rows, csr.view());
      check_lines(c.matrix, map.host_lines());
      for (bool backwards : {false, true})
        EXPECT_GT(smallest_pivot(c.matrix, map.host_lines(), backwards), 0) << c.name << ' ' << c.matrix.rows;
      ForestOptions options;
      options.safe_pivots = false;
      const LineMap unsafe(execution, c.matrix.rows, csr.view(), options);
      without = std::min(without, smallest_pivot(c.matrix, unsafe.host_lines(), false));
      EXPECT_GE(map.lines(), unsafe.lines());
    });
  }
  EXPECT_LT(without, 0); // or nothing was put to the test
}

TEST(Forest, OfATridiagonalMatrixIsTheMatrix)
{
  std::mt19937 random(32);
  for_each_type([&](auto scalar, auto integer, Memory memory) {
    for (int n : {1, 2, 3, 16, 17, 101, 1000}) {
      const std::vector<int> number = permutation(n, random);
      Sparse a                      = tridiagonal(n, uniform(random, 0.3, 1));
      for (auto &[where, value] : a.entries) // dominant by rows, in some of them just so
        if (where.first == where.second)
          value =
              std::abs(a.at(where.first, where.first - 1)) + std::abs(a.at(where.first, where.first + 1)) + (where.first % 10 ? 0 : 0.01);
      const auto csr = Csr<decltype(scalar), decltype(integer)>::make(memory, renumbered(a, number));
      const Execution execution(memory);
      const LineMap map(execution, n, csr.view());
      ASSERT_EQ(map.lines(), 1) << n;
      EXPECT_EQ(map.longest(), n);
      HostLines lines = map.host_lines();
      if (lines.rows.front() != number.front()) std::reverse(lines.rows.begin(), lines.rows.end());
      EXPECT_EQ(lines.rows, std::vector<Index>(number.begin(), number.end()));
    }
  });
}

TEST(Forest, OfAnAnisotropicGridIsItsStrongLines)
{
  std::mt19937 random(33);
  const int nx = 23, ny = 19;
  for (bool along_x : {true, false}) {
    const std::vector<int> number = permutation(nx * ny, random);
    const Sparse a                = renumbered(along_x ? grid(nx, ny, 10, 0.1) : grid(nx, ny, 0.1, 10), number);
    for_each_type([&](auto scalar, auto integer, Memory memory) {
      const auto csr = Csr<decltype(scalar), decltype(integer)>::make(memory, a);
      ForestOptions options;
      options.least_relative = 0.5;
      const Execution execution(memory);
      const LineMap map(execution, a.rows, csr.view(), options);
      EXPECT_EQ(map.lines(), along_x ? ny : nx);
      EXPECT_EQ(map.longest(), along_x ? nx : ny);
      check_lines(a, map.host_lines());
    });
  }
}

TEST(Forest, SaysWhereEntriesAreNotFinite)
{
  for_each_type([&](auto scalar, auto integer, Memory memory) {
    Sparse a = tridiagonal(20, [] { return -1.0; });
    const Execution execution(memory);
    const auto good = Csr<decltype(scalar), decltype(integer)>::make(memory, a);
    EXPECT_FALSE(LineMap(execution, a.rows, good.view()).not_finite());
    a.entries[{7, 6}]  = std::numeric_limits<double>::quiet_NaN();
    a.entries[{12, 3}] = std::numeric_limits<double>::infinity();
    const auto bad     = Csr<decltype(scalar), decltype(integer)>::make(memory, a);
    const LineMap map(execution, a.rows, bad.view());
    ASSERT_TRUE(map.not_finite());
    EXPECT_EQ(*map.not_finite(), 7);
    check_lines(a, map.host_lines());
  });
}

TEST(Forest, TakesRowsWithoutDiagonalOrEntries)
{
  for_each_type([&](auto scalar, auto integer, Memory memory) {
    Sparse a; // [4 1; 1 0] pairs a row with one that has no diagonal; row 2 is empty
    a.rows         = 5;
    a.entries      = {{{0, 0}, 4}, {{0, 1}, 1}, {{1, 0}, 1}, {{3, 3}, 1}, {{4, 4}, 2}};
    const auto csr = Csr<decltype(scalar), decltype(integer)>::make(memory, a);
    const Execution execution(memory);
    const LineMap map(execution, a.rows, csr.view());
    EXPECT_EQ(map.host_lines().rows, (std::vector<Index>{0, 1, 2, 3, 4}));
    EXPECT_EQ(map.host_lines().starts, (std::vector<Index>{0, 2, 3, 4, 5}));
    const auto solver = MappedSolver<decltype(scalar)>::lines(map, "auto");
    solver->read(csr.view());
    solver->factor();
    ASSERT_TRUE(solver->bad_pivot());
    EXPECT_EQ(*solver->bad_pivot(), 2);
  });
}

TEST(LineMap, OfAUser)
{
  for_each_scalar([&](auto, Memory memory) {
    const Execution execution(memory);
    const LineMap map(execution, 8, HostLines{{5, 2, 7, 1, 0}, {0, 2, 2, 5}});
    EXPECT_EQ(map.host_lines().rows, (std::vector<Index>{5, 2, 7, 1, 0, 3, 4, 6})); // what is in no line is alone
    EXPECT_EQ(map.host_lines().starts, (std::vector<Index>{0, 2, 5, 6, 7, 8}));
    EXPECT_EQ(map.longest(), 3);
    const auto message = [&](const HostLines &lines) -> std::string {
      try {
        const LineMap wrong(execution, 8, lines);
      } catch (const std::invalid_argument &error) {
        return error.what();
      }
      return "nothing";
    };
    EXPECT_NE(message({{5, 2, 5}, {0, 1, 3}}).find("row 5"), std::string::npos);
    EXPECT_NE(message({{5, 8}, {0, 2}}).find("row 8"), std::string::npos);
    EXPECT_NE(message({{-1}, {0, 1}}).find("row -1"), std::string::npos);
    EXPECT_NE(message({{1, 2}, {0, 1}}), "nothing");
    EXPECT_NE(message({{1, 2}, {0, 2, 1, 2}}), "nothing");
    EXPECT_NE(message({{}, {}}), "nothing");
    EXPECT_EQ(message({{}, {0}}), "nothing");
  });
}

TEST(LineMap, ColoursSeparateCoupledLines)
{
  for (const Case &c : graphs()) {
    HostLines first;
    std::vector<Index> first_colours;
    for_each_type([&](auto scalar, auto integer, Memory memory) {
      const auto csr = Csr<decltype(scalar), decltype(integer)>::make(memory, c.matrix, true);
      const Execution execution(memory);
      const int n = c.matrix.rows;
      HostLines pairs; // many short lines
      for (int i = 0; i < n; i++) {
        pairs.rows.push_back(n - 1 - i);
        if (i % 2 || i + 1 == n) pairs.starts.push_back(i + 1);
      }
      LineMap map(execution, n, pairs);
      map.colour(csr.view());
      const HostLines lines = map.host_lines();
      const auto &colours   = map.colour_rows();
      if (first_colours.empty()) first = lines, first_colours = colours;
      EXPECT_EQ(lines.rows, first.rows); // the same on all backends
      EXPECT_EQ(colours, first_colours);
      ASSERT_EQ(colours.back(), n);
      EXPECT_EQ(map.colours() == 0, n == 0);
      std::vector<int> line_of(at(n)), colour_of(at(n));
      std::set<std::vector<Index>> before, after;
      for (std::size_t l = 0; l + 1 < lines.starts.size(); l++) {
        after.insert({lines.rows.begin() + lines.starts[l], lines.rows.begin() + lines.starts[l + 1]});
        for (Index k = lines.starts[l]; k < lines.starts[l + 1]; k++) line_of[at(lines.rows[at(k)])] = static_cast<int>(l);
      }
      for (std::size_t l = 0; l + 1 < pairs.starts.size(); l++)
        before.insert({pairs.rows.begin() + pairs.starts[l], pairs.rows.begin() + pairs.starts[l + 1]});
      EXPECT_EQ(before, after);
      for (int colour = 0; colour < map.colours(); colour++) {
        EXPECT_LT(colours[at(colour)], colours[at(colour + 1)]);
        for (Index k = colours[at(colour)]; k < colours[at(colour + 1)]; k++) colour_of[at(lines.rows[at(k)])] = colour;
      }
      for (const auto &[where, value] : c.matrix.entries) {
        const auto i = at(where.first), j = at(where.second);
        EXPECT_EQ(line_of[i] == line_of[j], colour_of[i] == colour_of[j]) << c.name;
      }
    });
  }
}

TEST(LineMap, RefusesMoreColoursThanThereAre)
{
  Sparse a;
  a.rows = most_line_colours + 1;
  for (int i = 0; i < a.rows; i++)
    for (int j = 0; j < a.rows; j++) a.entries[{i, j}] = 1;
  for_each_scalar([&](auto scalar, Memory memory) {
    const auto csr = Csr<decltype(scalar), int>::make(memory, a);
    const Execution execution(memory);
    LineMap map(execution, a.rows, HostLines{});
    EXPECT_THROW(map.colour(csr.view()), std::runtime_error);
  });
}

/// Iterations of conjugate gradients to 1e-8; 1000 where they do not get there.
template <class Precondition>
int iterations(const Sparse &a, const Precondition &precondition)
{
  using Vector   = std::vector<double>;
  const auto dot = [](const Vector &x, const Vector &y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); };
  Vector r(at(a.rows)), q(r.size());
  for (std::size_t i = 0; i < r.size(); i++) r[i] = std::sin(1 + 0.7 * static_cast<double>(i));
  Vector z = precondition(r), p = z;
  const double end = 1e-16 * dot(r, r);
  for (int count = 1; count < 1000; count++) {
    std::fill(q.begin(), q.end(), 0);
    for (const auto &[where, value] : a.entries) q[at(where.first)] += value * p[at(where.second)];
    const double rz = dot(r, z), step = rz / dot(p, q);
    if (!(rz > 0)) return 1000;
    for (std::size_t i = 0; i < r.size(); i++) r[i] -= step * q[i];
    if (dot(r, r) < end) return count;
    z               = precondition(r);
    const double on = dot(r, z) / rz;
    for (std::size_t i = 0; i < r.size(); i++) p[i] = z[i] + on * p[i];
  }
  return 1000;
}

/// B^T B + a small diagonal for a random B: definite, far from dominant, entries of both signs.
Sparse random_definite(int n, int entries_in_row, std::mt19937 &random)
{
  Sparse a;
  a.rows = n;
  for (int k = 0; k < n; k++) {
    std::vector<std::pair<int, double>> row;
    for (int e = 0; e < entries_in_row; e++) row.emplace_back((k + static_cast<int>(random() % 12)) % n, uniform(random, -1, 1)());
    for (const auto &[i, x] : row)
      for (const auto &[j, y] : row) a.entries[{i, j}] += x * y;
  }
  for (int i = 0; i < n; i++) a.entries[{i, i}] += 0.02;
  return a;
}

TEST(Forest, IsWorthMoreThanTheDiagonal)
{
  std::mt19937 random(45);
  std::vector<Sparse> matrices{grid(40, 30, 1, 1), grid(40, 30, 1, 0.01), renumbered(grid(20, 20, 0.02, 1), permutation(400, random))};
  for (int entries : {2, 3, 4, 5}) matrices.push_back(random_definite(300, entries, random));
  int uncut_fails = 0;
  for (const Sparse &a : matrices) {
    const Execution host(Memory::host);
    const auto csr   = Csr<double, int>::make(Memory::host, a);
    const int jacobi = iterations(a, [&](std::vector<double> r) {
      for (int i = 0; i < a.rows; i++) r[at(i)] /= a.at(i, i);
      return r;
    });
    const auto lines = [&](bool safe) {
      ForestOptions options;
      options.safe_pivots = safe;
      const LineMap map(host, a.rows, csr.view(), options);
      const auto solver = MappedSolver<double>::lines(map, "auto");
      solver->read(csr.view());
      solver->factor();
      if (solver->bad_pivot()) return 1000;
      return iterations(a, [&](std::vector<double> r) {
        solver->solve(r.data(), r.data());
        return r;
      });
    };
    ASSERT_LT(jacobi, 1000);
    EXPECT_LE(lines(true), jacobi);
    uncut_fails += lines(false) > jacobi;
  }
  EXPECT_GT(uncut_fails, 0); // or nothing was put to the test
}

/// T^-1 rhs along the lines, by the twin.
std::vector<double> line_solution(const Sparse &a, const HostLines &lines, const std::vector<double> &rhs, bool transposed)
{
  std::vector<double> x(rhs.size());
  for (std::size_t l = 0; l + 1 < lines.starts.size(); l++) {
    std::vector<double> lower, diagonal, upper, b;
    const Index first = lines.starts[l], last = lines.starts[l + 1];
    for (Index k = first; k < last; k++) {
      const auto entry = [&](Index other) {
        const int i = static_cast<int>(lines.rows[at(k)]);
        if (other < first || other >= last) return 0.0;
        const int j = static_cast<int>(lines.rows[at(other)]);
        return transposed ? a.at(j, i) : a.at(i, j);
      };
      lower.push_back(entry(k - 1));
      diagonal.push_back(entry(k));
      upper.push_back(entry(k + 1));
      b.push_back(rhs[at(lines.rows[at(k)])]);
    }
    const std::vector<double> z = reference::solve_tridiagonal(lower, diagonal, upper, b);
    for (Index k = first; k < last; k++) x[at(lines.rows[at(k)])] = z[at(k - first)];
  }
  return x;
}

template <class Scalar, class Value, class Int>
void check_solver(Memory memory, const Sparse &a, const std::string &method, bool coloured)
{
  if (!sampled()) return;
  std::mt19937 random(41);
  const double tolerance = 2000 * std::numeric_limits<Scalar>::epsilon();
  const auto csr         = Csr<Value, Int>::make(memory, a, true);
  const Execution execution(memory);
  LineMap map(execution, a.rows, csr.view());
  if (coloured) map.colour(csr.view());
  using Solver      = MappedSolver<Value>;
  const auto solver = Solver::template lines<Scalar>(map, method), copy = Solver::template lines<Scalar>(map, method);
  solver->read(csr.view());
  solver->factor();
  ASSERT_FALSE(solver->bad_pivot());
  copy->read(*solver);
  copy->factor();
  const HostLines lines      = map.host_lines();
  const std::vector<Value> b = random_values<Value>(at(a.rows), random), start = random_values<Value>(at(a.rows), random);
  for (Transpose transpose : {Transpose::no, Transpose::yes}) {
    const std::vector<double> z = line_solution(a, lines, {b.begin(), b.end()}, transpose == Transpose::yes);
    for (int colour = -1; colour < map.colours(); colour++) {
      const Buffer<Value> rhs(memory, b), x(memory, start), y(memory, start), same(memory, b);
      SolveOptions<Value> options{{static_cast<Value>(0.7), true}, static_cast<Colour>(colour), transpose};
      copy->solve(rhs.data(), y.data(), options);
      options.update.add = false;
      solver->solve(rhs.data(), x.data(), options);
      solver->solve(same.data(), same.data(), options);
      execution.wait();
      const auto got = x.values(), added = y.values(), in_place = same.values(), kept = rhs.values();
      EXPECT_EQ(kept, b);
      for (Index k = 0; k < a.rows; k++) {
        const auto i       = at(lines.rows[at(k)]);
        const bool meant   = colour < 0 || (k >= map.colour_rows()[at(colour)] && k < map.colour_rows()[at(colour + 1)]);
        const double scale = tolerance * (1 + std::abs(z[i]));
        EXPECT_NEAR(got[i], meant ? 0.7 * z[i] : start[i], scale) << method << " row " << i;
        EXPECT_NEAR(added[i], start[i] + (meant ? 0.7 * z[i] : 0), scale) << method << " row " << i;
        EXPECT_NEAR(in_place[i], meant ? 0.7 * z[i] : b[i], scale) << method << " row " << i;
      }
    }
  }
}

Sparse dominant(Sparse a)
{
  std::vector<double> sum(at(a.rows), 0);
  for (const auto &[where, value] : a.entries)
    if (where.first != where.second) sum[at(where.first)] += std::abs(value), sum[at(where.second)] += std::abs(value);
  for (int i = 0; i < a.rows; i++) a.entries[{i, i}] = sum[at(i)] + 0.5;
  return a;
}

TEST(MappedSolver, SolvesTheLinesByEveryMethod)
{
  std::mt19937 random(42);
  std::vector<Sparse> matrices{Sparse{}, dominant(renumbered(grid(17, 11, 1, 0.2), permutation(187, random)))};
  for (int n : {1, 2, 3, 40, 150}) matrices.push_back(dominant(random_graph(n, 2.5, random, false)));
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (const Sparse &a : matrices) {
      for (bool coloured : {false, true}) {
        check_solver<Scalar, Scalar, std::int32_t>(memory, a, "auto", coloured);
        check_solver<Scalar, Scalar, std::int64_t>(memory, a, "auto", coloured);
        check_solver<float, double, std::int32_t>(memory, a, "auto", coloured);
      }
    }
    for (const char *method : tridiagonal_method_names()) {
      const Execution execution(memory);
      const auto csr = Csr<Scalar, int>::make(memory, matrices[1]);
      const LineMap map(execution, matrices[1].rows, csr.view());
      if (mapped_method_refuses(method, map)) continue;
      check_solver<Scalar, Scalar, std::int32_t>(memory, matrices[1], method, false);
    }
  });
}

TEST(MappedSolver, TakesNewValuesAndOtherMemory)
{
  std::mt19937 random(43);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar   = decltype(scalar);
    const Sparse a = dominant(random_graph(120, 2.5, random, false));
    Sparse scaled  = a;
    for (auto &[where, value] : scaled.entries) value *= 4;
    const Execution execution(memory), host(Memory::host);
    const auto old = Csr<Scalar, int>::make(memory, a), fresh = Csr<Scalar, int>::make(memory, scaled);
    LineMap map(execution, a.rows, old.view());
    map.colour(old.view());
    const LineMap copy(host, map);
    EXPECT_EQ(copy.host_lines().rows, map.host_lines().rows);
    EXPECT_EQ(copy.colour_rows(), map.colour_rows());
    const auto solver = MappedSolver<Scalar>::lines(map, "auto"), on_host = MappedSolver<Scalar>::lines(copy, "thomas");
    solver->read(old.view());
    solver->factor();
    solver->read(fresh.view());
    solver->factor();
    on_host->read(*solver);
    on_host->factor();
    const std::vector<Scalar> b = random_values<Scalar>(120, random);
    const auto z                = line_solution(scaled, map.host_lines(), {b.begin(), b.end()}, false);
    const Buffer<Scalar> rhs(memory, b), x(memory, b);
    solver->solve(rhs.data(), x.data());
    execution.wait();
    std::vector<Scalar> y(120);
    on_host->solve(b.data(), y.data());
    const auto got = x.values();
    for (std::size_t i = 0; i < 120; i++) {
      EXPECT_NEAR(got[i], z[i], 500 * std::numeric_limits<Scalar>::epsilon());
      EXPECT_NEAR(y[i], z[i], 500 * std::numeric_limits<Scalar>::epsilon());
    }
  });
}

TEST(MappedSolver, LeavesOutWhatCouplesOneLineToTheNext)
{
  std::mt19937 random(46);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar   = decltype(scalar);
    const Sparse a = tridiagonal(30, uniform(random, 0.2, 0.8));
    HostLines lines; // lines of three rows that follow each other in the matrix
    for (int i = 0; i < a.rows; i++) {
      lines.rows.push_back(i);
      if (i % 3 == 2) lines.starts.push_back(i + 1);
    }
    const Execution execution(memory);
    const auto csr = Csr<Scalar, int>::make(memory, a);
    const LineMap map(execution, a.rows, lines);
    const auto solver = MappedSolver<Scalar>::lines(map, "auto");
    solver->read(csr.view());
    solver->factor();
    const std::vector<Scalar> b = random_values<Scalar>(at(a.rows), random);
    const Buffer<Scalar> rhs(memory, b), x(memory, b);
    solver->solve(rhs.data(), x.data());
    execution.wait();
    const auto z   = line_solution(a, lines, {b.begin(), b.end()}, false);
    const auto got = x.values();
    for (std::size_t i = 0; i < z.size(); i++) EXPECT_NEAR(got[i], z[i], 200 * std::numeric_limits<Scalar>::epsilon());
  });
}

TEST(MappedSolver, NamesTheRowOfABadPivot)
{
  std::mt19937 random(44);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    for (double diagonal : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
      for (bool coloured : {false, true}) {
        const int n    = 60;
        Sparse a       = renumbered(dominant(grid(10, 6, 1, 0.1)), permutation(n, random));
        const auto csr = Csr<Scalar, int>::make(memory, a);
        const Execution execution(memory);
        LineMap map(execution, n, csr.view());
        if (coloured) map.colour(csr.view());
        for (auto &[where, value] : a.entries)
          if (where.first == 37 || where.second == 37) value = where.first == where.second ? diagonal : 0;
        const auto bad    = Csr<Scalar, int>::make(memory, a);
        const auto solver = MappedSolver<Scalar>::lines(map, "auto");
        solver->read(bad.view());
        solver->factor();
        ASSERT_TRUE(solver->bad_pivot());
        EXPECT_EQ(*solver->bad_pivot(), 37);
        EXPECT_THROW(solver->solve(nullptr, nullptr, {{1}, static_cast<Colour>(map.colours())}), std::invalid_argument);
      }
    }
  });
}

TEST(MappedSolver, RefusesWhatTheMethodRefuses)
{
  const Execution host(Memory::host);
  const LineMap map(host, 10, HostLines{});
  EXPECT_THROW(MappedSolver<double>::lines(map, "gauss"), std::invalid_argument);
  EXPECT_FALSE(mapped_method_refuses("thomas", map));
  EXPECT_THROW(LineMap(host, most_forest_rows + 1, HostLines{}), std::invalid_argument);
}

} // namespace
