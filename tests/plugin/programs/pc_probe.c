static char help[] = "Looks closely at the PC chosen by options, on a matrix with random coefficients on a 1-, 2- or 3-dimensional grid.\n\
  -probe adjoint   : relative difference of (M^-1 u, v) and (u, M^-T v)\n\
  -probe exact     : relative residual after one application (0 for a direct solver)\n\
  -probe refresh   : difference between a PC set up again for new values and a fresh one\n\
  -probe host      : difference between vectors of the matrix's type and host vectors\n\
  -probe transfers : copies between host and device that PETSc counts over 100 applications, forward and (-transposed 1, the default) transposed\n\
  -probe pivot     : KSP's and PC's reasons when a row of the last rank has the diagonal -diagonal and nothing else\n\
  -probe norm      : norm of the application to a vector, to compare runs\n\
  -probe symmetric : relative difference of (M^-1 u, v) and (u, M^-1 v)\n\
  -probe richardson: difference between PCApplyRichardson() and the same iteration by PCApply()\n\
  -probe columns   : difference between PCMatApply() and PCApply()\n\
  -probe halves    : difference between PCApplySymmetricRight() of PCApplySymmetricLeft() and PCApply(), and of the halves as adjoints\n\
  -probe unassembled, -probe layout : sets up with a matrix that is not assembled, or whose last rank has more columns than rows\n\
  -n <x,y,z> : grid sizes, -dof : unknowns a node, -stretch <x,y,z> : strength of the couplings, -ring <x,y,z> : 1 for periodic directions,\n\
  -values_symmetric : a symmetric matrix, -couple : the unknowns of a node couple, -diagonals : so do all neighbours of a box,\n\
  -constant : couplings that depend on the direction alone, the same diagonal in all rows\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsclog.h>

typedef struct {
  DM da;
  Mat A;
  Vec u, v;
  PetscReal stretch[3];
  PetscInt ring[3], round;
  PetscBool symmetric, couple, diagonals, constant;
} Probe;

/* A number from 0.5 to 1 for each pair of unknowns and each round, whatever the ranks. */
static PetscReal Value(PetscInt a, PetscInt b, PetscInt round)
{
  const PetscReal x = PetscSinReal(12.9898 * (a + 1) + 78.233 * (b + 1) + 37.719 * round) * 43758.5453;
  return 0.5 + 0.5 * (x - PetscFloorReal(x));
}

static PetscErrorCode SetVector(Probe *p, Vec x, PetscInt which)
{
  Vec natural;
  PetscInt row, start, end;

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(p->da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &start, &end));
  for (row = start; row < end; row++) PetscCall(VecSetValue(natural, row, Value(row, which, 99), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(natural));
  PetscCall(VecAssemblyEnd(natural));
  PetscCall(DMDANaturalToGlobalBegin(p->da, natural, INSERT_VALUES, x));
  PetscCall(DMDANaturalToGlobalEnd(p->da, natural, INSERT_VALUES, x));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Couplings to all neighbours of the star (of the box with -diagonals) and to the node's other unknowns (with -couple), a dominant diagonal. */
static PetscErrorCode Fill(Probe *p)
{
  PetscInt dim, dof, N[3], start[3], n[3], at[3], step[3], row, c, d, k, other;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(p->da, &dim, &N[0], &N[1], &N[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  PetscCall(MatZeroEntries(p->A));
  p->round++;
  for (row = 0; row < n[0] * n[1] * n[2] * dof; row++) {
    MatStencil to, from;
    PetscReal diagonal = p->constant ? 0.1 + 2 * (p->stretch[0] + (dim > 1) * p->stretch[1] + (dim > 2) * p->stretch[2]) : 0.1;
    PetscInt mine;
    c     = row % dof;
    at[0] = start[0] + row / dof % n[0];
    at[1] = start[1] + row / dof / n[0] % n[1];
    at[2] = start[2] + row / dof / n[0] / n[1];
    mine  = ((at[2] * N[1] + at[1]) * N[0] + at[0]) * dof + c;
    to.i = at[0], to.j = at[1], to.k = at[2], to.c = c;
    for (other = 0; other < 27; other++) {
      PetscReal strength = 1.0;
      PetscInt away = 0, there[3], inside = 1;
      step[0] = other % 3 - 1, step[1] = other / 3 % 3 - 1, step[2] = other / 9 - 1;
      for (k = 0; k < 3; k++) {
        there[k] = at[k] + step[k];
        if (!step[k]) continue;
        away++;
        strength *= p->stretch[k];
        if (k >= dim) inside = 0;
        else if (there[k] < 0 || there[k] >= N[k]) inside = inside && p->ring[k] && N[k] > 1;
      }
      if (!inside || (away > 1 && !p->diagonals)) continue;
      if (away > 1) strength *= 0.1;
      from.i = there[0], from.j = there[1], from.k = there[2];
      for (d = 0; d < dof; d++) {
        PetscReal coupling;
        PetscInt theirs;
        if ((d != c && !p->couple) || (away == 0 && d == c)) continue;
        for (theirs = 0, k = 2; k >= 0; k--) theirs = theirs * N[k] + (there[k] + N[k]) % N[k];
        theirs = theirs * dof + d;
        coupling = -strength * (d == c ? 1.0 : 0.3) * (p->symmetric ? Value(PetscMin(mine, theirs), PetscMax(mine, theirs), p->round) : Value(mine, theirs, p->round));
        if (p->constant) coupling = -strength * (other < 13 ? 0.9 : 0.7 + 0.1 / p->round);
        else diagonal -= coupling;
        from.c = d;
        PetscCall(MatSetValuesStencil(p->A, 1, &to, 1, &from, &coupling, ADD_VALUES));
      }
    }
    PetscCall(MatSetValuesStencil(p->A, 1, &to, 1, &to, &diagonal, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode NewPC(Probe *p, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, p->A, p->A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCViewFromOptions(*pc, NULL, "-view"));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Difference(const char name[], Vec a, Vec b)
{
  PetscReal size, difference;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecAXPY(a, -1.0, b));
  PetscCall(VecNorm(a, NORM_2, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s difference %.3e\n", name, (double)(difference / size)));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeAdjoint(Probe *p)
{
  PC pc;
  Vec y;
  PetscScalar forward, backward;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(PCApply(pc, p->u, y));
  PetscCall(VecDot(y, p->v, &forward));
  PetscCall(PCApplyTranspose(pc, p->v, y));
  PetscCall(VecDot(p->u, y, &backward));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "adjoint difference %.3e\n", (double)PetscAbsScalar((forward - backward) / forward)));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeExact(Probe *p)
{
  PC pc;
  Vec y, r;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(VecDuplicate(p->u, &r));
  PetscCall(PCApply(pc, p->u, y));
  PetscCall(MatMult(p->A, y, r));
  PetscCall(Difference("exact", r, p->u));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeRefresh(Probe *p)
{
  PC pc, fresh;
  Vec y, z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(VecDuplicate(p->u, &z));
  PetscCall(NewPC(p, &pc));
  PetscCall(PCApply(pc, p->u, y));
  PetscCall(Fill(p));
  PetscCall(PCApply(pc, p->u, z)); /* PCApply() sets up again for new values */
  PetscCall(Difference("old values", y, z));
  PetscCall(NewPC(p, &fresh));
  PetscCall(PCApply(fresh, p->u, y));
  PetscCall(Difference("refresh", y, z));
  PetscCall(PCDestroy(&fresh));
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeHost(Probe *p)
{
  PC pc;
  Vec y, host_u, host_y, back;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(VecDuplicate(p->u, &back));
  PetscCall(VecGetLocalSize(p->u, &n));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &host_u));
  PetscCall(VecSetSizes(host_u, n, PETSC_DETERMINE));
  PetscCall(VecSetType(host_u, VECSTANDARD));
  PetscCall(VecDuplicate(host_u, &host_y));
  PetscCall(VecCopy(p->u, host_u));
  PetscCall(PCApply(pc, p->u, y));
  PetscCall(PCApply(pc, host_u, host_y));
  PetscCall(VecCopy(host_y, back));
  PetscCall(Difference("host", back, y));
  PetscCall(PCApply(pc, p->u, host_y)); /* one of each */
  PetscCall(VecCopy(host_y, back));
  PetscCall(Difference("mixed", back, y));
  PetscCall(VecDestroy(&back));
  PetscCall(VecDestroy(&host_y));
  PetscCall(VecDestroy(&host_u));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeTransfers(Probe *p)
{
#if defined(PETSC_HAVE_DEVICE)
  PC pc;
  Vec y;
  PetscLogDouble before[2], after[2];
  PetscBool transposed = PETSC_TRUE;
  PetscInt k;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transposed", &transposed, NULL));
  PetscCall(PCApply(pc, p->u, y));
  if (transposed) PetscCall(PCApplyTranspose(pc, p->u, y));
  before[0] = petsc_ctog_ct, before[1] = petsc_gtoc_ct;
  for (k = 0; k < 100; k++) {
    PetscCall(PCApply(pc, p->u, y));
    if (transposed) PetscCall(PCApplyTranspose(pc, p->u, y));
    PetscCall(VecAXPY(p->u, 1e-3, y)); /* the vectors are used where they live, as a Krylov method does */
  }
  after[0] = petsc_ctog_ct, after[1] = petsc_gtoc_ct;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "transfers to device %g, to host %g; before the 100 applications: %g, %g\n", after[0] - before[0], after[1] - before[1], before[0], before[1]));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
#else
  PetscFunctionBeginUser;
  (void)p;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no device in this PETSc\n"));
  PetscFunctionReturn((PetscErrorCode)0);
#endif
}

static PetscErrorCode ProbePivot(Probe *p)
{
  KSP ksp;
  PC pc;
  Vec y;
  PetscInt row;
  PetscReal diagonal = 0.0;
  KSPConvergedReason reason;
  PCFailedReason failed;
  char text[32] = "0";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-diagonal", text, sizeof(text), NULL));
  diagonal = strtod(text, NULL); /* PetscOptionsGetReal() refuses nan */
  PetscCall(MatGetSize(p->A, &row, NULL));
  row -= 1;
  PetscCall(MatSetOption(p->A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(p->A, 1, &row, diagonal, NULL, NULL));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, p->A, p->A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, p->u, y));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s\n", KSPConvergedReasons[reason], PCFailedReasons[failed]));
  PetscCall(Fill(p)); /* good values again */
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "then %s\n", PCFailedReasons[failed]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeNorm(Probe *p)
{
  PC pc;
  Vec y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(PCApply(pc, p->u, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm %.14e\n", (double)norm));
  PetscCall(PCApplyTranspose(pc, p->u, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "transposed norm %.14e\n", (double)norm));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeSymmetric(Probe *p)
{
  PC pc;
  Vec y;
  PetscScalar one, other;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(PCApply(pc, p->u, y));
  PetscCall(VecDot(y, p->v, &one));
  PetscCall(PCApply(pc, p->v, y));
  PetscCall(VecDot(p->u, y, &other));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "symmetric difference %.3e\n", (double)PetscAbsScalar((one - other) / one)));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeRichardson(Probe *p)
{
  PC pc;
  Vec x, y, r, z;
  PetscInt guess, k, done;
  PCRichardsonConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &x));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(VecDuplicate(p->u, &r));
  PetscCall(VecDuplicate(p->u, &z));
  for (guess = 0; guess < 2; guess++) {
    PetscCall(VecCopy(p->v, x)); /* no guess: whatever stands there must not be read */
    PetscCall(VecCopy(p->v, y));
    if (!guess) PetscCall(VecSet(y, 0.0));
    PetscCall(PCApplyRichardson(pc, p->u, x, r, 0.0, 0.0, 1e10, 3, guess ? PETSC_FALSE : PETSC_TRUE, &done, &reason));
    for (k = 0; k < 3; k++) {
      PetscCall(MatResidual(p->A, p->u, y, r));
      PetscCall(PCApply(pc, r, z));
      PetscCall(VecAXPY(y, 1.0, z));
    }
    PetscCall(Difference(guess ? "guess richardson" : "zero richardson", x, y));
  }
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeHalves(Probe *p)
{
  PC pc;
  Vec x, y;
  PetscScalar left, right;

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecDuplicate(p->u, &x));
  PetscCall(VecDuplicate(p->u, &y));
  PetscCall(PCApplySymmetricLeft(pc, p->u, x));
  PetscCall(VecDot(x, p->v, &left));
  PetscCall(PCApplySymmetricRight(pc, p->v, y));
  PetscCall(VecDot(p->u, y, &right));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "adjoint difference %.3e\n", (double)PetscAbsScalar((left - right) / left)));
  PetscCall(PCApplySymmetricRight(pc, x, y));
  PetscCall(PCApply(pc, p->u, x));
  PetscCall(Difference("halves", y, x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

#if defined(PETSC_HAVE_CUDA)
#define MatCreateDenseDevice MatCreateDenseCUDA
#elif defined(PETSC_HAVE_HIP)
#define MatCreateDenseDevice MatCreateDenseHIP
#endif

static PetscErrorCode ProbeColumns(Probe *p)
{
  PC pc;
  Mat B, Y;
  Vec column, y;
  PetscInt k, n;
#if defined(MatCreateDenseDevice)
  PetscBool device;
#endif

  PetscFunctionBeginUser;
  PetscCall(NewPC(p, &pc));
  PetscCall(VecGetLocalSize(p->u, &n));
#if defined(MatCreateDenseDevice)
  PetscCall(PetscObjectTypeCompareAny((PetscObject)p->u, &device, "seqcuda", "mpicuda", "seqhip", "mpihip", ""));
  if (device) {
    PetscCall(MatCreateDenseDevice(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &B));
    PetscCall(MatCreateDenseDevice(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &Y));
  } else
#endif
  {
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &B));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &Y));
  }
  for (k = 0; k < 3; k++) {
    PetscCall(MatDenseGetColumnVecWrite(B, k, &column));
    PetscCall(VecCopy(p->u, column));
    PetscCall(VecScale(column, k + 1.0));
    PetscCall(MatDenseRestoreColumnVecWrite(B, k, &column));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(Y, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Y, MAT_FINAL_ASSEMBLY));
  PetscCall(PCMatApply(pc, B, Y));
  PetscCall(VecDuplicate(p->u, &y));
  for (k = 0; k < 3; k++) {
    PetscCall(PCApply(pc, p->u, y));
    PetscCall(VecScale(y, k + 1.0));
    PetscCall(MatDenseGetColumnVecRead(Y, k, &column));
    PetscCall(VecAXPY(y, -1.0, column));
    PetscCall(MatDenseRestoreColumnVecRead(Y, k, &column));
    PetscCall(VecAXPY(y, 1.0, p->v)); /* the difference of the columns, next to any vector */
    PetscCall(Difference("columns", y, p->v));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&B));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode SetUpWith(Mat A)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeUnassembled(Probe *p)
{
  Mat A;

  PetscFunctionBeginUser;
  (void)p;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &A));
  PetscCall(SetUpWith(A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode ProbeLayout(Probe *p)
{
  Mat A;
  PetscMPIInt rank, ranks;
  PetscInt start, end;

  PetscFunctionBeginUser;
  (void)p;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 4, rank == ranks - 1 ? 5 : 4, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (; start < end; start++) PetscCall(MatSetValue(A, start, start, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(SetUpWith(A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv)
{
  Probe p;
  PetscInt n[3] = {13, 11, 7}, three = 3, dims = 3, dof = 1;
  const char *const probes[] = {"adjoint", "exact", "refresh", "host", "transfers", "pivot", "unassembled", "layout", "norm", "symmetric", "richardson", "columns", "halves"};
  PetscErrorCode (*const run[])(Probe *) = {ProbeAdjoint, ProbeExact, ProbeRefresh, ProbeHost, ProbeTransfers, ProbePivot, ProbeUnassembled, ProbeLayout,
                                           ProbeNorm, ProbeSymmetric, ProbeRichardson, ProbeColumns, ProbeHalves};
  PetscInt which = 0;
  DMBoundaryType boundary[3];
  DMDAStencilType stencil;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  p.stretch[0] = p.stretch[1] = p.stretch[2] = 1.0;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &dims, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dof", &dof, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-stretch", p.stretch, &three, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-probe", probes, 13, &which, NULL));
  p.ring[0] = p.ring[1] = p.ring[2] = p.round = 0;
  p.symmetric = p.couple = p.diagonals = p.constant = PETSC_FALSE;
  three = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-ring", p.ring, &three, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-values_symmetric", &p.symmetric, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-couple", &p.couple, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-diagonals", &p.diagonals, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-constant", &p.constant, NULL));
  for (three = 0; three < 3; three++) boundary[three] = p.ring[three] ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  stencil = p.diagonals ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  if (dims == 1) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, boundary[0], n[0], dof, 1, NULL, &p.da));
  else if (dims == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, boundary[0], boundary[1], stencil, n[0], n[1], PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &p.da));
  else PetscCall(DMDACreate3d(PETSC_COMM_WORLD, boundary[0], boundary[1], boundary[2], stencil, n[0], n[1], n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, NULL, &p.da));
  PetscCall(DMSetFromOptions(p.da));
  PetscCall(DMSetUp(p.da));
  PetscCall(DMCreateMatrix(p.da, &p.A));
  PetscCall(DMCreateGlobalVector(p.da, &p.u));
  PetscCall(VecDuplicate(p.u, &p.v));
  PetscCall(SetVector(&p, p.u, 1));
  PetscCall(SetVector(&p, p.v, 2));
  PetscCall(Fill(&p));
  PetscCall(run[which](&p));
  PetscCall(VecDestroy(&p.v));
  PetscCall(VecDestroy(&p.u));
  PetscCall(MatDestroy(&p.A));
  PetscCall(DMDestroy(&p.da));
  PetscCall(PetscFinalize());
  return 0;
}
