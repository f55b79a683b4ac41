// KSPPREONLY with many right-hand sides: PCPreSolve() and PCPostSolve() of Weft's preconditioners are called there too.
#include "petsc/watch_preonly.h"

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#include "petsc/guarded.h"
#include "petsc/petsc_arrays.hpp"
#include "petsc/put_before.h"

namespace weft {

namespace {

using Creator  = PetscErrorCode (*)(KSP);
using MatSolve = PetscErrorCode (*)(KSP, Mat, Mat);

constexpr KSPType types[] = {KSPPREONLY, KSPNONE}; // two names of one type
Creator petscs[2]         = {};                    // PETSc's own
MatSolve mat_solve        = NULL;                  // PETSc's own

PetscErrorCode Failed(KSP ksp, Mat X)
{
  PetscFunctionBegin;
  ksp->reason = KSP_DIVERGED_PC_FAILED;
  PetscCall(MatDenseSetFailed(X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPMatSolve_Watched(KSP ksp, Mat B, Mat X)
{
  PC pc = ksp->pc;
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &ours, "adi", "bcr", "boxmg", "crout", "line", PCLU, PCILU, PCCHOLESKY, PCICC, ""));
  if (!ours) {
    PetscCall((*mat_solve)(ksp, B, X));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->reason = KSP_CONVERGED_ITERATING; // not what is left of the solve before
  if (pc->ops->presolve) PetscCall((*pc->ops->presolve)(pc, ksp, NULL, NULL));
  if (pc->failedreason) {
    PetscCall(Failed(ksp, X));
  } else {
    PetscCall((*mat_solve)(ksp, B, X));
    const auto end = [&](Vec b, Vec x) -> PetscErrorCode {
      PetscFunctionBegin;
      if (pc->ops->postsolve) PetscCall((*pc->ops->postsolve)(pc, ksp, b, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(ForEachColumn(B, X, end));
  }
  PetscCheck(ksp->reason > 0 || !ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "KSPMatSolve() has not converged: %s", KSPConvergedReasons[ksp->reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int type>
PetscErrorCode KSPCreate_Watched(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall((*petscs[type])(ksp));
  mat_solve = ksp->ops->matsolve;
  if (mat_solve) ksp->ops->matsolve = Guarded<KSPMatSolve_Watched>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Creator watched[] = {KSPCreate_Watched<0>, KSPCreate_Watched<1>};

} // namespace

PetscErrorCode WatchPreonly()
{
  PetscFunctionBegin;
  PetscCall(PutBefore(KSPList, types, watched, petscs, KSPRegister));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
