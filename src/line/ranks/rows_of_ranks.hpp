/// RowsOfRanks: what the ranks of a communicator tell each other of their rows while lines are looked for. Needs no Kokkos header.
#pragma once
#include <mpi.h>

#include "line/line_solver.hpp"
#include "line/maps/chains.hpp"
#include "line/ranks/ranks.hpp"

namespace weft {

class RowsOfRanks final : public GhostRows {
public:
  /// `rows` of this rank; `outside` holds their entries in columns of other ranks, in the memory of the execution: columns[k] is the number
  /// of its column k in the whole matrix, rising, on the host. Collective. Waits.
  template <class Scalar, class Int>
  RowsOfRanks(const Execution &execution, MPI_Comm communicator, Index rows, const CsrMatrix<Scalar, Int> &outside,
              const std::vector<std::int64_t> &columns);

  void bring(const double *shown, double *ghosts, int words) const override;
  Index sum(Index here) const override;
  std::vector<std::int64_t> gather(const std::vector<std::int64_t> &here, std::vector<Index> &places) const override;

private:
  struct Entry;
  void take(const std::vector<Entry> &own, Index rows);

  MPI_Comm communicator_;
  std::vector<Index> first_rows_; ///< of the ranks, one more than ranks
  std::unique_ptr<Items> items_;  ///< shown rows
};

} // namespace weft
