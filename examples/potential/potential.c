static char help[] = "Potentials on a rectangular grid (DMDA), values 0 on the boundary, by whatever PETSc solver the options choose.\n\
  -problem charges : electric potential of three charges, -(u_xx + u_yy) = q\n\
  -problem gyre    : stream function of a wind-driven ocean with friction (Stommel 1948), r (u_xx + u_yy) + u_x = -sin(pi y)\n\
  -friction <0.03> : r\n\
  -da_grid_x, -da_grid_y <257> : nodes with those on the boundary\n\
  -view_potential vtk:FILE.vts : writes the solution\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

typedef enum {CHARGES, GYRE} Which;
typedef struct {
  Which which;
  PetscReal friction;
} Problem;

/* The exact stream function. */
static PetscReal Gyre(PetscReal r, PetscReal x, PetscReal y)
{
  const PetscReal root = PetscSqrtReal(1 + 4 * r * r * PETSC_PI * PETSC_PI), slow = (root - 1) / (2 * r), fast = (-root - 1) / (2 * r);
  const PetscReal a = (1 - PetscExpReal(fast)) / (PetscExpReal(slow) - PetscExpReal(fast));

  return PetscSinReal(PETSC_PI * y) / (r * PETSC_PI * PETSC_PI) * (1 - a * PetscExpReal(slow * x) - (1 - a) * PetscExpReal(fast * x));
}

/* The right-hand side: of the charges, each spread over the node next to it; of the wind. */
static PetscReal Source(Which which, PetscReal hx, PetscReal hy, PetscInt i, PetscInt j)
{
  static const PetscReal charges[3][3] = {{0.3, 0.35, 1}, {0.7, 0.4, -1}, {0.45, 0.75, 0.7}};
  PetscReal q = 0;

  if (which == GYRE) return -PetscSinReal(PETSC_PI * j * hy);
  for (PetscInt k = 0; k < 3; k++) {
    if ((PetscInt)(charges[k][0] / hx + 0.5) == i && (PetscInt)(charges[k][1] / hy + 0.5) == j) q += charges[k][2] / (hx * hy);
  }
  return q;
}

static PetscErrorCode ComputeRHS(KSP ksp, Vec b, void *context)
{
  const Problem *problem = (const Problem *)context;
  DM da;
  DMDALocalInfo info;
  PetscScalar **rhs;

  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArray(da, b, &rhs));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscBool boundary = (PetscBool)(i == 0 || j == 0 || i == info.mx - 1 || j == info.my - 1);
      rhs[j][i] = boundary ? 0 : Source(problem->which, 1.0 / (info.mx - 1), 1.0 / (info.my - 1), i, j);
    }
  }
  PetscCall(DMDAVecRestoreArray(da, b, &rhs));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Second-order central differences; rows of boundary nodes hold their diagonal. */
static PetscErrorCode ComputeMatrix(KSP ksp, Mat unused, Mat A, void *context)
{
  const Problem *problem = (const Problem *)context;
  DM da;
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  (void)unused;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  const PetscReal hx = 1.0 / (info.mx - 1), hy = 1.0 / (info.my - 1);
  const PetscReal diffusion = problem->which == GYRE ? problem->friction : -1, wind = problem->which == GYRE ? 1 : 0;
  const PetscReal west = diffusion / (hx * hx) - wind / (2 * hx), east = diffusion / (hx * hx) + wind / (2 * hx), north = diffusion / (hy * hy);
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      const PetscBool boundary = (PetscBool)(i == 0 || j == 0 || i == info.mx - 1 || j == info.my - 1);
      const PetscScalar values[5] = {-(west + east + 2 * north), west, east, north, north};
      const MatStencil row = {.i = i, .j = j}, columns[5] = {row, {.i = i - 1, .j = j}, {.i = i + 1, .j = j}, {.i = i, .j = j - 1}, {.i = i, .j = j + 1}};
      PetscCall(MatSetValuesStencil(A, 1, &row, boundary ? 1 : 5, columns, values, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode LargestError(DM da, PetscReal friction, Vec u, PetscReal *error)
{
  DMDALocalInfo info;
  PetscScalar **values;
  PetscReal largest = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(DMDAVecGetArrayRead(da, u, &values));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++)
      largest = PetscMax(largest, PetscAbsScalar(values[j][i] - Gyre(friction, (PetscReal)i / (info.mx - 1), (PetscReal)j / (info.my - 1))));
  }
  PetscCall(DMDAVecRestoreArrayRead(da, u, &values));
  PetscCallMPI(MPI_Allreduce(&largest, error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  const char *const names[] = {"charges", "gyre"};
  Problem problem = {CHARGES, 0.03};
  DM da;
  KSP ksp;
  Vec u;
  PetscInt which = CHARGES, iterations;
  PetscReal error;
  PetscLogDouble start, end;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-problem", names, 2, &which, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-friction", &problem.friction, NULL));
  problem.which = (Which)which;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 257, 257, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 1));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeRHS(ksp, ComputeRHS, &problem));
  PetscCall(KSPSetComputeOperators(ksp, ComputeMatrix, &problem));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL)); /* once for whatever a solver makes when it is first used */
  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetSolution(ksp, &u));
  PetscCall(PetscObjectSetName((PetscObject)u, "potential"));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, iterations %" PetscInt_FMT ", %.3f ms\n", names[which], KSPConvergedReasons[reason], iterations, 1e3 * (end - start)));
  if (which == GYRE) {
    PetscCall(LargestError(da, problem.friction, u, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest error %.3e\n", (double)error));
  }
  PetscCall(VecViewFromOptions(u, NULL, "-view_potential"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
