#include "petsc/agreed.h"

#include <petsc/private/pcimpl.h>

#include <climits>
#include <stdexcept>
#include <string>
#include <vector>

#include "petsc/petsc_compat.h"

namespace weft {

namespace {

// One call of PETSc's error handler.
struct Frame {
  MPI_Comm comm;
  int line;
  const char *function, *file;
  PetscErrorCode code;
  PetscErrorType type;
  std::string message;
};

// The set-up that is under way, one inside the other.
struct SetUp {
  std::vector<Frame> frames; // of its error
  bool agreed      = false;  // the error is one that all ranks know of
  int applications = 0;      // that are under way in it
};

std::vector<SetUp> under_way;

// For tests: the call of PetscCallCXX that fails, counted from 1 in each set-up, and the rank that it fails on.
PetscInt fail_rank = 0, fail_at = 0, calls = 0;

// Errors wait until it is known whether all ranks have them: PETSc's own handler ends a rank that is not the first of its communicator.
PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type,
                    const char *message, void *)
{
  try {
    std::vector<Frame> &frames = under_way.back().frames;
    if (under_way.back().agreed && !frames.empty())
      type = PETSC_ERROR_REPEAT; // what the ranks have agreed on has gone through a kernel as an exception
    else if (type == PETSC_ERROR_INITIAL)
      frames.clear(); // one before it has been dealt with
    frames.push_back({comm, line, function, file, code, type, message ? message : ""});
  } catch (const std::exception &) { // without memory the error is told without its place
  }
  return code;
}

// The kept error, as if it were raised now; of this rank alone where not all have one. PetscError() takes a function off the stack that a PETSc with
// debugging keeps, and did so when the error was raised: each is put there again first, so that a caller who deals with the error finds its own.
PetscErrorCode Tell(const std::vector<Frame> &frames, bool all_failed)
{
  for (const Frame &f : frames) {
    PetscStackPushNoCheck(f.function, 0, PETSC_FALSE);
    (void)PetscError(all_failed ? f.comm : PETSC_COMM_SELF, f.line, f.function, f.file, f.code, f.type, "%s", f.message.c_str());
  }
  return PETSC_SUCCESS;
}

// All ranks bring what they have, an error or none. Collective. `error` becomes that of the first rank that has one, `sentence` what it says.
PetscErrorCode Gather(MPI_Comm comm, PetscErrorCode *error, bool *all_failed, PetscMPIInt *first, std::string *sentence)
{
  PetscMPIInt rank, here[2], least[2];
  char text[1024] = "";

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  here[0] = *error ? rank : INT_MAX;
  here[1] = *error ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(here, least, 2, MPI_INT, MPI_MIN, comm));
  *first      = least[0];
  *all_failed = least[1] == 1;
  if (*first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (rank == *first && !under_way.empty() && !under_way.back().frames.empty())
    PetscCall(PetscStrncpy(text, under_way.back().frames.front().message.c_str(), sizeof(text)));
  int code = static_cast<int>(*error);
  PetscCallMPI(MPI_Bcast(text, sizeof(text), MPI_CHAR, *first, comm));
  PetscCallMPI(MPI_Bcast(&code, 1, MPI_INT, *first, comm));
  *error    = static_cast<PetscErrorCode>(code);
  *sentence = text;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool Alone(MPI_Comm comm)
{
  PetscMPIInt size;
  return MPI_Comm_size(comm, &size) != MPI_SUCCESS || size == 1;
}

} // namespace

PetscErrorCode RanksAgree(MPI_Comm comm)
{
  PetscErrorCode error = PETSC_SUCCESS;
  bool all_failed;
  PetscMPIInt first;
  std::string sentence;

  PetscFunctionBegin;
  if (under_way.empty() || Alone(comm)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Gather(comm, &error, &all_failed, &first, &sentence));
  if (!error) PetscFunctionReturn(PETSC_SUCCESS);
  under_way.back().agreed = true;
  SETERRQ(PETSC_COMM_SELF, error, "rank %d failed: %s", (int)first, sentence.c_str());
}

void RanksAgreeOrThrow(MPI_Comm comm)
{
  if (RanksAgree(comm)) throw std::runtime_error("another rank failed");
}

void FailHere()
{
  if (fail_at == 0 || under_way.empty() || under_way.back().applications > 0 || ++calls != fail_at) return;
  PetscMPIInt rank;
  if (MPI_Comm_rank(PETSC_COMM_WORLD, &rank) == MPI_SUCCESS && rank == fail_rank)
    throw std::runtime_error("made to fail by -weft_fail_at " + std::to_string(fail_at));
}

ApplicationInSetUp::ApplicationInSetUp()
{
  if (!under_way.empty()) under_way.back().applications++;
}

ApplicationInSetUp::~ApplicationInSetUp()
{
  if (!under_way.empty()) under_way.back().applications--;
}

PetscErrorCode TogetherBegin(PetscObject object)
{
  PetscFunctionBegin;
  if (under_way.empty()) {
    calls = 0;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-weft_fail_rank", &fail_rank, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-weft_fail_at", &fail_at, NULL));
  }
  PetscCallCXX(under_way.emplace_back());
  if (!Alone(PetscObjectComm(object))) PetscCall(PetscPushErrorHandler(Keep, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TogetherEnd(PetscObject object, PetscErrorCode error)
{
  MPI_Comm comm = PetscObjectComm(object);

  PetscFunctionBegin;
  const bool mine = error;
  if (!Alone(comm)) {
    bool all_failed   = true;
    PetscMPIInt first = INT_MAX;
    std::string sentence;
    PetscCall(PetscPopErrorHandler());
    if (!under_way.back().agreed) PetscCall(Gather(comm, &error, &all_failed, &first, &sentence));
    const std::vector<Frame> frames = std::move(under_way.back().frames);
    if (mine) PetscCall(Tell(frames, all_failed));
    if (error && !mine) {
      under_way.pop_back();
      if (object->classid == PC_CLASSID) ((PC)object)->setupcalled = PETSC_FALSE;
      SETERRQ(PETSC_COMM_SELF, error, "rank %d failed: %s", (int)first, sentence.c_str());
    }
  }
  under_way.pop_back();
  // What it has half made is not used: PETSc takes matrices that it has seen once for set up.
  if (error && object->classid == PC_CLASSID) ((PC)object)->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(error);
}

} // namespace weft
