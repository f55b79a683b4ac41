static char help[] = "Diffusion and convection-diffusion in a rectangle: u_t + v . grad u = nu Laplace(u) + f, known values on the boundary, second\n\
order in space; any TS, Crank and Nicolson by default. It knows nothing of Weft: -dll_append libweft.so -ksp_type adi solves its steps.\n\
  -problem exponential : u = e^(x+2y) cos t in the unit square, v = 0, nu = 1, until t = 1\n\
  -problem pulse       : a pulse that moves and spreads from (1/2, 1/2), v = (4/5, 4/5), nu = 1/100, square of side 2, until t = 5/4\n\
  -da_grid_x, -da_grid_y <16> : inner nodes; -steps <16> : time steps; -output <file> : the last solution, PETSc binary\n";

#include <petscdmda.h>
#include <petscts.h>

typedef struct {
  DM da;
  Mat B; /* of the right-hand side */
  PetscBool pulse;
  PetscReal nu, v, side, end;
  PetscInt n[2];
} Heat;

static PetscReal Exact(const Heat *heat, PetscReal t, PetscReal x, PetscReal y)
{
  const PetscReal dx = x - 0.5 - heat->v * t, dy = y - 0.5 - heat->v * t;
  if (!heat->pulse) return PetscExpReal(x + 2 * y) * PetscCosReal(t);
  return PetscExpReal(-(dx * dx + dy * dy) / (heat->nu * (4 * t + 1))) / (4 * t + 1);
}

static PetscReal Source(const Heat *heat, PetscReal t, PetscReal x, PetscReal y)
{
  return heat->pulse ? 0 : -PetscExpReal(x + 2 * y) * (PetscSinReal(t) + 5 * heat->nu * PetscCosReal(t));
}

static PetscReal Width(const Heat *heat, int k)
{
  return heat->side / (heat->n[k] + 1);
}

/* Couplings to the neighbours before and after along direction k, times -1 they add up to the diagonal's part. */
static void Couplings(const Heat *heat, int k, PetscReal c[2])
{
  const PetscReal h = Width(heat, k);
  c[0] = heat->nu / (h * h) + heat->v / (2 * h);
  c[1] = heat->nu / (h * h) - heat->v / (2 * h);
}

static PetscErrorCode FillExact(const Heat *heat, PetscReal t, Vec u)
{
  PetscInt x, y, nx, ny, i, j;
  PetscScalar **values;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(heat->da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayWrite(heat->da, u, &values));
  for (j = y; j < y + ny; j++) {
    for (i = x; i < x + nx; i++) values[j][i] = Exact(heat, t, (i + 1) * Width(heat, 0), (j + 1) * Width(heat, 1));
  }
  PetscCall(DMDAVecRestoreArrayWrite(heat->da, u, &values));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The right-hand side is B u + f(t), f with the known values beside the boundary. */
static PetscErrorCode RightHandSide(TS ts, PetscReal t, Vec u, Vec g, void *context)
{
  const Heat *heat = (const Heat *)context;
  PetscInt x, y, nx, ny, i, j;
  PetscReal cx[2], cy[2];
  PetscScalar **values;

  PetscFunctionBeginUser;
  (void)ts;
  PetscCall(MatMult(heat->B, u, g));
  Couplings(heat, 0, cx);
  Couplings(heat, 1, cy);
  PetscCall(DMDAGetCorners(heat->da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArray(heat->da, g, &values));
  for (j = y; j < y + ny; j++) {
    for (i = x; i < x + nx; i++) {
      const PetscReal at_x = (i + 1) * Width(heat, 0), at_y = (j + 1) * Width(heat, 1);
      values[j][i] += Source(heat, t, at_x, at_y);
      if (i == 0) values[j][i] += cx[0] * Exact(heat, t, 0, at_y);
      if (i == heat->n[0] - 1) values[j][i] += cx[1] * Exact(heat, t, heat->side, at_y);
      if (j == 0) values[j][i] += cy[0] * Exact(heat, t, at_x, 0);
      if (j == heat->n[1] - 1) values[j][i] += cy[1] * Exact(heat, t, at_x, heat->side);
    }
  }
  PetscCall(DMDAVecRestoreArray(heat->da, g, &values));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode FillMatrix(const Heat *heat, Mat B)
{
  PetscInt x, y, nx, ny, i, j;
  PetscReal cx[2], cy[2];

  PetscFunctionBeginUser;
  Couplings(heat, 0, cx);
  Couplings(heat, 1, cy);
  PetscCall(DMDAGetCorners(heat->da, &x, &y, NULL, &nx, &ny, NULL));
  for (j = y; j < y + ny; j++) {
    for (i = x; i < x + nx; i++) {
      MatStencil row = {.i = i, .j = j}, columns[5];
      PetscScalar values[5];
      PetscInt count = 0;
#define COUPLE(there, di, dj, value) \
  if (there) columns[count].i = i + (di), columns[count].j = j + (dj), columns[count].k = 0, columns[count].c = 0, values[count++] = value
      COUPLE(1, 0, 0, -(cx[0] + cx[1] + cy[0] + cy[1]));
      COUPLE(i > 0, -1, 0, cx[0]);
      COUPLE(i + 1 < heat->n[0], 1, 0, cx[1]);
      COUPLE(j > 0, 0, -1, cy[0]);
      COUPLE(j + 1 < heat->n[1], 0, 1, cy[1]);
#undef COUPLE
      PetscCall(MatSetValuesStencil(B, 1, &row, count, columns, values, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Heat heat                    = {.nu = 1, .side = 1, .end = 1};
  const char *const problems[] = {"exponential", "pulse"};
  PetscInt problem = 0, steps = 16, taken, iterations;
  char file[PETSC_MAX_PATH_LEN];
  PetscBool output;
  PetscReal error, t;
  TS ts;
  Mat jacobian;
  Vec u, exact;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-problem", problems, 2, &problem, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-output", file, sizeof(file), &output));
  if (problem == 1) heat.pulse = PETSC_TRUE, heat.nu = 0.01, heat.v = 0.8, heat.side = 2, heat.end = 1.25;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 16, 16, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &heat.da));
  PetscCall(DMSetFromOptions(heat.da));
  PetscCall(DMSetUp(heat.da));
  PetscCall(DMDAGetInfo(heat.da, NULL, &heat.n[0], &heat.n[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMCreateMatrix(heat.da, &heat.B));
  PetscCall(DMCreateGlobalVector(heat.da, &u));
  PetscCall(VecDuplicate(u, &exact));
  PetscCall(FillMatrix(&heat, heat.B));
  PetscCall(MatDuplicate(heat.B, MAT_COPY_VALUES, &jacobian)); /* TS makes its own matrix of this one */
  PetscCall(MatSetDM(jacobian, heat.da));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, heat.da));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, RightHandSide, &heat));
  PetscCall(TSSetRHSJacobian(ts, jacobian, jacobian, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetType(ts, TSCN));
  PetscCall(TSSetTimeStep(ts, heat.end / steps));
  PetscCall(TSSetMaxTime(ts, heat.end));
  PetscCall(TSSetMaxSteps(ts, 100 * steps));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(FillExact(&heat, 0, u));
  PetscCall(TSSolve(ts, u));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &taken));
  PetscCall(TSGetKSPIterations(ts, &iterations));
  PetscCall(FillExact(&heat, t, exact));
  PetscCall(VecAXPY(exact, -1.0, u));
  PetscCall(VecNorm(exact, NORM_INFINITY, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time %g steps %" PetscInt_FMT " iterations %" PetscInt_FMT " error %.6e\n", (double)t, taken, iterations, (double)error));
  if (output) {
    PetscViewer viewer;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(u, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&jacobian));
  PetscCall(MatDestroy(&heat.B));
  PetscCall(DMDestroy(&heat.da));
  PetscCall(PetscFinalize());
  return 0;
}
