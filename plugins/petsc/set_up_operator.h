/// The matrix that a set-up read, and Richardson's iteration where the operator is another one.
#pragma once
#include <petsc/private/pcimpl.h>

#include "petsc/petsc_compat.h"
#include "petsc/residual.h"

namespace weft {

/// The matrix that the last set-up read, and its state then. A preconditioner that is kept (PCSetReusePreconditioner()) outlives its values, and the
/// matrix itself: another one that the same calls made has the same state.
struct SetUpOperator {
  PetscObjectId matrix   = 0;
  PetscObjectState state = 0;

  PetscErrorCode read(Mat A)
  {
    PetscFunctionBegin;
    PetscCall(PetscObjectGetId((PetscObject)A, &matrix));
    PetscCall(PetscObjectStateGet((PetscObject)A, &state));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode read(PC pc) { return read(pc->pmat); }

  /// Whether A, or the matrix that is preconditioned with, is that one still, with those values.
  PetscErrorCode is_matrix(Mat A, bool *is) const
  {
    SetUpOperator now;

    PetscFunctionBegin;
    PetscCall(now.read(A));
    *is = now.matrix == matrix && now.state == state;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode is_matrix(PC pc, bool *is) const { return is_matrix(pc->pmat, is); }

  /// Whether the operator is.
  PetscErrorCode is_operator(PC pc, bool *is) const
  {
    PetscFunctionBegin;
    PetscCall(is_matrix(pc, is));
    *is = *is && pc->mat == pc->pmat;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// x += M^-1 (b - A x), `its` times, with the operator A as it is now; `r` is work space. `apply(r, z)` makes z = M^-1 r. Collective.
template <class Apply>
PetscErrorCode RichardsonSteps(PC pc, Vec b, Vec x, Vec r, PetscInt its, bool zero_guess, Apply apply)
{
  Vec z;

  PetscFunctionBegin;
  if (zero_guess) PetscCall(VecZeroEntries(x));
  PetscCall(VecDuplicate(x, &z));
  for (PetscInt step = 0; step < its; step++) {
    if (step > 0 || !zero_guess)
      PetscCall(Residual(pc->mat, b, x, r, Transpose::no));
    else
      PetscCall(VecCopy(b, r));
    PetscCall(apply(r, z));
    PetscCall(VecAXPY(x, 1, z));
  }
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
