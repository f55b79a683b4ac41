// Black box multigrid whose levels ranks share: against the one that each rank makes of the whole grid.
#include <cmath>
#include <map>

#include "backends.hpp"
#include "boxmg/box_multigrid.hpp"
#include "boxmg/ranks/mpi_ranks.hpp"
#include "csr_rows.hpp"

namespace {

using namespace weft;
using namespace weft::test;
using boxmg::Box;
using boxmg::Parts;

int rank()
{
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}
int ranks()
{
  int n = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  return n;
}

/// The grid in boxes along one direction, of unequal sizes.
Parts parts_along(int direction, const boxmg::Grid &grid)
{
  Parts parts;
  parts.whole   = grid;
  const int all = ranks();
  for (int d = 0; d < 3; d++) {
    parts.starts[d] = {0};
    const int boxes = d == direction ? all : 1;
    for (int k = 1; k < boxes; k++) parts.starts[d].push_back(std::max<Index>(parts.starts[d].back() + 1, grid.n[d] * k * k / (all * all)));
    parts.starts[d].push_back(grid.n[d]);
  }
  return parts;
}

/// From 0.1 to 2, for two nodes; not the same both ways.
double coupling(Index from, Index to)
{
  const double x = std::sin(12.9898 * static_cast<double>(from + 1) + 78.233 * static_cast<double>(to + 1)) * 43758.5453;
  return 0.1 + 1.9 * (x - std::floor(x));
}

/// Couplings of a node to all its neighbours, strong ones along a direction unless that is -1, and a diagonal that is a little larger than their sum.
std::map<Index, double> row_of(const boxmg::Grid &grid, Index node, bool symmetric, int strong)
{
  std::map<Index, double> row;
  double sum = 0.1;
  for (int number = 0; number < 27; number++) {
    Index at[3];
    grid.position(node, at);
    if (number == 13 || !grid.move(at, boxmg::offset_of(number))) continue;
    const Index there = grid.node(at);
    double value      = symmetric ? coupling(std::min(node, there), std::max(node, there)) : coupling(node, there);
    const auto &by    = boxmg::offset_of(number).d;
    if (strong >= 0 && by[strong] != 0 && by[0] * by[0] + by[1] * by[1] + by[2] * by[2] == 1) value *= 1e3;
    row[there] -= value;
    sum += value;
  }
  row[node] += sum;
  return row;
}

/// The nodes of a box in their order.
std::vector<Index> nodes_of(const Box &box, const boxmg::Grid &grid)
{
  std::vector<Index> nodes;
  for (Index z = box.first[2]; z < box.end[2]; z++) {
    for (Index y = box.first[1]; y < box.end[1]; y++) {
      for (Index x = box.first[0]; x < box.end[0]; x++) nodes.push_back(grid.node({x, y, z}));
    }
  }
  return nodes;
}

std::vector<double> apply(const BoxMultigrid<double> &multigrid, const Execution &execution, const std::vector<double> &b,
                          Transpose transpose)
{
  const Buffer<double> rhs(execution.memory(), b);
  Buffer<double> x(execution.memory(), std::vector<double>(b.size(), std::nan("")));
  multigrid.apply(rhs.data(), x.data(), transpose);
  execution.wait();
  return x.values();
}

/// A rank's rows, and all of them.
struct RowsHere {
  Rows whole, inside, outside;
  std::vector<Index> outside_nodes;

  RowsHere(const boxmg::Grid &grid, const std::vector<Index> &own, bool symmetric, int strong)
  {
    std::map<Index, std::int32_t> place;
    for (std::size_t k = 0; k < own.size(); k++) place[own[k]] = static_cast<std::int32_t>(k);
    for (Index node = 0; node < grid.nodes(); node++) {
      for (const auto &[to, value] : row_of(grid, node, symmetric, strong)) whole.add(static_cast<std::int32_t>(to), value);
      whole.end();
    }
    for (const Index node : own) {
      for (const auto &[to, value] : row_of(grid, node, symmetric, strong)) {
        if (place.contains(to)) {
          inside.add(place[to], value);
        } else {
          outside.add(static_cast<std::int32_t>(outside_nodes.size()), value);
          outside_nodes.push_back(to);
        }
      }
      inside.end();
      outside.end();
    }
  }
};

/// The largest difference of an application by the ranks from that by one, and the levels that they share. strong: of the matrices that are read, one
/// after the other.
std::pair<double, int> difference(Memory memory, const Parts &parts, bool symmetric, const BoxmgOptions &options, Transpose transpose,
                                  const std::vector<int> &strong = {-1})
{
  const boxmg::Grid &grid = parts.whole;
  const Execution execution(memory);
  const boxmg::MpiRanks all(MPI_COMM_WORLD, parts, false, false, [] {});
  const std::vector<Index> own = nodes_of(parts.owned(rank()), grid);
  const BoxmgRanks shared{&all, parts, 0};
  BoxMultigrid<double> alone(execution, grid, options), together(execution, grid, options, &shared);
  std::vector<double> b, mine;
  for (Index node = 0; node < grid.nodes(); node++) b.push_back(coupling(node, 7) - 1);
  for (const Index node : own) mine.push_back(b[static_cast<std::size_t>(node)]);
  double most = 0;
  int levels  = 0;
  for (const int direction : strong) {
    const RowsHere rows(grid, own, symmetric, direction);
    const Stored one(memory, rows.whole), in(memory, rows.inside), out(memory, rows.outside);
    alone.read(one.csr());
    together.read(boxmg::RowsOfPart<double, std::int32_t>{in.csr(), out.csr(), rows.outside_nodes});
    EXPECT_FALSE(alone.fault() || together.fault() || together.is_for_one_rank());
    const std::vector<double> right = apply(alone, execution, b, transpose), found = apply(together, execution, mine, transpose);
    for (std::size_t k = 0; k < own.size(); k++) most = std::fmax(most, std::abs(found[k] - right[static_cast<std::size_t>(own[k])]));
    for (const double x : found) EXPECT_FALSE(std::isnan(x));
    const std::vector<BoxmgLevel> all_levels = together.levels();
    levels                                   = 0;
    for (const BoxmgLevel &level : all_levels) levels += level.ranks > 1;
    if (direction >= 0 && !all_levels.empty()) {
      EXPECT_EQ(all_levels[0].moved, parts.crosses(direction) && parts.whole_along(direction));
    }
  }
  return {most, levels};
}

TEST(DistributedBoxmg, ExtendedBoxesBeginAndEndAtEvenPlaces)
{
  Parts parts;
  parts.whole.n[0]        = 30;
  parts.whole.n[1]        = 21;
  parts.whole.periodic[0] = true;
  parts.starts[0]         = {0, 7, 30};
  parts.starts[1]         = {0, 1, 8, 21};
  parts.starts[2]         = {0, 1};
  EXPECT_EQ(parts.ranks(), 6);
  const Box middle = parts.extended(3); // the second along x and along y
  EXPECT_EQ(middle.first[0], 4);
  EXPECT_EQ(middle.end[0], 33);
  EXPECT_EQ(middle.first[1], 0);
  EXPECT_EQ(middle.end[1], 11);
  EXPECT_EQ(parts.extended(0).first[0], -2);
  EXPECT_EQ(parts.extended(4).end[1], 21);
  const Parts coarse = parts.coarse(1u);
  EXPECT_EQ(coarse.starts[0], (std::vector<Index>{0, 4, 15}));
  EXPECT_FALSE(coarse.can_be_shared()) << "a ring of 15";
  EXPECT_FALSE(parts.coarse(3u).can_be_shared()) << "nobody's row";
  EXPECT_TRUE(parts.can_be_shared());
  EXPECT_EQ(parts.gathered().owned(0).nodes(), 630);
  EXPECT_EQ(parts.gathered().owned(1).nodes(), 0);
}

TEST(DistributedBoxmg, CyclesAreThoseOfOneRank)
{
  BoxmgOptions options;
  options.coarsest_nodes = 20;
  for (const Memory memory : memories()) {
    for (const int direction : {0, 1, 2}) {
      for (const bool space : {false, true}) {
        if (direction == 2 && !space) continue;
        boxmg::Grid grid;
        const Index plane[3] = {32, 23, 1}, box[3] = {14, 15, 13};
        std::copy(space ? box : plane, (space ? box : plane) + 3, grid.n);
        const Parts parts = parts_along(direction, grid);
        for (const BoxmgSmoother smoother : {BoxmgSmoother::automatic, BoxmgSmoother::alternating, BoxmgSmoother::points}) {
          options.smoother = smoother;
          for (const bool symmetric : {true, false}) {
            for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
              if (!sampled()) continue;
              const auto [most, levels] = difference(memory, parts, symmetric, options, transpose);
              EXPECT_LT(most, 1e-12);
              EXPECT_TRUE(levels > 0 || ranks() == 1);
            }
          }
        }
      }
    }
  }
}

TEST(DistributedBoxmg, StrongLinesAreWholeInBoxesThatNewValuesMayChange)
{
  BoxmgOptions options;
  options.coarsest_nodes = 20;
  for (const Memory memory : memories()) {
    for (const bool space : {false, true}) {
      boxmg::Grid grid;
      const Index plane[3] = {47, 50, 1}, box[3] = {33, 34, 5};
      std::copy(space ? box : plane, (space ? box : plane) + 3, grid.n);
      for (const int direction : {0, 1}) {
        const Parts parts = parts_along(direction, grid);
        for (const bool symmetric : {true, false}) {
          for (const bool single : {false, true}) {
            for (const Index turned_from : {0, 1}) { // 1: lines along y run along x, on a host too
              if (turned_from > 0 && (ranks() == 1 || !parts.whole_along(direction))) continue; // too many ranks keep their boxes
              options.single_precision = single;
              options.turned_from      = turned_from;
              const auto transpose     = symmetric ? Transpose::no : Transpose::yes;
              // Strong couplings magnify what is lost in rounding: on two H200s to 1.2e-10.
              const double most = single ? 5e-3 : memory == Memory::device ? 1e-9 : 1e-11;
              EXPECT_LT(difference(memory, parts, symmetric, options, transpose, {0, 1, 1, 0, 0}).first, most);
            }
          }
        }
      }
    }
  }
}

TEST(DistributedBoxmg, CyclesOfOtherShapesAndInSinglePrecision)
{
  boxmg::Grid grid;
  grid.n[0]        = 32;
  grid.n[1]        = 21;
  grid.periodic[0] = true;
  BoxmgOptions options;
  options.coarsest_nodes = 20;
  options.sweeps         = 2;
  for (const Memory memory : memories()) {
    for (const BoxmgCycle cycle : {BoxmgCycle::w, BoxmgCycle::f}) {
      for (const bool single : {false, true}) {
        options.cycle            = cycle;
        options.single_precision = single;
        EXPECT_LT(difference(memory, parts_along(1, grid), false, options, Transpose::no).first, single ? 1e-5 : 1e-12);
        EXPECT_LT(difference(memory, parts_along(0, grid), true, options, Transpose::no).first, single ? 1e-5 : 1e-12);
      }
    }
  }
}

} // namespace
