/// CompactSweep: compact finite differences g = A^-1 B f in one pass over memory, along one direction of a box. Needs no Kokkos header.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compact/compact_stencil.hpp"

namespace weft {

/// A on one whole line: the coefficients of the rows before, at and after. Rings have no special rows.
struct CompactMatrix {
  std::array<double, 3> inner{};
  std::vector<std::array<double, 3>> head, tail; ///< of the first rows, and of the last ones, the last one first
};

/// Where the couplings of A decay, its factors do not: they are the same in all rows but the first ones. A line is swept downwards, the stencil and
/// the elimination of a tile of rows at a time in registers; a tile's unknowns are substituted from `reach` rows further down, where an
/// unknown counts for less than rounding error. For the same reason a sweep may begin anywhere, `reach` rows early: lines are cut where
/// there are few, and a rank needs of its neighbours reach() + width rows of f, and nothing else.
///
/// Words moved per row: 2.
/// Source: X.-H. Sun, Application and accuracy of the parallel diagonal dominant algorithm, Parallel Computing 21 (1995), for the decay; here the
/// neighbours' unknowns are worked out twice instead of being sent.
template <class Scalar>
class CompactSweep {
public:
  /// Throws std::invalid_argument with the reason where one pass cannot do it: couplings that reach too far, a wide stencil, short lines, pivots
  /// that spoil the solution. `execution` must live as long as this.
  CompactSweep(const Execution &execution, const BoxPiece &piece, const CompactMatrix &matrix, const CompactRows &rows);
  ~CompactSweep();
  CompactSweep(const CompactSweep &)            = delete;
  CompactSweep &operator=(const CompactSweep &) = delete;

  /// g on the rows that no neighbour's row reaches. Arrays of the box, f is not g; does not wait.
  void apply_inside(const Scalar *f, Scalar *g) const;
  /// The other rows, if there are any. before and after: the depth() rows next to the piece on the ranks before and after it, row by row, a value
  /// for each line, x fastest; not read where the lines end or where a ring is all here.
  void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *g) const;

  /// Rows of a neighbour that are needed. The neighbour must have least_rows() of its own.
  Index depth() const { return depth_; }
  Index least_rows() const { return depth_ + most_end_weights; }
  bool needs_before() const { return needs_before_; }
  bool needs_after() const { return needs_after_; }

  class Model;
  template <class Space>
  class ModelOn;

private:
  Index depth_;
  bool needs_before_, needs_after_;
  std::unique_ptr<Model> model_;
};

} // namespace weft
