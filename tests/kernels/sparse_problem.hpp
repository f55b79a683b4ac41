/// Sparse matrices to look for lines in.
#pragma once
#include <cmath>
#include <functional>
#include <numeric>

#include "line_problem.hpp"
#include "reference/linear_forest.hpp"

namespace weft::test {

using reference::Sparse;

inline std::size_t at(Index i)
{
  return static_cast<std::size_t>(i);
}

/// A matrix in the memory of a backend, columns of a row in random order, some rows with entries outside the square block.
template <class Scalar, class Int>
struct Csr {
  Buffer<Int> starts, columns;
  Buffer<Scalar> values;

  static Csr make(Memory memory, const Sparse &a, bool strangers = false)
  {
    std::mt19937 random(5);
    std::vector<Int> starts{0}, columns;
    std::vector<Scalar> values;
    std::vector<std::vector<std::pair<int, double>>> rows(at(a.rows));
    for (const auto &[where, value] : a.entries) rows[at(where.first)].emplace_back(where.second, value);
    for (int i = 0; i < a.rows; i++) {
      auto &row = rows[at(i)];
      if (strangers && i % 3 == 0) row.emplace_back(a.rows + i, 1000.0);
      std::shuffle(row.begin(), row.end(), random);
      for (const auto &[j, value] : row) {
        columns.push_back(static_cast<Int>(j));
        values.push_back(static_cast<Scalar>(value));
      }
      starts.push_back(static_cast<Int>(columns.size()));
    }
    return {Buffer<Int>(memory, starts), Buffer<Int>(memory, columns), Buffer<Scalar>(memory, values)};
  }
  CsrMatrix<Scalar, Int> view() const { return {starts.data(), columns.data(), values.data()}; }
};

using Values = std::function<double()>;

inline Values uniform(std::mt19937 &random, double low, double high)
{
  return [&random, low, high] { return std::uniform_real_distribution<double>(low, high)(random); };
}

inline void set_symmetric(Sparse &a, int i, int j, double value)
{
  a.entries[{i, j}] = a.entries[{j, i}] = value;
}

/// Rows whose numbers are permuted.
inline Sparse renumbered(const Sparse &a, const std::vector<int> &number)
{
  Sparse b;
  b.rows = a.rows;
  for (const auto &[where, value] : a.entries) b.entries[{number[at(where.first)], number[at(where.second)]}] = value;
  return b;
}

inline std::vector<int> permutation(int n, std::mt19937 &random)
{
  std::vector<int> p(at(n));
  std::iota(p.begin(), p.end(), 0);
  std::shuffle(p.begin(), p.end(), random);
  return p;
}

inline Sparse tridiagonal(int n, const Values &coupling)
{
  Sparse a;
  a.rows = n;
  for (int i = 0; i < n; i++) {
    a.entries[{i, i}] = 2;
    if (i > 0) set_symmetric(a, i, i - 1, coupling());
  }
  return a;
}

inline Sparse ring(int n, const Values &coupling)
{
  Sparse a = tridiagonal(n, coupling);
  if (n > 2) set_symmetric(a, 0, n - 1, coupling());
  return a;
}

inline Sparse star(int n, const Values &coupling)
{
  Sparse a;
  a.rows = n;
  for (int i = 0; i < n; i++) {
    a.entries[{i, i}] = n;
    if (i > 0) set_symmetric(a, 0, i, coupling());
  }
  return a;
}

inline Sparse grid(int nx, int ny, double along_x, double along_y)
{
  Sparse a;
  a.rows = nx * ny;
  for (int i = 0; i < a.rows; i++) {
    a.entries[{i, i}] = 2 * along_x + 2 * along_y;
    if (i % nx > 0) set_symmetric(a, i, i - 1, -along_x);
    if (i >= nx) set_symmetric(a, i, i - nx, -along_y);
  }
  return a;
}

/// Any pattern: some pairs on one side only, some values equal, some zero.
inline Sparse random_graph(int n, double entries_in_row, std::mt19937 &random, bool symmetric)
{
  Sparse a;
  a.rows = n;
  for (int i = 0; i < n; i++) a.entries[{i, i}] = uniform(random, 1, 4)() * (random() % 5 ? 1 : -1);
  for (int k = 0; k < static_cast<int>(n * entries_in_row); k++) {
    const int i = static_cast<int>(random() % static_cast<unsigned>(n)), j = static_cast<int>(random() % static_cast<unsigned>(n));
    if (i == j) continue;
    const double value = random() % 3 ? uniform(random, -2, 2)() : static_cast<double>(random() % 3) / 2;
    a.entries[{i, j}]  = value;
    if (symmetric) a.entries[{j, i}] = value;
  }
  return a;
}

struct Case {
  const char *name;
  Sparse matrix;
};

inline std::vector<Case> graphs()
{
  std::mt19937 random(31);
  std::vector<Case> cases;
  for (int n : {0, 1, 2, 3, 8, 9, 31, 64, 257}) {
    cases.push_back({"tridiagonal", tridiagonal(n, uniform(random, 0.2, 1))});
    cases.push_back({"permuted tridiagonal", renumbered(tridiagonal(n, uniform(random, 0.2, 1)), permutation(n, random))});
    cases.push_back({"ring", renumbered(ring(n, uniform(random, 0.2, 1)), permutation(n, random))});
    cases.push_back({"even ring", ring(n, [] { return 1.0; })});
    cases.push_back({"star", star(n, uniform(random, 0.2, 1))});
    for (double entries : {0.5, 2.0, 6.0}) {
      if (n == 0) continue;
      cases.push_back({"random", random_graph(n, entries, random, false)});
      cases.push_back({"random symmetric", random_graph(n, entries, random, true)});
    }
  }
  for (int ny : {1, 5, 16}) {
    cases.push_back({"grid", grid(13, ny, 1, 1)});
    cases.push_back({"permuted grid", renumbered(grid(13, ny, 1, 0.3), permutation(13 * ny, random))});
  }
  // Several cycles at once, and lines beside them.
  Sparse rings;
  rings.rows = 90;
  for (int i = 0; i < 90; i++) rings.entries[{i, i}] = 3;
  for (int first : {0, 3, 10, 40})
    for (int k = 0; k < (first == 0 ? 3 : first == 3 ? 7 : 30); k++)
      set_symmetric(rings, first + k, first + (k + 1) % (first == 0 ? 3 : first == 3 ? 7 : 30), uniform(random, 0.5, 1)());
  for (int i = 70; i < 89; i++) set_symmetric(rings, i, i + 1, 0.7);
  cases.push_back({"rings", rings});
  cases.push_back({"permuted rings", renumbered(rings, permutation(90, random))});
  return cases;
}

} // namespace weft::test
