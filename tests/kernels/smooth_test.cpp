// Residuals and line relaxation on grids of every shape, against the serial twin and against the residual and the line solve by themselves.
#include "line/relax/line_relaxation.hpp"
#include "line/relax/outside_rows.hpp"

#include <array>

#include <map>
#include <memory>

#include "line_problem.hpp"
#include "reference/smooth.hpp"

namespace {

using namespace weft;
using namespace weft::test;

constexpr const char *unfused = "spike"; ///< a method that makes no residual as it goes

enum class Stencil { star, box, none };

/// A box of nodes with `components` unknowns each and the stencil of a star (5- or 7-point in the plane and in space) or a box (9 or 27).
struct Grid {
  Index n[3]       = {1, 1, 1};
  Index components = 1;
  Stencil stencil  = Stencil::star;
  bool wraps       = false; ///< periodic in all directions
  bool coupled     = true;  ///< unknowns of a node, and of its neighbours, to each other

  Index rows() const { return components * n[0] * n[1] * n[2]; }
  LineLayout lines(int direction, Index first = 0) const
  {
    const Index from[3] = {first, 0, 0};
    return lines_of_box(direction, n, components, from);
  }
};

/// Random values, columns in random order in every second row or so, a diagonal that dominates rows and columns.
template <class Scalar, class Int>
reference::Csr<Scalar, Int> matrix_on(const Grid &grid, std::mt19937 &random)
{
  reference::Csr<Scalar, Int> csr;
  std::map<std::pair<Index, Index>, Scalar> entries;
  std::vector<RealOf<Scalar>> size(static_cast<std::size_t>(grid.rows()));
  const auto add = [&](Index i, Index j) {
    if (i == j || entries.contains({i, j})) return;
    const Scalar value = random_values<Scalar>(1, random)[0];
    entries[{i, j}]    = value;
    size[static_cast<std::size_t>(i)] += modulus(value);
    size[static_cast<std::size_t>(j)] += modulus(value);
  };
  for (Index node = 0; node < grid.n[0] * grid.n[1] * grid.n[2]; node++) {
    const Index at[3] = {node % grid.n[0], node / grid.n[0] % grid.n[1], node / grid.n[0] / grid.n[1]};
    for (int neighbour = 0; neighbour < 27; neighbour++) {
      const int step[3] = {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
      const int steps   = std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]);
      if ((grid.stencil == Stencil::star && steps > 1) || (grid.stencil == Stencil::none && steps > 0)) continue;
      Index to[3];
      bool inside = true;
      for (int k = 0; k < 3; k++) {
        to[k] = at[k] + step[k];
        if (grid.wraps) to[k] = (to[k] + grid.n[k]) % grid.n[k];
        inside = inside && to[k] >= 0 && to[k] < grid.n[k];
      }
      if (!inside) continue;
      const Index other = to[0] + grid.n[0] * (to[1] + grid.n[1] * to[2]);
      for (Index c = 0; c < grid.components; c++) {
        for (Index d = 0; d < grid.components; d++) {
          if (c == d || grid.coupled) add(node * grid.components + c, other * grid.components + d);
        }
      }
    }
  }
  for (Index i = 0; i < grid.rows(); i++) entries[{i, i}] = (i % 3 ? 1 : -1) * (size[static_cast<std::size_t>(i)] + RealOf<Scalar>(0.5));
  auto entry = entries.begin();
  for (Index i = 0; i < grid.rows(); i++) {
    std::vector<std::pair<Index, Scalar>> row;
    for (; entry != entries.end() && entry->first.first == i; ++entry) row.emplace_back(entry->first.second, entry->second);
    if (random() % 2 == 0) std::shuffle(row.begin(), row.end(), random);
    for (const auto &[column, value] : row) {
      csr.columns.push_back(static_cast<Int>(column));
      csr.values.push_back(value);
    }
    csr.row_starts.push_back(static_cast<Int>(csr.columns.size()));
  }
  return csr;
}

/// A matrix in the memory of a backend.
template <class Scalar, class Int>
struct There {
  Buffer<Int> row_starts, columns;
  Buffer<Scalar> values;

  There(Memory memory, const reference::Csr<Scalar, Int> &csr)
      : row_starts(memory, csr.row_starts), columns(memory, csr.columns), values(memory, csr.values)
  {
  }
  CsrMatrix<Scalar, Int> view() const { return {row_starts.data(), columns.data(), values.data()}; }
};

template <class Scalar>
void expect_near(const std::vector<Scalar> &got, const std::vector<Scalar> &expected)
{
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++)
    ASSERT_LE(modulus(got[i] - expected[i]), 400 * std::numeric_limits<RealOf<Scalar>>::epsilon() * (1 + modulus(expected[i])))
        << "element " << i;
}
template <class Scalar>
double norm_of(NormType type, const std::vector<Scalar> &values, const LineLayout &layout, Colour colour)
{
  double total = 0;
  for (Index line = 0; line < layout.count(); line++) {
    if (!layout.has_colour(line, colour)) continue;
    for (Index row = 0; row < layout.length; row++) {
      const double v = modulus(values[static_cast<std::size_t>(layout.start(line) + row * layout.stride)]);
      total          = type == NormType::two ? total + v * v : std::max(total, v);
    }
  }
  return type == NormType::two ? std::sqrt(total) : total;
}

template <class Scalar>
std::string named(const RelaxOptions<Scalar> &options)
{
  return "omega " + std::to_string(options.omega) + ", colour " + std::to_string(static_cast<int>(options.colour)) + ", guess " +
         std::to_string(static_cast<int>(options.guess)) + ", transposed " + std::to_string(options.transpose == Transpose::yes) +
         ", residual " + std::to_string(options.residual != nullptr) + ", change " + std::to_string(options.change != nullptr);
}

/// What x that must not be read is.
template <class Scalar>
constexpr Scalar unread = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();

/// A grid's matrix and vectors, and a relaxation of its lines on a backend.
template <class Scalar, class Int = std::int32_t>
struct Relaxing {
  LineLayout layout;
  reference::Csr<Scalar, Int> csr;
  std::vector<Scalar> b, start;
  Memory memory;
  Execution execution;
  There<Scalar, Int> there;
  StencilMatrix<Scalar> matrix;
  LineRelaxation<Scalar> relaxation;

  Relaxing(const reference::Csr<Scalar, Int> &from, const LineLayout &lines, const std::string &method, Memory where, std::mt19937 &random)
      : layout(lines), csr(from), b(random_values<Scalar>(from.rows(), random)), start(random_values<Scalar>(from.rows(), random)),
        memory(where), execution(where), there(where, from), matrix(execution, static_cast<Index>(from.rows())),
        relaxation((matrix.read(there.view()), matrix), LineProblem(lines), method)
  {
    relaxation.factor();
  }

  /// One relaxation, compared with the twin.
  void check(RelaxOptions<Scalar> options) const
  {
    SCOPED_TRACE(named(options));
    if (matrix.in_diagonals() && !sampled()) return;
    const bool transposed     = options.transpose == Transpose::yes;
    std::vector<Scalar> known = start, before = start;
    for (Index line = 0; line < layout.count(); line++) {
      const bool relaxed = layout.has_colour(line, options.colour);
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride);
        if (options.guess == Guess::zero || (options.guess == Guess::zero_lines && relaxed)) known[i] = 0;
        if (relaxed && options.guess != Guess::given) before[i] = unread<Scalar>;
      }
    }
    const std::vector<Scalar> r      = reference::residual(csr, b, known, transposed);
    const std::vector<Scalar> change = reference::line_changes(csr, layout, r, options.omega, options.colour, transposed);
    const Buffer<Scalar> rhs(memory, b), x(memory, before);
    for (Norm *norm : std::array{options.residual, options.change}) {
      if (norm) norm->clear();
    }
    relaxation.relax(rhs.data(), x.data(), options);
    ASSERT_FALSE(relaxation.bad_pivot());
    std::vector<Scalar> expected = before;
    for (Index line = 0; line < layout.count(); line++) {
      if (!layout.has_colour(line, options.colour)) continue;
      for (Index row = 0; row < layout.length; row++) {
        const auto i = static_cast<std::size_t>(layout.start(line) + row * layout.stride);
        expected[i]  = known[i] + change[i];
      }
    }
    expect_near(x.values(), expected);
    EXPECT_EQ(rhs.values(), b) << "the right-hand side must be kept";
    const double tolerance = 400 * std::numeric_limits<RealOf<Scalar>>::epsilon();
    if (options.residual) {
      const double norm = norm_of(options.residual->type(), r, layout, options.colour);
      EXPECT_NEAR(options.residual->value(), norm, tolerance * (1 + norm));
    }
    if (options.change) {
      const double norm = norm_of(options.change->type(), change, layout, options.colour);
      EXPECT_NEAR(options.change->value(), norm, tolerance * (1 + norm));
    }
  }

  void check_all() const
  {
    Norm two(execution, NormType::two), largest(execution, NormType::largest);
    for (Colour colour : {Colour::even, Colour::odd, Colour::all}) {
      for (Guess guess : {Guess::given, Guess::zero_lines, Guess::zero}) {
        check({1, colour, guess});
        check({RealOf<Scalar>(0.7), colour, guess});
        check({1, colour, guess, Transpose::no, &two, &largest});
      }
      check({RealOf<Scalar>(0.7), colour, Guess::given, Transpose::no, &largest, &two});
      check({1, colour, Guess::given, Transpose::no, nullptr, &two});
      check({1, colour, Guess::given, Transpose::no, &largest});
      if (!matrix.in_diagonals()) {
        EXPECT_THROW(check({1, colour, Guess::given, Transpose::yes}), std::invalid_argument);
        continue;
      }
      check({RealOf<Scalar>(1.1), colour, Guess::given, Transpose::yes});
      check({1, colour, Guess::zero_lines, Transpose::yes, &two, &largest});
    }
  }
};

/// Calls body(scalar, memory, method): the methods that are fused, on the backends where they are, and one that is not.
template <class Body>
void for_each_way(const Body &body)
{
  for_each_scalar([&](auto scalar, Memory memory) {
    for (const char *method : {"auto", "wide", unfused}) body(scalar, memory, method);
  });
}

std::string named(const Grid &grid, int direction)
{
  return std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) + ", " +
         std::to_string(grid.components) + " components, stencil " + std::to_string(static_cast<int>(grid.stencil)) + ", wraps " +
         std::to_string(grid.wraps) + ", coupled " + std::to_string(grid.coupled) + ", direction " + std::to_string(direction);
}

TEST(Smooth, EveryShapeOfGrid)
{
  std::mt19937 random(31);
  std::vector<Grid> grids;
  for (Stencil stencil : {Stencil::star, Stencil::box}) {
    for (bool wraps : {false, true}) {
      grids.push_back({{7, 6, 1}, 1, stencil, wraps});
      grids.push_back({{5, 4, 3}, 1, stencil, wraps});
      grids.push_back({{4, 3, 1}, 2, stencil, wraps});
    }
  }
  grids.push_back({{33, 9, 1}});
  grids.push_back({{8, 32, 1}, 1, Stencil::box});
  grids.push_back({{3, 4, 5}, 3, Stencil::star});
  grids.push_back({{6, 5, 1}, 3, Stencil::star, false, false});
  grids.push_back({{1, 9, 1}});
  grids.push_back({{1, 1, 5}, 2});
  grids.push_back({{2, 2, 2}, 1, Stencil::box, true});
  grids.push_back({{6, 1, 4}, 1, Stencil::box});
  grids.push_back({{9, 8, 1}, 1, Stencil::none});
  for (const Grid &grid : grids) {
    for_each_way([&](auto scalar, Memory memory, const char *method) {
      using Scalar   = decltype(scalar);
      const auto csr = matrix_on<Scalar, std::int32_t>(grid, random);
      for (int direction = 0; direction < 3; direction++) {
        SCOPED_TRACE(named(grid, direction) + ", " + method + (memory == Memory::host ? ", host" : ", device"));
        Relaxing<Scalar>(csr, grid.lines(direction, direction), method, memory, random).check_all();
        if (testing::Test::HasFatalFailure()) return;
      }
    });
  }
}

TEST(Smooth, LongLines)
{
  std::mt19937 random(32);
  for (const Grid &grid : {Grid{{1000, 3, 1}},
                           Grid{{3, 1025, 1}},
                           Grid{{257, 5, 1}, 1, Stencil::box},
                           Grid{{2, 2100, 1}},
                           Grid{{4100, 2, 1}},
                           Grid{{40, 130, 1}},
                           Grid{{67, 40, 1}, 1, Stencil::box, true},
                           Grid{{19, 2049, 1}},
                           Grid{{5, 4097, 1}},
                           Grid{{37, 6000, 1}},
                           Grid{{3, 4700, 1}},
                           Grid{{4321, 3, 1}},
                           Grid{{8193, 6, 1}, 1, Stencil::box},
                           Grid{{20000, 3, 1}},
                           Grid{{36864, 2, 1}},
                           Grid{{36865, 2, 1}},
                           Grid{{7, 1200, 3}},
                           Grid{{18, 1300, 1}, 1, Stencil::box},
                           Grid{{5, 1157, 1}, 2, Stencil::star, false, false},
                           Grid{{70, 801, 1}},
                           Grid{{34, 900, 3}},
                           Grid{{33, 2310, 1}},
                           Grid{{20, 129, 5}},
                           Grid{{19, 161, 4}},
                           Grid{{7, 288, 3}},
                           Grid{{16, 65, 2}}}) {
    for_each_scalar([&](auto scalar, Memory memory) {
      using Scalar   = decltype(scalar);
      const auto csr = matrix_on<Scalar, std::int64_t>(grid, random);
      for (int direction = 0; direction < 2; direction++) {
        SCOPED_TRACE(named(grid, direction) + (memory == Memory::host ? ", host" : ", device"));
        const Relaxing<Scalar, std::int64_t> relaxing(csr, grid.lines(direction), "auto", memory, random);
        Norm two(relaxing.execution, NormType::two);
        relaxing.check({1, Colour::odd});
        relaxing.check({RealOf<Scalar>(0.9), Colour::odd});
        relaxing.check({1, Colour::even, Guess::zero});
        relaxing.check({1, Colour::odd, Guess::zero_lines});
        relaxing.check({RealOf<Scalar>(0.9), Colour::even, Guess::given, Transpose::no, &two});
        relaxing.check({1, Colour::all, Guess::given, Transpose::no, nullptr, &two});
      }
    });
  }
}

TEST(Smooth, SaysWhenItIsFused)
{
  std::mt19937 random(33);
  const Execution execution(Memory::host);
  const auto fused = [&](const Grid &grid, int direction, Colour colour, const char *method = "auto") {
    const auto csr = matrix_on<KernelScalar, std::int32_t>(grid, random);
    return Relaxing<KernelScalar>(csr, grid.lines(direction), method, Memory::host, random).relaxation.fused(colour);
  };
  for (int direction : {0, 1}) {
    for (Stencil stencil : {Stencil::star, Stencil::box}) {
      EXPECT_EQ(fused({{12, 8, 1}, 1, stencil}, direction, Colour::even), direction == 0); // packs of contiguous lines only
      EXPECT_TRUE(fused({{12, 8, 1}, 1, stencil}, direction, Colour::odd, "wide"));
      EXPECT_FALSE(fused({{12, 8, 1}, 1, stencil}, direction, Colour::even, unfused));
      EXPECT_FALSE(fused({{12, 8, 1}, 1, stencil}, direction, Colour::all));
    }
  }
  EXPECT_TRUE(fused({{12, 8, 1}, 1, Stencil::star, true}, 0, Colour::even)); // eight lines around a period alternate
  EXPECT_FALSE(fused({{12, 7, 1}, 1, Stencil::star, true}, 0, Colour::even));
  EXPECT_TRUE(fused({{5, 4, 6}}, 2, Colour::even, "wide"));
  EXPECT_FALSE(fused({{5, 4, 6}, 1, Stencil::box}, 2, Colour::even, "wide")); // lines of one colour meet at the corners
  EXPECT_FALSE(fused({{6, 5, 1}, 2}, 0, Colour::even, "wide"));               // so do those of a node
  EXPECT_TRUE(fused({{6, 5, 1}, 2, Stencil::star, false, false}, 0, Colour::even, "wide"));
  EXPECT_TRUE(fused({{50, 1, 1}}, 0, Colour::all));
  EXPECT_FALSE(fused({{5, 1, 4}}, 1, Colour::all, "wide")); // lines of one row
}

TEST(Smooth, SweepsReduceTheError)
{
  std::mt19937 random(34);
  const Grid grid{{24, 17, 1}, 1, Stencil::box};
  for_each_way([&](auto scalar, Memory memory, const char *method) {
    using Scalar = decltype(scalar);
    const Relaxing<Scalar> relaxing(matrix_on<Scalar, std::int32_t>(grid, random), grid.lines(1), method, memory, random);
    const Buffer<Scalar> b(memory, relaxing.b), x(memory, std::vector<Scalar>(relaxing.b.size(), unread<Scalar>)), r(memory, relaxing.b);
    const auto &relaxation = relaxing.relaxation;
    relaxation.relax(b.data(), x.data(), {1, Colour::even, Guess::zero});
    relaxation.relax(b.data(), x.data(), {1, Colour::odd, Guess::zero_lines});
    for (int sweep = 0; sweep < 40; sweep++) {
      for (Colour colour : {Colour::even, Colour::odd}) relaxation.relax(b.data(), x.data(), {1, colour});
    }
    Norm norm(relaxing.execution, NormType::largest);
    relaxing.matrix.residual(b.data(), x.data(), r.data(), &norm);
    EXPECT_LT(norm.value(), 200 * std::numeric_limits<RealOf<Scalar>>::epsilon());
  });
}

TEST(Smooth, NormsAddUpAndRepeat)
{
  std::mt19937 random(35);
  const Grid grid{{100, 90, 1}};
  for_each_way([&](auto scalar, Memory memory, const char *method) {
    using Scalar = decltype(scalar);
    const Relaxing<Scalar> relaxing(matrix_on<Scalar, std::int32_t>(grid, random), grid.lines(0), method, memory, random);
    std::vector<KernelScalar> values;
    for (int repeat = 0; repeat < 3; repeat++) {
      Norm residual(relaxing.execution, NormType::two), change(relaxing.execution, NormType::two);
      const Buffer<Scalar> b(memory, relaxing.b), x(memory, relaxing.start);
      for (Colour colour : {Colour::even, Colour::odd})
        relaxing.relaxation.relax(b.data(), x.data(), {1, colour, Guess::given, Transpose::no, &residual, &change});
      values.push_back(residual.value());
      values.push_back(change.value());
      double squares   = 0;
      const auto new_x = x.values();
      for (std::size_t i = 0; i < new_x.size(); i++) squares += std::pow(static_cast<double>(modulus(new_x[i] - relaxing.start[i])), 2);
      EXPECT_NEAR(change.value(), std::sqrt(squares), 1e3 * std::numeric_limits<RealOf<Scalar>>::epsilon() * std::sqrt(squares));
    }
    EXPECT_EQ(values[0], values[2]);
    EXPECT_EQ(values[1], values[3]);
    EXPECT_EQ(values[0], values[4]);
    EXPECT_EQ(values[1], values[5]);
  });
}

TEST(StencilMatrix, ResidualsOfEveryForm)
{
  std::mt19937 random(36);
  for (const Grid &grid : {Grid{{1, 1, 1}}, Grid{{700, 1, 1}}, Grid{{40, 31, 1}}, Grid{{9, 8, 7}, 1, Stencil::box}, Grid{{6, 5, 4}, 3},
                           Grid{{40, 31, 1}, 1, Stencil::star, true}, Grid{{12, 11, 10}, 1, Stencil::box, true}}) {
    SCOPED_TRACE(named(grid, 0));
    for_each_scalar([&](auto scalar, Memory memory) {
      using Scalar   = decltype(scalar);
      const auto csr = matrix_on<Scalar, std::int32_t>(grid, random);
      const Execution execution(memory);
      const There<Scalar, std::int32_t> there(memory, csr);
      StencilMatrix<Scalar> matrix(execution, grid.rows());
      matrix.read(there.view());
      const auto values = random_values<Scalar>(csr.rows(), random), rhs = random_values<Scalar>(csr.rows(), random);
      const Buffer<Scalar> b(memory, rhs), x(memory, values), r(memory, values);
      auto product = reference::residual(csr, rhs, values, false);
      for (std::size_t i = 0; i < product.size(); i++) product[i] = rhs[i] - product[i];
      matrix.multiply(x.data(), r.data());
      expect_near(r.values(), product);
      for (bool transposed : {false, true}) {
        const auto expected = reference::residual(csr, rhs, values, transposed);
        for (NormType type : {NormType::two, NormType::largest}) {
          Norm norm(execution, type);
          const auto run = [&](Norm *n) { matrix.residual(b.data(), x.data(), r.data(), n, transposed ? Transpose::yes : Transpose::no); };
          if (transposed && !matrix.in_diagonals()) {
            EXPECT_THROW(run(&norm), std::invalid_argument);
            continue;
          }
          run(nullptr);
          expect_near(r.values(), expected);
          run(&norm);
          expect_near(r.values(), expected);
          const double exact = norm_of(type, expected, one_line(grid.rows()), Colour::all);
          EXPECT_NEAR(norm.value(), exact, 400 * std::numeric_limits<RealOf<Scalar>>::epsilon() * (1 + exact));
        }
      }
    });
  }
}

TEST(StencilMatrix, KnowsItsForm)
{
  std::mt19937 random(37);
  for (Memory memory : memories()) {
    const Execution execution(memory);
    const auto form = [&](const Grid &grid) {
      const There<KernelScalar, std::int32_t> there(memory, matrix_on<KernelScalar, std::int32_t>(grid, random));
      StencilMatrix<KernelScalar> matrix(execution, grid.rows());
      EXPECT_FALSE(matrix.in_diagonals());
      matrix.read(there.view());
      return matrix.offsets();
    };
    EXPECT_EQ(form({{50, 40, 1}}), (std::vector<Index>{-50, -1, 0, 1, 50}));
    EXPECT_EQ(form({{50, 40, 1}, 1, Stencil::star, true}), (std::vector<Index>{-1950, -50, -49, -1, 0, 1, 49, 50, 1950}));
    EXPECT_EQ(form({{8, 9, 7}, 1, Stencil::box}).size(), 27u);
    EXPECT_EQ(form({{8, 9, 7}, 3}).size(), 31u);                      // those of neighbours along x overlap
    EXPECT_TRUE(form({{12, 11, 10}, 1, Stencil::box, true}).empty()); // 125 of them
    EXPECT_TRUE(form({{0, 1, 1}}).empty());

    // More words than twice the entries: a few rows with offsets of their own.
    Grid line{{2000, 1, 1}};
    auto csr = matrix_on<KernelScalar, std::int32_t>(line, random);
    for (int k = 0; k < 10; k++) csr.columns[static_cast<std::size_t>(csr.row_starts[300 + k])] = 3 * k * k;
    const There<KernelScalar, std::int32_t> there(memory, csr);
    StencilMatrix<KernelScalar> matrix(execution, line.rows());
    matrix.read(there.view());
    EXPECT_FALSE(matrix.in_diagonals());
  }
}

TEST(StencilMatrix, FindsAnOffsetThatOneRowHas)
{
  std::mt19937 random(41);
  const Grid grid{{3000, 3, 1}};
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    auto csr     = matrix_on<Scalar, std::int32_t>(grid, random);
    for (int row : {2999, 4001, 8999}) {
      auto csr_row = csr;
      for (auto k = csr.row_starts[static_cast<std::size_t>(row)]; k < csr.row_starts[static_cast<std::size_t>(row) + 1]; k++) {
        if (csr.columns[static_cast<std::size_t>(k)] != row) csr_row.columns[static_cast<std::size_t>(k)] = row - 77;
      }
      const Execution execution(memory);
      const There<Scalar, std::int32_t> there(memory, csr_row);
      StencilMatrix<Scalar> matrix(execution, grid.rows());
      matrix.read(there.view());
      EXPECT_EQ(matrix.offsets(), (std::vector<Index>{-3000, -77, -1, 0, 1, 3000}));
      const auto b = random_values<Scalar>(csr.rows(), random), x = random_values<Scalar>(csr.rows(), random);
      const Buffer<Scalar> rhs(memory, b), guess(memory, x), residual(memory, b);
      matrix.residual(rhs.data(), guess.data(), residual.data());
      expect_near(residual.values(), reference::residual(csr_row, b, x));
    }
  });
}

TEST(OutsideRows, TakesGhostsFromTheRightHandSide)
{
  std::mt19937 random(42);
  for_each_scalar([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const Execution execution(memory);
    const auto outside = OutsideRows<Scalar>::make(execution);
    for (const int every : {1, 7, 7, 1000}) { // rows that have entries
      constexpr int rows = 700, ghosts = 60;
      reference::Csr<Scalar, std::int64_t> csr;
      for (int i = 0; i < rows; i++) {
        for (int k = 0; k < (i % every == every / 2 ? 1 + i % 3 : 0); k++) {
          csr.columns.push_back(static_cast<std::int64_t>(random() % ghosts));
          csr.values.push_back(random_values<Scalar>(1, random)[0]);
        }
        csr.row_starts.push_back(static_cast<std::int64_t>(csr.columns.size()));
      }
      const auto b = random_values<Scalar>(rows, random), x = random_values<Scalar>(ghosts, random);
      const There<Scalar, std::int64_t> there(memory, csr);
      const Buffer<Scalar> rhs(memory, b), guess(memory, x);
      outside->read(rows, there.view());
      outside->take(rhs.data(), guess.data());
      auto expected = b;
      for (std::size_t i = 0; i < rows; i++) {
        for (auto k = csr.row_starts[i]; k < csr.row_starts[i + 1]; k++)
          expected[i] -= csr.values[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(csr.columns[static_cast<std::size_t>(k)])];
      }
      expect_near(rhs.values(), expected);
      outside->put_back(rhs.data());
      EXPECT_EQ(rhs.values(), b);
    }
  });
}

TEST(StencilMatrix, TakesNewValuesAndNewPatterns)
{
  std::mt19937 random(38);
  for_each_way([&](auto scalar, Memory memory, const char *method) {
    using Scalar = decltype(scalar);
    const Grid star{{13, 12, 1}}, box{{13, 12, 1}, 1, Stencil::box}, none{{13, 12, 1}, 1, Stencil::none},
        around{{13, 12, 1}, 1, Stencil::box, true};
    Relaxing<Scalar> relaxing(matrix_on<Scalar, std::int32_t>(star, random), star.lines(0), method, memory, random);
    std::unique_ptr<There<Scalar, std::int32_t>> there;
    for (const Grid &grid : {star, box, around, none, star}) {
      SCOPED_TRACE(named(grid, 0));
      relaxing.csr = matrix_on<Scalar, std::int32_t>(grid, random);
      there        = std::make_unique<There<Scalar, std::int32_t>>(memory, relaxing.csr);
      relaxing.matrix.read(there->view());
      relaxing.relaxation.factor();
      relaxing.check({1, Colour::even});
      relaxing.check({RealOf<Scalar>(0.8), Colour::odd});
    }
  });
}

TEST(StencilMatrix, UsesDiagonalsThatStandSomewhere)
{
  for (const Memory memory : memories()) {
    std::mt19937 random(23);
    const Execution execution(memory);
    Grid grid;
    grid.n[0]        = 9;
    grid.n[1]        = 7;
    const Index rows = grid.rows(), pitch = rows + 5;
    const auto csr = matrix_on<KernelScalar, std::int32_t>(grid, random);
    const There<KernelScalar, std::int32_t> there(memory, csr);
    const std::vector<Index> offsets = {-9, -1, 0, 1, 9};
    std::vector<KernelScalar> diagonals(static_cast<std::size_t>(pitch) * offsets.size());
    for (Index i = 0; i < rows; i++) {
      for (auto k = csr.row_starts[static_cast<std::size_t>(i)]; k < csr.row_starts[static_cast<std::size_t>(i) + 1]; k++) {
        const Index offset                                 = csr.columns[static_cast<std::size_t>(k)] - i;
        const auto d                                       = std::find(offsets.begin(), offsets.end(), offset) - offsets.begin();
        diagonals[static_cast<std::size_t>(d * pitch + i)] = csr.values[static_cast<std::size_t>(k)];
      }
    }
    const Buffer<KernelScalar> kept(memory, diagonals);
    const auto values = random_values<KernelScalar>(rows, random);
    Buffer<KernelScalar> x(memory, values), b(memory, random_values<KernelScalar>(rows, random)), r(memory, values), same(memory, values);
    StencilMatrix<KernelScalar> matrix(execution, rows), other(execution, rows);
    other.read(there.view());
    matrix.use(kept.data(), pitch, offsets);
    EXPECT_TRUE(matrix.in_diagonals());
    EXPECT_EQ(matrix.offsets(), other.offsets());
    matrix.residual(b.data(), x.data(), r.data());
    other.residual(b.data(), x.data(), same.data());
    EXPECT_EQ(r.values(), same.values());
    // A matrix of its own again, in arrays of its own.
    matrix.read(there.view());
    matrix.residual(b.data(), x.data(), r.data());
    EXPECT_EQ(r.values(), same.values());
    EXPECT_EQ(kept.values(), diagonals);
  }
}

TEST(Smooth, LinesWithCoefficientsOfTheirOwn)
{
  std::mt19937 random(40);
  for (bool wraps : {false, true}) {
    const Grid grid{{30, 11, 1}, 1, Stencil::star, wraps};
    for_each_scalar([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      auto csr     = matrix_on<Scalar, std::int32_t>(grid, random);
      for (std::size_t i = 0; i < csr.rows(); i++) {
        for (auto k = csr.row_starts[i]; k < csr.row_starts[i + 1]; k++)
          csr.values[static_cast<std::size_t>(k)] = csr.columns[static_cast<std::size_t>(k)] == static_cast<int>(i) ? 6 : -1;
      }
      const Execution execution(memory);
      const There<Scalar, std::int32_t> there(memory, csr);
      StencilMatrix<Scalar> matrix(execution, grid.rows());
      matrix.read(there.view());
      const auto values = random_values<Scalar>(csr.rows(), random), rhs = random_values<Scalar>(csr.rows(), random);
      const Buffer<Scalar> b(memory, rhs), x(memory, values);
      LineProblem problem(grid.lines(0));
      problem.coefficients = Coefficients::constant;
      problem.periodic     = wraps;
      LineRelaxation<Scalar> relaxation(matrix, problem);
      relaxation.solver().read(ConstantLines<Scalar>{0, {-1}, {6}, {-1}});
      relaxation.factor();
      EXPECT_FALSE(relaxation.fused(Colour::even));
      relaxation.relax(b.data(), x.data(), {1, Colour::odd});

      const auto r  = reference::residual(csr, rhs, values);
      auto expected = values;
      const std::vector<Scalar> lower(30, -1), diagonal(30, 6);
      for (Index line = 1; line < 11; line += 2) {
        const std::vector<Scalar> of_line(r.begin() + line * 30, r.begin() + line * 30 + 30);
        const auto z = wraps ? reference::solve_periodic(lower, diagonal, lower, of_line)
                             : reference::solve_tridiagonal(lower, diagonal, lower, of_line);
        for (std::size_t row = 0; row < 30; row++) expected[static_cast<std::size_t>(line) * 30 + row] += z[row];
      }
      expect_near(x.values(), expected);
    });
  }
}

TEST(Smooth, ReportsBadPivots)
{
  std::mt19937 random(39);
  const Grid grid{{20, 6, 1}};
  for_each_way([&](auto scalar, Memory memory, const char *method) {
    using Scalar  = decltype(scalar);
    auto csr      = matrix_on<Scalar, std::int32_t>(grid, random);
    const int row = 3 * 20 + 7;
    for (int k = csr.row_starts[row]; k < csr.row_starts[row + 1]; k++) csr.values[static_cast<std::size_t>(k)] = 0;
    Relaxing<Scalar> relaxing(csr, grid.lines(0), method, memory, random);
    const auto good = matrix_on<Scalar, std::int32_t>(grid, random);
    for (const bool usable : {false, true, true, false, false, true}) {
      const There<Scalar, std::int32_t> there(memory, usable ? good : csr);
      relaxing.matrix.read(there.view());
      relaxing.relaxation.factor();
      const auto bad = relaxing.relaxation.bad_pivot();
      ASSERT_EQ(bad.has_value(), !usable);
      if (usable) continue;
      EXPECT_EQ(bad->line, 3);
      EXPECT_EQ(bad->row, 7);
    }
  });
  const Execution execution(Memory::host);
  const StencilMatrix<KernelScalar> small(execution, 10);
  EXPECT_THROW(LineRelaxation<KernelScalar>(small, LineProblem(one_line(11))), std::invalid_argument);
  EXPECT_THROW(LineRelaxation<KernelScalar>(small, LineProblem(one_line(10)), "none"), std::invalid_argument);
  LineRelaxation<KernelScalar> unread_matrix(small, LineProblem(one_line(10)));
  EXPECT_THROW(unread_matrix.factor(), std::invalid_argument);
}

} // namespace
