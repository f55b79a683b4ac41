/// A setter of PCLINE's choices among names.
#pragma once
#include <algorithm>

#include "line/line_impl.h"
#include "petsc/setters.h"

namespace weft {

/// What a choice is of, as in PCLineSetOrdering() and PCLineOrdering.
template <std::size_t size>
struct ChoiceName {
  char text[size];

  constexpr ChoiceName(const char (&from)[size]) { std::copy_n(from, size, text); }
};

template <ChoiceName name, auto member, auto last>
PetscErrorCode SetChoice(PC pc, decltype(last) value)
{
  PetscFunctionBegin;
  PetscCheck(value >= 0 && value <= last, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "PCLineSet%s(): invalid PCLine%s %d",
             name.text, name.text, (int)value);
  PetscCall(Choose(pc, &(Data(pc)->*member), value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
