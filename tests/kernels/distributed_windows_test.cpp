// Rows of the inverses of pieces from windows at their ends, and from whole solves where these do not serve, beside the serial twin of the whole line.
#include "distributed_problem.hpp"

namespace {

using namespace weft;
using namespace weft::test;

/// Lines of one coupling and one diagonal, each equation in a unit of its own: so large, and so many powers of ten up or down.
template <class Scalar>
Lines<Scalar> in_units(const LineProblem &problem, std::mt19937 &random, Scalar diagonal, double powers, double large = 1)
{
  Lines<Scalar> lines(problem, random);
  std::uniform_real_distribution<double> power(-powers, powers);
  for (std::size_t i = 0; i < lines.diagonal.size(); i++) {
    const auto unit = static_cast<Scalar>(large * std::pow(10, power(random)));
    lines.lower[i] = lines.upper[i] = -unit;
    lines.diagonal[i]               = diagonal * unit;
    lines.rhs[i] *= unit;
  }
  return lines;
}

/// Whole pieces, first and second windows: all ways to rows of the inverse give the solution, and one-shot solves too, whose factors nothing needs.
TEST(DistributedLines, MakeRowsOfTheInverseInWindows)
{
  std::mt19937 random(27);
  struct Kind {
    Index rows;      ///< of a piece
    double diagonal; ///< next to couplings of 1
    bool in_windows;
    double unit = 1; ///< of the equations
  };
  for (const Kind &kind :
       {Kind{300, 3, true}, Kind{300, 3, true, 1e-200}, Kind{250, 3, false}, Kind{2100, 2.004, true}, Kind{2100, 2, false}}) {
    std::vector<Index> lengths;
    for (int r = 0; r < ranks(); r++) lengths.push_back(kind.rows + 5 * (r % 3));
    for (const bool periodic : {false, true}) {
      if (periodic && (kind.diagonal != 3 || kind.unit != 1)) continue; // the last kind would be singular
      LineProblem problem(contiguous(sum(lengths, ranks()), 3));
      problem.periodic = periodic;
      // Of the condition that a difference of the diagonal from the couplings leaves.
      const double n         = static_cast<double>(problem.layout.length);
      const double tolerance = 1e-14 * (kind.diagonal == 2 ? n * n : 4 / (kind.diagonal - 2));
      for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
        const auto lines = in_units<double>(problem, random, kind.diagonal, transpose == Transpose::no ? 6 : 0,
                                            kind.unit); // of equations, not of unknowns
        const SolveOptions<double> options{{1}, Colour::all, transpose};
        const auto solution = lines.expected(options, lines.start);
        for (const bool side_by_side : {false, true}) {
          if (side_by_side && (kind.rows != 300 || kind.unit != 1)) continue;
          const auto layout = side_by_side ? strided(my_length(lengths), 3) : contiguous(my_length(lengths), 3, 1);
          const Piece<double> piece(lines, layout, my_first(lengths));
          const auto expected = piece.part_of(solution, piece.start);
          for (const Memory memory : memories()) {
            SCOPED_TRACE(testing::Message() << kind.rows << " rows, " << kind.diagonal << ", periodic " << periodic << ", side by side "
                                            << side_by_side << ", transposed " << (transpose == Transpose::yes));
            DistributedSolving<double> s(piece, "auto", memory);
            const Buffer<double> rhs(memory, piece.rhs), x(memory, piece.start);
            s.solver.solve(rhs.data(), x.data(), options);
            s.execution.wait();
            if (ranks() > 2 || (periodic && ranks() > 1)) {
              EXPECT_EQ(s.solver.neighbours_only(transpose), kind.in_windows);
            }
            compare(x.values(), expected, tolerance);
            if (transpose == Transpose::yes) continue;

            DistributedLineSolver<double> once(s.execution, MPI_COMM_WORLD, piece.problem, "auto");
            const Buffer<double> x_once(memory, piece.start);
            once.use(s.lower.data(), s.diagonal.data(), s.upper.data());
            for (int time = 0; time < 2; time++) once.solve_once(rhs.data(), x_once.data());
            s.execution.wait();
            EXPECT_FALSE(once.bad_pivot());
            compare(x_once.values(), expected, tolerance);
            EXPECT_EQ(rhs.values(), piece.rhs) << "the right-hand side must be kept";
          }
        }
      }
    }
  }
}

/// A pivot that is nearly lost to cancellation leaves its line, and all others, to whole solves.
TEST(DistributedLines, WindowsAreNotForSmallPivots)
{
  std::mt19937 random(28);
  const std::vector<Index> lengths(static_cast<std::size_t>(ranks()), 400);
  const LineProblem problem(strided(sum(lengths, ranks()), 4));
  auto lines            = in_units<double>(problem, random, 3, 6);
  const double of_pivot = 1 / (1.5 + std::sqrt(1.25)); // what elimination takes from a diagonal, next to a coupling
  for (int r = 0; r < ranks(); r++) lines.diagonal[lines.at(1, 400 * r + 11)] *= (of_pivot + 1e-9) / 3;
  const Piece<double> piece(lines, strided(400, 4), my_first(lengths));
  for (const Memory memory : memories()) {
    DistributedSolving<double> s(piece, "auto", memory);
    if (ranks() > 2) {
      EXPECT_FALSE(s.solver.neighbours_only());
    }
    const Buffer<double> rhs(memory, piece.rhs), x(memory, piece.start);
    s.solver.solve(rhs.data(), x.data());
    s.execution.wait();
    compare(x.values(), piece.part_of(lines.expected({}, lines.start), piece.start), 1e-5);
  }
}

} // namespace
