/// Random block-tridiagonal lines, and what their solutions must be.
#pragma once
#include "line/blocks/block_lines.hpp"
#include "line_problem.hpp"
#include "reference/block_tridiagonal.hpp"

namespace weft::test {

/// Lines of b unknowns a node, nodes of neighbouring lines or of neighbouring rows side by side; `gap` nodes that belong to no line.
inline LineLayout strided_nodes(Index b, Index length, Index count, Index gap = 0)
{
  LineLayout layout = strided(length, count, gap);
  layout.components = b;
  layout.stride *= b;
  layout.across_stride[0] *= b;
  return layout;
}

inline LineLayout contiguous_nodes(Index b, Index length, Index count, Index gap = 0)
{
  LineLayout layout = contiguous(length, count, gap);
  layout.components = b;
  layout.stride *= b;
  layout.across_stride[0] *= b;
  return layout;
}

/// Random lines, or rings, diagonally dominant by rows and by columns unless the rows of the nodes are shuffled. Coefficients not to be read
/// are NaN.
template <class Scalar>
struct BlockProblem {
  using Values = std::vector<Scalar>;
  BlockLines lines;
  Index b;
  bool ring;
  Values lower, diagonal, upper, rhs, start;

  BlockProblem(const BlockLines &of, std::mt19937 &random, int many = 1, bool shuffle = false, bool rings = false)
      : lines(of), b(of.layout.components), ring(rings)
  {
    const auto size = static_cast<std::size_t>(lines.coefficient_size()), span = static_cast<std::size_t>(layout().span());
    lower    = random_values<Scalar>(size, random);
    upper    = random_values<Scalar>(size, random);
    diagonal = random_values<Scalar>(size, random);
    rhs      = random_values<Scalar>(span * static_cast<std::size_t>(many), random);
    start    = random_values<Scalar>(span * static_cast<std::size_t>(many), random);
    for_each_row([&](Index line, Index row) {
      const std::size_t k = at(line, row);
      for (Index p = 0; p < b; p++) {
        RealOf<Scalar> along_row = 0, along_column = 0;
        for (Index q = 0; q < b; q++) {
          for (const Values *from : {&lower, &diagonal, &upper}) {
            along_row += modulus((*from)[k + entry(p, q)]);
            along_column += modulus((*from)[k + entry(q, p)]);
          }
        }
        // The column of T has the lower of the row after and the upper of the row before: 2 b covers them.
        diagonal[k + entry(p, p)] = (row + p) % 3 ? along_row + along_column : -along_row - along_column;
      }
    });
    if (shuffle) for_each_row([&](Index line, Index row) { shuffle_node(line, row, random); });
    if (ring) return;
    for_each_row([&](Index line, Index row) {
      for (Index e = 0; e < b * b; e++) {
        if (row == 0) lower[at(line, row) + static_cast<std::size_t>(e)] = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();
        if (row + 1 == layout().length)
          upper[at(line, row) + static_cast<std::size_t>(e)] = std::numeric_limits<RealOf<Scalar>>::quiet_NaN();
      }
    });
  }
  const LineLayout &layout() const { return lines.layout; }
  std::size_t entry(Index p, Index q) const { return static_cast<std::size_t>(p * b + q); }
  /// First element of a node, and first entry of its blocks.
  std::size_t element(Index line, Index row) const { return static_cast<std::size_t>(lines.start(line) + row * layout().stride); }
  std::size_t at(Index line, Index row) const { return element(line, row) * static_cast<std::size_t>(b); }

  template <class Body>
  void for_each_row(Body &&body) const
  {
    for (Index line = 0; line < lines.count(); line++) {
      for (Index row = 0; row < layout().length; row++) body(line, row);
    }
  }
  /// The equations of a node in another order: solvable by pivoting inside the block only.
  void shuffle_node(Index line, Index row, std::mt19937 &random)
  {
    std::vector<Index> order(static_cast<std::size_t>(b));
    for (Index p = 0; p < b; p++) order[static_cast<std::size_t>(p)] = p;
    std::shuffle(order.begin(), order.end(), random);
    for (Values *values : {&lower, &diagonal, &upper}) {
      const auto begin = values->begin() + static_cast<std::ptrdiff_t>(at(line, row));
      const Values old(begin, begin + b * b);
      for (Index p = 0; p < b; p++) {
        for (Index q = 0; q < b; q++) *(begin + p * b + q) = old[entry(order[static_cast<std::size_t>(p)], q)];
      }
    }
  }

  Values solution_of(Index line, Transpose transpose, const Values &line_rhs) const
  {
    const std::size_t n = static_cast<std::size_t>(layout().length), block = static_cast<std::size_t>(b * b);
    Values l(n * block), d(n * block), u(n * block);
    for (std::size_t row = 0; row < n; row++) {
      const auto r = static_cast<Index>(row);
      for (Index p = 0; p < b; p++) {
        for (Index q = 0; q < b; q++) {
          const std::size_t to = row * block + entry(p, q);
          if (transpose == Transpose::no) {
            l[to] = lower[at(line, r) + entry(p, q)];
            d[to] = diagonal[at(line, r) + entry(p, q)];
            u[to] = upper[at(line, r) + entry(p, q)];
          } else {
            d[to] = diagonal[at(line, r) + entry(q, p)];
            if (row > 0 || ring) l[to] = upper[at(line, row > 0 ? r - 1 : layout().length - 1) + entry(q, p)];
            if (row + 1 < n || ring) u[to] = lower[at(line, row + 1 < n ? r + 1 : 0) + entry(q, p)];
          }
        }
      }
    }
    return ring ? reference::solve_block_ring(static_cast<std::size_t>(b), l, d, u, line_rhs)
                : reference::solve_block_tridiagonal(static_cast<std::size_t>(b), l, d, u, line_rhs);
  }

  /// What the solution array must hold after a solve from `before`.
  Values expected(const SolveOptions<Scalar> &options, const Values &before) const
  {
    Values result = before;
    for (Index line = 0; line < lines.count(); line++) {
      if (!lines.has_colour(line, options.colour)) continue;
      for (int k = 0; k < options.nrhs; k++) {
        const auto place = [&](Index i) { return static_cast<std::size_t>(k * options.ld + i % b) + element(line, i / b); };
        Values of_line(static_cast<std::size_t>(layout().length * b));
        for (std::size_t i = 0; i < of_line.size(); i++) of_line[i] = rhs[place(static_cast<Index>(i))];
        const Values z = solution_of(line, options.transpose, of_line);
        for (std::size_t i = 0; i < z.size(); i++) {
          Scalar &x = result[place(static_cast<Index>(i))];
          x         = options.update.scale * z[i] + (options.update.add ? x : 0);
        }
      }
    }
    return result;
  }
};

} // namespace weft::test
