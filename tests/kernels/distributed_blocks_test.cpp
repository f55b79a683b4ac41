// Lines of blocks in pieces, some of one node and some empty, against the serial twin of the whole line: each rank looks at its own part.
#include "line/ranks/distributed_line_solver.hpp"

#include "block_problem.hpp"
#include "pieces.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// This rank's part of whole lines, which every rank knows.
template <class Scalar>
struct BlockPiece {
  using Values = std::vector<Scalar>;
  const BlockProblem<Scalar> &whole;
  BlockLines lines;
  Index first, b;
  Values lower, diagonal, upper, rhs, start;

  /// `layout`: of the piece, with the lines of the whole.
  BlockPiece(const BlockProblem<Scalar> &problem, const LineLayout &layout, Index first_node, int many = 1)
      : whole(problem), lines(layout), first(first_node), b(problem.b)
  {
    const auto size = static_cast<std::size_t>(lines.coefficient_size()), span = static_cast<std::size_t>(layout.span());
    lower = diagonal = upper = Values(size, std::numeric_limits<Scalar>::quiet_NaN());
    rhs = start = Values(span * static_cast<std::size_t>(many), Scalar(0.25));
    for_each_node([&](Index line, Index row) {
      const auto to = element(line, row) * static_cast<std::size_t>(b), from = whole.at(line, first + row);
      for (std::size_t e = 0; e < static_cast<std::size_t>(b * b); e++) {
        lower[to + e]    = whole.lower[from + e];
        diagonal[to + e] = whole.diagonal[from + e];
        upper[to + e]    = whole.upper[from + e];
      }
    });
    rhs   = part_of(whole.rhs, rhs, many);
    start = part_of(whole.start, start, many);
  }

  template <class Body>
  void for_each_node(Body &&body) const
  {
    for (Index line = 0; line < lines.count(); line++) {
      for (Index row = 0; row < lines.layout.length; row++) body(line, row);
    }
  }
  std::size_t element(Index line, Index row) const { return static_cast<std::size_t>(lines.start(line) + row * lines.layout.stride); }

  /// The piece's part of vectors of the whole, with `before` in between.
  Values part_of(const Values &vectors, Values before, int many = 1) const
  {
    for_each_node([&](Index line, Index row) {
      for (Index p = 0; p < b; p++) {
        for (int m = 0; m < many; m++)
          before[static_cast<std::size_t>(m * lines.layout.span() + p) + element(line, row)] =
              vectors[static_cast<std::size_t>(m * whole.layout().span() + p) + whole.element(line, first + row)];
      }
    });
    return before;
  }
};

template <class Scalar>
struct DistributedBlocks {
  Execution execution;
  DistributedBlockLineSolver<Scalar> solver;
  Buffer<Scalar> lower, diagonal, upper;

  DistributedBlocks(const BlockPiece<Scalar> &piece, const std::string &method, Memory memory, const MethodParameters &parameters = {},
                    bool device_messages = false)
      : execution(memory), solver(execution, MPI_COMM_WORLD, piece.lines, piece.whole.ring, method, parameters, device_messages),
        lower(memory, piece.lower), diagonal(memory, piece.diagonal), upper(memory, piece.upper)
  {
    solver.use(lower.data(), diagonal.data(), upper.data());
    solver.factor();
  }
};

/// Solves and compares this rank's part.
template <class Scalar>
void check(const BlockPiece<Scalar> &piece, const std::string &method, Memory memory, SolveOptions<Scalar> options = {},
           bool in_place = false, const MethodParameters &parameters = {}, Way way = Way::either, bool device_messages = false)
{
  const LineLayout &layout = piece.lines.layout;
  SCOPED_TRACE(testing::Message() << method << (memory == Memory::host ? " on the host, " : " on the device, ") << sizeof(Scalar)
                                  << " bytes, blocks of " << piece.b << ", nodes " << piece.first << " + " << layout.length << " of "
                                  << piece.whole.layout().length << ", lines " << piece.lines.count() << ", stride " << layout.stride
                                  << ", ring " << piece.whole.ring << ", add " << options.update.add << ", colour "
                                  << static_cast<int>(options.colour) << ", transposed " << (options.transpose == Transpose::yes)
                                  << ", many " << options.nrhs << ", in place " << in_place << ", tolerance " << parameters.tolerance);
  options.ld = layout.span();
  DistributedBlocks<Scalar> s(piece, method, memory, parameters, device_messages);
  const Buffer<Scalar> rhs(memory, piece.rhs), separate(memory, piece.start);
  const Buffer<Scalar> &solution = in_place ? rhs : separate;
  EXPECT_FALSE(s.solver.bad_pivot());
  EXPECT_EQ(s.solver.length(), piece.whole.layout().length);
  s.solver.solve(rhs.data(), solution.data(), options);
  s.execution.wait();
  if (way != Way::either) {
    EXPECT_EQ(s.solver.neighbours_only(options.transpose), way == Way::neighbours);
  }

  SolveOptions<Scalar> of_whole = options;
  of_whole.ld                   = piece.whole.layout().span();
  const auto expected           = piece.part_of(piece.whole.expected(of_whole, in_place ? piece.whole.rhs : piece.whole.start),
                                      in_place ? piece.rhs : piece.start, options.nrhs);
  compare<Scalar>(solution.values(), expected, 400 * std::numeric_limits<Scalar>::epsilon());
  if (!options.update.add && !in_place) {
    EXPECT_EQ(rhs.values(), piece.rhs) << "the right-hand side must be kept";
  }
}

/// Most of these solve blocks of two or three unknowns, which a build with a smaller WEFT_LARGEST_BLOCK has not.
class DistributedBlockLines : public testing::Test {
protected:
  void SetUp() override
  {
    if (BlockLines::largest_block < 3) GTEST_SKIP();
  }
};

TEST_F(DistributedBlockLines, AgreeAtRandomCutsWithAllOptions)
{
  std::mt19937 random(41);
  for (int trial = 0; trial < 60; trial++) {
    const bool ring    = between(random, 0, 1) == 1;
    const auto lengths = random_cuts(random, ring ? 7 : trial % 3 ? 12 : 60);
    const Index box[2] = {between(random, 1, 5), between(random, 1, 3)}, first[3] = {between(random, 0, 1), 0, 0};
    const int direction   = static_cast<int>(between(random, 0, 2));
    const Index b         = between(random, 1, BlockLines::largest_block);
    const auto lines_of_b = [&](Index length) {
      const Index n[3] = {direction == 0 ? length : box[0], direction == 1 ? length : box[direction == 0 ? 0 : 1],
                          direction == 2 ? length : box[1]};
      return lines_of_box(direction, n, b, first);
    };
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      SolveOptions<Scalar> options;
      options.update             = {static_cast<Scalar>(trial % 2 ? 0.7 : 1.0), between(random, 0, 1) == 1};
      options.colour             = static_cast<Colour>(between(random, -1, 1));
      options.transpose          = between(random, 0, 1) == 1 ? Transpose::yes : Transpose::no;
      options.nrhs               = static_cast<int>(between(random, 1, 2));
      const bool in_place        = !options.update.add && between(random, 0, 2) == 0,
                 device_messages = memory == Memory::host && between(random, 0, 1) == 1;
      const BlockProblem<Scalar> whole(lines_of_b(sum(lengths, ranks())), random, options.nrhs, false, ring);
      check(BlockPiece<Scalar>(whole, lines_of_b(my_length(lengths)), my_first(lengths), options.nrhs), "auto", memory, options, in_place,
            {}, Way::either, device_messages);
    });
  }
}

TEST_F(DistributedBlockLines, AgreeForEveryMethodAndBlockSize)
{
  std::mt19937 random(42);
  for (bool ring : {false, true}) {
    const auto lengths = random_cuts(random, ring ? 5 : 60);
    for (const char *method : block_tridiagonal_method_names()) {
      for (Index b = 1; b <= BlockLines::largest_block; b++) {
        for_each_precision([&](auto scalar, Memory memory) {
          using Scalar = decltype(scalar);
          const BlockProblem<Scalar> whole(strided_nodes(b, sum(lengths, ranks()), 3), random, 1, false, ring);
          check(BlockPiece<Scalar>(whole, strided_nodes(b, my_length(lengths), 3, 2), my_first(lengths)), method, memory);
          check(BlockPiece<Scalar>(whole, contiguous_nodes(b, my_length(lengths), 3, 1), my_first(lengths)), method, memory,
                {{1}, Colour::all, Transpose::yes});
        });
      }
    }
  }
}

TEST_F(DistributedBlockLines, AFewLongLines)
{
  std::mt19937 random(43);
  auto lengths = random_cuts(random, 300);
  lengths[0] += 5000; // more than one part of the products
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const BlockProblem<Scalar> whole(contiguous_nodes(2, sum(lengths, ranks()), 1), random);
    check(BlockPiece<Scalar>(whole, contiguous_nodes(2, my_length(lengths), 1), my_first(lengths)), "auto", memory);
    check(BlockPiece<Scalar>(whole, strided_nodes(2, my_length(lengths), 1), my_first(lengths)), "auto", memory);
  });
}

TEST_F(DistributedBlockLines, TalkToNeighboursOnlyWhereCouplingsDecay)
{
  std::mt19937 random(44);
  std::vector<Index> lengths;
  for (int r = 0; r < ranks(); r++) lengths.push_back(40 + 3 * (r % 3));
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    MethodParameters drop;
    drop.tolerance = std::numeric_limits<Scalar>::epsilon();
    for (Transpose transpose : {Transpose::no, Transpose::yes}) {
      auto shorter                                         = lengths;
      shorter[static_cast<std::size_t>((ranks() - 1) / 2)] = 2;
      for (const auto &cuts : {lengths, shorter}) {
        const BlockProblem<Scalar> whole(strided_nodes(3, sum(cuts, ranks()), 5), random);
        const BlockPiece<Scalar> piece(whole, strided_nodes(3, my_length(cuts), 5, 1), my_first(cuts));
        // A short piece between two others takes all ranks to the exact way.
        const Way way = ranks() == 1 ? Way::either : cuts == lengths || ranks() == 2 ? Way::neighbours : Way::exact;
        for (Colour colour : {Colour::even, Colour::odd, Colour::all})
          check(piece, "auto", memory, {{0.5, colour == Colour::all}, colour, transpose}, false, drop, way);
      }
    }
  });
}

TEST_F(DistributedBlockLines, ReportTheSameBadPivotOnAllRanks)
{
  std::mt19937 random(45);
  for (int trial = 0; trial < 6; trial++) {
    const auto lengths = random_cuts(random, 20);
    const Index length = sum(lengths, ranks()), row = between(random, 0, length - 1),
                b = between(random, 2, std::min<Index>(5, BlockLines::largest_block));
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      BlockProblem<Scalar> whole(contiguous_nodes(b, length, 4), random);
      for (Index line : {2, 3}) {
        for (Index q = 0; q < b; q++) { // an equation of the node says nothing
          const std::size_t k = whole.at(line, row) + whole.entry(b - 1, q);
          whole.lower[k] = whole.diagonal[k] = whole.upper[k] = 0;
        }
      }
      DistributedBlocks<Scalar> s(BlockPiece<Scalar>(whole, strided_nodes(b, my_length(lengths), 4), my_first(lengths)), "auto", memory);
      const auto found = s.solver.bad_pivot();
      EXPECT_TRUE(found);
      if (found) {
        EXPECT_EQ(found->line, 2);
        EXPECT_EQ(found->row, row);
      }
    });
  }
}

TEST_F(DistributedBlockLines, ReportWhatOnlyTheReducedSystemShows)
{
  std::mt19937 random(46);
  const std::vector<Index> lengths(static_cast<std::size_t>(ranks()), 8);
  const Index b = 3;
  for (bool ring : {false, true}) {
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      BlockProblem<Scalar> whole(contiguous_nodes(b, sum(lengths, ranks()), 3), random, 1, false, ring);
      for (Index row = 0; row < whole.layout().length; row++) { // singular, each piece regular where there are several
        const bool end = !ring && (row == 0 || row + 1 == whole.layout().length);
        for (Index p = 0; p < b; p++) {
          for (Index q = 0; q < b; q++) {
            const std::size_t k = whole.at(1, row) + whole.entry(p, q);
            const Scalar mixed  = p == q ? 1 : Scalar(0.25);
            whole.lower[k] = whole.upper[k] = -mixed;
            whole.diagonal[k]               = end ? mixed : 2 * mixed;
          }
        }
      }
      DistributedBlocks<Scalar> s(BlockPiece<Scalar>(whole, contiguous_nodes(b, 8, 3), my_first(lengths)), "auto", memory);
      const auto found = s.solver.bad_pivot();
      EXPECT_TRUE(found);
      if (found) {
        EXPECT_EQ(found->line, 1);
        EXPECT_EQ(Ranks(MPI_COMM_WORLD, 1, false).smallest(found->row), found->row);
      }
    });
  }
}

TEST_F(DistributedBlockLines, NewValuesNewFactors)
{
  std::mt19937 random(47);
  const auto lengths = random_cuts(random, 20);
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar            = decltype(scalar);
    const LineLayout layout = strided_nodes(3, my_length(lengths), 5);
    const BlockProblem<Scalar> first(contiguous_nodes(3, sum(lengths, ranks()), 5), random), second(first.lines, random);
    const BlockPiece<Scalar> old(first, layout, my_first(lengths)), fresh(second, layout, my_first(lengths));
    DistributedBlocks<Scalar> s(old, "auto", memory);
    const Buffer<Scalar> rhs(memory, fresh.rhs), x(memory, fresh.start), l(memory, fresh.lower), d(memory, fresh.diagonal),
        u(memory, fresh.upper);
    for (Transpose transpose : {Transpose::no, Transpose::yes}) {
      const SolveOptions<Scalar> options{{1}, Colour::all, transpose};
      s.solver.use(s.lower.data(), s.diagonal.data(), s.upper.data());
      s.solver.factor();
      s.solver.solve(rhs.data(), x.data(), options);
      s.solver.use(l.data(), d.data(), u.data());
      s.solver.factor();
      s.solver.solve(rhs.data(), x.data(), options);
      s.execution.wait();
      compare<Scalar>(x.values(), fresh.part_of(second.expected(options, second.start), fresh.start),
                      400 * std::numeric_limits<Scalar>::epsilon());
    }
  });
}

TEST_F(DistributedBlockLines, ReadAMatrixAndEachOther)
{
  std::mt19937 random(48);
  const auto lengths = random_cuts(random, 12);
  const Index mine = my_length(lengths), count = 3, b = 2;
  for (bool ring : {false, true}) {
    const BlockProblem<double> whole(contiguous_nodes(b, sum(lengths, ranks()), count), random, 1, false, ring);
    const BlockPiece<double> piece(whole, contiguous_nodes(b, mine, count), my_first(lengths));
    std::vector<std::int32_t> starts{0}, columns;
    std::vector<double> values, before(static_cast<std::size_t>(count * b * b), 0), after = before;
    for (Index line = 0; line < count; line++) {
      for (Index row = 0; row < mine; row++) {
        const std::size_t i = piece.element(line, row), block = i * static_cast<std::size_t>(b);
        for (Index p = 0; p < b; p++) {
          for (Index q = 0; q < b; q++) {
            const std::size_t e = whole.entry(p, q), end = static_cast<std::size_t>(line * b * b) + e;
            const auto put = [&](Index nodes, double value) {
              columns.push_back(static_cast<std::int32_t>(static_cast<Index>(i) + nodes * b + q));
              values.push_back(value);
            };
            if (row > 0) put(-1, piece.lower[block + e]);
            put(0, piece.diagonal[block + e]);
            if (row + 1 < mine) put(1, piece.upper[block + e]);
            if (row == 0) before[end] = piece.lower[block + e];
            if (row == mine - 1) after[end] = piece.upper[block + e];
          }
          starts.push_back(static_cast<std::int32_t>(columns.size()));
        }
      }
    }
    const Execution host(Memory::host);
    DistributedBlockLineSolver<double> reader(host, MPI_COMM_WORLD, piece.lines, ring, "auto");
    reader.read(CsrMatrix<double, std::int32_t>{starts.data(), columns.data(), values.data()}, before.data(), after.data());
    for (Memory memory : memories()) {
      const Execution execution(memory);
      DistributedBlockLineSolver<double> copy(execution, MPI_COMM_WORLD, piece.lines, ring, "auto");
      copy.read(reader);
      copy.factor();
      const Buffer<double> rhs(memory, piece.rhs), x(memory, piece.start);
      copy.solve(rhs.data(), x.data());
      execution.wait();
      compare(x.values(), piece.part_of(whole.expected({}, whole.start), piece.start), 400 * std::numeric_limits<double>::epsilon());
    }
  }
}

TEST_F(DistributedBlockLines, RefuseOnAllRanksWhatDoesNotFitOnOne)
{
  using Solver = DistributedBlockLineSolver<double>;
  const Execution host(Memory::host);
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(2, 3, 2), false, "gauss"), std::invalid_argument);
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(9, 3, 2), false, "auto"), std::invalid_argument);
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(9, 0, 2), false, "auto"), std::invalid_argument);
  if (ranks() == 1) return;
  const bool odd_one = rank() == ranks() - 1;
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(odd_one ? 3 : 2, 3, 2), false, "auto"), std::invalid_argument);
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(2, 3, odd_one ? 4 : 2), false, "auto"), std::invalid_argument);
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(2, 3, 2), odd_one, "auto"), std::invalid_argument);
  EXPECT_THROW(Solver(host, MPI_COMM_WORLD, contiguous_nodes(2, 3, 2), false, odd_one ? "gauss" : "auto"), std::invalid_argument);
}

TEST_F(DistributedBlockLines, AcceptNoLinesAndNoRows)
{
  const Execution host(Memory::host);
  for (const LineLayout &layout : {contiguous_nodes(3, 4, 0), contiguous_nodes(3, 0, 3), contiguous_nodes(3, 0, 0)}) {
    for (bool ring : {false, true}) {
      DistributedBlockLineSolver<double> solver(host, MPI_COMM_WORLD, layout, ring, "auto");
      double nothing = 0;
      solver.use(&nothing, &nothing, &nothing);
      solver.factor();
      EXPECT_FALSE(solver.bad_pivot());
      solver.solve(&nothing, &nothing);
    }
  }
}

} // namespace
