/// What tests of BoxMultigrid share: grids, dense matrices as CSR, a multigrid in a memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "backends.hpp"
#include "boxmg/box_multigrid.hpp"
#include "csr_rows.hpp"
#include "line_problem.hpp"
#include "reference/boxmg.hpp"

namespace weft::test {

using reference::Dense;

inline boxmg::Grid grid_of(std::initializer_list<Index> n, std::initializer_list<int> rings = {})
{
  boxmg::Grid grid;
  std::copy(n.begin(), n.end(), grid.n);
  for (const int d : rings) grid.periodic[d] = true;
  return grid;
}

/// Planes or lines side by side.
inline boxmg::Grid stack_of(std::initializer_list<Index> n, int across, std::initializer_list<int> rings = {})
{
  boxmg::Grid grid   = grid_of(n, rings);
  grid.apart[across] = true;
  return grid;
}

enum class Form { star, box, skew, flow };

/// Couplings of random size to the neighbours of each node, dominant diagonals; skew: those of the two directions differ; flow: all are from one of two
/// nodes to the other, and some of the diagonal's sign, as on a coarse level of convection.
inline Dense random_operator(const boxmg::Grid &grid, Form form, std::mt19937 &random)
{
  std::uniform_real_distribution<double> any(0.1, 2);
  Dense a(grid.nodes(), grid.nodes());
  for (Index node = 0; node < grid.nodes(); node++) {
    for (int number = 14; number < 27; number++) {
      const int by[3] = {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
      if (form == Form::star && std::abs(by[0]) + std::abs(by[1]) + std::abs(by[2]) > 1) continue;
      Index at[3];
      grid.position(node, at);
      bool inside = true;
      for (int d = 0; d < 3; d++) inside = inside && (by[d] == 0 || grid.piece().n[d] > 1) && grid.move(at, d, by[d]);
      const Index there = grid.node(at);
      if (!inside || there == node) continue;
      double c = any(random), back = form == Form::skew ? any(random) : c;
      if (form == Form::flow) (random() % 2 == 0 ? c : back) *= random() % 4 == 0 ? -0.1 : 0.01;
      a(node, there) -= c;
      a(there, node) -= back;
      a(node, node) += c;
      a(there, there) += back;
    }
  }
  for (Index node = 0; node < grid.nodes(); node++) a(node, node) += any(random);
  return a;
}

inline Rows rows_of(const Dense &a)
{
  Rows rows;
  for (Index i = 0; i < a.rows; i++) {
    for (Index j = 0; j < a.columns; j++) {
      if (a(i, j) != 0) rows.add(j, a(i, j));
    }
    rows.end();
  }
  return rows;
}

/// A multigrid in a memory.
struct Made {
  Execution execution;
  BoxMultigrid<double> multigrid;
  Memory memory;

  Made(Memory where, const boxmg::Grid &grid, const BoxmgOptions &options)
      : execution(where), multigrid(execution, grid, options), memory(where)
  {
  }
  Made(Memory where, const boxmg::Grid &grid, const Dense &a, const BoxmgOptions &options) : Made(where, grid, options) { read(a); }
  void read(const Dense &a) { read(rows_of(a)); }
  void read(const Rows &a)
  {
    const Stored stored(memory, a);
    multigrid.read(stored.csr());
  }
  std::vector<double> apply(const std::vector<double> &b, Transpose transpose = Transpose::no) const
  {
    const Buffer<double> rhs(memory, b);
    Buffer<double> solution(memory, std::vector<double>(b.size(), std::numeric_limits<double>::quiet_NaN()));
    multigrid.apply(rhs.data(), solution.data(), transpose);
    execution.wait();
    return solution.values();
  }
  std::vector<double> iterate(const std::vector<double> &b, const std::vector<double> &x, bool zero,
                              const std::function<bool(double)> &enough) const
  {
    const Buffer<double> rhs(memory, b);
    Buffer<double> solution(memory, zero ? std::vector<double>(b.size(), std::numeric_limits<double>::quiet_NaN()) : x);
    multigrid.iterate(rhs.data(), solution.data(), zero, 1, enough);
    execution.wait();
    return solution.values();
  }
};

inline std::vector<double> random_field(Index n, std::mt19937 &random)
{
  std::uniform_real_distribution<double> any(-1, 1);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double &v : x) v = any(random);
  return x;
}
inline double dot(const std::vector<double> &a, const std::vector<double> &b)
{
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
  return sum;
}
inline double largest(const Dense &a)
{
  double most = 0;
  for (const double v : a.a) most = std::max(most, std::abs(v));
  return most;
}
inline double apart(const Dense &a, const Dense &b)
{
  Dense d = a;
  for (std::size_t k = 0; k < d.a.size(); k++) d.a[k] -= b.a[k];
  return largest(d) / largest(b);
}

inline void expect_near(const std::vector<double> &a, const std::vector<double> &b, double tolerance)
{
  ASSERT_EQ(a.size(), b.size());
  double most = 0, off = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    most = std::max(most, std::abs(b[i]));
    off  = std::max(off, std::abs(a[i] - b[i]));
  }
  EXPECT_LE(off, tolerance * most);
}

} // namespace weft::test
