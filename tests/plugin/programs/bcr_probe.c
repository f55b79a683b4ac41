static char help[] = "Systems on a 1-, 2- or 3-dimensional grid whose operators are separable, or near to it; for a PC that solves such directly.\n\
  -n <x,y,z>, -periodic <x,y,z>, -shift <s>, -dof <1>\n\
  -kind <laplacian> : constant coefficients; several kinds and ends, with commas between, are taken one after the other\n\
  -kind stretched   : cells of random sizes, symmetric\n\
  -kind random      : random T_k and weights, not symmetric\n\
  -kind rows        : laplacian, each row times a random factor\n\
  -kind smooth      : -div(a grad u) with a smooth a between 1 and -contrast that is not a product\n\
  -kind jump        : the same with a = contrast in a block in the middle\n\
  -kind upwind      : with convection that varies along each direction\n\
  -kind positive    : couplings of the diagonal's sign\n\
  -kind graded      : cells whose sizes grow by -ratio from one to the next; differences: the same, rows divided by them\n\
  -kind central     : central convection along each direction, -velocity (half a cell's Peclet number)\n\
  -ends <dirichlet> : the values outside are 0\n\
  -ends neumann     : nothing beyond the ends\n\
  -ends cells       : a value 0 at half a step\n\
  -ends fixed       : the last rows are the identity (times 3), others couple to them; fixed-y: across the first direction only\n\
  -ends removed     : the same, and others do not\n\
  -ends onesided    : the last rows say that the value is the neighbour's\n\
  -probe solve      : KSPSolve: iterations and error against a known solution; several probes likewise\n\
  -probe apply      : error after one application\n\
  -probe adjoint    : relative difference of (M^-1 u, v) and (u, M^-T v)\n\
  -probe many       : difference of PCMatApply() and PCApply(); -apart gives the solutions another leading dimension, -matsolve\n\
                       has KSPMatSolve() take the place of PCMatApply()\n\
  -probe again      : solves, changes the values (-shift plus 1), solves, takes the first ones, solves\n\
  -bad nan|across   : an entry that is not a number; one to the neighbour below on the left\n\
  -nullspace        : attaches the constants\n";

#include <petscdmda.h>
#include <petscksp.h>

#define MOST 2000
typedef enum {LAPLACIAN, STRETCHED, RANDOM, ROWS, SMOOTH, JUMP, UPWIND, POSITIVE, GRADED, DIFFERENCES, CENTRAL} Kind;
typedef enum {DIRICHLET, NEUMANN, CELLS, FIXED, FIXED_Y, REMOVED, ONESIDED} Ends;
static const char *const kinds[] = {"laplacian", "stretched", "random", "rows", "smooth", "jump", "upwind", "positive", "graded", "differences", "central", NULL};
static const char *const ends[]  = {"dirichlet", "neumann", "cells", "fixed", "fixed-y", "removed", "onesided", NULL};

typedef struct {
  DM da;
  Mat A;
  Kind kind;
  Ends ends;
  PetscInt dim, n[3];
  PetscBool periodic[3];
  PetscReal shift, contrast, ratio, velocity[3];
  /* The coefficients of T_k, the weights */
  PetscReal lower[3][MOST], upper[3][MOST], excess[3][MOST], weight[3][MOST];
} Problem;

/* The same numbers on all ranks, whatever their part of the grid. */
static PetscReal Chance(PetscInt a, PetscInt b, PetscInt c)
{
  const double x = sin(12.9898 * (double)(a + 1) + 78.233 * (double)(b + 1) + 37.719 * (double)(c + 1)) * 43758.5453;

  return x - floor(x);
}

static void Coefficients(Problem *p)
{
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt n = p->n[d];
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal base = 1.0 + 0.3 * d, h = 0.5 + Chance(d, i, 0), next = 0.5 + Chance(d, (i + 1) % n, 0), before = 0.5 + Chance(d, (i + n - 1) % n, 0);
      const PetscBool first = i == 0 && !p->periodic[d], last = i + 1 == n && !p->periodic[d];
      PetscReal outside = 0;

      p->lower[d][i] = p->upper[d][i] = base;
      p->weight[d][i] = 1;
      p->excess[d][i] = 0;
      if (p->kind == STRETCHED) {
        p->lower[d][i]  = 2 / (h + before);
        p->upper[d][i]  = 2 / (h + next);
        p->weight[d][i] = h;
      } else if (p->kind == RANDOM) {
        p->lower[d][i]  = 0.5 + Chance(d, i, 1);
        p->upper[d][i]  = 0.5 + Chance(d, i, 2);
        p->weight[d][i] = h;
        p->excess[d][i] = Chance(d, i, 3);
      } else if (p->kind == UPWIND) {
        p->lower[d][i] += Chance(d, i, 4);
      } else if (p->kind == POSITIVE) {
        p->lower[d][i] = p->upper[d][i] = -base;
        p->excess[d][i] = 4 * base;
      } else if (p->kind == GRADED || p->kind == DIFFERENCES) {
        const PetscReal cell = PetscPowReal(p->ratio, i), by = p->kind == GRADED ? 1 : cell;
        p->lower[d][i]  = 2 / (cell + cell / p->ratio) / by;
        p->upper[d][i]  = 2 / (cell + cell * p->ratio) / by;
        p->weight[d][i] = p->kind == GRADED ? cell : 1;
      } else if (p->kind == CENTRAL) {
        p->lower[d][i] = base + p->velocity[d];
        p->upper[d][i] = base - p->velocity[d];
      }
      if (p->ends == DIRICHLET) outside = 1;
      if (p->ends == CELLS) outside = 2;
      if (first) p->excess[d][i] += outside * p->lower[d][i], p->lower[d][i] = 0;
      if (last) p->excess[d][i] += outside * p->upper[d][i], p->upper[d][i] = 0;
      if (n == 1) p->lower[d][i] = p->upper[d][i] = 0, p->excess[d][i] = 0;
    }
  }
}

static PetscReal Conductivity(const Problem *p, const PetscInt at[3])
{
  PetscReal x[3], r = 0;

  for (PetscInt d = 0; d < 3; d++) x[d] = p->n[d] > 1 ? (PetscReal)at[d] / (p->n[d] - 1) : 0.5;
  if (p->kind == JUMP) {
    for (PetscInt d = 0; d < p->dim; d++) {
      if (x[d] < 1. / 3 || x[d] > 2. / 3) return 1;
    }
    return p->contrast;
  }
  for (PetscInt d = 0; d < p->dim; d++) r += (x[d] - 0.6) * (x[d] - 0.6);
  return 1 + (p->contrast - 1) * exp(-8 * r);
}

static PetscReal Coupling(const Problem *p, const PetscInt at[3], PetscInt d, PetscInt side)
{
  PetscReal value = side ? p->upper[d][at[d]] : p->lower[d][at[d]];

  for (PetscInt m = 0; m < 3; m++) {
    if (m != d) value *= p->weight[m][at[m]];
  }
  if (p->kind == SMOOTH || p->kind == JUMP) {
    PetscInt to[3] = {at[0], at[1], at[2]};
    to[d] = (to[d] + 2 * side - 1 + p->n[d]) % p->n[d];
    const PetscReal a = Conductivity(p, at), b = Conductivity(p, to);
    value *= 2 * a * b / (a + b);
  }
  return value;
}

static PetscBool OnEnd(const Problem *p, const PetscInt at[3])
{
  PetscBool on = PETSC_FALSE;

  if (p->ends < FIXED) return PETSC_FALSE;
  for (PetscInt d = 0; d < p->dim; d++) on = (PetscBool)(on || (p->n[d] > 1 && !p->periodic[d] && !(p->ends == FIXED_Y && d == 0) && (at[d] == 0 || at[d] == p->n[d] - 1)));
  return on;
}

static PetscErrorCode Set(const Problem *p, const PetscInt at[3], const PetscInt to[3], PetscReal value)
{
  MatStencil row, column;

  PetscFunctionBeginUser;
  row.i = at[0], row.j = at[1], row.k = at[2], row.c = 0;
  column.i = to[0], column.j = to[1], column.k = to[2], column.c = 0;
  PetscCall(MatSetValuesStencil(p->A, 1, &row, 1, &column, &value, ADD_VALUES));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Row(const Problem *p, const PetscInt at[3])
{
  PetscReal diagonal = p->shift, by = 1;

  PetscFunctionBeginUser;
  if (OnEnd(p, at)) {
    PetscCall(Set(p, at, at, 3));
    if (p->ends != ONESIDED) PetscFunctionReturn((PetscErrorCode)0);
    for (PetscInt d = 0; d < p->dim; d++) { /* the first direction across whose end it lies */
      PetscInt to[3] = {at[0], at[1], at[2]};
      if (p->n[d] == 1 || (at[d] != 0 && at[d] != p->n[d] - 1)) continue;
      to[d] += at[d] == 0 ? 1 : -1;
      PetscCall(Set(p, at, to, -3));
      break;
    }
    PetscFunctionReturn((PetscErrorCode)0);
  }
  if (p->kind == ROWS) by = 0.2 + 5 * Chance(at[0], at[1], at[2]);
  for (PetscInt d = 0; d < p->dim; d++) diagonal += p->excess[d][at[d]] / p->weight[d][at[d]];
  for (PetscInt m = 0; m < 3; m++) diagonal *= p->weight[m][at[m]];
  for (PetscInt d = 0; d < p->dim; d++) {
    for (PetscInt side = 0; side < 2; side++) {
      PetscInt to[3]        = {at[0], at[1], at[2]};
      const PetscReal value = Coupling(p, at, d, side);
      if (value == 0) continue;
      to[d] += 2 * side - 1;
      diagonal += value;
      if (!(p->ends == REMOVED && OnEnd(p, to))) PetscCall(Set(p, at, to, -by * value));
    }
  }
  PetscCall(Set(p, at, at, by * diagonal));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Assemble(Problem *p)
{
  PetscInt start[3], n[3], at[3];
  char bad[16] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bad", bad, sizeof(bad), NULL));
  Coefficients(p);
  PetscCall(MatZeroEntries(p->A));
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  for (at[2] = start[2]; at[2] < start[2] + n[2]; at[2]++) {
    for (at[1] = start[1]; at[1] < start[1] + n[1]; at[1]++) {
      for (at[0] = start[0]; at[0] < start[0] + n[0]; at[0]++) {
        const PetscBool middle = (PetscBool)(at[0] == p->n[0] / 2 && at[1] == p->n[1] / 2 && at[2] == p->n[2] / 2);
        const PetscInt to[3]   = {at[0] - 1, at[1] - 1, at[2]};
        PetscCall(Row(p, at));
        if (middle && bad[0] == 'n') PetscCall(Set(p, at, at, NAN));
        if (middle && bad[0] == 'a') PetscCall(Set(p, at, to, 0.1));
      }
    }
  }
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* A known solution, without the null space. */
static PetscErrorCode Known(Problem *p, Vec u, PetscInt salt)
{
  PetscInt start[3], n[3], first;
  MatNullSpace space;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  PetscCall(VecGetOwnershipRange(u, &first, NULL));
  for (PetscInt k = 0; k < n[0] * n[1] * n[2]; k++) PetscCall(VecSetValue(u, first + k, Chance(salt + start[0] + k % n[0], start[1] + k / n[0] % n[1], start[2] + k / n[0] / n[1]), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(u));
  PetscCall(VecAssemblyEnd(u));
  PetscCall(MatGetNullSpace(p->A, &space));
  if (space) PetscCall(MatNullSpaceRemove(space, u));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Error(const char name[], Vec x, Vec u)
{
  PetscReal size, error;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(u, NORM_2, &size));
  PetscCall(VecAXPY(x, -1, u));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %.3e\n", name, (double)(error / size)));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeSolve(Problem *p, KSP ksp, Vec u, Vec b, Vec x)
{
  PetscInt iterations;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s iterations %" PetscInt_FMT "\n", KSPConvergedReasons[reason], iterations));
  if (reason < 0) {
    PC pc;
    PCFailedReason failed;
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCGetFailedReason(pc, &failed));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", PCFailedReasons[failed]));
  } else {
    PetscCall(Error("error", x, u));
  }
  (void)p;
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeApply(Problem *p, KSP ksp, Vec u, Vec b, Vec x)
{
  PC pc;
  MatNullSpace space;

  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(MatGetNullSpace(p->A, &space));
  if (space) PetscCall(MatNullSpaceRemove(space, x));
  PetscCall(Error("error", x, u));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeAdjoint(Problem *p, KSP ksp, Vec u, Vec b, Vec x)
{
  PC pc;
  PetscScalar forward, backward;

  PetscFunctionBeginUser;
  (void)p;
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, u, x));
  PetscCall(VecDot(x, b, &forward));
  PetscCall(PCApplyTranspose(pc, b, x));
  PetscCall(VecDot(u, x, &backward));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "adjoint difference %.3e\n", (double)PetscAbsScalar((forward - backward) / forward)));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeMany(Problem *p, KSP ksp, Vec u, Vec b, Vec x)
{
  PC pc;
  Mat from, to;
  PetscInt rows;
  PetscBool apart = PETSC_FALSE, solve = PETSC_FALSE;
  PetscScalar *room = NULL;

  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecGetLocalSize(b, &rows));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-apart", &apart, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &from));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &to));
  PetscCall(MatSetSizes(to, rows, PETSC_DECIDE, PETSC_DETERMINE, 3));
  PetscCall(MatSetType(to, MATDENSE));
  if (apart) {
    PetscCall(PetscMalloc1(3 * (rows + 5), &room));
    PetscCall(MatDenseSetLDA(to, rows + 5));
    PetscCall(MatSeqDenseSetPreallocation(to, room));
    PetscCall(MatMPIDenseSetPreallocation(to, room));
  } else PetscCall(MatSetUp(to));
  for (PetscInt k = 0; k < 3; k++) {
    Vec column;
    PetscCall(Known(p, u, 10 * k));
    PetscCall(MatDenseGetColumnVecWrite(from, k, &column));
    PetscCall(VecCopy(u, column));
    PetscCall(MatDenseRestoreColumnVecWrite(from, k, &column));
  }
  PetscCall(MatAssemblyBegin(from, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(from, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(to, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(to, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-matsolve", &solve, NULL));
  if (solve) {
    KSPConvergedReason reason;
    PetscCall(KSPMatSolve(ksp, from, to));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "KSPMatSolve() %s\n", KSPConvergedReasons[reason]));
  } else PetscCall(PCMatApply(pc, from, to));
  for (PetscInt k = 0; k < 3; k++) {
    Vec column;
    PetscCall(Known(p, u, 10 * k));
    PetscCall(PCApply(pc, u, x));
    PetscCall(MatDenseGetColumnVecRead(to, k, &column));
    PetscCall(VecCopy(column, b));
    PetscCall(MatDenseRestoreColumnVecRead(to, k, &column));
    PetscCall(Error("column", b, x));
  }
  PetscCall(MatDestroy(&to));
  PetscCall(MatDestroy(&from));
  PetscCall(PetscFree(room));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeAgain(Problem *p, KSP ksp, Vec u, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  for (PetscInt round = 0; round < 3; round++) {
    p->shift += round == 0 ? 0 : round == 1 ? 1 : -1;
    if (round > 0) PetscCall(Assemble(p));
    PetscCall(KSPSetOperators(ksp, p->A, p->A));
    PetscCall(MatMult(p->A, u, b));
    PetscCall(ProbeSolve(p, ksp, u, b, x));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

/* One operator, looked at in several ways. */
static PetscErrorCode Probes(Problem *p, PetscBool nullspace, PetscInt probes, const PetscInt which[])
{
  PetscErrorCode (*const run[])(Problem *, KSP, Vec, Vec, Vec) = {ProbeSolve, ProbeApply, ProbeAdjoint, ProbeMany, ProbeAgain};
  KSP ksp;
  Vec u, b, x;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(p->da, &p->A));
  PetscCall(MatSetOption(p->A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Assemble(p));
  if (nullspace) {
    MatNullSpace space;
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
    PetscCall(MatSetNullSpace(p->A, space));
    PetscCall(MatNullSpaceDestroy(&space));
  }
  PetscCall(MatCreateVecs(p->A, &u, &b));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(Known(p, u, 0));
  PetscCall(MatMult(p->A, u, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, p->A, p->A));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt k = 0; k < probes; k++) PetscCall(run[which[k]](p, ksp, u, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&p->A));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The numbers of the names that an option lists. */
static PetscErrorCode Choices(const char option[], const char *const names[], PetscInt chosen[], PetscInt *count)
{
  char *given[8];
  PetscInt most = 8;
  PetscBool set, same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, given, &most, &set));
  *count = set ? most : 1;
  for (PetscInt k = 0; set && k < most; k++) {
    for (chosen[k] = 0; names[chosen[k]]; chosen[k]++) {
      PetscCall(PetscStrcmp(given[k], names[chosen[k]], &same));
      if (same) break;
    }
    PetscCheck(names[chosen[k]], PETSC_COMM_WORLD, PETSC_ERR_USER, "%s %s is unknown", option, given[k]);
    PetscCall(PetscFree(given[k]));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  static Problem p;
  PetscInt three = 3, velocities = 3, dof = 1, chosen_kinds[8] = {LAPLACIAN}, chosen_ends[8] = {DIRICHLET}, chosen_probes[8] = {0}, number[3];
  PetscBool nullspace = PETSC_FALSE;
  static const char *const probes[] = {"solve", "apply", "adjoint", "many", "again", NULL};
  DMBoundaryType boundary[3];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  p.dim  = 3;
  p.n[0] = p.n[1] = 9, p.n[2] = 1;
  p.contrast      = 100;
  p.ratio         = 1.1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", p.n, &p.dim, NULL));
  if (p.dim == 0) p.dim = 2;
  for (PetscInt d = p.dim; d < 3; d++) p.n[d] = 1;
  PetscCall(PetscOptionsGetBoolArray(NULL, NULL, "-periodic", p.periodic, &three, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-shift", &p.shift, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &p.contrast, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-ratio", &p.ratio, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-velocity", p.velocity, &velocities, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dof", &dof, NULL));
  PetscCall(Choices("-kind", kinds, chosen_kinds, &number[0]));
  PetscCall(Choices("-ends", ends, chosen_ends, &number[1]));
  PetscCall(Choices("-probe", probes, chosen_probes, &number[2]));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-nullspace", &nullspace, NULL));
  for (PetscInt d = 0; d < 3; d++) boundary[d] = p.periodic[d] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  if (p.dim == 1) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, boundary[0], p.n[0], dof, 1, NULL, &p.da));
  else if (p.dim == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, boundary[0], boundary[1], DMDA_STENCIL_BOX, p.n[0], p.n[1], PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &p.da));
  else PetscCall(DMDACreate3d(PETSC_COMM_WORLD, boundary[0], boundary[1], boundary[2], DMDA_STENCIL_BOX, p.n[0], p.n[1], p.n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, NULL, &p.da));
  PetscCall(DMSetFromOptions(p.da));
  PetscCall(DMSetUp(p.da));
  for (PetscInt i = 0; i < number[0]; i++) {
    for (PetscInt j = 0; j < number[1]; j++) {
      p.kind = (Kind)chosen_kinds[i];
      p.ends = (Ends)chosen_ends[j];
      PetscCall(Probes(&p, nullspace, number[2], chosen_probes));
    }
  }
  PetscCall(DMDestroy(&p.da));
  PetscCall(PetscFinalize());
  return 0;
}
