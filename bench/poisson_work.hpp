/// Separable operators of any size on the backend of a benchmark, with the right-hand sides of known solutions.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/backend.hpp"
#include "bcr/direct_solver.hpp"
#include "common_options.hpp"
#include "problem.hpp"

namespace weft::bench {

enum class Ends { dirichlet, neumann, periodic };
inline const char *name_of(Ends ends)
{
  return ends == Ends::dirichlet ? "Dirichlet" : ends == Ends::neumann ? "Neumann" : "periodic";
}

struct BoxWork {
  Index n[3];
  Ends ends;
  double shift;
  double stretch = 1;

  int dimension() const { return n[2] > 1 ? 3 : 2; }
  Index unknowns() const { return n[0] * n[1] * n[2]; }
  std::string name() const
  {
    std::string text = std::to_string(n[0]) + " x " + std::to_string(n[1]);
    if (n[2] > 1) text += " x " + std::to_string(n[2]);
    return text;
  }
  std::string conditions() const
  {
    char text[32] = "";
    if (stretch != 1) std::snprintf(text, sizeof text, ", stretched %g", stretch);
    return std::string(name_of(ends)) + (shift != 0 ? ", shift" : "") + text;
  }
};

/// The five- or seven-point Laplacian on nodes, and a shift. `stretch`: of finite volumes on a mesh whose spacing grows by that factor from one end
/// to the other, geometrically, along each direction.
inline SeparableOperator operator_of(const BoxWork &work)
{
  SeparableOperator a;
  a.dimension = work.dimension();
  a.shift     = work.shift;
  for (int k = 0; k < a.dimension; k++) {
    Direction &d    = a.directions[k];
    const auto size = static_cast<std::size_t>(work.n[k]);
    d.n             = work.n[k];
    d.periodic      = work.ends == Ends::periodic;
    d.lower = d.upper = std::vector<double>(size, 1);
    d.diagonal        = std::vector<double>(size, -2);
    if (work.ends == Ends::neumann) d.upper.front() = d.lower.back() = 2;
    if (work.stretch == 1) continue;
    const auto spacing = [&](std::size_t i) { return std::pow(work.stretch, static_cast<double>(i) / static_cast<double>(size) - 1); };
    for (std::size_t i = 0; i < size; i++) {
      d.lower[i]    = 1 / spacing(i);
      d.upper[i]    = 1 / spacing(i + 1);
      d.diagonal[i] = -d.lower[i] - d.upper[i];
      d.weight.push_back((spacing(i) + spacing(i + 1)) / 2);
    }
  }
  return a;
}

/// Rows of the operator's directions, one after the other: couplings down, diagonal, couplings up, weights.
template <class Space>
OwnedArray<double, Space> rows_of(const Space &, const SeparableOperator &a)
{
  std::vector<double> all;
  for (int k = 0; k < a.dimension; k++) {
    Direction d = a.directions[k];
    if (!d.periodic) d.lower.front() = d.upper.back() = 0;
    if (d.weight.empty()) d.weight = std::vector<double>(d.lower.size(), 1);
    for (const auto *values : {&d.lower, &d.diagonal, &d.upper, &d.weight}) all.insert(all.end(), values->begin(), values->end());
  }
  OwnedArray<double, Space> rows("weft bench rows", all.size());
  const auto host = Kokkos::create_mirror_view(rows);
  std::copy(all.begin(), all.end(), host.data());
  Kokkos::deep_copy(rows, host);
  return rows;
}

/// f = A u for u_i = random_value(i), i the number of a node, x fastest: of the nodes from `begin` on, as many as f has.
template <class Space, class Scalar>
void apply(const Space &space, const SeparableOperator &a, Index begin, Index count, const OwnedArray<Scalar, Space> &f)
{
  const int dimension = a.dimension;
  const Index nx = a.directions[0].n, ny = a.directions[1].n, nz = dimension > 2 ? a.directions[2].n : 1;
  const double shift = a.shift;
  const auto rows    = rows_of(space, a);
  Kokkos::parallel_for(
      "weft bench apply", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, count), KOKKOS_LAMBDA(const Index k) {
        const Index i    = begin + k;
        const Index n[3] = {nx, ny, nz}, stride[3] = {1, nx, nx * ny}, at[3] = {i % nx, i / nx % ny, i / nx / ny};
        const auto u = [](Index node) { return random_value(static_cast<std::uint64_t>(node)); };
        double sum = 0, weight = 1;
        Index first = 0;
        for (int d = 0; d < dimension; d++) { // sum is (T_x W_y W_z + W_x T_y W_z + ...) u of the directions so far
          const Index last = n[d] - 1, before = at[d] > 0 ? i - stride[d] : i + last * stride[d],
                      after       = at[d] < last ? i + stride[d] : i - last * stride[d];
          const double *const row = rows.data() + first + at[d];
          const double here       = row[0] * u(before) + row[n[d]] * u(i) + row[2 * n[d]] * u(after);
          sum                     = sum * row[3 * n[d]] + here * weight;
          weight *= row[3 * n[d]];
          first += 4 * n[d];
        }
        f(k) = static_cast<Scalar>(sum + shift * weight * u(i));
      });
  space.fence("weft bench apply");
}

/// Of N, NxM or NxMxK: Dirichlet ends; N alone is a square.
inline BoxWork work_of(const std::string &size)
{
  const auto n = words(size, 'x');
  return {{std::stol(n[0]), std::stol(n[n.size() > 1 ? 1 : 0]), n.size() > 2 ? std::stol(n[2]) : 1}, Ends::dirichlet, 0};
}

} // namespace weft::bench
