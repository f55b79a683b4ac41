#include "bcr/shifted/side_by_side.hpp"

#include "backends.hpp"
#include "base/backend.hpp"
#include "poisson_problem.hpp"

namespace weft::test {
namespace {

using namespace poisson;

/// Lines along the last direction of a box, one for each of its columns, each with a pole and a plane's shift of its own; one of them singular.
template <class Scalar>
void check(Memory memory)
{
  std::mt19937 random(5);
  const Index n[3]      = {19, 4, 23}; // 19 rows, 4 planes, lines of 23
  const LineMatrix line = line_matrix(random_direction(n[2], random, false, 0));
  const Grid grid{n[2], n[0] * n[1], n[0], 1, n[1], n[0]};
  const std::vector<double> shifts = {0, -0.3, -1, -2.5};
  const Index pinned_row           = 7;
  LineStep step;
  for (Index q = 0; q < n[0]; q++) {
    step.add_pole(0.2 * static_cast<double>(q), {2}, {0.5});
    step.groups.push_back({q, 1, {{{n[0] + q, 3}}}, {{n[0] + q, {}}}});
  }
  EXPECT_FALSE(lies_side_by_side(step, line, grid)) << "too few lines";
  const auto f = random_values<double>(static_cast<std::size_t>(grid.unknowns()), random);
  const std::vector<Scalar> in(f.begin(), f.end());
  const Execution execution(memory);
  const Buffer<Scalar> values(memory, in), room(memory, in);
  on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    TableStore<Space, Scalar> store;
    LineArguments<Scalar> a;
    a.step        = make_tables(step, store);
    a.step.pinned = 0;
    a.b           = make_operator(line, shifts, pinned_row, store);
    a.rows        = {grid, room.data(), values.data()};
    run_side_by_side(space, SideBySide<Scalar>{a, room.data()});
    space.fence("test");
  });
  const auto u = values.values();
  for (Index q = 0; q < n[0]; q++) {
    for (Index p = 0; p < n[1]; p++) {
      const auto at = [&](Index i) { return static_cast<std::size_t>(q + p * n[0] + i * n[0] * n[1]); };
      for (Index i = 0; i < n[2]; i++) {
        const auto k       = static_cast<std::size_t>(i);
        const bool pinned  = q == 0 && p == 0 && i == pinned_row;
        const double above = i > 0 ? line.lower[k] * u[at(i - 1)] : 0, below = i + 1 < n[2] ? line.upper[k] * u[at(i + 1)] : 0;
        const double here     = (line.diagonal[k] + shifts[static_cast<std::size_t>(p)] - 0.2 * static_cast<double>(q)) * u[at(i)];
        const double expected = pinned ? 0 : 3 * in[at(i)];
        ASSERT_NEAR(pinned ? u[at(i)] : above + here + below, expected,
                    300 * std::numeric_limits<Scalar>::epsilon() * (1 + line.norm() * 10))
            << "mode " << q << " plane " << p << " row " << i;
      }
    }
  }
}

TEST(SideBySide, SolvesEachLine)
{
  for_each_scalar([&](auto scalar, Memory memory) { check<decltype(scalar)>(memory); });
}

} // namespace
} // namespace weft::test
