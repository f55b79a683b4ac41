/* Another plugin beside Weft, with a PC type of its own: it divides by two. */
#include <petsc/private/pcimpl.h>

static PetscErrorCode Apply(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  (void)pc;
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, 0.5));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Create(PC pc)
{
  PetscFunctionBegin;
  pc->ops->apply = Apply;
  PetscFunctionReturn((PetscErrorCode)0);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_neighbour(void)
{
  PetscFunctionBegin;
  PetscCall(PCRegister("neighbour", Create));
  PetscFunctionReturn((PetscErrorCode)0);
}
