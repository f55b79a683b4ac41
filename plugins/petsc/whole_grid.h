/// What one rank solves for all: unknowns and rows of a grid that several ranks have, brought to the first of them in the grid's natural order,
/// and solutions brought back. On one rank, whose order is the natural one, nothing is moved.
#pragma once
#include <petscmat.h>

#include "petsc/lines_from_dm.h"
#include "petsc/petsc_compat.h"

namespace weft {

class WholeGrid {
public:
  /// Makes the way there, unless it is made for this grid. A: a matrix on the grid. Collective.
  PetscErrorCode Make(const Grid &grid, Mat A);
  PetscErrorCode Destroy();

  /// False on one rank.
  bool gathers() const { return way_; }
  /// Whether this rank solves.
  bool here() const { return here_; }
  /// On the first rank all values that the last Bring() brought.
  Vec values() const { return rhs_; }
  PetscErrorCode Bring(Vec values);

  /// Calls solve(right-hand side, solution) where it is solved, with vectors of the whole grid. Collective.
  template <class Work>
  PetscErrorCode Solve(Vec rhs, Vec solution, const Work &solve)
  {
    PetscFunctionBegin;
    if (!gathers()) {
      PetscCall(solve(rhs, solution));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Bring(rhs));
    if (here()) PetscCall(solve(rhs_, solution_));
    PetscCall(VecScatterBegin(way_, solution_, solution, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(way_, solution_, solution, INSERT_VALUES, SCATTER_REVERSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The rows of A in that order, on the first rank; none on others. For several ranks. A matrix in *whole, of the same pattern, takes the new
  /// values. The caller destroys it with MatDestroySubMatrices(1, whole). Collective.
  PetscErrorCode BringMatrix(Mat A, Mat **whole) const;

private:
  /// What the order of the rows hangs on. Ranks see a change together.
  struct Order {
    PetscObjectId dm = 0; ///< 0: the rows in their order are the grid
    Index global[3] = {0, 0, 0}, components = 0;

    bool operator==(const Order &) const = default;
  };

  Order order_;
  VecScatter way_ = NULL;
  IS rows_        = NULL;
  Vec rhs_        = NULL;
  Vec solution_   = NULL;
  bool here_      = true;
};

} // namespace weft
