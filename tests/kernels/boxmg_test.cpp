#include "boxmg/box_multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "boxmg/choose.hpp"
#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

std::vector<boxmg::Grid> grids()
{
  return {grid_of({9}),
          grid_of({12}, {0}),
          grid_of({7, 6}),
          grid_of({8, 5}, {0}),
          grid_of({7, 9}, {0, 1}),
          grid_of({3, 14}),
          grid_of({1, 8, 6}, {2}),
          grid_of({5, 4, 5}),
          grid_of({5, 6, 2}),
          grid_of({4, 3, 6}, {0, 2}),
          grid_of({5, 5, 3}, {0, 1, 2}),
          stack_of({3, 6, 5}, 0),
          stack_of({5, 3, 4}, 1, {0}),
          stack_of({6, 3, 2}, 2, {1}),
          stack_of({9, 3}, 1)};
}

/// Whether convection is strong in an operator: what src/boxmg/choose.hpp asks for, from the matrix.
bool convects(const Dense &a)
{
  double share = 0, nodes = 0;
  for (Index i = 0; i < a.rows; i++) {
    bool couples = false;
    for (Index j = 0; j < a.rows; j++) {
      if (j == i) continue;
      couples = couples || a(i, j) != 0;
      share += std::abs(a(i, j) - a(j, i)) / (2 * std::abs(a(i, i)));
    }
    nodes += couples;
  }
  return nodes > 0 && share >= nodes / 2;
}

reference::Multigrid twin_of(const BoxMultigrid<double> &multigrid, const Dense &a, const BoxmgOptions &options, bool star = false,
                             Memory memory = Memory::host);

/// The planes across some directions by their colours: the twins of multigrids for what couples in them.
std::vector<std::shared_ptr<const reference::Multigrid::Planes>> planes_of(const boxmg::Grid &grid, const std::vector<int> &across,
                                                                           const Dense &a, const BoxmgOptions &options)
{
  std::vector<std::shared_ptr<const reference::Multigrid::Planes>> all;
  for (const int d : across) {
    for (int colour = 0; colour < 3; colour++) {
      reference::Multigrid::Planes planes;
      std::vector<Index> place;
      for (Index node = 0; node < grid.nodes(); node++) {
        Index at[3];
        grid.position(node, at);
        if (reference::Multigrid::colour(grid, d, at[d]) != colour) continue;
        planes.nodes.push_back(node);
        place.push_back(at[d]);
      }
      if (place.empty()) continue;
      const auto n = static_cast<Index>(place.size());
      Dense within(n, n);
      for (Index i = 0; i < n; i++) {
        for (Index j = 0; j < n; j++) {
          const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(j);
          if (place[from] == place[to]) within(i, j) = a(planes.nodes[from], planes.nodes[to]);
        }
      }
      boxmg::Grid stack = grid;
      stack.n[d]        = n / (grid.nodes() / grid.n[d]);
      stack.apart[d]    = true;
      const Made made(Memory::host, stack, within, boxmg::options_in_planes(options));
      planes.cycle = twin_of(made.multigrid, within, boxmg::options_in_planes(options));
      all.push_back(std::make_shared<reference::Multigrid::Planes>(planes));
    }
  }
  return all;
}

/// Levels as the kernels made them, with P and R of the reference. star: of the operator; on a device its lines in space have two colours, where
/// distances tell the neighbours.
reference::Multigrid twin_of(const BoxMultigrid<double> &multigrid, const Dense &a, const BoxmgOptions &options, bool star, Memory memory)
{
  reference::Multigrid twin{{}, options.sweeps, options.cycle};
  const boxmg::Grid grid = multigrid.levels().front().grid;
  twin.chessboard        = star && memory == Memory::device;
  for (int d = 0; d < 3; d++) twin.chessboard = twin.chessboard && grid.n[d] > 2 && !grid.periodic[d] && !grid.apart[d];
  const auto levels = multigrid.levels();
  Dense operator_   = a;
  for (std::size_t k = 0; k < levels.size(); k++) {
    const auto &l = levels[k];
    reference::Multigrid::Level level{l.grid, l.lines, l.direct, operator_, {}, {}, planes_of(l.grid, l.planes, operator_, options)};
    if (k + 1 < levels.size()) {
      level.p           = reference::dense(multigrid.interpolation_of(static_cast<int>(k)));
      level.r           = reference::dense(multigrid.restriction_of(static_cast<int>(k)));
      const bool strong = convects(operator_);
      operator_         = level.r.transposed() * operator_ * level.p;
      if (strong && k > 0) operator_ = reference::with_diffusion(operator_);
      // In a ring of two nodes the neighbours on both sides are one, and are seen as two.
      const boxmg::Grid &next = levels[k + 1].grid;
      for (int d = 0; d < 3; d++) {
        if (k > 0 && next.periodic[d] && next.n[d] == 2) operator_ = reference::dense(multigrid.operator_of(static_cast<int>(k) + 1));
      }
      EXPECT_LT(apart(reference::dense(multigrid.operator_of(static_cast<int>(k) + 1)), operator_), 1e-13);
    }
    twin.levels.push_back(level);
  }
  return twin;
}

TEST(Boxmg, CyclesAreThoseOfABook)
{
  std::mt19937 random(1);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids()) {
      for (const Form form : {Form::star, Form::box, Form::skew, Form::flow}) {
        for (const BoxmgSmoother smoother :
             {BoxmgSmoother::automatic, BoxmgSmoother::lines, BoxmgSmoother::alternating, BoxmgSmoother::points}) {
          if (!sampled()) continue;
          BoxmgOptions options;
          options.smoother       = smoother;
          options.coarsest_nodes = 6;
          options.sweeps         = 1 + static_cast<int>(random() % 2);
          options.cycle          = static_cast<BoxmgCycle>(1 + random() % 3);
          const Dense a          = random_operator(grid, form, random);
          const Made made(memory, grid, a, options);
          SCOPED_TRACE("grid " + std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) +
                       ", form " + std::to_string(static_cast<int>(form)) + ", smoother " + std::to_string(static_cast<int>(smoother)));
          ASSERT_FALSE(made.multigrid.fault());
          EXPECT_EQ(made.multigrid.symmetric(), form < Form::skew);
          const auto b    = random_field(grid.nodes(), random);
          const auto twin = twin_of(made.multigrid, a, options, form == Form::star, memory);
          expect_near(made.apply(b), twin.apply(b), 1e-11);
          // The transpose, and symmetry.
          const auto c       = random_field(grid.nodes(), random);
          const double there = dot(c, made.apply(b)), back = dot(made.apply(c, Transpose::yes), b);
          const double size = std::sqrt(dot(c, c) * dot(made.apply(b), made.apply(b)));
          EXPECT_NEAR(there, back, 1e-12 * size);
          if (form < Form::skew && options.cycle != BoxmgCycle::f) {
            EXPECT_NEAR(there, dot(made.apply(c), b), 1e-12 * size);
          }
        }
      }
    }
  }
}

/// How the first of two colours is relaxed in a step, which it is in the plane and for stars in space, by the matrix; nothing where there are others.
std::optional<double> omega_of(const BoxmgLevel &finest, const Dense &a, bool star)
{
  const boxmg::Grid &grid = finest.grid;
  const bool plane        = std::count(std::begin(grid.n), std::end(grid.n), 1) > 0;
  if (finest.direct || finest.lines.size() != 1 || grid.stack() || !(plane || star)) return std::nullopt;
  boxmg::Strengths strengths;
  for (int d = 0; d < 3; d++) {
    if (d != finest.lines[0] && grid.periodic[d] && grid.n[d] % 2 != 0) return std::nullopt;
    for (Index i = 0; i < a.rows; i++) {
      double below = 0, above = 0;
      for (Index j = 0; j < a.rows; j++) {
        Index from[3], to[3];
        grid.position(i, from);
        grid.position(j, to);
        if (to[d] == from[d]) continue;
        const bool next = to[d] == from[d] + 1 || (to[d] == 0 && from[d] == grid.n[d] - 1);
        (next ? above : below) += a(i, j);
      }
      strengths.along[d] += (std::abs(below) + std::abs(above)) / std::abs(a(i, i));
    }
  }
  double coupled = 0;
  for (Index i = 0; i < a.rows; i++) {
    double beside = 0;
    for (Index j = 0; j < a.rows; j++) beside += j == i ? 0 : std::abs(a(i, j));
    coupled += beside > 0;
  }
  return boxmg::over_relaxation(grid, strengths, coupled, {finest.lines, finest.coarsened});
}

/// A step from x adds what a cycle makes of the residual, one that is not mirrored but for convection, and tells the norm in between.
TEST(Boxmg, StepsAreThoseOfABook)
{
  std::mt19937 random(7);
  int over_relaxed = 0;
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids()) {
      for (const Form form : {Form::star, Form::box, Form::skew, Form::flow}) {
        for (const BoxmgSmoother smoother :
             {BoxmgSmoother::automatic, BoxmgSmoother::lines, BoxmgSmoother::alternating, BoxmgSmoother::planes, BoxmgSmoother::points}) {
          if (!sampled()) continue;
          BoxmgOptions options;
          options.smoother       = smoother;
          options.coarsest_nodes = 1 + static_cast<Index>(random() % 2) * 100; // or the finest level is solved for
          options.sweeps         = 1 + static_cast<int>(random() % 2);
          options.cycle          = static_cast<BoxmgCycle>(1 + random() % 3);
          const Dense a          = random_operator(grid, form, random);
          const Made made(memory, grid, a, options);
          SCOPED_TRACE("grid " + std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) +
                       ", form " + std::to_string(static_cast<int>(form)) + ", smoother " + std::to_string(static_cast<int>(smoother)));
          ASSERT_FALSE(made.multigrid.fault());
          auto twin     = twin_of(made.multigrid, a, options, form == Form::star, memory);
          twin.mirrored = convects(a); // and else not
          if (const auto omega = omega_of(made.multigrid.levels().front(), a, form == Form::star);
              omega && form < Form::skew && options.sweeps == 1) {
            twin.omega = *omega;
            over_relaxed += *omega > 1.01;
            twin.chessboard = true;
          }
          const auto b = random_field(grid.nodes(), random), x = random_field(grid.nodes(), random);
          expect_near(made.iterate(b, x, true, {}), twin.apply(b), 1e-11);
          std::vector<double> all;
          expect_near(made.iterate(b, x, true, [&](double norm) { return all.push_back(norm), false; }), twin.apply(b), 1e-11);
          ASSERT_EQ(all.size(), 2u);
          EXPECT_NEAR(all[0], std::sqrt(dot(b, b)), 1e-13 * all[0]);
          auto residual = b;
          const auto ax = a * x;
          for (std::size_t i = 0; i < b.size(); i++) residual[i] -= ax[i];
          auto wanted = twin.apply(residual);
          for (std::size_t i = 0; i < b.size(); i++) wanted[i] += x[i];
          double told = -1;
          expect_near(made.iterate(b, x, false, [&](double norm) { return told = norm, false; }), wanted, 1e-11);
          const auto swept = twin.swept(b, x);
          EXPECT_NEAR(told, std::sqrt(dot(swept, swept)), 1e-11 * std::sqrt(dot(residual, residual)));
          const auto ended = made.iterate(b, x, false, [](double) { return true; });
          auto left        = b;
          const auto there = a * ended;
          for (std::size_t i = 0; i < b.size(); i++) left[i] -= there[i];
          EXPECT_NEAR(told, std::sqrt(dot(left, left)), 1e-11 * std::sqrt(dot(residual, residual)));
          options.single_precision = true;
          expect_near(Made(memory, grid, a, options).iterate(b, x, true, {}), twin.apply(b), 1e-4);
        }
      }
    }
  }
  EXPECT_GT(over_relaxed, 0);
}

TEST(Boxmg, InterpolationIsThatOfTheOperator)
{
  std::mt19937 random(2);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids()) {
      for (const Form form : {Form::star, Form::box, Form::skew, Form::flow}) {
        BoxmgOptions options;
        options.coarsest_nodes = 1;
        options.levels         = 2;
        const Dense a          = random_operator(grid, form, random);
        const Made made(memory, grid, a, options);
        const auto coarsened = made.multigrid.levels()[0].coarsened;
        ASSERT_NE(coarsened, 0u);
        const Dense t = a.transposed();
        Dense both    = a;
        for (std::size_t k = 0; k < both.a.size(); k++) both.a[k] = (a.a[k] + t.a[k]) / 2;
        const auto known = [&](const Dense &part) {
          const Dense seen = convects(a) ? reference::without_wrong_signs(part) : part;
          return reference::Interpolation(seen, grid, coarsened).matrix();
        };
        EXPECT_EQ(convects(a), form == Form::flow);
        EXPECT_LT(apart(reference::dense(made.multigrid.interpolation_of(0)), known(both)), 1e-13);
        EXPECT_LT(apart(reference::dense(made.multigrid.restriction_of(0)), known(t)), 1e-13);
      }
    }
  }
}

TEST(Boxmg, NewValuesAreThoseOfAFreshOne)
{
  std::mt19937 random(3);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids()) {
      BoxmgOptions options;
      options.coarsest_nodes = 6;
      const Dense first = random_operator(grid, Form::star, random), again = random_operator(grid, Form::star, random),
                  box = random_operator(grid, Form::box, random), skew = random_operator(grid, Form::skew, random);
      Made made(memory, grid, first, options);
      const auto b = random_field(grid.nodes(), random);
      for (const Dense *a : {&again, &box, &first, &again, &skew, &first}) {
        made.read(*a);
        const Made fresh(memory, grid, *a, options);
        // A stencil stays while it does, and on a device lines of a star in space have two colours, those of a box four.
        if (memory == Memory::host || made.multigrid.levels().front().points == fresh.multigrid.levels().front().points) {
          EXPECT_EQ(made.apply(b), fresh.apply(b));
        }
      }
    }
  }
}

TEST(Boxmg, SingleCyclesAreNearDoubleOnes)
{
  std::mt19937 random(4);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : grids()) {
      BoxmgOptions options;
      options.coarsest_nodes   = 6;
      const Dense a            = random_operator(grid, Form::skew, random);
      const auto b             = random_field(grid.nodes(), random);
      const auto exact         = Made(memory, grid, a, options).apply(b);
      options.single_precision = true;
      const auto rounded       = Made(memory, grid, a, options).apply(b);
      expect_near(rounded, exact, 1e-4);
      EXPECT_NE(rounded, exact);
    }
  }
}

TEST(Boxmg, PlanesAreRelaxedByCyclesOfTheirOwn)
{
  std::mt19937 random(7);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : {grid_of({4, 7, 5}), grid_of({6, 3, 7}, {0, 1}), grid_of({6, 6, 5}, {2}), grid_of({3, 9, 4})}) {
      for (const Form form : {Form::star, Form::box, Form::skew}) {
        for (const double weak : {1.0, 1e-3}) {
          BoxmgOptions options;
          options.smoother       = BoxmgSmoother::planes;
          options.coarsest_nodes = 20;
          options.sweeps         = 1 + static_cast<int>(random() % 2);
          options.cycle          = static_cast<BoxmgCycle>(1 + random() % 3);
          if (random() % 2) options.coarsest = BoxmgCoarsest::lines;
          Dense a = random_operator(grid, form, random);
          // Couplings along x in one half, and along y in the other, are weak.
          for (Index i = 0; i < a.rows; i++) {
            for (Index j = 0; j < i; j++) {
              Index at[3], to[3];
              grid.position(i, at);
              grid.position(j, to);
              const int d = std::min(at[2], to[2]) < grid.n[2] / 2 ? 0 : 1;
              if (at[d] == to[d]) continue;
              for (const auto &[row, column] : {std::pair(i, j), std::pair(j, i)}) {
                a(row, row) += (1 - weak) * a(row, column);
                a(row, column) *= weak;
              }
            }
          }
          const Made made(memory, grid, a, options);
          SCOPED_TRACE("grid " + std::to_string(grid.n[0]) + " x " + std::to_string(grid.n[1]) + " x " + std::to_string(grid.n[2]) +
                       ", form " + std::to_string(static_cast<int>(form)) + ", weak " + std::to_string(weak));
          ASSERT_FALSE(made.multigrid.fault());
          const auto levels = made.multigrid.levels();
          ASSERT_GT(levels.size(), 1u);
          EXPECT_GE(levels[0].planes.size(), weak < 1 ? 2u : 1u);
          const auto b    = random_field(grid.nodes(), random);
          const auto c    = random_field(grid.nodes(), random);
          const auto twin = twin_of(made.multigrid, a, options);
          const auto x    = made.apply(b);
          expect_near(x, twin.apply(b), 1e-10);
          const double there = dot(c, x), size = std::sqrt(dot(c, c) * dot(x, x));
          EXPECT_NEAR(there, dot(made.apply(c, Transpose::yes), b), 1e-12 * size);
          if (form != Form::skew && options.cycle != BoxmgCycle::f) {
            EXPECT_NEAR(there, dot(made.apply(c), b), 1e-12 * size);
          }
          options.single_precision = true;
          expect_near(Made(memory, grid, a, options).apply(b), x, 1e-4);
          // New values, of the same choices and of others.
          const Dense other = random_operator(grid, form, random);
          Made again(memory, grid, other, options);
          again.read(a);
          EXPECT_EQ(again.apply(b), Made(memory, grid, a, options).apply(b));
        }
      }
    }
  }
}

/// Grids of which the levels are small, or the coarser ones, on a device beside a host.
TEST(Boxmg, SmallLevelsAreThoseOfAHost)
{
  std::mt19937 random(8);
  std::uniform_real_distribution<double> any(0.1, 2);
  for (const Memory memory : memories()) {
    if (memory == Memory::host) continue;
    for (const auto &[grid, strong] :
         {std::pair{grid_of({97, 130}), 0}, std::pair{grid_of({289, 40}), 1}, std::pair{grid_of({33, 311}), 0},
          std::pair{grid_of({1, 64, 170}), 1}, std::pair{grid_of({288, 1, 5}), 0}, std::pair{grid_of({34, 20, 18}), 2},
          std::pair{grid_of({9, 70, 12}), 1}, std::pair{grid_of({33, 33, 33}), 3}}) {
      for (const BoxmgSmoother smoother : {BoxmgSmoother::automatic, BoxmgSmoother::alternating, BoxmgSmoother::planes}) {
        for (const bool single : {false, true}) {
          Rows a;
          for (Index node = 0; node < grid.nodes(); node++) {
            double sum = 0;
            for (int number = 0; number < 27; number++) { // of all neighbours, so that colours are those of a host in space too
              const boxmg::Offset by = boxmg::offset_of(number);
              Index at[3];
              grid.position(node, at);
              if (number == 13 || !grid.move(at, by)) continue;
              const double c =
                  any(random) *
                  (strong < 3 && by.d[strong] != 0 && std::abs(by.d[0]) + std::abs(by.d[1]) + std::abs(by.d[2]) == 1 ? 100 : 1);
              a.add(grid.node(at), -c);
              sum += c;
            }
            a.add(node, sum + any(random));
            a.end();
          }
          BoxmgOptions options;
          options.smoother         = smoother;
          options.single_precision = single;
          Made here(Memory::host, grid, options), there(memory, grid, options);
          here.read(a);
          there.read(a);
          const auto b = random_field(grid.nodes(), random), x = random_field(grid.nodes(), random);
          const double tolerance = single ? 1e-4 : 1e-11;
          expect_near(there.apply(b), here.apply(b), tolerance);
          expect_near(there.apply(b, Transpose::yes), here.apply(b, Transpose::yes), tolerance);
          expect_near(there.iterate(b, x, false, {}), here.iterate(b, x, false, {}), tolerance);
        }
      }
    }
  }
}

/// Neumann all round, or rings: constants are left out, and the rest is right.
TEST(Boxmg, SingularOperatorsAreSolvedWhereTheyCanBe)
{
  std::mt19937 random(5);
  for (const Memory memory : memories()) {
    for (const boxmg::Grid &grid : {grid_of({6, 5}), grid_of({9}), grid_of({4, 4, 3}), grid_of({6, 6}, {0, 1})}) {
      Dense a = random_operator(grid, Form::star, random);
      for (Index i = 0; i < a.rows; i++) {
        a(i, i) = 0;
        for (Index j = 0; j < a.columns; j++)
          if (j != i) a(i, i) -= a(i, j);
      }
      BoxmgOptions options; // one level: the inverse
      const Made made(memory, grid, a, options);
      ASSERT_FALSE(made.multigrid.fault());
      const auto b = a * random_field(grid.nodes(), random);
      expect_near(a * made.apply(b), b, 1e-10);
    }
  }
}

TEST(Boxmg, WhatCannotBeIsSaid)
{
  using Kind = BoxmgFault::Kind;
  std::mt19937 random(6);
  const boxmg::Grid grid = grid_of({7, 9});
  BoxmgOptions options;
  options.coarsest_nodes = 6;
  for (const Memory memory : memories()) {
    const Dense good = random_operator(grid, Form::box, random);
    Made made(memory, grid, good, options);
    const auto fault = [&](Index i, Index j, double value) {
      Dense a = good;
      a(i, j) = value;
      made.read(a);
      return made.multigrid.fault();
    };
    const auto nan = fault(11, 12, std::numeric_limits<double>::quiet_NaN());
    ASSERT_TRUE(nan && nan->kind == Kind::not_finite);
    EXPECT_EQ(nan->node, 11);
    const auto zero = fault(30, 30, 0);
    ASSERT_TRUE(zero && zero->kind == Kind::zero_diagonal);
    EXPECT_EQ(zero->node, 30);
    const auto sign = fault(20, 20, -5);
    ASSERT_TRUE(sign && sign->kind == Kind::indefinite);
    EXPECT_THROW(fault(0, 40, 1), std::invalid_argument);
    Dense shifted = good;
    for (Index i = 0; i < shifted.rows; i++) shifted(i, i) -= 2.5;
    made.read(shifted);
    ASSERT_TRUE(made.multigrid.fault());
    EXPECT_EQ(made.multigrid.fault()->kind, Kind::indefinite);
    made.read(good);
    EXPECT_FALSE(made.multigrid.fault());
    for (auto wrong : {&BoxmgOptions::sweeps, &BoxmgOptions::levels}) {
      BoxmgOptions bad;
      bad.*wrong = -1;
      EXPECT_THROW(BoxMultigrid<double>(made.execution, grid, bad), std::invalid_argument);
    }
  }
}

TEST(Boxmg, ChoosesByStrength)
{
  constexpr boxmg::Directions x = 1, y = 2, z = 4, all = 7;
  const auto chosen = [](std::initializer_list<Index> n, const boxmg::Strengths &strengths, bool symmetric = true) {
    return boxmg::choose(grid_of(n), strengths, symmetric, {});
  };
  using Lines = std::vector<int>;
  // not_strong: of an operator that is not symmetric, and of one that is.
  const auto couples = [](double along_x, double along_y, double along_z, boxmg::Directions not_strong, boxmg::Directions unlike) {
    return boxmg::Strengths{{along_x, along_y, along_z}, {not_strong, not_strong}, unlike};
  };
  const boxmg::Strengths alike{{1, 1, 0}, {all, z}, x | y};
  EXPECT_EQ(chosen({65, 65}, alike), (boxmg::Choice{Lines{0}, 3}));
  EXPECT_EQ(chosen({65, 65}, alike, false), (boxmg::Choice{Lines{1, 0}, 3}));
  EXPECT_EQ(chosen({65, 65}, couples(1, 1, 0, all, x | y)), (boxmg::Choice{Lines{1, 0}, 3}));
  EXPECT_EQ(chosen({65, 65}, couples(1, 1000, 0, x | z, all)), (boxmg::Choice{Lines{1}, 3}));
  EXPECT_EQ(chosen({65, 65, 65}, couples(1, 1, 1, 0, 0)), (boxmg::Choice{Lines{0}, 7}));
  EXPECT_EQ(chosen({65, 65, 65}, couples(1, 1000, 0.001, x | z, all)), (boxmg::Choice{Lines{1}, 3}));
  EXPECT_EQ(chosen({65, 65, 65}, couples(1, 1000, 1000, x, y | z)), (boxmg::Choice{Lines{1}, 6}));
  EXPECT_EQ(chosen({65, 65, 65}, couples(500, 500, 1, all, all)), (boxmg::Choice{Lines{1, 0}, 3}));
  // A mesh that is stretched along z: z is strong at one end and weak at the other, x and y are alike.
  EXPECT_EQ(chosen({65, 65, 65}, couples(1, 1, 2, all, x | y)), (boxmg::Choice{Lines{2}, 3}));
  // Two strong directions of three: planes where they vary, lines where the third is not coarsened. At a few nodes they do not count.
  boxmg::Strengths varies = couples(500, 500, 1000, x | y, all);
  const auto nodes        = [](double part) { return static_cast<std::uint32_t>(part * 65 * 65 * 65); };
  varies.across[x] = varies.outdone[0] = nodes(0.45);
  varies.across[y] = varies.outdone[1] = nodes(0.5);
  varies.across[x | y]                 = nodes(0.05);
  EXPECT_EQ(chosen({65, 65, 65}, varies), (boxmg::Choice{{}, all, {0, 1}}));
  varies.outdone[0] = varies.outdone[1] = nodes(0.05);
  EXPECT_EQ(chosen({65, 65, 65}, varies), (boxmg::Choice{Lines{2}, all}));
  boxmg::Strengths weak_x = couples(1, 1000, 1000, x, y | z);
  weak_x.across[x] = weak_x.outdone[0] = nodes(1);
  EXPECT_EQ(chosen({65, 65, 65}, weak_x), (boxmg::Choice{Lines{1}, 6}));
  BoxmgOptions planes;
  planes.smoother = BoxmgSmoother::planes;
  EXPECT_EQ(boxmg::choose(grid_of({65, 65, 65}), weak_x, true, planes), (boxmg::Choice{{}, all, {0}}));
  EXPECT_EQ(boxmg::choose(grid_of({65, 65, 65}), couples(1, 1, 1, 0, 0), true, planes), (boxmg::Choice{{}, all, {2}}));
  EXPECT_EQ(boxmg::choose(grid_of({65, 65}), alike, true, planes), (boxmg::Choice{Lines{0}, 3}));
  EXPECT_EQ(chosen({2, 65}, couples(1000, 1, 0, y | z, all)), (boxmg::Choice{Lines{1, 0}, 2}));
  // The strong direction of a plane changes at a line across y, then at one across x; at lines across both.
  boxmg::Strengths turns = couples(500, 500, 0, all, all);
  turns.jumps            = y;
  EXPECT_EQ(chosen({65, 65}, turns), (boxmg::Choice{Lines{1}, x}));
  EXPECT_EQ(chosen({2, 65}, turns), (boxmg::Choice{Lines{1, 0}, y}));
  turns.jumps = x;
  EXPECT_EQ(chosen({65, 65}, turns), (boxmg::Choice{Lines{0}, y}));
  turns.jumps = x | y;
  EXPECT_EQ(chosen({65, 65}, turns), (boxmg::Choice{Lines{1, 0}, 3}));
  BoxmgOptions all_coarsened;
  all_coarsened.coarsen = 3;
  turns.jumps           = y;
  EXPECT_EQ(boxmg::choose(grid_of({65, 65}), turns, true, all_coarsened), (boxmg::Choice{Lines{1, 0}, 3}));
}

/// The first of two colours is over-relaxed by what a coarser grid does not see.
TEST(Boxmg, OverRelaxesByStrength)
{
  const auto omega = [](std::initializer_list<Index> n, const double(&along)[3], boxmg::Choice choice) {
    return boxmg::over_relaxation(grid_of(n), {{along[0], along[1], along[2]}}, 0, choice);
  };
  EXPECT_NEAR(omega({1025, 1025, 1025}, {1, 1, 1}, {{0}, 7}), 1.5, 1e-12);
  EXPECT_NEAR(omega({1025, 1025}, {1, 1, 0}, {{0}, 3}), 1 / (1 - 3.0 / 16), 1e-12);
  EXPECT_NEAR(omega({65, 65, 65}, {1, 1e3, 1e3}, {{1}, 6}), 1 / (1 - 3.0 / 16), 1e-3);
  // Strong lines: as far as the smoothest mode along them couples across, mu = 1 / (1 + 1e3 (1 - cos(pi / 66))) = 0.469.
  EXPECT_NEAR(omega({65, 65, 65}, {1e-3, 1, 1e3}, {{2}, 6}), 1.198, 1e-3);
  EXPECT_NEAR(omega({1025, 1025}, {1, 1e4, 0}, {{1}, 3}), 1.5, 1e-4);
  EXPECT_NEAR(omega({1025, 1025}, {1, 10, 0}, {{1}, 3}), 1.5 - 0.6 / 11, 1e-3);
  // Diagonals that are twice what is beside them, as those of small time steps: mu = 2/3 becomes 1/3, and 2/5 of the smoothest mode.
  const auto stepped = [](double coupled) { return boxmg::over_relaxation(grid_of({1025, 1025, 1025}), {{1, 1, 1}}, coupled, {{0}, 7}); };
  EXPECT_NEAR(stepped(6), 1 / (1 - 0.75 * 0.16), 1e-3);
  EXPECT_NEAR(stepped(1e3 + 3), 1, 1e-5);
  // What rows at the ends lack is not the diagonals' own.
  EXPECT_NEAR(boxmg::over_relaxation(grid_of({65, 65}), {{1e-3, 1, 0}}, 1.001 * (1 + 1.0 / 65), {{1}, 3}),
              omega({65, 65}, {1e-3, 1, 0}, {{1}, 3}), 1e-12);
  // A direction that is coarsened although it is weak.
  EXPECT_NEAR(omega({65, 65}, {1e-3, 1, 0}, {{0}, 3}), 1.5, 1e-12);
  // Strong lines on a small grid solve for all.
  EXPECT_LT(omega({17, 17, 17}, {1, 1, 1e3}, {{2}, 7}), 1.02);
  EXPECT_EQ(omega({65, 65}, {1, 1, 0}, {{1, 0}, 3}), 1);
  EXPECT_EQ(omega({65, 65}, {1, 1, 0}, {{}, 3}), 1);
  EXPECT_EQ(omega({65}, {1, 0, 0}, {{0}, 1}), 1);
}

TEST(Boxmg, ChoosesCyclesByFlow)
{
  const auto cycle = [](std::initializer_list<Index> n, double share, double through) {
    return boxmg::cycle_for(grid_of(n), {}, {share, {through, 0, 0}, 100}, {});
  };
  EXPECT_EQ(cycle({65, 65}, 0, 0), BoxmgCycle::v);
  EXPECT_EQ(cycle({65, 65}, 90, -90), BoxmgCycle::v);
  EXPECT_EQ(cycle({65, 65}, 90, 40), BoxmgCycle::f);
  EXPECT_EQ(cycle({65, 65}, 40, 0), BoxmgCycle::v);
  EXPECT_EQ(cycle({65, 1025}, 90, 90), BoxmgCycle::f);
  EXPECT_EQ(cycle({1025, 1025}, 40, 40), BoxmgCycle::v);
  boxmg::Strengths jump;
  jump.jumps = 2;
  EXPECT_EQ(boxmg::cycle_for(grid_of({1025, 1025}), jump, {}, {{1, 0}, 3}), BoxmgCycle::w);
  EXPECT_EQ(boxmg::cycle_for(grid_of({1025, 1025}), jump, {}, {{1}, 3}), BoxmgCycle::v);
  EXPECT_EQ(boxmg::cycle_for(grid_of({257, 257}), jump, {}, {{1, 0}, 3}), BoxmgCycle::v);
  jump.jumps = 3;
  EXPECT_EQ(boxmg::cycle_for(grid_of({1025, 1025}), jump, {}, {{1}, 3}), BoxmgCycle::w);
  EXPECT_EQ(boxmg::cycle_for(grid_of({257, 257}), jump, {}, {{1}, 3}), BoxmgCycle::v);
  jump.corners = true;
  EXPECT_EQ(boxmg::cycle_for(grid_of({1025, 1025}), jump, {}, {{1}, 3}), BoxmgCycle::v);
}

/// Halves of products are mirrored where the matrix is symmetric, not where R and P alone have the same weights.
TEST(Boxmg, CoarseOperatorsOfLinearInterpolation)
{
  std::mt19937 random(12);
  for (const Memory memory : memories()) {
    for (const Form form : {Form::star, Form::skew}) {
      for (const boxmg::Grid &grid : {grid_of({9, 8}), grid_of({5, 6, 4})}) {
        const Dense a = random_operator(grid, form, random);
        BoxmgOptions options;
        options.interpolation  = BoxmgInterpolation::linear;
        options.coarsest_nodes = 6;
        const Made made(memory, grid, a, options);
        const Dense p = reference::dense(made.multigrid.interpolation_of(0)), r = reference::dense(made.multigrid.restriction_of(0));
        EXPECT_LT(apart(reference::dense(made.multigrid.operator_of(1)), r.transposed() * a * p), 1e-13);
      }
    }
  }
}

/// A coarse level of 27 points whose diagonals are no numbers, as sums overflow: all that is compared there differs, what would stand past the stencil's
/// end included, and a sanitizer stops where that is read.
TEST(Boxmg, CoarseLevelsThatAreNotFinite)
{
  std::mt19937 random(13);
  const boxmg::Grid grid = grid_of({7, 6, 9});
  Dense a                = random_operator(grid, Form::skew, random);
  for (Index i = 0; i < a.rows; i++) a(i, i) = 1;
  for (double &entry : a.a) entry *= std::numeric_limits<double>::max() / 2;
  BoxmgOptions options;
  options.smoother       = BoxmgSmoother::points;
  options.coarsest_nodes = 6;
  for (const Memory memory : memories()) {
    const Made made(memory, grid, a, options);
    const Dense coarse = reference::dense(made.multigrid.operator_of(1));
    EXPECT_TRUE(std::any_of(coarse.a.begin(), coarse.a.end(), [](double entry) { return std::isnan(entry); }));
  }
}

} // namespace
} // namespace weft::test
