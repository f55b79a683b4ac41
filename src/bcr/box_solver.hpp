/// BoxSolver: solves what separate() found for all nodes of a grid. The eliminated faces first, the separable operator within them by
/// DirectSolver, then the faces' own values; in double or in single precision. For complex scalars see complex/complex_box.cpp.
#pragma once
#include <optional>
#include <string>

#include "base/kernel_scalar.hpp"
#include "bcr/detect/separate.hpp"

namespace weft {

class BoxSolver : public AnyDirectSolver {
public:
  /// Why there is no solver for this operator, or none that works as these options say; or nothing.
  static std::optional<std::string> refuses(const Separation &separation, const DirectOptions &options, Precision precision);

  /// Makes tables and work space; nothing is allocated after this, but by the first transposed solve of an operator that is not symmetric
  /// and by the first one for several right-hand sides.
  /// Throws std::invalid_argument where refuses(). `known`: bases() of another one of the same memory. `execution` must live as long as the solver.
  static Owner<BoxSolver> make(const Execution &execution, const Separation &separation, const DirectOptions &options, Precision precision,
                               const KnownBases &known = {});

  /// As those of DirectSolver.
  virtual KnownBases bases() const { return {}; }

  /// Solves for `nrhs` right-hand sides that start `ld` elements from each other, as the solutions do. Arrays over the whole grid, x
  /// fastest, in the memory of the execution; rhs and solution are different arrays. Does not wait.
  virtual void solve(const KernelScalar *rhs, KernelScalar *solution, Transpose transpose = Transpose::no, int nrhs = 1, Index ld = 0) = 0;

  // New values. Operators of pencils are made anew, with a factor of 1.

  /// Solves for `factor` times what it was made for from now on.
  virtual void set_factor(double) {}
  /// Takes the operator of this separation, which has the same nodes and faces as the one that it was made for, where DirectSolver::renew()
  /// does; the faces' rows stay those of the old one.
  virtual bool renew(const Separation &) { return false; }
  /// Takes the rows of the faces from this separation, all else of which is what it was made for. Waits.
  virtual void set_faces(const Separation &) {}

protected:
  using AnyDirectSolver::AnyDirectSolver;
};

} // namespace weft
