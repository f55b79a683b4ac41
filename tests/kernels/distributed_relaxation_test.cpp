// Relaxation of lines that go on on other ranks by a kernel that knows this rank's piece: against the serial twin of the whole matrix.
#include <map>

#include "line/ranks/distributed_line_solver.hpp"
#include "line/relax/line_relaxation.hpp"
#include "line_problem.hpp"
#include "pieces.hpp"
#include "reference/smooth.hpp"

namespace {

using namespace weft;
using namespace weft::test;

using Place = std::array<Index, 2>;

/// Nodes of a plane, x first.
struct Plane {
  Place nodes;

  Index rows() const { return nodes[0] * nodes[1]; }
  bool has(const Place &at) const { return at[0] >= 0 && at[0] < nodes[0] && at[1] >= 0 && at[1] < nodes[1]; }
  Index row(const Place &at) const { return at[0] + nodes[0] * at[1]; }
  LineLayout lines(int direction) const
  {
    const Index n[3] = {nodes[0], nodes[1], 1}, first[3] = {0, 0, 0};
    return lines_of_box(direction, n, 1, first);
  }
};

/// The matrix of 5 or 9 points on the whole plane, the same on every rank.
template <class Scalar>
std::map<std::pair<Index, Index>, Scalar> entries_of(const Plane &plane, bool box, std::mt19937 &random)
{
  std::map<std::pair<Index, Index>, Scalar> entries;
  for (Index j = 0; j < plane.nodes[1]; j++) {
    for (Index i = 0; i < plane.nodes[0]; i++) {
      const Index row = plane.row({i, j});
      Scalar sum      = 1;
      for (Index dj = -1; dj <= 1; dj++) {
        for (Index di = -1; di <= 1; di++) {
          const Place to{i + di, j + dj};
          if ((di == 0 && dj == 0) || (di != 0 && dj != 0 && !box) || !plane.has(to)) continue;
          const Scalar value            = random_values<Scalar>(1, random)[0];
          entries[{row, plane.row(to)}] = value;
          sum += std::abs(value);
        }
      }
      entries[{row, row}] = sum;
    }
  }
  return entries;
}

template <class Scalar>
void add_row(reference::Csr<Scalar, std::int32_t> &csr, const std::vector<std::pair<Index, Scalar>> &row)
{
  for (const auto &[column, value] : row) {
    csr.columns.push_back(static_cast<std::int32_t>(column));
    csr.values.push_back(value);
  }
  csr.row_starts.push_back(static_cast<std::int32_t>(csr.columns.size()));
}

/// Returns false where lines are not relaxed in one pass.
template <class Scalar>
bool check(const Plane &whole, int direction, const std::vector<Index> &lengths, bool box, Memory memory, std::mt19937 &random)
{
  const auto entries = entries_of<Scalar>(whole, box, random);
  reference::Csr<Scalar, std::int32_t> csr;
  auto entry = entries.begin();
  for (Index i = 0; i < whole.rows(); i++) {
    std::vector<std::pair<Index, Scalar>> row;
    for (; entry != entries.end() && entry->first.first == i; ++entry) row.emplace_back(entry->first.second, entry->second);
    add_row(csr, row);
  }
  const auto b = random_values<Scalar>(csr.rows(), random), start = random_values<Scalar>(csr.rows(), random);

  // This rank's rows.
  const auto along    = static_cast<std::size_t>(direction);
  const Index first   = sum(lengths, rank());
  Plane here          = whole;
  here.nodes[along]   = lengths[static_cast<std::size_t>(rank())];
  const auto in_whole = [&](Place at) {
    at[along] += first;
    return static_cast<std::size_t>(whole.row(at));
  };
  const LineLayout layout = here.lines(direction);
  reference::Csr<Scalar, std::int32_t> inside;
  std::vector<Scalar> before(static_cast<std::size_t>(layout.count())), after(before.size());
  std::map<std::size_t, std::vector<std::pair<std::size_t, Scalar>>> ghosts; // of other lines: by row, what it couples to in the whole
  for (Index j = 0; j < here.nodes[1]; j++) {
    for (Index i = 0; i < here.nodes[0]; i++) {
      std::vector<std::pair<Index, Scalar>> row;
      for (Index dj = -1; dj <= 1; dj++) {
        for (Index di = -1; di <= 1; di++) {
          const Place to{i + di, j + dj};
          Place of_whole = to;
          of_whole[along] += first;
          if (!whole.has(of_whole)) continue;
          const auto found = entries.find({static_cast<Index>(in_whole({i, j})), whole.row(of_whole)});
          if (found == entries.end()) continue;
          const auto line = static_cast<std::size_t>(direction == 0 ? j : i);
          if (here.has(to))
            row.emplace_back(here.row(to), found->second);
          else if (direction == 0 ? dj == 0 : di == 0)
            (to[along] < 0 ? before : after)[line] = found->second;
          else
            ghosts[static_cast<std::size_t>(here.row({i, j}))].emplace_back(static_cast<std::size_t>(whole.row(of_whole)), found->second);
        }
      }
      add_row(inside, row);
    }
  }

  const Execution execution(memory);
  const Buffer<std::int32_t> starts(memory, inside.row_starts), columns(memory, inside.columns);
  const Buffer<Scalar> values(memory, inside.values), to_before(memory, before), to_after(memory, after);
  const CsrMatrix<Scalar, std::int32_t> rows{starts.data(), columns.data(), values.data()};
  StencilMatrix<Scalar> matrix(execution, here.rows());
  matrix.read(rows);
  LineRelaxation<Scalar> piece(matrix, LineProblem(layout), "wide");
  DistributedLineSolver<Scalar> solver(execution, MPI_COMM_WORLD, LineProblem(layout), "auto");
  solver.read(rows, to_before.data(), to_after.data());
  solver.factor();
  piece.factor();
  if (!solver.everywhere(piece.fused(Colour::even))) return false; // a piece of two columns has two couplings on a diagonal

  for (const Colour colour : {Colour::even, Colour::odd}) {
    for (const Guess guess : {Guess::given, Guess::zero}) {
      for (const Scalar omega : {Scalar(1), Scalar(0.8)}) {
        SCOPED_TRACE(testing::Message() << "colour " << static_cast<int>(colour) << ", guess " << static_cast<int>(guess) << ", omega "
                                        << omega);
        const std::vector<Scalar> known = guess == Guess::zero ? std::vector<Scalar>(start.size()) : start;
        const auto change = reference::line_changes(csr, whole.lines(direction), reference::residual(csr, b, known), omega, colour);
        std::vector<Scalar> rhs(static_cast<std::size_t>(here.rows())), x(rhs.size()), expected(rhs.size());
        for (Index j = 0; j < here.nodes[1]; j++) {
          for (Index i = 0; i < here.nodes[0]; i++) {
            const auto row = static_cast<std::size_t>(here.row({i, j})), there = in_whole({i, j});
            const Index line = direction == 0 ? j : i;
            rhs[row]         = b[there];
            for (const auto &[column, value] : ghosts[row]) rhs[row] -= value * known[column];
            x[row]        = start[there];
            expected[row] = layout.has_colour(line, colour) ? known[there] + change[there] : start[there];
          }
        }
        const Buffer<Scalar> of_b(memory, rhs), of_x(memory, x);
        solver.take_neighbours(of_b.data(), matrix, guess == Guess::zero ? nullptr : of_x.data(), colour);
        piece.relax(of_b.data(), of_x.data(), {omega, colour, guess});
        solver.put_back(of_b.data(), colour);
        compare<Scalar>(of_x.values(), expected, 400 * std::numeric_limits<Scalar>::epsilon());
        EXPECT_EQ(of_b.values(), rhs) << "the right-hand side must be kept";
      }
    }
  }
  return true;
}

TEST(DistributedRelaxation, AgreesWithTheWholeMatrix)
{
  std::mt19937 random(77);
  int compared = 0;
  for (int sample = 0; sample < 12; sample++) {
    const bool box      = sample % 2 == 1;
    const int direction = sample / 2 % 2;
    auto lengths        = random_cuts(random, 30);
    if (sample < 8) std::generate(lengths.begin(), lengths.end(), [&] { return between(random, 3, 30); });
    const Index lines = between(random, 1, 9);
    Plane plane{{lines, lines}};
    plane.nodes[static_cast<std::size_t>(direction)] = sum(lengths, ranks());
    for_each_precision([&](auto scalar, Memory memory) {
      SCOPED_TRACE(testing::Message() << plane.nodes[0] << " x " << plane.nodes[1] << ", direction " << direction << ", box " << box
                                      << (memory == Memory::host ? ", host" : ", device"));
      compared += check<decltype(scalar)>(plane, direction, lengths, box, memory, random);
    });
  }
  EXPECT_GE(compared, 8);
}

} // namespace
