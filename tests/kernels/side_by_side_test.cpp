#include "bcr/shifted/side_by_side.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

/// Side by side, in launches for some of them at a time: each as if alone, whatever the others are; of transforms and lines that are the same then, its bits.
TEST(SideBySide, SolvesColumns)
{
  std::mt19937 random(11);
  const SeparableOperator problems[] = {
      separable({laplacian(31, Boundary::dirichlet), laplacian(22, Boundary::dirichlet)}),
      separable({laplacian(255, Boundary::dirichlet), laplacian(40, Boundary::dirichlet)}),
      separable({laplacian(15, Boundary::dirichlet), laplacian(9, Boundary::cells), laplacian(12, Boundary::dirichlet)}),
      separable({laplacian(20, Boundary::neumann), laplacian(16, Boundary::periodic)}, -1e-6),
      separable({random_direction(17, random), random_direction(20, random)}, -0.1), // products of matrices
      separable({random_direction(9, random), random_direction(64, random, true)}, -0.1),
      separable({laplacian(31, Boundary::dirichlet), random_direction(20, random)}, -0.1), // lines with coefficients that vary
      separable({laplacian(24, Boundary::cells), random_direction(40, random, true)}, -0.1),
      separable({random_direction(50, random)}, -0.1)};
  const auto with = [](const char *method) {
    DirectOptions options;
    options.method = method;
    return options;
  };
  const int nrhs = 5;
  for (const SeparableOperator &a : problems) {
    for (const char *const method : {"facr", "partial", "separable"}) {
      if (poisson_method_refuses(method, a, with(method))) continue;
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar     = decltype(scalar);
        const Index size = a.directions[0].n * a.directions[1].n * a.directions[2].n, ld = size + 3;
        auto f                          = random_values<Scalar>(static_cast<std::size_t>(ld * nrhs), random);
        f[static_cast<std::size_t>(ld)] = std::numeric_limits<Scalar>::quiet_NaN(); // of the second
        for (Index i = 0; i < size; i++) f[static_cast<std::size_t>(2 * ld + i)] *= static_cast<Scalar>(1e20);
        const Execution execution(memory);
        const Buffer<Scalar> rhs(memory, f), solution(memory, std::vector<Scalar>(f.size(), 7)),
            alone(memory, std::vector<Scalar>(f.size(), 7));
        DirectOptions options    = with(method);
        options.side_by_side     = 2;
        const auto solver        = DirectSolver<Scalar>::make(execution, a, options);
        const std::size_t before = solver->work_bytes();
        for (int k = 0; k < nrhs; k++) solver->solve(rhs.data() + k * ld, alone.data() + k * ld);
        EXPECT_EQ(solver->work_bytes(), before);
        solver->solve(rhs.data(), solution.data(), nrhs, ld);
        const std::size_t after = solver->work_bytes();
        if (std::strcmp(method, "facr") == 0) {
          EXPECT_GT(after, before) << "two have work space of their own";
        }
        solver->solve(rhs.data(), solution.data(), nrhs, ld);
        EXPECT_EQ(solver->work_bytes(), after);
        execution.wait();
        const auto got = solution.values(), wanted = alone.values();
        const bool of_modes = &a - problems < 4; // a device has other lines side by side where they vary
        const bool same     = solver->facts().description.find("products by") == std::string::npos && std::strcmp(method, "facr") == 0 &&
                          (of_modes || memory == Memory::host);
        const auto largest_of = [&](std::size_t i) { // of its right-hand side's solution
          const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(i) / ld * ld;
          return *std::max_element(first, first + size, [](Scalar x, Scalar y) { return std::abs(x) < std::abs(y); });
        };
        for (std::size_t i = 0; i < got.size(); i++) {
          const bool within = i % static_cast<std::size_t>(ld) < static_cast<std::size_t>(size);
          if (within && i / static_cast<std::size_t>(ld) == 1) continue; // not finite
          // BLAS adds up in an order of its own, as parts of fractions and a device's lines have.
          const Scalar rounding = !same && within ? 1e4 * std::numeric_limits<Scalar>::epsilon() * std::abs(largest_of(i)) : 0;
          EXPECT_LE(std::abs(got[i] - wanted[i]), rounding) << i << " of " << size;
        }
        EXPECT_TRUE(std::isnan(got[static_cast<std::size_t>(ld)]));
      });
    }
  }
}

} // namespace
} // namespace weft::test
