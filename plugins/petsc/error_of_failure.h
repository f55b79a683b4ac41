/// The PETSc error that a failure is, where the user wants an error (-pc_error_if_failure, -ksp_error_if_not_converged).
#pragma once
#include <petscpc.h>

#include "petsc/petsc_compat.h"

namespace weft {

/// PC_FACTOR_OTHER is no pivot of an elimination, so that PETSc's advice on zero pivots does not fit.
inline PetscErrorCode ErrorOfFailure(PCFailedReason reason)
{
  if (reason == PC_FACTOR_OUTMEMORY) return PETSC_ERR_MEM;
  return reason == PC_FACTOR_OTHER ? PETSC_ERR_NOT_CONVERGED : PETSC_ERR_MAT_LU_ZRPVT;
}

} // namespace weft
