/// What the steps of a derivative take, from PETSc's log.
#pragma once
#include <petscsys.h>

#include <string>

namespace compact {

/// The stage of this name, registered if it is not yet.
PetscErrorCode StageOf(const std::string &name, PetscLogStage *stage);

/// Milliseconds of a call on the slowest rank, as members of a JSON object: "halo" (messages of the right-hand side), "stencil", "sweep" (both in one
/// pass), "faces" (what other ranks need of a line's piece), "reduced" (their messages and the unknowns at ends) and "piece" (the local solve and
/// its correction). Steps that did not run are left out. Collective.
PetscErrorCode StepsOf(PetscLogStage stage, PetscInt calls, std::string *steps);

} // namespace compact
