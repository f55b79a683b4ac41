static char help[] = "Waves from a point source in a square, -u_xx - u_yy - k^2 (1 - i s) u = f, with layers at the sides that absorb them, for a PETSc with complex\n\
scalars, by whatever PETSc solver the options choose. The preconditioner is made of the shifted Laplacian -u_xx - u_yy - k^2 (1 - i shift) u.\n\
  -da_grid_x, -da_grid_y <257> : nodes along each side\n\
  -waves <10>   : wave lengths along each side\n\
  -layer <0.15> : share of a side that each layer takes\n\
  -shift <0.5>  : of the shifted Laplacian\n\
  -view_wave vtk:FILE.vts : writes the solution\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

/* How deep in the layer a node is that has this place along a side, from 0 to 1. */
static PetscReal Depth(PetscReal place, PetscReal layer)
{
  const PetscReal deep = layer > 0 ? PetscMax(0, layer - PetscMin(place, 1 - place)) / layer : 0;

  return deep * deep;
}

/* The five points of -u_xx - u_yy - k^2 (1 - i s) u, times h^2, with u = 0 beyond the sides: s is shift everywhere, or for no shift that of the layers. */
static PetscErrorCode Fill(DM da, PetscReal waves, PetscReal layer, PetscReal shift, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  const PetscReal h = 1.0 / (info.mx + 1), k = 2 * PETSC_PI * waves * h;
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscReal s = shift > 0 ? shift : Depth((i + 1) * h, layer) + Depth((j + 1) * h, layer);
      const MatStencil row = {.i = i, .j = j}, others[4] = {{.i = i - 1, .j = j}, {.i = i + 1, .j = j}, {.i = i, .j = j - 1}, {.i = i, .j = j + 1}};
      MatStencil columns[5] = {row};
      PetscScalar values[5] = {4 - k * k * (1 - PETSC_i * s)};
      PetscInt count        = 1;
      for (PetscInt n = 0; n < 4; n++) {
        if (others[n].i < 0 || others[n].i >= info.mx || others[n].j < 0 || others[n].j >= info.my) continue;
        columns[count]  = others[n];
        values[count++] = -1;
      }
      PetscCall(MatSetValuesStencil(A, 1, &row, count, columns, values, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* A point source. */
static PetscErrorCode Source(DM da, Vec b)
{
  DMDALocalInfo info;
  PetscScalar **f;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArray(da, b, &f));
  const PetscInt i = info.mx / 4, j = info.my / 3;
  if (i >= info.xs && i < info.xs + info.xm && j >= info.ys && j < info.ys + info.ym) f[j][i] = 1;
  PetscCall(DMDAVecRestoreArray(da, b, &f));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  PetscReal waves = 10, layer = 0.15, shift = 0.5, norm, residual;
  PetscLogDouble start, ready, end;
  PetscInt iterations;
  KSPConvergedReason reason;
  DMDALocalInfo info;
  DM da;
  Mat A, M;
  Vec b, u, r;
  KSP ksp;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-waves", &waves, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-layer", &layer, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &shift, NULL));
  PetscCheck(shift > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-shift %g: the shifted Laplacian has one above 0", (double)shift);
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 257, 257, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 1));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateMatrix(da, &M));
  PetscCall(Fill(da, waves, layer, 0, A));
  PetscCall(Fill(da, waves, layer, shift, M));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(Source(da, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetOperators(ksp, A, M));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSolve(ksp, b, u)); /* once for whatever a solver makes when it is first used */
  PetscCall(MatScale(M, 1));      /* counts as new values, on the device where they are there */
  PetscCall(VecNorm(u, NORM_2, &norm)); /* waits for a device */
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&ready));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(MatMult(A, u, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " x %" PetscInt_FMT " nodes, %g waves: %s, iterations %" PetscInt_FMT ", residual %.1e, new values %.3f ms, solve %.3f ms\n", info.mx, info.my, (double)waves, KSPConvergedReasons[reason], iterations, (double)(residual / norm), 1e3 * (ready - start), 1e3 * (end - ready)));
  PetscCall(PetscObjectSetName((PetscObject)u, "wave"));
  PetscCall(VecViewFromOptions(u, NULL, "-view_wave"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
