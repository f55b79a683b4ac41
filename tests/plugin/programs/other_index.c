/* Preloaded before libpetsc: a PETSc with indices of another size. */
#include <petscsys.h>

PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t *size)
{
  (void)type;
  *size = sizeof(PetscInt) == 4 ? 8 : 4;
  return (PetscErrorCode)0;
}
