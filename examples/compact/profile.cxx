#include "profile.hpp"

#include <petsclog.h>

#include <cstdio>

namespace compact {

PetscErrorCode StageOf(const std::string &name, PetscLogStage *stage)
{
  PetscFunctionBeginUser;
  PetscCall(PetscLogStageGetId(name.c_str(), stage));
  if (*stage < 0) PetscCall(PetscLogStageRegister(name.c_str(), stage));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode StepsOf(PetscLogStage stage, PetscInt calls, std::string *steps)
{
  const char *const events[] = {"CompactHalo", "CompactStencil", "CompactSweep", "PCLineProducts", "PCLineReduced", "CompactSolve"};
  const char *const names[]  = {"halo", "stencil", "sweep", "faces", "reduced", "piece"};
  double milliseconds[6];

  PetscFunctionBeginUser;
  for (int k = 0; k < 6; k++) {
    PetscLogEvent event;
    PetscEventPerfInfo info;
    milliseconds[k] = 0;
    PetscCall(PetscLogEventGetId(events[k], &event));
    if (event < 0) continue; // of a library that is not loaded
    PetscCall(PetscLogEventGetPerfInfo(stage, event, &info));
    milliseconds[k] = 1e3 * (double)info.time / (double)calls;
  }
  milliseconds[5] -= milliseconds[3] + milliseconds[4]; // parts of the solve
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, milliseconds, 6, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  steps->clear();
  for (int k = 0; k < 6; k++) {
    char text[64];
    if (milliseconds[k] <= 0) continue;
    std::snprintf(text, sizeof(text), "%s\"%s\": %.5g", steps->empty() ? "" : ", ", names[k], milliseconds[k]);
    *steps += text;
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace compact
