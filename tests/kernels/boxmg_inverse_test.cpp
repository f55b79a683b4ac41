// The inverse on the coarsest grid times its matrix.
#include "base/backend.hpp"
#include "boxmg/coarsest.hpp"

#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

struct Inverted {
  Dense inverse;
  Index other_sign, left_out; ///< the first node, or n
};

Inverted inverse_of(Memory memory, const Dense &a)
{
  const Execution execution(memory);
  return on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    boxmg::Inverse<Space> inverse(grid_of({a.rows}));
    std::vector<double> diagonal;
    for (Index i = 0; i < a.rows; i++) diagonal.push_back(a(i, i));
    Kokkos::deep_copy(inverse.values, to_backend<Space>(a.a));
    Kokkos::deep_copy(inverse.diagonal, to_backend<Space>(diagonal));
    Kokkos::deep_copy(inverse.state, 0.0);
    Kokkos::deep_copy(inverse.found, typename boxmg::Inverse<Space>::Found{a.rows, a.rows});
    inverse.eliminate(space, 1e-8);
    space.fence();
    typename boxmg::Inverse<Space>::Found found;
    Kokkos::deep_copy(found, inverse.found);
    Dense made(a.rows, a.rows);
    made.a = to_host(inverse.values);
    return Inverted{made, found.other_sign, found.left_out};
  });
}

/// The largest entry of A B - I, without some rows and columns.
double error_of(const Dense &a, const Dense &inverse, Index left_out = -1)
{
  const Dense product = a * inverse;
  double most         = 0;
  for (Index i = 0; i < a.rows; i++) {
    for (Index j = 0; j < a.rows; j++) {
      if (i != left_out && j != left_out) most = std::max(most, std::abs(product(i, j) - (i == j)));
    }
  }
  return most;
}

const Index sizes[] = {1, 2, 31, 33, 81, 100, 110}; // a device holds the elements of up to 101 rows in registers

TEST(BoxmgInverse, DominantMatrices)
{
  std::mt19937 random(1);
  for (const Memory memory : memories()) {
    for (const Index n : sizes) {
      for (const double scale : {1.0, 1e-200, 1e200}) {
        Dense a(n, n);
        std::uniform_real_distribution<double> any(-1, 1);
        for (double &entry : a.a) entry = scale * any(random);
        for (Index i = 0; i < n; i++) a(i, i) = (random() % 2 == 0 ? 1 : -1) * scale * (static_cast<double>(n) + 1);
        const Inverted made = inverse_of(memory, a);
        EXPECT_EQ(made.other_sign, n);
        EXPECT_EQ(made.left_out, n);
        EXPECT_LT(error_of(a, made.inverse), 1e-13) << n << " rows, scale " << scale;
      }
    }
  }
}

/// Chains of nodes without an end that is held: the last pivot is nothing, and leaves its node out.
TEST(BoxmgInverse, SingularMatrices)
{
  for (const Memory memory : memories()) {
    for (const Index n : sizes) {
      if (n < 2) continue;
      Dense a(n, n);
      for (Index i = 0; i + 1 < n; i++) {
        a(i, i) += 1;
        a(i + 1, i + 1) += 1;
        a(i, i + 1) = a(i + 1, i) = -1;
      }
      const Inverted made = inverse_of(memory, a);
      EXPECT_EQ(made.left_out, n);
      Index empty = -1;
      for (Index i = 0; i < n; i++) {
        double sum = 0;
        for (Index j = 0; j < n; j++) sum += std::abs(made.inverse(i, j)) + std::abs(made.inverse(j, i));
        if (sum == 0) empty = i;
      }
      ASSERT_GE(empty, 0);
      EXPECT_LT(error_of(a, made.inverse, empty), 1e-12);
    }
  }
}

/// Pivots in the order of the rows are none, or of the other sign, where those by size are there.
TEST(BoxmgInverse, OrderOfPivots)
{
  std::mt19937 random(2);
  std::uniform_real_distribution<double> any(-1, 1);
  for (const Memory memory : memories()) {
    for (const Index n : {33, 110}) {
      for (const double coupling : {1.0, 1.2}) {
        Dense a(n, n);
        for (double &entry : a.a) entry = any(random);
        for (Index i = 0; i < n; i++) a(i, i) = static_cast<double>(n);
        // Of the first two rows and columns the second pivot is 0, or of the other sign, until a third one is eliminated.
        for (const Index i : {0, 1}) a(i, i) = 1;
        a(0, 1) = a(1, 0) = coupling;
        a(1, 2) = a(2, 1)   = 4;
        a(2, 2)             = 8;
        const Inverted made = inverse_of(memory, a);
        EXPECT_EQ(made.left_out, n);
        EXPECT_LT(error_of(a, made.inverse), 1e-10);
      }
    }
  }
}

} // namespace
} // namespace weft::test
