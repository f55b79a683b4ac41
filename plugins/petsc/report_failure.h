/// How a set-up fails.
#pragma once
#include <petsc/private/pcimpl.h>

#include <string>

#include "petsc/petsc_compat.h"

namespace weft {

/// The PETSc error that a failure is, where the user wants one (-pc_error_if_failure, -ksp_error_if_not_converged). PC_FACTOR_OTHER is no pivot of an
/// elimination, so that PETSc's advice on zero pivots does not fit.
inline PetscErrorCode ErrorOfFailure(PCFailedReason reason)
{
  if (reason == PC_FACTOR_OUTMEMORY) return PETSC_ERR_MEM;
  return reason == PC_FACTOR_OTHER ? PETSC_ERR_NOT_CONVERGED : PETSC_ERR_MAT_LU_ZRPVT;
}

/// There is no preconditioner, for this reason, which ends a solve in KSP_DIVERGED_PC_FAILED, or, with PC_NOERROR, there is one. With the same arguments on
/// all ranks.
inline PetscErrorCode ReportFailure(PC pc, PCFailedReason reason, const std::string &why)
{
  PetscFunctionBegin;
  pc->failedreason = pc->failedreasonrank = reason;
  if (reason) PetscCall(PetscInfo(pc, "%s\n", why.c_str()));
  PetscCheck(!reason || !pc->erroriffailure, PetscObjectComm((PetscObject)pc), ErrorOfFailure(reason), "%s", why.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
