#include "line/replace_sor.h"

#include <petsc/private/pcimpl.h>

#include "line/line.h"
#include "petsc/guarded.h"
#include "petsc/petsc_arrays.hpp"
#include "petsc/put_before.h"

namespace weft {

namespace {

using Creator = PetscErrorCode (*)(PC);

constexpr PCType types[] = {PCSOR};
Creator petscs[1]        = {}; // PETSc's own

PetscErrorCode OnDevice(Mat A, bool *on_device)
{
  PetscBool aij;
  Memory memory = Memory::host;

  PetscFunctionBegin;
  *on_device = false;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!aij || !has_backend(Memory::device)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetMemory(A, &memory));
  *on_device = memory == Memory::device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A PC learns where its matrix is when it is set up, and not before: it changes its type then.
PetscErrorCode PCSetUp_SorOrLine(PC pc)
{
  static bool told = false;
  bool on_device;

  PetscFunctionBegin;
  PetscCall(OnDevice(pc->pmat, &on_device));
  if (!on_device) PetscFunctionReturn(PETSC_SUCCESS);
  if (!told) {
    PetscCall(
        PetscPrintf(PetscObjectComm((PetscObject)pc),
                    "Warning: -weft_replace_sor: preconditioners of type sor on device matrices are line relaxation (-pc_type line)\n"));
  }
  told = true;
  PetscCall(PCSetType(pc, PCLINE));
  // Its own options, but not -pc_type, which may say sor.
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall((*pc->ops->setfromoptions)(pc, PetscOptionsObject));
  PetscOptionsEnd();
  PetscCall((*pc->ops->setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SorOrLine(PC pc)
{
  PetscFunctionBegin;
  PetscCall((*petscs[0])(pc));
  pc->ops->setup = Guarded<PCSetUp_SorOrLine>; // SOR has none
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr Creator replaced[] = {PCCreate_SorOrLine};

} // namespace

PetscErrorCode ReplaceSor()
{
  PetscFunctionBegin;
  PetscCall(PutBefore(PCList, types, replaced, petscs, PCRegister));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
