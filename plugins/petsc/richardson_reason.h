/// What types with a Richardson iteration of their own tell KSPRICHARDSON.
#pragma once
#include <petsc/private/kspimpl.h>

#include <cstring>

#include "petsc/finite_entries.h"
#include "petsc/petsc_compat.h"

namespace weft {

/// Tells KSPRICHARDSON how an iteration ended. It takes the number for a KSPConvergedReason, of which PCRichardsonConvergedReason has but some: an enum
/// in C++ may not be made to hold the others.
inline void TellRichardson(KSPConvergedReason why, PCRichardsonConvergedReason *reason)
{
  static_assert(sizeof(*reason) == sizeof(why));
  std::memcpy(reason, &why, sizeof(why));
}

/// How PCApplyRichardson() ended that has no tolerance to reach.
inline KSPConvergedReason RichardsonReason(bool failed)
{
  return failed ? KSP_DIVERGED_PC_FAILED : KSP_CONVERGED_ITS;
}

/// Whether the KSP that is about to solve looks at norms; for PCPreSolve.
inline PetscErrorCode AsksNorms(KSP ksp, bool *asks_norms)
{
  KSPNormType norm;

  PetscFunctionBegin;
  PetscCall(KSPGetNormType(ksp, &norm));
  *asks_norms = norm != KSP_NORM_NONE && ksp->converged != KSPConvergedSkip;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same after a look at the result, where the KSP asks for norms (AsksNorms()): a smoother of multigrid does not, and
/// a look would make it wait for a device and for the other ranks. Collective where it asks.
inline PetscErrorCode RichardsonReason(bool failed, bool asks_norms, Vec result, PCRichardsonConvergedReason *reason)
{
  bool finite = true;

  PetscFunctionBegin;
  if (!failed && asks_norms) PetscCall(HasFiniteEntries(result, &finite));
  TellRichardson(finite ? RichardsonReason(failed) : KSP_DIVERGED_NANORINF, reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
