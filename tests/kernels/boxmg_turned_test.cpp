// Grids whose directions are exchanged, so that lines along y or z run along x.
#include <limits>

#include "boxmg/box_multigrid.hpp"
#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

/// Lines along y or z that run along x: the same to rounding, whoever asks.
TEST(BoxmgTurned, GridsAreTheSame)
{
  std::mt19937 random(9);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid :
         {grid_of({7, 9}), grid_of({40, 19}), grid_of({8, 8}, {0}), grid_of({6, 5, 7}), grid_of({6, 8, 5}, {1})}) {
      for (const Form form : {Form::star, Form::skew}) {
        Dense a = random_operator(grid, form, random);
        for (Index node = 0; node < grid.nodes(); node++) { // strong along y
          for (const int by : {-1, 1}) {
            Index at[3];
            grid.position(node, at);
            if (!grid.move(at, 1, by)) continue;
            a(node, grid.node(at)) -= 1e4;
            a(node, node) += 1e4;
          }
        }
        BoxmgOptions options;
        options.coarsest_nodes = 60; // lines along several directions come in another order on a turned grid
        SCOPED_TRACE("grid " + std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) +
                     ", form " + std::to_string(static_cast<int>(form)));
        for (const bool single : {false, true}) {
          options.single_precision = single;
          options.turned_from      = grid.nodes() + 1;
          const Made plain(memory, grid, a, options);
          options.turned_from = 1;
          Made turned(memory, grid, a, options);
          const double tolerance = single ? 1e-3 : 1e-11;
          const auto b = random_field(grid.nodes(), random), x = random_field(grid.nodes(), random);
          ASSERT_EQ(turned.multigrid.levels()[0].lines, std::vector<int>{1});
          EXPECT_GT(turned.multigrid.levels()[0].bytes, plain.multigrid.levels()[0].bytes);
          for (int again = 0; again < 2; again++) {
            expect_near(turned.apply(b), plain.apply(b), tolerance);
            expect_near(turned.apply(b, Transpose::yes), plain.apply(b, Transpose::yes), tolerance);
            expect_near(turned.iterate(b, x, false, {}), plain.iterate(b, x, false, {}), tolerance);
            expect_near(turned.iterate(b, x, true, {}), plain.iterate(b, x, true, {}), tolerance);
            turned.read(a);
          }
          for (std::size_t k = 0; k < plain.multigrid.levels().size(); k++) {
            const auto level = static_cast<int>(k);
            EXPECT_EQ(turned.multigrid.levels()[k].grid, plain.multigrid.levels()[k].grid);
            EXPECT_EQ(turned.multigrid.levels()[k].coarsened, plain.multigrid.levels()[k].coarsened);
            EXPECT_LT(apart(reference::dense(turned.multigrid.operator_of(level)), reference::dense(plain.multigrid.operator_of(level))),
                      1e-11);
            if (k + 1 == plain.multigrid.levels().size()) continue;
            EXPECT_LT(apart(reference::dense(turned.multigrid.interpolation_of(level)),
                            reference::dense(plain.multigrid.interpolation_of(level))),
                      1e-11);
          }
          // Strong along x now, a zero on the diagonal, and back.
          const Dense other = random_operator(grid, Form::box, random);
          turned.read(other);
          expect_near(turned.apply(b), Made(memory, grid, other, options).apply(b), tolerance);
          turned.read(a);
          Dense wrong   = a;
          wrong(11, 11) = 0;
          turned.read(wrong);
          ASSERT_TRUE(turned.multigrid.fault());
          EXPECT_EQ(turned.multigrid.fault()->node, 11);
          wrong(11, 11) = std::numeric_limits<double>::quiet_NaN();
          turned.read(a);
          turned.read(wrong);
          ASSERT_TRUE(turned.multigrid.fault());
          EXPECT_EQ(turned.multigrid.fault()->node, 11);
          turned.read(a);
          expect_near(turned.apply(b), plain.apply(b), tolerance);
        }
      }
    }
  }
}

/// Lines along y that are to be turned, one of which is singular by itself: points relax, as where nothing is turned.
TEST(BoxmgTurned, LinesHaveFactors)
{
  std::mt19937 random(26);
  const boxmg::Grid grid = grid_of({9, 12});
  Dense a(grid.nodes(), grid.nodes());
  const auto couple = [&](Index i, Index j, double by) {
    a(i, j) = a(j, i) = -by;
    a(i, i) += by;
    a(j, j) += by;
  };
  for (Index i = 0; i < a.rows; i++) {
    if (i % 9 > 0) a(i, i) += 1;
    if (i % 9 > 0 && i % 9 < 8) couple(i, i + 1, 1);
    if (i + 9 < a.rows) couple(i, i + 9, i % 9 > 0 ? 1e4 : 1);
  }
  for (const Memory memory : memories()) {
    BoxmgOptions options;
    options.coarsest_nodes = 20;
    options.turned_from    = grid.nodes() + 1;
    const Made plain(memory, grid, a, options);
    ASSERT_FALSE(plain.multigrid.fault());
    ASSERT_TRUE(plain.multigrid.levels()[0].lines.empty());
    options.turned_from = 1;
    Made made(memory, grid, a, options);
    const auto b = a * random_field(grid.nodes(), random);
    for (int again = 0; again < 2; again++) {
      EXPECT_FALSE(made.multigrid.fault());
      EXPECT_TRUE(made.multigrid.levels()[0].lines.empty());
      expect_near(made.apply(b), plain.apply(b), 1e-11);
      made.read(a);
    }
  }
}

} // namespace
} // namespace weft::test
