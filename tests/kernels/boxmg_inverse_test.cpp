// The inverse on the coarsest grid, by single pivots and in blocks, beside solves with dense matrices.
#include "boxmg/coarsest.hpp"

#include "boxmg_problem.hpp"

namespace weft::test {
namespace {

struct Inverted {
  Dense inverse;
  Index other_sign, left_out; ///< the first node, or n
  bool in_blocks, doubted;
};

Inverted inverse_of(Memory memory, const Dense &a, bool blocks)
{
  const Execution execution(memory);
  return on_backend(execution, [&](const auto &space) {
    using Space = std::decay_t<decltype(space)>;
    boxmg::Inverse<Space> inverse(grid_of({a.rows}), blocks);
    std::vector<double> diagonal;
    for (Index i = 0; i < a.rows; i++) diagonal.push_back(a(i, i));
    Kokkos::deep_copy(inverse.matrix(), to_backend<Space>(a.a));
    Kokkos::deep_copy(inverse.diagonal, to_backend<Space>(diagonal));
    Kokkos::deep_copy(inverse.state, 0.0);
    Kokkos::deep_copy(inverse.found, typename boxmg::Inverse<Space>::Found{a.rows, a.rows});
    inverse.eliminate(space, 1e-8);
    space.fence();
    typename boxmg::Inverse<Space>::Found found;
    Kokkos::deep_copy(found, inverse.found);
    Dense made(a.rows, a.rows);
    made.a = to_host(inverse.values);
    return Inverted{made, found.other_sign, found.left_out, inverse.in_blocks(), blocks && to_host(inverse.doubts)[0] != 0};
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

const Index sizes[] = {1, 2, 31, 32, 33, 64, 81, 100, 110}; // a device holds the elements of up to 101 rows in registers

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
        for (const bool blocks : {false, true}) {
          const Inverted made = inverse_of(memory, a, blocks);
          EXPECT_EQ(made.in_blocks, blocks);
          EXPECT_FALSE(made.doubted && scale == 1);
          EXPECT_EQ(made.other_sign, n);
          EXPECT_EQ(made.left_out, n);
          EXPECT_LT(error_of(a, made.inverse), 1e-13) << n << " rows, scale " << scale << (blocks ? ", in blocks" : "");
        }
      }
    }
  }
}

/// Chains of nodes without an end that is held: the last pivot of each is nothing, and leaves a node of it out.
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
      for (const bool blocks : {false, true}) {
        const Inverted made = inverse_of(memory, a, blocks);
        EXPECT_FALSE(made.doubted);
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
}

/// Pivots in the order of the rows are none, or too little, where those by size are there.
TEST(BoxmgInverse, OrderOfPivots)
{
  std::mt19937 random(2);
  for (const Memory memory : memories()) {
    for (const Index n : {33, 110}) {
      std::vector<Dense> matrices(2, Dense(n, n));
      for (Dense &a : matrices) {
        std::uniform_real_distribution<double> any(-1, 1);
        for (double &entry : a.a) entry = any(random);
        for (Index i = 0; i < n; i++) a(i, i) = static_cast<double>(n);
      }
      // Of the first 2 rows and columns the pivot of the second is 0, or of the other sign, until a third one is eliminated.
      for (std::size_t k = 0; k < 2; k++) {
        Dense &a = matrices[k];
        for (const Index i : {0, 1}) a(i, i) = 1;
        a(0, 1) = a(1, 0) = k == 0 ? 1 : 1.2;
        a(1, 2) = a(2, 1) = 4;
        a(2, 2)           = 8;
      }
      for (const Dense &a : matrices) {
        const Inverted made = inverse_of(memory, a, true), single = inverse_of(memory, a, false);
        EXPECT_TRUE(made.doubted);
        EXPECT_EQ(made.left_out, single.left_out);
        EXPECT_EQ(made.other_sign, single.other_sign);
        if (memory == Memory::host) {
          EXPECT_EQ(made.inverse.a, single.inverse.a);
        }
        EXPECT_LT(error_of(a, made.inverse), 1e-10);
      }
    }
  }
}

TEST(BoxmgInverse, NotFinite)
{
  for (const Memory memory : memories()) {
    Dense a(40, 40);
    for (Index i = 0; i < 40; i++) a(i, i) = 1;
    a(35, 35) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(inverse_of(memory, a, true).doubted);
  }
}

} // namespace
} // namespace weft::test
