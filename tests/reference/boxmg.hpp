/// Plain multigrid on dense matrices, for small grids: the cycle of src/boxmg as it is written in a book, with weights from the recursion of
/// its page, node by node.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "boxmg/box_multigrid.hpp"

namespace weft::reference {

struct Dense {
  Index rows = 0, columns = 0;
  std::vector<double> a;

  Dense() = default;
  Dense(Index m, Index n) : rows(m), columns(n), a(static_cast<std::size_t>(m * n), 0) {}
  double &operator()(Index i, Index j) { return a[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(Index i, Index j) const { return a[static_cast<std::size_t>(i * columns + j)]; }
  Dense transposed() const
  {
    Dense t(columns, rows);
    for (Index i = 0; i < rows; i++)
      for (Index j = 0; j < columns; j++) t(j, i) = (*this)(i, j);
    return t;
  }
};

inline Dense operator*(const Dense &a, const Dense &b)
{
  Dense c(a.rows, b.columns);
  for (Index i = 0; i < a.rows; i++)
    for (Index k = 0; k < a.columns; k++)
      for (Index j = 0; j < b.columns; j++) c(i, j) += a(i, k) * b(k, j);
  return c;
}
inline std::vector<double> operator*(const Dense &a, const std::vector<double> &x)
{
  std::vector<double> y(static_cast<std::size_t>(a.rows), 0);
  for (Index i = 0; i < a.rows; i++)
    for (Index j = 0; j < a.columns; j++) y[static_cast<std::size_t>(i)] += a(i, j) * x[static_cast<std::size_t>(j)];
  return y;
}

/// Gauss with row exchanges.
inline std::vector<double> solve(Dense a, std::vector<double> b)
{
  const Index n = a.rows;
  for (Index k = 0; k < n; k++) {
    Index p = k;
    for (Index i = k; i < n; i++)
      if (std::abs(a(i, k)) > std::abs(a(p, k))) p = i;
    for (Index j = 0; j < n; j++) std::swap(a(k, j), a(p, j));
    std::swap(b[static_cast<std::size_t>(k)], b[static_cast<std::size_t>(p)]);
    for (Index i = k + 1; i < n; i++) {
      const double f = a(i, k) / a(k, k);
      for (Index j = k; j < n; j++) a(i, j) -= f * a(k, j);
      b[static_cast<std::size_t>(i)] -= f * b[static_cast<std::size_t>(k)];
    }
  }
  for (Index k = n - 1; k >= 0; k--) {
    double &x = b[static_cast<std::size_t>(k)];
    for (Index j = k + 1; j < n; j++) x -= a(k, j) * b[static_cast<std::size_t>(j)];
    x /= a(k, k);
  }
  return b;
}

inline Dense dense(const BoxMultigrid<double>::Csr &csr)
{
  Dense d(csr.rows, csr.columns);
  for (Index i = 0; i < csr.rows; i++)
    for (Index k = csr.row_starts[static_cast<std::size_t>(i)]; k < csr.row_starts[static_cast<std::size_t>(i) + 1]; k++)
      d(i, csr.column[static_cast<std::size_t>(k)]) += csr.values[static_cast<std::size_t>(k)];
  return d;
}

/// Couplings of the diagonal's sign counted as ones of a node with itself.
inline Dense without_wrong_signs(Dense a)
{
  for (Index i = 0; i < a.rows; i++) {
    const double sign = a(i, i) < 0 ? -1 : 1;
    for (Index j = 0; j < a.columns; j++) {
      if (j == i || sign * a(i, j) <= 0) continue;
      a(i, i) += a(i, j);
      a(i, j) = 0;
    }
  }
  return a;
}

/// Symmetric diffusion between nodes that convection has left a coupling of the diagonal's sign, for positive diagonals.
inline Dense with_diffusion(const Dense &a)
{
  Dense b = a;
  for (Index i = 0; i < a.rows; i++) {
    for (Index j = 0; j < i; j++) {
      const double wrong = std::max(a(i, j), a(j, i)), d = 0.05 * std::min(std::abs(a(i, j) - a(j, i)) / 2, wrong);
      if (wrong <= 0) continue;
      b(i, j) -= d;
      b(j, i) -= d;
      b(i, i) += d;
      b(j, j) += d;
    }
  }
  return b;
}

/// Interpolation from an operator whose rows hold no couplings but to neighbours. Not for rings of fewer than three nodes, where two neighbours are one.
class Interpolation {
public:
  Interpolation(const Dense &a, const boxmg::Grid &grid, boxmg::Directions coarsened)
      : a_(a), grid_(grid), coarse_(boxmg::coarse(grid, coarsened)), coarsened_(coarsened)
  {
  }
  Dense matrix()
  {
    Dense p(grid_.nodes(), coarse_.nodes());
    for (Index node = 0; node < grid_.nodes(); node++)
      for (const auto &[to, weight] : row(node)) p(node, to) = weight;
    return p;
  }

private:
  using Row = std::map<Index, double>;

  /// A step along each direction from one node to another.
  std::vector<int> steps(Index from, Index to) const
  {
    Index a[3], b[3];
    grid_.position(from, a);
    grid_.position(to, b);
    std::vector<int> step;
    for (int d = 0; d < 3; d++) {
      Index by = b[d] - a[d];
      if (grid_.periodic[d] && by == grid_.n[d] - 1) by = -1;
      if (grid_.periodic[d] && by == 1 - grid_.n[d]) by = 1;
      step.push_back(static_cast<int>(by));
    }
    return step;
  }
  const Row &row(Index node)
  {
    if (const auto found = rows_.find(node); found != rows_.end()) return found->second;
    Index at[3], on[3];
    grid_.position(node, at);
    std::vector<int> between;
    for (int d = 0; d < 3; d++) {
      const bool halved = boxmg::has(coarsened_, d);
      on[d]             = halved ? at[d] / 2 : at[d];
      if (halved && at[d] % 2 != 0) between.push_back(d);
    }
    if (between.empty()) return rows_[node] = {{coarse_.node(on), 1.0}};

    // The stencil summed over the other directions: by the steps along those between coarse nodes.
    std::map<std::vector<int>, double> sums;
    for (Index j = 0; j < grid_.nodes(); j++) {
      if (a_(node, j) == 0) continue;
      std::vector<int> key;
      for (const int d : between) key.push_back(steps(node, j)[static_cast<std::size_t>(d)]);
      sums[key] += a_(node, j);
    }
    const std::vector<int> self(between.size(), 0);
    const double centre = sums[self];
    const double sign   = a_(node, node) < 0 ? -1 : 1;
    double others = 0, weaker = sign * centre;
    for (const auto &[key, value] : sums)
      if (key != self) others -= value;
    for (std::size_t d = 0; d < between.size(); d++) {
      for (const int side : {-1, 1}) {
        double sum = 0;
        for (const auto &[key, value] : sums)
          if (key[d] == side) sum += value;
        weaker = std::min(weaker, std::abs(sum));
      }
    }
    const bool some      = sign * centre > 0;
    const bool little    = sign * others > 0 && sign * centre < sign * others * (1 + (some ? weaker / std::abs(centre) : 0));
    const double divisor = little || !some ? others : centre;
    Row result;
    for (const auto &[key, value] : sums) {
      if (key == self || value == 0) continue;
      Index there[3] = {at[0], at[1], at[2]};
      for (std::size_t d = 0; d < between.size(); d++) grid_.move(there, between[d], key[d]);
      for (const auto &[to, weight] : Row(row(grid_.node(there)))) result[to] -= value / divisor * weight;
    }
    return rows_[node] = result;
  }

  const Dense &a_;
  boxmg::Grid grid_, coarse_;
  boxmg::Directions coarsened_;
  std::map<Index, Row> rows_;
};

/// Cycles over given matrices and choices.
struct Multigrid {
  /// Some nodes, and the cycle that relaxes them.
  struct Planes;
  struct Level {
    boxmg::Grid grid;
    std::vector<int> lines;
    bool direct;
    Dense a, p, r;                                          ///< r: to be transposed
    std::vector<std::shared_ptr<const Planes>> planes = {}; ///< by colour; none: lines, or points
  };
  std::vector<Level> levels;
  int sweeps       = 1;
  BoxmgCycle shape = BoxmgCycle::v;
  bool mirrored    = true;  ///< sweeps after a correction go the other way
  bool chessboard  = false; ///< the finest level's lines in space have two colours
  Index unknowns   = 1;     ///< of a node, neighbours in vectors
  double omega     = 1;     ///< of the finest level's first colour before a correction

  std::vector<double> apply(const std::vector<double> &b) const { return cycle(0, b, shape); }
  /// The residual after the first sweeps, from x.
  std::vector<double> swept(const std::vector<double> &b, std::vector<double> x) const
  {
    const Level &l = levels.front();
    if (l.direct) return std::vector<double>(b.size(), 0);
    sweep(l, b, x, false, omega);
    auto r        = b;
    const auto ax = l.a * x;
    for (std::size_t i = 0; i < r.size(); i++) r[i] -= ax[i];
    return r;
  }

  /// Numbers of the colours along a direction, in their order: even, odd, and the last node of a ring of odd length.
  static int colour(const boxmg::Grid &grid, int d, Index at)
  {
    return grid.periodic[d] && grid.n[d] > 1 && grid.n[d] % 2 != 0 && at == grid.n[d] - 1 ? 2 : static_cast<int>(at % 2);
  }

private:
  std::vector<std::vector<Index>> colours(const Level &l) const
  {
    std::vector<std::vector<Index>> all;
    const auto take = [&](const std::function<int(const Index(&)[3])> &number, int count) {
      for (int c = 0; c < count; c++) {
        std::vector<Index> nodes;
        for (Index node = 0; node < l.grid.nodes(); node++) {
          Index at[3];
          l.grid.position(node, at);
          for (Index u = 0; u < unknowns && number(at) == c; u++) nodes.push_back(node * unknowns + u);
        }
        if (!nodes.empty()) all.push_back(nodes);
      }
    };
    const auto of = [&](int d, const Index(&at)[3]) { return colour(l.grid, d, at[d]); };
    for (const int d : l.lines) {
      const int first = d == 0 ? 1 : 0, second = d == 2 ? 1 : 2;
      const bool two = chessboard && &l == &levels.front();
      take([&](const Index(&at)[3]) { return two ? static_cast<int>((at[first] + at[second]) % 2) : of(first, at) + 3 * of(second, at); },
           9);
    }
    if (l.lines.empty()) take([&](const Index(&at)[3]) { return of(0, at) + 3 * of(1, at) + 9 * of(2, at); }, 27);
    return all;
  }
  static void relax(const Level &l, const std::shared_ptr<const Planes> &planes, const std::vector<double> &b, std::vector<double> &x,
                    double by);
  static void relax(const Level &l, const std::vector<Index> &nodes, const std::vector<double> &b, std::vector<double> &x, double by)
  {
    const auto n = static_cast<Index>(nodes.size());
    Dense block(n, n);
    std::vector<double> r(nodes.size());
    for (Index i = 0; i < n; i++) {
      const Index row                = nodes[static_cast<std::size_t>(i)];
      r[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>(row)];
      for (Index j = 0; j < l.a.rows; j++) r[static_cast<std::size_t>(i)] -= l.a(row, j) * x[static_cast<std::size_t>(j)];
      for (Index j = 0; j < n; j++) block(i, j) = l.a(row, nodes[static_cast<std::size_t>(j)]);
    }
    const auto z = solve(block, r);
    for (std::size_t i = 0; i < nodes.size(); i++) x[static_cast<std::size_t>(nodes[i])] += by * z[i];
  }
  std::vector<double> cycle(std::size_t level, const std::vector<double> &b, BoxmgCycle how) const
  {
    const Level &l = levels[level];
    if (l.direct) return solve(l.a, b);
    std::vector<double> x(b.size(), 0);
    sweep(l, b, x, false, level == 0 ? omega : 1);
    if (level + 1 < levels.size()) {
      const bool twice = how != BoxmgCycle::v && level + 2 < levels.size();
      for (int k = 0; k < (twice ? 2 : 1); k++) {
        auto r        = b;
        const auto ax = l.a * x;
        for (std::size_t i = 0; i < r.size(); i++) r[i] -= ax[i];
        const auto e = l.p * cycle(level + 1, l.r.transposed() * r, how == BoxmgCycle::f && k == 1 ? BoxmgCycle::v : how);
        for (std::size_t i = 0; i < x.size(); i++) x[i] += e[i];
      }
    }
    sweep(l, b, x, mirrored);
    return x;
  }
  void sweep(const Level &l, const std::vector<double> &b, std::vector<double> &x, bool backward, double first = 1) const;
  template <class Sets>
  void sweep_over(const Sets &sets, const Level &l, const std::vector<double> &b, std::vector<double> &x, bool backward, double first) const
  {
    for (int s = 0; s < sweeps; s++)
      for (std::size_t k = 0; k < sets.size(); k++) relax(l, sets[backward ? sets.size() - 1 - k : k], b, x, k == 0 ? first : 1);
  }
};

struct Multigrid::Planes {
  std::vector<Index> nodes;
  Multigrid cycle;
};

inline void Multigrid::relax(const Level &l, const std::shared_ptr<const Planes> &planes, const std::vector<double> &b,
                             std::vector<double> &x, double by)
{
  std::vector<double> r;
  const auto ax = l.a * x;
  for (const Index node : planes->nodes) r.push_back(b[static_cast<std::size_t>(node)] - ax[static_cast<std::size_t>(node)]);
  const auto z = planes->cycle.apply(r);
  for (std::size_t i = 0; i < z.size(); i++) x[static_cast<std::size_t>(planes->nodes[i])] += by * z[i];
}

inline void Multigrid::sweep(const Level &l, const std::vector<double> &b, std::vector<double> &x, bool backward, double first) const
{
  if (l.planes.empty())
    sweep_over(colours(l), l, b, x, backward, first);
  else
    sweep_over(l.planes, l, b, x, backward, first);
}

} // namespace weft::reference
