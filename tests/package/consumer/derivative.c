static char help[] = "Linked to libweft_compact: derivatives of a wave on [0, 1]^dim, and what wrong calls say.\n\
  -dim <3>, -da_grid_x, _y, _z <33>, -periodic : the grid\n\
  -coordinates : it has coordinates\n\
  -prefix <name_> : the prefix of the grid\n\
  -mixed : vectors that PETSc's own default type made, whatever the grid's are\n\
  -wrong <name> : that call, and each rank's error\n";

#include <petscdmda.h>
#include <petscdmshell.h>
#include <weft_compact.h>

static const PetscReal phases[3] = {0.3, 0.5, 0.7};

/* sin(2 pi x_k + phase_k) multiplied over the directions; along one of them its derivative. */
static PetscErrorCode Wave(DM da, const PetscReal h[3], PetscInt along, PetscInt derivative, Vec u)
{
  DMDALocalInfo info;
  PetscScalar *values;
  PetscInt at[3], k, row = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(VecGetArrayWrite(u, &values));
  for (at[2] = info.zs; at[2] < info.zs + info.zm; at[2]++) {
    for (at[1] = info.ys; at[1] < info.ys + info.ym; at[1]++) {
      for (at[0] = info.xs; at[0] < info.xs + info.xm; at[0]++) {
        PetscReal value = 1;
        for (k = 0; k < info.dim; k++) {
          const PetscReal angle = 2 * PETSC_PI * h[k] * at[k] + phases[k];
          if (k != along || derivative == 0)
            value *= PetscSinReal(angle);
          else
            value *= derivative == 1 ? 2 * PETSC_PI * PetscCosReal(angle) : -4 * PETSC_PI * PETSC_PI * PetscSinReal(angle);
        }
        values[row++] = value;
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(u, &values));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Print(const char name[], PetscInt along, Vec du, Vec expected)
{
  PetscReal most;

  PetscFunctionBeginUser;
  PetscCall(VecAXPY(du, -1, expected));
  PetscCall(VecNorm(du, NORM_INFINITY, &most));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s along %c: error %.6e\n", name, "xyz"[along], (double)most));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* First and second derivatives of one order, the second one also with the first one's messages, and a filter. */
static PetscErrorCode Derivatives(DM da, const PetscReal h[3], PetscInt along, PetscInt order, Vec u, Vec du, Vec expected)
{
  WeftCompact first, second, filter;

  PetscFunctionBeginUser;
  PetscCall(WeftCompactCreate(da, along, order == 4 ? WEFT_COMPACT_FIRST_4 : WEFT_COMPACT_FIRST_6, h[along], &first));
  PetscCall(WeftCompactCreateBeside(first, order == 4 ? WEFT_COMPACT_SECOND_4 : WEFT_COMPACT_SECOND_6, &second));
  PetscCall(WeftCompactCreateFilter(da, along, order, 0.4, &filter));
  PetscCall(Wave(da, h, along, 0, u));
  PetscCall(WeftCompactApply(first, u, du));
  PetscCall(Wave(da, h, along, 1, expected));
  PetscCall(Print(order == 4 ? "first 4" : "first 6", along, du, expected));
  PetscCall(WeftCompactApply(first, u, du));
  PetscCall(WeftCompactApplyAgain(second, u, du));
  PetscCall(Wave(da, h, along, 2, expected));
  PetscCall(Print(order == 4 ? "again 4" : "again 6", along, du, expected));
  PetscCall(WeftCompactDestroy(&first)); /* the second one needs it no more */
  PetscCall(WeftCompactApply(second, u, du));
  PetscCall(Print(order == 4 ? "second 4" : "second 6", along, du, expected));
  PetscCall(WeftCompactApply(filter, u, du));
  PetscCall(Print(order == 4 ? "filter 4" : "filter 6", along, du, u));
  PetscCall(WeftCompactDestroy(&second));
  PetscCall(WeftCompactDestroy(&filter));
  PetscCheck(!first && !filter, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "a destroyed WeftCompact is not NULL");
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Right(DM da, const PetscReal h[3])
{
  PetscInt dim, along, order, rows;
  PetscBool mixed = PETSC_FALSE;
  Vec u, du, expected;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-mixed", &mixed, NULL));
  PetscCall(DMGetDimension(da, &dim));
  PetscCall(DMCreateGlobalVector(da, &u));
  if (mixed) {
    PetscCall(VecGetLocalSize(u, &rows));
    PetscCall(VecDestroy(&u));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rows, PETSC_DETERMINE, &u));
  }
  PetscCall(VecDuplicate(u, &du));
  PetscCall(VecDuplicate(u, &expected));
  for (along = 0; along < dim; along++) {
    for (order = 4; order <= 6; order += 2) PetscCall(Derivatives(da, h, along, order, u, du, expected));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&du));
  PetscCall(VecDestroy(&expected));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Wrong ways to create one; the grid is of 40 nodes along x. */
static PetscErrorCode WrongCreate(const char name[], DM da)
{
  WeftCompact compact;
  PetscBool is[12];
  const char *names[] = {"direction",   "scheme", "spacing", "nan",   "order",    "alpha",
                         "coordinates", "beside", "dm",      "setup", "unknowns", "boundary"};
  DM other            = NULL;
  PetscInt k;

  PetscFunctionBeginUser;
  for (k = 0; k < 12; k++) PetscCall(PetscStrcmp(name, names[k], &is[k]));
  if (is[0]) PetscCall(WeftCompactCreate(da, 1, WEFT_COMPACT_FIRST_4, 1, &compact));
  if (is[1]) PetscCall(WeftCompactCreate(da, 0, (WeftCompactScheme)7, 1, &compact));
  if (is[2]) PetscCall(WeftCompactCreate(da, 0, WEFT_COMPACT_FIRST_4, -1, &compact));
  if (is[3]) PetscCall(WeftCompactCreate(da, 0, WEFT_COMPACT_FIRST_4, NAN, &compact));
  if (is[4]) PetscCall(WeftCompactCreateFilter(da, 0, 5, 0.4, &compact));
  if (is[5]) PetscCall(WeftCompactCreateFilter(da, 0, 4, 0.6, &compact));
  if (is[6]) {
    PetscCall(DMDASetUniformCoordinates(da, 0, 2, 0, 0, 0, 0));
    PetscCall(WeftCompactCreate(da, 0, WEFT_COMPACT_FIRST_4, 1.0 / 39, &compact));
  }
  if (is[7]) PetscCall(WeftCompactCreateBeside(NULL, WEFT_COMPACT_FIRST_4, &compact));
  if (is[8]) PetscCall(DMShellCreate(PETSC_COMM_WORLD, &other));
  if (is[9]) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 40, 1, 1, NULL, &other));
  if (is[10]) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 40, 2, 1, NULL, &other));
  if (is[11]) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_MIRROR, 40, 1, 1, NULL, &other));
  if (is[10] || is[11]) PetscCall(DMSetUp(other));
  if (other) PetscCall(WeftCompactCreate(other, 0, WEFT_COMPACT_FIRST_4, 1, &compact));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Wrong ways to apply one. */
static PetscErrorCode WrongApply(const char name[], DM da)
{
  WeftCompact compact = NULL;
  PetscBool is[6];
  const char *names[] = {"long", "shifted", "same", "again", "destroyed", "local"};
  Vec u, other;
  PetscInt k, rows;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  for (k = 0; k < 6; k++) PetscCall(PetscStrcmp(name, names[k], &is[k]));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecGetLocalSize(u, &rows));
  PetscCall(WeftCompactCreate(da, 0, WEFT_COMPACT_FIRST_4, 1.0 / 39, &compact));
  if (is[0])
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rows + 1, PETSC_DETERMINE, &other));
  else if (is[1])
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rows + (rank == 0) - (rank == 1), PETSC_DETERMINE, &other)); /* ranks 0 and 1 alone see it */
  else if (is[5])
    PetscCall(DMCreateLocalVector(da, &other));
  else
    PetscCall(VecDuplicate(u, &other));
  if (is[4]) PetscCall(WeftCompactDestroy(&compact));
  if (is[3])
    PetscCall(WeftCompactApplyAgain(compact, u, other));
  else
    PetscCall(WeftCompactApply(compact, u, is[2] ? u : other));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Keeps what an error says first. */
static PetscErrorCode Listen(MPI_Comm comm, int line, const char function[], const char file[], PetscErrorCode code, PetscErrorType type,
                             const char message[], void *said)
{
  (void)comm, (void)line, (void)function, (void)file;
  if (type == PETSC_ERROR_INITIAL) (void)PetscStrncpy((char *)said, message, 1024);
  return code;
}

static PetscErrorCode Wrong(const char name[], DM da, const PetscReal h[3])
{
  PetscErrorCode code;
  PetscMPIInt rank;
  PetscBool tried, any;
  char said[1024] = "";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscPushErrorHandler(Listen, said));
  PetscCall(PetscStrcmp(name, "any", &any)); /* what options, or the grid, make of the right calls */
  code  = any ? Right(da, h) : WrongCreate(name, da);
  tried = code || any ? PETSC_TRUE : PETSC_FALSE;
  if (!tried) code = WrongApply(name, da);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "rank %d: %s\n", rank, code ? said : "no error"));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  DM da;
  DMBoundaryType ends;
  PetscInt dim = 3, n[3], k;
  PetscReal h[3];
  PetscBool periodic = PETSC_FALSE, coordinates = PETSC_FALSE, wrong, prefixed;
  char name[64], prefix[64];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-periodic", &periodic, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-coordinates", &coordinates, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-wrong", name, sizeof(name), &wrong));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-prefix", prefix, sizeof(prefix), &prefixed));
  ends = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, dim));
  PetscCall(DMDASetBoundaryType(da, ends, ends, ends));
  PetscCall(DMDASetSizes(da, 33, dim > 1 ? 33 : 1, dim > 2 ? 33 : 1));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  if (prefixed) PetscCall(DMSetOptionsPrefix(da, prefix));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (k = 0; k < 3; k++) h[k] = 1.0 / (periodic ? n[k] : PetscMax(n[k] - 1, 1));
  if (coordinates) PetscCall(DMDASetUniformCoordinates(da, 0, 1, 0, 1, 0, 1));
  if (wrong)
    PetscCall(Wrong(name, da, h));
  else
    PetscCall(Right(da, h));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
