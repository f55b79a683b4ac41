/// CompactSweep: compact finite differences g = A^-1 B f in one pass over memory, along one direction of a box. A and B are real; f is real or complex.
/// Needs no Kokkos header.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/milestone.hpp"
#include "kernels/compact_stencil.hpp"

namespace weft {

/// A on one whole line: the coefficients of the rows before, at and after. Rings have no special rows.
struct CompactMatrix {
  std::array<double, 3> inner{};
  std::vector<std::array<double, 3>> head, tail; ///< of the first rows, and of the last ones, the last one first
};

/// What neighbours write into this device's memory, and flags that are at least `turn` when a message is there: of those that they write, and of those that
/// are written to them. Null where there is no neighbour.
template <class Scalar>
struct SweepMail {
  const Scalar *from_before = nullptr, *from_after = nullptr;
  unsigned *is_before = nullptr, *is_after = nullptr, *told_before = nullptr, *told_after = nullptr;
  unsigned turn = 0;
};

/// Where the couplings of A decay, its factors do not: they are the same in all rows but the first ones. A line is swept downwards, the stencil and
/// the elimination of a tile of rows at a time in registers; a tile's unknowns are substituted from `reach` rows further down, where an
/// unknown counts for less than rounding error. For the same reason a sweep may begin anywhere, `reach` rows early: lines are cut where
/// there are few. What a rank's rows feel of a neighbour is in width() rows of f and one number a line: what the elimination has in the neighbour's
/// last row, and the unknown in its first row. As only one row feels the last of the said rows, that is put into the number. Either number is a
/// product of `reach` rows of f at that end with weights that decay, so ranks tell them before they sweep; the inner rows of a part of the lines, which
/// need no neighbour, are swept while messages are under way. Where devices reach each other's memory, the sweep's kernel waits by itself.
///
/// Words moved per row: 2; across ranks reach + width more at each end for the products, and for the said part 4 * reach rows.
/// Source: X.-H. Sun, Application and accuracy of the parallel diagonal dominant algorithm, Parallel Computing 21 (1995), for the decay.
template <class Scalar>
class CompactSweep {
public:
  /// Throws std::invalid_argument with the reason where one pass cannot do it: couplings that reach too far, a wide stencil, short lines, pivots
  /// that spoil the solution. `execution` must live as long as this. `slow_messages`: they take longer than the sweep, as those through a host
  /// do; all lines' inner rows are swept meanwhile.
  CompactSweep(const Execution &execution, const BoxPiece &piece, const CompactMatrix &matrix, const CompactRows &rows,
               bool slow_messages = false);
  ~CompactSweep();
  CompactSweep(const CompactSweep &)            = delete;
  CompactSweep &operator=(const CompactSweep &) = delete;

  /// What the neighbours need to know of this rank: words() rows with a value for each line, x fastest: rows of f next to the neighbour, in
  /// their order, and the number. Nothing where no neighbour needs it. Does not wait. From here to the end of
  /// apply_ends g is the sweep's.
  void tell(const Scalar *f, Scalar *to_before, Scalar *to_after);
  /// Where tell runs, beside inner rows: a Milestone of it says when the words are there. Null where no neighbour needs any.
  const std::shared_ptr<const Execution> &teller() const { return beside_; }
  /// g as far as it can be had without the neighbours. Arrays of the box, f is not g; does not wait. Begins behind tell's kernel, together with the
  /// messages, whose kernels a device serves first: teams that fill it would keep them out until they end.
  void apply_inside(const Scalar *f, Scalar *g) const;
  /// The rest, if there is any, after tell: from_before and from_after are what the neighbours told; not read where the lines end or where
  /// a ring is all here.
  void apply_ends(const Scalar *f, const Scalar *from_before, const Scalar *from_after, Scalar *g);

  /// The same in two kernels where `execution` runs, with nothing between them: what neighbours need, and all of g. The second one may begin while the first
  /// ends, says that it is done, and waits until the neighbours' ones are; they run at the same time, on devices of their own. CUDA alone has it. Does not
  /// wait.
  void tell_in_order(const Scalar *f, Scalar *to_before, Scalar *to_after) const;
  void apply(const Scalar *f, const SweepMail<Scalar> &mail, Scalar *g) const;

  /// Words that neighbours tell each other of a line. Each of them must have least_rows().
  int words() const { return width_; }
  Index least_rows() const { return reach_ + width_ + most_end_weights; }
  bool needs_before() const { return needs_before_; }
  bool needs_after() const { return needs_after_; }

  class Impl;
  template <class Space>
  class ImplOn;

private:
  const Execution &execution_;
  std::shared_ptr<const Execution> beside_;
  std::unique_ptr<Milestone> ready_, told_, done_; ///< f is there; what neighbours are told is there; what goes on beside is done
  int width_;
  Index reach_ = 0;
  bool needs_before_, needs_after_;
  std::unique_ptr<Impl> impl_;
};

} // namespace weft
