#include "bcr/pencil/separate_boxes.hpp"

#include <numeric>

#include "bcr/box_solver.hpp"
#include "bcr/pencil/pencil_modes.hpp"
#include "poisson_problem.hpp"
#include "reference/pencil.hpp"

namespace weft::test {
namespace {

using poisson::LineMatrix;

/// factor times the second difference with these ends, plus a constant; rows at the ends halved where `halved`.
LineMatrix constant_matrix(Index n, Boundary ends, double constant, double factor, bool halved = false)
{
  const Direction d = laplacian(n, ends);
  LineMatrix line   = poisson::line_matrix(d);
  for (auto *diagonal : {&line.lower, &line.diagonal, &line.upper}) {
    for (double &v : *diagonal) v *= factor;
  }
  for (std::size_t i = 0; i < line.size(); i++) {
    line.diagonal[i] += constant;
    if (!halved || line.periodic || (i > 0 && i + 1 < line.size())) continue;
    for (auto *diagonal : {&line.lower, &line.diagonal, &line.upper}) (*diagonal)[i] /= 2;
  }
  return line;
}

Pencil constant_pencil(Index n, Boundary ends, double mass = 1.0 / 12, bool halved = false)
{
  return {{constant_matrix(n, ends, 1, mass, halved), constant_matrix(n, ends, 0, -1, halved)}};
}

/// Mass and stiffness of linear elements of many sizes, Neumann ends; with `fixed` Dirichlet's.
Pencil elements(Index n, std::mt19937 &random, bool fixed, bool periodic = false)
{
  const auto size = static_cast<std::size_t>(n);
  auto h          = random_values<double>(size + 1, random, 0.5, 2);
  const std::vector<double> none(size, 0);
  LineMatrix mass{n, periodic, none, none, none}, stiffness = mass;
  const auto add = [&](std::size_t e, Index left, Index right) { // element e between two nodes, of which one may not be there
    const double m = h[e] / 6, k = 1 / h[e];
    for (const Index node : {left, right}) {
      if (node < 0 || node >= n) continue;
      mass.diagonal[static_cast<std::size_t>(node)] += 2 * m;
      stiffness.diagonal[static_cast<std::size_t>(node)] += k;
    }
    if (left < 0 || right >= n) return;
    const auto a = static_cast<std::size_t>(left), b = static_cast<std::size_t>(right);
    mass.upper[a] = mass.lower[b] = m;
    stiffness.upper[a] = stiffness.lower[b] = -k;
  };
  for (Index e = 0; e + 1 < n; e++) add(static_cast<std::size_t>(e), e, e + 1);
  if (periodic) add(size, n - 1, 0);
  if (fixed && !periodic) add(size - 1, -1, 0), add(size, n - 1, n);
  return {{mass, stiffness}};
}

Pencil one_point()
{
  return {{LineMatrix{1, false, {0}, {1}, {0}}, LineMatrix{1, false, {0}, {0}, {0}}}};
}

/// T (x) W (x) W + W (x) T (x) W + W (x) W (x) T + shift W (x) W (x) W
PencilOperator sum_of(std::vector<Pencil> pencils, double shift)
{
  PencilOperator op;
  op.core[0] = shift;
  for (std::size_t d = 0; d < 3; d++) {
    op.directions[d]             = d < pencils.size() ? pencils[d] : one_point();
    op.core[std::size_t{1} << d] = d < pencils.size() ? 1 : 0;
  }
  return op;
}

const Index none[3] = {0, 0, 0};

struct Grid {
  Index n[3];
};
Grid grid_of(const PencilOperator &op, const Index (&before)[3], const Index (&after)[3])
{
  Grid g;
  for (int d = 0; d < 3; d++) g.n[d] = op.directions[d].n() + before[d] + after[d];
  return g;
}

Separation separated(const reference::Rows &rows, const Grid &grid, Memory memory)
{
  const Execution execution(memory);
  const Buffer<std::int32_t> starts(memory, rows.starts), columns(memory, rows.columns);
  const Buffer<double> values(memory, rows.values);
  GridMatrix<std::int32_t> matrix;
  std::copy_n(grid.n, 3, matrix.grid);
  std::copy_n(grid.n, 3, matrix.nodes);
  matrix.inside = {starts.data(), columns.data(), values.data()};
  return separate_stencils(execution, matrix, nullptr);
}

void expect_solved(const PencilOperator &op, const reference::Rows &rows, std::mt19937 &random, double bound,
                   const Index (&before)[3] = none, const Index (&after)[3] = none)
{
  const Grid grid = grid_of(op, before, after);
  const auto u    = random_values<double>(static_cast<std::size_t>(grid.n[0] * grid.n[1] * grid.n[2]), random);
  SCOPED_TRACE(testing::Message() << grid.n[0] << " x " << grid.n[1] << " x " << grid.n[2]);
  for (Memory memory : memories()) {
    const Separation found = separated(rows, grid, memory);
    ASSERT_TRUE(found.pencil.has_value());
    EXPECT_LT(found.deviation, 1e-13);
    const Execution execution(memory);
    for (Precision precision : {Precision::both_double, Precision::single_inside}) {
      const auto solver = BoxSolver::make(execution, found, {}, precision);
      EXPECT_FALSE(solver->facts().bad_pivot);
      for (Transpose transpose : {Transpose::no, Transpose::yes}) {
        const Buffer<double> f(memory, rows.times(u, transpose == Transpose::yes)), x(memory, std::vector<double>(u.size(), 0));
        solver->solve(f.data(), x.data(), transpose);
        execution.wait();
        EXPECT_LT(largest_difference(x.values(), u), (precision == Precision::both_double ? bound : 1e9 * bound) * largest(u))
            << solver->facts().description;
      }
    }
  }
}

void expect_solved(const PencilOperator &op, std::mt19937 &random, double bound = 1e-12, const Index (&before)[3] = none,
                   const Index (&after)[3] = none, double boundary = 0)
{
  expect_solved(op, reference::rows_of(op, before, after, boundary), random, bound, before, after);
}

constexpr Boundary all_ends[] = {Boundary::dirichlet,      Boundary::dirichlet_neumann, Boundary::neumann_dirichlet,
                                 Boundary::neumann,        Boundary::periodic,          Boundary::cells,
                                 Boundary::cells_dirichlet};

TEST(Pencil, ConstantStencilsWithEveryEnd)
{
  std::mt19937 random(1);
  for (Boundary x : all_ends) {
    for (Boundary y : all_ends) {
      for (Index n : {4, 5, 16}) expect_solved(sum_of({constant_pencil(n, x), constant_pencil(n + 3, y)}, 0.5), random);
    }
  }
}

TEST(Pencil, ConstantStencilsInSpace)
{
  std::mt19937 random(2);
  for (Boundary z : all_ends) {
    PencilOperator op = sum_of({constant_pencil(7, Boundary::dirichlet), constant_pencil(6, Boundary::cells), constant_pencil(9, z)}, 0.3);
    expect_solved(op, random);
    for (std::size_t c = 0; c < 8; c++) op.core[c] = 0.1 * static_cast<double>(c + 1) + (c == 0 ? 2 : 0); // any 27 points
    expect_solved(op, random);
  }
}

TEST(Pencil, HalvedRowsOfNeumannEndsAreFast)
{
  std::mt19937 random(3);
  for (Boundary ends : {Boundary::neumann, Boundary::dirichlet_neumann, Boundary::neumann_dirichlet}) {
    const Index n = 17;
    Pencil pencil = constant_pencil(n, ends, 1.0 / 6, false);
    for (auto &m : pencil.matrix) {
      if (ends != Boundary::dirichlet_neumann) m.diagonal.front() /= 2, m.upper.front() /= 2;
      if (ends != Boundary::neumann_dirichlet) m.diagonal.back() /= 2, m.lower.back() /= 2;
    }
    EXPECT_TRUE(poisson::has_fast_modes(pencil));
    expect_solved(sum_of({pencil, constant_pencil(8, Boundary::dirichlet)}, 0.5), random);
    expect_solved(sum_of({constant_pencil(8, Boundary::dirichlet), pencil}, 0.5), random);
  }
}

TEST(Pencil, ElementsOfManySizes)
{
  std::mt19937 random(4);
  for (Index n : {2, 3, 7, 20}) {
    for (bool fixed : {true, false}) {
      for (bool periodic : {false, true}) {
        if (periodic && n < 3) continue;
        const Pencil x = elements(n, random, fixed, periodic), y = elements(n + 1, random, true);
        expect_solved(sum_of({x, y}, 0.2), random);
        expect_solved(sum_of({y, x}, 0.2), random);
        expect_solved(sum_of({y, elements(4, random, true), x}, 0.2), random);
      }
    }
  }
}

/// (T - 6.3 W) along the lines has pivots of both signs: they are solved, or all directions transformed.
TEST(Pencil, IndefiniteShifts)
{
  std::mt19937 random(5);
  for (double shift : {-0.7, -2.2, -5.1})
    expect_solved(sum_of({elements(9, random, true), elements(12, random, true)}, shift), random, 1e-10);
}

TEST(Pencil, BoundaryRowsThatOthersCoupleTo)
{
  std::mt19937 random(6);
  for (int which = 1; which < 64; which += 5) {
    const Index before[3] = {which & 1, (which >> 1) & 1, (which >> 2) & 1},
                after[3]  = {(which >> 3) & 1, (which >> 4) & 1, (which >> 5) & 1};
    const auto x = constant_pencil(5, Boundary::dirichlet), y = elements(6, random, true), z = constant_pencil(4, Boundary::dirichlet);
    expect_solved(sum_of({x, y, z}, 0.3), random, 1e-12, before, after, -0.1);
    const Index flat[2][3] = {{before[0], before[1], 0}, {after[0], after[1], 0}};
    if (flat[0][0] + flat[0][1] + flat[1][0] + flat[1][1] > 0) expect_solved(sum_of({x, y}, 0.3), random, 1e-12, flat[0], flat[1], -0.1);
  }
}

/// Neumann ends on all sides: right-hand sides are made consistent, solutions orthogonal to constants by the mass matrix.
TEST(Pencil, SingularOperators)
{
  std::mt19937 random(7);
  const PencilOperator operators[] = {
      sum_of({elements(9, random, false), elements(8, random, false)}, 0),
      sum_of({constant_pencil(8, Boundary::cells), constant_pencil(9, Boundary::periodic)}, 0),
      sum_of({elements(4, random, false), elements(5, random, false), constant_pencil(6, Boundary::neumann)}, 0)};
  for (const PencilOperator &op : operators) {
    const reference::Rows rows = reference::rows_of(op);
    const Grid grid            = grid_of(op, none, none);
    const auto u               = random_values<double>(rows.starts.size() - 1, random);
    for (Memory memory : memories()) {
      const Separation found = separated(rows, grid, memory);
      ASSERT_TRUE(found.pencil && found.pencil->singular);
      const Execution execution(memory);
      const auto solver = BoxSolver::make(execution, found, {}, Precision::both_double);
      EXPECT_TRUE(solver->facts().singular && !solver->facts().bad_pivot);
      for (Transpose transpose : {Transpose::no, Transpose::yes}) {
        const auto f = rows.times(u, transpose == Transpose::yes);
        const Buffer<double> b(memory, f), x(memory, std::vector<double>(u.size(), 0));
        solver->solve(b.data(), x.data(), transpose);
        execution.wait();
        EXPECT_LT(largest_difference(rows.times(x.values(), transpose == Transpose::yes), f), 1e-12 * largest(f));
        EXPECT_LT(largest(x.values()), 1e3);
      }
    }
  }
}

TEST(Pencil, OtherMatricesGetTheirStars)
{
  std::mt19937 random(8);
  PencilOperator op    = sum_of({constant_pencil(9, Boundary::cells, -1.0 / 6), constant_pencil(8, Boundary::cells, -1.0 / 6)}, 0);
  reference::Rows rows = reference::rows_of(op);
  const Grid grid      = grid_of(op, none, none);
  const auto factor    = random_values<double>(rows.starts.size() - 1, random, 1, 10);
  for (std::size_t row = 0; row + 1 < rows.starts.size(); row++) { // -div(a grad u), a at each pair of nodes
    double sum         = 0;
    std::size_t centre = 0;
    for (auto k = static_cast<std::size_t>(rows.starts[row]); k < static_cast<std::size_t>(rows.starts[row + 1]); k++) {
      const auto column = static_cast<std::size_t>(rows.columns[k]);
      if (column == row) centre = k;
      rows.values[k] *= factor[row] + factor[column];
      if (column != row) sum += rows.values[k];
    }
    rows.values[centre] = -sum;
  }
  for (Memory memory : memories()) {
    const Separation found = separated(rows, grid, memory);
    EXPECT_FALSE(found.pencil.has_value());
    EXPECT_EQ(found.foreign + found.unusable, 0);
    EXPECT_GT(found.deviation, 0.05);
    EXPECT_TRUE(found.symmetric);
    const Execution execution(memory);
    EXPECT_TRUE(BoxSolver::make(execution, found, {}, Precision::both_double)->facts().singular); // its sums of rows are 0 still
  }
}

TEST(Pencil, RoundingOfProductsLeavesTheSymmetry)
{
  std::mt19937 random(10);
  const PencilOperator op = sum_of({elements(11, random, true), elements(9, random, false)}, 0);
  reference::Rows rows    = reference::rows_of(op);
  const auto noise        = random_values<double>(rows.values.size(), random, -4e-16, 4e-16);
  for (std::size_t k = 0; k < noise.size(); k++) rows.values[k] *= 1 + noise[k];
  for (Memory memory : memories()) {
    const Separation found = separated(rows, grid_of(op, none, none), memory);
    ASSERT_TRUE(found.pencil.has_value());
    EXPECT_TRUE(found.symmetric);
    EXPECT_LT(found.deviation, 1e-12);
  }
}

/// A few rows that are others are solved exactly, wherever they are; many only where they are at the ends of two directions, and then they
/// are told.
TEST(Pencil, RowsThatAreOthers)
{
  std::mt19937 random(9);
  const PencilOperator flat  = sum_of({constant_pencil(9, Boundary::dirichlet), elements(8, random, true)}, 0),
                       solid = sum_of(
                           {constant_pencil(6, Boundary::dirichlet), elements(5, random, true), constant_pencil(7, Boundary::periodic)},
                           0.1);
  for (const PencilOperator &op : {flat, solid}) {
    for (Index node : {Index(0), Index(8), Index(40), Index(71)}) {
      reference::Rows rows = reference::rows_of(op);
      for (Index row : {node, Index(21)}) {
        for (auto k = static_cast<std::size_t>(rows.starts[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(rows.starts[static_cast<std::size_t>(row) + 1]); k++) {
          if (rows.columns[k] == row || k % 2 == 0) rows.values[k] *= 1.5;
        }
      }
      expect_solved(op, rows, random, 1e-12);
    }
  }
  reference::Rows rows = reference::rows_of(solid);
  for (Index row = 0; row < 210; row++) {
    const Index x = row % 6, y = row / 6 % 5;
    if ((x > 0 && x < 5) || (y > 0 && y < 4)) continue; // but for the edges along z, 28 rows
    for (auto k = static_cast<std::size_t>(rows.starts[static_cast<std::size_t>(row)]);
         k < static_cast<std::size_t>(rows.starts[static_cast<std::size_t>(row) + 1]); k++)
      if (rows.columns[k] == row) rows.values[k] *= 2;
  }
  for (Memory memory : memories()) {
    const Separation found = separated(rows, grid_of(solid, none, none), memory);
    ASSERT_TRUE(found.pencil.has_value());
    EXPECT_TRUE(found.pencil->changed.empty());
    EXPECT_GT(found.deviation, 0.1);
  }
}

TEST(Pencil, FartherNodesAreForeign)
{
  const PencilOperator op = sum_of({constant_pencil(9, Boundary::dirichlet), constant_pencil(8, Boundary::dirichlet)}, 0);
  reference::Rows rows    = reference::rows_of(op);
  rows.columns[0]         = 2;
  for (Memory memory : memories()) EXPECT_GT(separated(rows, grid_of(op, none, none), memory).foreign, 0);
}

} // namespace
} // namespace weft::test
