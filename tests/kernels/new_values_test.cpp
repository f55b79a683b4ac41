#include "bcr/detect/new_values.hpp"

#include "bcr/box_solver.hpp"
#include "poisson_problem.hpp"

namespace weft::test {
namespace {

Separation separation_of(const SeparableOperator &op)
{
  Separation found;
  for (int d = 0; d < op.dimension; d++) found.grid[d] = found.nodes[d] = op.directions[d].n;
  found.separable = op;
  return found;
}

SeparableOperator times(SeparableOperator op, double factor)
{
  for (int d = 0; d < op.dimension; d++) {
    for (auto *values : {&op.directions[d].lower, &op.directions[d].diagonal, &op.directions[d].upper}) {
      for (double &value : *values) value *= factor;
    }
  }
  op.shift *= factor;
  return op;
}

/// Without the numbers that are not read, as separate() leaves them.
SeparableOperator clean(SeparableOperator op)
{
  for (int d = 0; d < op.dimension; d++) {
    if (op.directions[d].periodic) continue;
    op.directions[d].lower.front() = op.directions[d].upper.back() = 0;
  }
  return op;
}

TEST(NewValues, AreTheLastOnesTimesAFactor)
{
  std::mt19937 random(1);
  const SeparableOperator op = clean(separable({random_direction(17, random), random_direction(9, random)}, -1));
  const Separation last      = separation_of(op);
  for (double factor : {1.0, 2.0, 1 / 3.0, -0.7, 1e-9, 1e9}) {
    const Kept kept = compare(separation_of(times(op, factor)), last);
    EXPECT_NEAR(kept.factor / factor, 1, 1e-15);
    EXPECT_TRUE(kept.faces && kept.rows);
  }
}

TEST(NewValues, AreOthersIfAnyNumberIs)
{
  std::mt19937 random(2);
  const SeparableOperator op = clean(separable({random_direction(17, random), random_direction(9, random)}, -1));
  const Separation last      = separation_of(op);
  const auto with            = [&](auto change) {
    Separation now = separation_of(times(op, 3));
    change(now);
    return compare(now, last);
  };
  for (int d : {0, 1}) {
    for (std::size_t i : {std::size_t(1), std::size_t(5)}) {
      EXPECT_EQ(with([&](Separation &s) { s.separable.directions[d].lower[i] *= 1 + 1e-11; }).factor, 0);
      EXPECT_EQ(with([&](Separation &s) { s.separable.directions[d].diagonal[i] *= 1 + 1e-11; }).factor, 0);
      EXPECT_EQ(with([&](Separation &s) { s.separable.directions[d].upper[i] *= 1 + 1e-11; }).factor, 0);
      EXPECT_EQ(with([&](Separation &s) { s.separable.directions[d].weight[i] *= 1 + 1e-11; }).factor, 0);
    }
  }
  EXPECT_EQ(with([](Separation &s) { s.separable.shift *= 1 + 1e-11; }).factor, 0);
  EXPECT_EQ(with([](Separation &s) { s.separable.shift = 0; }).factor, 0);
  EXPECT_EQ(with([](Separation &s) { s.symmetric = false; }).factor, 0);
  EXPECT_EQ(with([](Separation &s) { s.unit = 4; }).factor, 0);
  EXPECT_EQ(with([](Separation &s) { s.unusable = 1; }).factor, 0);
  EXPECT_FALSE(with([](Separation &s) { s.row_scale = {2}; }).rows);
}

TEST(NewValues, MayBeOfTheFacesAlone)
{
  std::mt19937 random(3);
  const SeparableOperator op = clean(separable({random_direction(17, random), random_direction(9, random)}, -1));
  Separation last            = separation_of(op);
  last.grid[0]++;
  last.first[0]    = 1;
  last.faces[0][0] = {std::vector<double>(9, 1), std::vector<double>(9, 0), std::vector<double>(9, -1), {}};
  Separation now   = last;
  now.separable    = times(op, 4);
  EXPECT_TRUE(compare(now, last).factor == 4 && !compare(now, last).faces);
  scale_faces(now, 4);
  EXPECT_TRUE(compare(now, last).factor == 4 && compare(now, last).faces);
  now.faces[0][0].inward[3] += 1e-11;
  EXPECT_TRUE(compare(now, last).factor == 4 && !compare(now, last).faces);
}

/// A direction that is the same but for rounding becomes the same, another one stays.
TEST(NewValues, KeepDirections)
{
  std::mt19937 random(4);
  const Separation last = separation_of(clean(separable({random_direction(17, random), random_direction(9, random)}, -1)));
  Separation now        = last;
  now.separable.directions[0].diagonal[3] *= 1 + 2e-16;
  now.separable.directions[1].diagonal[3] *= 1 + 1e-12;
  const Separation before = now;
  keep_directions(now, last);
  EXPECT_EQ(now.separable.directions[0], last.separable.directions[0]);
  EXPECT_EQ(now.separable.directions[1], before.separable.directions[1]);
}

/// A solver that takes new values says what a new one does, to the last bit; what it refuses leaves it as it was.
TEST(NewValues, RenewASolver)
{
  std::mt19937 random(5);
  const auto op = [](double x, double y, double shift, Boundary ends = Boundary::dirichlet) {
    SeparableOperator a = clean(separable({laplacian(40, ends, 0.1), laplacian(60, Boundary::dirichlet, 0.2)}));
    a.shift             = shift;
    for (int d : {0, 1}) {
      for (auto *values : {&a.directions[d].lower, &a.directions[d].diagonal, &a.directions[d].upper}) {
        for (double &value : *values) value *= d == 0 ? x : y;
      }
    }
    return a;
  };
  const auto rhs = random_values<double>(40 * 60, random);
  for (Memory memory : memories()) {
    const Execution execution(memory);
    const auto solve = [&](const DirectSolver<double> &solver) {
      const Buffer<double> f(memory, rhs), x(memory, std::vector<double>(rhs.size(), 0));
      solver.solve(f.data(), x.data());
      execution.wait();
      return x.values();
    };
    const double sign = op(1, 1, 0).directions[0].diagonal[0] < 0 ? -1 : 1;
    const auto solver = DirectSolver<double>::make(execution, op(1, 1, sign * 400));
    for (double x : {1.0, 3.0, -2.0}) {
      const SeparableOperator next = op(x, 0.3 * x, sign * x * 500);
      ASSERT_TRUE(solver->renew(next, {})) << x;
      EXPECT_EQ(solve(*solver), solve(*DirectSolver<double>::make(execution, next)));
    }
    const auto before = solve(*solver);
    EXPECT_FALSE(solver->renew(op(1, 1, -sign * 300), {}));                   // indefinite
    EXPECT_FALSE(solver->renew(op(1, 1, sign * 400, Boundary::neumann), {})); // another transform
    SeparableOperator varying = op(1, 1, sign * 400);
    varying.directions[0].diagonal[4] *= 1.5;
    EXPECT_FALSE(solver->renew(varying, {}));
    EXPECT_EQ(solve(*solver), before);
  }
}

} // namespace
} // namespace weft::test
