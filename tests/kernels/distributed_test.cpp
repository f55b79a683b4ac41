// Lines in pieces, some of one row and some empty, against the serial twin of the whole line: each rank looks at its own part.
#include "distributed_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// The lines of a box along a direction, of `length` rows.
LineLayout lines_along(int direction, Index length, const Index (&across)[2], Index components, Index first)
{
  const Index n[3] = {direction == 0 ? length : across[0], direction == 1 ? length : across[direction == 0 ? 0 : 1],
                      direction == 2 ? length : across[1]};
  const Index firsts[3] = {first, first, 0};
  return lines_of_box(direction, n, components, firsts);
}

/// Solves and compares this rank's part.
template <class Scalar>
void check(const Piece<Scalar> &piece, const std::string &method, Memory memory, SolveOptions<Scalar> options = {}, bool in_place = false,
           const MethodParameters &parameters = {}, Way way = Way::either, bool device_messages = false)
{
  const LineLayout &layout = piece.problem.layout;
  SCOPED_TRACE(testing::Message() << method << (memory == Memory::host ? " on the host, " : " on the device, ") << sizeof(Scalar)
                                  << " bytes, rows " << piece.first << " + " << layout.length << " of " << piece.whole.layout().length
                                  << ", count " << layout.count() << ", stride " << layout.stride << ", coefficients "
                                  << static_cast<int>(piece.problem.coefficients) << ", periodic " << piece.problem.periodic << ", add "
                                  << options.update.add << ", colour " << static_cast<int>(options.colour) << ", transposed "
                                  << (options.transpose == Transpose::yes) << ", many " << options.nrhs << ", in place " << in_place
                                  << ", tolerance " << parameters.tolerance);
  options.ld = layout.span();
  DistributedSolving<Scalar> s(piece, method, memory, parameters, device_messages);
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

TEST(DistributedLines, AgreeAtRandomCutsWithAllOptions)
{
  std::mt19937 random(21);
  for (int trial = 0; trial < 150; trial++) {
    const auto lengths    = random_cuts(random, trial % 3 ? 12 : 200);
    const Index across[2] = {between(random, 1, 9), between(random, 1, 5)}, components = between(random, 1, 3),
                first   = between(random, 0, 1);
    const int direction = static_cast<int>(between(random, 0, 2));
    LineProblem problem(lines_along(direction, sum(lengths, ranks()), across, components, first));
    problem.periodic        = between(random, 0, 1) == 1;
    const LineLayout layout = lines_along(direction, my_length(lengths), across, components, first);
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      SolveOptions<Scalar> options;
      options.update             = {static_cast<Scalar>(trial % 2 ? 0.7 : 1.0), between(random, 0, 1) == 1};
      options.colour             = static_cast<Colour>(between(random, -1, 1));
      options.transpose          = between(random, 0, 1) == 1 ? Transpose::yes : Transpose::no;
      options.nrhs               = static_cast<int>(between(random, 1, 2));
      const bool in_place        = !options.update.add && between(random, 0, 2) == 0,
                 device_messages = memory == Memory::host && between(random, 0, 1) == 1;
      const Lines<Scalar> lines(problem, random, options.nrhs);
      check(Piece<Scalar>(lines, layout, my_first(lengths), options.nrhs), "auto", memory, options, in_place, {}, Way::either,
            device_messages);
    });
  }
}

TEST(DistributedLines, ReadConstantLinesFromTheHost)
{
  std::mt19937 random(23);
  for (Index closure : {0, 2}) {
    for (bool periodic : {false, true}) {
      std::vector<Index> lengths;
      for (int r = 0; r < ranks(); r++) lengths.push_back(between(random, 2 * most_closure + 1, 60));
      LineProblem problem(strided(sum(lengths, ranks()), 5));
      problem.coefficients = Coefficients::constant;
      problem.closure      = closure;
      problem.periodic     = periodic;
      for_each_precision([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        const Lines<Scalar> lines(problem, random);
        const LineLayout layout = strided(my_length(lengths), 5);
        const Piece<Scalar> piece(lines, layout, my_first(lengths));
        ConstantLines<Scalar> own;
        LineProblem of_piece(layout);
        of_piece.coefficients = Coefficients::constant;
        of_piece.closure = own.closure = most_closure;
        of_piece.periodic              = periodic;
        for (Index row = 0; row < layout.length; row++) {
          if (row > own.closure && row < layout.length - own.closure) continue;
          const auto from = lines.at(0, piece.first + row);
          own.lower.push_back(lines.lower[from]);
          own.diagonal.push_back(lines.diagonal[from]);
          own.upper.push_back(lines.upper[from]);
        }
        const Execution execution(memory);
        DistributedLineSolver<Scalar> solver(execution, MPI_COMM_WORLD, of_piece, "toeplitz");
        solver.read(own);
        solver.factor();
        EXPECT_FALSE(solver.bad_pivot());
        const Buffer<Scalar> rhs(memory, piece.rhs), solution(memory, piece.start);
        solver.solve(rhs.data(), solution.data());
        execution.wait();
        compare<Scalar>(solution.values(), piece.part_of(lines.expected({}, lines.start), piece.start),
                        400 * std::numeric_limits<Scalar>::epsilon());
      });
    }
  }
}

TEST(DistributedLines, TellTheStepsOfASolve)
{
  std::mt19937 random(24);
  const std::vector<Index> lengths(static_cast<std::size_t>(ranks()), 12);
  const Lines<double> lines(LineProblem(strided(sum(lengths, ranks()), 5)), random);
  const Piece<double> piece(lines, strided(12, 5), my_first(lengths));
  DistributedSolving<double> s(piece, "thomas", Memory::host);
  std::string told;
  s.solver.observe([&](SolveStep step, bool begins) { told += "prx"[static_cast<int>(step)] + std::string(begins ? "(" : ")"); });
  const Buffer<double> rhs(Memory::host, piece.rhs), solution(Memory::host, piece.start);
  s.solver.solve(rhs.data(), solution.data());
  EXPECT_EQ(told, ranks() > 1 ? "p(p)r(r)x(x)" : "x(x)");
}

TEST(DistributedLines, AgreeForEveryMethod)
{
  std::mt19937 random(22);
  for (Index most : {5, 700}) {
    const auto lengths = random_cuts(random, most);
    for (bool periodic : {false, true}) {
      LineProblem problem(strided(sum(lengths, ranks()), 5));
      problem.periodic = periodic;
      for_each_method([&](auto method, auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        const Lines<Scalar> lines(problem, random);
        bool refused = false; // the same on all ranks
        for (Index length : lengths)
          refused = refused || (length > 0 && tridiagonal_method_refuses(method, LineProblem(strided(length, 5))));
        if (refused) return;
        check(Piece<Scalar>(lines, strided(my_length(lengths), 5, 2), my_first(lengths)), method, memory);
        check(Piece<Scalar>(lines, contiguous(my_length(lengths), 5, 1), my_first(lengths)), method, memory,
              {{1}, Colour::all, Transpose::yes});
      });
    }
  }
}

TEST(DistributedLines, AgreeForAllFormsOfCoefficients)
{
  std::mt19937 random(23);
  for (int trial = 0; trial < 12; trial++) {
    const auto lengths = random_cuts(random, trial % 2 ? 9 : 150);
    for (const LineProblem &problem : forms_of(strided(sum(lengths, ranks()), 6))) {
      for_each_precision([&](auto scalar, Memory memory) {
        const Lines<decltype(scalar)> lines(problem, random);
        const Piece<decltype(scalar)> piece(lines, contiguous(my_length(lengths), 6, 2), my_first(lengths));
        check(piece, "auto", memory, {{-0.5, true}, Colour::odd});
        check(piece, "auto", memory, {{1}, Colour::all, Transpose::yes});
      });
    }
  }
}

TEST(DistributedLines, FewLongLines)
{
  std::mt19937 random(31);
  auto lengths = random_cuts(random, 9000);
  lengths[0] += 5000; // more than one part of the products
  for_each_precision([&](auto scalar, Memory memory) {
    const auto layout = [](Index length, bool side_by_side) { return side_by_side ? strided(length, 2) : contiguous(length, 1); };
    for (bool side_by_side : {false, true}) {
      for (const LineProblem &problem : forms_of(layout(sum(lengths, ranks()), side_by_side))) {
        const Lines<decltype(scalar)> lines(problem, random);
        check(Piece<decltype(scalar)>(lines, layout(my_length(lengths), side_by_side), my_first(lengths)), "auto", memory);
      }
    }
  });
}

TEST(DistributedLines, OfDifferentFormsMeet)
{
  std::mt19937 random(24);
  const auto lengths = random_cuts(random, 20);
  LineProblem problem(contiguous(sum(lengths, ranks()), 4));
  problem.coefficients = Coefficients::shared;
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const Lines<Scalar> lines(problem, random);
    Piece<Scalar> piece(lines, contiguous(my_length(lengths), 4), my_first(lengths));
    if (rank() % 2 == 0) { // the same rows, written for each line
      auto expand = [&](std::vector<Scalar> &values) {
        std::vector<Scalar> all;
        for (int line = 0; line < 4; line++) all.insert(all.end(), values.begin(), values.end());
        values = all;
      };
      expand(piece.lower);
      expand(piece.diagonal);
      expand(piece.upper);
      piece.problem.coefficients = Coefficients::general;
    }
    check(piece, "auto", memory);
    check(piece, "auto", memory, {{1}, Colour::even, Transpose::yes});
  });
}

/// Dominant lines whose couplings decay by a known factor a row or more.
template <class Scalar>
Lines<Scalar> decaying(const LineProblem &problem, std::mt19937 &random, Scalar dominance)
{
  Lines<Scalar> lines(problem, random);
  for (std::size_t i = 0; i < lines.diagonal.size(); i++) lines.diagonal[i] *= dominance;
  return lines;
}

TEST(DistributedLines, TalkToNeighboursOnlyWhereCouplingsDecay)
{
  std::mt19937 random(25);
  std::vector<Index> lengths;
  for (int r = 0; r < ranks(); r++) lengths.push_back(90 + 7 * (r % 3));
  const auto problem_of = [&](const std::vector<Index> &pieces, bool periodic) {
    LineProblem problem(strided(sum(pieces, ranks()), 8));
    problem.periodic = periodic;
    return problem;
  };
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    MethodParameters drop;
    drop.tolerance = std::numeric_limits<Scalar>::epsilon();
    for (bool periodic : {false, true}) {
      for (Transpose transpose : {Transpose::no, Transpose::yes}) {
        const auto lines = decaying<Scalar>(problem_of(lengths, periodic), random, 2);
        const Piece<Scalar> piece(lines, strided(my_length(lengths), 8, 1), my_first(lengths));
        for (Colour colour : {Colour::even, Colour::odd, Colour::all}) {
          const Way way = ranks() > 1 || periodic ? Way::neighbours : Way::either;
          check(piece, "auto", memory, {{0.5, true}, colour, transpose}, false, drop, way);
          check(piece, "auto", memory, {{1}, colour, transpose}, true, drop, way);
        }
        if (ranks() == 1 && !periodic) continue; // nothing to couple
        // One piece that is too short for that takes all ranks back to the exact way; not one at an end, with a single neighbour.
        auto shorter                                         = lengths;
        shorter[static_cast<std::size_t>((ranks() - 1) / 2)] = 3;
        const Way way                                        = periodic || ranks() > 2 ? Way::exact : Way::neighbours;
        const auto short_lines                               = decaying<Scalar>(problem_of(shorter, periodic), random, 2);
        const Piece<Scalar> short_piece(short_lines, contiguous(my_length(shorter), 8), my_first(shorter));
        check(short_piece, "auto", memory, {{1}, Colour::all, transpose}, false, drop, way);
        check(short_piece, "auto", memory, {{1}, Colour::all, transpose}, false, {}, way);
      }
    }
  });
}

TEST(DistributedLines, StayExactWhereNothingDecays)
{
  std::mt19937 random(26);
  std::vector<Index> lengths;
  for (int r = 0; r < ranks(); r++) lengths.push_back(64 + 5 * (r % 4));
  const LineProblem problem(contiguous(sum(lengths, ranks()), 3));
  for (Memory memory : memories()) {
    Lines<double> lines(problem, random);
    for (std::size_t i = 0; i < lines.diagonal.size(); i++) {
      lines.lower[i] = lines.upper[i] = -1;
      lines.diagonal[i]               = 2;
    }
    const Piece<double> piece(lines, contiguous(my_length(lengths), 3), my_first(lengths));
    MethodParameters drop;
    drop.tolerance = 1e-10;
    DistributedSolving<double> s(piece, "auto", memory, drop);
    EXPECT_EQ(s.solver.neighbours_only(), ranks() == 2);
    const Buffer<double> rhs(memory, piece.rhs), x(memory, piece.start);
    s.solver.solve(rhs.data(), x.data());
    s.execution.wait();
    // The condition number is about 0.4 n^2.
    const double n = static_cast<double>(problem.layout.length);
    compare(x.values(), piece.part_of(lines.expected({}, lines.start), piece.start), 0.4 * n * n * 1e-15);
  }
}

TEST(DistributedLines, ReportTheSameBadPivotOnAllRanks)
{
  std::mt19937 random(27);
  for (int trial = 0; trial < 10; trial++) {
    const auto lengths = random_cuts(random, 30);
    const Index length = sum(lengths, ranks()), row = between(random, 0, length - 1);
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      for (Scalar bad : {Scalar(0), std::numeric_limits<Scalar>::quiet_NaN()}) {
        Lines<Scalar> lines(LineProblem(contiguous(length, 4)), random);
        for (Index line : {2, 3}) {
          const std::size_t i = lines.at(line, row);
          lines.diagonal[i]   = bad;
          lines.lower[i] = lines.upper[i] = 0;
        }
        DistributedSolving<Scalar> s(Piece<Scalar>(lines, strided(my_length(lengths), 4), my_first(lengths)), "auto", memory);
        const auto found = s.solver.bad_pivot();
        EXPECT_TRUE(found);
        if (found) {
          EXPECT_EQ(found->line, 2);
          EXPECT_EQ(found->row, row);
        }
      }
    });
  }
}

TEST(DistributedLines, ReportWhatOnlyTheReducedSystemShows)
{
  std::mt19937 random(28);
  std::vector<Index> lengths(static_cast<std::size_t>(ranks()), 16);
  for (bool periodic : {false, true}) {
    for_each_precision([&](auto scalar, Memory memory) {
      using Scalar = decltype(scalar);
      LineProblem problem(contiguous(sum(lengths, ranks()), 3));
      problem.periodic = periodic;
      Lines<Scalar> lines(problem, random);
      for (Index row = 0; row < lines.layout().length; row++) { // singular, each piece regular where there are several
        const std::size_t i = lines.at(1, row);
        lines.lower[i] = lines.upper[i] = -1;
        lines.diagonal[i]               = !periodic && (row == 0 || row + 1 == lines.layout().length) ? 1 : 2;
      }
      DistributedSolving<Scalar> s(Piece<Scalar>(lines, contiguous(16, 3), my_first(lengths)), "auto", memory);
      const auto found = s.solver.bad_pivot();
      EXPECT_TRUE(found);
      if (found) {
        EXPECT_EQ(found->line, 1);
        EXPECT_EQ(Ranks(MPI_COMM_WORLD, 1, false).smallest(found->row), found->row);
      }
    });
  }
}

TEST(DistributedLines, NewValuesNewFactors)
{
  std::mt19937 random(29);
  const auto lengths = random_cuts(random, 40);
  for_each_precision([&](auto scalar, Memory memory) {
    using Scalar = decltype(scalar);
    const LineProblem problem(contiguous(sum(lengths, ranks()), 5));
    const Lines<Scalar> first(problem, random), second(problem, random);
    const Piece<Scalar> old(first, strided(my_length(lengths), 5), my_first(lengths)), fresh(second, old.problem.layout, my_first(lengths));
    DistributedSolving<Scalar> s(old, "auto", memory);
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

TEST(DistributedLines, ReadAMatrixAndEachOther)
{
  std::mt19937 random(30);
  const auto lengths = random_cuts(random, 25);
  const Index mine = my_length(lengths), count = 3;
  for (bool periodic : {false, true}) {
    LineProblem problem(contiguous(sum(lengths, ranks()), count));
    problem.periodic = periodic;
    const Lines<double> lines(problem, random);
    const Piece<double> piece(lines, contiguous(mine, count), my_first(lengths));
    std::vector<std::int32_t> starts{0}, columns;
    std::vector<double> values, before(static_cast<std::size_t>(count), 0), after = before;
    for (Index line = 0; line < count; line++) {
      for (Index row = 0; row < mine; row++) {
        const std::size_t i = piece.element(line, row);
        const auto put      = [&](std::size_t column, double value) {
          columns.push_back(static_cast<std::int32_t>(column));
          values.push_back(value);
        };
        if (row > 0) put(i - 1, piece.lower[i]);
        if (row + 1 < mine) put(i + 1, piece.upper[i]);
        put(i, piece.diagonal[i]);
        starts.push_back(static_cast<std::int32_t>(columns.size()));
        if (row == 0) before[static_cast<std::size_t>(line)] = piece.lower[i];
        if (row == mine - 1) after[static_cast<std::size_t>(line)] = piece.upper[i];
      }
    }
    const Execution host(Memory::host);
    DistributedLineSolver<double> reader(host, MPI_COMM_WORLD, piece.problem, "thomas");
    reader.read(CsrMatrix<double, std::int32_t>{starts.data(), columns.data(), values.data()}, before.data(), after.data());
    for (Memory memory : memories()) {
      const Execution execution(memory);
      DistributedLineSolver<double> copy(execution, MPI_COMM_WORLD, piece.problem, "thomas");
      copy.read(reader);
      copy.factor();
      const Buffer<double> rhs(memory, piece.rhs), x(memory, piece.start);
      copy.solve(rhs.data(), x.data());
      execution.wait();
      compare(x.values(), piece.part_of(lines.expected({}, lines.start), piece.start), 400 * std::numeric_limits<double>::epsilon());
    }
  }
}

TEST(DistributedLines, RefuseOnAllRanksWhatDoesNotFitOnOne)
{
  const Execution host(Memory::host);
  EXPECT_THROW(DistributedLineSolver<double>(host, MPI_COMM_WORLD, contiguous(3, 2), "gauss"), std::invalid_argument);
  if (ranks() == 1) return;
  const bool odd_one = rank() == ranks() - 1;
  EXPECT_THROW(DistributedLineSolver<double>(host, MPI_COMM_WORLD, contiguous(3, odd_one ? 4 : 2), "thomas"), std::invalid_argument);
  EXPECT_THROW(DistributedLineSolver<double>(host, MPI_COMM_WORLD, contiguous(3, 2), odd_one ? "gauss" : "thomas"), std::invalid_argument);
  LineProblem ring(contiguous(3, 2));
  ring.periodic = odd_one;
  EXPECT_THROW(DistributedLineSolver<double>(host, MPI_COMM_WORLD, ring, "thomas"), std::invalid_argument);
  LineLayout coloured   = contiguous(3, 2);
  coloured.first_colour = odd_one;
  EXPECT_THROW(DistributedLineSolver<double>(host, MPI_COMM_WORLD, coloured, "thomas"), std::invalid_argument);
}

TEST(DistributedLines, AcceptNoLinesAndNoRows)
{
  const Execution host(Memory::host);
  for (const LineLayout &layout : {contiguous(4, 0), contiguous(0, 3), contiguous(0, 0)}) {
    for (bool periodic : {false, true}) {
      LineProblem problem(layout);
      problem.periodic = periodic;
      DistributedLineSolver<double> solver(host, MPI_COMM_WORLD, problem, "auto");
      double nothing = 0;
      solver.use(&nothing, &nothing, &nothing);
      solver.factor();
      EXPECT_FALSE(solver.bad_pivot());
      solver.solve(&nothing, &nothing);
    }
  }
}

TEST(LineOrder, KeepsColoursTogetherInEveryShare)
{
  for (Index count : {0, 1, 2, 7, 100}) {
    for (int shares : {1, 2, 5, 8}) {
      LineLayout layout   = strided(3, count);
      layout.first_colour = 1;
      const LineOrder order(layout, shares);
      std::vector<int> seen(static_cast<std::size_t>(count));
      Index covered = 0;
      for (int share = 0; share < shares; share++) {
        const auto lines = order.lines(share);
        const auto all = order.share(share, Colour::all), even = order.share(share, Colour::even), odd = order.share(share, Colour::odd);
        EXPECT_EQ(all.begin, covered);
        EXPECT_EQ(even.begin, all.begin);
        EXPECT_EQ(even.end, odd.begin);
        EXPECT_EQ(odd.end, all.end);
        EXPECT_LE(all.size(), count / shares + 2);
        covered = all.end;
        for (std::size_t k = 0; k < lines.size(); k++) {
          seen[static_cast<std::size_t>(lines[k])]++;
          EXPECT_EQ(layout.colour(lines[k]), all.begin + static_cast<Index>(k) < even.end ? Colour::even : Colour::odd);
        }
      }
      EXPECT_EQ(covered, count);
      EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

} // namespace
