/// CompactStencil: right-hand sides B f of compact finite differences, A f' = B f, along one direction of a box. Weights are real; f is real or complex.
/// Needs no Kokkos header.
#pragma once
#include <memory>
#include <vector>

#include "base/execution.hpp"
#include "line/line_layout.hpp"

namespace weft {

/// B on one whole line. Rows near an end of an open line have weights of their own; rings have none of these.
struct CompactRows {
  std::vector<double> inner;             ///< of the rows at -width ... width: 2 width + 1 weights
  std::vector<std::vector<double>> head; ///< head[i][j]: the weight of row j in row i
  std::vector<std::vector<double>> tail; ///< tail[i][j]: the weight of the j-th last row in the i-th last one

  int width() const { return static_cast<int>(inner.size() / 2); }
};

/// What a rank has of the lines: rows first ... first + rows - 1 of `length`, in each of the box's lines.
struct BoxPiece {
  Index n[3]    = {1, 1, 1}; ///< nodes of the box, x fastest in memory
  int direction = 0;
  Index first = 0, length = 1;
  bool ring = false;

  Index rows() const { return n[direction]; }
  Index lines() const { return n[0] * n[1] * n[2] / n[direction]; }
  /// Elements from a row to the next one of its line.
  Index stride() const { return direction == 0 ? 1 : direction == 1 ? n[0] : n[0] * n[1]; }
};

/// Most rows to either side that a stencil reaches, and most rows that a row near an end reads.
inline constexpr int most_stencil_width = 3, most_end_weights = 6;

template <class Scalar>
class CompactStencil {
public:
  /// Throws std::invalid_argument where the piece has fewer rows than the stencil reaches, or an end's rows do not lie in one piece.
  /// `execution` must live as long as this.
  CompactStencil(const Execution &execution, const BoxPiece &piece, const CompactRows &rows);
  ~CompactStencil();
  CompactStencil(const CompactStencil &)            = delete;
  CompactStencil &operator=(const CompactStencil &) = delete;

  /// Copies the first and the last `depth` rows, for the ranks before and after: row by row, a value for each line, x fastest. Nothing
  /// where no neighbour needs it; does not wait.
  void tell(const Scalar *f, Index depth, Scalar *to_before, Scalar *to_after) const;
  /// result = B f on the rows that need no row of another rank. Arrays of the box, f is not result; does not wait.
  void apply_inside(const Scalar *f, Scalar *result) const;
  /// The other rows, if there are any. before and after: the width() rows next to the piece on the ranks before and after it, row by row, a value
  /// for each line, x fastest; not read where the lines end or where a ring is all here.
  void apply_ends(const Scalar *f, const Scalar *before, const Scalar *after, Scalar *result) const;

  const BoxPiece &piece() const { return piece_; }
  int width() const { return width_; }
  /// Whether rows of a rank before or after are needed.
  bool needs_before() const { return needs_before_; }
  bool needs_after() const { return needs_after_; }

  class Impl;
  template <class Space>
  class ImplOn;

private:
  BoxPiece piece_;
  int width_;
  bool needs_before_, needs_after_;
  std::unique_ptr<Impl> impl_;
};

} // namespace weft
