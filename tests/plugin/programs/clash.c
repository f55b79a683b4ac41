/* Another plugin, which registers a PC type of the name that Weft uses. */
#include <petscpc.h>

static PetscErrorCode Create(PC pc)
{
  return PCSetType(pc, PCNONE);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_clash(void)
{
  return PCRegister("line", Create);
}
