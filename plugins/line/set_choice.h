/// A setter of PCLINE's choices among names.
#pragma once
#include "line/line_impl.h"
#include "petsc/setters.h"

namespace weft {

template <auto member, auto last>
PetscErrorCode SetChoice(PC pc, decltype(last) value)
{
  PetscFunctionBegin;
  PetscCheck(value >= 0 && value <= last, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "a PCLINE has no such choice: %d",
             (int)value);
  PetscCall(Choose(pc, &(Data(pc)->*member), value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
