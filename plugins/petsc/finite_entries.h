/// Whether a vector holds numbers only.
#pragma once
#include <petscvec.h>

#include "petsc/petsc_compat.h"

namespace weft {

/// False where an entry is NaN or infinite, or where all of them together are too large for a number. A sum tells: the maximum over ranks would
/// lose a NaN. That of sizes, but for complex entries, each of which would take PETSc a square root. Collective.
inline PetscErrorCode HasFiniteEntries(Vec v, bool *finite)
{
  PetscScalar sum = 0;
  PetscReal norm  = 0;

  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX))
    PetscCall(VecSum(v, &sum));
  else
    PetscCall(VecNorm(v, NORM_1, &norm));
  *finite = !PetscIsInfOrNanScalar(sum) && !PetscIsInfOrNanReal(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
