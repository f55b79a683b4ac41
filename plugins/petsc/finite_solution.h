/// The end of a solve that looks at no norm.
#pragma once
#include <petsc/private/kspimpl.h>

#include "petsc/finite_entries.h"
#include "petsc/petsc_compat.h"

namespace weft {

/// Whether no other solver, a PC's or a nonlinear one, has begun this one: PETSc marks those within others by the level of what they print.
inline bool IsByItself(KSP ksp)
{
  PetscInt level;

  PetscCallAbort(PETSC_COMM_SELF, PetscObjectGetTabLevel((PetscObject)ksp, &level));
  return level == 0;
}

/// False for the solver within another PC (multigrid's coarsest grid, a field, a block): what it leaves is for the iteration outside to see.
/// That of a SNES, which may be linear and look at no residual, is told by what it calls first.
inline bool IsOutermost(KSP ksp)
{
  return IsByItself(ksp) || CallsBeforeSolve(ksp);
}

/// One application is all that it does.
inline bool IsPreonly(KSP ksp)
{
  PetscBool preonly;

  PetscCallAbort(PETSC_COMM_SELF, PetscObjectTypeCompareAny((PetscObject)ksp, &preonly, KSPPREONLY, KSPNONE, ""));
  return preonly;
}

/// Takes back that a solve has converged. PETSc has told so where -ksp_converged_reason or a viewer of the program asks for it; it tells this one too.
inline PetscErrorCode ChangeReason(KSP ksp, KSPConvergedReason reason)
{
  PetscFunctionBegin;
  ksp->reason = reason;
  PetscCall(PCSetFailedReason(ksp->pc, reason == KSP_DIVERGED_PC_FAILED ? PC_FACTOR_OTHER : PC_NOERROR)); // what is printed beside it
  PetscCall(KSPConvergedReasonViewFromOptions(ksp));
  PetscCall(PCSetFailedReason(ksp->pc, PC_NOERROR)); // the next right-hand side may be solved
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// KSPPREONLY, which looks at no norm of any type, and every other method without one call whatever an application leaves converged. A PC's
/// PCPostSolve: one sum tells whether that is a solution. A right-hand side that is no number, or an overflow, then ends in
/// KSP_DIVERGED_NANORINF. Not of a solver within another PC: PETSc keeps a block's failure for good, also for the right-hand sides to come. Collective.
inline PetscErrorCode RefuseNonFiniteSolution(PC, KSP ksp, Vec, Vec solution)
{
  KSPNormType type;
  bool finite = true;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(ksp, &type));
  const bool looks = type != KSP_NORM_NONE && !IsPreonly(ksp);
  if (ksp->reason <= 0 || looks || !IsOutermost(ksp)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HasFiniteEntries(solution, &finite));
  if (!finite) PetscCall(ChangeReason(ksp, KSP_DIVERGED_NANORINF));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// KSPPREONLY takes one application for the solution, which that of a nearest operator is not. As the solver within another PC it is what it
/// should be, a preconditioner.
inline bool TakenForASolution(KSP ksp)
{
  return IsPreonly(ksp) && IsOutermost(ksp);
}

} // namespace weft
