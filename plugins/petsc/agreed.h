/// Errors that one rank has and all hear of, so that none waits for ever in a collective call to which another one never comes.
///
/// A set-up is made of what each rank does alone and of collective calls. Before each of these stands PetscCall(RanksAgree(comm)). A rank whose
/// own part fails does not come there: its error goes up to Together<>, the function that PETSc calls, and takes part in that agreement there.
/// All ranks then return with an error that names the first rank that failed, and its cause. An application agrees about nothing: it would cost
/// a message, and what may fail in it has been made in set-up.
///
/// -weft_fail_at N -weft_fail_rank R makes the N-th PetscCallCXX of a set-up fail on rank R: tests go through all of them.
#pragma once
#include <limits>

#include "petsc/guarded.h"
#include "petsc/petsc_compat.h"

namespace weft {

/// After all rows: what a rank without one brings where ranks look for the first of theirs.
inline constexpr PetscInt64 no_row = std::numeric_limits<PetscInt64>::max();

/// The ranks come here together: an error on all of them where one has failed on its way. Collective.
PetscErrorCode RanksAgree(MPI_Comm comm);

/// The same for callbacks of kernels, which throw.
void RanksAgreeOrThrow(MPI_Comm comm);

/// A kernel's function that is collective itself: the ranks agree, then call it. An exception in the middle of it is told by the rank that has
/// it, and the others may wait: what can be refused is refused before.
template <class Work>
PetscErrorCode CallTogether(MPI_Comm comm, const Work &work)
{
  PetscFunctionBegin;
  PetscCallCXX((void)0); // a test makes it fail here
  PetscCall(RanksAgree(comm));
  PetscCall(GuardedWork(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// While it lives, a set-up applies what it has made; tests let no call fail.
class ApplicationInSetUp {
public:
  ApplicationInSetUp();
  ~ApplicationInSetUp();
  ApplicationInSetUp(const ApplicationInSetUp &)            = delete;
  ApplicationInSetUp &operator=(const ApplicationInSetUp &) = delete;
};

/// What Together<> does before and after a set-up. TogetherEnd returns `error`, or that of another rank.
PetscErrorCode TogetherBegin(PetscObject object);
PetscErrorCode TogetherEnd(PetscObject object, PetscErrorCode error);

template <auto Function, class Object>
PetscErrorCode TogetherCall(Object object)
{
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(TogetherBegin((PetscObject)object));
  error = GuardedCall<Function>(object);
  PetscCall(TogetherEnd((PetscObject)object, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The set-up to give to PETSc: calls Function(object), makes PETSc errors of exceptions, and one rank's errors those of all.
template <auto Function>
inline constexpr auto Together = [](auto object) { return TogetherCall<Function>(object); };

} // namespace weft
