#include "poisson/constant_lines.hpp"
#include "poisson/eigen.hpp"
#include "poisson/fast_transform.hpp"
#include "poisson/mode_lines.hpp"

#include "backend.hpp"
#include "backends.hpp"
#include "poisson_problem.hpp"

namespace weft::test {
namespace {

using namespace poisson;

constexpr Boundary all_boundaries[] = {Boundary::dirichlet,      Boundary::dirichlet_neumann, Boundary::neumann_dirichlet,
                                       Boundary::neumann,        Boundary::periodic,          Boundary::cells,
                                       Boundary::cells_dirichlet};

/// Transforms `lines` lines of n points whose elements lie as `at` says, all others of which are 7.
template <class Scalar>
std::vector<Scalar> transformed(Memory memory, const TransformShape &shape, const std::vector<Scalar> &values, const LinesAt &at,
                                Index lines, bool in_place)
{
  const Execution execution(memory);
  const Buffer<Scalar> from(memory, values), to(memory, std::vector<Scalar>(values.size(), 7));
  on_backend(execution, [&](const auto &space) {
    const FastTransform<std::decay_t<decltype(space)>, Scalar> transform(space, shape);
    transform(space, from.data(), at, in_place ? from.data() : to.data(), at, lines);
    space.fence("test");
  });
  return in_place ? from.values() : to.values();
}

/// The eigenvectors themselves: sums in long double over the functions that V of the line has, checked to be its eigenvectors.
void check(const LineMatrix &line, const FastModes &modes, const std::string &what)
{
  const Index n   = line.n;
  const auto size = static_cast<std::size_t>(n);
  const LinesAt at{1, 1, 0, n};
  // Column q of V is what from_modes makes of a unit vector.
  std::vector<double> units(size * size, 0);
  for (std::size_t q = 0; q < size; q++) units[q * size + q] = 1;
  const auto v = transformed<double>(Memory::host, modes.from_modes, units, at, n, false);
  for (std::size_t q = 0; q < size; q++) {
    for (std::size_t i = 0; i < size; i++) {
      const double before  = i > 0           ? v[q * size + i - 1]
                             : line.periodic ? v[q * size + size - 1]
                                             : 0,
                   after   = i + 1 < size    ? v[q * size + i + 1]
                             : line.periodic ? v[q * size]
                                             : 0;
      const double product = line.lower[i] * before + line.diagonal[i] * v[q * size + i] + line.upper[i] * after;
      ASSERT_NEAR(product, modes.values[q] * v[q * size + i], 1e-13 * static_cast<double>(n)) << what << " mode " << q << " row " << i;
    }
  }
  // V^-1 V = I, of any arrays of lines
  const auto back = transformed<double>(Memory::host, modes.to_modes, v, at, n, true);
  for (std::size_t k = 0; k < size * size; k++) ASSERT_NEAR(back[k], units[k], 1e-14 * static_cast<double>(n)) << what << " element " << k;
}

LineMatrix line_of(Index n, Boundary boundary)
{
  return line_matrix(laplacian(n, boundary));
}

TEST(FastTransform, GivesEigenvectors)
{
  int fast = 0, slow = 0;
  for (Boundary b : all_boundaries) {
    for (Index n : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 27, 31, 32, 33, 35, 48, 49, 63, 64, 65, 97, 127}) {
      const LineMatrix line = line_of(n, b);
      const auto modes      = fast_modes(line);
      (modes ? fast : slow)++;
      if (modes) check(line, *modes, std::to_string(n) + " boundary " + std::to_string(int(b)));
    }
  }
  EXPECT_GE(fast, 150);
  EXPECT_GE(slow, 20);
}

/// Against the product with the matrix, of lines along each direction of a box, on each backend.
TEST(FastTransform, AgreesWithMatrixProduct)
{
  std::mt19937 random(11);
  for (Boundary b : all_boundaries) {
    for (Index n : {2, 3, 7, 8, 15, 16, 30, 63, 125, 127, 128, 129, 255, 256, 511, 1023, 4095}) {
      const LineMatrix line = line_of(n, b);
      const auto modes      = fast_modes(line);
      if (!modes) continue;
      const Index lines = n > 1000 ? 3 : 1 + n % 21;
      for (bool strided : {false, true}) {
        const Index stride = strided ? lines + 2 : 1, apart = strided ? 1 : n + 3;
        const LinesAt at{stride, lines, apart, 0};
        const auto all  = static_cast<std::size_t>(strided ? n * stride : lines * apart);
        const auto rows = static_cast<std::size_t>(n);
        const auto x    = random_values<double>(all, random);
        for (bool to_modes : {true, false}) {
          // The products at some results in long double, of V as cosines and sines of the transform's own shape
          const TransformShape &shape = to_modes ? modes->to_modes : modes->from_modes;
          const EigenBasis basis = b == Boundary::cells || b == Boundary::cells_dirichlet || n > 1000 ? EigenBasis{} : eigen_basis(line);
          std::vector<double> units;
          if (basis.values.empty()) { // no closed form there: the transform of the whole line, checked above for short ones, on the host
            std::vector<double> line_by_line(rows * static_cast<std::size_t>(lines));
            for (Index l = 0; l < lines; l++)
              for (Index j = 0; j < n; j++)
                line_by_line[static_cast<std::size_t>(l * n + j)] = x[static_cast<std::size_t>(j * stride + l * apart)];
            units = transformed<double>(Memory::host, shape, line_by_line, {1, lines, n, 0}, lines, false);
          }
          for_each_scalar([&](auto scalar, Memory memory) {
            using Scalar = decltype(scalar);
            const std::vector<Scalar> in(x.begin(), x.end());
            const auto got = transformed<Scalar>(memory, shape, in, at, lines, strided && to_modes);
            for (Index l = 0; l < lines; l++) {
              for (Index q = 0; q < n; q++) {
                double expected = 0;
                if (basis.values.empty()) {
                  expected = units[static_cast<std::size_t>(l * n + q)];
                } else {
                  const auto &matrix = to_modes ? basis.inverse : basis.vectors;
                  for (Index j = 0; j < n; j++)
                    expected += matrix[static_cast<std::size_t>(q * n + j)] * x[static_cast<std::size_t>(j * stride + l * apart)];
                }
                const double tolerance = 10 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<Scalar>::epsilon() *
                                         (to_modes ? 1 : std::sqrt(static_cast<double>(n)));
                ASSERT_NEAR(got[static_cast<std::size_t>(q * stride + l * apart)], expected, tolerance)
                    << "n " << n << " boundary " << int(b) << (to_modes ? " to modes" : " from modes") << " line " << l << " result " << q
                    << " bytes " << sizeof(Scalar) << (strided ? " strided" : "");
              }
            }
            for (Index l = lines; strided && !to_modes && l < stride; l++)
              ASSERT_EQ(got[static_cast<std::size_t>(l)], 7) << "between lines";
          });
        }
      }
    }
  }
}

} // namespace
} // namespace weft::test
