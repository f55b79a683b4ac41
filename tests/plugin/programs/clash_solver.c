/* Another plugin, which registers a MatSolverType of the name that Weft uses. */
#include <petscmat.h>

static PetscErrorCode Create(Mat A, MatFactorType type, Mat *factor)
{
  return MatGetFactor(A, MATSOLVERPETSC, type, factor);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_clash_solver(void)
{
  return MatSolverTypeRegister("crout", MATSEQAIJ, MAT_FACTOR_LU, Create);
}
