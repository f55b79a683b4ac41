/// Coarse operators by rows and by lists of products, beside dense ones.
#include <cmath>

#include "boxmg/galerkin.hpp"
#include "boxmg/interpolation.hpp"
#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

using boxmg::Directions;

/// The stencil's coefficients of a dense operator.
std::vector<double> coefficients(const boxmg::Grid &grid, const boxmg::Stencil &stencil, const Dense &a)
{
  std::vector<double> values(static_cast<std::size_t>(stencil.count * grid.nodes()), 0);
  for (int k = 0; k < stencil.count; k++) {
    for (Index node = 0; node < grid.nodes(); node++) {
      Index at[3];
      grid.position(node, at);
      if (grid.move(at, stencil.offset[k])) values[static_cast<std::size_t>(k * grid.nodes() + node)] = a(node, grid.node(at));
    }
  }
  return values;
}

/// An interpolation as a dense matrix.
Dense dense(const boxmg::Transfer<double> &p, const std::vector<double> &weights)
{
  Dense all(p.fine.nodes(), p.coarse.nodes());
  for (Index node = 0; node < p.fine.nodes(); node++) {
    Index at[3];
    p.fine.position(node, at);
    for (int slot = 0; slot < p.slots(); slot++) {
      Index to[3];
      bool there = true;
      for (int d = 0; d < 3; d++) there = (to[d] = p.on_grid(d, at[d], slot)) >= 0 && there;
      const double weight = weights[static_cast<std::size_t>(slot * p.pitch + node)];
      if (there)
        all(node, p.coarse.node(to)) += weight;
      else
        EXPECT_EQ(weight, 0);
    }
  }
  return all;
}

struct Case {
  boxmg::Grid grid;
  Directions coarsened;
};

/// Even and odd numbers of nodes, all directions that are coarsened together, planes side by side.
std::vector<Case> cases()
{
  return {{grid_of({7, 9}), 3},    {grid_of({8, 3}), 3},        {grid_of({4, 6}), 3},       {grid_of({5, 7, 5}), 7},
          {grid_of({3, 4, 6}), 7}, {grid_of({6, 5, 3}), 3},     {grid_of({5, 2, 6}), 5},    {grid_of({2, 5, 6}), 6},
          {grid_of({4, 3, 7}), 6}, {stack_of({5, 6, 3}, 2), 3}, {stack_of({6, 3, 5}, 1), 5}};
}

template <class Space>
void compare(const Space &space, const Case &one, Form form, std::mt19937 &random)
{
  using boxmg::Part;
  const Dense a          = random_operator(one.grid, form, random);
  boxmg::Stencil stencil = boxmg::Stencil::box(one.grid);
  if (form == Form::star) {
    unsigned mask = 0;
    for (int k = 0; k < stencil.count; k++) {
      const boxmg::Offset o = stencil.offset[k];
      if (std::abs(o.d[0]) + std::abs(o.d[1]) + std::abs(o.d[2]) <= 1) mask |= 1u << o.number();
    }
    stencil = boxmg::Stencil(mask);
  }
  const auto values = to_backend<Space>(coefficients(one.grid, stencil, a));
  const boxmg::Operator<double> fine(one.grid, stencil, values.data(), one.grid.nodes());
  boxmg::Transfer<double> p(one.grid, one.coarsened);
  p.pitch         = one.grid.nodes();
  const auto made = [&](Part part) {
    const OwnedArray<double, Space> weights("weights", static_cast<std::size_t>(p.slots() * p.pitch));
    Kokkos::deep_copy(weights, std::nan(""));
    p.weights = weights.data();
    boxmg::start_weights(space, p, weights.data());
    boxmg::make_weights(space, fine, part, p, true, false, weights.data());
    return weights;
  };
  const bool symmetric   = form != Form::skew;
  const auto restriction = made(symmetric ? Part::whole : Part::transpose), interpolation = made(symmetric ? Part::whole : Part::symmetric);
  boxmg::Transfer<double> r        = p;
  r.weights                        = symmetric ? p.weights : restriction.data();
  const Dense expected             = dense(r, to_host(restriction)).transposed() * a * dense(p, to_host(interpolation));
  const boxmg::Stencil coarse      = boxmg::Stencil::box(p.coarse);
  const std::vector<double> wanted = coefficients(p.coarse, coarse, expected);
  double largest                   = 0;
  for (const double c : wanted) largest = std::max(largest, std::abs(c));
  const auto expect_equal = [&](const OwnedArray<double, Space> &found) {
    const std::vector<double> all = to_host(found);
    for (std::size_t i = 0; i < all.size(); i++) ASSERT_NEAR(all[i], wanted[i], 1e-14 * largest) << "coefficient " << i;
  };
  const auto empty = [&] {
    const OwnedArray<double, Space> found("coarse", wanted.size());
    Kokkos::deep_copy(found, std::nan(""));
    return found;
  };
  for (const bool half : {false, true}) {
    if (half && !symmetric) continue;
    const auto rows = empty(), products = empty();
    ASSERT_TRUE(boxmg::galerkin_by_rows(space, fine, r, p, coarse, rows.data(), p.coarse.nodes(), half));
    expect_equal(rows);
    boxmg::Products<Space> list;
    boxmg::galerkin_by_products(space, fine, r, p, coarse, list, products.data(), p.coarse.nodes(), half);
    expect_equal(products);
  }
}

TEST(BoxmgProducts, AreThoseOfDenseMatrices)
{
  std::mt19937 random(3);
  for (const Memory memory : memories()) {
    for (const Case &one : cases()) {
      for (const Form form : {Form::star, Form::box, Form::skew}) {
        SCOPED_TRACE("grid " + std::to_string(one.grid.n[0]) + " x " + std::to_string(one.grid.n[1]) + " x " +
                     std::to_string(one.grid.n[2]) + ", coarsened " + std::to_string(one.coarsened) + ", form " +
                     std::to_string(static_cast<int>(form)));
        on_backend(Execution(memory), [&](const auto &space) { compare(space, one, form, random); });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(BoxmgProducts, RowsLeaveTheRestToProducts)
{
  std::mt19937 random(5);
  for (const Memory memory : memories()) {
    for (const Case &one :
         {Case{grid_of({6, 5}, {0}), 3}, Case{grid_of({7, 5}), 1}, Case{grid_of({9}), 1}, Case{stack_of({5, 6, 3}, 0), 6}}) {
      on_backend(Execution(memory), [&]<class Space>(const Space &space) {
        const boxmg::Stencil stencil = boxmg::Stencil::box(one.grid);
        const auto values            = to_backend<Space>(coefficients(one.grid, stencil, random_operator(one.grid, Form::box, random)));
        const boxmg::Operator<double> fine(one.grid, stencil, values.data(), one.grid.nodes());
        const boxmg::Transfer<double> p(one.grid, one.coarsened);
        const boxmg::Stencil coarse = boxmg::Stencil::box(p.coarse);
        EXPECT_FALSE(boxmg::galerkin_by_rows(space, fine, p, p, coarse, static_cast<double *>(nullptr), p.coarse.nodes(), false));
      });
    }
  }
}

} // namespace
} // namespace weft::test
