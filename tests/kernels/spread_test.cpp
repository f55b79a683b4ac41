#include "bcr/spread/spread_solver.hpp"

#include <algorithm>
#include <cstring>
#include <numbers>

#include "bcr/box_solver.hpp"
#include "poisson_problem.hpp"

namespace weft::test {
namespace {

/// What separate() finds for an operator of three directions within random eliminated faces, and factors of its rows.
Separation separation_of(const std::vector<Direction> &directions, double shift, bool faces, bool factors, std::mt19937 &random)
{
  Separation found;
  found.symmetric           = false;
  found.separable.dimension = 0;
  found.separable.shift     = shift;
  for (std::size_t d = 0; d < 3; d++) {
    const Direction &direction = directions[d];
    const bool has_faces       = faces && !direction.periodic && direction.n > 1;
    found.nodes[d]             = direction.n;
    found.first[d]             = has_faces ? 1 : 0;
    found.grid[d]              = direction.n + (has_faces ? 2 : 0);
    if (direction.n > 1) found.separable.directions[found.separable.dimension++] = direction;
  }
  // A node on several faces has one diagonal.
  const Index strides[3] = {1, found.grid[0], found.grid[0] * found.grid[1]};
  const auto diagonal    = random_values<double>(static_cast<std::size_t>(strides[2] * found.grid[2]), random, 1, 2);
  for (int d = 0; d < 3; d++) {
    if (found.first[d] == 0) continue;
    const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
    for (int side : {0, 1}) {
      FaceRows &face = found.faces[d][side];
      for (Index k = 0; k < found.grid[a] * found.grid[b]; k++) {
        const Index node = k % found.grid[a] * strides[a] + k / found.grid[a] * strides[b] + side * (found.grid[d] - 1) * strides[d];
        face.diagonal.push_back(diagonal[static_cast<std::size_t>(node)]);
      }
      face.outward = random_values<double>(face.diagonal.size(), random);
      face.inward  = random_values<double>(face.diagonal.size(), random);
    }
  }
  if (factors) found.row_scale = random_values<double>(static_cast<std::size_t>(found.size()), random, 0.5, 2);
  return found;
}

/// All processes of a solve, one after the other.
class Processes {
public:
  Processes(Memory memory, const Separation &separation, const SpreadPlan &plan, Precision precision)
      : memory_(memory), separation_(separation), plan_(plan), execution_(memory)
  {
    for (int p = 0; p < plan.processes; p++) solvers_.push_back(SpreadSolver::make(execution_, slab(p), plan, p, precision, true));
  }

  std::vector<double> solve(const std::vector<double> &rhs, Transpose transpose) const
  {
    std::vector<Buffer<double>> slabs, solutions;
    std::vector<const SpreadSolver::Exchange *> exchanges;
    for (int p = 0; p < plan_.processes; p++) {
      std::vector<double> slab;
      for_slab(p, [&](std::size_t node) { slab.push_back(rhs[node]); });
      slabs.emplace_back(memory_, slab);
      solutions.emplace_back(memory_, std::vector<double>(slab.size(), 0));
    }
    for (int p = 0; p < plan_.processes; p++)
      exchanges.push_back(of(p).begin(slabs[static_cast<std::size_t>(p)].data(), solutions[static_cast<std::size_t>(p)].data(), transpose));
    while (exchanges[0]) {
      send(exchanges);
      for (int p = 0; p < plan_.processes; p++) exchanges[static_cast<std::size_t>(p)] = of(p).go_on();
      for (const auto *exchange : exchanges) EXPECT_EQ(exchange != nullptr, exchanges[0] != nullptr);
    }
    execution_.wait();
    std::vector<double> solution(rhs.size(), std::numeric_limits<double>::quiet_NaN());
    for (int p = 0; p < plan_.processes; p++) {
      const auto slab = solutions[static_cast<std::size_t>(p)].values();
      std::size_t k   = 0;
      for_slab(p, [&](std::size_t node) { solution[node] = slab[k++]; });
    }
    return solution;
  }
  std::size_t most_bytes() const
  {
    std::size_t most = 0;
    for (const auto &solver : solvers_) most = std::max(most, solver->work_bytes());
    return most;
  }
  bool any_bad_pivot() const
  {
    return std::any_of(solvers_.begin(), solvers_.end(), [](const auto &solver) { return solver->facts().bad_pivot; });
  }

private:
  SpreadSolver &of(int p) const { return *solvers_[static_cast<std::size_t>(p)]; }

  /// What each process sends to each other one, or to itself.
  void send(const std::vector<const SpreadSolver::Exchange *> &exchanges) const
  {
    execution_.wait();
    for (std::size_t q = 0; q < exchanges.size(); q++) {
      for (const Message &received : exchanges[q]->received) {
        const SpreadSolver::Exchange &sender = *exchanges[static_cast<std::size_t>(received.rank)];
        const auto sent =
            std::find_if(sender.sent.begin(), sender.sent.end(), [&](const Message &m) { return m.rank == static_cast<int>(q); });
        ASSERT_NE(sent, sender.sent.end());
        ASSERT_EQ(sent->count, received.count);
        const auto at = [&](const Message &m) { return static_cast<Index>(sender.bytes) * m.first; };
        copy(static_cast<char *>(exchanges[q]->to) + at(received), static_cast<const char *>(sender.from) + at(*sent),
             static_cast<std::size_t>(sent->count) * sender.bytes);
      }
    }
  }
  void copy(char *to, const char *from, std::size_t bytes) const
  {
    if (memory_ == Memory::host) {
      std::memcpy(to, from, bytes);
      return;
    }
    using Device = Kokkos::DefaultExecutionSpace::memory_space;
    Kokkos::deep_copy(Kokkos::View<char *, Device>(to, bytes), Kokkos::View<const char *, Device>(from, bytes));
  }

  /// With the factors of its rows.
  Separation slab(int p) const
  {
    Separation slab = slab_of(separation_, plan_, p);
    if (separation_.row_scale.empty()) return slab;
    const Index strides[3] = {1, separation_.nodes[0], separation_.nodes[0] * separation_.nodes[1]};
    for (Index z = plan_.rows(p).begin; z < plan_.rows(p).end; z++) {
      for (Index y = 0; y < plan_.nodes[1]; y++) {
        for (Index x = 0; x < plan_.nodes[0]; x++) {
          const Index at = x * strides[plan_.order[0]] + y * strides[plan_.order[1]] + z * strides[plan_.order[2]];
          slab.row_scale.push_back(separation_.row_scale[static_cast<std::size_t>(at)]);
        }
      }
    }
    return slab;
  }

  template <class Body>
  void for_slab(int p, const Body &body) const
  {
    const Index strides[3] = {1, separation_.grid[0], separation_.grid[0] * separation_.grid[1]};
    for (Index c = plan_.layers(p).begin; c < plan_.layers(p).end; c++) {
      for (Index b = 0; b < plan_.grid[1]; b++) {
        for (Index a = 0; a < plan_.grid[0]; a++)
          body(static_cast<std::size_t>(a * strides[plan_.order[0]] + b * strides[plan_.order[1]] + c * strides[plan_.order[2]]));
      }
    }
  }

  Memory memory_;
  const Separation &separation_;
  SpreadPlan plan_;
  Execution execution_;
  std::vector<Owner<SpreadSolver>> solvers_;
};

void compare_with_one_process(const Separation &separation, const DirectOptions &options, const SpreadPlan &plan, std::mt19937 &random,
                              const std::vector<Transpose> &ways)
{
  const auto size = static_cast<std::size_t>(separation.grid[0] * separation.grid[1] * separation.grid[2]);
  const auto rhs  = random_values<double>(size, random);
  for (Memory memory : memories()) {
    for (Precision precision : {Precision::both_double, Precision::single_inside}) {
      const Processes all(memory, separation, plan, precision);
      const Execution execution(memory);
      const auto one = BoxSolver::make(execution, separation, options, precision);
      for (Transpose transpose : ways) {
        const Buffer<double> f(memory, rhs), u(memory, std::vector<double>(size, 0));
        one->solve(f.data(), u.data(), transpose);
        execution.wait();
        const auto expected = u.values();
        EXPECT_LT(largest_difference(all.solve(rhs, transpose), expected),
                  (precision == Precision::both_double ? 1e-12 : 2e-3) * largest(expected))
            << (memory == Memory::device ? "device, " : "host, ") << (precision == Precision::both_double ? "double" : "single")
            << (transpose == Transpose::yes ? ", transposed" : "");
      }
      EXPECT_FALSE(all.any_bad_pivot());
    }
  }
}

constexpr auto both_ways = {Transpose::no, Transpose::yes};

void compare_with_one_process(const Separation &separation, const std::string &method, int processes, std::mt19937 &random,
                              const std::vector<Transpose> &ways = both_ways)
{
  const DirectOptions options{method, "fractions", 0, -1};
  const auto plan = spread_plan(separation, options, processes);
  ASSERT_TRUE(plan);
  compare_with_one_process(separation, options, *plan, random, ways);
}

TEST(Spread, EqualsOneProcess)
{
  std::mt19937 random(1);
  const std::vector<std::vector<Direction>> cases = {
      {laplacian(31, Boundary::dirichlet), laplacian(20, Boundary::neumann), laplacian(1, Boundary::dirichlet)},
      {laplacian(18, Boundary::periodic), laplacian(33, Boundary::cells), laplacian(1, Boundary::dirichlet)},
      {random_direction(12, random), laplacian(40, Boundary::dirichlet), laplacian(1, Boundary::dirichlet)},
      {random_direction(9, random), random_direction(14, random, true), laplacian(1, Boundary::dirichlet)},
      {laplacian(1, Boundary::dirichlet), laplacian(7, Boundary::cells_dirichlet), laplacian(50, Boundary::periodic)},
      {laplacian(6, Boundary::neumann), laplacian(8, Boundary::dirichlet), laplacian(11, Boundary::dirichlet_neumann)},
      {random_direction(5, random), random_direction(4, random), random_direction(3, random)},
      {laplacian(10, Boundary::dirichlet), random_direction(6, random), laplacian(9, Boundary::periodic)},
      {laplacian(600, Boundary::dirichlet), laplacian(5, Boundary::dirichlet), laplacian(1, Boundary::dirichlet)}};
  for (std::size_t k = 0; k < cases.size(); k++) {
    for (int processes : {2, 3, 7}) {
      const bool faces = (k + static_cast<std::size_t>(processes)) % 2 == 1, factors = processes == 3;
      SCOPED_TRACE(testing::Message() << "case " << k << ", " << processes << " processes" << (faces ? ", faces" : "")
                                      << (factors ? ", factors" : ""));
      compare_with_one_process(separation_of(cases[k], -0.3, faces, factors, random), processes == 7 ? "facr" : "auto", processes, random);
    }
  }
}

TEST(Spread, SolvesSingularOperators)
{
  std::mt19937 random(2);
  for (int processes : {2, 5}) {
    SCOPED_TRACE(processes);
    const Direction flat = laplacian(1, Boundary::dirichlet);
    Direction one        = flat;
    one.diagonal[0]      = 0;
    for (const auto &directions : std::vector<std::vector<Direction>>{
             {laplacian(16, Boundary::neumann), laplacian(12, Boundary::cells), one},
             {laplacian(12, Boundary::periodic), random_direction(9, random, false, 0), one},
             {random_direction(8, random, true, 0), laplacian(5, Boundary::periodic), laplacian(7, Boundary::neumann)}})
      compare_with_one_process(separation_of(directions, 0, false, false, random), "auto", processes, random, {Transpose::no});
  }
}

/// Shares add up to the whole, and none is much more than its part, of memory neither.
TEST(Spread, SharesAreEqual)
{
  std::mt19937 random(3);
  const Separation separation =
      separation_of({laplacian(511, Boundary::dirichlet), laplacian(511, Boundary::dirichlet), laplacian(1, Boundary::dirichlet)}, 0, true,
                    false, random);
  for (int processes : {2, 7, 8, 600}) {
    const SpreadPlan plan = *spread_plan(separation, {}, processes);
    Index layers = 0, modes = 0;
    for (int p = 0; p < processes; p++) {
      EXPECT_LE(plan.rows(p).size(), 511 / processes + 1);
      EXPECT_LE(plan.joins(p).size(), 511 / processes + 1);
      layers += plan.layers(p).size();
      modes += plan.joins(p).size();
    }
    EXPECT_EQ(layers, 513);
    EXPECT_EQ(modes, 512); // one of them is none
    if (processes > 8) continue;
    const Processes all(Memory::host, separation, plan, Precision::both_double);
    all.solve(std::vector<double>(513 * 513, 1), Transpose::no);
    const double arrays = 2 * 8 * 513.0 * 513.0 / processes, tables = 6e5 + 2e5 * Kokkos::DefaultHostExecutionSpace().concurrency();
    EXPECT_LT(static_cast<double>(all.most_bytes()), arrays + tables);
  }
}

/// Slabs are those that processes have, where they have such.
TEST(Spread, TakesTheSlabsOfTheCaller)
{
  std::mt19937 random(5);
  const Separation separation = separation_of(
      {laplacian(20, Boundary::dirichlet), laplacian(31, Boundary::dirichlet), laplacian(1, Boundary::dirichlet)}, 0, true, false, random);
  const auto plan        = [&](const Owners &owners) { return *spread_plan(separation, {}, 3, owners); };
  const SpreadPlan slabs = plan({{{0, 22}, {0, 12, 22, 33}, {0, 1}}});
  EXPECT_TRUE(slabs.in_place);
  EXPECT_EQ(slabs.order[2], 1);
  EXPECT_EQ(slabs.starts, (std::vector<Index>{0, 11, 21, 31}));
  const SpreadPlan along_x = plan({{{0, 8, 15, 22}, {0, 33}, {0, 1}}});
  EXPECT_FALSE(along_x.in_place) << "lines along x lie in another order";
  EXPECT_EQ(along_x.order[2], 0);
  EXPECT_EQ(along_x.starts, (std::vector<Index>{0, 7, 14, 20}));
  for (const Owners &owners : {Owners{{{0, 22}, {0, 1, 20, 33}, {0, 1}}}, Owners{{{0, 22}, {0, 25, 30, 33}, {0, 1}}}, Owners{}}) {
    EXPECT_FALSE(plan(owners).in_place) << "a process has a face alone, one has most of it, nobody knows";
    EXPECT_EQ(plan(owners).starts, (std::vector<Index>{0, 10, 20, 31}));
  }
  for (const SpreadPlan &some : {slabs, along_x}) compare_with_one_process(separation, {}, some, random, both_ways);
}

/// Pieces of an indefinite operator may be singular, or nearly so, where the whole is not.
TEST(Spread, TellsOfPiecesThatAreSingular)
{
  std::mt19937 random(6);
  const Direction two = laplacian(2, Boundary::dirichlet), line = laplacian(15, Boundary::dirichlet),
                  one = laplacian(1, Boundary::dirichlet);
  // An eigenvalue of x, -1, and one of the second piece along y, of eight rows.
  const double of_piece = 3 - 2 * std::cos(4 * std::numbers::pi / 9);
  const auto told       = [&](double shift, Precision precision) {
    const Separation separation = separation_of({two, line, one}, shift, false, false, random);
    const SpreadPlan plan       = *spread_plan(separation, {}, 2);
    EXPECT_EQ(plan.order[2], 1);
    const Processes all(Memory::host, separation, plan, precision);
    all.solve(std::vector<double>(30, 1), Transpose::no);
    return all.any_bad_pivot();
  };
  for (const double beside : {0.0, 1e-9, 1e-6, 1e-5}) EXPECT_TRUE(told(of_piece + beside, Precision::both_double)) << beside;
  EXPECT_TRUE(told(of_piece + 1e-3, Precision::single_inside));
  EXPECT_FALSE(told(of_piece + 0.1, Precision::both_double));
  for (const Precision precision : {Precision::both_double, Precision::single_inside}) EXPECT_FALSE(told(-1e-6, precision)) << "definite";
}

/// Modes that hardly decay along pieces of thousands of rows: what stands beside a piece reaches far into it, and rounding must not add up on the way.
TEST(Spread, KeepsTheDigitsOfSlowModes)
{
  std::mt19937 random(7);
  const Index n[2]                        = {3, 4095};
  const std::vector<Direction> directions = {laplacian(n[0], Boundary::dirichlet, 1000), laplacian(n[1], Boundary::dirichlet),
                                             laplacian(1, Boundary::dirichlet)};
  const Separation separation             = separation_of(directions, 0, false, false, random);
  const auto f                            = random_values<double>(static_cast<std::size_t>(n[0] * n[1]), random);
  for (Memory memory : memories()) {
    for (int processes : {2, 3}) {
      const SpreadPlan plan = *spread_plan(separation, {"facr", "fractions", 0, -1}, processes);
      ASSERT_EQ(plan.order[2], 1);
      const auto u  = Processes(memory, separation, plan, Precision::both_double).solve(f, Transpose::no);
      const auto at = [&](Index x, Index y) {
        return x < 0 || y < 0 || x == n[0] || y == n[1] ? 0.0L : static_cast<long double>(u[static_cast<std::size_t>(x + n[0] * y)]);
      };
      long double residual = 0;
      for (Index y = 0; y < n[1]; y++) {
        for (Index x = 0; x < n[0]; x++) {
          const long double along_x = (at(x - 1, y) - 2 * at(x, y) + at(x + 1, y)) / 1e6L,
                            along_y = at(x, y - 1) - 2 * at(x, y) + at(x, y + 1);
          residual                  = std::max(residual, std::abs(along_x + along_y - f[static_cast<std::size_t>(x + n[0] * y)]));
        }
      }
      EXPECT_LT(static_cast<double>(residual), 1e-13 * largest(u)) << processes << " processes";
    }
  }
}

/// Where pieces end, modes that hardly decay are as many times smaller than in the middle as there are rows, and what joins pieces takes all its digits from
/// there: a random solution on a large grid; and a smooth one, of which the shift of its mode has all the digits.
TEST(Spread, ErrorsAreThoseOfOneProcess)
{
  std::mt19937 random(8);
  struct Case {
    Index n[2];
    double h; ///< along the first direction
    bool smooth;
    double most;
  };
  for (const Case &c : {Case{{1023, 1023}, 1, false, 4e-13}, Case{{3, 4095}, 1000, true, 1e-12}}) {
    const std::vector<Direction> directions = {laplacian(c.n[0], Boundary::dirichlet, c.h), laplacian(c.n[1], Boundary::dirichlet),
                                               laplacian(1, Boundary::dirichlet)};
    const Separation separation             = separation_of(directions, 0, false, false, random);
    std::vector<double> u                   = random_values<double>(static_cast<std::size_t>(c.n[0] * c.n[1]), random);
    const auto node                         = [&](Index x, Index y) { return static_cast<std::size_t>(x + c.n[0] * y); };
    const auto wave                         = [](Index i, Index n) {
      return std::sin(std::numbers::pi_v<long double> * static_cast<long double>(i + 1) / static_cast<long double>(n + 1));
    };
    std::vector<double> f(u.size());
    for (Index y = 0; y < c.n[1]; y++) {
      for (Index x = 0; x < c.n[0]; x++) {
        const auto at = [&](Index i, Index j) {
          if (i < 0 || j < 0 || i == c.n[0] || j == c.n[1]) return 0.0L;
          return c.smooth ? wave(i, c.n[0]) * wave(j, c.n[1]) : static_cast<long double>(u[node(i, j)]);
        };
        const long double centre = 2 * at(x, y), hh = static_cast<long double>(c.h) * static_cast<long double>(c.h);
        f[node(x, y)] = static_cast<double>((at(x - 1, y) - centre + at(x + 1, y)) / hh + at(x, y - 1) - centre + at(x, y + 1));
      }
    }
    for (Index y = 0; y < c.n[1] && c.smooth; y++) {
      for (Index x = 0; x < c.n[0]; x++) u[node(x, y)] = static_cast<double>(wave(x, c.n[0]) * wave(y, c.n[1]));
    }
    for (Memory memory : memories()) {
      for (int processes : {2, 3}) {
        SpreadPlan plan = *spread_plan(separation, {"facr", "fractions", 0, -1}, processes);
        ASSERT_EQ(plan.order[2], 1);
        const auto found = Processes(memory, separation, plan, Precision::both_double).solve(f, Transpose::no);
        double error     = 0;
        for (std::size_t k = 0; k < u.size(); k++) error = std::max(error, std::abs(found[k] - u[k]));
        EXPECT_LT(error, c.most * largest(u)) << c.n[0] << " x " << c.n[1] << ", " << processes << " processes";
      }
    }
  }
}

TEST(Spread, TakesTheFastestDirections)
{
  std::mt19937 random(4);
  const Direction one = laplacian(1, Boundary::dirichlet), even = laplacian(63, Boundary::dirichlet),
                  prime = laplacian(66, Boundary::dirichlet), varies = random_direction(300, random);
  const auto plan = [&](const std::vector<Direction> &directions, const std::string &method, int processes, int levels = -1) {
    return spread_plan(separation_of(directions, 0, false, false, random), {method, "fractions", 0, levels}, processes);
  };
  EXPECT_EQ(plan({even, even, one}, "auto", 2)->order[2], 1);
  EXPECT_EQ(plan({prime, even, one}, "auto", 2)->order[2], 0); // a chirp takes longer
  EXPECT_EQ(plan({varies, prime, one}, "auto", 2)->order[2], 0);
  EXPECT_EQ(plan({even, varies, even}, "auto", 2)->order[2], 1);
  EXPECT_FALSE(plan({varies, varies, one}, "auto", 2)); // separable on one process is faster
  EXPECT_TRUE(plan({varies, varies, one}, "auto", 5));
  EXPECT_TRUE(plan({varies, varies, one}, "facr", 2));
  EXPECT_FALSE(plan({even, even, one}, "facr", 2, 1));
  EXPECT_FALSE(plan({even, even, one}, "partial", 2));
  EXPECT_FALSE(plan({even, even, one}, "auto", 1));
  EXPECT_FALSE(plan({one, even, one}, "auto", 2));
}

} // namespace
} // namespace weft::test
