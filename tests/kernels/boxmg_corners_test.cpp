// Corners at which squares of two materials touch.
#include <cmath>
#include <functional>
#include <set>

#include "boxmg/choose.hpp"
#include "boxmg/touching.hpp"
#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

/// Finite volumes on n nodes a side, with the material of each cell; rows of the boundary are those of the identity where it is held. Where it is not, a
/// little is added to the diagonal.
Dense cells(Index n, const std::function<double(Index x, Index y)> &material, bool held = true)
{
  Dense a(n * n, n * n);
  const auto inside = [n, held](Index x, Index y) { return !held || (x > 0 && y > 0 && x + 1 < n && y + 1 < n); };
  for (Index i = 0; i < n * n; i++) a(i, i) = held ? 0 : 1e-6;
  const auto couple = [&](Index x, Index y, Index to_x, Index to_y, double k) {
    const Index one = x + n * y, two = to_x + n * to_y;
    a(one, one) += k;
    a(two, two) += k;
    if (inside(x, y) && inside(to_x, to_y)) a(one, two) = a(two, one) = -k;
  };
  for (Index y = 0; y < n; y++) {
    for (Index x = 0; x + 1 < n; x++) {
      const Index above = std::min(y, n - 2), below = std::max<Index>(y - 1, 0);
      couple(x, y, x + 1, y, (material(x, above) + material(x, below)) / 2);
      couple(y, x, y, x + 1, (material(above, x) + material(below, x)) / 2);
    }
  }
  return a;
}

/// Squares of so many cells, of a contrast; the material varies within them. first: of the square at the origin.
Dense checkerboard(Index n, Index square, double contrast, double first, std::mt19937 &random)
{
  std::uniform_real_distribution<double> any(0.9, 1.1);
  std::vector<double> factor(static_cast<std::size_t>(n * n));
  for (double &f : factor) f = any(random);
  return cells(n, [&](Index x, Index y) {
    const double side = (x / square + y / square) % 2 == 0 ? first : first / contrast;
    return side * factor[static_cast<std::size_t>(x + n * y)];
  });
}

/// The corner's error near it, of one parameter for the nodes beside it and one for those diagonally from it, whose residual in the strong squares has no
/// part in either: the weight of the next node.
double weight_at(const Dense &a, Index n, Index x, Index y, bool rising)
{
  const auto sign = [rising](Index i, Index j) {
    const Index turned = rising ? j : -j;
    if (i == 0 && j == 0) return 0;
    return i >= 0 && turned >= 0 ? 1 : i <= 0 && turned <= 0 ? -1 : 0;
  };
  double k[2][3] = {}; // by x, d and 1
  for (Index j = -1; j <= 1; j++) {
    for (Index i = -1; i <= 1; i++) {
      const int own = i * j != 0;
      for (Index t = -2; t <= 2; t++) {
        for (Index s = -2; s <= 2; s++) {
          const int of = std::max(std::abs(s), std::abs(t)) == 2 ? 2 : s * t != 0 ? 1 : 0;
          k[own][of] += sign(i, j) * sign(s, t) * a(x + i + n * (y + j), x + s + n * (y + t));
        }
      }
    }
  }
  const double ratio = k[0][1] / k[1][1];
  return -(k[0][2] - ratio * k[1][2]) / (k[0][0] - ratio * k[1][0]);
}

TEST(BoxmgCorners, WeightsAreThoseOfTheNodesAround)
{
  std::mt19937 random(7);
  for (const Memory memory : memories()) {
    for (const Index square : {4, 8, 16}) {
      for (const double contrast : {1 / 1e4, 1 / 20.0, 20.0, 1e4, 1e7}) {
        const Index n = 33;
        const Dense a = checkerboard(n, square, contrast, 3, random);
        BoxmgOptions options;
        options.coarsest_nodes = 9;
        const Made made(memory, grid_of({n, n}), a, options);
        SCOPED_TRACE("squares of " + std::to_string(square) + ", contrast " + std::to_string(contrast));
        ASSERT_FALSE(made.multigrid.fault());
        EXPECT_EQ(made.multigrid.cycle(), BoxmgCycle::v);
        Index nodes = n, side = square;
        for (int level = 0; level < (square == 4 ? 1 : 2); level++) {
          const Dense p = reference::dense(made.multigrid.interpolation_of(level)), b = reference::dense(made.multigrid.operator_of(level));
          const Index coarse = (nodes + 1) / 2;
          int corners        = 0;
          for (Index y = side; y + 1 < nodes; y += side) {
            for (Index x = side; x + 1 < nodes; x += side) {
              const bool rising   = ((x + y) / side % 2 == 0) == (contrast > 1);
              const double weight = weight_at(b, nodes, x, y, rising);
              EXPECT_GT(weight, level == 0 ? 0.55 : 0.58);
              EXPECT_LT(weight, level == 0 ? 0.7 : 0.8);
              for (const auto &[i, j] : std::initializer_list<std::pair<Index, Index>>{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
                const Index row = x + i + nodes * (y + j);
                EXPECT_NEAR(p(row, x / 2 + i + coarse * (y / 2 + j)), weight, 1e-10);
                EXPECT_NEAR(p(row, x / 2 + coarse * (y / 2)), 1 - weight, 1e-10);
              }
              corners++;
            }
          }
          EXPECT_EQ(corners, (nodes / side - 1) * (nodes / side - 1));
          nodes = coarse;
          side /= 2;
        }
        EXPECT_EQ(made.multigrid.levels().back().grid.n[0], 2 * (n / square) + 1); // the last one on which squares have a middle
      }
    }
  }
}

TEST(BoxmgCorners, NodesBesideAnEndOrAWeakLayerKeepTheirWeights)
{
  for (const Memory memory : memories()) {
    for (const bool layer : {false, true}) {
      // A corner on the last node but one; or cells that hardly couple, one step beyond the node beside the corner in the middle.
      const Index n = layer ? 33 : 18, square = layer ? 16 : 8;
      const auto material = [&](Index x, Index y) {
        const double side = (x / square + y / square) % 2 == 0 ? 3 : 0.03;
        return layer && x == square + 1 ? 1e-4 * side : side;
      };
      const Dense a = cells(n, material, false);
      BoxmgOptions options;
      options.coarsest_nodes = 9;
      const Made made(memory, grid_of({n, n}), a, options);
      SCOPED_TRACE(layer ? "a layer" : "an end");
      ASSERT_FALSE(made.multigrid.fault());
      ASSERT_EQ(made.multigrid.levels().back().grid.n[0], 2 * (n / square) + 1); // weights know corners
      const Dense p      = reference::dense(made.multigrid.interpolation_of(0));
      const Index coarse = (n + 1) / 2;
      for (Index row = 0; row < n * n; row++) {
        double sum = 0;
        for (Index column = 0; column < coarse * coarse; column++) sum += p(row, column);
        EXPECT_NEAR(sum, 1, 0.02) << row; // of constants nothing is lost
      }
      if (layer) {
        EXPECT_LT(p(square + 1 + n * square, square / 2 + 1 + coarse * (square / 2)), 0.01);
      }
    }
  }
}

TEST(BoxmgCorners, StepsConvergeAsWithOneMaterial)
{
  std::mt19937 random(8);
  for (const Memory memory : memories()) {
    for (const double contrast : {1.0, 1e-4, 1e2, 1e4, 1e6}) {
      for (const double reaction : {0.0, 1e-7, 1e-5, 1e-3, 0.1}) { // over the coupling of the material at the origin
        const Index n = 65;
        Dense a       = checkerboard(n, 16, contrast, 1, random);
        for (Index node = 0; node < n * n; node++) a(node, node) += reaction;
        const Made made(memory, grid_of({n, n}), a, {});
        const std::vector<double> none(static_cast<std::size_t>(n * n), 0), start = random_field(n * n, random);
        std::vector<double> x = start;
        double first = 0, last = 0;
        for (int step = 0; step <= 12; step++) {
          x = made.iterate(none, x, false, [&](double norm) {
            (step == 0 ? first : last) = norm;
            return false;
          });
        }
        EXPECT_LT(last, 1e-8 * first) << "contrast " << contrast << ", reaction " << reaction; // 1e-4 without what is known of corners
      }
    }
  }
}

TEST(BoxmgCorners, WhereNoneAreAllIsAsBefore)
{
  std::mt19937 random(9);
  for (const Memory memory : memories()) {
    const Index n = 33;
    // Islands, corners between coarse nodes, materials of nodes (whose corners couple by the weak one), single cells.
    const auto island = [](Index x, Index y) { return x >= 8 && x < 24 && y >= 8 && y < 24 ? 1e4 : 1.0; };
    const auto odd    = [](Index x, Index y) { return (x < 15) == (y < 15) ? 1e4 : 1.0; };
    const auto single = [](Index x, Index y) { return (x + y) % 2 == 0 ? 1e4 : 1.0; };
    for (const std::function<double(Index, Index)> &material : {std::function<double(Index, Index)>(island), {odd}, {single}}) {
      const Dense a = cells(n, material);
      const Made made(memory, grid_of({n, n}), a, {});
      ASSERT_FALSE(made.multigrid.fault());
      EXPECT_EQ(made.multigrid.levels().back().grid.n[0], 9);
    }
  }
}

TEST(BoxmgCorners, LevelsEndBeforeSquaresAreCells)
{
  const boxmg::Grid grid = grid_of({2049, 2049});
  EXPECT_EQ(boxmg::touching_levels(grid, 0, 500), 0u); // no corners
  EXPECT_EQ(boxmg::touching_levels(grid, 256 | 1792, 500), 7u);
  EXPECT_EQ(boxmg::touching_levels(grid, 256 | 768, 200), 0u); // 17 x 17 are too many
  EXPECT_EQ(boxmg::touching_levels(grid, 255, 5000000), 0u);   // between coarse nodes
  EXPECT_EQ(boxmg::touching_levels(grid, 2, 5000000), 0u);
  EXPECT_EQ(boxmg::touching_levels(grid, 4, 5000000), 1u);
  EXPECT_EQ(boxmg::touching_levels(grid_of({48, 64}, {0, 1}), 16, 500), 3u);
  EXPECT_EQ(boxmg::touching_levels(grid_of({44, 64}, {0, 1}), 16, 1000), 1u); // around the ring

  boxmg::Strengths jump;
  jump.jumps = 3;
  EXPECT_EQ(boxmg::cycle_for(grid, jump, {}, {{1}, 3}, false), BoxmgCycle::w);
  EXPECT_EQ(boxmg::cycle_for(grid, jump, {}, {{1}, 3}, true), BoxmgCycle::v);
}

TEST(BoxmgCorners, NewValuesMayHaveNoneOrOthers)
{
  std::mt19937 random(10);
  for (const Memory memory : memories()) {
    const Index n   = 33;
    const auto b    = random_field(n * n, random);
    const Dense one = checkerboard(n, 8, 1, 1, random), eight = checkerboard(n, 8, 1e4, 1, random),
                sixteen = checkerboard(n, 16, 1e3, 2, random);
    Made made(memory, grid_of({n, n}), one, {});
    for (const Dense *a : {&eight, &sixteen, &one, &sixteen, &eight, &eight}) {
      made.read(*a);
      ASSERT_FALSE(made.multigrid.fault());
      expect_near(made.apply(b), Made(memory, grid_of({n, n}), *a, {}).apply(b), 1e-13);
    }
  }
}

} // namespace
} // namespace weft::test
