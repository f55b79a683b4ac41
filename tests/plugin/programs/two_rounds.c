static char help[] = "Solves a small system in each of two rounds of PetscInitialize() and PetscFinalize().\n";

#include <petscksp.h>

static PetscErrorCode Solve(void)
{
  KSP ksp;
  Mat A;
  Vec x, b;
  KSPConvergedReason reason;
  PetscInt start, end, i, iterations;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 50, 50, 3, NULL, 1, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i, 2.5, INSERT_VALUES));
    if (i < 49) PetscCall(MatSetValue(A, i, i + 1, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s iterations %" PetscInt_FMT "\n", KSPConvergedReasons[reason], iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  int round;

  MPI_Init(&argc, &argv); /* so that PetscFinalize() leaves MPI running */
  for (round = 0; round < 2; round++) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(Solve());
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}
