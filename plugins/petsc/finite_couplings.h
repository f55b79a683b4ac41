/// Entries that one rank's block does not see.
#pragma once
#include <petscmat.h>

namespace weft {

/// The first row of this rank, in PETSc's numbering, with an entry beside the rank's diagonal block that is not finite; -1 where there is none.
/// On a device PETSc copies these entries to the host, which are few.
PetscErrorCode RowOfCouplingNotFinite(Mat A, PetscInt *row);

} // namespace weft
