/* Preloaded before libpetsc: a PETSc of another release. */
#include <petscsys.h>

PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  if (major) *major = 3;
  if (minor) *minor = 99;
  if (subminor) *subminor = 0;
  if (release) *release = 1;
  return (PetscErrorCode)0;
}
