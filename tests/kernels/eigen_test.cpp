#include "bcr/transforms/eigen.hpp"

#include <numeric>

#include "backends.hpp"
#include "bcr/transforms/parallel_eigen.hpp"
#include "bcr/transforms/products.hpp"

namespace weft::test {
namespace {

using namespace poisson;

/// -d/dx (a du/dx) between n + 1 cells of those widths, divided by the widths of the nodes: not symmetric where they differ.
LineMatrix line_on(const std::vector<double> &cells, const std::vector<double> &a, bool neumann = false)
{
  LineMatrix line;
  line.n        = static_cast<Index>(cells.size()) - 1;
  const auto n  = line.size();
  line.lower    = std::vector<double>(n, 0);
  line.upper    = line.lower;
  line.diagonal = line.lower;
  for (std::size_t i = 0; i < n; i++) {
    const double width = (cells[i] + cells[i + 1]) / 2, left = a[i] / cells[i] / width, right = a[i + 1] / cells[i + 1] / width;
    const bool first = i == 0, last = i + 1 == n;
    if (!first) line.lower[i] = -left;
    if (!last) line.upper[i] = -right;
    line.diagonal[i] = (first && neumann ? 0 : left) + (last && neumann ? 0 : right);
  }
  return line;
}

std::vector<double> ones(std::size_t n)
{
  return std::vector<double>(n, 1);
}

struct Case {
  std::string name;
  LineMatrix line;
  bool found = true; ///< with clusters of eigenvalues that are no pairs LAPACK has to find them
};

std::vector<Case> cases(Index n)
{
  const auto size = static_cast<std::size_t>(n) + 1;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> between(0.5, 2);
  std::vector<double> rough(size), smooth(size), both_ends(size), one_end(size), barrier(size, 1.0);
  for (std::size_t i = 0; i < size; i++) {
    const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(size);
    rough[i]       = between(random);
    smooth[i]      = 1 + x * x;
    both_ends[i]   = 1 / std::cosh(6 * (2 * x - 1));
    one_end[i]     = std::pow(1e-8, 1 - x);
    if (2 * i > size - 8 && 2 * i < size + 8) barrier[i] = 1e-4;
  }
  std::vector<Case> all{{"equal cells with a of its own", line_on(ones(size), smooth)},
                        {"random coefficients", line_on(ones(size), rough)},
                        {"refined at both ends", line_on(both_ends, ones(size))},
                        {"graded to 1e8", line_on(one_end, ones(size))},
                        {"graded to 1e8, Neumann", line_on(one_end, ones(size), true)},
                        {"Neumann", line_on(ones(size), smooth, true)},
                        {"a barrier", line_on(ones(size), barrier)}};
  LineMatrix negative = line_on(ones(size), smooth), indefinite = negative;
  for (auto *values : {&negative.lower, &negative.diagonal, &negative.upper})
    for (double &v : *values) v *= -3e5;
  for (double &v : indefinite.diagonal) v -= 1.7;
  all.push_back({"negative", negative});
  all.push_back({"indefinite", indefinite});
  LineMatrix apart = line_on(ones(size), rough); // two lines that know nothing of each other
  if (n > 1) apart.upper[apart.size() / 2 - 1] = apart.lower[apart.size() / 2] = 0;
  all.push_back({"two lines", apart});
  LineMatrix alone = line_on(ones(size), ones(size)); // many equal eigenvalues
  for (std::size_t i = 0; i < alone.size(); i++) {
    if (i % 4 == 3) alone.upper[i] = 0;
    if (i % 4 == 0) alone.lower[i] = 0;
  }
  all.push_back({"many equal lines", alone, false});
  return all;
}

/// Z and the measures of a basis, on the host.
std::vector<double> host_copy(const Execution &execution, const DenseBasis &basis, bool inverse)
{
  std::vector<double> values(basis.line.size() * basis.line.size());
  on_backend(execution, [&](const auto &space) {
    using Space         = std::decay_t<decltype(space)>;
    const auto &there   = static_cast<const DenseBasisOn<Space> &>(basis);
    const auto host     = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), inverse ? there.inverse : there.vectors);
    const std::size_t n = basis.line.size(), ld = static_cast<std::size_t>(there.ld);
    EXPECT_EQ(ld, static_cast<std::size_t>(padded_length(basis.line.n)));
    for (std::size_t j = 0; j < n; j++) std::copy_n(host.data() + j * ld, n, values.data() + j * n);
  });
  return values;
}

TEST(ParallelEigen, AgreesWithLapack)
{
  for (Index n : {1, 2, 3, 5, 40, 130, 255}) {
    for (const Case &c : cases(n)) {
      if (n < 16 && !c.found) continue;
      const std::string what = c.name + ", " + std::to_string(n) + " rows";
      EigenBasis expected    = eigen_basis(c.line);
      std::sort(expected.values.begin(), expected.values.end());
      for (Memory memory : memories()) {
        const Execution execution(memory);
        const auto basis = parallel_basis(execution, c.line);
        ASSERT_EQ(basis != nullptr, c.found) << what;
        if (!basis) continue;
        EXPECT_LE(basis->off_orthogonal, 1e-3) << what;
        std::vector<double> values = basis->values;
        std::sort(values.begin(), values.end());
        const bool graded = c.name.starts_with("graded");
        for (std::size_t q = 0; q < values.size(); q++) {
          const double scale = graded ? std::abs(expected.values[q]) + 1e-15 : c.line.norm();
          ASSERT_NEAR(values[q], expected.values[q], 1e-13 * scale) << what << ", eigenvalue " << q;
        }
        // V^-1 V = I and T V = V diag(values)
        const auto v = host_copy(execution, *basis, false), inverse = host_copy(execution, *basis, true);
        const std::size_t size = c.line.size();
        const double condition = eigenvector_condition(c.line);
        double identity = 0, residual = 0;
        for (std::size_t p = 0; p < size; p++) {
          for (std::size_t q = 0; q < size; q++) {
            double sum = 0;
            for (std::size_t j = 0; j < size; j++) sum += inverse[j * size + p] * v[j * size + q];
            identity           = std::max(identity, std::abs(sum - (p == q ? 1 : 0)));
            const auto at      = [&](std::size_t i) { return v[i * size + q]; };
            const double above = p > 0 ? c.line.lower[p] * at(p - 1) : 0, below = p + 1 < size ? c.line.upper[p] * at(p + 1) : 0;
            // Small rows have what rounding leaves of large eigenvalues times entries that other rows make.
            const double scale = (c.line.row_size(p) + std::abs(basis->values[q])) * (*symmetrizer(c.line))[p];
            residual           = std::max(residual, std::abs(above + (c.line.diagonal[p] - basis->values[q]) * at(p) + below) / scale);
          }
        }
        EXPECT_LE(identity, 1e-13) << what;
        EXPECT_LE(residual, 1e-13) << what << " condition " << condition;
      }
    }
  }
}

} // namespace
} // namespace weft::test
