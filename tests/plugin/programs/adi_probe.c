static char help[] = "Diffusion on a 2- or 3-dimensional grid, with what a splitting into directions may meet.\n\
  -n <x,y,z>         : nodes; -ring <0|1,...> : closed directions\n\
  -shape <none|square|circle> : none: a random right-hand side. square, circle: -Laplace(u) = -5 e^(x+2y) in it, rows of the identity with the\n\
                       values of e^(x+2y) in the cells around it (n - 4 cells are the square's width); prints the error\n\
  -lines <c>, -corners <c> : strength of the couplings along the directions, and to nodes across a corner\n\
  -jump <c>          : the conductivity in the grid's middle, 1 elsewhere\n\
  -convection <v>, -reaction <s> : cell Peclet number along x and y (central differences, with -upwind of first\n\
                       order), and what is added to the diagonal; -scale <s> : of the whole matrix\n\
  -strength <x,y,z>  : of the couplings along each direction\n\
  -neumann 0,1,0     : no flux at the ends along y; where no end has values the right-hand side is made consistent\n\
  -penalty <d>       : the diagonal of the nodes with x = 0 or y = 0, whose values are then known, and random\n\
  -star              : the matrix has no place for corners, and takes less memory\n\
  -bad <value>       : the diagonal of the last row (nan, inf, 0, ...)\n\
  -guess             : starts from a random guess; -solves <n> : as many times; -time : prints the\n\
                       seconds of the last one; -give_dm : the PC has the grid, for -pc_type mg\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

typedef enum { NONE, SQUARE, CIRCLE } Shape;

typedef struct {
  DM da;
  PetscInt dim, n[3];
  PetscBool ring[3];
  Shape shape;
  PetscReal lines, corners, jump, convection, reaction, scale, strength[3], penalty;
  PetscBool neumann[3], upwind;
} Problem;

static PetscReal Place(const Problem *p, PetscInt i)
{
  return (i - 1.5) / (p->n[0] - 4);
}

static PetscBool Inner(const Problem *p, PetscInt i, PetscInt j)
{
  const PetscReal x = Place(p, i), y = Place(p, j);
  if (p->shape == CIRCLE) return (x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5) < 0.25 ? PETSC_TRUE : PETSC_FALSE;
  return x > 0 && x < 1 && y > 0 && y < 1 ? PETSC_TRUE : PETSC_FALSE;
}

/* Of a node; a coupling takes the mean of two. */
static PetscReal Conductivity(const Problem *p, PetscInt i, PetscInt j)
{
  return 4 * i > p->n[0] && 4 * i < 3 * p->n[0] && 4 * j > p->n[1] && 4 * j < 3 * p->n[1] ? p->jump : 1;
}

static PetscErrorCode Couple(const Problem *p, Mat A, const MatStencil *row, PetscInt di, PetscInt dj, PetscInt dk, PetscReal value)
{
  const PetscInt step[3] = {di, dj, dk};
  PetscInt at[3]         = {row->i, row->j, row->k}, k;
  MatStencil column      = *row;

  PetscFunctionBeginUser;
  if (value == 0) PetscFunctionReturn((PetscErrorCode)0);
  for (k = 0; k < 3; k++) {
    at[k] += step[k];
    if (step[k] && (k >= p->dim || (!p->ring[k] && (at[k] < 0 || at[k] >= p->n[k])))) PetscFunctionReturn((PetscErrorCode)0);
  }
  column.i = at[0], column.j = at[1], column.k = at[2];
  value *= p->scale;
  PetscCall(MatSetValuesStencil(A, 1, row, 1, &column, &value, ADD_VALUES));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Fill(const Problem *p, Mat A, Vec b, Vec exact)
{
  PetscInt start[3], n[3], i, j, k;

  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(A));
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  for (k = start[2]; k < start[2] + n[2]; k++) {
    for (j = start[1]; j < start[1] + n[1]; j++) {
      for (i = start[0]; i < start[0] + n[0]; i++) {
        MatStencil row       = {.i = i, .j = j, .k = k};
        const PetscInt at[3] = {i, j, k};
        PetscReal diagonal   = p->reaction;
        PetscInt side, other, d;
        if (p->shape != NONE && !Inner(p, i, j)) {
          PetscCall(Couple(p, A, &row, 0, 0, 0, 1 / p->scale));
          continue;
        }
        for (side = -1; side <= 1; side += 2) {
          for (d = 0; d < p->dim; d++) {
            const PetscReal there = d == 2 ? 1 : Conductivity(p, i + (d == 0 ? side : 0), j + (d == 1 ? side : 0));
            const PetscReal mean  = d == 2 ? 1 : (Conductivity(p, i, j) + there) / 2;
            const PetscReal coupling =
                p->lines * p->strength[d] * mean * (1 - (p->upwind ? PetscMin(side, 0) * 2 : side) * (d == 2 ? 0 : p->convection));
            /* at a Neumann end there is no flux, and the diagonal has none of it */
            if (p->neumann[d] && !p->ring[d] && (at[d] + side < 0 || at[d] + side >= p->n[d])) continue;
            diagonal += coupling;
            PetscCall(Couple(p, A, &row, d == 0 ? side : 0, d == 1 ? side : 0, d == 2 ? side : 0, -coupling));
          }
          for (other = -1; other <= 1; other += 2) PetscCall(Couple(p, A, &row, side, other, 0, -p->corners));
        }
        if (p->penalty > 0 && (i == 0 || j == 0)) diagonal = p->penalty;
        PetscCall(Couple(p, A, &row, 0, 0, 0, diagonal + 4 * p->corners));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (p->shape != NONE) {
    PetscScalar **rhs, **values;
    const PetscReal h = 1.0 / (p->n[0] - 4);
    PetscCall(DMDAVecGetArray(p->da, b, &rhs));
    PetscCall(DMDAVecGetArray(p->da, exact, &values));
    for (j = start[1]; j < start[1] + n[1]; j++) {
      for (i = start[0]; i < start[0] + n[0]; i++) {
        const PetscReal u     = PetscExpReal(Place(p, i) + 2 * Place(p, j));
        const PetscBool inner = Inner(p, i, j),
                        ghost = !inner && (Inner(p, i - 1, j) || Inner(p, i + 1, j) || Inner(p, i, j - 1) || Inner(p, i, j + 1))
                                    ? PETSC_TRUE
                                    : PETSC_FALSE;
        rhs[j][i]             = inner ? -5 * u * h * h * p->scale : ghost ? u : 0;
        values[j][i]          = inner || ghost ? u : 0;
      }
    }
    PetscCall(DMDAVecRestoreArray(p->da, exact, &values));
    PetscCall(DMDAVecRestoreArray(p->da, b, &rhs));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Problem p                  = {.n = {17, 17, 17}, .lines = 1, .jump = 1, .scale = 1, .strength = {1, 1, 1}};
  const char *const shapes[] = {"none", "square", "circle"};
  const DMBoundaryType open = DM_BOUNDARY_NONE, closed = DM_BOUNDARY_PERIODIC;
  PetscInt three = 3, shape = 0, solves = 1, its, k;
  PetscBool star = PETSC_FALSE, guess = PETSC_FALSE, timed = PETSC_FALSE, give = PETSC_FALSE, bad;
  PetscLogDouble seconds = 0;
  char text[32];
  Mat A;
  Vec b, x, exact, r;
  KSP ksp;
  PC pc;
  PetscRandom random;
  PetscReal norm, size;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  p.dim = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", p.n, &p.dim, NULL));
  PetscCall(PetscOptionsGetBoolArray(NULL, NULL, "-ring", p.ring, &three, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-shape", shapes, 3, &shape, NULL));
  p.shape = (Shape)shape;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lines", &p.lines, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-corners", &p.corners, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-jump", &p.jump, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-convection", &p.convection, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reaction", &p.reaction, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-scale", &p.scale, NULL));
  PetscCall(PetscOptionsGetBoolArray(NULL, NULL, "-neumann", p.neumann, (three = 3, &three), NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-strength", p.strength, (three = 3, &three), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-upwind", &p.upwind, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-penalty", &p.penalty, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-star", &star, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-guess", &guess, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-time", &timed, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-give_dm", &give, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", text, sizeof(text), &bad));
  if (p.dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, p.ring[0] ? closed : open, p.ring[1] ? closed : open,
                           star ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX, p.n[0], p.n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL,
                           &p.da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, p.ring[0] ? closed : open, p.ring[1] ? closed : open, p.ring[2] ? closed : open,
                           star ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX, p.n[0], p.n[1], p.n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1,
                           1, NULL, NULL, NULL, &p.da));
  PetscCall(DMSetFromOptions(p.da));
  PetscCall(DMSetUp(p.da));
  PetscCall(DMCreateMatrix(p.da, &A));
  PetscCall(DMCreateGlobalVector(p.da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &exact));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(b, random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(Fill(&p, A, b, exact));
  if (p.penalty > 0) {
    PetscInt start[3], n[3], i, j;
    PetscScalar **rhs;
    PetscCall(DMDAGetCorners(p.da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
    PetscCall(DMDAVecGetArray(p.da, b, &rhs));
    for (j = start[1]; j < start[1] + n[1]; j++) {
      for (i = start[0]; i < start[0] + n[0]; i++) {
        if (i == 0 || j == 0) rhs[j][i] *= p.penalty;
      }
    }
    PetscCall(DMDAVecRestoreArray(p.da, b, &rhs));
  }
  {
    PetscBool singular = p.reaction == 0 && p.shape == NONE && p.penalty == 0 && p.convection == 0 ? PETSC_TRUE : PETSC_FALSE;
    for (k = 0; k < p.dim; k++) singular = singular && (p.ring[k] || p.neumann[k]) ? PETSC_TRUE : PETSC_FALSE;
    if (singular) {
      MatNullSpace constants;
      PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
      PetscCall(MatSetNullSpace(A, constants));
      PetscCall(MatNullSpaceRemove(constants, b));
      PetscCall(MatNullSpaceDestroy(&constants));
    }
  }
  if (bad) {
    PetscInt row;
    PetscCall(MatGetSize(A, &row, NULL));
    row -= 1;
    PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    PetscCall(MatZeroRows(A, 1, &row, strtod(text, NULL), NULL, NULL));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  if (give) {
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetDM(pc, p.da));
  }
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
  for (k = 0; k < solves; k++) {
    PetscCall(PetscTime(&seconds));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm)); // waits for a device
    PetscCall(PetscTimeSubtract(&seconds));
  }
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (timed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "seconds of the last solve %.5f\n", (double)-seconds));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  if (p.penalty > 0) { /* in the size of the solution: what a penalty is multiplied by says nothing */
    PetscCall(MatGetDiagonal(A, exact));
    PetscCall(VecPointwiseDivide(r, r, exact));
    PetscCall(VecPointwiseDivide(b, b, exact));
  }
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s iterations %" PetscInt_FMT " residual %.3e\n", KSPConvergedReasons[reason], its,
                        (double)(norm / size)));
  if (p.shape != NONE) {
    PetscCall(VecAXPY(exact, -1.0, x));
    PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %.6e\n", (double)norm));
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&p.da));
  PetscCall(PetscFinalize());
  return 0;
}
