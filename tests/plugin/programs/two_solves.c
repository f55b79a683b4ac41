static char help[] = "Solves twice with the KSP of the options on a grid of -dim 2 or 3 dimensions, and counts the copies between host and device of the second solve, and\n\
the arrays that Kokkos allocates before it and in it, where liballocations is preloaded and KOKKOS_TOOLS_LIBS names it.\n";

#include <dlfcn.h>

#include <petscdmda.h>
#include <petscksp.h>
#include <petsclog.h>

static PetscErrorCode Operator(KSP ksp, Mat J, Mat A, void *context)
{
  DM da;
  PetscInt x, y, z, m, n, p, i, j, l, mx, my, mz;

  PetscFunctionBeginUser;
  (void)J;
  (void)context;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &mx, &my, &mz, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &x, &y, &z, &m, &n, &p));
  for (l = z; l < z + p; l++) {
    for (j = y; j < y + n; j++) {
      for (i = x; i < x + m; i++) {
        MatStencil row = {0}, column[7];
        PetscScalar value[7];
        PetscInt k = 0;
        const PetscReal weak = 1e-3;
        row.i = i, row.j = j, row.k = l;
        column[k] = row, value[k++] = 2 * weak + (mz > 1 ? 4 : 2);
        if (i > 0) column[k] = row, column[k].i--, value[k++] = -weak;
        if (i + 1 < mx) column[k] = row, column[k].i++, value[k++] = -weak;
        if (j > 0) column[k] = row, column[k].j--, value[k++] = -1;
        if (j + 1 < my) column[k] = row, column[k].j++, value[k++] = -1;
        if (l > 0) column[k] = row, column[k].k--, value[k++] = -1;
        if (l + 1 < mz) column[k] = row, column[k].k++, value[k++] = -1;
        PetscCall(MatSetValuesStencil(A, 1, &row, k, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  KSP ksp;
  DM da;
  Vec b, x;
  PetscInt dim = 2;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  if (dim == 3) PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 17, 17, 17, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  else PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 65, 65, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, Operator, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPSolve(ksp, b, x));
  {
    long (*allocations)(void) = (long (*)(void))(intptr_t)dlsym(RTLD_DEFAULT, "weft_allocations");
    const long first          = allocations ? allocations() : 0;
#if defined(PETSC_HAVE_DEVICE)
    const PetscLogDouble before[] = {petsc_ctog_ct, petsc_gtoc_ct};
#endif
    PetscCall(KSPSolve(ksp, b, x));
#if defined(PETSC_HAVE_DEVICE)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "transfers in the second solve: to device %g, to host %g\n", petsc_ctog_ct - before[0], petsc_gtoc_ct - before[1]));
#endif
    if (allocations) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "arrays allocated before the second solve: %ld, in it: %ld\n", first, allocations() - first));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
