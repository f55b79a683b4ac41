// Runs PETSc calls so that an error in them returns here, with its message, on all ranks alike, where PETSc would print a stack and end the
// program. One thing an error leaves behind in PETSc cannot be reached from here: its count of nested solves. Therefore
// -ksp_error_if_not_converged no longer turns DIVERGED_ITS into an error after another set's error; the row then says DIVERGED_ITS, and has
// failed just the same.
#pragma once

#include "petsc_versions.hpp"

#include <functional>
#include <string>

namespace weft_mm {

class ErrorCapture {
public:
  // Collective. ok: no rank had an error. One rank's error can only be told to the others once they come back from the step too.
  PetscErrorCode Run(const std::function<PetscErrorCode()> &step, bool &ok);

  // The first error's message on the lowest rank that had one, the same on all ranks; empty where there was none.
  const std::string &message() const { return message_; }

private:
  static PetscErrorCode Handle(MPI_Comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType kind,
                               const char *text, void *self);

  PetscErrorCode Agree(bool failed_here, bool &ok);

  std::string message_;
  std::string message_here_;
};

} // namespace weft_mm
