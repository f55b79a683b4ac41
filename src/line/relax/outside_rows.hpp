/// OutsideRows: what unknowns of other ranks take from right-hand sides, so that a relaxation need not know of them. Needs no Kokkos header.
#pragma once
#include "base/owner.hpp"
#include "line/line_solver.hpp"

namespace weft {

template <class Scalar>
class OutsideRows {
public:
  /// `execution` must live as long as this.
  static Owner<OutsideRows> make(const Execution &execution);
  virtual ~OutsideRows()                      = default;
  OutsideRows(const OutsideRows &)            = delete;
  OutsideRows &operator=(const OutsideRows &) = delete;

  /// Takes a copy of the rows that have entries in `outside`, whose columns are those of ghosts: element j of an array of them. In the memory
  /// of the execution. Waits.
  virtual void read(Index rows, const CsrMatrix<Scalar, std::int32_t> &outside) = 0;
  virtual void read(Index rows, const CsrMatrix<Scalar, std::int64_t> &outside) = 0;

  /// b -= outside * ghosts, on the rows that have entries; what stood there is kept. Does not wait.
  virtual void take(Scalar *b, const Scalar *ghosts) const = 0;
  /// b as it was before take().
  virtual void put_back(Scalar *b) const = 0;

protected:
  OutsideRows() = default;
};

} // namespace weft
