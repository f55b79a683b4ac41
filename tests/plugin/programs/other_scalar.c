/* Preloaded before libpetsc: a PETSc with complex scalars. */
#include <petscsys.h>

PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscDataTypeFromString(const char name[], PetscDataType *type, PetscBool *found)
{
  *type  = name[0] == 's' ? PETSC_COMPLEX : PETSC_DOUBLE;
  *found = PETSC_TRUE;
  return (PetscErrorCode)0;
}
