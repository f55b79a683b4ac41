#include "error_capture.hpp"

#include <algorithm>

namespace weft_mm {

namespace {

// PETSc's messages can have several lines; a row of a table has one.
std::string on_one_line(std::string text)
{
  std::string result;
  for (char letter : text) {
    if (letter == '\n' || letter == '\t') letter = ' ';
    if (letter != ' ' || (!result.empty() && result.back() != ' ')) result += letter;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

} // namespace

PetscErrorCode ErrorCapture::Handle(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType kind, const char *text,
                                    void *self)
{
  std::string &message = static_cast<ErrorCapture *>(self)->message_here_;
  if (kind != PETSC_ERROR_INITIAL || !message.empty()) return code; // on its way up the stack
  const char *general = nullptr;
  (void)PetscErrorMessage(code, &general, nullptr);
  message = on_one_line(text ? text : "");
  if (message.empty()) message = general ? general : "PETSc error";
  return code;
}

PetscErrorCode ErrorCapture::Agree(bool failed_here, bool &ok)
{
  PetscMPIInt rank = 0, size = 0, first_failed = 0;
  int length = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  first_failed = failed_here ? rank : size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first_failed, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  ok = first_failed == size;
  if (ok || !message_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::string message = message_here_.empty() ? "PETSc error" : message_here_;
  length              = static_cast<int>(message.size());
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, first_failed, PETSC_COMM_WORLD));
  message.resize(static_cast<std::size_t>(length));
  PetscCallMPI(MPI_Bcast(message.data(), length, MPI_CHAR, first_failed, PETSC_COMM_WORLD));
  message_ = message;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ErrorCapture::Run(const std::function<PetscErrorCode()> &step, bool &ok)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(Handle, this));
  const PetscErrorCode code = step();
  PetscCall(PetscPopErrorHandler());
  PetscCall(Agree(code != PETSC_SUCCESS, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft_mm
