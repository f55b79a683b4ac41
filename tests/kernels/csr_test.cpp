// Taking lines out of a CSR matrix, and LineSolver, the way in for callers without Kokkos.
#include "line/csr.hpp"

#include "base/csr_copy.hpp"
#include "line/matrix_look.hpp"
#include "line/select.hpp"
#include "line/single_line_solver.hpp"
#include "line_problem.hpp"
#include "reference/tridiagonal.hpp"

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
        values.push_back(random_values<double>(1, random, 0.2, 1)[0] + (i == j ? 20 : 0));
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
  for (int direction : {0, 1, 2, 3, 4, 5}) {
    LineProblem problem     = lines_of_box(direction % 3, matrix.n, matrix.components, first);
    problem.periodic        = direction >= 3;
    const LineLayout layout = problem.layout;
    using View              = Kokkos::View<double *, typename TypeParam::memory_space>;
    const auto size         = static_cast<std::size_t>(layout.span());
    const View lower("lower", size), diagonal("diagonal", size), upper("upper", size);
    tridiagonal_of_csr(TypeParam(), problem, CsrMatrix<double, int>{row_starts.data(), columns.data(), values.data()}, lower, diagonal,
                       upper);
    TypeParam().fence();
    const auto l = to_host(lower), d = to_host(diagonal), u = to_host(upper);
    for (Index line = 0; line < layout.count(); line++) {
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride), step = static_cast<std::size_t>(layout.stride);
        const auto wrap = static_cast<std::size_t>((layout.length - 1) * layout.stride);
        EXPECT_EQ(d[i], matrix.dense[i][i]);
        EXPECT_EQ(l[i], row > 0 ? matrix.dense[i][i - step] : problem.periodic ? matrix.dense[i][i + wrap] : 0);
        EXPECT_EQ(u[i], row + 1 < layout.length ? matrix.dense[i][i + step] : problem.periodic ? matrix.dense[i][i - wrap] : 0);
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
  const Index first[3] = {0, 0, 0};
  const Index steps[3] = {matrix.components, matrix.components * matrix.n[0], matrix.components * matrix.n[0] * matrix.n[1]};
  // Nothing beyond the faces, the opposite face, or, along the second direction, rows of somebody else.
  for (int beyond : {0, 1, 2}) {
    BoxFaces<double> faces;
    faces.wraps[0] = faces.wraps[2]  = beyond == 1;
    const LineLayout across          = lines_of_box(1, matrix.n, matrix.components, first);
    const std::vector<double> before = random_values<double>(static_cast<std::size_t>(across.count()), random);
    const std::vector<double> after  = random_values<double>(static_cast<std::size_t>(across.count()), random);
    const auto before_view = to_backend<TypeParam>(before), after_view = to_backend<TypeParam>(after);
    if (beyond == 2) faces.before[1] = before_view.data(), faces.after[1] = after_view.data();

    double sum[3] = {}, stiff[3] = {};
    for (Index i = 0; i < static_cast<Index>(matrix.dense.size()); i++) {
      const Index at[3] = {i / steps[0] % matrix.n[0], i / steps[1] % matrix.n[1], i / steps[2]};
      const auto entry  = [&](Index j) { return std::abs(matrix.dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]); };
      const auto line   = static_cast<std::size_t>(i % matrix.components + matrix.components * (at[0] + matrix.n[0] * at[2]));
      double along[3]   = {};
      for (int a = 0; a < 3; a++) {
        const Index wrap = (matrix.n[a] - 1) * steps[a];
        if (at[a] > 0 || faces.wraps[a]) along[a] += entry(at[a] > 0 ? i - steps[a] : i + wrap);
        if (at[a] + 1 < matrix.n[a] || faces.wraps[a]) along[a] += entry(at[a] + 1 < matrix.n[a] ? i + steps[a] : i - wrap);
      }
      if (beyond == 2 && at[1] == 0) along[1] += std::abs(before[line]);
      if (beyond == 2 && at[1] + 1 == matrix.n[1]) along[1] += std::abs(after[line]);
      for (int a = 0; a < 3; a++) {
        sum[a] += along[a] / entry(i);
        stiff[a] += along[a] > 3 * std::max(along[(a + 1) % 3], along[(a + 2) % 3]);
      }
    }
    const CouplingStrengths strengths = coupling_strengths(TypeParam(), matrix.n, matrix.components,
                                                           CsrMatrix<double, int>{row_starts.data(), columns.data(), values.data()}, faces);
    for (std::size_t a : {0, 1, 2}) {
      EXPECT_NEAR(strengths.sum[a], sum[a], 1e-12 * sum[a]) << a << " " << beyond;
      EXPECT_EQ(strengths.rows[a], stiff[a]) << a << " " << beyond;
    }
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
    const auto solver = LineSolver<double>::make(host, layout, name), copy = LineSolver<double>::make(host, layout, name);
    EXPECT_STREQ(solver->method(), name);
    solver->read(CsrMatrix<double, std::int32_t>{matrix.row_starts.data(), matrix.columns.data(), matrix.values.data()});
    solver->factor();
    ASSERT_FALSE(solver->bad_pivot());
    copy->read(*solver);
    copy->factor();
    ASSERT_FALSE(copy->bad_pivot());

    const auto size               = static_cast<std::size_t>(layout.span());
    const std::vector<double> rhs = random_values<double>(size, random);
    std::vector<double> x(size), y(size, 1), kept = rhs, work = rhs;
    solver->solve(kept.data(), x.data(), {{2.0}});
    EXPECT_EQ(kept, rhs);
    copy->solve(work.data(), y.data(), {{2.0, true}});
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

/// Whether rows i and j are neighbours in a line of the grid, or unknowns of a node or of such neighbours.
bool on_line(const GridMatrix &matrix, Index i, Index j, int direction, bool together, bool closed)
{
  Index from[4], to[4], at = i, other = j; // the unknown, then the node
  for (int k = 0; k < 4; k++) {
    const Index size = k == 0 ? matrix.components : matrix.n[k - 1];
    from[k]          = at % size;
    to[k]            = other % size;
    at /= size;
    other /= size;
  }
  bool same = together || from[0] == to[0];
  for (int k = 0; k < 3; k++) same = same && (k == direction || from[k + 1] == to[k + 1]);
  const Index apart = std::abs(from[direction + 1] - to[direction + 1]);
  return same && (apart <= 1 || (closed && apart == matrix.n[direction] - 1));
}

TEST(CouplingsBeyond, AreSeenOneByOne)
{
  std::mt19937 random(5);
  const GridMatrix matrix(random);
  const Index first[3] = {0, 0, 0};
  for (int number = 0; number < 12; number++) {
    const int direction = number % 3;
    const bool together = number / 3 % 2 == 1, closed = number / 6 == 1;
    const LineLayout lines     = lines_of_box(direction, matrix.n, matrix.components, first);
    std::vector<double> values = matrix.values;
    std::vector<std::size_t> beyond;
    for (Index i = 0; i < lines.rows(); i++) {
      for (int k = matrix.row_starts[static_cast<std::size_t>(i)]; k < matrix.row_starts[static_cast<std::size_t>(i) + 1]; k++) {
        const auto entry = static_cast<std::size_t>(k);
        if (on_line(matrix, i, matrix.columns[entry], direction, together, closed)) continue;
        values[entry] = 0;
        beyond.push_back(entry);
      }
    }
    for (Memory memory : test::memories()) {
      const Execution execution(memory);
      const test::Buffer<int> row_starts(memory, matrix.row_starts), columns(memory, matrix.columns);
      const auto found = [&] {
        const test::Buffer<double> there(memory, values);
        const CsrMatrix<double, std::int32_t> csr{row_starts.data(), columns.data(), there.data()};
        return couplings_beyond(execution, lines, together, closed, csr);
      };
      EXPECT_EQ(found(), 0) << number;
      for (int one = 0; one < 5; one++) {
        const std::size_t entry = beyond[random() % beyond.size()];
        values[entry]           = 1e-300;
        EXPECT_EQ(found(), 1) << number << ", entry " << entry;
        values[entry] = 0;
      }
    }
  }
}

TEST(SingleLineSolver, AgreesWithDoubleToItsPrecision)
{
  std::mt19937 random(14);
  const GridMatrix matrix(random);
  const Index first[3] = {0, 0, 0};
  LineProblem problem  = lines_of_box(1, matrix.n, matrix.components, first);
  problem.periodic     = true;
  const auto size      = static_cast<std::size_t>(problem.layout.span());
  for (Memory memory : test::memories()) {
    const Execution execution(memory);
    const test::Buffer<int> row_starts(memory, matrix.row_starts), columns(memory, matrix.columns);
    const test::Buffer<double> values(memory, matrix.values);
    const CsrMatrix<double, std::int32_t> csr{row_starts.data(), columns.data(), values.data()};
    const auto in_double = LineSolver<double>::make(execution, problem, "thomas");
    const auto in_single = SingleLineSolver::make(execution, problem, "thomas"),
               copy      = SingleLineSolver::make(execution, problem, "thomas");
    in_double->read(csr);
    in_double->factor();
    in_single->read(csr);
    copy->read(*in_single);
    for (SingleLineSolver *solver : {in_single.get(), copy.get()}) {
      solver->factor();
      ASSERT_FALSE(solver->bad_pivot());
      for (Colour colour : {Colour::all, Colour::even, Colour::odd}) {
        const std::vector<double> before = random_values<double>(size, random);
        const test::Buffer<double> b(memory, random_values<double>(size, random)), expected(memory, before), got(memory, before);
        SolveOptions<double> options{{0.5}, colour, Transpose::yes};
        in_double->solve(b.data(), expected.data(), options);
        solver->solve(b.data(), got.data(), options);
        options.update.add = true;
        solver->solve(b.data(), got.data(), options);
        execution.wait();
        const auto x = expected.values(), y = got.values();
        for (Index line = 0; line < problem.layout.count(); line++) {
          for (Index row = 0; row < problem.layout.length; row++) {
            const auto i = static_cast<std::size_t>(problem.layout.start(line) + row * problem.layout.stride);
            EXPECT_NEAR(y[i], problem.layout.has_colour(line, colour) ? 2 * x[i] : before[i], 1e-6);
          }
        }
      }
    }
  }
}

TEST(CsrCopy, TakesNewValuesOfItsPattern)
{
  std::mt19937 random(19);
  const GridMatrix matrix(random);
  const auto size   = matrix.values.size();
  const Index rows  = static_cast<Index>(matrix.row_starts.size()) - 1;
  const auto before = random_values<KernelScalar>(size, random), after = random_values<KernelScalar>(size, random);
  for (const Memory memory : test::memories()) {
    const Execution execution(memory);
    CsrCopy<KernelScalar, std::int32_t> copy(execution, rows, {matrix.row_starts.data(), matrix.columns.data(), before.data()});
    const auto there = [&](const auto *array, std::size_t count) {
      return on_backend(execution, [&](const auto &space) {
        using Space = std::decay_t<decltype(space)>;
        return to_host(Array<std::remove_pointer_t<decltype(array)>, Space>(array, count));
      });
    };
    const CsrMatrix<KernelScalar, std::int32_t> &csr = copy.matrix();
    const KernelScalar *const values                 = csr.values;
    EXPECT_EQ(there(csr.row_starts, matrix.row_starts.size()), matrix.row_starts);
    EXPECT_EQ(there(csr.columns, size), matrix.columns);
    EXPECT_EQ(there(csr.values, size), before);
    copy.take(execution, after.data());
    EXPECT_EQ(copy.matrix().values, values);
    EXPECT_EQ(there(csr.values, size), after);
  }
}

TEST(LineSolver, RefusesUnknownMethods)
{
  const Execution host(Memory::host);
  EXPECT_THROW(LineSolver<double>::make(host, one_line(3), "gauss"), std::invalid_argument);
}

} // namespace
