/// What types with a Richardson iteration of their own tell KSPRICHARDSON.
#pragma once
#include <petscksp.h>

#include "petsc/petsc_compat.h"

namespace weft {

/// How PCApplyRichardson() ended that has no tolerance to reach. KSPRICHARDSON takes the number for a KSPConvergedReason, and would call a
/// solution of infinities converged.
inline PCRichardsonConvergedReason RichardsonReason(bool failed)
{
  return failed ? static_cast<PCRichardsonConvergedReason>(KSP_DIVERGED_PC_FAILED) : PCRICHARDSON_CONVERGED_ITS;
}

/// Whether the KSP that is about to solve looks at norms; for PCPreSolve.
inline PetscErrorCode AsksNorms(KSP ksp, bool *asks_norms)
{
  KSPNormType norm;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(ksp, &norm));
  *asks_norms = norm != KSP_NORM_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// RichardsonReason after a look at the result, where the KSP asks for norms (AsksNorms()): a smoother of multigrid does not, and
/// a norm would make it wait for a device and for the other ranks. The maximum over ranks would lose a NaN, a sum does not. Collective
/// where it asks.
inline PetscErrorCode RichardsonReason(bool failed, bool asks_norms, Vec result, PCRichardsonConvergedReason *reason)
{
  PetscReal norm = 0;

  PetscFunctionBegin;
  if (!failed && asks_norms) PetscCall(VecNorm(result, NORM_1, &norm));
  *reason = PetscIsInfOrNanReal(norm) ? static_cast<PCRichardsonConvergedReason>(KSP_DIVERGED_NANORINF) : RichardsonReason(failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
