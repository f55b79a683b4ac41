/// Residuals of a system and of its transpose.
#pragma once
#include <petscmat.h>

#include "line/line_problem.hpp" // Transpose
#include "petsc/petsc_compat.h"

namespace weft {

/// r = b - A x, or b - A^T x.
inline PetscErrorCode Residual(Mat A, Vec b, Vec x, Vec r, Transpose transpose)
{
  PetscFunctionBegin;
  if (transpose == Transpose::no) {
    PetscCall(MatResidual(A, b, x, r));
  } else {
    PetscCall(MatMultTranspose(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace weft
