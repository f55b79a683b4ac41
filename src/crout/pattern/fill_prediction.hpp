/// How large complete factors will be and how long they will take, known before any of them is made.
#pragma once
#include <string>

#include "crout/pattern/symbolic.hpp"

namespace weft::crout {

struct FillPrediction {
  Index rows        = 0;
  Index entries     = 0; ///< of the strictly lower triangle; the upper one has as many
  double operations = 0; ///< multiplications of LU: the square of each column's entries below the diagonal

  /// Entries of both triangles and the diagonal.
  Index size() const { return 2 * entries + rows; }
  /// "all fill: 1.2e+08 entries, 3.4 times the matrix', 5.6e+11 multiplications".
  std::string text(Index matrix_entries) const;
};

/// The entries that complete_fill(lower) will have, counted by columns in a time that hardly depends on them (J. R. Gilbert, E. G. Ng, B. W. Peyton,
/// "An efficient algorithm to compute row and column counts for sparse Cholesky factorization", SIAM J. Matrix Anal. Appl. 15, 1994).
FillPrediction predict_fill(const HostPattern &lower);

/// Bytes of host memory that can still be taken, as Linux and the control group say; infinity where neither does.
double host_memory_left();

} // namespace weft::crout
