/// OutsideRows: what unknowns of other ranks take from right-hand sides, so that a relaxation need not know of them. Needs no Kokkos header.
#pragma once
#include <memory>

#include "base/execution.hpp"
#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
class OutsideRows {
public:
  /// `execution` must live as long as this.
  explicit OutsideRows(const Execution &execution);
  ~OutsideRows();
  OutsideRows(const OutsideRows &)            = delete;
  OutsideRows &operator=(const OutsideRows &) = delete;

  /// Takes a copy of the rows that have entries in `outside`, whose columns are those of ghosts: element j of an array of them. In the memory
  /// of the execution. Waits.
  template <class Int>
  void read(Index rows, const CsrMatrix<Scalar, Int> &outside);

  /// b -= outside * ghosts, on the rows that have entries; what stood there is kept. Does not wait.
  void take(Scalar *b, const Scalar *ghosts) const;
  /// b as it was before take().
  void put_back(Scalar *b) const;

  struct Rows; ///< defined in outside_rows.cpp
private:
  const Execution &execution_;
  std::unique_ptr<Rows> rows_;
};

} // namespace weft
