/// PETSc's own PCs over Crout factors.
#pragma once
#include <petscpc.h>

namespace weft {

/// Makes PCs of types lu, ilu, cholesky and icc look, at the end of a solve, whether its answer is a number, where their solver type is crout;
/// with others nothing changes. For PCRegisterAll()'s list to be complete, PCInitializePackage() must have been called.
PetscErrorCode WatchFactorPCs();

} // namespace weft
