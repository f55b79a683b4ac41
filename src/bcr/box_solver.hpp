/// BoxSolver: solves what separate() found for all nodes of a grid. The eliminated faces first, the separable operator within them by
/// DirectSolver, then the faces' own values; in double or in single precision.
#pragma once
#include <memory>
#include <string>

#include "bcr/detect/separate.hpp"

namespace weft {

enum class Precision { both_double, single_inside };

class BoxSolver {
public:
  /// Makes tables and work space; nothing is allocated after this, but by the first transposed solve of an operator that is not symmetric.
  /// Throws std::invalid_argument where poisson_method_refuses. `execution` must live as long as the solver.
  BoxSolver(const Execution &execution, const Separation &separation, const DirectOptions &options, Precision precision);
  ~BoxSolver();
  BoxSolver(const BoxSolver &)            = delete;
  BoxSolver &operator=(const BoxSolver &) = delete;

  /// Solves for `many` right-hand sides that start `apart` elements from each other, as the solutions do. Arrays over the whole grid, x
  /// fastest, in the memory of the execution; rhs and solution are different arrays. Does not wait.
  void solve(const double *rhs, double *solution, Transpose transpose = Transpose::no, int many = 1, Index apart = 0) const;

  const Execution &execution() const;
  bool singular() const;
  bool bad_pivot() const;
  /// What DirectSolver says of itself.
  const char *method() const;
  std::string description() const;
  std::size_t work_bytes() const;
  /// Operations of a solve for one right-hand side.
  double flops() const;

  struct Model; ///< one for each precision

private:
  std::unique_ptr<Model> model_;
};

} // namespace weft
