#include "lines_from_dm.h"

#include <petscdmda.h>

#include "petsc_compat.h"

namespace weft {

static PetscErrorCode GridFromDM(DM dm, Mat A, Grid *grid)
{
  PetscBool is_da;
  PetscInt dimension, components, first[3], nodes[3], rows, global_rows, global[3];

  PetscFunctionBegin;
  *grid = {};
  if (!dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
  if (!is_da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, &dimension, &global[0], &global[1], &global[2], NULL, NULL, NULL, &components, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(dm, &first[0], &first[1], &first[2], &nodes[0], &nodes[1], &nodes[2]));
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(MatGetSize(A, &global_rows, NULL));
  // All ranks must come to the same answer, but only one rank's part may have another size.
  PetscMPIInt fits = rows == components * nodes[0] * nodes[1] * nodes[2] && global_rows == components * global[0] * global[1] * global[2],
              all_fit;
  PetscCallMPI(MPI_Allreduce(&fits, &all_fit, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  if (!all_fit) PetscFunctionReturn(PETSC_SUCCESS);
  grid->dimension  = static_cast<int>(dimension);
  grid->components = components;
  for (int k = 0; k < 3; k++) {
    grid->nodes[k] = nodes[k];
    grid->first[k] = first[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridFromPC(PC pc, Grid *grid)
{
  Mat A;
  DM dm;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(PCGetDM(pc, &dm));
  PetscCall(GridFromDM(dm, A, grid));
  if (grid->dimension == 0) {
    PetscCall(MatGetDM(A, &dm));
    PetscCall(GridFromDM(dm, A, grid));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
