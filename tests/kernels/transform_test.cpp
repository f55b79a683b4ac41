#include "bcr/modes/mode_lines.hpp"
#include "bcr/modes/mode_tables.hpp"
#include "bcr/transforms/eigen.hpp"
#include "bcr/transforms/fast_transform.hpp"

#include "backends.hpp"
#include "base/backend.hpp"
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
  for (Boundary b : all_boundaries) {
    for (Index n : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 27, 31, 32, 33, 35, 48, 49, 63, 64, 65, 97, 127}) {
      const LineMatrix line = line_of(n, b);
      const auto modes      = fast_modes(line);
      ASSERT_TRUE(modes) << n << " boundary " << int(b);
      check(line, *modes, std::to_string(n) + " boundary " + std::to_string(int(b)));
    }
  }
}

/// Against the product with the matrix, of lines along each direction of a box, on each backend.
TEST(FastTransform, AgreesWithMatrixProduct)
{
  std::mt19937 random(11);
  for (Boundary b : all_boundaries) {
    for (Index n : {2, 3, 7, 8, 15, 16, 30, 63, 125, 127, 128, 129, 255, 256, 257, 511, 512, 1023, 2999, 4095, 4096, 4097, 8191}) {
      if (n > 5000 && b != Boundary::dirichlet) continue; // nothing but a kernel for sines is new there
      const LineMatrix line = line_of(n, b);
      const auto modes      = fast_modes(line);
      ASSERT_TRUE(modes) << n << " boundary " << int(b);
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

/// Lines with any ends, of every length a block, a cluster of blocks or a thread takes, by their residuals. Modes that are not solved stay.
TEST(ModeLines, SolvesAnyEnds)
{
  std::mt19937 random(12);
  for (Index rows : {4, 5, 7, 31, 64, 255, 257, 1000, 1025, 2049, 4096, 4097, 9000, 20000}) {
    for (int ends = 0; ends < 6; ends++) {
      if (rows > 5000 && ends % 2 == 0) continue;
      LineMatrix line = ends == 5 ? line_matrix(laplacian(rows, Boundary::cells)) : line_of(rows, constant_boundaries[ends % 5]);
      if (ends == 5) { // rows of their own at both ends, and couplings of the other sign
        for (auto *values : {&line.lower, &line.diagonal, &line.upper})
          for (double &v : *values) v *= -0.7;
        line.upper.front() *= 1.7;
        line.diagonal.back() *= 1.3;
      }
      ASSERT_TRUE(equal_inside(line));
      const Index columns = 21, stride = 24;
      const double sign = ends == 5 ? 1 : -1;
      ConstantModes modes;
      std::vector<double> shifts;
      for (Index q = 0; q < columns; q++) {
        // From lines that reach from end to end to ones that hardly leave a row; one that is left alone, and one between -2 and 2.
        const double decay = 4.0 / static_cast<double>(rows), shift = q == 4   ? 0
                                                                      : q == 9 ? -0.5
                                                                               : decay * decay * std::pow(10, 0.6 * static_cast<double>(q));
        shifts.push_back(sign * shift);
        const std::size_t before = modes.root.size();
        const bool usable        = add_mode(line, shifts.back(), modes);
        ASSERT_EQ(usable, modes.root.size() > before);
        ASSERT_EQ(usable, q != 4 && q != 9) << "mode " << q << " of " << rows << " rows, ends " << ends;
        if (!usable) modes.add_none();
      }
      const auto f = random_values<double>(static_cast<std::size_t>(rows * stride), random);
      for_each_scalar([&](auto scalar, Memory memory) {
        using Scalar = decltype(scalar);
        const Execution execution(memory);
        const std::vector<Scalar> in(f.begin(), f.end());
        const Buffer<Scalar> values(memory, in);
        on_backend(execution, [&](const auto &space) {
          const ModeLines<std::decay_t<decltype(space)>, Scalar> lines(modes, rows);
          lines(space, values.data(), stride);
          space.fence("test");
        });
        const auto u = values.values();
        for (Index q = 0; q < stride; q++) {
          const auto at   = [&](Index i) { return static_cast<std::size_t>(i * stride + q); };
          const bool none = q >= columns || modes.gain[static_cast<std::size_t>(q)] == 0;
          double most = 0, size = 0;
          for (Index i = 0; i < rows; i++) {
            if (none) {
              ASSERT_EQ(u[at(i)], in[at(i)]) << "mode " << q << " is not solved";
              continue;
            }
            const auto k          = static_cast<std::size_t>(i);
            const double lower    = i > 0           ? u[at(i - 1)]
                                    : line.periodic ? u[at(rows - 1)]
                                                    : 0,
                         upper    = i + 1 < rows    ? u[at(i + 1)]
                                    : line.periodic ? u[at(0)]
                                                    : 0,
                         diagonal = line.diagonal[k] + shifts[static_cast<std::size_t>(q)];
            const double residual =
                line.lower[k] * lower + diagonal * static_cast<double>(u[at(i)]) + line.upper[k] * upper - static_cast<double>(in[at(i)]);
            most = std::isfinite(residual) ? std::max(most, std::abs(residual)) : std::numeric_limits<double>::infinity();
            size = std::max(size, std::abs(diagonal * static_cast<double>(u[at(i)])));
          }
          ASSERT_LE(most, 100 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()) * (1 + size))
              << "mode " << q << " of " << rows << " rows, ends " << ends << ", " << sizeof(Scalar) << " bytes";
        }
      });
    }
  }
}

} // namespace
} // namespace weft::test
