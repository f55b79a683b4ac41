static char help[] = "Lines of a grid that share one matrix, which is given by itself: right ones and wrong ones.\n\
  -wrong <nothing> : nothing, inside (a row between differs), wide (an entry beside the neighbours), size (a row too few), dense (no AIJ matrix),\n\
                     missing (the last rank gives none), grid (no DMDA)\n\
  -n <x,y> : grid sizes, -direction <0> : of the lines, -dof : unknowns a node, -ring <x,y> : 1 for periodic directions\n";

#include <petscdmda.h>
#include <petscksp.h>

/* Rows (-1, 4, -1.5), the first one (0, 5, -1), a ring's all alike. */
static PetscErrorCode LineMatrix(PetscInt n, PetscBool ring, const char wrong[], Mat *one)
{
  PetscInt row, k;
  PetscBool inside, wide, dense;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(wrong, "inside", &inside));
  PetscCall(PetscStrcmp(wrong, "wide", &wide));
  PetscCall(PetscStrcmp(wrong, "dense", &dense));
  if (dense) PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, one));
  else PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 4, NULL, one));
  for (row = 0; row < n; row++) {
    PetscScalar values[3] = {-1.0, 4.0, -1.5};
    if (row == 0 && !ring) values[1] = 5.0, values[2] = -1.0;
    if (row == n / 2 && inside) values[1] = 4.5;
    if (row == n / 2 && wide) PetscCall(MatSetValue(*one, row, row + 2, 0.5, INSERT_VALUES));
    for (k = -1; k <= 1; k++) {
      const PetscInt column = ring ? (row + k + n) % n : row + k;
      if (column >= 0 && column < n) PetscCall(MatSetValue(*one, row, column, values[k + 1], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*one, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*one, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The whole matrix, to see what the residual is. */
static PetscErrorCode WholeMatrix(DM da, Mat one, PetscInt direction, PetscInt dof, PetscBool ring, Mat *A)
{
  PetscInt x, y, nx, ny, i, j, c, k, n;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(MatGetSize(one, &n, NULL));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  for (j = y; j < y + ny; j++) {
    for (i = x; i < x + nx; i++) {
      for (c = 0; c < dof; c++) {
        const PetscInt row = direction ? j : i;
        for (k = -1; k <= 1; k++) {
          MatStencil to = {0}, from;
          PetscInt column = ring ? (row + k + n) % n : row + k;
          PetscScalar value;
          if (column < 0 || column >= n) continue;
          to.i = i, to.j = j, to.c = c;
          from = to;
          if (direction) from.j += k;
          else from.i += k;
          PetscCall(MatGetValue(one, row, column, &value));
          PetscCall(MatSetValuesStencil(*A, 1, &to, 1, &from, &value, INSERT_VALUES));
        }
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  PetscInt n[2] = {9, 40}, ring[2] = {0, 0}, two = 2, direction = 0, dof = 1, local;
  char wrong[32] = "nothing";
  PetscBool size, missing, grid;
  PetscMPIInt rank, ranks;
  PetscReal norm, residual;
  DM da;
  Mat one, shell, whole;
  KSP ksp;
  PC pc;
  Vec b, x, r;
  VecType type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &two, NULL));
  two = 2;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-ring", ring, &two, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-direction", &direction, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dof", &dof, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-wrong", wrong, sizeof(wrong), NULL));
  PetscCall(PetscStrcmp(wrong, "size", &size));
  PetscCall(PetscStrcmp(wrong, "missing", &missing));
  PetscCall(PetscStrcmp(wrong, "grid", &grid));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, ring[0] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE, ring[1] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE,
                         DMDA_STENCIL_STAR, n[0], n[1], PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecGetLocalSize(b, &local));
  PetscCall(VecGetType(b, &type));
  PetscCall(LineMatrix(n[direction] - (size ? 1 : 0), (PetscBool)ring[direction], wrong, &one));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &shell));
  PetscCall(MatSetUp(shell));
  PetscCall(MatShellSetVecType(shell, type));
  if (!missing || rank + 1 < ranks) PetscCall(PetscObjectCompose((PetscObject)shell, "weft_line", (PetscObject)one));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  if (!grid) PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetOperators(ksp, shell, shell));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(WholeMatrix(da, one, direction, dof, (PetscBool)ring[direction], &whole));
  PetscCall(MatMult(whole, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %.3e\n", (double)(residual / norm)));
  PetscCall(MatDestroy(&whole));
  PetscCall(MatDestroy(&shell));
  PetscCall(MatDestroy(&one));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
