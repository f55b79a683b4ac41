/// OutsideCouplings: what couples the two ends of every line to rows of other ranks, taken out of the part of a matrix that holds the columns
/// of other ranks. Needs no Kokkos header.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
class OutsideCouplings {
public:
  /// For each line of `layout`, in order: the column of the row before its first one and of the row after its last one in matrices to be
  /// read, -1 where there is none. `block`: so many lines, those of a node's unknowns, are solved for together, and each couples to all of
  /// them.
  OutsideCouplings(const Execution &execution, const LineLayout &layout, const std::vector<std::int64_t> &before,
                   const std::vector<std::int64_t> &after, Index block = 1);
  ~OutsideCouplings();
  OutsideCouplings(const OutsideCouplings &)            = delete;
  OutsideCouplings &operator=(const OutsideCouplings &) = delete;

  /// Takes the values; 0 where a row stores none. Does not wait.
  template <class Int>
  void read(const CsrMatrix<Scalar, Int> &outside);

  /// `block` values a line, in the memory of the execution: entry (p, q) of a node's block is value q of line p of the node.
  const Scalar *before() const;
  const Scalar *after() const;
  /// For a block of 1. The two values where all lines share them, but for rounding; nothing where some line has another, or there are no lines. Waits.
  std::optional<std::array<Scalar, 2>> shared() const;

  /// values[j] = 0 in the columns j of the rows before and after the lines of a colour. Does not wait.
  void clear(Scalar *values, Colour colour) const;

  class Values;
  template <class Space>
  class ValuesIn;

private:
  std::unique_ptr<Values> values_;
};

} // namespace weft
