#include "bcr/detect/separate.hpp"

#include <map>

#include "bcr/box_solver.hpp"
#include "poisson_problem.hpp"
#include "reference/separate.hpp"

namespace weft::test {
namespace {

/// A matrix on a grid by its entries.
struct Entries {
  Index grid[3] = {1, 1, 1};
  std::map<std::pair<Index, Index>, double> values;

  Index size() const { return grid[0] * grid[1] * grid[2]; }
  std::vector<double> times(const std::vector<double> &u, Transpose transpose = Transpose::no) const
  {
    std::vector<double> f(u.size(), 0);
    for (const auto &[at, value] : values) {
      const auto [to, from] = transpose == Transpose::no ? at : std::pair(at.second, at.first);
      f[static_cast<std::size_t>(to)] += value * u[static_cast<std::size_t>(from)];
    }
    return f;
  }
  bool on_boundary(Index node) const
  {
    const Index at[3] = {node % grid[0], node / grid[0] % grid[1], node / grid[0] / grid[1]};
    bool on           = false;
    for (int d = 0; d < 3; d++) on = on || (grid[d] > 2 && (at[d] == 0 || at[d] == grid[d] - 1));
    return on;
  }
};

Entries entries_of(const SeparableOperator &a)
{
  Entries entries;
  for (int d = 0; d < a.dimension; d++) entries.grid[d] = a.directions[d].n;
  reference::for_each_entry(a, [&](Index row, Index column, double value) { entries.values[{row, column}] += value; });
  return entries;
}

template <class Int>
Separation separated(const Entries &entries, Memory memory)
{
  const Execution execution(memory);
  std::vector<Int> starts(static_cast<std::size_t>(entries.size()) + 1, 0), columns;
  std::vector<double> values;
  for (const auto &[at, value] : entries.values) {
    starts[static_cast<std::size_t>(at.first) + 1]++;
    columns.push_back(static_cast<Int>(at.second));
    values.push_back(value);
  }
  for (std::size_t row = 1; row < starts.size(); row++) starts[row] += starts[row - 1];
  const Buffer<Int> starts_there(memory, starts), columns_there(memory, columns);
  const Buffer<double> values_there(memory, values);
  GridMatrix<Int> matrix;
  std::copy_n(entries.grid, 3, matrix.grid);
  std::copy_n(entries.grid, 3, matrix.nodes);
  matrix.inside = {starts_there.data(), columns_there.data(), values_there.data()};
  return separate(execution, matrix, nullptr);
}

template <class Body>
void on_each_memory(const Body &body)
{
  for (Memory memory : memories()) body(memory);
}

/// The error of the solution of A u = f for a known u, over the largest u.
double error_of(const Entries &entries, Memory memory, Precision precision, Transpose transpose, std::mt19937 &random)
{
  const Separation found = separated<std::int32_t>(entries, memory);
  EXPECT_EQ(found.foreign + found.unusable, 0);
  EXPECT_LT(found.deviation, 1e-13);
  const Execution execution(memory);
  const auto solver = BoxSolver::make(execution, found, {}, precision);
  const auto u      = random_values<double>(static_cast<std::size_t>(entries.size()), random);
  const Buffer<double> f(memory, entries.times(u, transpose)), x(memory, std::vector<double>(u.size(), 0));
  solver->solve(f.data(), x.data(), transpose);
  execution.wait();
  return largest_difference(x.values(), u) / largest(u);
}

TEST(Separate, FindsSeparableOperators)
{
  std::mt19937 random(1);
  for (Index x : {1, 2, 3, 5, 16, 33}) {
    for (Index y : {1, 2, 3, 4, 17}) {
      for (Index z : {1, 2, 7}) {
        const bool periodic = x > 2 && (x + y) % 2 == 0;
        const SeparableOperator a =
            separable({random_direction(x, random, periodic), random_direction(y, random), random_direction(z, random)}, -1);
        const Entries entries = entries_of(a);
        SCOPED_TRACE(testing::Message() << x << " x " << y << " x " << z << (periodic ? " periodic" : ""));
        on_each_memory([&](Memory memory) {
          for (const Separation &found : {separated<std::int32_t>(entries, memory), separated<std::int64_t>(entries, memory)}) {
            EXPECT_LT(found.deviation, 1e-14);
            EXPECT_TRUE(found.symmetric);
            EXPECT_TRUE(found.row_scale.empty());
            const auto u = random_values<double>(static_cast<std::size_t>(entries.size()), random);
            const auto f = entries.times(u);
            EXPECT_LT(largest_difference(reference::apply(found.separable, u), f), 1e-13 * largest(f));
          }
        });
      }
    }
  }
}

TEST(Separate, KeepsConstantCoefficientsToTheLastDigit)
{
  const Entries entries = entries_of(separable({laplacian(37, Boundary::neumann, 0.1), laplacian(20, Boundary::dirichlet, 0.3)}, -0.7));
  on_each_memory([&](Memory memory) {
    const Separation found = separated<std::int32_t>(entries, memory);
    for (int d : {0, 1}) {
      const Direction &direction = found.separable.directions[d];
      EXPECT_TRUE(direction.weight.empty());
      for (std::size_t i = 3; i + 2 < static_cast<std::size_t>(direction.n); i++) {
        EXPECT_EQ(direction.lower[i], direction.lower[2]);
        EXPECT_EQ(direction.diagonal[i], direction.diagonal[2]);
        EXPECT_EQ(direction.upper[i], direction.upper[2]);
      }
    }
  });
}

/// Couplings that are no products: their nearest products are the main effects of their logarithms.
TEST(Separate, TakesTheNearestProducts)
{
  std::mt19937 random(2);
  const std::size_t nx = 9, ny = 7;
  const auto along_x = random_values<double>((nx - 1) * ny, random, 0.1, 10),
             along_y = random_values<double>(nx * (ny - 1), random, 0.1, 10);
  Entries entries;
  entries.grid[0] = nx, entries.grid[1] = ny;
  const auto couple = [&](std::size_t a, std::size_t b, double value) {
    const auto i = static_cast<Index>(a), j = static_cast<Index>(b);
    entries.values[{i, j}] = entries.values[{j, i}] = -value;
    entries.values[{i, i}] += value;
    entries.values[{j, j}] += value;
  };
  for (std::size_t j = 0; j < ny; j++) {
    for (std::size_t i = 0; i + 1 < nx; i++) couple(i + nx * j, i + 1 + nx * j, along_x[i + (nx - 1) * j]);
  }
  for (std::size_t k = 0; k < along_y.size(); k++) couple(k, k + nx, along_y[k]);
  const auto nearest_x = reference::nearest_products(along_x, nx - 1), nearest_y = reference::nearest_products(along_y, nx);
  on_each_memory([&](Memory memory) {
    const Separation found = separated<std::int32_t>(entries, memory);
    EXPECT_GT(found.deviation, 0.1);
    EXPECT_EQ(found.separable.shift, 0); // row sums are 0, and stay so
    EXPECT_LT(largest(reference::apply(found.separable, std::vector<double>(nx * ny, 1.0))), 1e-13);
    std::map<std::pair<Index, Index>, double> fit;
    reference::for_each_entry(found.separable, [&](Index row, Index column, double value) { fit[{row, column}] += value; });
    for (std::size_t j = 0; j < ny; j++) {
      for (std::size_t i = 0; i + 1 < nx; i++) {
        const auto at = static_cast<Index>(i + nx * j);
        EXPECT_NEAR((fit[{at, at + 1}] / -nearest_x[i + (nx - 1) * j]), 1, 1e-12);
        EXPECT_NEAR((fit[{at + 1, at}] / -nearest_x[i + (nx - 1) * j]), 1, 1e-12);
      }
    }
    for (std::size_t k = 0; k < along_y.size(); k++)
      EXPECT_NEAR((fit[{static_cast<Index>(k), static_cast<Index>(k + nx)}] / -nearest_y[k]), 1, 1e-12);
  });
}

/// A reaction in one corner only: the nearest sums would be negative in the opposite one, and the operator indefinite.
TEST(Separate, GivesRowSumsNoOtherSign)
{
  for (double sign : {1.0, -1.0}) {
    Entries entries = entries_of(separable({laplacian(12, Boundary::cells), laplacian(10, Boundary::cells)}));
    for (auto &[at, value] : entries.values) {
      value *= -sign;
      const bool corner = at.first % 12 < 6 && at.first / 12 < 5;
      if (at.first == at.second && corner) value += sign;
    }
    on_each_memory([&](Memory memory) {
      const Separation found = separated<std::int32_t>(entries, memory);
      EXPECT_GT(found.deviation, 0.1);
      double most = 0;
      for (double sum : reference::apply(found.separable, std::vector<double>(120, sign))) {
        EXPECT_GE(sum, -1e-14);
        most = std::max(most, sum);
      }
      EXPECT_GT(most, 0.5);
    });
  }
}

/// Rows of the boundary that hold their diagonal, to which other rows couple, and rows times factors.
TEST(Separate, SolvesBoundaryRowsAndFactorsOfRows)
{
  std::mt19937 random(3);
  for (bool with_faces : {false, true}) {
    for (bool with_factors : {false, true}) {
      for (Index z : {1, 5}) {
        Entries entries =
            entries_of(separable({random_direction(8, random), random_direction(6, random), random_direction(z, random)}, -0.2));
        const auto factors = random_values<double>(static_cast<std::size_t>(entries.size()), random, 0.1, 3);
        for (auto at = entries.values.begin(); at != entries.values.end();) {
          const auto [row, column] = at->first;
          if (with_factors) at->second *= factors[static_cast<std::size_t>(row)];
          if (with_faces && entries.on_boundary(row) && column != row)
            at = entries.values.erase(at);
          else
            at++;
        }
        SCOPED_TRACE(testing::Message() << with_faces << with_factors << z);
        on_each_memory([&](Memory memory) {
          for (Transpose transpose : {Transpose::no, Transpose::yes}) {
            EXPECT_LT(error_of(entries, memory, Precision::both_double, transpose, random), 1e-12);
            EXPECT_LT(error_of(entries, memory, Precision::single_inside, transpose, random), 1e-3);
          }
        });
      }
    }
  }
}

/// Several right-hand sides, two of them side by side, within boundary rows: the bits of each alone.
TEST(Separate, SolvesBoundaryRowsSideBySide)
{
  std::mt19937 random(12);
  const int nrhs = 3;
  for (Index z : {1, 6}) {
    Entries entries = entries_of(
        separable({laplacian(18, Boundary::dirichlet), laplacian(11, Boundary::dirichlet), laplacian(z, Boundary::cells)}, -0.2));
    for (auto at = entries.values.begin(); at != entries.values.end();) {
      const auto [row, column] = at->first;
      at                       = entries.on_boundary(row) && column != row ? entries.values.erase(at) : std::next(at);
    }
    on_each_memory([&](Memory memory) {
      const Separation found = separated<std::int32_t>(entries, memory);
      const Execution execution(memory);
      DirectOptions options;
      options.side_by_side = 2;
      const Index ld       = entries.size() + 2;
      const auto f         = random_values<double>(static_cast<std::size_t>(ld * nrhs), random);
      for (Precision precision : {Precision::both_double, Precision::single_inside}) {
        for (Transpose transpose : {Transpose::no, Transpose::yes}) {
          const auto solver = BoxSolver::make(execution, found, options, precision);
          const Buffer<double> rhs(memory, f), together(memory, std::vector<double>(f.size(), 7)),
              alone(memory, std::vector<double>(f.size(), 7));
          for (int k = 0; k < nrhs; k++) solver->solve(rhs.data() + k * ld, alone.data() + k * ld, transpose);
          const std::size_t before = solver->work_bytes();
          solver->solve(rhs.data(), together.data(), transpose, nrhs, ld);
          execution.wait();
          EXPECT_GT(solver->work_bytes(), before) << "two have work space of their own";
          EXPECT_EQ(together.values(), alone.values());
        }
      }
    });
  }
}

TEST(Separate, CountsWhatItCannotUse)
{
  on_each_memory([](Memory memory) {
    Entries entries        = entries_of(separable({laplacian(6, Boundary::dirichlet), laplacian(5, Boundary::dirichlet)}));
    entries.values[{7, 0}] = 0; // room for nothing
    EXPECT_EQ(separated<std::int32_t>(entries, memory).foreign, 0);
    entries.values[{7, 0}]  = 0.1;
    entries.values[{9, 20}] = 0.1;
    EXPECT_EQ(separated<std::int32_t>(entries, memory).foreign, 2);
    entries.values[{9, 9}] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(separated<std::int32_t>(entries, memory).unusable, 1);
  });
}

} // namespace
} // namespace weft::test
