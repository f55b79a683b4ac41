/// The matrices of crout_bench: stencils on a box, of any size, made where they are used; and Matrix Market files.
#pragma once
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "line/line_solver.hpp" // CsrMatrix

namespace weft::bench {

template <class T, class Space>
using DeviceArray = Kokkos::View<T *, typename Space::memory_space>;

/// A matrix by rows with 32-bit indices, and other values of the same pattern for what is made again.
template <class Space>
struct CroutProblem {
  std::string name;
  Index rows = 0, entries = 0;
  DeviceArray<std::int32_t, Space> starts, columns;
  DeviceArray<double, Space> values, changed;

  CsrMatrix<double, std::int32_t> csr() const { return {starts.data(), columns.data(), values.data()}; }
  CsrMatrix<double, std::int32_t> changed_csr() const { return {starts.data(), columns.data(), changed.data()}; }
};

/// Coefficients by the place of the neighbour, (dx + 1) + 3 (dy + 1) + 9 (dz + 1); 0: no neighbour there. Dirichlet conditions around.
struct BoxStencil {
  double at[27] = {};
  bool random   = false; ///< each coupling times a number in [0.5, 1.5) of its own
};

inline BoxStencil box_stencil(const std::string &name)
{
  BoxStencil s;
  const auto seven = [&](double x, double y, double z, double wind) {
    s.at[4] = s.at[22] = -z;
    s.at[10] = s.at[16] = -y;
    s.at[12]            = -x - wind;
    s.at[14]            = -x + wind;
    s.at[13]            = 2 * (x + y + z);
  };
  if (name == "poisson7")
    seven(1, 1, 1, 0);
  else if (name == "random7")
    seven(1, 1, 1, 0), s.random = true;
  else if (name == "anisotropic")
    seven(1, 0.1, 0.01, 0);
  else if (name == "convection")
    seven(1, 1, 1, 0.8);
  else if (name == "poisson27") {
    for (double &value : s.at) value = -1;
    s.at[13] = 26;
  } else
    throw std::invalid_argument("no generator is called '" + name + "'");
  return s;
}

/// Every entry times 1 + a thousandth of sine of its number: new values as a step of an outer iteration brings them.
template <class Space>
void change_values(const Space &space, const CroutProblem<Space> &problem)
{
  const auto from = problem.values, to = problem.changed;
  Kokkos::parallel_for(
      "weft bench other values", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problem.entries),
      KOKKOS_LAMBDA(const Index e) { to(e) = from(e) * (1 + 1e-3 * Kokkos::sin(static_cast<double>(e))); });
  space.fence("weft bench other values");
}

template <class Space>
CroutProblem<Space> box_problem(const Space &space, const std::string &generator, Index n)
{
  const BoxStencil stencil = box_stencil(generator);
  const DeviceArray<double, Space> coefficients("weft bench stencil", 27);
  Kokkos::deep_copy(coefficients, Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(stencil.at, 27));
  CroutProblem<Space> problem;
  problem.name      = generator + "-" + std::to_string(n);
  problem.rows      = n * n * n;
  problem.starts    = DeviceArray<std::int32_t, Space>("weft bench starts", static_cast<std::size_t>(problem.rows) + 1);
  const auto starts = problem.starts;
  const auto place  = KOKKOS_LAMBDA(const Index row, const int k)
  {
    const Index x = row % n + k % 3 - 1, y = row / n % n + k / 3 % 3 - 1, z = row / n / n + k / 9 - 1;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n;
    return inside && coefficients(k) != 0 ? x + n * (y + n * z) : Index(-1);
  };
  Kokkos::parallel_scan(
      "weft bench rows", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problem.rows),
      KOKKOS_LAMBDA(const Index row, Index &sum, const bool final) {
        for (int k = 0; k < 27; k++) sum += place(row, k) >= 0;
        if (final) starts(row + 1) = static_cast<std::int32_t>(sum);
      },
      problem.entries);
  space.fence("weft bench rows");
  const auto size    = static_cast<std::size_t>(problem.entries);
  problem.columns    = DeviceArray<std::int32_t, Space>("weft bench columns", size);
  problem.values     = DeviceArray<double, Space>("weft bench values", size);
  problem.changed    = DeviceArray<double, Space>("weft bench values", size);
  const auto columns = problem.columns;
  const auto values  = problem.values;
  const bool random  = stencil.random;
  Kokkos::parallel_for(
      "weft bench matrix", Kokkos::RangePolicy<Space, Kokkos::IndexType<Index>>(space, 0, problem.rows), KOKKOS_LAMBDA(const Index row) {
        Index e = starts(row), middle = e;
        double sum = 0;
        for (int k = 0; k < 27; k++) {
          const Index column = place(row, k);
          if (column < 0) continue;
          if (column == row) middle = e;
          const Index low = row < column ? row : column, high = row < column ? column : row; // the same number for both
          const double factor = random && column != row
                                    ? 1 + 0.5 * Kokkos::sin(static_cast<double>(low % 10007) + 0.7 * static_cast<double>(high % 10009))
                                    : 1.0;
          columns(e)          = static_cast<std::int32_t>(column);
          values(e)           = coefficients(k) * factor;
          if (column != row) sum += Kokkos::abs(values(e));
          e++;
        }
        if (random) values(middle) = sum > 0 ? 1.001 * sum : 1.0;
      });
  change_values(space, problem);
  return problem;
}

/// From arrays of the host, columns of a row ascending.
template <class Space>
CroutProblem<Space> host_problem(const Space &space, const std::string &name, const std::vector<std::int32_t> &starts,
                                 const std::vector<std::int32_t> &columns, const std::vector<double> &values)
{
  const auto put = [](const auto &from, auto &to) {
    using T = std::decay_t<decltype(from[0])>;
    to      = DeviceArray<T, Space>("weft bench matrix", from.size());
    Kokkos::deep_copy(to, Kokkos::View<const T *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from.data(), from.size()));
  };
  CroutProblem<Space> problem;
  problem.name    = name;
  problem.rows    = static_cast<Index>(starts.size()) - 1;
  problem.entries = static_cast<Index>(values.size());
  put(starts, problem.starts);
  put(columns, problem.columns);
  put(values, problem.values);
  problem.changed = DeviceArray<double, Space>("weft bench values", values.size());
  change_values(space, problem);
  return problem;
}

} // namespace weft::bench
