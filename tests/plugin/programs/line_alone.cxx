// What register.cxx needs of a library that has no type but line: the names, for the list of types is what is tried.
#include "line/replace_sor.h"
#include "petsc/watch_preonly.h"
#include "types.h"

PetscErrorCode PCCreate_Line(PC)
{
  return PetscErrorCode(0);
}

PetscErrorCode PCLineRegisterEvents()
{
  return PetscErrorCode(0);
}

PetscErrorCode weft::ReplaceSor()
{
  return PetscErrorCode(0);
}

PetscErrorCode weft::WatchPreonly()
{
  return PetscErrorCode(0);
}
