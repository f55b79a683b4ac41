// What is looked at on a level: all nodes joined, on every backend, beside one node after the other.
#include <type_traits>

#include "base/backend.hpp"
#include "boxmg/read_matrix.hpp"
#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

using boxmg::LevelLook;

/// Coefficients of a stencil, symmetric, and 0 where they leave the grid.
struct Level {
  boxmg::Grid grid;
  boxmg::Stencil stencil;
  std::vector<double> values;

  Level(const boxmg::Grid &of, bool star, std::mt19937 &random) : grid(of)
  {
    unsigned mask                   = 0;
    const boxmg::Stencil neighbours = boxmg::Stencil::box(grid);
    for (int k = 0; k < neighbours.count; k++) {
      const boxmg::Offset o = neighbours.offset[k];
      if (!star || std::abs(o.d[0]) + std::abs(o.d[1]) + std::abs(o.d[2]) <= 1) mask |= 1u << o.number();
    }
    stencil = boxmg::Stencil(mask);
    values.assign(static_cast<std::size_t>(stencil.count * grid.nodes()), 0);
    std::uniform_real_distribution<double> size(-3, 3);
    for (Index node = 0; node < grid.nodes(); node++) {
      for (int k = stencil.count / 2 + 1; k < stencil.count; k++) {
        Index at[3];
        grid.position(node, at);
        if (grid.move(at, stencil.offset[k])) entry(k, node) = entry(stencil.count - 1 - k, grid.node(at)) = -std::pow(10.0, size(random));
      }
    }
    for (Index node = 0; node < grid.nodes(); node++) {
      for (int k = 0; k < stencil.count; k++) {
        if (k != stencil.count / 2) entry(stencil.count / 2, node) -= (1 + 1e-3 * size(random)) * entry(k, node);
      }
    }
  }
  double &entry(int k, Index node) { return values[static_cast<std::size_t>(k * grid.nodes() + node)]; }
  double &diagonal(Index node) { return entry(stencil.count / 2, node); }
};

void expect_alike(const LevelLook &made, const LevelLook &plain)
{
  EXPECT_EQ(made.zero_diagonal, plain.zero_diagonal);
  EXPECT_EQ(made.wrong_sign, plain.wrong_sign);
  EXPECT_EQ(made.symmetric, plain.symmetric);
  EXPECT_EQ(made.mirrors, plain.mirrors);
  EXPECT_EQ(made.dominant, plain.dominant);
  EXPECT_EQ(made.least, plain.least);
  EXPECT_EQ(made.most, plain.most);
  const auto &one = made.strengths, &other = plain.strengths;
  EXPECT_EQ(one.unlike, other.unlike);
  EXPECT_EQ(one.steps, other.steps);
  EXPECT_EQ(one.jumps, other.jumps);
  EXPECT_EQ(one.corners, other.corners);
  for (int s = 0; s < 2; s++) EXPECT_EQ(one.not_strong[s], other.not_strong[s]);
  for (int set = 0; set < 8; set++) EXPECT_EQ(one.across[set], other.across[set]);
  EXPECT_EQ(made.flow.nodes, plain.flow.nodes);
  EXPECT_NEAR(made.flow.share, plain.flow.share, 1e-12 * plain.flow.share);
  for (int d = 0; d < 3; d++) {
    EXPECT_EQ(one.outdone[d], other.outdone[d]);
    EXPECT_NEAR(one.along[d], other.along[d], 1e-12 * other.along[d]);
    EXPECT_NEAR(made.flow.through[d], plain.flow.through[d], 1e-12 * plain.flow.share);
  }
}

/// Returns what the backend has seen, and compares it with the plain loop.
LevelLook look_at(Memory memory, const Level &level, bool known_symmetric)
{
  const Execution execution(memory);
  return on_backend(execution, [&](const auto &space) {
    using Space       = std::decay_t<decltype(space)>;
    const auto values = to_backend<Space>(level.values);
    const boxmg::Operator<double> a(level.grid, level.stencil, values.data(), level.grid.nodes());
    const boxmg::Operator<double> here(level.grid, level.stencil, level.values.data(), level.grid.nodes());
    OwnedArray<LevelLook, Space> room, seen("seen", 1);
    boxmg::look_at(space, boxmg::LookAtLevel<double>{a, 1, known_symmetric, true}, room, boxmg::Result<LevelLook, Space>(seen.data()));
    space.fence();
    const LevelLook made = to_host(seen)[0];
    LevelLook plain;
    const boxmg::LookAtLevel<double> kernel{here, 1, known_symmetric, true};
    for (Index node = 0; node < level.grid.nodes(); node++) kernel(node, plain);
    expect_alike(made, plain);
    return made;
  });
}

/// Grids of one team of a device and of many, and all stencils that it knows and others.
TEST(BoxmgLooks, AreThoseOfOneNodeAfterTheOther)
{
  std::mt19937 random(5);
  const boxmg::Grid grids[] = {grid_of({9}),          grid_of({7, 5}),        grid_of({301, 211}),     grid_of({5, 4, 3}),
                               grid_of({41, 37, 29}), grid_of({40, 30}, {0}), stack_of({20, 30, 9}, 2)};
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids) {
      for (const bool star : {true, false}) {
        Level level(grid, star, random);
        const Index last = grid.nodes() - 1, middle = grid.nodes() / 2;
        LevelLook seen = look_at(memory, level, false);
        EXPECT_TRUE(seen.symmetric && seen.mirrors);
        EXPECT_EQ(seen.zero_diagonal, boxmg::no_node);
        EXPECT_EQ(seen.wrong_sign, boxmg::no_node);
        EXPECT_FALSE(look_at(memory, level, true).mirrors);

        level.diagonal(last) = 0;
        EXPECT_EQ(look_at(memory, level, false).zero_diagonal, last);
        level.diagonal(middle) *= -1;
        seen = look_at(memory, level, false);
        EXPECT_EQ(seen.wrong_sign, middle);
        EXPECT_FALSE(seen.dominant);

        double &coupling = level.entry(level.stencil.count / 2 + 1, middle - 1);
        if (coupling == 0) continue;
        coupling *= 1 + 1e-15; // more than nothing, and less than rounding may be
        EXPECT_EQ(look_at(memory, level, false).mirrors, coupling == level.entry(level.stencil.count / 2 - 1, middle));
        coupling *= 1.5;
        EXPECT_FALSE(look_at(memory, level, false).symmetric);
      }
    }
  }
}

} // namespace
} // namespace weft::test
