/// The end of a solve that looks at no norm.
#pragma once
#include <petsc/private/kspimpl.h>

#include "petsc/petsc_compat.h"

namespace weft {

/// KSPPREONLY, and every other method without a norm, calls whatever an application leaves converged. For PCPostSolve: one norm tells whether
/// that is a solution. A right-hand side that is no number, or an overflow, then ends in KSP_DIVERGED_NANORINF. Collective.
inline PetscErrorCode RefuseNonFiniteSolution(KSP ksp, Vec solution)
{
  KSPNormType type;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(ksp, &type));
  if (ksp->reason <= 0 || type != KSP_NORM_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(solution, NORM_1, &norm));
  if (PetscIsInfOrNanReal(norm)) ksp->reason = KSP_DIVERGED_NANORINF;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
