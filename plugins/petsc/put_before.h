/// Types of PETSc's that do something of ours as well.
#pragma once
#include <petscsys.h>

#include <cstddef>

#include "petsc/petsc_compat.h"

namespace weft {

/// Puts `ours` where `list` has PETSc's creators of these types, and keeps those in `petscs`, for ours to call. Nothing happens to a type that
/// the list lacks, and to one that was put there before. `enlist` is PCRegister() or KSPRegister().
template <std::size_t n, class Creator, class Enlist>
PetscErrorCode PutBefore(PetscFunctionList list, const char *const (&types)[n], const Creator (&ours)[n], Creator (&petscs)[n],
                         const Enlist &enlist)
{
  PetscFunctionBegin;
  for (std::size_t type = 0; type < n; type++) {
    Creator known = NULL;

    PetscCall(PetscFunctionListFind(list, types[type], &known));
    if (!known || known == ours[type]) continue;
    petscs[type] = known;
    PetscCall(enlist(types[type], ours[type]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
