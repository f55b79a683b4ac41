static char help[] = "Linked to Weft: registers its types itself and calls its setters.\n";

#include <pc/line/line.h>

int main(int argc, char **argv)
{
  PC pc;
  Mat A;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
#if defined(PETSC_IS_MINE)
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "with a PETSc target of its own\n"));
#endif
  PetscCall(PetscDLLibraryRegister_weft());
  PetscCall(PetscDLLibraryRegister_weft());
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, 4, 4, 4, 4, 2.0, &A));
  PetscCall(MatConvert(A, MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCLINE));
  PetscCall(PCLineSetDirection(pc, PC_LINE_AUTO));
  PetscCall(PCLineSetOrdering(pc, PC_LINE_JACOBI));
  PetscCall(PCLineSetKernel(pc, "pcr"));
  PetscCall(PCLineSetSweeps(pc, 2));
  PetscCall(PCLineSetOmega(pc, 0.5));
  PetscCall(PCSetUp(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_SELF));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PCLineSetSweeps(pc, 3)); /* no effect on another type, and no error */
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
