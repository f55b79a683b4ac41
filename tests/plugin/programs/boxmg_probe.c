static char help[] = "Looks at the levels of -pc_type boxmg on a grid (-da_grid_x ...) with a random diffusion coefficient.\n\
  -dim <2>, -velocity <0> : convection along all directions, upwind\n\
  -probe levels   : how many there are, and the largest relative difference of a coarse operator from P^T A P\n\
  -probe reset    : difference between applications before PCReset() and after another set-up\n\
  -probe lagged   : difference between applications of a kept preconditioner, before and after the matrix has other values\n\
  -probe foreign  : the first row couples to the last one\n\
  -probe mismatch : the PC has a DMDA of another size\n\
  -probe many     : PCMatApply() on matrices of other leading dimensions, and the largest difference from PCApply()\n";

#include <petscdmda.h>
#include <petscksp.h>

/* A number from 0.1 to 10 for each face, whatever the ranks. */
static PetscReal Coefficient(const PetscInt node[3], PetscInt axis, PetscInt round)
{
  const PetscReal x = PetscSinReal(12.9898 * (node[0] + 1) + 78.233 * (node[1] + 1) + 37.719 * (node[2] + 1) + 4.581 * axis + round) * 43758.5453;

  return PetscPowReal(10, 2 * (x - PetscFloorReal(x)) - 1);
}

static PetscErrorCode Fill(DM da, Mat A, PetscReal velocity, PetscInt round)
{
  PetscInt dim, n[3], first[3], count[3];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &dim, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &first[0], &first[1], &first[2], &count[0], &count[1], &count[2]));
  for (PetscInt k = first[2]; k < first[2] + count[2]; k++) {
    for (PetscInt j = first[1]; j < first[1] + count[1]; j++) {
      for (PetscInt i = first[0]; i < first[0] + count[0]; i++) {
        const PetscInt node[3] = {i, j, k};
        MatStencil row = {0}, columns[7];
        PetscScalar values[7];
        PetscInt entries = 1;

        row.i = i, row.j = j, row.k = k;
        columns[0] = row;
        values[0]  = 0;
        for (PetscInt axis = 0; axis < dim; axis++) {
          for (PetscInt side = -1; side <= 1; side += 2) {
            PetscInt face[3] = {i, j, k}, there = node[axis] + side;
            PetscReal coupling;

            if (side < 0) face[axis]--;
            coupling = Coefficient(face, axis, round) + (side < 0 ? velocity : 0);
            values[0] += coupling;
            if (there < 0 || there >= n[axis]) continue;
            columns[entries] = row;
            if (axis == 0) columns[entries].i = there;
            if (axis == 1) columns[entries].j = there;
            if (axis == 2) columns[entries].k = there;
            values[entries++] = -coupling;
          }
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, entries, columns, values, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Levels(PC pc, Mat A)
{
  Mat *operators, *interpolations, product;
  PetscInt count, other;
  PetscReal norm, difference, worst = 0;

  PetscFunctionBeginUser;
  PetscCall(PCGetCoarseOperators(pc, &count, &operators));
  PetscCall(PCGetInterpolations(pc, &other, &interpolations));
  for (PetscInt k = 0; k < count - 1; k++) {
    Mat finer = k == count - 2 ? A : operators[k + 1];
    PetscCall(MatPtAP(finer, interpolations[k], MAT_INITIAL_MATRIX, 2, &product));
    PetscCall(MatNorm(operators[k], NORM_FROBENIUS, &norm));
    PetscCall(MatAXPY(product, -1, operators[k], DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatNorm(product, NORM_FROBENIUS, &difference));
    worst = PetscMax(worst, difference / norm);
    PetscCall(MatDestroy(&product));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "levels %" PetscInt_FMT " %" PetscInt_FMT "\nGalerkin difference %.3e\n", count, other, (double)worst));
  for (PetscInt k = 0; k < count - 1; k++) {
    PetscCall(MatDestroy(&operators[k]));
    PetscCall(MatDestroy(&interpolations[k]));
  }
  PetscCall(PetscFree(operators));
  PetscCall(PetscFree(interpolations));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const char name[], Vec x, Vec y)
{
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_2, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s difference %.3e\n", name, (double)(difference / norm)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Many(PC pc, Mat A)
{
  Mat B, X;
  Vec b, x, y;
  PetscInt rows, all;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &rows, NULL));
  PetscCall(MatGetSize(A, &all, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, all, 3, NULL, &B));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(PCMatApply(pc, B, X));
  PetscCall(MatCreateVecs(A, NULL, &y));
  for (PetscInt k = 0; k < 3; k++) {
    PetscCall(MatDenseGetColumnVecRead(B, k, &b));
    PetscCall(PCApply(pc, b, y));
    PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
    PetscCall(MatDenseGetColumnVecRead(X, k, &x));
    PetscCall(Print("column", x, y));
    PetscCall(MatDenseRestoreColumnVecRead(X, k, &x));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM da, other;
  Mat A;
  Vec b, x, y;
  KSP ksp;
  PC pc;
  PetscInt dim       = 2;
  PetscReal velocity = 0;
  char probe[32]     = "levels";
  PetscBool is;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-velocity", &velocity, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-probe", probe, sizeof(probe), NULL));
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, dim));
  PetscCall(DMDASetSizes(da, 17, dim > 1 ? 17 : 1, dim > 2 ? 17 : 1));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMDASetStencilType(da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(Fill(da, A, velocity, 0));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, NULL));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscStrcmp(probe, "foreign", &is));
  if (is) {
    PetscInt first, all;

    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatGetOwnershipRange(A, &first, NULL));
    PetscCall(MatGetSize(A, &all, NULL));
    if (first == 0) PetscCall(MatSetValue(A, 0, all - 1, 0.1, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscStrcmp(probe, "mismatch", &is));
  if (is) {
    PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 50, 1, 1, NULL, &other));
    PetscCall(DMSetUp(other));
    PetscCall(PCSetDM(pc, other));
    PetscCall(MatSetDM(A, NULL));
    PetscCall(PCSetUp(pc));
  }
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PetscStrcmp(probe, "levels", &is));
  if (is) PetscCall(Levels(pc, A));
  PetscCall(PetscStrcmp(probe, "many", &is));
  if (is) PetscCall(Many(pc, A));
  PetscCall(PetscStrcmp(probe, "reset", &is));
  if (is) {
    PetscCall(PCReset(pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, y));
    PetscCall(Print("reset", x, y));
  }
  PetscCall(PetscStrcmp(probe, "lagged", &is));
  if (is) {
    PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
    PetscCall(Fill(da, A, velocity, 1));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, y));
    PetscCall(Print("kept", x, y));
    PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, y));
    PetscCall(Print("new", x, y));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
