/// KSPMatSolve() of a KSPPREONLY.
#pragma once
#include <petscksp.h>

#include "petsc/petsc_compat.h"

namespace weft {

/// KSPPREONLY made from now on has KSPMatSolve() ask Weft's preconditioners what KSPSolve() asks them before and after a solve: PETSc goes to
/// their PCMatApply() at once, which knows no KSP to tell that what it makes is no solution. Other preconditioners notice nothing.
PetscErrorCode WatchPreonly();

} // namespace weft
