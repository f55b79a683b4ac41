// Taking lines out of a CSR matrix, and LineSolver, the way in for callers without Kokkos.
#include "tridiagonal/csr.hpp"

#include "backends.hpp"
#include "reference/tridiagonal.hpp"
#include "tridiagonal/select.hpp"

namespace {

using namespace weft;
using test::random_values, test::to_backend, test::to_host;

/// A 7-point matrix on an nx * ny * nz grid with two unknowns a node, random values and columns in random order.
struct GridMatrix {
  Index n[3] = {6, 5, 4}, components = 2;
  std::vector<std::vector<double>> dense;
  std::vector<int> row_starts{0}, columns;
  std::vector<double> values;

  explicit GridMatrix(std::mt19937 &random)
  {
    const Index rows     = components * n[0] * n[1] * n[2];
    const Index steps[3] = {components, components * n[0], components * n[0] * n[1]};
    dense.assign(static_cast<std::size_t>(rows), std::vector<double>(static_cast<std::size_t>(rows)));
    for (Index i = 0; i < rows; i++) {
      std::vector<Index> neighbours{i, i ^ 1}; // the other unknown of the node
      const Index at[3] = {i / steps[0] % n[0], i / steps[1] % n[1], i / steps[2]};
      for (int k = 0; k < 3; k++) {
        neighbours.push_back(at[k] > 0 ? i - steps[k] : i + (n[k] - 1) * steps[k]); // periodic: the wrap must be left out of the lines
        neighbours.push_back(at[k] + 1 < n[k] ? i + steps[k] : i - (n[k] - 1) * steps[k]);
      }
      for (int k = 0; k < 2; k++) { // from the end of a line to what follows it in memory: must be left out too
        if (at[k] + 1 == n[k] && i + steps[k] < rows) neighbours.push_back(i + steps[k]);
        if (at[k] == 0 && i - steps[k] >= 0) neighbours.push_back(i - steps[k]);
      }
      std::shuffle(neighbours.begin(), neighbours.end(), random);
      for (Index j : neighbours) {
        columns.push_back(static_cast<int>(j));
        values.push_back(random_values<double>(1, random, 0.5, 1)[0] + (i == j ? 20 : 0));
        dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = values.back();
      }
      row_starts.push_back(static_cast<int>(columns.size()));
    }
  }
};

template <class Space>
class Csr : public testing::Test {
};
TYPED_TEST_SUITE(Csr, test::Backends, test::BackendName);

TYPED_TEST(Csr, TridiagonalPartFollowsTheLines)
{
  std::mt19937 random(11);
  const GridMatrix matrix(random);
  const auto row_starts = to_backend<TypeParam>(matrix.row_starts), columns = to_backend<TypeParam>(matrix.columns);
  const auto values    = to_backend<TypeParam>(matrix.values);
  const Index first[3] = {0, 0, 0};
  for (int direction : {0, 1, 2}) {
    const LineLayout layout = lines_of_box(direction, matrix.n, matrix.components, first);
    using View              = Kokkos::View<double *, typename TypeParam::memory_space>;
    const auto size         = static_cast<std::size_t>(layout.span());
    const View lower("lower", size), diagonal("diagonal", size), upper("upper", size);
    tridiagonal_of_csr(TypeParam(), layout, CsrMatrix<double, int>{row_starts.data(), columns.data(), values.data()}, lower, diagonal,
                       upper);
    TypeParam().fence();
    const auto l = to_host(lower), d = to_host(diagonal), u = to_host(upper);
    for (Index line = 0; line < layout.count(); line++) {
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride), step = static_cast<std::size_t>(layout.stride);
        EXPECT_EQ(d[i], matrix.dense[i][i]);
        EXPECT_EQ(l[i], row > 0 ? matrix.dense[i][i - step] : 0);
        EXPECT_EQ(u[i], row + 1 < layout.length ? matrix.dense[i][i + step] : 0);
      }
    }
  }
}

TYPED_TEST(Csr, CouplingStrengthsMatchTheSums)
{
  std::mt19937 random(12);
  const GridMatrix matrix(random);
  const auto row_starts = to_backend<TypeParam>(matrix.row_starts), columns = to_backend<TypeParam>(matrix.columns);
  const auto values    = to_backend<TypeParam>(matrix.values);
  const auto strengths = coupling_strengths(TypeParam(), matrix.n, matrix.components,
                                            CsrMatrix<double, int>{row_starts.data(), columns.data(), values.data()});
  const Index first[3] = {0, 0, 0};
  for (int direction : {0, 1, 2}) {
    const LineLayout layout = lines_of_box(direction, matrix.n, matrix.components, first);
    double sum              = 0;
    for (Index line = 0; line < layout.count(); line++) {
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride), step = static_cast<std::size_t>(layout.stride);
        if (row > 0) sum += matrix.dense[i][i - step] / matrix.dense[i][i];
        if (row + 1 < layout.length) sum += matrix.dense[i][i + step] / matrix.dense[i][i];
      }
    }
    EXPECT_NEAR(strengths[static_cast<std::size_t>(direction)], sum, 1e-12 * sum) << direction;
  }
}

TEST(LineSolver, SolvesOnTheHostAndTakesCoefficientsFromAnother)
{
  std::mt19937 random(13);
  const GridMatrix matrix(random);
  const Index first[3]    = {0, 0, 0};
  const LineLayout layout = lines_of_box(1, matrix.n, matrix.components, first);
  const Execution host(Memory::host);
  for (const char *name : tridiagonal_method_names()) {
    if (tridiagonal_method_refuses(name, layout)) continue;
    LineSolver<double> solver(host, layout, name), copy(host, layout, name);
    EXPECT_STREQ(solver.method(), name);
    solver.read(CsrMatrix<double, std::int32_t>{matrix.row_starts.data(), matrix.columns.data(), matrix.values.data()});
    solver.factor();
    ASSERT_FALSE(solver.bad_pivot());
    copy.read(solver);
    copy.factor();
    ASSERT_FALSE(copy.bad_pivot());

    const auto size               = static_cast<std::size_t>(layout.span());
    const std::vector<double> rhs = random_values<double>(size, random);
    std::vector<double> x(size), y(size, 1), work = rhs;
    solver.solve(rhs.data(), x.data(), {{2.0}});
    copy.solve_add(work.data(), y.data(), {{2.0}});
    for (Index line = 0; line < layout.count(); line++) {
      std::vector<double> l, d, u, b;
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride), step = static_cast<std::size_t>(layout.stride);
        l.push_back(row > 0 ? matrix.dense[i][i - step] : 0);
        d.push_back(matrix.dense[i][i]);
        u.push_back(row + 1 < layout.length ? matrix.dense[i][i + step] : 0);
        b.push_back(rhs[i]);
      }
      const std::vector<double> z = reference::solve_tridiagonal(l, d, u, b);
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride);
        EXPECT_NEAR(x[i], 2 * z[static_cast<std::size_t>(row)], 1e-14);
        EXPECT_NEAR(y[i], 1 + 2 * z[static_cast<std::size_t>(row)], 1e-14);
      }
    }
  }
}

TEST(LineSolver, RefusesUnknownMethods)
{
  const Execution host(Memory::host);
  EXPECT_THROW(LineSolver<double>(host, one_line(3), "gauss"), std::invalid_argument);
}

} // namespace
