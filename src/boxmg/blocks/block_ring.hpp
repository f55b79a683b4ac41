/// Lines of blocks that close to rings. The last node z of each is left out of the line y that is solved, and joined to it (bordering):
///
///   T y + c z = b_y,   r y + D z = b_z;      W = T^-1 c,   S = D - r W,   z = S^-1 (b_z - r T^-1 b_y),   y = T^-1 b_y - W z
///
/// c has the couplings of the first node and of the one before the last to the last one, r those back. A ring has three nodes or more.
///
/// Words moved per node beside those of the line: 2 b in a solve, b^2 for W; W takes b solves in each factorization.
#pragma once
#include "boxmg/blocks/block_operator.hpp"
#include "line/blocks/block_line_solver.hpp"

namespace weft::boxmg {

/// The blocks of rings (block_lines.hpp): to the node before, of the node, to the node after.
template <class Scalar>
struct RingBlocks {
  BlockLines lines; ///< with the last node
  const Scalar *before, *own, *after;
  bool transposed;

  KOKKOS_INLINE_FUNCTION int size() const { return static_cast<int>(lines.layout.components); }
  /// Element of the first unknown of a node.
  KOKKOS_INLINE_FUNCTION Index at(Index line, Index row) const { return lines.start(line) + row * lines.layout.stride; }
  KOKKOS_INLINE_FUNCTION Index last() const { return lines.layout.length - 1; }
  /// Entry (p, q) of c at the first node, or at the one before the last.
  KOKKOS_INLINE_FUNCTION Scalar column(Index line, bool first, int p, int q) const
  {
    if (transposed) return block(first ? after : before, at(line, last()), q, p);
    return first ? block(before, at(line, 0), p, q) : block(after, at(line, last() - 1), p, q);
  }
  /// Entry (p, q) of r there.
  KOKKOS_INLINE_FUNCTION Scalar row(Index line, bool first, int p, int q) const
  {
    if (transposed) return first ? block(before, at(line, 0), q, p) : block(after, at(line, last() - 1), q, p);
    return block(first ? after : before, at(line, last()), p, q);
  }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(Index line, int p, int q) const { return block(own, at(line, last()), p, q); }
  /// Entry p of r y.
  KOKKOS_INLINE_FUNCTION Scalar times_row(Index line, int p, const Scalar *y) const
  {
    Scalar sum = 0;
    for (int q = 0; q < size(); q++)
      sum += row(line, true, p, q) * y[at(line, 0) + q] + row(line, false, p, q) * y[at(line, last() - 1) + q];
    return sum;
  }

private:
  KOKKOS_INLINE_FUNCTION Scalar block(const Scalar *of, Index element, int p, int q) const { return of[(element + p) * size() + q]; }
};

/// c, column by column, `apart` elements from one to the next; 0 at other nodes.
template <class Space, class Scalar>
void fill_ring_columns(const Space &space, const RingBlocks<Scalar> &blocks, Scalar *columns, Index apart)
{
  const int b = blocks.size();
  Kokkos::parallel_for(
      "weft boxmg rings", range(space, blocks.lines.count() * blocks.last() * b), KOKKOS_LAMBDA(const Index number) {
        const Index node = number / b, line = node / blocks.last(), row = node - line * blocks.last();
        const int p = static_cast<int>(number - node * b);
        for (int q = 0; q < b; q++) {
          Scalar entry = row == 0 ? blocks.column(line, true, p, q) : Scalar(0);
          if (row + 1 == blocks.last()) entry += blocks.column(line, false, p, q);
          columns[q * apart + blocks.at(line, row) + p] = entry;
        }
      });
}

/// S, line by line, row by row.
template <class Space, class Scalar>
void fill_ring_ends(const Space &space, const RingBlocks<Scalar> &blocks, const Scalar *w, Index apart, Scalar *ends)
{
  const int b = blocks.size();
  Kokkos::parallel_for(
      "weft boxmg ends of rings", range(space, blocks.lines.count() * b * b), KOKKOS_LAMBDA(const Index number) {
        const Index line = number / (b * b);
        const int entry = static_cast<int>(number - line * b * b), p = entry / b, q = entry - p * b;
        ends[number] = blocks.diagonal(line, p, q) - blocks.times_row(line, p, w + q * apart);
      });
}

/// z = b_z - r y, line by line; y and b_z are in `x`.
template <class Space, class Scalar>
void ring_residual(const Space &space, const RingBlocks<Scalar> &blocks, const Scalar *x, Scalar *z)
{
  const int b = blocks.size();
  Kokkos::parallel_for(
      "weft boxmg ends of rings", range(space, blocks.lines.count() * b), KOKKOS_LAMBDA(const Index number) {
        const Index line = number / b;
        const int p      = static_cast<int>(number - line * b);
        z[number]        = x[blocks.at(line, blocks.last()) + p] - blocks.times_row(line, p, x);
      });
}

/// y -= W z, and z to its place.
template <class Space, class Scalar>
void close_rings(const Space &space, const RingBlocks<Scalar> &blocks, const Scalar *w, Index apart, const Scalar *z, Scalar *x)
{
  const int b        = blocks.size();
  const Index length = blocks.lines.layout.length;
  Kokkos::parallel_for(
      "weft boxmg rings", range(space, blocks.lines.count() * length * b), KOKKOS_LAMBDA(const Index number) {
        const Index node = number / b, line = node / length, row = node - line * length;
        const int p      = static_cast<int>(number - node * b);
        const Index here = blocks.at(line, row) + p;
        if (row == blocks.last()) {
          x[here] = z[line * b + p];
          return;
        }
        Scalar sum = x[here];
        for (int q = 0; q < b; q++) sum -= w[q * apart + here] * z[line * b + q];
        x[here] = sum;
      });
}

template <class Space, class Scalar>
class BlockRings {
public:
  /// `lines` with their last nodes.
  BlockRings(const Execution &execution, const BlockLines &lines) : lines_(lines), size_(lines.layout.span())
  {
    LineLayout open = lines.layout, each;
    open.length     = lines.layout.length - 1;
    inner_          = BlockLineSolver<Scalar>::make(execution, open, "auto");
    each.length     = 1;
    each.stride = each.components = lines.layout.components;
    each.across[0]                = lines.count();
    each.across_stride[0]         = each.components;
    const Index b                 = each.components;
    ends_                         = BlockLineSolver<Scalar>::make(execution, each, "auto");
    w_[0]                         = array("weft boxmg rings", size_ * b);
    blocks_of_ends_               = array("weft boxmg ends of rings", lines.count() * b * b);
    z_                            = array("weft boxmg ends of rings", lines.count() * b);
    // Ends couple to no neighbour: what stands there is not read.
    ends_->use(blocks_of_ends_.data(), blocks_of_ends_.data(), blocks_of_ends_.data());
  }

  /// The three arrays must stay. Does not wait.
  void factor(const Space &space, const Scalar *before, const Scalar *own, const Scalar *after)
  {
    const RingBlocks<Scalar> blocks{lines_, before, own, after, false};
    inner_->use(before, own, after);
    inner_->factor();
    make_w(space, blocks);
    fill_ring_ends(space, blocks, w_[0].data(), size_, blocks_of_ends_.data());
    ends_->factor();
    blocks_     = blocks;
    transposed_ = false;
  }
  /// x = the solution for x. The first transposed one allocates.
  void solve(const Space &space, Scalar *x, Transpose transpose)
  {
    RingBlocks<Scalar> blocks = blocks_;
    blocks.transposed         = transpose == Transpose::yes;
    if (blocks.transposed && !transposed_) make_w(space, blocks);
    transposed_ = transposed_ || blocks.transposed;
    inner_->solve(x, x, {{}, Colour::all, transpose});
    ring_residual(space, blocks, x, z_.data());
    ends_->solve(z_.data(), z_.data(), {{}, Colour::all, transpose});
    close_rings(space, blocks, w_[blocks.transposed].data(), size_, z_.data(), x);
  }
  /// The first row with a block that cannot be inverted. Waits.
  std::optional<LineRow> bad_pivot() const
  {
    if (const auto bad = inner_->bad_pivot()) return bad;
    if (const auto bad = ends_->bad_pivot()) return LineRow{bad->line, lines_.layout.length - 1};
    return std::nullopt;
  }
  double bytes() const { return static_cast<double>(sizeof(Scalar) * (w_[0].size() + w_[1].size() + blocks_of_ends_.size() + z_.size())); }
  double flops() const { return inner_->flops() + 2.0 * static_cast<double>(w_[0].size()); }

private:
  static OwnedArray<Scalar, Space> array(const std::string &label, Index size)
  {
    return OwnedArray<Scalar, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), static_cast<std::size_t>(size));
  }
  void make_w(const Space &space, const RingBlocks<Scalar> &blocks)
  {
    OwnedArray<Scalar, Space> &w = w_[blocks.transposed];
    if (w.size() == 0) w = array("weft boxmg rings", size_ * blocks.size());
    fill_ring_columns(space, blocks, w.data(), size_);
    const Transpose transpose = blocks.transposed ? Transpose::yes : Transpose::no;
    inner_->solve(w.data(), w.data(), {{}, Colour::all, transpose, blocks.size(), size_});
  }

  BlockLines lines_;
  Index size_; ///< elements of a vector
  std::unique_ptr<BlockLineSolver<Scalar>> inner_, ends_;
  OwnedArray<Scalar, Space> w_[2], blocks_of_ends_, z_; ///< W, and that of the transpose
  RingBlocks<Scalar> blocks_{};
  bool transposed_ = false; ///< W of the transpose is there
};

} // namespace weft::boxmg
