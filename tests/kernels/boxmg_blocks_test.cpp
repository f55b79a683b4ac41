// BoxMultigrid of several unknowns a node beside a plain multigrid on dense matrices.
#include "boxmg_problem.hpp"
#include "line/blocks/block_lines.hpp"

namespace weft::test {
namespace {

std::vector<boxmg::Grid> grids()
{
  return {grid_of({11}),    grid_of({13}, {0}),      grid_of({7, 6}),    grid_of({9, 5}, {0}),       grid_of({7, 10}, {0, 1}),
          grid_of({3, 14}), grid_of({1, 8, 6}, {2}), grid_of({5, 4, 5}), grid_of({4, 3, 6}, {0, 2}), grid_of({5, 5, 3}, {0, 1, 2})};
}

/// A_cd of a matrix whose row node * unknowns + c is the equation of unknown c.
Dense pair_of(const Dense &a, Index unknowns, Index c, Index d)
{
  Dense pair(a.rows / unknowns, a.columns / unknowns);
  for (Index i = 0; i < pair.rows; i++)
    for (Index j = 0; j < pair.columns; j++) pair(i, j) = a(i * unknowns + c, j * unknowns + d);
  return pair;
}
void put_pair(Dense &a, Index unknowns, Index c, Index d, const Dense &pair)
{
  for (Index i = 0; i < pair.rows; i++)
    for (Index j = 0; j < pair.columns; j++) a(i * unknowns + c, j * unknowns + d) = pair(i, j);
}

/// Random couplings of all unknowns, diagonals that dominate rows and columns. The first and the last of three and more do not couple, and the second couples to the first at
/// its own node alone.
Dense random_blocks(const boxmg::Grid &grid, Index unknowns, Form form, std::mt19937 &random)
{
  Dense a(grid.nodes() * unknowns, grid.nodes() * unknowns);
  for (Index c = 0; c < unknowns; c++) {
    put_pair(a, unknowns, c, c, random_operator(grid, form, random));
    for (Index d = 0; d < c; d++) {
      if (c == unknowns - 1 && d == 0 && unknowns > 2) continue;
      Dense pair = random_operator(grid, Form::skew, random);
      for (Index i = 0; i < pair.rows; i++) {
        for (Index j = 0; j < pair.columns; j++) pair(i, j) *= d == 0 && i != j ? 0 : -0.1;
      }
      put_pair(a, unknowns, c, d, pair);
      if (form == Form::skew)
        for (double &entry : pair.a) entry *= 2;
      put_pair(a, unknowns, d, c, pair.transposed());
    }
  }
  for (Index row = 0; row < a.rows; row++) {
    double others = 0, back = 0;
    for (Index column = 0; column < a.columns; column++) {
      const bool own = column % unknowns == row % unknowns;
      others += own ? 0 : std::abs(a(row, column));
      back += column == row ? 0 : std::abs(a(column, row));
    }
    a(row, row) = std::max(a(row, row) + others, 1.1 * back);
  }
  return a;
}

/// Interpolation of an unknown from a, all of whose unknowns couple to neighbours of their kind: from A_cc, or its symmetric part, without what the others
/// balance of the diagonal.
Dense interpolation(const Dense &a, Index unknowns, Index c, bool symmetric_part, const boxmg::Grid &grid, boxmg::Directions coarsened)
{
  Dense own = pair_of(a, unknowns, c, c), from = own;
  for (Index i = 0; symmetric_part && i < own.rows; i++)
    for (Index j = 0; j < own.columns; j++) from(i, j) = (own(i, j) + own(j, i)) / 2;
  for (Index node = 0; node < own.rows; node++) {
    Dense sums(unknowns, unknowns);
    for (Index p = 0; p < unknowns; p++)
      for (Index j = 0; j < a.columns; j++) sums(p, j % unknowns) += a(node * unknowns + p, j);
    std::vector<double> unit(static_cast<std::size_t>(unknowns), 0);
    unit[static_cast<std::size_t>(c)] = 1;
    const double left                 = 1 / solve(sums, unit)[static_cast<std::size_t>(c)];
    from(node, node) -= std::max(0.0, sums(c, c) - std::max(0.0, left));
  }
  return reference::Interpolation(from, grid, coarsened).matrix();
}
Dense interpolation_of_all(const Dense &a, Index unknowns, bool symmetric_part, const boxmg::Grid &grid, boxmg::Directions coarsened)
{
  Dense all(a.rows, boxmg::coarse(grid, coarsened).nodes() * unknowns);
  for (Index c = 0; c < unknowns; c++) put_pair(all, unknowns, c, c, interpolation(a, unknowns, c, symmetric_part, grid, coarsened));
  return all;
}

/// Whether the grid has a ring of two nodes, in which the neighbours on both sides are one, and are seen as two.
bool has_ring_of_two(const boxmg::Grid &grid)
{
  bool has = false;
  for (int d = 0; d < 3; d++) has = has || (grid.periodic[d] && grid.n[d] == 2);
  return has;
}

/// Levels with the kernels' choices, and with operators and interpolations of their own, compared with the kernels'.
reference::Multigrid twin_of(const BoxMultigrid<double> &multigrid, const Dense &a, Index unknowns, const BoxmgOptions &options)
{
  reference::Multigrid twin{{}, options.sweeps, options.cycle};
  twin.unknowns     = unknowns;
  const auto levels = multigrid.levels();
  Dense operator_   = a;
  for (std::size_t k = 0; k < levels.size(); k++) {
    const auto &l    = levels[k];
    const int number = static_cast<int>(k);
    reference::Multigrid::Level level{l.grid, l.lines, l.direct, operator_, {}, {}};
    if (k + 1 < levels.size()) {
      level.p = reference::dense(multigrid.interpolation_of(number));
      level.r = reference::dense(multigrid.restriction_of(number));
      if (!has_ring_of_two(l.grid)) {
        const bool symmetric = multigrid.symmetric();
        EXPECT_LT(apart(level.p, interpolation_of_all(operator_, unknowns, !symmetric, l.grid, l.coarsened)), 1e-12);
        const Dense &of = symmetric ? operator_ : operator_.transposed();
        EXPECT_LT(apart(level.r, interpolation_of_all(of, unknowns, false, l.grid, l.coarsened)), 1e-12);
      }
      operator_         = level.r.transposed() * operator_ * level.p;
      const Dense there = reference::dense(multigrid.operator_of(number + 1));
      if (k > 0 && has_ring_of_two(levels[k + 1].grid)) operator_ = there;
      EXPECT_LT(apart(there, operator_), 1e-13);
    }
    twin.levels.push_back(level);
  }
  return twin;
}

std::vector<BoxmgSmoother> smoothers()
{
  return {BoxmgSmoother::automatic, BoxmgSmoother::lines, BoxmgSmoother::alternating, BoxmgSmoother::points};
}

constexpr int largest = static_cast<int>(BlockLines::largest_block);

/// Needs lines of blocks of two unknowns, which a build with WEFT_LARGEST_BLOCK=1 has not.
class BoxmgBlocks : public testing::Test {
protected:
  void SetUp() override
  {
    if (largest < 2) GTEST_SKIP();
  }
};

TEST_F(BoxmgBlocks, CyclesAreThoseOfABook)
{
  std::mt19937 random(1);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids()) {
      for (const Form form : {Form::star, Form::box, Form::skew}) {
        for (const BoxmgSmoother smoother : smoothers()) {
          if (!sampled()) continue;
          BoxmgOptions options;
          options.unknowns       = std::min(2 + static_cast<int>(random() % 3), largest);
          options.smoother       = smoother;
          options.coarsest_nodes = 6;
          options.sweeps         = 1 + static_cast<int>(random() % 2);
          options.cycle          = static_cast<BoxmgCycle>(1 + random() % 3);
          const Index unknowns   = options.unknowns;
          const Dense a          = random_blocks(grid, unknowns, form, random);
          const Made made(memory, grid, a, options);
          SCOPED_TRACE("grid " + std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) + ", " +
                       std::to_string(unknowns) + " unknowns, form " + std::to_string(static_cast<int>(form)) + ", smoother " +
                       std::to_string(static_cast<int>(smoother)));
          ASSERT_FALSE(made.multigrid.fault());
          EXPECT_EQ(made.multigrid.symmetric(), form != Form::skew);
          EXPECT_TRUE(made.multigrid.dominant());
          EXPECT_LT(apart(reference::dense(made.multigrid.operator_of(0)), a), 1e-15);
          const auto b = random_field(a.rows, random), c = random_field(a.rows, random);
          auto twin = twin_of(made.multigrid, a, unknowns, options);
          expect_near(made.apply(b), twin.apply(b), 1e-11);
          // The transpose, and symmetry.
          const double there = dot(c, made.apply(b)), back = dot(made.apply(c, Transpose::yes), b);
          const double size = std::sqrt(dot(c, c) * dot(made.apply(b), made.apply(b)));
          EXPECT_NEAR(there, back, 1e-12 * size);
          if (form != Form::skew && options.cycle != BoxmgCycle::f) {
            EXPECT_NEAR(there, dot(made.apply(c), b), 1e-12 * size);
          }
          double of_rhs = -1;
          EXPECT_EQ(made.iterate(b, c, true, [&](double norm) { return of_rhs = norm, true; }), std::vector<double>(c.size(), 0));
          EXPECT_NEAR(of_rhs, std::sqrt(dot(b, b)), 1e-13 * of_rhs);
          // A step from c, whose sweeps run in one order.
          twin.mirrored = false;
          auto left     = b;
          const auto ac = a * c;
          for (std::size_t i = 0; i < left.size(); i++) left[i] -= ac[i];
          auto wanted = twin.apply(left);
          for (std::size_t i = 0; i < left.size(); i++) wanted[i] += c[i];
          double told = -1;
          expect_near(made.iterate(b, c, false, [&](double norm) { return told = norm, false; }), wanted, 1e-11);
          EXPECT_NEAR(told, std::sqrt(dot(left, left)), 1e-12 * told);
          EXPECT_EQ(made.iterate(b, c, false, [](double) { return true; }), c);
        }
      }
    }
  }
}

/// New values of the pattern, of a smaller one and of another one make the multigrid that a fresh one is.
TEST_F(BoxmgBlocks, NewValues)
{
  std::mt19937 random(3);
  for (const Memory memory : memories()) {
    const boxmg::Grid grid = grid_of({9, 8});
    BoxmgOptions options;
    options.unknowns       = std::min(3, largest);
    options.coarsest_nodes = 6;
    const auto b           = random_field(grid.nodes() * options.unknowns, random);
    Made made(memory, grid, random_blocks(grid, options.unknowns, Form::star, random), options);
    bool larger = false; // than of a star, once
    for (const Form form : {Form::star, Form::skew, Form::box, Form::star}) {
      const Dense a = random_blocks(grid, options.unknowns, form, random);
      made.read(a);
      const Made fresh(memory, grid, a, options);
      // The stencil of a pair stays while it does, and a device adds up products of the places that it has in another order.
      larger = larger || form != Form::star;
      if (memory == Memory::host || !larger || form != Form::star)
        EXPECT_EQ(made.apply(b), fresh.apply(b));
      else
        expect_near(made.apply(b), fresh.apply(b), 1e-13);
    }
  }
}

/// A second unknown that has no couplings to neighbours follows the first, one that has none at a node alone is interpolated linearly there.
TEST_F(BoxmgBlocks, FollowersAreInterpolated)
{
  std::mt19937 random(4);
  const boxmg::Grid grid = grid_of({9, 7});
  BoxmgOptions options;
  options.unknowns       = 2;
  options.coarsest_nodes = 6;
  options.smoother       = BoxmgSmoother::alternating;
  options.coarsen        = 3;
  for (const Memory memory : memories()) {
    Dense a         = random_blocks(grid, 2, Form::star, random);
    const Index one = grid.node({3, 0, 0}), both = grid.node({5, 3, 0}), none = grid.node({5, 4, 0});
    for (const Index node : {one, both, none}) {
      for (Index j = 0; j < a.columns; j++) {
        if (j % 2 == 1 && j != node * 2 + 1) a(node * 2 + 1, j) = 0;
        if (node == none && j != node * 2 + 1) a(node * 2 + 1, j) = a(j, node * 2 + 1) = 0; // a known value
      }
    }
    const Dense p = pair_of(reference::dense(Made(memory, grid, a, options).multigrid.interpolation_of(0)), 2, 1, 1);
    for (const Index to : {1, 2}) EXPECT_EQ(p(one, to), 0.5);
    for (const Index to : {7, 8, 12, 13}) EXPECT_EQ(p(both, to), 0.25);
    for (const Index to : {12, 13}) EXPECT_EQ(p(none, to), 0);
    for (Index i = 0; i < a.rows; i++) {
      for (Index j = 0; j < a.columns; j++) {
        if (i != j && i % 2 == 1 && j % 2 == 1) a(i, j) = 0;
      }
    }
    const Dense all = reference::dense(Made(memory, grid, a, options).multigrid.interpolation_of(0));
    EXPECT_EQ(apart(pair_of(all, 2, 1, 1), pair_of(all, 2, 0, 0)), 0);
  }
}

TEST_F(BoxmgBlocks, Faults)
{
  using Kind = BoxmgFault::Kind;
  std::mt19937 random(5);
  const boxmg::Grid grid = grid_of({6, 5});
  BoxmgOptions options;
  options.unknowns       = 2;
  options.coarsest_nodes = 6;
  const Dense a          = random_blocks(grid, 2, Form::star, random);
  for (const Memory memory : memories()) {
    const auto fault = [&](Index row, Index column, double value) {
      Dense changed        = a;
      changed(row, column) = value;
      return Made(memory, grid, changed, options).multigrid.fault();
    };
    const auto is = [](const std::optional<BoxmgFault> &found, Kind kind, Index node, int unknown) {
      return found && found->kind == kind && found->level == 0 && found->node == node && found->unknown == unknown;
    };
    EXPECT_TRUE(is(fault(15, 15, 0), Kind::zero_diagonal, 7, 1));
    EXPECT_TRUE(is(fault(14, 15, std::numeric_limits<double>::quiet_NaN()), Kind::not_finite, 7, 0));
    EXPECT_TRUE(is(fault(15, 15, -1), Kind::indefinite, 7, 1));
    EXPECT_THROW(fault(0, 50, 1), std::invalid_argument);
    // Points have blocks that cannot be inverted.
    Dense singular = a;
    for (const Index row : {14, 15})
      for (Index j = 0; j < a.columns; j++) singular(row, j) = j == 14 || j == 15 ? 1 : 0;
    EXPECT_TRUE(is(Made(memory, grid, singular, options).multigrid.fault(), Kind::line_pivot, 7, 0));
    EXPECT_FALSE(fault(15, 15, 100));
    // (I, I; I, I + N) is regular, and pivots of its diagonal leave N.
    const boxmg::Grid line = grid_of({4});
    Dense regular(8, 8);
    for (Index i = 0; i < 8; i++)
      for (Index j = 0; j < 8; j++)
        regular(i, j) = i / 2 == j / 2 ? 1 : i % 2 == 1 && j % 2 == 1 && std::abs(i - j) == 2 ? (i < j ? 1 : -1) : 0;
    EXPECT_TRUE(Made(memory, line, regular, options).multigrid.fault()->kind == Kind::coarsest_pivots);
  }
  for (const int unknowns : {0, largest + 1}) {
    options.unknowns = unknowns;
    EXPECT_THROW(Made(Memory::host, grid, options), std::invalid_argument);
  }
}

} // namespace
} // namespace weft::test
