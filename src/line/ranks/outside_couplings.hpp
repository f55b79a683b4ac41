/// OutsideCouplings: what couples the two ends of every line to rows of other ranks, taken out of the part of a matrix that holds the columns
/// of other ranks. Needs no Kokkos header.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "base/owner.hpp"
#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
class OutsideCouplings {
public:
  /// For each line of `layout`, in order: the column of the row before its first one and of the row after its last one in matrices to be
  /// read, -1 where there is none. `block`: so many lines, those of a node's unknowns, are solved for together, and each couples to all of
  /// them.
  static Owner<OutsideCouplings> make(const Execution &execution, const LineLayout &layout, const std::vector<std::int64_t> &before,
                                      const std::vector<std::int64_t> &after, Index block = 1);
  virtual ~OutsideCouplings()                           = default;
  OutsideCouplings(const OutsideCouplings &)            = delete;
  OutsideCouplings &operator=(const OutsideCouplings &) = delete;

  /// Takes the values; 0 where a row stores none. Does not wait.
  virtual void read(const CsrMatrix<Scalar, std::int32_t> &outside) = 0;
  virtual void read(const CsrMatrix<Scalar, std::int64_t> &outside) = 0;

  /// `block` values a line, in the memory of the execution: entry (p, q) of a node's block is value q of line p of the node.
  virtual const Scalar *before() const = 0;
  virtual const Scalar *after() const  = 0;
  /// For a block of 1. The two values where all lines share them, but for rounding; nothing where some line has another, or there are no lines. Waits.
  virtual std::optional<std::array<Scalar, 2>> shared() const = 0;

  /// How many values are not 0. Waits.
  virtual Index nonzeros() const = 0;

  /// values[j] = 0 in the columns j of the rows before and after the lines of a colour. Does not wait.
  virtual void clear(Scalar *values, Colour colour) const = 0;

protected:
  OutsideCouplings() = default;
};

} // namespace weft
