/// BoxSolver: solves what separate() found for all nodes of a grid. The eliminated faces first, the separable operator within them by
/// DirectSolver, then the faces' own values; in double or in single precision.
#pragma once
#include "bcr/detect/separate.hpp"

namespace weft {

class BoxSolver : public AnyDirectSolver {
public:
  /// Makes tables and work space; nothing is allocated after this, but by the first transposed solve of an operator that is not symmetric
  /// and by the first one for several right-hand sides.
  /// Throws std::invalid_argument where poisson_method_refuses. `execution` must live as long as the solver.
  static Owner<BoxSolver> make(const Execution &execution, const Separation &separation, const DirectOptions &options, Precision precision);

  /// Solves for `nrhs` right-hand sides that start `ld` elements from each other, as the solutions do. Arrays over the whole grid, x
  /// fastest, in the memory of the execution; rhs and solution are different arrays. Does not wait.
  virtual void solve(const double *rhs, double *solution, Transpose transpose = Transpose::no, int nrhs = 1, Index ld = 0) = 0;

protected:
  using AnyDirectSolver::AnyDirectSolver;
};

} // namespace weft
