/// What a KSP calls converged and is no solution, as its preconditioner knows. For a PC's PCPostSolve.
#pragma once
#include <petsc/private/kspimpl.h>

#include <string>

#include "petsc/finite_solution.h"
#include "petsc/petsc_compat.h"

namespace weft {

/// Whether a solver says that what it leaves is small, and nobody looks at it after that: not one within another PC, nor one within a nonlinear solver,
/// which looks at a residual of its own.
inline bool HasLastWord(KSP ksp)
{
  const bool small = ksp->reason == KSP_CONVERGED_RTOL || ksp->reason == KSP_CONVERGED_ATOL;
  return IsByItself(ksp) && (small || (IsPreonly(ksp) && ksp->reason > 0));
}

/// |b - A x| and |b|, or of the transpose where the KSP solves with that; b and x may be columns, which need not be vectors of the matrix's kind. Collective.
inline PetscErrorCode LeftOfRightHandSide(KSP ksp, Mat A, Vec b, Vec x, PetscReal *left, PetscReal *given)
{
  Vec rhs, solution;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &solution, &rhs));
  PetscCall(VecCopy(x, solution));
  PetscCall((SolvesTransposed(ksp) ? MatMultTranspose : MatMult)(A, solution, rhs));
  PetscCall(VecCopy(b, solution));
  PetscCall(VecNorm(solution, NORM_2, given));
  PetscCall(VecAYPX(rhs, -1, solution));
  PetscCall(VecNorm(rhs, NORM_2, left));
  PetscCall(VecDestroy(&rhs));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Says that what a KSP calls converged is no solution. On all ranks.
inline PetscErrorCode RefuseSolution(KSP ksp, const std::string &why)
{
  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp->pc, "%s\n", why.c_str()));
  PetscCall(ChangeReason(ksp, KSP_DIVERGED_PC_FAILED));
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "%s", why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
