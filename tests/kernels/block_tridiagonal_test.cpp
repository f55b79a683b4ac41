// Every method for block-tridiagonal lines against the serial twin: block sizes, lengths, strides, colours, transposes, updates, many
// right-hand sides, pivoting inside the blocks, bad pivots, taking blocks out of a matrix.
#include "block_problem.hpp"
#include "line/blocks/block_line_solver.hpp"
#include "line/blocks/block_select.hpp"

namespace {

using namespace weft;
using namespace weft::test;

template <class Scalar>
struct BlockSolving {
  Execution execution;
  const std::unique_ptr<BlockLineSolver<Scalar>> made;
  BlockLineSolver<Scalar> &solver;
  Buffer<Scalar> lower, diagonal, upper;

  BlockSolving(const BlockProblem<Scalar> &problem, const std::string &method, Memory memory, const MethodParameters &parameters = {},
               bool factored = true)
      : execution(memory), made(BlockLineSolver<Scalar>::make(execution, problem.lines, method, parameters)), solver(*made),
        lower(memory, problem.lower), diagonal(memory, problem.diagonal), upper(memory, problem.upper)
  {
    solver.use(lower.data(), diagonal.data(), upper.data());
    if (factored) solver.factor();
  }
};

template <class Scalar>
void check_block(const BlockProblem<Scalar> &problem, const std::string &method, Memory memory, const SolveOptions<Scalar> &options = {},
                 bool in_place = false, const MethodParameters &parameters = {}, bool once = false)
{
  const LineLayout &layout = problem.layout();
  SCOPED_TRACE(testing::Message() << method << (memory == Memory::host ? " on the host, " : " on the device, ") << sizeof(Scalar)
                                  << " bytes, blocks of " << problem.b << ", length " << layout.length << ", count "
                                  << problem.lines.count() << ", stride " << layout.stride << ", add " << options.update.add << ", colour "
                                  << static_cast<int>(options.colour) << ", transposed " << (options.transpose == Transpose::yes)
                                  << ", many " << options.nrhs << ", in place " << in_place << ", once " << once << ", partitions "
                                  << parameters.partitions << ", slice " << parameters.slice);
  if (!sampled()) return;
  BlockSolving<Scalar> s(problem, method, memory, parameters, !once);
  const Buffer<Scalar> rhs(memory, problem.rhs), separate(memory, problem.start);
  const Buffer<Scalar> &solution   = in_place ? rhs : separate;
  const std::vector<Scalar> before = in_place ? problem.rhs : problem.start;
  if (once)
    s.solver.solve_once(rhs.data(), solution.data(), options);
  else
    s.solver.solve(rhs.data(), solution.data(), options);
  ASSERT_FALSE(s.solver.bad_pivot());

  const std::vector<Scalar> got = solution.values(), expected = problem.expected(options, before);
  const auto tolerance = 400 * std::numeric_limits<RealOf<Scalar>>::epsilon();
  for (std::size_t i = 0; i < got.size(); i++)
    ASSERT_LE(modulus(got[i] - expected[i]), tolerance * (1 + modulus(expected[i]))) << "element " << i;
  if (!options.update.add && !in_place) {
    EXPECT_EQ(rhs.values(), problem.rhs) << "the right-hand side must be kept";
  }
}

/// Calls body(method's name, scalar, memory, block size) for all of them.
template <class Body>
void for_each_block_method(Body &&body)
{
  for (const char *method : block_tridiagonal_method_names()) {
    for (Memory memory : memories()) {
      for (Index b = 1; b <= BlockLines::largest_block; b++) {
        body(method, SingleScalar(), memory, b);
        body(method, KernelScalar(), memory, b);
      }
    }
  }
}

TEST(BlockTridiagonal, AgreesWithTheSerialTwinAtEveryLength)
{
  std::mt19937 random(1);
  for (Index length : {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 255, 256, 257, 509, 1021, 1025}) {
    for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
      using Scalar      = decltype(scalar);
      const Index count = length < 100 ? 11 : 2;
      check_block(BlockProblem<Scalar>(contiguous_nodes(b, length, count, length % 2), random), method, memory);
      check_block(BlockProblem<Scalar>(strided_nodes(b, length, count, length % 3), random), method, memory);
    });
  }
}

TEST(BlockTridiagonal, AgreesAtRandomShapesWithAllOptions)
{
  std::mt19937 random(2);
  const auto between = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  for (int trial = 0; trial < 30; trial++) {
    const Index box[3] = {between(1, 40), between(1, 9), between(1, 7)}, first[3] = {between(0, 9), between(0, 9), between(0, 9)};
    const int direction = static_cast<int>(between(0, 2));
    for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
      using Scalar            = decltype(scalar);
      const LineLayout layout = lines_of_box(direction, box, b, first);
      SolveOptions<Scalar> options;
      options.update    = {static_cast<RealOf<Scalar>>(trial % 2 ? 0.7 : 1.0), between(0, 1) == 1};
      options.colour    = static_cast<Colour>(between(-1, 1));
      options.transpose = between(0, 1) == 1 ? Transpose::yes : Transpose::no;
      options.nrhs      = static_cast<int>(between(1, 3));
      options.ld        = layout.span();
      MethodParameters parameters;
      parameters.partitions = static_cast<int>(between(0, 7));
      parameters.slice      = static_cast<int>(between(0, 12));
      check_block(BlockProblem<Scalar>(layout, random, options.nrhs), method, memory, options, false, parameters);
    });
  }
}

TEST(BlockTridiagonal, AnyNumberOfThreadsToALine)
{
  std::mt19937 random(3);
  for_each_block_method([&](const std::string &method, auto scalar, Memory memory, Index b) {
    if (method != "block-wide") return;
    for (int threads : {1, 2, 3, 5, 8, 31, 64, 1000}) {
      MethodParameters parameters;
      parameters.partitions = threads;
      for (Index length : {19, 701})
        check_block(BlockProblem<decltype(scalar)>(strided_nodes(b, length, 2), random), method, memory, {{0.5, true}}, false, parameters);
    }
  });
}

/// Row `row` of line 1 without a diagonal, which the row before must give it.
template <class Scalar>
void take_diagonal(BlockProblem<Scalar> &problem, Index row)
{
  for (Index p = 0; p < problem.b; p++) {
    for (Index q = 0; q < problem.b; q++) {
      const std::size_t k = problem.at(1, row) + problem.entry(p, q), before = problem.at(1, row - 1) + problem.entry(p, q);
      problem.diagonal[k]   = 0;
      problem.lower[k]      = p == q ? -4 : 0;
      problem.upper[before] = p == q ? problem.diagonal[before] : 0;
    }
  }
}

TEST(BlockTridiagonal, FactorsInChunks)
{
  std::mt19937 random(31);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    for (int rows : {1, 2, 7, 30}) {
      MethodParameters parameters;
      parameters.slice = rows;
      for (Index length : {2, 30, 61, 200}) {
        check_block(BlockProblem<decltype(scalar)>(strided_nodes(b, length, 3), random, 1, rows == 7), method, memory, {}, false,
                    parameters);
        check_block(BlockProblem<decltype(scalar)>(contiguous_nodes(b, length, 2), random), method, memory,
                    {{1}, Colour::all, Transpose::yes}, false, parameters);
      }
    }
  });
}

TEST(BlockTridiagonal, FactorsChunksThatCannotBeEliminatedByThemselves)
{
  std::mt19937 random(32);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    MethodParameters parameters;
    parameters.slice = 10;
    BlockProblem<decltype(scalar)> problem(contiguous_nodes(b, 45, 3), random);
    // Rows at the start of a chunk without a diagonal, which the row before must give them.
    for (Index row : {10, 20, 40}) take_diagonal(problem, row);
    check_block(problem, method, memory, {}, false, parameters);
  });
}

TEST(BlockTridiagonal, SolvesAtOnce)
{
  std::mt19937 random(33);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    using Scalar = decltype(scalar);
    for (Index length : {1, 63, 64, 65, 128, 129, 256, 257, 512, 513, 1023, 1024, 2049, 4096, 4097}) {
      if (length > 300 && b != 4) continue;
      const auto once = [&](const LineLayout &layout, const SolveOptions<Scalar> &options, bool in_place, bool shuffle) {
        check_block(BlockProblem<Scalar>(layout, random, 1, shuffle), method, memory, options, in_place, {}, true);
      };
      once(contiguous_nodes(b, length, 3), {}, false, false);
      once(contiguous_nodes(b, length, 2, 1), {{2}, Colour::odd}, true, false);
      once(strided_nodes(b, length, 3), {{0.5}, Colour::even}, false, length % 2 == 0);
    }
  });
}

TEST(BlockTridiagonal, SolvesLinesAtOnceThatAreNotSafeWhenCut)
{
  std::mt19937 random(34);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    for (Index length : {100, 1100}) {
      if (length > 300 && b != 4) continue;
      for (bool in_place : {false, true}) {
        BlockProblem<decltype(scalar)> problem(contiguous_nodes(b, length, 3), random);
        // Rows without a diagonal, which the row before must give them: at the start of a chunk, of a warp's rows, of a thread block's.
        for (Index row : {8, 64, 512, 1024}) {
          if (row < length) take_diagonal(problem, row);
        }
        check_block(problem, method, memory, {{2}}, in_place, {}, true);
      }
    }
  });
}

TEST(BlockTridiagonal, SolvesInPlace)
{
  std::mt19937 random(4);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    for (Index length : {1, 64, 300}) {
      check_block(BlockProblem<decltype(scalar)>(contiguous_nodes(b, length, 6), random), method, memory, {{2}}, true);
      check_block(BlockProblem<decltype(scalar)>(strided_nodes(b, length, 6), random), method, memory, {{2}, Colour::even}, true);
    }
  });
}

TEST(BlockTridiagonal, ManyShortLinesAndFewLongOnes)
{
  std::mt19937 random(5);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    for (const LineLayout &layout : {contiguous_nodes(b, 3, 5003), strided_nodes(b, 2, 5003), contiguous_nodes(b, 9973, 1)})
      check_block(BlockProblem<decltype(scalar)>(layout, random), method, memory);
  });
}

TEST(BlockTridiagonal, AcceptsNoRowsAtAll)
{
  std::mt19937 random(6);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    check_block(BlockProblem<decltype(scalar)>(contiguous_nodes(b, 0, 0), random), method, memory);
    check_block(BlockProblem<decltype(scalar)>(contiguous_nodes(b, 0, 4), random), method, memory);
    check_block(BlockProblem<decltype(scalar)>(contiguous_nodes(b, 5, 0), random), method, memory);
  });
}

TEST(BlockTridiagonal, PivotsInsideTheBlocks)
{
  std::mt19937 random(7);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    const BlockProblem<decltype(scalar)> problem(strided_nodes(b, 50, 7), random, 1, true);
    check_block(problem, method, memory);
    check_block(problem, method, memory, {{1}, Colour::all, Transpose::yes});
  });
}

// Where lines are many, a thread factors some at a time.
TEST(BlockTridiagonal, ManyLinesExchangeRowsAndReportPivotsEachByItself)
{
  std::mt19937 random(11);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    using Scalar = decltype(scalar);
    for (Index count : {128, 129, 131}) {
      BlockProblem<Scalar> problem(contiguous_nodes(b, 6, count, 1), random, 1, true);
      check_block(problem, method, memory);
      check_block(problem, method, memory, {{1}, Colour::all, Transpose::yes});
      for (Index e = 0; e < b * b; e++) {
        for (auto *values : {&problem.lower, &problem.diagonal, &problem.upper})
          (*values)[problem.at(count - 2, 4) + static_cast<std::size_t>(e)] = 0;
      }
      const auto found = BlockSolving<Scalar>(problem, method, memory).solver.bad_pivot();
      ASSERT_TRUE(found) << method;
      EXPECT_EQ(found->line, count - 2) << method;
      EXPECT_EQ(found->row, 4) << method;
    }
  });
}

TEST(BlockTridiagonal, NewValuesNewFactors)
{
  std::mt19937 random(8);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    using Scalar = decltype(scalar);
    const BlockLines lines(strided_nodes(b, 30, 3));
    const BlockProblem<Scalar> first(lines, random), second(lines, random);
    BlockSolving<Scalar> s(first, method, memory);
    const Buffer<Scalar> rhs(memory, second.rhs), x(memory, second.start), l(memory, second.lower), d(memory, second.diagonal),
        u(memory, second.upper);
    for (Transpose transpose : {Transpose::no, Transpose::yes}) {
      s.solver.use(s.lower.data(), s.diagonal.data(), s.upper.data());
      s.solver.factor();
      s.solver.solve(rhs.data(), x.data(), {{1}, Colour::all, transpose});
      s.solver.use(l.data(), d.data(), u.data());
      s.solver.factor();
      s.solver.solve(rhs.data(), x.data(), {{1}, Colour::all, transpose});
      s.execution.wait();
      const auto got = x.values(), expected = second.expected({{1}, Colour::all, transpose}, second.start);
      for (std::size_t i = 0; i < got.size(); i++)
        ASSERT_LE(modulus(got[i] - expected[i]), 400 * std::numeric_limits<RealOf<Scalar>>::epsilon() * (1 + modulus(expected[i])))
            << method << " " << i;
    }
  });
}

TEST(BlockTridiagonal, ReportsTheFirstBadPivot)
{
  std::mt19937 random(9);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    using Scalar     = decltype(scalar);
    const Scalar nan = std::numeric_limits<RealOf<Scalar>>::quiet_NaN(), infinity = std::numeric_limits<RealOf<Scalar>>::infinity();
    MethodParameters parameters;
    parameters.slice        = b % 2 ? 8 : 0; // in chunks and not
    const auto bad_pivot_of = [&](const BlockProblem<Scalar> &problem) {
      return BlockSolving<Scalar>(problem, method, memory, parameters).solver.bad_pivot();
    };
    for (Index length : {1, 5, 150}) {
      const BlockProblem<Scalar> good(contiguous_nodes(b, length, 4), random);
      const Index row = length / 2;
      // An entry that is not finite, in any of the blocks of a row.
      for (Scalar bad : {nan, infinity, -infinity}) {
        for (auto coefficients : {&BlockProblem<Scalar>::lower, &BlockProblem<Scalar>::diagonal, &BlockProblem<Scalar>::upper}) {
          BlockProblem<Scalar> problem = good;
          const bool read              = coefficients == &BlockProblem<Scalar>::diagonal || length > 1;
          for (Index line : {2, 3}) (problem.*coefficients)[problem.at(line, row) + problem.entry(b - 1, b / 2)] = bad;
          const auto found = bad_pivot_of(problem);
          ASSERT_EQ(found.has_value(), read) << method << " length " << length << " value " << bad;
          if (!found) continue;
          EXPECT_EQ(found->line, 2) << method << " length " << length << " value " << bad;
          EXPECT_EQ(found->row, row) << method << " length " << length << " value " << bad;
        }
      }
      // A singular block: two equal rows, or the zero block.
      for (bool zero : {false, true}) {
        BlockProblem<Scalar> problem = good;
        for (Index line : {1, 2}) {
          const std::size_t k = problem.at(line, row);
          for (Index q = 0; q < b; q++) {
            for (Index p = 0; p < b; p++) {
              problem.lower[k + problem.entry(p, q)] = problem.upper[k + problem.entry(p, q)] = 0;
              if (zero) problem.diagonal[k + problem.entry(p, q)] = 0;
            }
            problem.diagonal[k + problem.entry(b - 1, q)] = b == 1 ? 0 : problem.diagonal[k + problem.entry(0, q)];
          }
        }
        const auto found = bad_pivot_of(problem);
        ASSERT_TRUE(found) << method << " length " << length << " zero " << zero;
        EXPECT_EQ(found->line, 1) << method << " length " << length;
        EXPECT_EQ(found->row, row) << method << " length " << length;
      }
    }
    // A singular line whose bad block only elimination brings to light: the Laplacian of each unknown with Neumann ends.
    BlockProblem<Scalar> problem(strided_nodes(b, 16, 3), random);
    for (Index row = 0; row < 16; row++) {
      const std::size_t k = problem.at(1, row);
      for (Index p = 0; p < b; p++) {
        for (Index q = 0; q < b; q++) {
          problem.lower[k + problem.entry(p, q)] = problem.upper[k + problem.entry(p, q)] = p == q ? -1 : 0;
          problem.diagonal[k + problem.entry(p, q)]                                       = p != q ? 0 : row == 0 || row == 15 ? 1 : 2;
        }
      }
    }
    const auto found = bad_pivot_of(problem);
    ASSERT_TRUE(found) << method;
    EXPECT_EQ(found->line, 1) << method;
    EXPECT_EQ(found->row, 15) << method;
  });
}

TEST(BlockTridiagonal, IdentityRowsStayExact)
{
  std::mt19937 random(10);
  for_each_block_method([&](auto method, auto scalar, Memory memory, Index b) {
    using Scalar = decltype(scalar);
    BlockProblem<Scalar> problem(contiguous_nodes(b, 777, 3), random);
    const auto is_identity = [](Index row) { return row % 7 == 3; };
    problem.for_each_row([&](Index line, Index row) {
      const std::size_t k = problem.at(line, row);
      if (!is_identity(row)) return;
      for (Index p = 0; p < b; p++) {
        for (Index q = 0; q < b; q++) {
          problem.lower[k + problem.entry(p, q)] = problem.upper[k + problem.entry(p, q)] = 0;
          problem.diagonal[k + problem.entry(p, q)]                                       = p == q;
        }
      }
    });
    BlockSolving<Scalar> s(problem, method, memory);
    const Buffer<Scalar> rhs(memory, problem.rhs), x(memory, problem.start);
    s.solver.solve(rhs.data(), x.data());
    s.execution.wait();
    const auto got = x.values();
    problem.for_each_row([&](Index line, Index row) {
      if (!is_identity(row)) return;
      for (std::size_t p = 0; p < static_cast<std::size_t>(b); p++) {
        const std::size_t i = problem.element(line, row) + p;
        EXPECT_EQ(got[i], problem.rhs[i]) << method << " element " << i;
      }
    });
  });
}

TEST(BlockLineSolver, ReadsTheBlocksOfAMatrixAndOfAnotherSolver)
{
  if (BlockLines::largest_block < 3) GTEST_SKIP();
  std::mt19937 random(11);
  const Index n[3] = {5, 4, 3}, b = 3, first[3] = {0, 0, 0}, rows = b * n[0] * n[1] * n[2];
  // Every unknown couples to every other within 69 rows of it, but for some, wherever the lines end: what is not of a line must be left out.
  std::vector<std::vector<KernelScalar>> dense(static_cast<std::size_t>(rows), std::vector<KernelScalar>(static_cast<std::size_t>(rows)));
  std::vector<int> row_starts{0}, columns;
  std::vector<KernelScalar> values;
  for (Index i = 0; i < rows; i++) {
    std::vector<Index> neighbours;
    for (Index j = 0; j < rows; j++) {
      if (i == j || (std::abs(i - j) < 70 && (i * j) % 5 != 1)) neighbours.push_back(j);
    }
    std::shuffle(neighbours.begin(), neighbours.end(), random);
    for (Index j : neighbours) {
      columns.push_back(static_cast<int>(j));
      values.push_back(random_values<KernelScalar>(1, random)[0] + (i == j ? 10 : 0));
      dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = values.back();
    }
    row_starts.push_back(static_cast<int>(columns.size()));
  }
  const Execution host(Memory::host);
  for (Memory memory : memories()) {
    const Execution execution(memory);
    const auto in           = [&](const auto &v) { return Buffer(memory, v); };
    const auto starts_there = in(row_starts), columns_there = in(columns);
    const auto values_there = in(values);
    for (const char *method : block_tridiagonal_method_names()) {
      for (int direction : {0, 1, 2}) {
        const BlockLines lines(lines_of_box(direction, n, b, first));
        BlockProblem<KernelScalar> problem(lines, random);
        problem.for_each_row([&](Index line, Index row) {
          const std::size_t i = problem.element(line, row), step = static_cast<std::size_t>(lines.layout.stride);
          for (std::size_t p = 0; p < 3; p++) {
            for (std::size_t q = 0; q < 3; q++) {
              const std::size_t k = i * 3 + p * 3 + q;
              problem.diagonal[k] = dense[i + p][i + q];
              if (row > 0) problem.lower[k] = dense[i + p][i + q - step];
              if (row + 1 < lines.layout.length) problem.upper[k] = dense[i + p][i + q + step];
            }
          }
        });
        const auto solver = BlockLineSolver<KernelScalar>::make(execution, lines, method),
                   copy   = BlockLineSolver<KernelScalar>::make(host, lines, method);
        solver->read(CsrMatrix<KernelScalar, int>{starts_there.data(), columns_there.data(), values_there.data()});
        copy->read(*solver);
        solver->factor();
        copy->factor();
        ASSERT_FALSE(solver->bad_pivot());
        const auto rhs = in(problem.rhs), x = in(problem.start);
        std::vector<KernelScalar> y = problem.start;
        solver->solve(rhs.data(), x.data());
        copy->solve(problem.rhs.data(), y.data());
        execution.wait();
        host.wait();
        const auto got = x.values(), expected = problem.expected({}, problem.start);
        for (std::size_t i = 0; i < got.size(); i++) {
          ASSERT_LE(modulus(got[i] - expected[i]), 1e-12 * (1 + modulus(expected[i])))
              << method << " direction " << direction << " element " << i;
          ASSERT_LE(modulus(y[i] - expected[i]), 1e-12 * (1 + modulus(expected[i])))
              << method << " direction " << direction << " element " << i;
        }
      }
    }
  }
}

/// Needs blocks of two unknowns, which a build with WEFT_LARGEST_BLOCK=1 has not.
class SolverOfBlocks : public testing::Test {
protected:
  void SetUp() override
  {
    if (BlockLines::largest_block < 2) GTEST_SKIP();
  }
};

TEST_F(SolverOfBlocks, RefusesWhatItCannotSolve)
{
  const Execution host(Memory::host);
  EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, contiguous_nodes(2, 3, 2), "thomas"), std::invalid_argument);
  EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, contiguous_nodes(9, 3, 2), "auto"), std::invalid_argument);
  EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, contiguous_nodes(0, 3, 2), "auto"), std::invalid_argument);
  LineLayout odd = contiguous_nodes(2, 3, 2);
  odd.stride     = 3;
  EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, odd, "auto"), std::invalid_argument);
  odd                  = contiguous_nodes(2, 3, 2);
  odd.across_stride[0] = 7;
  EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, odd, "auto"), std::invalid_argument);
  MethodParameters parameters;
  parameters.partitions = -1;
  EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, contiguous_nodes(2, 3, 2), "block-wide", parameters), std::invalid_argument);
  parameters       = {};
  parameters.slice = -1;
  for (const char *method : block_tridiagonal_method_names())
    EXPECT_THROW(BlockLineSolver<KernelScalar>::make(host, contiguous_nodes(2, 3, 2), method, parameters), std::invalid_argument);
  const auto solver  = BlockLineSolver<KernelScalar>::make(host, contiguous_nodes(2, 3, 2), "auto");
  KernelScalar x[12] = {};
  EXPECT_THROW(solver->solve_once(x, x, {{1, true}}), std::invalid_argument);
}

TEST(BlockLineSolver, AutoNamesAMethodThatDoesNotRefuse)
{
  for (bool device : {false, true}) {
    for (Index length : {1, 2, 3, 100, 5000}) {
      for (Index count : {0, 1, 1000, 1000000}) {
        const BlockLines lines(strided_nodes(std::min<Index>(3, BlockLines::largest_block), length, count));
        EXPECT_EQ(block_tridiagonal_method_refuses(choose_block_tridiagonal_method(lines, device), lines), std::nullopt);
      }
    }
  }
}

} // namespace
