static char help[] = "A program with OpenMP threads of its own: prints how many it may use before and after a PC was set up and applied.\n";

#include <omp.h>
#include <petscksp.h>

int main(int argc, char **argv)
{
  Mat A;
  PC pc;
  Vec x, y;
  int before;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  omp_set_num_threads(3);
  before = omp_get_max_threads();
  PetscCall(MatCreateAIJ(PETSC_COMM_SELF, 4, 4, 4, 4, 1, NULL, 0, NULL, &A));
  for (PetscInt i = 0; i < 4; i++) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "threads before %d, after %d\n", before, omp_get_max_threads()));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
