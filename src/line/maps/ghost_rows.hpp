/// GhostRows: rows of other ranks that rows of this one couple to, for lines that go on on other ranks. Needs neither Kokkos nor MPI.
#pragma once
#include <cstdint>
#include <vector>

#include "line/line_layout.hpp"

namespace weft {

/// What one rank knows, and how it asks the others. All ranks ask for the same things in the same order.
class GhostRows {
public:
  virtual ~GhostRows() = default;

  int rank    = 0;
  Index first = 0;            ///< number of this rank's first row in the whole matrix
  Index all   = 0;            ///< rows of the whole matrix
  std::vector<Index> numbers; ///< of the ghosts in the whole matrix, rising
  std::vector<Index> shown;   ///< rows of this rank that others have as ghosts, in the order in which `bring` takes them
  std::vector<Index> starts;  ///< the couplings of row i of this rank are starts[i] .. starts[i + 1] - 1
  std::vector<Index> ghosts;  ///< with which ghost
  std::vector<double> mine;   ///< a_ij of row i and ghost j, 0 where it is not stored
  std::vector<double> theirs; ///< a_ji

  /// `words` of each ghost from its rank, for those of each row of `shown`.
  virtual void bring(const double *shown, double *ghosts, int words) const = 0;
  virtual Index sum(Index here) const                                      = 0;
  /// The numbers of all ranks, one rank's after the other's; `places`: where each rank's start, one more than ranks.
  virtual std::vector<std::int64_t> gather(const std::vector<std::int64_t> &here, std::vector<Index> &places) const = 0;
};

} // namespace weft
