static char help[] = "Looks closely at the PC chosen by options, on a matrix with random coefficients on a 1-, 2- or 3-dimensional grid.\n\
  -probe adjoint   : relative difference of (M^-1 u, v) and (u, M^-T v)\n\
  -probe exact     : relative residual after one application (0 for a direct solver)\n\
  -probe refresh   : difference between a PC set up again for new values and a fresh one\n\
  -probe host      : difference between vectors of the matrix's type and host vectors\n\
  -probe transfers : copies between host and device that PETSc counts over 100 applications, forward and (-transposed 1, the default) transposed\n\
  -probe pivot     : KSP's and PC's reasons when a row of the last rank has the diagonal -diagonal and nothing else\n\
  -probe unassembled, -probe layout : sets up with a matrix that is not assembled, or whose last rank has more columns than rows\n\
  -n <x,y,z> : grid sizes, -dof : unknowns a node, -stretch <x,y,z> : strength of the couplings\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petsclog.h>

typedef struct {
  DM da;
  Mat A;
  Vec u, v;
  PetscRandom random;
  PetscReal stretch[3];
} Probe;

/* Random couplings to all neighbours of the star (and to the node's other unknowns), a dominant diagonal. */
static PetscErrorCode Fill(Probe *p)
{
  PetscInt dim, dof, N[3], start[3], n[3], at[3], row, c, k, side;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(p->da, &dim, &N[0], &N[1], &N[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(p->da, &start[0], &start[1], &start[2], &n[0], &n[1], &n[2]));
  PetscCall(MatZeroEntries(p->A));
  for (row = 0; row < n[0] * n[1] * n[2] * dof; row++) {
    MatStencil to, from;
    PetscReal diagonal = 0.1;
    c     = row % dof;
    at[0] = start[0] + row / dof % n[0];
    at[1] = start[1] + row / dof / n[0] % n[1];
    at[2] = start[2] + row / dof / n[0] / n[1];
    to.i = from.i = at[0], to.j = from.j = at[1], to.k = from.k = at[2], to.c = from.c = c;
    for (k = 0; k < dim; k++) {
      for (side = -1; side <= 1; side += 2) {
        PetscReal coupling;
        if (at[k] + side < 0 || at[k] + side >= N[k]) continue;
        PetscCall(PetscRandomGetValueReal(p->random, &coupling));
        coupling *= -p->stretch[k];
        diagonal -= coupling;
        from.i = at[0] + (k == 0 ? side : 0), from.j = at[1] + (k == 1 ? side : 0), from.k = at[2] + (k == 2 ? side : 0);
        PetscCall(MatSetValuesStencil(p->A, 1, &to, 1, &from, &coupling, INSERT_VALUES));
      }
    }
    PetscCall(MatSetValuesStencil(p->A, 1, &to, 1, &to, &diagonal, INSERT_VALUES));
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
  const char *const probes[] = {"adjoint", "exact", "refresh", "host", "transfers", "pivot", "unassembled", "layout"};
  PetscErrorCode (*const run[])(Probe *) = {ProbeAdjoint, ProbeExact, ProbeRefresh, ProbeHost, ProbeTransfers, ProbePivot, ProbeUnassembled, ProbeLayout};
  PetscInt which = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  p.stretch[0] = p.stretch[1] = p.stretch[2] = 1.0;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &dims, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dof", &dof, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-stretch", p.stretch, &three, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-probe", probes, 8, &which, NULL));
  if (dims == 1) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n[0], dof, 1, NULL, &p.da));
  else if (dims == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &p.da));
  else PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, NULL, &p.da));
  PetscCall(DMSetFromOptions(p.da));
  PetscCall(DMSetUp(p.da));
  PetscCall(DMCreateMatrix(p.da, &p.A));
  PetscCall(DMCreateGlobalVector(p.da, &p.u));
  PetscCall(VecDuplicate(p.u, &p.v));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &p.random));
  PetscCall(PetscRandomSetInterval(p.random, 0.5, 1.0));
  PetscCall(VecSetRandom(p.u, p.random));
  PetscCall(VecSetRandom(p.v, p.random));
  PetscCall(Fill(&p));
  PetscCall(run[which](&p));
  PetscCall(PetscRandomDestroy(&p.random));
  PetscCall(VecDestroy(&p.v));
  PetscCall(VecDestroy(&p.u));
  PetscCall(MatDestroy(&p.A));
  PetscCall(DMDestroy(&p.da));
  PetscCall(PetscFinalize());
  return 0;
}
